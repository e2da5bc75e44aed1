"""The ledger: a set of entries named by their own digests, whose status is folded on every read (G6, G7).

Bytes become entries in `segment`, one set in `assembly`, a verdict in `integrity` and statuses in `status`,
all pure. `store` and what is named after it read and write. Picture and reasons: `docs/design/ledger.md`.
"""
