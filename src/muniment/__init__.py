"""Muniment: a git-native docs and ledger manager."""

__version__ = "0.1.0"
