"""Git of Muniment; see the module docstrings."""
