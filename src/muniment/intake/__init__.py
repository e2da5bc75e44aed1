"""Intake of Muniment; see the module docstrings."""
