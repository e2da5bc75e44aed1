"""Rank passages for a query: BM25F, a fuzzy look at the titles, and a verdict that abstains (G11).

Pure. Scores of indexes of different kinds (documents, commits, …) are made comparable by dividing them by
the score the query would get against itself; `docs/design/relate.md` says where each constant comes from.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from itertools import accumulate

from rapidfuzz import fuzz

from muniment.relate.inverted import Inverted
from muniment.relate.text import fold, terms

K1 = 1.2
TITLE_WEIGHT = 3.0
TITLE_B = 0.3
BODY_B = 0.75
QUERY_TITLE_WEIGHT = 2.0
QUERY_TERMS = 60
"""Only the strongest terms of a query are looked up: as good as all of them, and bounded."""
QUERY_CHARS = 100_000
"""Characters of a query's text that are read."""
FUZZY_WEIGHT = 0.3
FUZZY_POOL = 50
FUZZY_CHARS = 300
MATCHED_SHOWN = 8

DUPLICATE_AT = 0.76
RELATED_AT = 0.40
NOTHING_BELOW = 0.16
DUPLICATE_SHARE = 0.25
RELATED_SHARE = 0.18
NOTHING_SHARE = 0.12
NEARLY_AS_GOOD = 0.80
SAME_TITLE = 0.98


class Verdict(StrEnum):
    """How sure a match is: the same thing, something to look at, or hardly more than shared words."""

    DUPLICATE = "duplicate"
    RELATED = "related"
    WEAK = "weak"


@dataclass(frozen=True)
class Query:
    """A text to find relatives of, counted once.

    Attributes:
        title: Its title, as written.
        in_title: Occurrences of each term in the title.
        in_body: Occurrences of each term in the body.
    """

    title: str
    in_title: Counter[str]
    in_body: Counter[str]

    @cached_property
    def weights(self) -> Mapping[str, float]:
        """Each term's weight: 1 for the body, 2 for the title, 3 for both."""
        return {
            term: QUERY_TITLE_WEIGHT * (term in self.in_title) + (term in self.in_body)
            for term in (*self.in_title, *(term for term in self.in_body if term not in self.in_title))
        }

    @cached_property
    def folded_title(self) -> str:
        """The title as titles are compared."""
        return fold_title(self.title)


@dataclass(frozen=True, slots=True)
class Hit:
    """One ranked passage.

    Attributes:
        index: Which of the indexes it lies in.
        passage: Its number there.
        share: The part of the query's own score that it reaches, 0 to about 1.
        sureness: The estimated chance that it is the same thing, 0 to 1; falls along a ranking.
        verdict: What that amounts to.
        matched: The terms that made it match, strongest first.
    """

    index: int
    passage: int
    share: float
    sureness: float
    verdict: Verdict
    matched: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Ranking:
    """The best hits first; `abstained` says that none of them is worth offering."""

    abstained: bool
    hits: tuple[Hit, ...]


def make_query(title: str, text: str) -> Query:
    """Count a query's terms; at most `QUERY_CHARS` characters of each part are read."""
    return Query(title[:QUERY_CHARS], terms(title[:QUERY_CHARS]), terms(text[:QUERY_CHARS]))


def rank(
    query: Query,
    indexes: Sequence[Inverted],
    title_of: Callable[[int, int], str],
    group_of: Callable[[int, int], str],
    *,
    limit: int,
) -> Ranking:
    """The `limit` passages that most likely cover the query, one per group, best first.

    `title_of` and `group_of` take the number of an index and of a passage; passages of one group
    (the parts of one document) are one result.
    """
    strengths = _strengths(query, indexes)
    pool: list[tuple[float, int, int]] = []
    for number, index in enumerate(indexes):
        shares = _shares(query, index, strengths)
        best = sorted(shares, key=lambda passage: (-shares[passage], passage))[: 2 * max(limit, FUZZY_POOL)]
        pool += ((shares[passage], number, passage) for passage in best)
    pool.sort(key=lambda found: (-found[0], found[1], found[2]))
    seen: set[tuple[int, str]] = set()
    distinct: list[tuple[float, int, int]] = []
    for share, number, passage in pool:
        group = (number, group_of(number, passage))
        if group not in seen:
            seen.add(group)
            distinct.append((share, number, passage))
    if not distinct:
        return Ranking(abstained=True, hits=())
    return _judged(query, indexes, title_of, distinct, strengths, limit)


def _strengths(query: Query, indexes: Sequence[Inverted]) -> Mapping[str, float]:
    """Weight times rarity of the query's strongest terms."""
    size = sum(len(index) for index in indexes)

    def strength(term: str) -> float:
        seen = 0
        for index in indexes:
            first, end = index.span(term)
            seen += end - first
        return query.weights[term] * math.log1p((size - seen + 0.5) / (seen + 0.5))

    every = {term: strength(term) for term in query.weights}
    strongest = sorted(every, key=lambda term: -every[term])[:QUERY_TERMS]
    return {term: every[term] for term in strongest}


def _shares(query: Query, index: Inverted, strengths: Mapping[str, float]) -> dict[int, float]:
    """Each matching passage's BM25F score over the query's score against itself."""
    title_norms = [
        TITLE_WEIGHT / (1 - TITLE_B + TITLE_B * length / index.average_title) for length in index.title_lengths
    ]
    body_norms = [1 / (1 - BODY_B + BODY_B * length / index.average_body) for length in index.body_lengths]
    scores: dict[int, float] = {}
    for term, strength in strengths.items():
        first, end = index.span(term)
        for passage, title, body in zip(
            index.passages[first:end], index.in_title[first:end], index.in_body[first:end], strict=True
        ):
            weight = title * title_norms[passage] + body * body_norms[passage]
            scores[passage] = scores.get(passage, 0.0) + strength * weight / (K1 + weight)
    own = _own_score(query, index, strengths)
    return {passage: score / own for passage, score in scores.items()}


