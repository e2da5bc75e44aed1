"""A segment's bytes: reading any JSON layout, writing exactly one (CONTRACT, pure).

Our own layout has one entry a line, so it is read line by line and trusted as far as it proves itself: a
line that is its entry's canonical JSON and hashes to its id is that entry. Anything else takes the
careful way, which knows line numbers, duplicate keys and conflict markers.
"""

from __future__ import annotations

from dataclasses import replace

from muniment.ledger.entries import Entry
from muniment.ledger.layout import parse_any
from muniment.ledger.segment_parts import (
    BETWEEN,
    BODIES,
    CLOSE,
    ENTRIES,
    OPEN,
    SCHEMA,
    SCHEMA_NUMBER,
    Sealed,
    Segment,
    body_fault,
    careful_entry,
    is_known,
    quick_entry,
    read_entry,
    read_sealed,
    render_segment,
)

__all__ = [
    "BETWEEN",
    "BODIES",
    "CLOSE",
    "ENTRIES",
    "OPEN",
    "SCHEMA",
    "SCHEMA_NUMBER",
    "Sealed",
    "Segment",
    "body_fault",
    "careful_entry",
    "is_known",
    "parse_segment",
    "quick_entry",
    "read_entry",
    "read_sealed",
    "render_segment",
]


def parse_segment(data: bytes, path: str) -> Segment:
    """Read a segment of any JSON layout; every fault comes back in the result, none is raised.

    `path` is repository-relative and only names the file in faults. Readable entries are returned even
    when others are not (G18).
    """
    plain = data
    if data.startswith(OPEN[:-1] + b"\r\n"):  # a checkout with autocrlf; our lines hold no CR of their own
        plain = data.replace(b"\r\n", b"\n")
    opened = _quick_head(plain, path)
    if opened is not None:
        head, segment = opened
        entries = _quick_entries(plain[head : -len(CLOSE)])
        if entries is not None:
            return replace(segment, entries=entries, laid_out=plain is data)
    return parse_any(data, path)


def _quick_head(data: bytes, path: str) -> tuple[int, Segment] | None:
    """Where the entries start, and the rest of a segment in our own layout; None for another layout."""
    if not data.endswith(CLOSE):
        return None
    if data.startswith(OPEN):
        return len(OPEN), Segment()
    start = data.find(ENTRIES) + len(ENTRIES)
    if start < len(ENTRIES):
        return None
    segment = parse_any(data[:start] + CLOSE, path)
    return (
        (start, replace(segment, lines=None, first=data.count(b"\n", 0, start) + 1))
        if segment.laid_out
        else None
    )


def _quick_entries(body: bytes) -> tuple[Entry, ...] | None:
    found: list[Entry] = []
    previous = ""
    for raw in body.split(BETWEEN) if body else ():
        entry = quick_entry(raw) or careful_entry(raw)
        if entry is None or entry.id <= previous or entry.raw != raw:
            return None
        previous = entry.id
        found.append(entry)
    return tuple(found)
