"""Cli of Muniment; see the module docstrings."""
