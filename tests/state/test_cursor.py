"""Cursors: numbers, else instants across zones, else text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muniment.state.cursor import compare, later

ORDERED = [
    ("9", "10"),
    ("0", "00000000001"),
    ("9" * 5000, "1" + "0" * 5000),
    ("2026-12-01T00:30:00+02:00", "2026-11-30T23:00:00Z"),
    ("2026-12-01T00:00:00Z", "2026-12-01T00:00:00.000000001Z"),
    ("2026-12-01T00:00:00.000000001Z", "2026-12-01T00:00:00.0000000011Z"),
    ("2026-12-01T00:00:00.9Z", "2026-12-01T00:00:01Z"),
    ("2026-12-01", "2026-12-01T00:00:01"),
    ("2026-12-01t00:00:00z", "2026-12-01T00:00:01Z"),
    ("1700000000.000100", "1700000000.000200"),
    ("10", "9a"),
    ("abc", "abd"),
    ("2026-12-01T00:00:00Z", "not a time"),
    ("٣", "٤"),  # no ASCII digits: text
]


@pytest.mark.parametrize(("one", "other"), ORDERED)
def test_compare__order(one: str, other: str) -> None:
    assert compare(one, other) < 0 < compare(other, one)
    assert later(one, other) == later(other, one) == other


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("007", "7"),
        ("2026-12-01T02:00:00+02:00", "2026-12-01T00:00:00Z"),
        ("2026-12-01T00:00:00", "2026-12-01T00:00:00.000Z"),
        ("x", "x"),
    ],
)
def test_compare__the_same_in_other_words(one: str, other: str) -> None:
    assert compare(one, other) == 0 == compare(other, one)
    assert later(one, other) == later(other, one)


DIGITS = st.integers(0, 10**30).map(str)


@given(DIGITS, DIGITS)
def test_compare__digits_as_numbers(one: str, other: str) -> None:
    assert (compare(one, other) > 0) == (int(one) > int(other))


@given(st.datetimes(timezones=st.timezones()), st.datetimes(timezones=st.timezones()))
def test_compare__instants_as_moments(one: object, other: object) -> None:
    assert (compare(one.isoformat(), other.isoformat()) > 0) == (one > other)  # type: ignore[attr-defined,operator]


@given(st.text(max_size=8), st.text(max_size=8))
def test_compare__is_antisymmetric_on_any_text(one: str, other: str) -> None:
    assert compare(one, other) == -compare(other, one)
