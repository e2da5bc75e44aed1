"""Identifiers and secrets: found by `rules`, replaced by `scrub`, refused by `gate` (G12).

`docs/design/redaction.md` says which module looks for what.
"""
