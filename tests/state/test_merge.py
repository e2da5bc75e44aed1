"""The state's merge on values: commutative, associative, idempotent, and nothing gets lost (G8, S4)."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from itertools import permutations
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from muniment.state.merge import CONFLICTS, EVIDENCE, MISSING, canonical, merge, merge_item

SCALARS: st.SearchStrategy[Any] = st.sampled_from([None, True, 0, 1, 1.0, "a", "b", "~", []])
VALUES = st.recursive(
    SCALARS, lambda inner: st.dictionaries(st.sampled_from("pq/"), inner, max_size=2), max_leaves=4
)
LEASES = st.builds(
    lambda epoch, session, extra: {"writer": session, "epoch": epoch, "session": session, **extra},
    st.integers(0, 2),
    st.sampled_from("st"),
    st.dictionaries(st.just("x"), st.integers(0, 1)),
)
ITEMS: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {},
    optional={
        "status": st.sampled_from(["closed", "fix_pending", "in_plan"]),
        "fix_ref": st.sampled_from(["#1", "#2"]),
        "verified_merge_sha": st.sampled_from(["aaaaaaa1", "bbbbbbb2"]),
        "verified_at": st.sampled_from(["2026-01-01T00:00:00Z", "2026-02-01T00:00:00Z"]),
        "title": st.sampled_from(["t1", "t2", "t3"]),
        "more": VALUES,
        "sensitive": st.sampled_from([True, False]),
    },
)
CURSORS: st.SearchStrategy[Any] = st.sampled_from(["9", "10", "011", 10, "1a", "2026-01-01", None])
STATES: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {"schema_version": st.integers(1, 2)},
    optional={
        "lease": LEASES,
        "lease_epoch": st.integers(0, 3),
        "items": st.dictionaries(st.sampled_from(["s:1", "s:2"]), ITEMS | SCALARS, max_size=2),
        "sources": st.dictionaries(
            st.sampled_from("st"),
            st.fixed_dictionaries({}, optional={"cursor": CURSORS, "x": VALUES}),
            max_size=2,
        ),
        "last_run": st.dictionaries(st.sampled_from(["outcome", "writer"]), SCALARS, max_size=2),
        "x_top": VALUES,
    },
)  # fmt: skip


@st.composite
def versions(draw: st.DrawFn, count: int, whole: st.SearchStrategy[dict[str, Any]] = STATES) -> list[Any]:
    """A base (perhaps none) and versions made from it by replacing some of it."""
    base = draw(whole)
    made = [_mixed(draw, base, draw(whole)) for _ in range(count)]
    return [draw(st.sampled_from([base, base, base, None])), *made]


def _mixed(draw: st.DrawFn, base: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    mixed: dict[str, Any] = {}
    for name in sorted({*base, *other}):
        one, two = base.get(name, MISSING), other.get(name, MISSING)
        if isinstance(one, dict) and isinstance(two, dict):
            mixed[name] = _mixed(draw, one, two)
            continue
        value = draw(st.sampled_from([one, one, two]))
        if value is not MISSING:
            mixed[name] = copy.deepcopy(value)
    return mixed


@settings(max_examples=400)
@given(versions(2))
def test_merge__commutes(made: list[Any]) -> None:
    base, one, two = made
    assert canonical(merge(base, one, two)) == canonical(merge(base, two, one))
    assert list(merge(base, one, two)) == list(merge(base, two, one)) or one == two


@settings(max_examples=600, deadline=None)
@given(versions(3))
def test_merge__associates(made: list[Any]) -> None:
    base, *sides = made
    merged = {canonical(merge(base, merge(base, one, two), three)) for one, two, three in permutations(sides)}
    assert len(merged) == 1


@given(versions(2))
def test_merge__laws(made: list[Any]) -> None:
    base, one, two = made
    assert merge(base, one, one) == one
    if base is not None:
        assert merge(base, one, base) == one
        assert merge(base, base, one) == one
    both = merge(base, one, two)
    assert canonical(merge(one, both, one)) == canonical(both)
    assert canonical(merge(base, both, both)) == canonical(both)


@settings(max_examples=600)
@given(versions(2))
def test_merge__keeps_every_item_and_every_written_value(made: list[Any]) -> None:
    base, one, two = made
    both = merge(base, one, two)
    told = canonical(both)
    for side in (one, two):
        for key, item in (side.get("items") or {}).items():
            before = ((base or {}).get("items") or {}).get(key, MISSING)
            if canonical(item) == canonical(before):
                continue
            assert key in both["items"]
            for name, value in item.items() if isinstance(item, dict) else ():
                old = before.get(name, MISSING) if isinstance(before, dict) else MISSING
                if not isinstance(value, dict) and canonical(value) != canonical(old):
                    assert canonical(value) in told


@settings(max_examples=600)
@given(versions(2, ITEMS))
def test_merge_item__never_takes_evidence_from_a_closed_item(made: list[Any]) -> None:
    base, one, two = made
    merged = merge_item(base, one, two)
    proofs = [
        [side.get(name) for name in EVIDENCE]
        for side in (base or {}, one, two)
        if all(map(side.get, EVIDENCE))
    ]

    def in_order(item: Mapping[str, Any]) -> bool:
        return item.get("status") != "closed" or all(map(item.get, EVIDENCE))

    if in_order(one) and in_order(two):
        assert in_order(merged)
    if all(map(merged.get, EVIDENCE)):
        assert [merged[name] for name in EVIDENCE] in proofs


CASES: Mapping[str, tuple[Any, Any, Any, Any]] = {
    "one side's field": ({"a": 1}, {"a": 2}, {"a": 1, "c": 3}, {"a": 2, "c": 3}),
    "both sides' field": (
        {"title": "o"},
        {"title": "x"},
        {"title": "y"},
        {"title": "y", CONFLICTS: [{"field": "title", "values": ["x", "y"]}]},
    ),
    "nested": ({"x": {"k": 1}}, {"x": {"k": 1, "a": 2}}, {"x": {"k": 3}}, {"x": {"k": 3, "a": 2}}),
    "nested conflict": (
        {"x": {"a/b": 1}},
        {"x": {"a/b": 2}},
        {"x": {"a/b": 3}},
        {"x": {"a/b": 3}, CONFLICTS: [{"field": "x/a~1b", "values": [2, 3]}]},
    ),
    "field dropped and edited": ({"a": 1}, {}, {"a": 2}, {"a": 2}),
    "field dropped": ({"a": 1, "b": 1}, {"b": 1}, {"a": 1, "b": 2}, {"b": 2}),
    "number and text": ({}, {"a": 1}, {"a": "1"}, {"a": 1, CONFLICTS: [{"field": "a", "values": ["1", 1]}]}),
    "whole and part": ({}, {"a": 1}, {"a": 1.0}, {"a": 1.0, CONFLICTS: [{"field": "a", "values": [1, 1.0]}]}),
    "mapping and text": ({}, {"a": {}}, {"a": "z"}, {"a": {}, CONFLICTS: [{"field": "a", "values": ["z"]}]}),
    "a settled conflict": (
        {"a": 2, CONFLICTS: [{"field": "a", "values": [1, 2]}]},
        {"a": 3},
        {"a": 2, "b": 1, CONFLICTS: [{"field": "a", "values": [1, 2]}]},
        {"a": 3, "b": 1},
    ),
    "closed beats": (
        {"status": "in_plan"},
        {"status": "closed", "fix_ref": "#1", "verified_merge_sha": "abcdef1", "verified_at": "t"},
        {"status": "source_gone", "title": "x"},
        {
            "status": "closed", "fix_ref": "#1", "verified_merge_sha": "abcdef1", "verified_at": "t",
            "title": "x",
            CONFLICTS: [{"field": "status", "values": ["closed", "source_gone"]}],
        },
    ),
    "closed against evidence taken away": (
        {"status": "fix_pending", "fix_ref": "#1", "verified_merge_sha": "abcdef1", "verified_at": "t"},
        {"status": "closed", "fix_ref": "#1", "verified_merge_sha": "abcdef1", "verified_at": "t"},
        {"status": "fix_pending", "fix_ref": "#2"},
        {
            "status": "closed", "fix_ref": "#1", "verified_merge_sha": "abcdef1", "verified_at": "t",
            CONFLICTS: [
                {"field": "fix_ref", "values": ["#1", "#2"]},
            ],
        },
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_merge_item__case(name: str) -> None:
    base, one, two, expected = CASES[name]
    assert canonical(merge_item(base, one, two)) == canonical(expected)
    assert canonical(merge_item(base, two, one)) == canonical(expected)


def state(**members: Any) -> dict[str, Any]:
    return {"schema_version": 1, **members}


def test_merge__takes_the_later_cursor_with_all_items() -> None:
    base = state(sources={"s": {"cursor": "9"}}, items={"s:9": {"status": "ingested"}})
    one = state(
        sources={"s": {"cursor": "11"}}, items={"s:9": {"status": "ingested"}, "s:11": {"status": "ingested"}}
    )
    two = state(
        sources={"s": {"cursor": "100"}},
        items={"s:9": {"status": "ingested"}, "s:100": {"status": "ingested"}},
    )
    merged = merge(base, one, two)
    assert merged["sources"]["s"]["cursor"] == "100"
    assert sorted(merged["items"]) == ["s:100", "s:11", "s:9"]


@pytest.mark.parametrize("change", [lambda one: one, lambda one: {**one, "session": "z", "epoch": 1}])
def test_merge__takes_a_lease_whole(change: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
    one = state(lease=change({"writer": "a", "session": "a", "epoch": 4, "ttl_minutes": 5}), lease_epoch=4)
    two = state(lease={"writer": "b", "session": "b", "epoch": 4, "renewed": "t"}, lease_epoch=4)
    merged = merge(state(lease_epoch=3), one, two)
    assert merged["lease"] == two["lease"]
    assert merged["lease_epoch"] == 4
    assert CONFLICTS not in merged


def test_merge__an_edit_beats_a_deletion_and_only_an_edit() -> None:
    base = state(items={"s:1": {"status": "a"}, "s:2": {"status": "a"}})
    merged = merge(base, state(items={}), state(items={"s:1": {"status": "b"}, "s:2": {"status": "a"}}))
    assert merged["items"] == {"s:1": {"status": "b"}}


@pytest.mark.parametrize("hidden", ["item", "source"])
def test_merge__hidden_text_does_not_come_back_from_the_other_side(hidden: str) -> None:
    base = state(sources={"s": {"cursor": "1"}}, items={"s:1": {"status": "a", "body": "text"}})
    one = copy.deepcopy(base)
    del one["items"]["s:1"]["body"]
    (one["items"]["s:1"] if hidden == "item" else one["sources"]["s"])["sensitive"] = True
    two = copy.deepcopy(base)
    two["items"]["s:1"] |= {"body": "another text", "quote": "more"}
    for merged in (merge(base, one, two), merge(base, two, one)):
        assert "text" not in canonical(merged)
        assert merged["items"]["s:1"]["status"] == "a"


def test_merge__conflicts_of_sources_and_of_the_top() -> None:
    base = state(sources={"s": {"x": 1}}, last_run={"outcome": "a"})
    one = state(sources={"s": {"x": 2}}, last_run={"outcome": "b"})
    two = state(sources={"s": {"x": 3}}, last_run={"outcome": "c"})
    merged = merge(base, one, two)
    assert merged["sources"]["s"] == {"x": 3, CONFLICTS: [{"field": "x", "values": [2, 3]}]}
    assert merged[CONFLICTS] == [{"field": "last_run/outcome", "values": ["b", "c"]}]
