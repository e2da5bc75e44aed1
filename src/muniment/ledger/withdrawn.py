"""Which entries count: what an undo withdraws and what one operation key folds into one (G6, G14, pure)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from muniment.ids import EntryId
from muniment.ledger.canonical import spelled
from muniment.ledger.entries import Entry, links, time_key


@dataclass(frozen=True, slots=True)
class Operations:
    """Entries grouped by operation key.

    Attributes:
        stands_for: Entry id → the entry that it folds into, for repeats of one operation with equal data.
        clashing: Groups of entries that share an operation key but differ in kind or data.
    """

    stands_for: Mapping[str, EntryId]
    clashing: tuple[tuple[Entry, ...], ...]


def withdrawn(entries: Mapping[str, Entry]) -> frozenset[str]:
    """The ids of entries that fold as if they were absent.

    An `undo` withdraws the entries listed by the `applied` that it names, and by `applied` entries among
    those (a large batch is recorded in parts); an undo of an undo withdraws that undo, so what it withdrew
    is back. The `applied` entry itself counts as withdrawn too.
    """
    undos: dict[str, list[Entry]] = {}
    for entry in entries.values():
        if entry.kind == "undo":
            for target in links(entry, "undoes"):
                undos.setdefault(target, []).append(entry)
    if not undos:
        return frozenset()
    active: dict[str, bool] = {}
    for group in undos.values():
        for undo in group:
            _settle(undo.id, undos, active)
    gone: set[str] = set()
    for undone, group in undos.items():
        if any(active[undo.id] for undo in group):
            _withdraw(undone, entries, gone)
    return frozenset(gone)


def _withdraw(undone: str, entries: Mapping[str, Entry], gone: set[str]) -> None:
    """Add an undone entry to `gone`, and what it lists, through the parts of a large batch."""
    stack = [undone]
    while stack:
        identity = stack.pop()
        gone.add(identity)
        entry = entries.get(identity)
        if entry is not None and entry.kind == "applied":
            stack += [listed for listed in links(entry, "entries") if listed not in gone]


def _settle(start: str, undos: Mapping[str, list[Entry]], active: dict[str, bool]) -> None:
    """Whether an undo stands: it does unless an undo that stands names it. Without recursion."""
    stack: list[str] = [start]
    waiting: set[str] = set()
    while stack:
        identity = stack[-1]
        if identity in active:
            stack.pop()
            continue
        against: list[str] = [undo.id for undo in undos.get(identity, ())]
        open_ones = [undo for undo in against if undo not in active and undo not in waiting]
        if open_ones:
            waiting.add(identity)
            stack.extend(open_ones)
        else:
            active[identity] = not any(active.get(undo, False) for undo in against)
            stack.pop()


def operations(entries: Iterable[Entry]) -> Operations:
    """Group live entries by operation key; entries without one, and stubs, stand alone."""
    first: dict[str, Entry] = {}
    groups: dict[str, list[Entry]] = {}
    for entry in entries:
        if not entry.op:
            continue
        known = first.setdefault(entry.op, entry)
        if known is not entry:
            groups.setdefault(entry.op, [known]).append(entry)
    stands_for: dict[str, EntryId] = {}
    clashing: list[tuple[Entry, ...]] = []
    for group in groups.values():
        group.sort(key=lambda entry: (time_key(entry.at), entry.id))
        kept: dict[tuple[str, bytes], Entry] = {}
        for entry in group:
            chosen = kept.setdefault((entry.kind, spelled(dict(entry.data))), entry)
            if chosen is not entry:
                stands_for[entry.id] = chosen.id
        if len(kept) > 1:
            clashing.append(tuple(kept.values()))
    return Operations(stands_for, tuple(clashing))
