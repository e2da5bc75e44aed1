"""One derived order for every clone: topological, then time, then id (G6)."""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from muniment.ledger.entries import Entry
from muniment.ledger.order import absent, ancestors, cyclic, descendants, heads, ordered
from muniment.ledger.segment import parse_segment
from tests.support.ledger import Document, entry, file


def read(*documents: Document) -> tuple[Entry, ...]:
    segment = parse_segment(file(*documents), "l.json")
    assert not segment.faults
    return segment.entries


@st.composite
def graphs(draw: st.DrawFn) -> list[Document]:
    """Entries with random parents and random times, child-before-parent times among them."""
    made: list[Document] = []
    for place in range(draw(st.integers(0, 12))):
        parents = draw(st.lists(st.sampled_from(made), max_size=3)) if made else []
        minute = draw(st.integers(0, 5))
        made.append(entry("note", {"n": place}, after=parents, at=f"2026-01-31T04:{minute:02}:00Z"))
    return made


@given(graphs(), st.randoms(use_true_random=False))
def test_ordered__is_the_same_for_every_permutation(graph: list[Document], shuffler: random.Random) -> None:
    entries = list(read(*graph))
    first = ordered(entries)
    shuffler.shuffle(entries)
    assert ordered(entries) == first
    assert len(first) == len(graph)


@given(graphs())
def test_ordered__parents_come_first_and_the_earliest_ready_one_goes_next(graph: list[Document]) -> None:
    result = ordered(read(*graph))
    placed: set[str] = set()
    left = list(result)
    for one in result:
        assert placed.issuperset(one.after)
        ready = [other for other in left if placed.issuperset(other.after)]
        assert one == min(ready, key=lambda other: (other.at, other.id))
        placed.add(one.id)
        left.remove(one)


def test_ordered__time_never_beats_topology() -> None:
    late = entry("note", {"n": 1}, at="2026-02-01T00:00:00Z")
    early = entry("note", {"n": 2}, after=[late], at="2026-01-01T00:00:00Z")
    other = entry("note", {"n": 3}, at="2026-01-15T00:00:00Z")
    assert [one.data["n"] for one in ordered(read(late, early, other))] == [3, 1, 2]


@given(graphs())
def test_heads__are_what_nothing_comes_after(graph: list[Document]) -> None:
    entries = read(*graph)
    named = {parent for one in entries for parent in one.after}
    assert set(heads(entries)) == {one.id for one in entries} - named


@given(graphs())
def test_ancestors_and_descendants__mirror_each_other(graph: list[Document]) -> None:
    entries: dict[str, Entry] = {one.id: one for one in read(*graph)}
    for one in entries:
        assert {other for other in entries if one in descendants(entries, [other])} == ancestors(
            entries, [one]
        )


def test_ordered__absent_parents_are_passed_over_and_named_by_absent() -> None:
    parent = entry("note", {"n": 1})
    child = entry("note", {"n": 2}, after=[parent])
    (only,) = ordered(read(child))
    assert only.id == child["id"]
    assert absent({only.id: only}) == {child["id"]: (parent["id"],)}


def test_cyclic__a_forged_stub_on_a_cycle_is_found_and_order_still_ends() -> None:
    child = entry("note", {"n": 2}, after=["a" * 32])
    forged = {"id": "a" * 32, "kind": "note", "at": child["at"], "after": [child["id"]], "expunged": True}
    entries: dict[str, Entry] = {one.id: one for one in read(child, forged)}
    assert cyclic(entries) == {child["id"], "a" * 32}
    assert len(ordered(entries.values())) == 2
