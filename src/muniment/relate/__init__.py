"""Relate of Muniment; see the module docstrings."""
