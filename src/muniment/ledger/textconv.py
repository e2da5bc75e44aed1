"""A ledger as text for `git diff`: entries in the order of their times, one fact a line (G8, pure)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from muniment.ledger.entries import Entry, time_key
from muniment.ledger.segment import parse_segment

_SHORT = 12


def readable(data: bytes) -> str:
    """The text for a segment's bytes; what can't be read as one stays as it stands."""
    segment = parse_segment(data, "")
    if segment.faults or segment.newer or not segment.schema:
        return data.decode("utf-8", "replace")
    lines = [f"sealed: {row.file} ({row.count} entries)" for row in sorted(segment.sealed)]
    lines += [
        f"{key}: {raw.decode('utf-8', 'replace')}" for key, raw in sorted((segment.extra or {}).items())
    ]
    for entry in sorted(segment.entries, key=lambda one: (time_key(one.at), one.id)):
        lines += _entry(entry)
    return "".join(f"{line}\n" for line in lines)


def _entry(entry: Entry) -> Iterator[str]:
    state = " (expunged)" if entry.expunged else ""
    yield f"{entry.at} {_line(entry.kind)} {entry.id[:_SHORT]}{state} {_line(entry.actor)}".rstrip()
    for name, value in sorted(entry.data.items()):
        yield f"    {_line(name)}: {_line(value)}"
    yield from _ids("basis", entry.basis)
    yield from _ids("after", entry.after)


def _ids(name: str, ids: Iterable[str]) -> Iterator[str]:
    listed = " ".join(one[:_SHORT] for one in ids)
    if listed:
        yield f"    {name}: {listed}"


def _line(value: Any) -> str:
    """A value on one line, control characters as JSON escapes."""
    shown = json.dumps(value, ensure_ascii=False, sort_keys=True)
    if isinstance(value, str) and value.isprintable():
        return value
    return "".join(char if char.isprintable() else f"\\u{ord(char):04x}" for char in shown)
