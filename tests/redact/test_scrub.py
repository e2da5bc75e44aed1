"""Tags: stable in a report, never confused with tags that the text already holds; redaction is idempotent."""

from __future__ import annotations

import re
import time
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from muniment.redact.gate import Gate
from muniment.redact.rules import KnownNames, detect
from muniment.redact.scrub import redact
from muniment.redact.spans import Span, merge

KNOWN = KnownNames.parse("Rina\towner\nOmer\nWill\nרינה\n")  # noqa: RUF001 - Hebrew on purpose
PIECES = st.sampled_from(
    [
        "Rina", "Omer", "Will", "רינה", "ל", "+972522345678", "052-2345678", "a@example.com", "[phone-1]",
        "[owner-3]", "972522345678@s.whatsapp.net", " ", "\n", "-", "(", ")", "@", "+", ".", "1",
        "42", "2024-01-01",
        "&#64;", "%2B", "x", "\u200b", "[", "]", "ext. 5", "name", "phone: ", "\\",
    ]
)  # fmt: skip


@given(st.lists(PIECES, max_size=12).map("".join))
@settings(max_examples=400)
def test_redact__is_idempotent_and_leaves_nothing_to_find(text: str) -> None:
    once = redact(text, KNOWN).text
    assert redact(once, KNOWN).text == once
    assert detect(once, KNOWN) == ()


@given(st.lists(PIECES, max_size=12).map("".join))
@settings(max_examples=200)
def test_redact__adds_nothing_but_tags(text: str) -> None:
    spans = detect(text, KNOWN)
    assert all(one.end <= other.start for one, other in pairwise(spans))
    rest = text
    for piece in re.split(r"\[[a-z]+-\d+\]", redact(text, KNOWN).text):
        assert piece in rest
        rest = rest[rest.index(piece) + len(piece) :]


def test_redact__tags_are_shared_between_the_texts_of_one_report() -> None:
    first = redact("Rina, Omer, +972522345678", KNOWN)
    second = redact("Omer at 052-2345678, a@example.com", KNOWN, first.tags)
    assert first.text == "[owner-1], [name-1], [phone-1]"
    assert second.text == "[name-1] at [phone-1], [email-1]"


def test_redact__tags_in_the_input_keep_their_numbers() -> None:
    assert redact("[name-1] is here; Omer too", KNOWN).text == "[name-1] is here; [name-2] too"
    assert redact("[phone-7] or 052-2345678", KNOWN).text == "[phone-7] or [phone-8]"


def test_redact__a_name_inside_a_tag_is_not_a_name() -> None:
    known = KnownNames.parse("Owner\nName")
    assert redact("[owner-1] [name-2]", known).text == "[owner-1] [name-2]"


def test_redact__offsets_are_right_after_astral_characters() -> None:
    assert redact("😀😀 רינה 😀 052-2345678 😀", KNOWN).text == "😀😀 [name-1] 😀 [phone-1] 😀"


def test_merge__overlaps_become_one_union_with_the_longest_identity() -> None:
    spans = [
        Span(0, 5, "name", "a"),
        Span(3, 20, "email", "b"),
        Span(18, 22, "phone", "c"),
        Span(30, 31, "name", "d"),
    ]
    assert [(span.start, span.end, span.key) for span in merge(spans)] == [(0, 22, "b"), (30, 31, "d")]


FLOODS = [
    "0", "@", ".", "a.", "a@", "a@b.", " ", "+", "(", "1 ", "052-", "+1", "<!--", "*", "_", "<b>",
    "\n> ", "&#48;",
    "%30", "\\",
    "\\u0030", "=40", "eyJ", "eyJ.", "sk-proj-", "://a:", "[", "[phone-1]", "Rina ", "רינה",
    "a\u200b", "a\u0435",
    "phone: ", "972", "MDUy", "a ",
]  # fmt: skip


@pytest.mark.parametrize("flood", FLOODS)
def test_redact_and_gate__take_linear_time_on_floods(flood: str) -> None:
    """Ten times the text takes about ten times as long, not a hundred (CPU time, a generous factor)."""

    def cost(length: int) -> float:
        text = (flood * length)[:length]
        start = time.process_time()
        Gate(KNOWN).inspect_text(redact(text, KNOWN).text, "text")
        return time.process_time() - start

    cost(2_000)
    small = min(cost(10_000), cost(10_000))
    assert cost(100_000) < 40 * max(small, 0.01)


def test_redact__tag_shapes_are_what_readers_expect() -> None:
    text = "Rina +972522345678 a@example.com 123456789012345@lid 12036304123456@g.us"
    assert re.findall(r"\[[a-z]+-\d+\]", redact(text, KNOWN).text) == [
        "[owner-1]", "[phone-1]", "[email-1]", "[lid-1]", "[group-1]",
    ]  # fmt: skip


def test_redact_and_gate__a_megabyte_of_backslashes_takes_no_time() -> None:
    text = "\\" * 1_000_000
    start = time.process_time()
    assert redact(text, KNOWN).text == text
    assert not Gate(KNOWN).inspect_text(text, "text")
    assert time.process_time() - start < 4


@pytest.mark.parametrize("marks", [1, 3, 4, 5, 6, 40])
def test_redact__escapes_in_a_row_lose_nothing_but_the_identifier(marks: int) -> None:
    row = "\\!" * marks
    assert redact(f"{row}\\+972\\-52\\-234\\-5678{row} end", KNOWN).text == f"{row}[phone-1]{row} end"
    assert redact(f"{row}rina\\.x\\@example\\.com", KNOWN).text == f"{row}[email-1]"
