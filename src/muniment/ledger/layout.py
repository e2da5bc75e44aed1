"""The careful reader: a segment in any JSON layout, with line numbers, markers and doubled keys (pure).

Where the text isn't JSON at all (cut off, conflict markers, a damaged line), it still reads every line that
is an entry by itself, so that one bad record hides no other; the set stays broken until it is mended (G18).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from muniment.ledger.canonical import StrictReader, canonical, value_fault
from muniment.ledger.entries import Entry
from muniment.ledger.faults import Fault
from muniment.ledger.segment_parts import (
    SCHEMA_NUMBER,
    Sealed,
    Segment,
    careful_entry,
    quick_entry,
    read_entry,
    read_sealed,
    render_segment,
)

_MARKER = re.compile(rb"^(?:<{7}|={7}|>{7}|\|{7})(?: .*)?\r?$", re.MULTILINE)
_SCHEMA = re.compile(r"muniment\.ledger/([1-9][0-9]{0,8})\Z")
_SPACE = re.compile(r"[ \t\r\n]*")
_BOM = b"\xef\xbb\xbf"


@dataclass(slots=True)
class _Draft:
    """A segment while it is read."""

    path: str
    entries: dict[str, Entry] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)
    members: dict[str, Any] = field(default_factory=dict)
    where: dict[str, int] = field(default_factory=dict)
    faults: list[Fault] = field(default_factory=list)

    def note(self, rule: str, message: str, line: int = 0, entry: str = "", fix: str | None = None) -> None:
        made = Fault(rule, message, entry=entry, path=self.path, line=line)
        self.faults.append(
            made if fix is None else Fault(rule, message, made.reach, entry, self.path, line, fix)
        )

    def take(self, document: Any, line: int) -> None:
        """Read one element of `entries`."""
        entry, faults = read_entry(document)
        self.faults += [fault.at(self.path, line) for fault in faults]
        if entry is not None:
            self.keep(entry, line)

    def keep(self, entry: Entry, line: int) -> None:
        known = self.entries.get(entry.id)
        if known is not None:
            self.note("repeated", f"Entry {entry.id.short} occurs twice in this file.", line, entry.id)
            if known.expunged:
                return
        self.entries[entry.id] = entry
        self.lines[entry.id] = line


def parse_any(data: bytes, path: str) -> Segment:
    """Read a segment of any layout; see `segment.parse_segment`."""
    draft = _Draft(path)
    text = _decode(data, draft)
    marker = _MARKER.search(data)
    if marker:
        line = data.count(b"\n", 0, marker.start()) + 1
        draft.note("conflict-markers", "It holds the conflict markers of an unfinished merge.", line)
    if marker or text is None:
        _salvage(data, draft)
        return _finish(draft, data, readable=False)
    try:
        _walk(text, draft)
    except json.JSONDecodeError as error:
        draft.note("json", f"It is not JSON: {error.msg} (column {error.colno}).", error.lineno)
        _salvage(data, draft)
        return _finish(draft, data, readable=False)
    return _finish(draft, data, readable=True)


def _decode(data: bytes, draft: _Draft) -> str | None:
    if data.startswith(_BOM):
        draft.note("encoding", "It starts with a byte-order mark; the ledger is UTF-8 without one.", 1)
        data = data[len(_BOM) :]
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        draft.note("encoding", f"It is not UTF-8 (byte {error.start}).", line)
        return None


def _walk(text: str, draft: _Draft) -> None:
    """Read the top-level object member by member, and `entries` element by element."""
    reader = StrictReader()
    position = _expect(text, _skip(text, 0), "{")
    position = _skip(text, position)
    first = True
    while text[position : position + 1] != "}":
        if not first:
            position = _skip(text, _expect(text, position, ","))
        first = False
        line = text.count("\n", 0, position) + 1
        if text[position : position + 1] != '"':
            raise json.JSONDecodeError("Expecting a member name", text, position)
        key, position = reader.value_at(text, position)
        position = _skip(text, _expect(text, _skip(text, position), ":"))
        if key in draft.members:
            draft.note("duplicate-key", f"The member {json.dumps(key)} occurs twice.", line)
        draft.where[key] = line
        if key == "entries" and text[position : position + 1] == "[":
            draft.members[key] = True
            position = _elements(text, position, reader, draft)
        else:
            draft.members[key], position = reader.value_at(text, position)
            for rule, message in reader.take_faults():
                draft.note(rule, message, line)
        position = _skip(text, position)
    position = _skip(text, position + 1)
    if position != len(text):
        raise json.JSONDecodeError("Something stands behind the ledger", text, position)


def _elements(text: str, position: int, reader: StrictReader, draft: _Draft) -> int:
    position = _skip(text, position + 1)
    line, counted, first = 1, 0, True
    while text[position : position + 1] != "]":
        if not first:
            position = _skip(text, _expect(text, position, ","))
        first = False
        line += text.count("\n", counted, position)
        counted = position
        document, position = reader.value_at(text, position)
        faults = reader.take_faults()
        if faults:
            named = document.get("id") if isinstance(document, dict) else ""
            for rule, message in faults:
                draft.note(rule, message, line, named if isinstance(named, str) else "")
        else:
            draft.take(document, line)
        position = _skip(text, position)
    return position + 1


def _skip(text: str, position: int) -> int:
    found = _SPACE.match(text, position)
    return found.end() if found else position


def _expect(text: str, position: int, character: str) -> int:
    if text[position : position + 1] != character:
        what = "the text ends" if position >= len(text) else "something else stands there"
        raise json.JSONDecodeError(f"Expecting {character!r}, but {what}", text, position)
    return position + 1


def _salvage(data: bytes, draft: _Draft) -> None:
    """Keep every line that is an entry by itself; repeats are what a merge leaves, so they are no fault."""
    for line, raw in _candidate_lines(data):
        entry = quick_entry(raw)
        if entry is None:
            entry = careful_entry(raw)
        if entry is not None and not (entry.id in draft.entries and draft.entries[entry.id].expunged):
            draft.entries[entry.id] = entry
            draft.lines[entry.id] = line


def _candidate_lines(data: bytes) -> Iterator[tuple[int, bytes]]:
    for number, raw in enumerate(data.split(b"\n"), 1):
        bare = raw.strip(b" \t\r,")
        if bare.startswith(b"{") and bare.endswith(b"}"):
            yield number, bare


def _finish(draft: _Draft, data: bytes, *, readable: bool) -> Segment:
    sealed: tuple[Sealed, ...] = ()
    schema = SCHEMA_NUMBER
    extra: dict[str, bytes] = {}
    if readable:
        schema = _schema(draft)
        sealed, extra = _members(draft)
    entries = tuple(draft.entries.values())
    return Segment(
        entries=entries,
        lines=draft.lines,
        sealed=sealed,
        extra=extra,
        faults=tuple(draft.faults),
        schema=schema,
        laid_out=not draft.faults and render_segment(entries, sealed, extra) == data,
    )


def _schema(draft: _Draft) -> int:
    named = draft.members.get("schema")
    match = _SCHEMA.match(named) if isinstance(named, str) else None
    if match is None:
        draft.note(
            "schema",
            'Its `schema` is not "muniment.ledger/1"; it is no ledger of Muniment.',
            draft.where.get("schema", 1),
        )
        return 0
    if draft.members.get("entries") is not True:
        draft.note("schema", "Its `entries` is missing or not a list.", draft.where.get("entries", 1))
    return int(match[1])


def _members(draft: _Draft) -> tuple[tuple[Sealed, ...], dict[str, bytes]]:
    sealed: tuple[Sealed, ...] = ()
    if "sealed" in draft.members:
        sealed, faults = read_sealed(draft.members["sealed"])
        draft.faults += [fault.at(draft.path, draft.where["sealed"]) for fault in faults]
    extra: dict[str, bytes] = {}
    for key in sorted(draft.members.keys() - {"schema", "sealed", "entries"}):
        message = value_fault({key: draft.members[key]})
        if message:
            draft.note("value", message, draft.where[key])
        else:
            extra[key] = canonical(draft.members[key])
    return sealed, extra
