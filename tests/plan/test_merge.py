"""Merging the rolling plan: items by key, people's text by lines, no noise for the reconcile (G8)."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from muniment import regions
from muniment.plan.document import read_plan
from muniment.plan.merge import merge_lines, merge_plan
from muniment.state.merge_form import SideError
from muniment.state.merge_text import merge_text
from tests.support.state_text import PLAN, item, reconciled, settled, state_text

NOTES = "<!-- human-notes:start -->\n"


def lines(plan: str) -> dict[str, int]:
    found, problems = read_plan(plan, PLAN)
    assert found is not None, problems
    return {line.key: line.number for line in found.lines}


def both_ways(base: str | None, one: str, other: str) -> str:
    merged = merge_plan(base, one, other)
    assert merged == merge_plan(base, other, one)
    return merged


def intact(plan: str) -> None:
    """The end marker's digest is that of what stands between the markers."""
    found, _ = read_plan(plan, PLAN)
    assert found is not None
    assert regions.reading_digest(found.items.body.strip("\n")) == found.items.digest


def three() -> tuple[tuple[str, str], tuple[str, str], tuple[str, str]]:
    """A plan and its state, and two versions of both: each adds an item; one closes, one edits."""
    base = settled(None, state_text(item("inbox:1", category="bug"), item("inbox:2")))
    ours = base[1].replace("status: in_plan", "status: closed", 1)
    theirs = base[1].replace("Title of 2", "A better title")
    added = [dict(item(f"inbox:{number}")) for number in (8, 9)]
    texts = []
    for text, record, day in ((ours, added[0], "2026-12-01"), (theirs, added[1], "2026-12-02")):
        more = state_text(record).partition("items:\n")[2]
        texts.append(settled(base[0], text.rstrip("\n") + "\n" + more, today=day))
    return base, texts[0], texts[1]


def test_items__merge_by_key_and_the_reconcile_says_the_rest() -> None:
    base, one, other = three()
    merged = both_ways(base[0], one[0], other[0])
    intact(merged)
    assert set(lines(merged)) == {"inbox:2", "inbox:8", "inbox:9"}
    assert "A better title" in merged
    assert "date: 2026-12-02" in merged
    state = merge_text(base[1], one[1], other[1])
    result = reconciled(merged, state, today="2026-12-03")
    assert (result.salvaged, result.rotate, result.foreign) == ((), False, ())
    numbers = lines(result.text)
    assert set(numbers) == {"inbox:2", "inbox:8", "inbox:9"}
    assert len(set(numbers.values())) == len(numbers)
    assert [key for key, number in numbers.items() if number == 3] == ["inbox:8"]  # the smaller key keeps it
    assert any("inbox:8 keeps R3; inbox:9 gets a new number" in words for words in result.warnings)


def test_people__both_texts_stay() -> None:
    base, one, other = three()
    ours = one[0].replace(NOTES, f"{NOTES}\nOur thought.\n")
    theirs = other[0].replace(NOTES, f"{NOTES}\nTheir thought.\n").replace("proven end", "good end")
    merged = both_ways(base[0], ours, theirs)
    assert merged.count("Our thought.") == merged.count("Their thought.") == 1
    assert "good end" in merged
    assert "<<<<<<<" not in merged
    intact(merged)


def test_hand_edit__in_the_list_of_one_side_is_salvaged_by_the_reconcile() -> None:
    base, one, other = three()
    ours = one[0].replace("  > Body of 2.", "  > Body of 2, and what I saw.")
    assert ours != one[0]
    merged = both_ways(base[0], ours, other[0])
    assert "what I saw" in merged
    state = merge_text(base[1], one[1], other[1])
    result = reconciled(merged, state, today="2026-12-03")
    assert any("what I saw" in text for text in result.salvaged)
    assert "what I saw" in result.text


def test_hidden__text_does_not_come_back() -> None:
    base = settled(None, state_text(item("inbox:1")))
    hidden = base[1].replace("    status: in_plan\n", "    status: in_plan\n    sensitive: true\n")
    one = settled(base[0], hidden, today="2026-12-01")[0]
    other = settled(base[0], base[1].replace("Body of 1.", "A secret."), today="2026-12-02")[0]
    assert "A secret." in other
    assert "A secret." not in both_ways(base[0], one, other)


def test_laws_and_absent_base() -> None:
    base, one, other = three()
    assert merge_plan(base[0], one[0], base[0]) == one[0]
    assert merge_plan(base[0], base[0], one[0]) == one[0]
    assert merge_plan(base[0], one[0], one[0]) == one[0]
    merged = both_ways(None, one[0], other[0])
    intact(merged)
    assert set(lines(merged)) == {"inbox:1", "inbox:2", "inbox:8", "inbox:9"} - {"inbox:1"} | set(
        lines(other[0])
    )
    again = merge_plan(one[0], merge_plan(base[0], one[0], other[0]), one[0])
    assert again == merge_plan(base[0], one[0], other[0])


def test_form__survives() -> None:
    base, one, other = (version[0].replace("\n", "\r\n") for version in three())
    merged = both_ways(base, one, other)
    assert "\n" not in merged.replace("\r\n", "")
    assert merged.replace("\r\n", "\n") == merge_plan(
        *(text.replace("\r\n", "\n") for text in (base, one, other))
    )


@pytest.mark.parametrize(
    ("side", "broken", "line"),
    [
        ("ours", lambda text: text.replace("# Feedback sweep plan", "<<<<<<< HEAD"), 11),
        ("theirs", lambda text: text.partition("<!-- sweep-items:end")[0], 27),
        ("theirs", lambda _: "", 1),
    ],
)
def test_unclear__names_side_and_line(side: str, broken: object, line: int) -> None:
    base, one, other = (version[0] for version in three())
    assert callable(broken)
    given = {"ours": one, "theirs": other}
    given[side] = broken(given[side])
    with pytest.raises(SideError) as caught:
        merge_plan(base, given["ours"], given["theirs"])
    assert (caught.value.side, caught.value.line) == (side, line)


TEXTS = st.lists(st.sampled_from(["a\n", "b\n", "c\n", "\n", "d\n"]), max_size=8).map("".join)


@settings(max_examples=400)
@given(TEXTS, TEXTS, TEXTS)
def test_merge_lines__commutes_and_loses_no_line_that_a_side_added(base: str, one: str, other: str) -> None:
    merged = merge_lines(base, one, other)
    assert merged == merge_lines(base, other, one)
    assert merge_lines(base, one, base) == one
    assert merge_lines(base, one, one) == one
    old = set(base.split("\n"))
    for line in {*one.split("\n"), *other.split("\n")} - old:
        assert line in merged.split("\n")
