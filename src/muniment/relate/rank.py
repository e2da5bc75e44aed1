"""Rank passages for a query: BM25F, a fuzzy look at the titles, and a verdict that abstains (G11).

Pure. Scores of indexes of different kinds (documents, commits, …) are made comparable by dividing them by
the score the query would get against itself; `docs/design/relate.md` says where each constant comes from.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property, partial
from itertools import accumulate, islice
from typing import NamedTuple

from rapidfuzz import fuzz

from muniment.relate.inverted import Inverted
from muniment.relate.text import fold, spellings, terms

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
JUDGED = 10
"""How many hits are judged at least, so that asking for fewer gives the first of the same list."""
FUZZY_CHARS = 300
MATCHED_SHOWN = 8

DUPLICATE_AT = 0.76
RELATED_AT = 0.40
NOTHING_BELOW = 0.16
DUPLICATE_SHARE = 0.25
RELATED_SHARE = 0.18
NOTHING_SHARE = 0.12
NEARLY_AS_GOOD = 0.80
WEAK_SHARE = 0.50
SAME_TITLE = 0.98


class Verdict(StrEnum):
    """How sure a match is: the same thing, something to look at, or hardly more than shared words."""

    DUPLICATE = "duplicate"
    RELATED = "related"
    WEAK = "weak"


_AT_MOST = {Verdict.DUPLICATE: 1.0, Verdict.RELATED: DUPLICATE_AT, Verdict.WEAK: RELATED_AT}
"""Sureness never says more than the verdict."""


@dataclass(frozen=True)
class Query:
    """A text to find relatives of, counted once.

    Attributes:
        title: Its title, as written.
        in_title: Occurrences of each term in the title.
        in_body: Occurrences of each term in the body.
        text: Its body, as written.
    """

    title: str
    in_title: Counter[str]
    in_body: Counter[str]
    text: str = ""

    @cached_property
    def spellings(self) -> Mapping[str, str]:
        """Each term as the query first writes it."""
        return spellings(f"{self.title}\n{self.text}")

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
        matched: The words of the query that made it match, strongest first, at most `MATCHED_SHOWN`.
        breadth: How many different terms matched.
    """

    index: int
    passage: int
    share: float
    sureness: float
    verdict: Verdict
    matched: tuple[str, ...]
    breadth: int = 0


@dataclass(frozen=True, slots=True)
class Ranking:
    """The best hits first; `abstained` says that none of them is worth offering."""

    abstained: bool
    hits: tuple[Hit, ...]


def make_query(title: str, text: str) -> Query:
    """Count a query's terms; at most `QUERY_CHARS` characters of each part are read."""
    title, text = title[:QUERY_CHARS], text[:QUERY_CHARS]
    return Query(title, terms(title), terms(text), text)


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
    (the parts of one document) are one result, and those of the group "" are none.
    """
    strengths = _strengths(query, indexes)
    wanted = max(limit, FUZZY_POOL)
    found: list[tuple[float, int, int]] = []
    for number, index in enumerate(indexes):
        shares = _shares(query, index, strengths)
        best = sorted(shares, key=lambda passage: (-shares[passage], passage))
        found += (
            (shares[passage], number, passage)
            for passage in islice(_one_of_each(best, partial(group_of, number)), wanted)
        )
    found.sort(key=lambda one: (-one[0], one[1], one[2]))
    candidates = [
        _candidate(query, share, number, passage, title_of(number, passage) if place < FUZZY_POOL else "")
        for place, (share, number, passage) in enumerate(found[:wanted])
    ]
    return _judged(query, indexes, candidates, strengths, limit)


def _one_of_each(passages: Iterable[int], group_of: Callable[[int], str]) -> Iterator[int]:
    """The first passage of each group, in order; groups are asked for as they are needed."""
    seen = {""}
    for passage in passages:
        group = group_of(passage)
        if group not in seen:
            seen.add(group)
            yield passage


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
        TITLE_WEIGHT / (1 - TITLE_B + TITLE_B * length / index.average_title)
        for length in index.title_lengths
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


class _Candidate(NamedTuple):
    """A passage of index `number` before its verdict; `sort` and `overlap`: its title's likeness, 0 to 1."""

    share: float
    number: int
    passage: int
    sort: float
    overlap: float


