"""The line scanner: sections, blocks, titles, and its bounds."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muniment.documents.sections import MAX_BLOCK, Block, Section, blocks, outline, plain

DOCUMENT = """\
---
title: "From the front"
status: open
---
Before any heading.

# Top `code` **bold**

Text.

```
# no heading
```

<!--
# no heading either
-->
## Second ##

More
with [a link](x.md).

Under
-----

~~~~ text
```
# still inside
~~~~

### Third
"""


def titles(text: str) -> list[tuple[int, int, str]]:
    return [(section.line, section.level, section.title) for section in outline(text).sections]


def test_outline__headings_fences_comments_and_front_matter() -> None:
    assert titles(DOCUMENT) == [
        (5, 0, ""),
        (7, 1, "Top code bold"),
        (18, 2, "Second"),
        (23, 2, "Under"),
        (31, 3, "Third"),
    ]
    shape = outline(DOCUMENT)
    assert shape.title == "From the front"
    assert shape.front == {"title": '"From the front"', "status": "open"}
    assert "no heading either" not in "".join(section.text for section in shape.sections)


@pytest.mark.parametrize("ending", ["\r\n", "\r"])
def test_outline__lines_are_counted_whatever_the_line_ending(ending: str) -> None:
    assert titles("\ufeff" + DOCUMENT.replace("\n", ending)) == titles(DOCUMENT)


def test_outline__title_falls_back() -> None:
    assert outline("text only", "a name").title == "a name"
    assert outline("## Two\n\n# One\n").title == "One"
    assert outline("Title\n=====\n\ntext").title == "Title"
    assert outline("", "a name").sections == ()


def test_outline__no_heading_without_a_space_in_a_list_or_in_a_paragraph() -> None:
    assert titles("#hash\n####### seven\n- item\n---\n\na\nb\n---\n| a |\n---\n") == [(1, 0, "")]


def test_walk__gives_the_titles_around() -> None:
    shape = outline("# A\n## B\n### C\n## D\n# E\n")
    assert [around for _, around in shape.walk()] == [
        ("A",), ("A", "B"), ("A", "B", "C"), ("A", "D"), ("E",),
    ]  # fmt: skip


def section(text: str) -> Section:
    return Section(1, 1, "S", text, 2)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("one\ntwo\n\nthree", [(2, "one two"), (5, "three")]),
        ("- a\n  b\n  - c\n- d", [(2, "a b c"), (5, "d")]),
        ("- a\n\n  more of a\n\nnot a", [(2, "a more of a"), (6, "not a")]),
        ("1. a\n2) b\n* [x] c\n+ [ ] d", [(2, "a"), (3, "b"), (4, "c"), (5, "d")]),
        ("| H | I |\n|---|:-:|\n| a | b |\n| c | d |", [(4, "a b"), (5, "c d")]),
        ("para\n- item", [(2, "para"), (3, "item")]),
        ("\n\n", []),
    ],
)
def test_blocks(text: str, expected: list[tuple[int, str]]) -> None:
    assert list(blocks(section(text))) == [Block(line, words) for line, words in expected]


def test_plain__drops_marks_and_keeps_words() -> None:
    assert plain('- **Bold** and `code_name` see [the page](a.md "t"), ![img][r] _x_ a_b') == (
        "Bold and code_name see the page, img x a_b"
    )


HOSTILE = {
    "brackets": "[" * 400_000,
    "link-ends": "](" * 200_000,
    "headings": "# a\n" * 100_000,
    "deep-headings": "".join("#" * (1 + at % 6) + " a\n" for at in range(100_000)),
    "hashes": "# " + " #" * 200_000 + " x",
    "spaces": "# a" + " " * 400_000 + "x",
    "front": "---\na: b" + " " * 400_000 + "x\n---\n",
    "dashes": "a\n" + "-" * 400_000 + "x\n",
    "rule": "|" + "-" * 200_000 + "x|" * 100_000,
    "items": "- a\n" * 100_000,
    "nested": "".join(" " * (at % 100) + "- a\n" for at in range(10_000)),
    "fences": "```\n" * 100_000,
    "comments": "<!-- " * 100_000,
    "emphasis": "_*" * 200_000,
    "one-block": "word " * 200_000,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_scanner__hostile_text_takes_linear_time(name: str) -> None:
    began = time.process_time()
    shape = outline(HOSTILE[name])
    for one, _ in shape.walk():
        for block in blocks(one):
            assert len(block.text) <= MAX_BLOCK
    assert time.process_time() - began < 5


@given(st.text("#-=`~<!->|* ab\n\r\t[]()_:", max_size=200))
def test_outline__any_text_has_sections_in_order(text: str) -> None:
    sections = outline(text).sections
    lines = [one.line for one in sections]
    assert lines == sorted(lines)
    for one in sections:
        for block in blocks(one):
            assert one.start <= block.line <= text.count("\n") + text.count("\r") + 1
