"""The folded view and its map: every position leads back to the character it came from."""

from __future__ import annotations

import html
import urllib.parse

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muniment.redact.fold import decoded, fold, fold_text

TEXTS = st.text(
    alphabet=st.one_of(
        st.sampled_from(
            "aZ0 9-@.\\&%;#x\n\t\u200b\u200f\u0301\ufe0f\u20e3\u05be\u00ad\ufb01\u00df\u0130\u2463"
        ),
        st.sampled_from(
            "\u05d3\u05b8\u05e0\u05d4\u0645\u064f\u738b\uae40\ud55c\U0001d7d7\U0001f600\u0935\u093e"
        ),
        st.characters(exclude_categories=["Cs"]),
    ),
    max_size=60,
)


@given(TEXTS)
def test_fold__is_what_each_character_folds_to(text: str) -> None:
    assert fold(text).text == fold_text(text)


@given(TEXTS, st.data())
def test_fold__every_range_maps_to_a_range_that_folds_to_it(text: str, data: st.DataObject) -> None:
    view = fold(text)
    if not view.text:
        return
    start = data.draw(st.integers(0, len(view.text) - 1))
    end = data.draw(st.integers(start + 1, len(view.text)))
    low, high = view.span(start, end)
    assert 0 <= low < high <= len(text)
    covered = fold_text(text[low:high])
    assert view.text[start:end] in covered
    if view.aligned(start, end):
        assert covered == view.text[start:end]


@given(TEXTS)
def test_fold__is_idempotent(text: str) -> None:
    once = fold(text).text
    assert fold(once).text == once


@given(TEXTS)
def test_decoded__maps_back_into_the_text(text: str) -> None:
    view = decoded(text)
    if view is None:
        return
    folded = fold(view.text, view)
    for position in range(len(folded.text)):
        low, high = folded.span(position, position + 1)
        assert 0 <= low < high <= len(text) + 1


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("&#48;&#x35;", "05"),
        ("&commat;", "@"),
        ("&amp;#64;", "@"),
        ("%2B972", "+972"),
        ("%2540", "@"),
        ("%D7%93", "\u05d3"),
        ("\\u0040", "@"),
        ("\\ud83d\\ude00x", "\U0001f600x"),
        ("\\_a", "_a"),
        ("a=40b", "a@b"),
        ("%ff%30", "\u00ff0"),
    ],
)
def test_decoded__written_out_characters(written: str, meant: str) -> None:
    view = decoded(written)
    assert view is not None
    assert view.text.strip("\n") == meant


def test_decoded__plain_text_has_no_second_view() -> None:
    assert decoded("plain text, no escapes (really) 100 = 100") is None


@given(st.text(alphabet="ab@.+-09", min_size=1, max_size=20))
def test_decoded__undoes_what_others_encode(text: str) -> None:
    for encoded in (
        urllib.parse.quote(text, safe=""),
        "".join(f"&#{ord(character)};" for character in text),
        "".join(f"\\u{ord(character):04x}" for character in text),
        html.escape(text),
    ):
        view = decoded(encoded)
        assert (view.text if view else encoded).strip("\n") == text


def test_decoded__only_the_lines_around_an_escape() -> None:
    text = "far away\n" * 50 + "&#64;\n" + "far away\n" * 50
    view = decoded(text)
    assert view is not None
    assert view.text.count("far away") < 10


@pytest.mark.parametrize(
    "dropped", ["\u200b", "\u00ad", "\u2060", "\ufeff", "\u0301", "\ufe0f", "\u0640", "\x00"]
)
def test_fold__drops_what_a_reader_does_not_see(dropped: str) -> None:
    assert fold(f"0{dropped}5").text == "05"
