"""Canonical JSON against Python's own `json`, and everything that it refuses (G6)."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muniment.ledger.canonical import MAX_DEPTH, MAX_INTEGER, NotCanonical, canonical, read_strict
from tests.support.ledger import spell

SCALARS = st.text(st.characters(exclude_categories=["Cs"])) | st.none() | st.booleans()
VALUES = st.recursive(
    SCALARS | st.integers(-MAX_INTEGER, MAX_INTEGER),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(VALUES)
def test_canonical__is_the_spelling_of_pythons_json(value: Any) -> None:
    assert canonical(value) == spell(value).encode()


@given(VALUES)
def test_read_strict__reads_any_layout_back(value: Any) -> None:
    assert read_strict(json.dumps(value, indent=2)) == value
    assert read_strict(" \n" + json.dumps(value) + "\n") == value


@pytest.mark.parametrize(
    "text",
    [
        "1.5",
        "1e3",
        "-0.0",
        "NaN",
        "Infinity",
        "-Infinity",
        str(MAX_INTEGER + 1),
        str(-MAX_INTEGER - 1),
        "9" * 5000,
        '{"a":1,"a":1}',
        '{"x":{"a":1,"b":2,"a":3}}',
        '{"a":1,"\\u0061":2}',
        '"\\ud800"',
        '"\\udc00\\ud800"',
        '{"\\ud800":1}',
        "[" * (MAX_DEPTH + 1) + "]" * (MAX_DEPTH + 1),
        "[" * 100_000,
        '{"a":' * 100_000,
        "",
        "{",
        "{}{}",
        "{} x",
        "{'a':1}",
        "[1,]",
        "\ufeff{}",
        '{"a":"\n"}',
    ],
)
def test_read_strict__refuses(text: str) -> None:
    with pytest.raises(NotCanonical):
        read_strict(text)


def test_read_strict__a_raw_lone_surrogate_is_refused() -> None:
    with pytest.raises(NotCanonical):
        read_strict('{"a":"\udcff"}')  # what a non-UTF-8 argument looks like


@pytest.mark.parametrize("value", [1.0, float("nan"), {1: 2}, b"x", {"a": {1, 2}}, MAX_INTEGER + 1, "\ud800"])
def test_canonical__refuses_values(value: Any) -> None:
    with pytest.raises(NotCanonical):
        canonical(value)


def test_canonical__bounds_are_inclusive() -> None:
    assert canonical([MAX_INTEGER, -MAX_INTEGER]) == b"[9007199254740992,-9007199254740992]"
    deep: Any = 1
    for _ in range(MAX_DEPTH):
        deep = [deep]
    assert canonical(deep) == b"[" * MAX_DEPTH + b"1" + b"]" * MAX_DEPTH
    with pytest.raises(NotCanonical):
        canonical([deep])


def test_canonical__keys_sort_by_code_point_and_escapes_are_pythons() -> None:
    value = {"\ue000": 1, "\U00010000": 2, "a": '\x7f\u2028\x1f\b\f/\\"é'}
    assert canonical(value) == spell(value).encode()
    assert canonical(value).index("\ue000".encode()) < canonical(value).index("\U00010000".encode())
