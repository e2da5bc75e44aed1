"""One set from an open segment and its sealed ones, checked as a whole (G6, G7, pure)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from hashlib import sha256
from posixpath import dirname, join

from muniment.ledger import integrity
from muniment.ledger.entries import Entry, stub
from muniment.ledger.faults import Fault, Verdict
from muniment.ledger.segment import Sealed, Segment, parse_segment

LINES_PER_ENTRY = 2


@dataclass(frozen=True, slots=True)
class Placed:
    """A segment and where it lies; `record` is None for the open one."""

    path: str
    segment: Segment
    record: Sealed | None = None


@dataclass(frozen=True, slots=True)
class Whole:
    """Everything in the ledger of one tree.

    Attributes:
        entries: By id; an entry present in several segments counts once, its expunged form first.
        segments: The open segment first, then the sealed ones that count, by file.
        outranked: Records that a replacement outranks: listed still, read no more.
        verdict: What the checks say.
    """

    entries: Mapping[str, Entry]
    segments: tuple[Placed, ...]
    outranked: tuple[Sealed, ...]
    verdict: Verdict


def in_force(sealed: Iterable[Sealed]) -> tuple[tuple[Sealed, ...], tuple[Sealed, ...]]:
    """The records that count and those that a replacement outranks, each sorted."""
    listed = sorted(set(sealed))
    outranked = {name for row in listed for name in row.replaces if name != row.file}
    return (
        tuple(row for row in listed if row.file not in outranked),
        tuple(row for row in listed if row.file in outranked),
    )


def sealed_path(open_path: str, file: str) -> str:
    """The repository-relative path of a sealed segment."""
    return join(dirname(open_path), file)


def assemble(data: bytes | None, path: str, read: Callable[[str], bytes | None] = lambda _: None) -> Whole:
    """Read and check a ledger.

    Args:
        data: The open segment; None when there is no ledger yet.
        path: Its repository-relative path.
        read: Gives a sealed file's bytes by its repository-relative path; None when it isn't there.
    """
    opened = parse_segment(data, path) if data is not None else Segment()
    counted, outranked = in_force(opened.sealed)
    placed = [Placed(path, opened)]
    faults = [fault.at(path) for fault in opened.faults]
    if outranked and not counted:
        faults.append(Fault("sealed", "The sealed segments replace each other in a circle.", path=path))
    for row in counted:
        where = sealed_path(path, row.file)
        content = read(where)
        if content is None:
            faults.append(
                Fault("sealed", "A sealed segment is listed, but its file isn't there.", path=where)
            )
            continue
        segment = parse_segment(content, where)
        placed.append(Placed(where, segment, row))
        faults += [fault.at(where) for fault in (*segment.faults, *_sealed_faults(content, segment, row))]
    entries = union(segment.segment.entries for segment in placed)
    verdict = Verdict(
        faults=(*faults, *located(integrity.check(entries), placed)),
        expunged=tuple(sorted(entry.id for entry in entries.values() if entry.expunged)),
        schema=max(segment.segment.schema for segment in placed),
        newer=any(segment.segment.newer for segment in placed),
    )
    return Whole(entries, tuple(placed), outranked, verdict)


def union(groups: Iterable[Iterable[Entry]]) -> dict[str, Entry]:
    """One set of entries by id: the expunged form wins, the smaller bytes between two stubs."""
    found: dict[str, Entry] = {}
    for group in groups:
        if not found:
            found = {entry.id: entry for entry in group}
            continue
        for entry in group:
            known = found.get(entry.id)
            found[entry.id] = entry if known is None else stronger(known, entry)
    return found


def stronger(one: Entry, other: Entry) -> Entry:
    """Which of two forms of one entry stands: the stub, and the smaller bytes between two stubs.

    A body beside a stub counts as the stub it would make, so that no order of joining matters.
    """
    if one.expunged != other.expunged:
        one, other = stub(one), stub(other)
    return min(one, other, key=lambda entry: entry.raw)


def located(faults: Iterable[Fault], placed: Iterable[Placed]) -> tuple[Fault, ...]:
    """The faults with path and line of their entries filled in."""
    listed = list(faults)
    if not listed:
        return ()
    where: dict[str, tuple[str, int]] = {}
    wanted = {fault.entry for fault in listed}
    segments = list(placed)
    for segment in segments:
        for place, entry in enumerate(segment.segment.entries):
            if entry.id in wanted:
                lines = segment.segment.lines
                line = segment.segment.first + LINES_PER_ENTRY * place if lines is None else lines[entry.id]
                where.setdefault(entry.id, (segment.path, line))
    return tuple(fault.at(*where.get(fault.entry, (segments[0].path, 0))) for fault in listed)


def _sealed_faults(content: bytes, segment: Segment, row: Sealed) -> tuple[Fault, ...]:
    faults: list[Fault] = []
    if sha256(content).hexdigest() != row.sha256:
        faults.append(Fault("sealed", "A sealed segment was edited: its bytes have another SHA-256."))
    if len(segment.entries) != row.count:
        message = f"A sealed segment holds {len(segment.entries)} entries, not the {row.count} listed."
        faults.append(Fault("sealed", message))
    if segment.sealed:
        faults.append(Fault("sealed", "A sealed segment lists sealed segments of its own."))
    return tuple(faults)


def with_entries(whole: Whole, added: Iterable[Entry]) -> Whole:
    """The set with entries added to the open segment; the verdict is kept, for entries minted here."""
    opened = whole.segments[0]
    new = tuple(added)
    segment = replace(
        opened.segment, entries=(*opened.segment.entries, *new), lines=None, laid_out=True, faults=()
    )
    entries: dict[str, Entry] = dict(whole.entries)
    entries.update((entry.id, entry) for entry in new)
    return replace(whole, entries=entries, segments=(replace(opened, segment=segment), *whole.segments[1:]))
