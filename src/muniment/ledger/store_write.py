"""Record an entry: load, append and write under the clone's lock, through the one door (G4, G6, G12)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from muniment.ids import EntryId
from muniment.ledger import store_tip
from muniment.ledger.assembly import Placed, Whole
from muniment.ledger.canonical import canonical
from muniment.ledger.entries import Entry
from muniment.ledger.faults import Verdict
from muniment.ledger.integrity import named
from muniment.ledger.segment import CLOSE, OPEN, Segment, careful_entry, quick_entry
from muniment.ledger.splice import entry_by_id, lines_with, surroundings
from muniment.ledger.status import FRAME, View
from muniment.ledger.store import Appended, Draft, Ledger, append, load, read_here
from muniment.ledger.store_tip import Tip
from muniment.publish import Door, open_door
from muniment.publish_one import Part, Present, replace_part
from muniment.redact.gate import GateRefused
from muniment.workspace import Workspace


def record(ws: Workspace, draft: Draft) -> Appended:
    """Append one entry to the ledger in the working tree; commits nothing.

    When the file's bytes are those of an earlier reading that found them whole, or of our own last
    writing, only the lines that bear on this entry are read.

    Raises:
        Refused: The ledger is not whole, or another process holds the lock.
        NotCanonical: The body can't be held.
        GateRefused: An identifier or a secret would be added; nothing was written.
    """
    with open_door(ws) as door:
        present = _present(ws)
        tip = store_tip.recall(ws, store_tip.digest_of(present.data)) if present else None
        part = _part(ws, present.data, tip, draft) if present and tip and store_tip.fits(ws, tip) else None
        ledger = part or load(ws)
        appended = append(ws, ledger, [draft])
        if part is None:
            tip = store_tip.of_ledger(ws, ledger)
        if appended.changes:
            _write(ws, door, appended, present, tip)
    return appended


def _present(ws: Workspace) -> Present | None:
    """The open segment as it stands; None when there is none."""
    path = ws.config.ledger_path
    target = ws.path(path)
    if not target.is_file():
        return None
    stat = target.stat()
    data = read_here(ws, path)
    return None if data is None else Present(data, stat)


def _write(ws: Workspace, door: Door, appended: Appended, present: Present | None, tip: Tip | None) -> None:
    """Write the one file that changed; only what is added to the file as it stands is judged.

    What stood there uncommitted was judged when it was written, or will be when it is committed.
    """
    (change,) = appended.changes
    if present is None or tip is None or change.data is None:
        seen = {change.path: present.data if present else None}
        door.write(door.clear(appended.changes), operation="ledger-add", seen=seen)
        return
    part = _cleared(door, change.path, present.data, change.data, appended.entries[0])
    blob = replace_part(ws, Present(present.data, present.stat, tip.blob), part, change.data)
    store_tip.remember(ws, store_tip.after(tip, appended.entries, change.data, blob))


def _cleared(door: Door, path: str, old: bytes, new: bytes, entry: Entry) -> Part:
    """The new entry with its neighbours as the gate let them pass; problems are told by the file's lines."""
    start, stop = surroundings(old, entry.id)
    try:
        cleared = door.gate.clear(path, new[start : stop + len(new) - len(old)], old[start:stop])
    except GateRefused as error:
        above = old.count(b"\n", 0, start)
        moved = (replace(one, line=one.line + above if one.line else 0) for one in error.gate_problems)
        raise GateRefused(tuple(moved)) from None
    return Part(start, stop, cleared)


def _part(ws: Workspace, data: bytes, tip: Tip, draft: Draft) -> Ledger | None:
    """The part of a whole ledger that appending this draft depends on; None where that is all of it."""
    if draft.kind in {"undo", "applied"} or not (data.startswith(OPEN) and data.endswith(CLOSE)):
        return None
    found: dict[str, Entry] = {}
    for head in tip.heads:
        entry = entry_by_id(data, head)
        if entry is None:
            return None
        found[entry.id] = entry
    for target in named(draft.kind, draft.data).union(draft.basis or ()) - found.keys():
        entry = entry_by_id(data, target)
        if entry is not None:
            found[entry.id] = entry
    for raw in _bearing(data, tip, draft, found):
        entry = quick_entry(raw) or careful_entry(raw)
        if entry is None:
            return None
        found[entry.id] = entry
    path = ws.config.ledger_path
    whole = Whole(found, (Placed(path, Segment(tuple(found.values()))),), (), Verdict())
    return Ledger(path, whole, data, None, tuple(EntryId(head) for head in tip.heads))


def _bearing(data: bytes, tip: Tip, draft: Draft, found: dict[str, Entry]) -> Iterator[bytes]:
    """The lines of the same operation, of aliases and undos, and of decisions on the same subject."""
    if draft.op:
        yield from lines_with(data, b'"op":' + canonical(draft.op))
    if draft.kind not in {"decision", "alias"}:
        return
    for kind in FRAME:
        if kind in tip.kinds:
            yield from lines_with(data, b'"kind":' + canonical(kind))
    subject = draft.data.get("subject")
    if draft.kind == "decision" and isinstance(subject, str):
        view = View(found)
        name = view.canonical(subject)
        for one in (name, *view.names_of(name)):
            yield from lines_with(data, b'"subject":' + canonical(one))
