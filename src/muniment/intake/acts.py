"""How an act is recorded: `applied` entries, in parts where one would be too large, and what an undo keeps.

One `applied` entry stands for an act. An entry holds at most 64 KiB, so a large batch gets further `applied`
entries, its parts, which the first one lists among its entries; undoing the one undoes them all. An `undo`
entry is the exact inverse of what it undoes, except for the documents that it lists itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from muniment import approval
from muniment.errors import Refused
from muniment.git.repo import Oid
from muniment.ids import EntryId
from muniment.ledger import store
from muniment.ledger.canonical import canonical
from muniment.ledger.entries import APPLIED_OPERATION as OPERATION
from muniment.ledger.entries import Entry, links
from muniment.ledger.store import Appended, Draft, Ledger
from muniment.workspace import Workspace

PART_BYTES = 32 * 1024
"""About how much of an entry's 64 KiB one part lists; an entry's frame and names need some too."""


@dataclass(frozen=True, slots=True)
class Effect:
    """What an act did to one document: its blobs before and after; None for no file."""

    path: str
    old: Oid | None
    new: Oid | None


def record(
    ws: Workspace,
    ledger: Ledger,
    batch: str,
    *,
    entries: Sequence[str],
    changes: Sequence[Mapping[str, str | None]],
    at: str,
) -> Appended:
    """Append the `applied` entry of an act, after its parts; the last entry returned stands for the act.

    Args:
        ws: The repository.
        ledger: The ledger that holds the act's entries already.
        batch: The batch's id.
        entries: Ids of the entries that the act made.
        changes: `{path, old, new}` of each document, blob ids or None.
        at: The frozen time.
    """
    listed: list[Mapping[str, Any]] = [*changes, *({"entry": entry} for entry in entries)]
    parts = list(_parts(listed))
    inner: list[str] = []
    for part in parts[1:]:
        appended = store.append(ws, ledger, [_draft(batch, part, (), at)])
        ledger = appended.ledger
        inner.append(appended.entries[-1].id)
    return store.append(ws, ledger, [_draft(batch, parts[0] if parts else [], inner, at)])


def _draft(batch: str, part: Sequence[Mapping[str, Any]], inner: Sequence[str], at: str) -> Draft:
    data = {
        "batch": batch,
        "entries": [*(item["entry"] for item in part if "entry" in item), *inner],
        "changes": [dict(item) for item in part if "path" in item],
    }
    return Draft("applied", data, op=f"{OPERATION}{batch}#{approval.digest_of(data)[:16]}", at=at)


def _parts(listed: Sequence[Mapping[str, Any]]) -> Iterator[list[Mapping[str, Any]]]:
    """Cut what an act lists into pieces that fit an entry."""
    part: list[Mapping[str, Any]] = []
    size = 0
    for item in listed:
        cost = len(canonical(dict(item))) + 1
        if part and size + cost > PART_BYTES:
            yield part
            part, size = [], 0
        part.append(item)
        size += cost
    if part:
        yield part


def decisions_of(ledger: Ledger, batch: str) -> tuple[Entry, ...]:
    """The live decisions that an apply of a batch recorded, oldest first (C9).

    That a decision names a batch and a row is a claim that anyone can write with `ledger add`; that an apply
    lists it is not, since `ledger add` makes no entry under an apply's operation key (`OPERATION`).
    """
    listed = {
        one
        for entry in ledger.whole.entries.values()
        if entry.kind == "applied" and (entry.expunged or entry.op.startswith(OPERATION))
        for one in links(entry, "entries")
    }
    decisions = ledger.view.live.get("decision", ())
    return tuple(one for one in decisions if one.id in listed and one.data.get("batch") == batch)


def parts_of(entries: Mapping[str, Entry]) -> frozenset[str]:
    """Ids of `applied` entries that are a part of another one."""
    return frozenset(
        listed
        for entry in entries.values()
        if entry.kind == "applied"
        for listed in links(entry, "entries")
        if listed in entries and entries[listed].kind == "applied"
    )


def effects_of(ledger: Ledger, act: Entry) -> tuple[Effect, ...]:
    """What an act did to documents, by path.

    Raises:
        Refused: An entry doesn't say it any more: it was expunged, or damaged.
    """
    found: dict[str, Effect] = {}
    if act.kind == "undo":
        undone = ledger.whole.entries.get(EntryId(str(act.data.get("undoes"))))
        if undone is None or act.expunged:
            raise _unsaid(act)
        inverse = effects_of(ledger, undone)
        found = {one.path: Effect(one.path, one.new, one.old) for one in inverse}
    for one in _listed(act):
        found[one.path] = one
    if act.kind == "applied":
        for listed in links(act, "entries"):
            part = ledger.whole.entries.get(listed)
            if part is not None and part.kind == "applied":
                found |= {one.path: one for one in effects_of(ledger, part)}
    return tuple(found[path] for path in sorted(found) if found[path].old != found[path].new)


def _listed(act: Entry) -> Iterator[Effect]:
    changes = act.data.get("changes", [] if act.kind == "undo" else None)
    if act.expunged or not isinstance(changes, list):
        raise _unsaid(act)
    for change in changes:
        if not isinstance(change, dict) or not isinstance(change.get("path"), str):
            raise _unsaid(act)
        sides = (change.get("old"), change.get("new"))
        if not all(side is None or isinstance(side, str) for side in sides):
            raise _unsaid(act)
        old, new = (None if side is None else Oid(side) for side in sides)
        yield Effect(change["path"], old, new)


def _unsaid(act: Entry) -> Refused:
    return Refused(
        f"The {act.kind} {act.id.short} doesn't say any more what it changed. Nothing was written.",
        "Edit the documents by hand.",
        code="act-unreadable",
    )
