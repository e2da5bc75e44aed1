"""Merging is a set operation: commutative, associative, idempotent, and it loses nothing (G6, G8)."""

from __future__ import annotations

import json
from functools import reduce

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from muniment.ledger.assembly import assemble
from muniment.ledger.entries import stub, stub_digest
from muniment.ledger.merge import Content, content, merge, merge_three
from muniment.ledger.segment import parse_segment
from tests.support.ledger import Document, entry, file

PARTS = st.lists(st.integers(0, 30), max_size=12)


def pool() -> list[Document]:
    """Entries of one history, with expunges of some of them, real and forged stubs among them."""
    made: list[Document] = []
    for place in range(8):
        made.append(entry("note", {"n": place}, after=made[max(0, place - 2) : place]))
    for target in made[:4]:
        (read,) = parse_segment(file(target), "l.json").entries
        made.append(json.loads(stub(read).raw))
        made.append(entry("expunge", {"expunges": read.id, "stub": stub_digest(stub(read))}, after=[target]))
    made.append({**made[-2], "at": "2020-01-01T00:00:00Z"})
    return made


POOL = pool()


@st.composite
def contents(draw: st.DrawFn) -> Content:
    picked = draw(st.lists(st.sampled_from(POOL), max_size=10))
    unique = {one["id"]: one for one in picked}
    sha = [digit * 64 for digit in "abc"]
    rows = [
        {"file": f"ledger/{one[:16]}.json", "sha256": one, "count": 1, "replaces": []}
        for one in draw(st.lists(st.sampled_from(sha), unique=True))
    ]
    segment = parse_segment(file(*unique.values(), sealed=rows), "l.json")
    assert not segment.faults
    extra = draw(st.dictionaries(st.sampled_from("xy"), st.sampled_from([b"1", b"2"])))
    return Content(content(segment).entries, frozenset(segment.sealed), extra)


@given(contents(), contents())
def test_merge__commutes(one: Content, other: Content) -> None:
    assert merge(one, other) == merge(other, one)
    assert merge(one, other).render() == merge(other, one).render()


@settings(max_examples=300)
@given(contents(), contents(), contents())
def test_merge__associates(one: Content, two: Content, three: Content) -> None:
    assert merge(merge(one, two), three) == merge(one, merge(two, three))


@given(contents())
def test_merge__is_idempotent_and_has_a_neutral_element(one: Content) -> None:
    settled = merge(one, one)
    assert merge(settled, settled) == settled
    assert merge(settled, one) == settled
    assert merge(settled, Content()) == settled


@given(st.lists(contents(), min_size=1, max_size=4))
def test_merge__loses_no_entry_and_invents_none(parts: list[Content]) -> None:
    merged = reduce(merge, parts)
    assert merged.entries.keys() == {key for part in parts for key in part.entries}


@given(contents(), contents())
def test_merge__the_expunged_form_wins(one: Content, other: Content) -> None:
    merged = merge(one, other)
    for part in (one, other):
        for key, value in part.entries.items():
            if value.expunged:
                assert merged.entries[key].expunged
            if value.kind == "expunge" and not value.expunged:
                target = value.data["expunges"]
                assert target not in merged.entries or merged.entries[target].expunged


@given(contents(), contents(), contents())
def test_merge_three__keeps_all_of_ours_and_all_that_theirs_added(
    base: Content, ours: Content, theirs: Content
) -> None:
    merged = merge_three(base, ours, theirs)
    assert merged.entries.keys() >= ours.entries.keys()
    assert merged.entries.keys() >= theirs.entries.keys() - base.entries.keys()


def test_merge_three__brings_the_ancestors_that_theirs_needs() -> None:
    first, second, third = POOL[0], POOL[1], POOL[2]

    def of(*documents: Document) -> Content:
        return content(parse_segment(file(*documents), "l.json"))

    merged = merge_three(of(first, second), of(), of(first, second, third))
    assert assemble(merged.render(), "l.json").verdict.ok
    assert merged.entries.keys() == {first["id"], second["id"], third["id"]}


def test_merge_three__takes_an_expunge_of_an_old_entry() -> None:
    target, gone, expunge = POOL[0], POOL[8], POOL[9]

    def of(*documents: Document) -> Content:
        return content(parse_segment(file(*documents), "l.json"))

    merged = merge_three(of(target), of(target), of(gone, expunge))
    assert merged.entries[target["id"]].expunged
    assert assemble(merged.render(), "l.json").verdict.ok


def test_content__refuses_another_schema() -> None:
    with pytest.raises(ValueError, match="2"):
        content(parse_segment(file().replace(b"ledger/1", b"ledger/2"), "l.json"))
