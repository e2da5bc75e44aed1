"""Ledger of Muniment; see the module docstrings."""