def _own_score(query: Query, index: Inverted, strengths: Mapping[str, float]) -> float:
    title = TITLE_WEIGHT / (1 - TITLE_B + TITLE_B * query.in_title.total() / index.average_title)
    body = 1 / (1 - BODY_B + BODY_B * query.in_body.total() / index.average_body)
    own = 0.0
    for term, strength in strengths.items():
        weight = query.in_title[term] * title + query.in_body[term] * body
        own += strength * weight / (K1 + weight)
    return own or 1.0


def _judged(
    query: Query,
    indexes: Sequence[Inverted],
    title_of: Callable[[int, int], str],
    found: Sequence[tuple[float, int, int]],
    strengths: Mapping[str, float],
    limit: int,
) -> Ranking:
    """Re-order the first `FUZZY_POOL` by their titles' likeness too, and give each hit its verdict."""
    most = found[0][0]
    likeness = {
        (number, passage): _likeness(query.folded_title, fold_title(title_of(number, passage)))
        for _, number, passage in found[:FUZZY_POOL]
    }

    def blended(one: tuple[float, int, int]) -> float:
        return one[0] / most + FUZZY_WEIGHT * likeness[one[1], one[2]][0]

    ordered = [*sorted(found[:FUZZY_POOL], key=blended, reverse=True), *found[FUZZY_POOL:]]
    hits: list[Hit] = []
    leaders: dict[int, float] = {}  # index → the share that makes another of it related too
    for share, number, passage in ordered[:limit]:
        sort, overlap = likeness.get((number, passage), (0.0, 0.0))
        margin = lead = 0.0
        if number not in leaders:  # the best of its index: how far ahead of the others of its kind is it?
            others = [one[0] for one in ordered if one[1] == number and one[2] != passage]
            margin = max(0.0, share - others[0]) / share if others else 1.0
            lead = share - (others[8] if len(others) > 8 else 0.0)  # noqa: PLR2004 - the tenth
        estimate = _estimate(share, margin, lead, overlap, sort, len(query.weights))
        matched = _matched(indexes[number], passage, strengths)
        near = estimate >= RELATED_AT or share >= leaders.get(number, math.inf)
        leaders.setdefault(number, NEARLY_AS_GOOD * share if near else math.inf)
        verdict = _verdict(estimate, share, sort, len(matched), len(query.weights), near=near)
        hits.append(Hit(number, passage, share, estimate, verdict, matched[:MATCHED_SHOWN]))
    hits.sort(key=lambda hit: hit.verdict is not Verdict.DUPLICATE)
    sureness = list(accumulate((hit.sureness for hit in hits), min))
    lowered = (replace(hit, sureness=sure) for hit, sure in zip(hits, sureness, strict=True))
    return Ranking(_nothing_sure(hits[0]), tuple(lowered))


def _estimate(share: float, margin: float, lead: float, overlap: float, sort: float, size: int) -> float:
    """The chance that a hit is the same thing, from a logistic fitted on duplicate bug reports.

    `margin` is the distance to the next hit of its kind over its own share, `lead` that to the tenth, `overlap`
    and `sort` the likeness of the titles, `size` the number of different terms in the query.
    """
    length = math.log1p(size)
    z = -4.031 - 2.518 * share + 5.131 * margin + 3.949 * lead + 2.186 * overlap + 1.875 * sort
    z += -0.011 * length + 0.730 * share * length
    return 1 / (1 + math.exp(-z))


def _verdict(estimate: float, share: float, sort: float, matched: int, size: int, *, near: bool) -> Verdict:
    if matched >= min(3, size) and share >= DUPLICATE_SHARE and (estimate >= DUPLICATE_AT or sort >= SAME_TITLE):
        return Verdict.DUPLICATE
    if matched >= min(2, size) and share >= RELATED_SHARE and near:
        return Verdict.RELATED
    return Verdict.WEAK


def _nothing_sure(top: Hit) -> bool:
    return top.verdict is Verdict.WEAK and (top.sureness < NOTHING_BELOW or top.share < NOTHING_SHARE)


def _matched(index: Inverted, passage: int, strengths: Mapping[str, float]) -> tuple[str, ...]:
    """The query's terms that a passage holds, strongest first."""
    held: list[str] = []
    for term in strengths:
        first, end = index.span(term)
        if _holds(index.passages, first, end, passage):
            held.append(term)
    return tuple(held)


def _holds(passages: Sequence[int], first: int, end: int, passage: int) -> bool:
    """Whether an ascending run of postings holds a passage."""
    while first < end:
        middle = (first + end) // 2
        if passages[middle] < passage:
            first = middle + 1
        elif passages[middle] > passage:
            end = middle
        else:
            return True
    return False


def fold_title(title: str) -> str:
    """A title as titles are compared: folded, lower case, punctuation as spaces, bounded."""
    text = title[:FUZZY_CHARS]
    text = text if text.isascii() else fold(text)
    return " ".join("".join(letter if letter.isalnum() else " " for letter in text.casefold()).split())


def _likeness(one: str, other: str) -> tuple[float, float]:
    """How like two folded titles are: with all words, and leaving out words that only one has; 0 to 1."""
    return fuzz.token_sort_ratio(one, other) / 100, fuzz.token_set_ratio(one, other) / 100
