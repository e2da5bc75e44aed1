"""In what order the keys of a merged mapping stand: the same whichever side is which (pure)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from heapq import heappop, heappush
from itertools import pairwise
from typing import Any

from muniment.state.merge_blocks import Block


def placed(blocks: Sequence[Block | None], merged: Mapping[str, Any]) -> list[str]:
    """The order of keys: the base's, new ones after what they follow on their side, then what nobody has."""
    base, *sides = [list(block.entries) if block else [] for block in blocks]
    rank = {key: place for place, key in enumerate(base)}
    after: dict[str, int] = {}
    for keys in sides:
        last = -1
        for key in keys:
            if key in rank:
                last = rank[key]
            else:
                after[key] = max(after.get(key, -1), last)
    groups: dict[int, list[list[str]]] = {}
    for number, keys in enumerate(sides):
        for key in keys:
            if key in after:
                groups.setdefault(after[key], [[] for _ in sides])[number].append(key)
    placed_keys = _woven(groups.get(-1, []))
    for place, key in enumerate(base):
        placed_keys += [key, *_woven(groups.get(place, []))]
    return [*placed_keys, *sorted(merged.keys() - rank.keys() - after.keys())]


def _woven(sequences: Sequence[Sequence[str]]) -> list[str]:
    """Several sequences as one that keeps the order of each, the smallest key first where they leave it open.

    Sequences that contradict each other are given up at that point, and the rest is sorted.
    """
    following: dict[str, set[str]] = {key: set() for keys in sequences for key in keys}
    for keys in sequences:
        for one, other in pairwise(keys):
            following[one].add(other)
    waiting = Counter(key for found in following.values() for key in found)
    ready = sorted(key for key in following if not waiting[key])
    woven: list[str] = []
    while ready:
        key = heappop(ready)
        woven.append(key)
        for other in following[key]:
            waiting[other] -= 1
            if not waiting[other]:
                heappush(ready, other)
    return [*woven, *sorted(following.keys() - set(woven))]
