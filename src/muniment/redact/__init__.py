"""Redact of Muniment; see the module docstrings."""
