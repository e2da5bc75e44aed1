"""Commands of Muniment; see the module docstrings."""
