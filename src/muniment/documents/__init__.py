"""Documents of Muniment; see the module docstrings."""
