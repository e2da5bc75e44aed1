"""A stamp as edits of the state's top level (G9, pure)."""

from __future__ import annotations

from typing import Any

from muniment.state.operations import REMOVE, Edit, View
from muniment.state.requests import Stamp


def stamping(state: View, stamp: Stamp) -> tuple[Edit, ...]:
    """The edits that put the lease of a stamp in place of the one that stands."""
    top: dict[str, Any] = {"lease_epoch": stamp.epoch}
    if stamp.recent:
        top["lease_recent"] = list(stamp.recent)
    if stamp.previous:
        top["lease_previous"] = dict(stamp.previous)
    standing = state.top("lease") if state.exists else None
    if stamp.record is None:
        gone = {"lease": REMOVE} if standing is not None else {}
        return (Edit("", "", {**top, **gone}),)
    fields = stamp.record.fields()
    if isinstance(standing, dict):
        fields = {name: REMOVE for name in standing if name not in fields} | fields
    return Edit("", "lease", fields, new=not isinstance(standing, dict)), Edit("", "", top)
