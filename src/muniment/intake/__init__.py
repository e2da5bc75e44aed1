"""From reports to an applied batch, and back (C7-C10, G14).

`collect` takes reports in and writes the triage file; `triage` records decisions; `apply` and `undo` work by
preview and confirm. `rows` and `triage_*` are the pure records and text between them; start there.
"""
