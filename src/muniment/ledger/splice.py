"""Finding and adding lines in a segment in our own layout, without reading the others (pure).

Entries are sorted by id, one a line, so an entry's place is found by halving over the bytes. Callers know
that the bytes are laid out as `render_segment` does: they were read as such, or their digest says so.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from muniment.ids import EntryId
from muniment.ledger.canonical import quick_loads
from muniment.ledger.entries import Entry
from muniment.ledger.segment import BETWEEN, CLOSE, ENTRIES, OPEN, careful_entry, parse_segment, quick_entry


def body_span(data: bytes) -> tuple[int, int]:
    """Where the entries' lines start and end."""
    return data.find(ENTRIES) + len(ENTRIES), len(data) - len(CLOSE)


def splice(data: bytes, entries: Iterable[Entry]) -> bytes:
    """The segment with entries added at their sorted places; every other byte stays."""
    start, end = body_span(data)
    if start >= end:
        return data[:start] + BETWEEN.join(sorted_lines(entries)) + CLOSE
    places = sorted((_place(data, start, end, entry.id), entry.id, entry.raw) for entry in entries)
    parts: list[bytes] = []
    cursor = 0
    for place, _, raw in places:
        if place > end:
            parts += [data[cursor:end], BETWEEN, raw]
            cursor = end
        else:
            parts += [data[cursor:place], raw, BETWEEN]
            cursor = place
    return b"".join([*parts, data[cursor:]])


def sorted_lines(entries: Iterable[Entry]) -> list[bytes]:
    """The entries' lines, by id."""
    return [entry.raw for entry in sorted(entries, key=lambda entry: entry.id)]


def surroundings(data: bytes, identity: str) -> tuple[int, int]:
    """From where to where the lines around an id's sorted place reach: two entries on either side."""
    start, end = body_span(data)
    if start >= end:
        return start, start
    low = high = min(_place(data, start, end, identity), end)
    for _ in range(3):
        low = max(data.rfind(BETWEEN, start, low), start)
        found = data.find(BETWEEN, high + len(BETWEEN), end)
        high = end if found < 0 else found
    return low, high


def _place(data: bytes, start: int, end: int, identity: str) -> int:
    """Where the line of an id starts or would start; beyond `end` when it would be the last."""
    low, high = start, end
    while low < high:
        first, stop = _line_at(data, start, end, (low + high) // 2)
        if quick_loads(data[first:stop])["id"] < identity:
            low = stop + len(BETWEEN)
        else:
            high = first
    return low


def _line_at(data: bytes, start: int, end: int, position: int) -> tuple[int, int]:
    """The line that a position lies in, a separator counting to the line before it."""
    before = data.rfind(BETWEEN, start, position + 1)
    first = start if before < 0 else before + len(BETWEEN)
    if first > position:  # on the separator itself
        earlier = data.rfind(BETWEEN, start, before)
        first = start if earlier < 0 else earlier + len(BETWEEN)
    stop = data.find(BETWEEN, first, end)
    return first, end if stop < 0 else stop


def entry_by_id(data: bytes, identity: str) -> Entry | None:
    """The entry with this id, or None."""
    start, end = body_span(data)
    place = _place(data, start, end, identity)
    if place >= end:
        return None
    first, stop = _line_at(data, start, end, place)
    entry = quick_entry(data[first:stop]) or careful_entry(data[first:stop])
    return entry if entry is not None and entry.id == identity else None


def lines_with(data: bytes, needle: bytes) -> Iterator[bytes]:
    """Every entry line that holds `needle`, once each."""
    start, end = body_span(data)
    position = data.find(needle, start, end)
    while position >= 0:
        first, stop = _line_at(data, start, end, position)
        yield data[first:stop]
        position = data.find(needle, stop, end)


def ids_beyond(data: bytes, path: str, lines: Collection[bytes]) -> Iterator[EntryId]:
    """The ids of a segment's readable entries, those left out whose very line is among `lines`.

    An older version of a file is mostly the same lines, so that little of it has to be parsed.
    """
    if data.startswith(OPEN) and data.endswith(CLOSE):
        others = [raw for raw in data[len(OPEN) : -len(CLOSE)].split(BETWEEN) if raw not in lines]
        if not any(others):
            return
        data = OPEN + BETWEEN.join(others) + CLOSE
    for entry in parse_segment(data, path).entries:
        yield entry.id
