"""`check`: one rule, one function, one registry; for hooks, CI and "before a PR" (G13).

`run.check` reads what it judges through a `Snapshot` (working tree, index or commit), hands it to every rule
of `registry.RULES`, and collects problems, unknowns and notes. Nothing is written but a cache under the git
folder; `fix.apply` is the only part that changes files, and only machine-owned ones.
"""
