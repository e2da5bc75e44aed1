"""The state's merge on a file's own lines: right values, no bytes changed without need (G2, G8)."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from muniment.state.merge import canonical, merge
from muniment.state.merge_form import SideError
from muniment.state.merge_heal import heal_text
from muniment.state.merge_text import merge_item_text, merge_text, shared_numbers
from muniment.yaml_io import dump, parse

BASE = """\
# The state of our sweep.
schema_version: 1
lease_epoch: 4

sources:
  inbox: {cursor: "9"}   # in flow style
  slack:
    cursor: "10"
items:
  # the first of all
  inbox:1:
    status: ingested   # to be looked at
    title: 'Isn''t "it"'
    body: |-
      line: one
        deeper: "two

      # no comment
    tags: [a, b]
    deep:
      # inside
      k: 1
      l: 2
  "inbox:2":
      status: ingested
      list:
      - a
      - b
  inbox:3:
    status: ingested
# the last run
last_run: {outcome: completed}
"""


def both_ways(base: str | None, one: str, other: str) -> str:
    merged = merge_text(base, one, other)
    assert merged == merge_text(base, other, one)
    value = None if base is None else parse(base).value
    assert canonical(parse(merged).value) == canonical(merge(value, parse(one).value, parse(other).value))
    return merged


def swap(text: str, *pairs: str) -> str:
    for old, new in zip(pairs[::2], pairs[1::2], strict=True):
        assert old in text
        text = text.replace(old, new, 1)
    return text


def test_fields_of_one_item__each_from_its_side_with_its_comment() -> None:
    mine = (
        "status: ingested   # to be looked at",
        "status: analyzed # looked at",
        "      k: 1",
        "      k: 7",
    )
    theirs = ("[a, b]", "[a]", "      l: 2", "      l:   5 # five", "# no comment", "# changed")
    merged = both_ways(BASE, swap(BASE, *mine), swap(BASE, *theirs))
    assert merged == swap(BASE, *mine, *theirs)


def test_new_items__follow_what_they_followed() -> None:
    one = swap(BASE, "  inbox:3:\n", "  inbox:28:\n    status: x\n  inbox:3:\n")
    other = swap(BASE, "  inbox:3:\n", "  # another\n  inbox:25:\n    status: y\n  inbox:3:\n")
    merged = both_ways(BASE, one, other)
    added = "  # another\n  inbox:25:\n    status: y\n  inbox:28:\n    status: x\n"
    assert merged == swap(BASE, "  inbox:3:\n", f"{added}  inbox:3:\n")


def test_deletions_and_flow_style() -> None:
    one = swap(BASE, "  inbox:3:\n    status: ingested\n", "", '{cursor: "9"}', '{cursor: "11"}')
    other = swap(BASE, '{cursor: "9"}', '{cursor: "12"}', "{outcome: completed}", "{outcome: failed}")
    merged = both_ways(BASE, one, other)
    assert merged == swap(
        BASE, "  inbox:3:\n    status: ingested\n", "", '{cursor: "9"}', '{cursor: "12"}',
        "{outcome: completed}", "{outcome: failed}",
    )  # fmt: skip
    empty = both_ways(
        "schema_version: 1\nitems:\n  a:1:\n    s: x\n", *["schema_version: 1\nitems: {}\n"] * 2
    )
    assert parse(empty).value["items"] == {}


def test_an_emptied_section__takes_the_other_sides_lines() -> None:
    base = "schema_version: 1\nitems:\n  a:1:\n    s: x\n"
    added = base + "  a:2:\n    s: 'y'  # new\n"
    merged = both_ways(base, "schema_version: 1\nitems: {}\n", added)
    assert merged == "schema_version: 1\nitems:\n  a:2:\n    s: 'y'  # new\n"


def test_conflicts__are_one_line_each_and_settle_again() -> None:
    one, other = (swap(BASE, "title: 'Isn''t \"it\"'", f"title: {word}") for word in ("One", "Two"))
    merged = both_ways(BASE, one, other)
    assert "    title: Two\n" in merged
    assert '    conflicts:\n      - {"field": "title", "values": ["One", "Two"]}\n' in merged
    settled = swap(merged, "title: Two", "title: Three")
    start = settled.index("    conflicts:")
    settled = settled[:start] + settled[settled.index("\n", settled.index("- {", start)) + 1 :]
    third = swap(merged, "lease_epoch: 4", "lease_epoch: 5")
    again = both_ways(merged, settled, third)
    assert "conflicts" not in again
    assert "title: Three" in again


@pytest.mark.parametrize(
    "change",
    [lambda text: text.replace("\n", "\r\n"), lambda text: "\ufeff" + text, lambda text: text.rstrip("\n")],
)
def test_form__survives(change: Callable[[str], str]) -> None:
    one = swap(BASE, "lease_epoch: 4", "lease_epoch: 5")
    other = swap(BASE, "k: 1", "k: 2")
    merged = merge_text(BASE, one, other)
    assert merge_text(change(BASE), change(one), change(other)) == change(merged)
    assert merge_text(BASE, change(one), other) == merge_text(BASE, other, change(one)) == change(merged)


@pytest.mark.parametrize(
    ("base", "one", "other"),
    [
        ("{schema_version: 1, items: {a:1: {s: x}}}\n", "{schema_version: 1, x: 1}\n", "{schema_version: 2}"),
        (
            "schema_version: 1\nitems:\n  a:1: &x\n    s: 1\n  b:1: *x\n",
            "schema_version: 1\nitems:\n  a:1: &x\n    s: 2\n  b:1: *x\n",
            "schema_version: 1\nitems:\n  a:1: &x\n    s: 1\n  b:1: *x\n  c:1: {}\n",
        ),
        (
            'schema_version: 1\nitems:\n  a:1:\n    s: "one\n  b:1:\n  two"\n',
            'schema_version: 1\nitems:\n  a:1:\n    s: "one\n  b:1:\n  two"\n  c:1: {}\n',
            'schema_version: 1\nitems:\n  a:1:\n    s: "one\n  b:1:\n  three"\n',
        ),
        (
            "schema_version: 1\nitems:\n  a:1:\n    s: 1\n",
            "schema_version: 1\nitems:\n    a:1:\n        s: 1\n    b:1:\n        s: 2\n",
            "schema_version: 1\nitems:\n  a:1:\n    s: 3\n",
        ),
        ("---\nschema_version: 1\n", "---\nschema_version: 1\nx: 1\n", "---\nschema_version: 1\ny: |\n  t\n"),
    ],
    ids=["flow", "aliases", "a quote that looks like a key", "indentation", "document start"],
)  # fmt: skip
def test_other_yaml__gives_the_right_values(base: str, one: str, other: str) -> None:
    both_ways(base, one, other)
    both_ways(None, one, other)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("", 1),
        ("- a\n", 1),
        ("items: {}\n", 0),
        ("schema_version: 1\nitems:\n  a:1:\n    s: 1\n  a:1:\n    s: 2\n", 5),
        ("schema_version: 1\n<<<<<<< x\nitems: {}\n=======\n>>>>>>> y\n", 2),
        ('schema_version: 1\nitems:\n  a:1:\n    s: "1\n', 5),
        ("schema_version: 1\nlease: held\n", 0),
    ],
)
def test_a_side_that_cannot_be_read(text: str, line: int) -> None:
    for side in ("ours", "theirs", "base"):
        sides = {"base": BASE, "ours": BASE, "theirs": swap(BASE, "k: 1", "k: 2"), side: text}
        with pytest.raises(SideError) as caught:
            merge_text(sides["base"], sides["ours"], sides["theirs"])
        assert (caught.value.side, caught.value.line) == (side, line)


def test_item_files__merge_as_items_do() -> None:
    base = "id: '7'\nsource: inbox\nstatus: in_plan # so far\n"
    one = swap(base, "in_plan", "closed") + "fix_ref: '#1'\nverified_merge_sha: abcdef1\nverified_at: t\n"
    other = swap(base, "in_plan", "fix_pending") + "body: text\n"
    merged = merge_item_text(base, one, other)
    assert merged == merge_item_text(base, other, one)
    assert "status: closed # so far\n" in merged
    assert "body: text\n" in merged
    assert "body" not in merge_item_text(base, one, other, hidden=True)
    assert merge_item_text(None, one, one) == one


def test_numbers__that_two_items_share_are_named() -> None:
    text = dump(
        {"schema_version": 1, "items": {"a:2": {"r": 1}, "a:1": {"r": 1}, "a:3": {"r": 2, "x": {"r": 2}}}}
    )
    (words,) = shared_numbers(text)
    assert words.startswith("R1 now stands for a:1, a:2;")
    assert shared_numbers(text.replace("r: 1", "r: 7", 1)) == ()


WORDS = st.sampled_from(
    ["x", "y: z", "it's", "#no", "two\nlines", "", "ünï", "1", "- dash", "a" * 30, "\ttab"]
)
LEAVES: st.SearchStrategy[Any] = (
    WORDS | st.integers(0, 2) | st.booleans() | st.none() | st.lists(WORDS, max_size=2)
)
INNER = st.dictionaries(st.sampled_from("pq"), LEAVES, max_size=2)
RECORDS = st.dictionaries(st.sampled_from(["status", "title", "k k", "r"]), LEAVES | INNER, max_size=4)
FILES = st.fixed_dictionaries(
    {"schema_version": st.just(1)},
    optional={
        "items": st.dictionaries(st.sampled_from(["s:1", "s:2", "é: 3", "s:4"]), RECORDS, max_size=4),
        "sources": st.dictionaries(st.sampled_from("st"), RECORDS, max_size=2),
        "x": LEAVES,
    },
)


def commented(text: str, seed: int) -> str:
    """Comments where they mean nothing: above keys, outside literal text."""
    rng = random.Random(seed)
    lines: list[str] = []
    literal, depth = False, 0
    for line in text.split("\n"):
        indent = len(line) - len(line.lstrip(" "))
        literal = literal and (not line.strip() or indent > depth)
        if line.strip() and not literal and not line.lstrip().startswith("- ") and rng.random() < 0.3:
            lines.append(f"{' ' * indent}# {rng.randrange(9)}")
        if line.endswith("|-"):
            literal, depth = True, indent
        lines.append(line)
    return "\n".join(lines)


@settings(max_examples=300, deadline=None)
@given(st.tuples(FILES, FILES, FILES), st.integers(0, 99), st.booleans())
def test_any_files__merge_to_the_values_of_the_merge(
    files: tuple[Any, Any, Any], seed: int, based: bool
) -> None:
    base, one, other = (commented(dump(value), seed + place) for place, value in enumerate(files))
    assert parse(one).value == files[1]
    merged = both_ways(base if based else None, one, other)
    assert both_ways(base, one, base) == one
    assert both_ways(base, merged, merged) == merged


@settings(max_examples=200, deadline=None)
@given(st.tuples(FILES, FILES, FILES, FILES))
def test_heal__of_the_right_merge_is_nothing_and_of_any_other_settles(
    files: tuple[Any, Any, Any, Any],
) -> None:
    base, one, other, result = map(dump, files)
    right = merge_text(base, one, other)
    assert heal_text(base, one, other, right, right) is None
    healed = heal_text(base, one, other, result, result)
    if healed is not None:
        assert heal_text(base, one, other, result, healed) is None
        kept = parse(healed).value.get("items") or {}
        for key in (parse(right).value.get("items") or {}).keys() & (files[3].get("items") or {}).keys():
            assert key in kept