def _candidate(query: Query, share: float, number: int, passage: int, title: str) -> _Candidate:
    folded = fold_title(title)
    sort = fuzz.token_sort_ratio(query.folded_title, folded) / 100 if folded else 0.0
    overlap = fuzz.token_set_ratio(query.folded_title, folded) / 100 if folded else 0.0
    return _Candidate(share, number, passage, sort, overlap)


def _judged(
    query: Query,
    indexes: Sequence[Inverted],
    candidates: Sequence[_Candidate],
    strengths: Mapping[str, float],
    limit: int,
) -> Ranking:
    """Re-order the first `FUZZY_POOL` by their titles' likeness too, and give each hit its verdict."""
    if not candidates:
        return Ranking(abstained=True, hits=())
    most = candidates[0].share
    pool = sorted(candidates[:FUZZY_POOL], key=lambda one: -(one.share / most + FUZZY_WEIGHT * one.sort))
    ordered = (*pool, *candidates[FUZZY_POOL:])
    hits: list[Hit] = []
    leaders: dict[int, float] = {}  # index number → the share that makes another of it related too
    for one in ordered[: max(limit, JUDGED)]:
        margin = lead = 0.0
        if one.number not in leaders:
            margin, lead = _ahead(one, ordered)
        estimate = _estimate(one, margin, lead, len(query.weights))
        near = estimate >= RELATED_AT or one.share >= leaders.get(one.number, math.inf)
        leaders.setdefault(one.number, NEARLY_AS_GOOD * one.share if near else math.inf)
        matched = _matched(indexes[one.number], one.passage, strengths)
        verdict = _verdict(one, estimate, len(matched), len(query.weights), near=near)
        words = tuple(dict.fromkeys(query.spellings.get(term, term) for term in matched))[:MATCHED_SHOWN]
        sureness = min(estimate, _AT_MOST[verdict])
        hits.append(Hit(one.number, one.passage, one.share, sureness, verdict, words, len(matched)))
    hits.sort(key=lambda hit: hit.verdict is not Verdict.DUPLICATE)
    falling = accumulate((hit.sureness for hit in hits), min)
    lowered = tuple(replace(hit, sureness=sure) for hit, sure in zip(hits, falling, strict=True))
    return Ranking(_nothing_sure(lowered[0], len(query.weights)), lowered[:limit])


def _ahead(best: _Candidate, ordered: Sequence[_Candidate]) -> tuple[float, float]:
    """How far the best of an index is ahead of the next (over its own share), and of the tenth."""
    others = [one.share for one in ordered if one.number == best.number and one.passage != best.passage]
    margin = max(0.0, best.share - others[0]) / best.share if others else 1.0
    return margin, best.share - (others[8] if len(others) > 8 else 0.0)  # noqa: PLR2004 - the tenth


def _estimate(one: _Candidate, margin: float, lead: float, size: int) -> float:
    """The chance that a hit is the same thing, from a logistic fitted on duplicate bug reports.

    `size` is the number of different terms in the query.
    """
    length = math.log1p(size)
    z = -4.031 - 2.518 * one.share + 5.131 * margin + 3.949 * lead + 2.186 * one.overlap + 1.875 * one.sort
    z += -0.011 * length + 0.730 * one.share * length
    return 1 / (1 + math.exp(-z))


def _verdict(one: _Candidate, estimate: float, matched: int, size: int, *, near: bool) -> Verdict:
    same = estimate >= DUPLICATE_AT or one.sort >= SAME_TITLE
    if same and matched >= min(3, size) and one.share >= DUPLICATE_SHARE:
        return Verdict.DUPLICATE
    if near and matched >= min(2, size) and one.share >= RELATED_SHARE:
        return Verdict.RELATED
    return Verdict.WEAK


def _nothing_sure(top: Hit, size: int) -> bool:
    few = top.breadth < min(2, size)
    return top.verdict is Verdict.WEAK and (few or top.sureness < NOTHING_BELOW or top.share < NOTHING_SHARE)


def worth_showing(hit: Hit, best: Hit) -> bool:
    """Whether a hit behind the best one says anything: it is no weak one by a single or by stray words."""
    return hit.verdict is not Verdict.WEAK or (hit.breadth > 1 and hit.share >= WEAK_SHARE * best.share)


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
