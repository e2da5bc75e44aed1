"""The inverted index: what it stores is what it was given."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muniment.relate.inverted import Inverted, build, revise

COUNTED = st.lists(
    st.tuples(
        st.dictionaries(st.text("abcdé検", min_size=1, max_size=3), st.integers(1, 70000), max_size=4),
        st.dictionaries(st.text("abcdé検", min_size=1, max_size=3), st.integers(1, 70000), max_size=6),
    ),
    max_size=8,
)
Given = list[tuple[dict[str, int], dict[str, int]]]


def made(given: Given) -> Inverted:
    return build((Counter(title), Counter(body)) for title, body in given)


def content(index: Inverted) -> dict[str, list[tuple[int, int, int]]]:
    found = {}
    for term in index.terms:
        first, end = index.span(term)
        found[term] = [
            (index.passages[at], index.in_title[at], index.in_body[at]) for at in range(first, end)
        ]
    return found


def lengths(index: Inverted) -> list[tuple[int, int]]:
    return list(zip(index.title_lengths, index.body_lengths, strict=True))


@given(COUNTED)
def test_build__holds_every_count_capped(given_: Given) -> None:
    index = made(given_)
    expected: dict[str, list[tuple[int, int, int]]] = {}
    for number, (title, body) in enumerate(given_):
        for term in {**title, **body}:
            row = (number, min(title.get(term, 0), 0xFFFF), min(body.get(term, 0), 0xFFFF))
            expected.setdefault(term, []).append(row)
    assert content(index) == expected
    assert list(index.terms) == sorted(expected)
    assert len(index) == len(given_)


@given(COUNTED)
def test_stored_form__round_trips(given_: Given) -> None:
    index = made(given_)
    read = Inverted.from_bytes(index.to_bytes())
    assert read is not None
    assert content(read) == content(index)
    assert lengths(read) == lengths(index)


@given(COUNTED, COUNTED, st.data())
def test_revise__equals_building_anew(old: Given, new: Given, data: st.DataObject) -> None:
    chosen = data.draw(st.lists(st.booleans(), min_size=len(old), max_size=len(old)))
    keep = [number for number, kept in enumerate(chosen) if kept]
    stored = Inverted.from_bytes(made(old).to_bytes())
    assert stored is not None
    revised = revise(stored, keep, [(Counter(title), Counter(body)) for title, body in new])
    anew = made([*(old[number] for number in keep), *new])
    assert content(revised) == content(anew)
    assert lengths(revised) == lengths(anew)


@pytest.mark.parametrize("cut", [0, 1, 10, 27, 28, 40, -1])
def test_from_bytes__a_cut_form_is_none(cut: int) -> None:
    data = made([({"a": 1}, {"b": 2, "c": 3})]).to_bytes()
    assert Inverted.from_bytes(data[:cut]) is None


def test_from_bytes__of_another_machine_is_none() -> None:
    data = made([({"a": 1}, {"b": 2})]).to_bytes()
    assert Inverted.from_bytes(b"MUNREL1X" + data[8:]) is None


def test_span__of_an_unknown_term_is_empty() -> None:
    index = made([({"b": 1}, {})])
    assert index.span("a") == index.span("z") == (0, 0)
