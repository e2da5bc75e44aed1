"""Terms of a text, in any language."""

from __future__ import annotations

import hashlib
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muniment.relate.text import MAX_TERM, VERSION, fold, spellings, split_word, stem, terms


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The search is broken", {"search", "broken"}),
        ("parseHTTPHeader_v2", {"parsehttpheader_v2", "pars", "http", "header"}),
        ("snake_case_name", {"snake_case_name", "snak", "cas", "nam"}),
        ("Äpfel naïve", {"apfel", "naiv"}),
        ("検索結果", {"検索", "索結", "結果"}),
        ("蛋", {"蛋"}),
        ("한국어 검색", {"한국", "국어", "검색"}),
        ("ค้นหา", {"ค้", "้น", "นห", "หา"}),
        ("हिन्दी में", {"हिन्दी", "में"}),
        ("ファイルuploadエラー", {"ファ", "ァイ", "イル", "upload", "エラ", "ラー"}),
        ("Ёлка ёлка", {"елка"}),
        ("العَرَبِيَّة", {"العربية"}),
        ("Java 8 error E1234", {"java", "8", "error", "e1234", "1234"}),
        ("a I the of", set()),
        ("", set()),
    ],
)
def test_terms(text: str, expected: set[str]) -> None:
    assert set(terms(text)) == expected


def test_terms__counts_every_occurrence() -> None:
    assert terms("Merge, merged and merging")["merg"] == 3


def test_terms__decomposed_and_composed_text_agree() -> None:
    assert terms("cafe\u0301 u\u0308ber") == terms("caf\u00e9 \u00fcber")


@pytest.mark.parametrize(
    "family",
    [
        ("merge", "merges", "merged", "merging"),
        ("retry", "retries", "retried", "retrying"),
        ("validate", "validated", "validates", "validation"),
        ("run", "runs", "running"),
        ("file", "files", "filed", "filing"),
        ("process", "processes", "processed"),
    ],
)
def test_stem__forms_of_one_word_meet(family: tuple[str, ...]) -> None:
    assert len({stem(word) for word in family}) == 1, [stem(word) for word in family]


@pytest.mark.parametrize("word", ["status", "class", "thing", "string", "speed", "need", "bus", "is"])
def test_stem__leaves_words_that_only_look_like_a_form(word: str) -> None:
    assert stem(word) == word


def test_split_word__a_long_word_is_cut_not_dropped() -> None:
    assert split_word("x" * 5000) == ("x" * MAX_TERM,)


def test_fold__keeps_case_and_hangul() -> None:
    assert fold("fooBär한국") == "fooBar한국"


def test_spellings__give_the_word_as_first_written() -> None:
    found = spellings("Merging lists, merged again; parseHTTPHeader; 検索")
    assert found["merg"] == "Merging"
    assert found["parsehttpheader"] == "parseHTTPHeader"
    assert found["検索"] == "検索"


def test_terms__a_megabyte_of_junk_takes_little_time() -> None:
    for junk in ("a" * 1_000_000, "A_" * 500_000, "é" * 1_000_000, "\0\x1b" * 500_000, "aB" * 500_000):
        began = time.process_time()
        terms(junk)
        assert time.process_time() - began < 5


@given(st.text(max_size=300))
def test_terms__any_text_gives_bounded_lower_case_terms(text: str) -> None:
    for term, count in terms(text).items():
        assert term
        assert count > 0
        assert len(term) <= MAX_TERM * 2
        assert "\n" not in term
        assert not term.startswith("=")


def test_version__is_raised_with_every_change_to_the_terms() -> None:
    sample = "The naïve parseHTTPHeader_v2 retried 3 validations; 検索結果 한국어 E1234 don't ёлка"
    digest = hashlib.sha256(repr(sorted(terms(sample).items())).encode()).hexdigest()[:12]
    assert (VERSION, digest) == (1, "c8f02400dbbb"), "raise VERSION in text.py, or old caches answer wrongly"
