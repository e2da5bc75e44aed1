"""Causal order over entries: topological, then time, then id (G6, pure).

Parents that are absent are passed over; who must know about them asks `absent`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from heapq import heapify, heappop, heappush

from muniment.ids import EntryId
from muniment.ledger.entries import Entry, time_key


def ordered(entries: Iterable[Entry]) -> tuple[Entry, ...]:
    """The one order of a set of entries, whatever order they come in.

    Among the entries whose parents are all placed, the earliest goes next, the smaller id first on a tie.
    Entries on a cycle (possible only among forged stubs) come last, by time and id.
    """
    by_time = sorted(entries, key=lambda entry: (time_key(entry.at), entry.id))
    placed: set[str] = set()
    known = {entry.id for entry in by_time}
    for entry in by_time:
        if not placed.issuperset(entry.after) and not placed.issuperset(known.intersection(entry.after)):
            return _sorted_topologically(by_time)
        placed.add(entry.id)
    return tuple(by_time)  # no child comes before a parent: time alone is already the order


def _sorted_topologically(by_time: Sequence[Entry]) -> tuple[Entry, ...]:
    rank = {entry.id: place for place, entry in enumerate(by_time)}
    waiting: dict[int, int] = {}
    children: dict[int, list[int]] = {}
    for place, entry in enumerate(by_time):
        parents = {rank[parent] for parent in entry.after if parent in rank}
        if parents:
            waiting[place] = len(parents)
            for parent in parents:
                children.setdefault(parent, []).append(place)
    ready = [place for place in range(len(by_time)) if place not in waiting]
    heapify(ready)
    result: list[Entry] = []
    while ready:
        place = heappop(ready)
        result.append(by_time[place])
        for child in children.get(place, ()):
            waiting[child] -= 1
            if not waiting[child]:
                del waiting[child]
                heappush(ready, child)
    return (*result, *(by_time[place] for place in sorted(waiting)))


def heads(entries: Iterable[Entry]) -> tuple[EntryId, ...]:
    """The entries that no other names in `after`, sorted: what the next entry comes after."""
    listed = list(entries)
    named: set[str] = set()
    for entry in listed:
        named.update(entry.after)
    return tuple(sorted(entry.id for entry in listed if entry.id not in named))


def absent(entries: Mapping[str, Entry]) -> Mapping[str, tuple[EntryId, ...]]:
    """Entry id → those of its parents that the set lacks, for the entries that lack any."""
    return {
        entry.id: tuple(parent for parent in entry.after if parent not in entries)
        for entry in entries.values()
        if any(parent not in entries for parent in entry.after)
    }


def descendants(entries: Mapping[str, Entry], roots: Iterable[str]) -> frozenset[str]:
    """The ids of `roots` and of everything that comes after them."""
    children: dict[str, list[str]] = {}
    for entry in entries.values():
        for parent in entry.after:
            children.setdefault(parent, []).append(entry.id)
    found: set[str] = set()
    stack = list(roots)
    while stack:
        identity = stack.pop()
        if identity not in found:
            found.add(identity)
            stack.extend(children.get(identity, ()))
    return frozenset(found)


def ancestors(entries: Mapping[str, Entry], roots: Iterable[str]) -> frozenset[str]:
    """The ids of `roots` and of everything present that they come after."""
    found: set[str] = set()
    stack = list(roots)
    while stack:
        identity = stack.pop()
        if identity in entries and identity not in found:
            found.add(identity)
            stack.extend(entries[identity].after)
    return frozenset(found)


def cyclic(entries: Mapping[str, Entry]) -> frozenset[str]:
    """The ids that no topological order can place: on a cycle, or after one."""
    waiting: dict[str, int] = {
        entry.id: sum(parent in entries for parent in set(entry.after)) for entry in entries.values()
    }
    children: dict[str, list[str]] = {}
    for entry in entries.values():
        for parent in set(entry.after):
            children.setdefault(parent, []).append(entry.id)
    stack: list[str] = [identity for identity, count in waiting.items() if not count]
    placed: set[str] = set()
    while stack:
        identity = stack.pop()
        placed.add(identity)
        for child in children.get(identity, ()):
            waiting[child] -= 1
            if not waiting[child]:
                stack.append(child)
    return frozenset(waiting.keys() - placed)
