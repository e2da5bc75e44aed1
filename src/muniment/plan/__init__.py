"""Plan of Muniment; see the module docstrings."""
