"""Long lines at a terminal: broken between words, nothing lost, quotations still marked."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muniment.cli.fit import columns, fit, short_hashes


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("short enough", ["short enough"]),
        ("  proposed: one two three four five", ["  proposed: one two three four", "      five"]),
        ("  a  approve: take what it proposes", ["  a  approve: take what it", "     proposes"]),
        ("  │ it said that everything was lost", ["  │ it said that everything was", "  │ lost"]),
        ("\x1b[1mbold words that take\x1b[0m some room", ["\x1b[1mbold words that take\x1b[0m some room"]),
        ("x" * 50 + " y", ["x" * 50, "    y"]),
    ],
)
def test_fit(line: str, wanted: list[str]) -> None:
    assert fit(line, 31) == wanted


def test_fit__too_narrow_is_left_alone() -> None:
    assert fit("word " * 20, 12) == ["word " * 20]


def test_columns__wide_characters_take_two() -> None:
    assert (columns("日本"), columns("é"), columns("e\u0301"), columns("\x1b[31mab\x1b[0m")) == (4, 1, 1, 2)


def test_short_hashes__ids_of_other_lengths_stay() -> None:
    given_ids = f"{'a1' * 20} {'b2' * 32} {'c3' * 16}"
    assert short_hashes(given_ids) == f"{'a1' * 5} {'b2' * 5} {'c3' * 16}"


@given(st.text(st.sampled_from("ab │>-日 "), max_size=200), st.integers(30, 60))
def test_fit__loses_no_word_and_keeps_the_width(line: str, width: int) -> None:
    parts = fit(line, width)
    if "│" not in line and ">" not in line:
        assert "".join(parts).replace(" ", "") == line.replace(" ", "")
    for part in parts:
        longest = max((columns(word) for word in part.split()), default=0)
        assert columns(part) <= width or longest > width - 24 or "  " in part
