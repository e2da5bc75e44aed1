"""Ranking and verdicts, over a small invented tracker."""

from __future__ import annotations

import time

import pytest

from muniment.relate.inverted import Inverted, build
from muniment.relate.rank import Ranking, Verdict, fold_title, make_query, rank
from muniment.relate.text import terms

TEXTS = (
    ("Search shows stale recipes after an edit", "The index keeps the old title until the nightly rebuild."),
    ("Reminders fire an hour late", "After the change to daylight saving the scheduler used the old offset."),
    ("Voice notes as input", "Members would like to send a voice message and get a shopping list."),
    ("Export the list as PDF", "A printable list for the kitchen wall."),
    ("Amounts are lost when lists are merged", "Merging two shopping lists drops the amount of flour."),
    ("Login fails with a long password", "A password of more than 72 characters is cut by the hash."),
    ("Images are rotated on upload", "The orientation tag of the camera is ignored."),
    ("Duplicate replies to one message", "When the gateway retries a webhook, the bot answers twice."),
    ("検索結果が古い", "レシピを編集した後も、検索に古いタイトルが表示される。"),
    ("Поиск показывает старые рецепты", "После правки заголовок в поиске остаётся прежним."),
)


def index() -> Inverted:
    return build((terms(title), terms(text)) for title, text in TEXTS)


def asked(title: str, text: str = "", limit: int = 5) -> Ranking:
    return rank(
        make_query(title, text), [index()], lambda _, at: TEXTS[at][0], lambda _, at: str(at), limit=limit
    )


@pytest.mark.parametrize(
    ("title", "text", "expected"),
    [
        ("After an edit the search still shows the stale title of a recipe", "", 0),
        ("Reminder came one hour late", "It was the day after daylight saving began.", 1),
        ("The bot answered the same message twice", "The webhook was retried by the gateway.", 7),
        ("Merged shopping lists lost the amount", "", 4),
        ("編集後の検索に古いタイトルが表示された", "", 8),
        ("Старый заголовок рецепта в поиске", "", 9),
    ],
)
def test_rank__finds_the_same_problem_in_other_words(title: str, text: str, expected: int) -> None:
    ranking = asked(title, text)
    assert not ranking.abstained
    assert ranking.hits[0].passage == expected
    assert ranking.hits[0].verdict in {Verdict.DUPLICATE, Verdict.RELATED}


@pytest.mark.parametrize(
    "title",
    [
        "Database connection pool exhausted under load",
        "The weather forecast for tomorrow",
        "hello",
        "量子力学の講義",
        "the of and",
        "",
        "\0\x1b[31m\u202e",
    ],
)
def test_rank__abstains_rather_than_offering_noise(title: str) -> None:
    assert asked(title).abstained


def test_rank__one_shared_word_is_no_relation() -> None:
    ranking = asked("The kitchen sink leaks onto the floor every morning")
    assert ranking.abstained


def test_rank__the_same_title_is_a_duplicate_wherever_it_ranks() -> None:
    ranking = asked("Login fails with a long password", "Nothing else is known.")
    assert ranking.hits[0].passage == 5
    assert ranking.hits[0].verdict is Verdict.DUPLICATE


def test_rank__fewer_are_the_first_of_the_same_list() -> None:
    reports = (
        ("Report one", "flour has no amount after the lists are merged, again"),
        ("Report two", "flour has no amount once lists are merged"),
        ("Report three", "after lists are merged no amount of flour"),
    )
    said = (
        "The lists are merged and flour has no amount any more, when two people of one household add the "
        "same product to it on the same day"
    )
    documents = (("Shopping list loses a quantity", said), *TEXTS[:4], *TEXTS[5:])
    kinds = (reports, documents)

    def asked_for(limit: int) -> Ranking:
        return rank(
            make_query("flour has no amount after lists are merged", ""),
            [build((terms(title), terms(text)) for title, text in kind) for kind in kinds],
            lambda number, at: kinds[number][at][0],
            lambda number, at: f"{number}:{at}",
            limit=limit,
        )

    every = asked_for(10)
    assert (every.hits[0].index, every.hits[0].verdict) == (1, Verdict.DUPLICATE)
    for limit in range(1, 10):
        assert asked_for(limit).hits == every.hits[:limit]


def test_rank__scores_fall_and_never_say_more_than_the_verdict() -> None:
    ranking = asked("Merged lists lost the amount of flour when search shows stale recipes", limit=10)
    scores = [hit.sureness for hit in ranking.hits]
    assert scores == sorted(scores, reverse=True)
    assert all(0 <= score <= 1 for score in scores)
    assert all(hit.sureness <= 0.4 for hit in ranking.hits if hit.verdict is Verdict.WEAK)


def test_rank__says_which_words_matched_as_the_query_has_them() -> None:
    hit = asked("Merged shopping lists lost the amount").hits[0]
    assert set(hit.matched) == {"Merged", "shopping", "lists", "lost", "amount"}


def test_rank__one_result_for_the_passages_of_a_group() -> None:
    ranking = rank(
        make_query("shopping list", ""), [index()], lambda _, at: TEXTS[at][0], lambda *_: "one", limit=5
    )
    assert len(ranking.hits) == 1


def test_rank__of_nothing_abstains() -> None:
    empty = build(())
    assert rank(make_query("a search", ""), [empty], lambda *_: "", lambda *_: "", limit=5).abstained
    assert rank(make_query("a search", ""), [], lambda *_: "", lambda *_: "", limit=5).abstained


def test_rank__indexes_of_different_kinds_are_comparable() -> None:
    short = build([(terms("Answer a retried webhook once"), terms(""))])
    ranking = rank(
        make_query("The bot answered a retried webhook twice", ""),
        [index(), short],
        lambda number, at: TEXTS[at][0] if number == 0 else "Answer a retried webhook once",
        lambda number, at: f"{number}:{at}",
        limit=5,
    )
    assert {(hit.index, hit.passage) for hit in ranking.hits[:2]} == {(0, 7), (1, 0)}


def test_rank__a_megabyte_of_query_is_bounded() -> None:
    began = time.process_time()
    asked("x" * 1_000_000, " ".join(f"word{number}" for number in range(120_000)))
    assert time.process_time() - began < 5


def test_fold_title__drops_case_accents_and_punctuation() -> None:
    assert fold_title("[Bug]: Ünïcode — “crash”!") == "bug unicode crash"
