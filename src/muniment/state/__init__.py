"""State of Muniment; see the module docstrings."""
