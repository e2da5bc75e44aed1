"""What this clone remembers about decisions made by its own commands: through which channel, by whom (C9).

Anyone can type anything into a triage file, so a decision by flag or at a terminal is noted privately
too, under the common git folder, for exactly what was decided about exactly that reading of the row. Change
a word of the decision, or the row, and the note is about something else. A damaged note is no note.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from muniment.errors import MunimentError
from muniment.files import atomic_write, read_bytes
from muniment.intake.rows import Row
from muniment.workspace import Workspace

SCHEMA = "muniment.decisions/1"
CHANNELS = frozenset({"terminal", "flag"})
CLAIMS: Mapping[str, str] = {"terminal": "terminal", "flag": "none"}
"""Channel → the word of `verified` that goes with it; whether it counts is for `authority.py` to say."""
_MAX_BYTES = 4 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Record:
    """One noted decision: the digest of what was decided, the channel, the acting name and the time."""

    reading: str
    channel: str
    by: str
    at: str


def reading(row: Row) -> str:
    """A digest of what was decided about what; a row without a decision has one too."""
    decision = row.decision
    parts = [
        row.row,
        row.digest,
        [decision.action.value, decision.target, decision.reason] if decision else None,
        sorted((row.edits or {}).items()),
        row.dismissed,
    ]
    return hashlib.sha256(json.dumps(parts, ensure_ascii=True).encode("ascii")).hexdigest()


def load(ws: Workspace, batch: str) -> Mapping[str, Record]:
    """Row id → the note of its decision, for one batch."""
    path = _path(ws, batch)
    if not path.exists():
        return {}
    try:
        found = json.loads(read_bytes(path, limit=_MAX_BYTES))
        if found["schema"] != SCHEMA or found["batch"] != batch:
            return {}
        return {
            str(row): Record(*(str(part) for part in parts))
            for row, parts in found["rows"].items()
            if parts[1] in CHANNELS
        }
    except (MunimentError, ValueError, KeyError, TypeError, AttributeError, IndexError):
        return {}


def keep(ws: Workspace, batch: str, rows: Iterable[Row], channel: str) -> None:
    """Note that these rows' decisions, as they stand in the file now, were made here just now.

    Call under the clone's lock. A row that is neither decided nor dismissed is forgotten.
    """
    found = dict(load(ws, batch))
    for row in rows:
        found.pop(row.row, None)
        if row.decision is not None or row.dismissed:
            found[row.row] = Record(reading(row), channel, ws.actor, ws.timestamp())
    body = {
        "schema": SCHEMA,
        "batch": batch,
        "rows": {row: [one.reading, one.channel, one.by, one.at] for row, one in sorted(found.items())},
    }
    atomic_write(_path(ws, batch), json.dumps(body, indent=1).encode("ascii"), mode=0o600)


def recognised(rows: Iterable[Row], known: Mapping[str, Record]) -> tuple[Row, ...]:
    """The rows, with the channel that this clone remembers for exactly the decision that each holds."""
    return tuple(_recognised(row, known.get(row.row)) for row in rows)


def _recognised(row: Row, known: Record | None) -> Row:
    if row.decision is None or known is None or known.reading != reading(row):
        return row
    decision = replace(
        row.decision, channel=known.channel, verified=CLAIMS[known.channel], by=known.by or row.decision.by
    )
    return replace(row, decision=decision)


def _path(ws: Workspace, batch: str) -> Path:
    name = hashlib.sha256(batch.encode("utf-8", "surrogateescape")).hexdigest()[:32]
    return ws.private / "decisions" / f"{name}.json"
