"""Sealing: a causally closed prefix of the open segment becomes a file that its hash alone verifies (G6)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256

from muniment.files import FileChange
from muniment.ledger.assembly import sealed_path
from muniment.ledger.entries import Entry
from muniment.ledger.segment import BETWEEN, Sealed, Segment, parse_segment, render_segment
from muniment.ledger.store import Ledger, load
from muniment.publish import ClearedChange, Door, open_door
from muniment.workspace import Workspace

DEFAULT_BYTES = 4 * 1024 * 1024
"""Sealing is due once the open segment is larger than this."""
_KEPT_SHARE = 4


@dataclass(frozen=True, slots=True)
class SealResult:
    """What sealing did.

    Attributes:
        sealed: The record of the new segment; None when there was nothing to do.
        path: Its repository-relative path; empty when there was nothing to do.
        size: The open segment's size before, in bytes.
        left: How many entries stay in the open segment.
    """

    sealed: Sealed | None
    path: str
    size: int
    left: int


def seal(ws: Workspace, *, over: int = DEFAULT_BYTES) -> SealResult:
    """Seal the oldest entries when the open segment is larger than `over` bytes; commits nothing.

    The newest entries, up to a quarter of `over`, stay open, so that branches in work rarely meet a seal.

    Raises:
        Refused: The ledger is not whole, or another process holds the lock.
    """
    with open_door(ws) as door:
        ledger = load(ws)
        ledger.require_whole()
        size = len(ledger.data or b"")
        opened = ledger.whole.segments[0].segment
        prefix = _prefix(ledger, over // _KEPT_SHARE) if size > over else ()
        if not prefix:
            return SealResult(None, "", size, len(opened.entries))
        moved = {entry.id for entry in prefix}
        record, data = sealed_segment(prefix)
        left = tuple(entry for entry in opened.entries if entry.id not in moved)
        changes = changes_for(ledger, left, [*in_force_records(ledger), record], {record.file: data})
        seen = {ledger.path: ledger.data}
        door.write(clear(ws, door, ledger, changes), operation="ledger-seal", seen=seen)
        return SealResult(record, sealed_path(ledger.path, record.file), size, len(left))


def sealed_segment(entries: Iterable[Entry], replaces: Iterable[str] = ()) -> tuple[Sealed, bytes]:
    """A sealed segment's record and bytes."""
    listed = tuple(entries)
    data = render_segment(listed)
    digest = sha256(data).hexdigest()
    return Sealed(f"ledger/{digest[:16]}.json", digest, len(listed), tuple(sorted(set(replaces)))), data


def in_force_records(ledger: Ledger) -> tuple[Sealed, ...]:
    """The records of the sealed segments that count."""
    return tuple(placed.record for placed in ledger.whole.segments if placed.record is not None)


def clear(
    ws: Workspace, door: Door, ledger: Ledger, changes: Iterable[FileChange]
) -> tuple[ClearedChange, ...]:
    """Show the files to the gate; a new sealed segment is judged by what it adds to HEAD's whole ledger.

    Its entries only moved there: what HEAD holds already is `check`'s to report, no reason to refuse (G12).

    Raises:
        GateRefused: An identifier or a secret would be added; nothing was written.
    """
    listed = tuple(changes)
    others = door.clear(change for change in listed if not _is_new_segment(ledger, change))
    known = load(ws, "HEAD").entries if ws.repo.head().commit else ()
    old = render_segment(known) if known else None
    moved = (
        ClearedChange(change.path, door.gate.clear(change.path, change.data, old))
        for change in listed
        if change.data is not None and _is_new_segment(ledger, change)
    )
    return (*others, *moved)


def _is_new_segment(ledger: Ledger, change: FileChange) -> bool:
    return change.data is not None and change.path != ledger.path


def changes_for(
    ledger: Ledger, entries: Sequence[Entry], sealed: Sequence[Sealed], contents: dict[str, bytes]
) -> tuple[FileChange, ...]:
    """The files of a ledger with these open entries and sealed segments.

    `contents` holds the bytes of the new segments by file. Files of segments that are listed no longer are
    removed. Nothing is written here.

    Raises:
        ValueError: The set of entries would shrink: never written, whatever the reason.
    """
    keep = {row.file for row in sealed}
    after: set[str] = {entry.id for entry in entries}
    for placed in ledger.whole.segments[1:]:
        if placed.record is not None and placed.record.file in keep:
            after.update(entry.id for entry in placed.segment.entries)
    for data in contents.values():
        after.update(_ids(data))
    if not after >= ledger.whole.entries.keys():
        raise ValueError("the set of entries would shrink")
    opened: Segment = ledger.whole.segments[0].segment
    changes = [FileChange(sealed_path(ledger.path, file), data) for file, data in sorted(contents.items())]
    changes.append(FileChange(ledger.path, render_segment(entries, sealed, opened.extra)))
    dropped = {row.file for row in opened.sealed} - keep
    changes += [FileChange(sealed_path(ledger.path, file), None) for file in sorted(dropped)]
    return tuple(changes)


def _ids(data: bytes) -> Iterable[str]:
    return (entry.id for entry in parse_segment(data, "").entries)


def _prefix(ledger: Ledger, keep: int) -> tuple[Entry, ...]:
    """The open entries in derived order, without the newest ones that fit into `keep` bytes.

    A prefix of a topological order holds every parent of its members, or a sealed segment does.
    """
    here = {entry.id for entry in ledger.whole.segments[0].segment.entries}
    ordered = [entry for entry in ledger.entries if entry.id in here]
    room = keep
    end = len(ordered)
    while end and room >= len(ordered[end - 1].raw) + len(BETWEEN):
        room -= len(ordered[end - 1].raw) + len(BETWEEN)
        end -= 1
    return tuple(ordered[:end])
