"""One module per command noun, imported only when its command runs; `cli/main.py` has the table."""
