"""Check of Muniment; see the module docstrings."""
