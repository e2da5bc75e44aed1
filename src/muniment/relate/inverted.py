"""An inverted index over passages: which term occurs in which, how often, in title and body.

Pure. The stored form is a few arrays that load without decoding: at 1,000 documents that takes a
millisecond or two, whatever the query. Its shape is checked here, its bytes by `shelf.py`'s checksum.
"""

from __future__ import annotations

import sys
from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from struct import Struct

_MAGIC = b"MUNREL1" + (b"L" if sys.byteorder == "little" else b"B")
_HEADER = Struct("=8sIIIII")  # magic, bytes of terms, terms, postings, passages, width
_WIDTH = array("I").itemsize
_MOST = 0xFFFF


@dataclass(frozen=True)
class Inverted:
    """Postings of a set of passages, numbered from 0; immutable.

    Attributes:
        terms: Every term, sorted by code point.
        starts: For each term the first of its postings; one more entry closes the last.
        passages: Passage number of each posting, ascending within a term.
        in_title: Occurrences in the title, of each posting.
        in_body: Occurrences in the body, of each posting.
        title_lengths: Terms in each passage's title.
        body_lengths: Terms in each passage's body.
    """

    terms: Sequence[str]
    starts: Sequence[int]
    passages: Sequence[int]
    in_title: Sequence[int]
    in_body: Sequence[int]
    title_lengths: Sequence[int]
    body_lengths: Sequence[int]

    def __len__(self) -> int:
        return len(self.title_lengths)

    def span(self, term: str) -> tuple[int, int]:
        """The first and one past the last posting of a term; equal when it occurs nowhere."""
        at = bisect_left(self.terms, term)
        if at == len(self.terms) or self.terms[at] != term:
            return 0, 0
        return self.starts[at], self.starts[at + 1]

    @cached_property
    def average_title(self) -> float:
        """Mean number of terms in a title; at least 1."""
        return max(1.0, sum(self.title_lengths) / max(1, len(self)))

    @cached_property
    def average_body(self) -> float:
        """Mean number of terms in a body; at least 1."""
        return max(1.0, sum(self.body_lengths) / max(1, len(self)))

    def to_bytes(self) -> bytes:
        """The stored form, in this machine's byte order."""
        terms = "\n".join(self.terms).encode()
        columns = (
            self.starts,
            self.passages,
            self.title_lengths,
            self.body_lengths,
            self.in_title,
            self.in_body,
        )
        body = b"".join(array(code, column).tobytes() for code, column in zip("IIIIHH", columns, strict=True))
        counts = (len(terms), len(self.terms), len(self.passages), len(self), _WIDTH)
        return _HEADER.pack(_MAGIC, *counts) + body + terms

    @classmethod
    def from_bytes(cls, data: bytes | memoryview) -> Inverted | None:
        """Read the stored form; None when it is cut, or from another machine or version."""
        if len(data) < _HEADER.size:
            return None
        magic, text, count, postings, size, width = _HEADER.unpack_from(data)
        sizes = [count + 1, postings, size, size]
        layout = [("I", number) for number in sizes] + [("H", postings)] * 2
        wide = sum(number * (width if code == "I" else 2) for code, number in layout)
        if magic != _MAGIC or width != _WIDTH or len(data) != _HEADER.size + wide + text:
            return None
        view = memoryview(data)[_HEADER.size :]
        columns: list[Sequence[int]] = []
        at = 0
        for code, number in layout:
            end = at + number * (width if code == "I" else 2)
            columns.append(view[at:end].cast("I") if code == "I" else view[at:end].cast("H"))
            at = end
        starts, passages, titles, bodies, in_title, in_body = columns
        terms = str(view[wide:], "utf-8").split("\n") if count else []
        return cls(terms, starts, passages, in_title, in_body, titles, bodies)


def build(counted: Iterable[tuple[Counter[str], Counter[str]]]) -> Inverted:
    """The index of passages given as (title counts, body counts), numbered in the order given."""
    found: dict[str, list[int]] = {}
    titles, bodies = array("I"), array("I")
    for number, (title, body) in enumerate(counted):
        titles.append(title.total())
        bodies.append(body.total())
        for term, count in body.items():
            found.setdefault(term, []).extend((number, min(title.get(term, 0), _MOST), min(count, _MOST)))
        for term, count in title.items():
            if term not in body:
                found.setdefault(term, []).extend((number, min(count, _MOST), 0))
    return _pack(found, titles, bodies)


def revise(
    old: Inverted, keep: Sequence[int], counted: Iterable[tuple[Counter[str], Counter[str]]]
) -> Inverted:
    """The index of some passages of `old` (in the order of `keep`), then new ones; counts nothing again."""
    number_of = [-1] * len(old)
    for new, was in enumerate(keep):
        number_of[was] = new
    added = build(counted)
    found: dict[str, list[int]] = {}
    for at, term in enumerate(old.terms):
        row: list[int] = []
        for posting in range(old.starts[at], old.starts[at + 1]):
            number = number_of[old.passages[posting]]
            if number >= 0:
                row += (number, old.in_title[posting], old.in_body[posting])
        if row:
            found[term] = row
    for at, term in enumerate(added.terms):
        row = found.setdefault(term, [])
        for posting in range(added.starts[at], added.starts[at + 1]):
            row += (len(keep) + added.passages[posting], added.in_title[posting], added.in_body[posting])
    titles = array("I", (old.title_lengths[was] for was in keep)) + array("I", added.title_lengths)
    bodies = array("I", (old.body_lengths[was] for was in keep)) + array("I", added.body_lengths)
    return _pack(found, titles, bodies)


def _pack(found: dict[str, list[int]], titles: array[int], bodies: array[int]) -> Inverted:
    terms = sorted(found)
    starts, flat = array("I", [0]), array("I")
    for term in terms:
        flat.extend(found[term])
        starts.append(len(flat) // 3)
    return Inverted(terms, starts, flat[0::3], array("H", flat[1::3]), array("H", flat[2::3]), titles, bodies)
