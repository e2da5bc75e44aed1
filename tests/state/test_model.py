"""The state as the plan needs it: shapes, single bad records, numbers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muniment.state.model import Item, build, hide, number_items, open_digest
from muniment.yaml_io import parse


def items_of(text: str) -> tuple[dict[str, Item], list[str]]:
    state, problems = build(parse(text), "s.yml")
    assert state is not None
    return dict(state.items), [str(problem) for problem in problems]


def test_build__one_bad_record_hides_no_other_and_is_named() -> None:
    items, problems = items_of(
        "schema_version: 9\nitems:\n  a:1: {status: analyzed}\n  a:2: 7\n  a:3: {id: '3'}\n"
        "  b: {status: x}\n"
        "  a:4: {status: x, r: 0}\n  a:5: {status: x, r: true}\n  a:6: {status: x, r: 6}\n"
    )
    assert list(items) == ["a:1", "a:6"]
    assert [line.partition(": ")[0] for line in problems] == [f"s.yml:{n}" for n in (4, 5, 6, 7, 8)]


def test_build__fields_and_their_defaults() -> None:
    (item,) = items_of(
        "schema_version: 1\nitems:\n  a:b:c:\n    status: new_word\n    title: 12\n    quote: q\n"
        "    body: b\n"
        "    category: ''\n    ambiguous: true\n"
    )[0].values()
    assert (item.source, item.native, item.title, item.quote) == ("a", "b:c", "12", "q")
    assert (item.category, item.question) == ("unclassified", "Is this a bug, or is it intended?")
    assert (item.shown, item.ended, item.line) == (False, False, 3)


@pytest.mark.parametrize(
    "text",
    ["", "[]", "a: 1", "schema_version: '1'", "schema_version: true", "schema_version: 1\nlease: 1",
     "schema_version: 1\nsources: x", "schema_version: 1\nlast_run: [1]"],
)  # fmt: skip
def test_build__a_wrong_shape_is_no_state(text: str) -> None:
    state, problems = build(parse(text), "s.yml")
    assert state is None
    assert len(problems) == 1


NUMBERS = st.lists(
    st.tuples(st.sampled_from("abcdefgh"), st.none() | st.integers(1, 5)), unique_by=lambda row: row[0]
)


@given(NUMBERS, st.dictionaries(st.sampled_from("abcdefghxyz"), st.integers(1, 7)))
def test_number_items__unique_for_life_and_stable(
    rows: list[tuple[str, int | None]], on_plan: dict[str, int]
) -> None:
    items = [Item(f"s:{key}", "s", key, "in_plan", number=number) for key, number in rows]
    plan = {f"s:{key}": number for key, number in on_plan.items()}
    wanted = {item.key for item in items}
    numbering = number_items(items, wanted, plan)
    assert set(numbering.numbers) == wanted
    assert len(set(numbering.numbers.values())) == len(wanted)
    for item in items:
        sharing = [other.key for other in items if other.number == item.number]
        if item.number is not None and item.key == min(sharing):
            assert numbering.numbers[item.key] == item.number
    fresh = [
        Item(item.key, "s", item.native, "in_plan", number=numbering.numbers[item.key]) for item in items
    ]
    again = number_items(fresh, wanted, plan)
    assert (dict(again.numbers), again.notes) == (dict(numbering.numbers), ())


def test_open_digest__ignores_order_and_hidden_text() -> None:
    one = Item("a:1", "a", "1", "in_plan", title="x", quote="y", number=1)
    secret = Item("a:2", "a", "2", "in_plan", title="s", quote="t", number=2, sensitive=True)
    other = Item("a:2", "a", "2", "in_plan", title="u", quote="v", number=2, sensitive=True)
    assert open_digest([one, secret]) == open_digest([other, one])
    assert open_digest([one]) != open_digest([])
    assert hide(secret).title == "Sensitive item 2 of a"
