"""Reading a ledger file in whatever state a merge or a hand left it, with nothing overlooked (G8, G18, pure).

`segment.parse_segment` says what is wrong; this reader says all that is right, side by side of every
conflict, and names each piece that it can't make out, so that nobody writes over it unawares.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from posixpath import commonprefix

from muniment.git.conflict import COMMON, OURS, THEIRS, is_marker, placed
from muniment.ledger.entries import Entry, is_id
from muniment.ledger.merge import Content
from muniment.ledger.segment import (
    OPEN,
    Sealed,
    Segment,
    careful_entry,
    parse_segment,
    quick_entry,
    read_sealed,
)

_CLAIM = re.compile(rb'"id" ?: ?"([0-9a-f]{32})"')
_STRUCTURE = frozenset({b"", b"[", b"]", b"}", b"]}", b'],"entries":[', b'"entries":[', b"{"})
_BOM = b"\xef\xbb\xbf"
_DAMAGED_BYTES = 2
_ELEMENT_RULES = frozenset({"id", "value", "schema", "duplicate-key"})

Line = tuple[int, bytes]


@dataclass(frozen=True, slots=True)
class Stray:
    """A piece of the file that is no entry and no part of its frame: a damaged or an edited entry.

    Attributes:
        line: 1-based.
        entry: The id that it claims; empty when none can be made out.
        raw: The line without separators; empty when it is no line by itself.
        message: What is wrong with it.
    """

    line: int
    entry: str
    raw: bytes
    message: str

    @property
    def is_object(self) -> bool:
        """Whether it is one JSON object on one line, so that it can stand in a ledger as it is."""
        return _object(self.raw) is not None

    def is_told_by(self, entry: Entry) -> bool:
        """Whether the entry that it claims to be, given as recorded, says all that it could have said.

        A piece that is no JSON claims little: it has to be a part of the entry, or that cut short.
        """
        if self.raw and self.raw in entry.raw:
            return True
        if self.entry != entry.id:
            return False
        return not self.raw or self.is_object or _alike(self.raw, entry.raw)


def _object(raw: bytes) -> dict[str, object] | None:
    try:
        found = json.loads(raw)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _alike(one: bytes, other: bytes) -> bool:
    """Whether `one` is `other` with something cut out, but for a damaged byte or two.

    Two lines run into each other share an end with an entry as well; what is between is somebody's text.
    """
    start, end = len(commonprefix([one, other])), len(commonprefix([one[::-1], other[::-1]]))
    return start + end >= len(one) - _DAMAGED_BYTES


@dataclass(slots=True)
class Reading:
    """All that a ledger file holds, from every side of its conflicts.

    Attributes:
        bodies: Every entry in full, by id.
        stubs: Every stub, by id; two that differ are both kept.
        sealed: Records of sealed segments.
        extra: Unknown top-level members, as canonical JSON.
        strays: What could not be made out.
        marked: Whether it holds conflict markers.
        schema: The schema number; 0 when it is JSON, but no ledger.
        newer: Whether a newer Muniment wrote it.
        headed: Whether its top-level members could be read.
    """

    bodies: dict[str, Entry] = field(default_factory=dict)
    stubs: dict[str, dict[bytes, Entry]] = field(default_factory=dict)
    sealed: set[Sealed] = field(default_factory=set)
    extra: dict[str, bytes] = field(default_factory=dict)
    strays: list[Stray] = field(default_factory=list)
    marked: bool = False
    schema: int = 1
    newer: bool = False
    headed: bool = False

    @property
    def ids(self) -> frozenset[str]:
        """The ids of everything readable."""
        return frozenset(self.bodies.keys() | self.stubs.keys())

    def keep(self, entries: Iterable[Entry]) -> None:
        """Take entries in."""
        for entry in entries:
            if entry.expunged:
                self.stubs.setdefault(entry.id, {})[entry.raw] = entry
            else:
                self.bodies[entry.id] = entry

    def content(self) -> Content:
        """As a set to be merged; which form of an entry stands is decided elsewhere."""
        forms = {
            identity: min(found.values(), key=lambda entry: entry.raw)
            for identity, found in self.stubs.items()
        }
        return Content({**forms, **self.bodies}, frozenset(self.sealed), dict(self.extra))


def read(data: bytes, path: str) -> Reading:
    """Read a ledger file; never raises."""
    reading = Reading()
    lines = list(enumerate(data.removeprefix(_BOM).split(b"\n"), 1))
    sides = _sides(lines)
    reading.marked = sides is not None
    for side in sides or (lines,):
        _read_side(side, path, reading)
    unique = {(one.line, one.raw): one for one in reading.strays}
    reading.strays = [unique[key] for key in sorted(unique)]
    return reading


def content_lines(data: bytes) -> frozenset[bytes]:
    """The lines of a file that mean something, without separators and markers."""
    bare = (raw.strip(b" \t\r,") for raw in data.split(b"\n"))
    return frozenset(raw for raw in bare if not is_marker(raw))


def _sides(lines: Sequence[Line]) -> tuple[list[Line], ...] | None:
    """The texts of both sides (with diff3 the base's too) around conflict markers; None without any."""
    texts: dict[str, list[Line]] = {OURS: [], COMMON: [], THEIRS: []}
    markers = ""
    for line, place in zip(lines, placed(raw for _, raw in lines), strict=True):
        markers += place.marker
        for side in () if place.odd else place.sides:
            texts[side].append(line)
    if not markers:
        return None
    return (texts[OURS], texts[THEIRS], texts[COMMON]) if "|" in markers else (texts[OURS], texts[THEIRS])


def _read_side(lines: list[Line], path: str, reading: Reading) -> None:
    """Read one text without markers; lines keep their numbers in the whole file."""
    data = b"\n".join(raw for _, raw in lines)
    segment = parse_segment(data, path)
    reading.newer |= segment.newer
    reading.keep(segment.entries)
    if any(fault.rule in {"json", "encoding", "conflict-markers"} for fault in segment.faults):
        _read_lines(lines, reading)
        return
    reading.schema = min(reading.schema, segment.schema) if segment.schema else 0
    reading.sealed.update(segment.sealed)
    reading.headed = True
    _more(reading, segment.extra or {})
    reading.strays += _faulty(segment, lines)
    if any(fault.rule == "sealed" or not fault.entry for fault in segment.faults):
        _read_frame(lines, reading)


def _more(reading: Reading, extra: Mapping[str, bytes]) -> None:
    for key, raw in extra.items():
        reading.extra[key] = max(raw, reading.extra.get(key, b""))


def _faulty(segment: Segment, lines: list[Line]) -> Iterator[Stray]:
    """The elements that a readable text holds and that are no entries."""
    for fault in segment.faults:
        if fault.rule not in _ELEMENT_RULES or not 0 < fault.line <= len(lines):
            continue
        number, raw = lines[fault.line - 1]
        bare = raw.strip(b" \t\r,")
        whole = bare.startswith(b"{") and bare.endswith(b"}") and b'"entries"' not in bare
        if fault.entry or whole:
            yield Stray(number, fault.entry, bare if whole else b"", fault.message)


def _read_frame(lines: list[Line], reading: Reading) -> None:
    """The records of sealed segments and the unknown members, line by line."""
    for _, raw in lines:
        bare = raw.strip(b" \t\r,")
        row = _row(bare)
        if row is not None:
            reading.sealed.add(row)
        elif bare.startswith(b'{"schema"'):
            _header(bare, reading)


def _read_lines(lines: list[Line], reading: Reading) -> None:
    """What a text that is no JSON holds, line by line; what isn't understood becomes a stray."""
    _read_frame(lines, reading)
    for number, raw in lines:
        bare = raw.strip(b" \t\r,")
        if bare in _STRUCTURE or bare in OPEN or is_marker(bare) or _row(bare) is not None:
            continue
        if bare.startswith(b'{"schema"') and _header(bare, reading):
            continue
        for piece in _pieces(bare):
            entry = quick_entry(piece) or careful_entry(piece)
            if entry is not None:
                reading.keep([entry])
            else:
                named = _claim(piece)
                what = f"Entry {named[:12]} can't be read: it" if named else "A line can't be read: it"
                reading.strays.append(Stray(number, named, piece, f"{what} was cut off or edited."))


def _claim(piece: bytes) -> str:
    """The id that a damaged entry claims: its own member; in what is no JSON the last of its kind."""
    found = _object(piece)
    if found is not None:
        own = found.get("id")
        return own if is_id(own) and isinstance(own, str) else ""
    claims = _CLAIM.findall(piece)
    return claims[-1].decode() if claims else ""


def _pieces(raw: bytes) -> Iterator[bytes]:
    """The JSON values that stand side by side on one line; the rest as one piece."""
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        yield raw
        return
    decoder = json.JSONDecoder()
    start = 0
    while start < len(text):
        try:
            _, end = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            yield text[start:].strip(" \t\r,").encode()
            return
        yield text[start:end].encode()
        while end < len(text) and text[end] in " \t\r,":
            end += 1
        start = end


def _row(raw: bytes) -> Sealed | None:
    if not (raw.startswith(b"{") and b'"sha256"' in raw and b'"file"' in raw):
        return None
    try:
        rows, _ = read_sealed([json.loads(raw)])
    except (ValueError, RecursionError):
        return None
    return rows[0] if rows else None


def _header(raw: bytes, reading: Reading) -> bool:
    """Read the first line of our own layout; False when it is something else."""
    for end in (b"]}", b'],"entries":[]}', b""):
        segment = parse_segment(raw + end, "")
        if not segment.faults and segment.schema:
            _more(reading, segment.extra or {})
            reading.newer |= segment.newer
            reading.headed = True
            reading.keep(segment.entries)
            return True
    return False
