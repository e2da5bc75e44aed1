"""The state file (S12, S13): `model` is its items as values, `store` finds, reads and edits the file."""
