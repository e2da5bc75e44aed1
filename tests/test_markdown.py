"""Markdown structure: lines, front matter, headings, links, leaves, and the two ways to find HTML blocks."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from muniment import markdown, markdown_scan
from muniment.markdown import Heading, Link

PIECES = st.sampled_from(
    [
        "<!-- a:start -->",
        "<!-- a:end -->",
        "<!--",
        "-->",
        "```",
        "````",
        "~~~ x",
        "~~~",
        "   ```",
        "  ~~~",
        "- x",
        "  <!-- a:start -->",
        "> <!-- a:start -->",
        "> ```",
        "<div>",
        "</div>",
        "<pre>",
        "x </pre> y",
        "<script src=x>",
        "</script>",
        "<?php",
        "?>",
        "<!DOCTYPE x",
        "<!doctype",
        "<![CDATA[",
        "]]>",
        "<span>",
        "<https://x.y>",
        "text",
        "text <!-- a:start -->",
        "    <!-- a:start -->",
        "\t```",
        "1. ```",
        "",
        "  ",
        "---",
        "===",
        "# h",
        "``` a`b",
        "| a | b |",
        "[x]: y",
        "'title",
        "\ufeff",
    ]
)
ENDINGS = st.sampled_from(["\n", "\n", "\r\n", "\r"])


@st.composite
def documents(draw: st.DrawFn) -> str:
    rows = draw(st.lists(st.tuples(PIECES, ENDINGS), max_size=14))
    return draw(st.sampled_from(["", "", "\ufeff"])) + "".join(piece + ending for piece, ending in rows)


@settings(max_examples=400)
@given(documents())
def test_html_starts__line_scan_agrees_with_the_parser(text: str) -> None:
    body = text.removeprefix("\ufeff")
    matter = markdown.front_matter(body)
    scanned = markdown_scan.scan(body, matter.end if matter else 0)
    if scanned is not None:
        assert scanned == markdown._parse_html(body)


@given(st.text(alphabet="ab\n\r\x0b\x0c\x85\u2028\u2029 ", max_size=40))
def test_lines_of__keeps_every_character_and_splits_only_at_commonmark_endings(text: str) -> None:
    lines = markdown.lines_of(text)
    assert "".join(lines) == text
    assert len(lines) == len(text.replace("\r\n", "\n").replace("\r", "\n").split("\n")) - (
        not text or text[-1] in "\r\n"
    )


@pytest.mark.parametrize(
    ("text", "ending"),
    [("", "\n"), ("a\r\nb\r\nc\n", "\r\n"), ("a\rb", "\r"), ("a\nb\r\n", "\n"), ("a\r\nb\n", "\r\n")],
)
def test_newline_of(text: str, ending: str) -> None:
    assert markdown.newline_of(text) == ending


def test_front_matter__positions_with_bom_and_crlf() -> None:
    text = "\ufeff---\r\na: 1 # c\r\n---\r\nbody\r\n"
    matter = markdown.front_matter(text)
    assert matter is not None
    assert matter.text == "a: 1 # c\r\n"
    assert text[matter.start :].startswith("a: 1")
    assert text[matter.end :] == "body\r\n"


@pytest.mark.parametrize("text", ["", "x\n---\n", "---\na: 1\n", "--- a\nb\n---\n", " ---\na\n---\n"])
def test_front_matter__absent(text: str) -> None:
    assert markdown.front_matter(text) is None


def test_headings__not_in_code_quotes_or_front_matter() -> None:
    text = "---\n# no: 1\n---\n# One *x*\n\n```\n# no\n```\n\n> # no\n\nTwo\n---\n"
    assert markdown.headings(text) == (Heading(1, "One x", 4), Heading(2, "Two", 12))


def test_sections__by_level() -> None:
    text = "intro\n\n# A\n\ntext a\n\n## B\nb\n\nSet\next\n---\nc\n"
    found = markdown.sections(text)
    assert [(s.heading.text if s.heading else "", s.line, s.end) for s in found] == [
        ("", 1, 2),
        ("A", 3, 13),
        ("B", 7, 9),
        ("Set ext", 10, 13),
    ]
    assert found[3].text == "c\n"
    assert found[1].text == "\ntext a\n\n"


def test_links__lines_and_images_but_not_code() -> None:
    text = "a [b](c.md)\n![d](e.png)\n\n`[x](y)`\n\n```\n[x](y)\n```\n\n> <https://f.g>\n"
    assert markdown.links(text) == (
        Link("c.md", "b", 1),
        Link("e.png", "d", 2),
        Link("https://f.g", "https://f.g", 10),
    )


def test_code_lines__fences_html_and_quotes() -> None:
    text = "---\nx: 1\n---\na\n\n```\nb\n```\n\n<div>\nc\n\n> d\n"
    assert markdown.code_lines(text) == {6, 7, 8, 10, 11, 13}


def test_leaves__reading_ignores_layout() -> None:
    one = "* a\n  b\n\n    > q\\_r\n\n* `c`  d\n\n[l]: /u\n"
    other = "- a b\n\n  > q_r\n- `c` d\n\n[l]: </u>\n"
    plain = [(leaf.path, leaf.kind, leaf.text) for leaf in markdown.leaves(one)]
    assert plain == [(leaf.path, leaf.kind, leaf.text) for leaf in markdown.leaves(other)]
    assert plain == [
        (("ul", "li*"), "p", "a b"),
        (("ul", "li", "quote"), "p", "q_r"),
        (("ul", "li*"), "p", "c d"),
        ((), "def", "L\x1f/u"),
    ]


def test_leaves__front_matter_is_that_of_a_document_only() -> None:
    text = "---\na: b\n---\n\nwords\n"
    assert [leaf.text for leaf in markdown.leaves(text)] == ["words"]
    assert [leaf.line for leaf in markdown.leaves(text)] == [5]
    assert [leaf.text for leaf in markdown.fragment_leaves(text)] == ["", "a: b", "words"]


def test_leaves__read_image_titles_and_every_definition() -> None:
    assert markdown.leaves('![a](u "b")')[0].text == "a\x1fu\x1fb\x1f"
    assert [leaf.text for leaf in markdown.leaves("[x]: one\n[x]: two\n")] == ["X\x1fone", "X\x1ftwo"]
