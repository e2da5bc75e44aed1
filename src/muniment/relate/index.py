"""Find what already covers a text: build, refresh and ask the cached index of a repository (G11).

The cache lies under the git folder, is replaced atomically, and is rebuilt in silence when damaged. Reading
writes nothing else (G15). As of a commit (`ws.commit`) the cache is read for what has the same content, and
never written.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace
from functools import cache
from itertools import islice
from pathlib import Path

from muniment.documents.catalogue_files import decode, read_file, tree_paths
from muniment.documents.stages import Layout, Stage
from muniment.errors import MunimentError, Problem
from muniment.files import atomic_write, read_bytes
from muniment.relate import index_files, index_history, index_sources
from muniment.relate.inverted import Inverted
from muniment.relate.place import Place, exact_term
from muniment.relate.rank import Hit, Query, Verdict, make_query, rank, worth_showing
from muniment.relate.shelf import Part, Shelf
from muniment.relate.text import terms
from muniment.workspace import Workspace

DOCUMENTS, RECORDS, HISTORY = "documents", "records", "history"
"""The cache's files, one a shelf."""
TITLE_CHARS = 200
"""A longer first line of a text is its title only up to here."""


@dataclass(frozen=True, slots=True)
class Related:
    """Something that may cover the text.

    Attributes:
        type: `doc`, `story`, `decision`, `pending`, `ledger`, `report` or `commit`.
        path: Repository-relative; for a commit a path that it touches, or empty.
        line: 1-based; 0 where there is none.
        stage: A `Stage`; for the ledger the subject's status word.
        status: A `Standing`.
        score: How sure the match is, 0 to 1; falls along the results.
        verdict: `duplicate`, `related` or `weak`.
        matched: The words that made it match, strongest first.
        commit: For a commit its id; for a document in the archive the commit that brought it there, if known.
        fingerprint: For the ledger the canonical fingerprint; for a report its finding's.
    """

    type: str
    path: str
    line: int
    title: str
    stage: str
    status: str
    score: float
    verdict: Verdict
    matched: tuple[str, ...]
    commit: str = ""
    fingerprint: str = ""

    def as_json(self) -> dict[str, object]:
        """The result in the contract's keys, and `commit` and `fingerprint`."""
        return {
            "type": self.type,
            "path": self.path,
            "line": self.line,
            "title": self.title,
            "stage": self.stage,
            "status": self.status,
            "score": self.score,
            "verdict": str(self.verdict),
            "matched": list(self.matched),
            "commit": self.commit,
            "fingerprint": self.fingerprint,
        }


@dataclass(frozen=True, slots=True)
class Relations:
    """The answer; `abstained` (then without results) says that nothing found is worth offering.

    Attributes:
        skipped: Files that could not be read, and other gaps in what was searched (G17, G18).
    """

    abstained: bool
    results: tuple[Related, ...]
    skipped: tuple[Problem, ...] = ()


@dataclass(frozen=True, slots=True)
class Index:
    """Everything that can be found in a repository, as it is now."""

    documents: Shelf
    records: Shelf
    history: Shelf
    skipped: tuple[Problem, ...] = ()

    @property
    def parts(self) -> tuple[Part, ...]:
        """The indexes that are asked: staged documents, statements, other texts, records, commits."""
        return (*self.documents.parts, *self.records.parts, *self.history.parts)


def relate(
    ws: Workspace,
    title: str,
    text: str,
    *,
    limit: int = 10,
    fingerprint: str | None = None,
    exclude: Collection[str] = (),
) -> Relations:
    """What may cover a text, best first, or an abstention.

    `fingerprint` finds the ledger's subject of that name or alias for certain. `exclude` holds paths that are
    no answer, such as the report that the text comes from.
    """
    return ask(ws, refresh(ws), title, text, limit=limit, fingerprint=fingerprint, exclude=exclude)


def ask(
    ws: Workspace,
    index: Index,
    title: str,
    text: str,
    *,
    limit: int = 10,
    fingerprint: str | None = None,
    exclude: Collection[str] = (),
    weak: bool = False,
) -> Relations:
    """`relate` against an index that is at hand: for many texts in a row.

    With `weak` everything that matches is listed, also when the answer abstains: for measuring a ranking.
    """
    query = make_query(title, text)
    asked = _Asked(ws, index, query, frozenset(exclude))
    certain = tuple(asked.exact(fingerprint)) if fingerprint else ()
    ranking = rank(query, asked.indexes, asked.title, asked.group, limit=limit + len(certain))
    best = ranking.hits[0] if ranking.hits else None
    offered = [hit for hit in ranking.hits if weak or (best and worth_showing(hit, best))]
    found = [asked.related(hit) for hit in offered if weak or not ranking.abstained]
    known = {(one.type, one.fingerprint) for one in certain}
    rest = [one for one in found if (one.type, one.fingerprint) not in known]
    abstained = ranking.abstained and not certain
    return Relations(abstained, (*certain, *rest)[:limit], index.skipped)


def search(ws: Workspace, text: str, *, limit: int, stage: str | None = None) -> Relations:
    """Documents and statements that hold words of a text, best first, weak ones too."""
    index = replace(refresh(ws), records=Shelf(), history=Shelf())
    query = make_query(*split_text(text))
    asked = _Asked(ws, index, query, frozenset())
    every = sum(len(part.index) for part in asked.parts)
    ranking = rank(query, asked.indexes, asked.title, asked.group, limit=every if stage else limit)
    hits = (hit for hit in ranking.hits if stage in {None, asked.place(hit.index, hit.passage).stage})
    results = tuple(asked.related(hit) for hit in islice(hits, limit))
    return Relations(not results, results, index.skipped)


def split_text(text: str) -> tuple[str, str]:
    """A text's first line as its title, and the rest."""
    first, _, rest = text.strip().partition("\n")
    first = first.strip().lstrip("#").strip()
    return (first, rest) if len(first) <= TITLE_CHARS else (first[:TITLE_CHARS], f"{first}\n{rest}")


class _Asked:
    """One question to an index."""

    def __init__(self, ws: Workspace, index: Index, query: Query, exclude: frozenset[str]) -> None:
        self.ws = ws
        self.index = index
        self.query = query
        self.exclude = exclude
        self.parts = index.parts

    @property
    def indexes(self) -> tuple[Inverted, ...]:
        return tuple(part.index for part in self.parts)

    def place(self, number: int, passage: int) -> Place:
        return self.parts[number].place(passage)

    def title(self, number: int, passage: int) -> str:
        return self.place(number, passage).title

    def group(self, number: int, passage: int) -> str:
        """Parts of one document, and reports of one fingerprint, are one result; an excluded one is none."""
        place = self.place(number, passage)
        if place.path in self.exclude:
            return ""
        if place.type == "doc":
            return place.path
        return f"{place.type}:{place.fingerprint or passage}"

    def exact(self, fingerprint: str) -> Iterator[Related]:
        """The ledger's subject of a fingerprint or alias; without one, the first report that has it."""
        term = exact_term(fingerprint)
        found: list[Place] = []
        for number, part in enumerate(self.parts):
            first, end = part.index.span(term)
            found += (self.place(number, part.index.passages[at]) for at in range(first, end))
        found = [place for place in found if place.path not in self.exclude]
        found.sort(key=lambda place: place.type != "ledger")
        for place in found[:1]:
            yield _result(place, 1.0, Verdict.DUPLICATE, (fingerprint,))

    def related(self, hit: Hit) -> Related:
        place = self.place(hit.index, hit.passage)
        if place.type == "doc":
            place = replace(place, line=_best_line(self.ws, place, self.query))
            if place.stage == Stage.ARCHIVE:
                place = replace(place, commit=index_history.landed_at(self.index.history, place.path))
        return _result(place, round(hit.sureness, 4), hit.verdict, hit.matched)


def _result(place: Place, score: float, verdict: Verdict, matched: tuple[str, ...]) -> Related:
    return Related(
        type=place.type,
        path=place.path,
        line=place.line,
        title=place.title,
        stage=place.stage,
        status=place.status,
        score=score,
        verdict=verdict,
        matched=matched,
        commit=place.commit,
        fingerprint=place.fingerprint,
    )


def _best_line(ws: Workspace, place: Place, query: Query) -> int:
    """The line of the section of a document that holds most of the query; the part's own when unsure."""
    from muniment.documents.sections import outline  # noqa: PLC0415 - only a document's result needs it

    data = read_file(ws, place.path)
    text = decode(place.path, data)[0] if isinstance(data, bytes) else None
    if text is None:
        return place.line
    best, line = 0.0, place.line
    for section in outline(text).sections:
        counted = terms(f"{section.title}\n{section.text}")
        score = sum(weight for term, weight in query.weights.items() if term in counted)
        if score > best:
            best, line = score, section.line
    return line


# The cache


def refresh(ws: Workspace) -> Index:
    """The index of the files and the history of `ws`; only what the cache doesn't know is read."""
    folder = _folder(ws)
    layout = Layout.of(ws.config)
    paths = tree_paths(ws, layout)
    keep = ws.commit is None
    started = cache(lambda: _file_time(folder) if keep else 0)  # at most once, when something is read

    def files(name: str, kind: index_files.Kind) -> Shelf:
        return _kept(folder / name, lambda old: index_files.refresh(ws, old, kind, started), write=keep)

    gaps: list[Problem] = []

    def history(old: Shelf) -> Shelf:
        shelf, found = index_history.refresh(ws, old)
        gaps.extend(found)
        return shelf

    documents = files(DOCUMENTS, index_sources.documents(layout, paths))
    records = files(RECORDS, index_sources.records(ws, layout, paths))
    landed = _kept(folder / HISTORY, history, write=keep)
    skipped = (*index_files.problems(documents), *index_files.problems(records), *gaps)
    return Index(documents, records, landed, skipped)


def drop(ws: Workspace) -> None:
    """Forget the cached index (`relate --rebuild`)."""
    for name in (DOCUMENTS, RECORDS, HISTORY):
        (_folder(ws) / name).unlink(missing_ok=True)


def _folder(ws: Workspace) -> Path:
    """One folder for each worktree of the clone, since their files differ."""
    name = hashlib.sha256(str(ws.root).encode("utf-8", "surrogateescape")).hexdigest()[:12]
    return ws.private / "cache" / "relate" / name


def _file_time(folder: Path) -> int:
    """Now, by the clock that stamps files there; 0 (trust no signature later) when nothing can be written."""
    stamp = folder / "stamp"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        stamp.write_bytes(b"")
        os.utime(stamp)
        return stamp.stat().st_mtime_ns
    except OSError:
        return 0


def _kept(path: Path, renew: Callable[[Shelf], Shelf], *, write: bool) -> Shelf:
    """A shelf read from its file, renewed, and with `write` written back when it changed."""
    try:
        old = Shelf.from_bytes(read_bytes(path)) or Shelf()
    except MunimentError:
        old = Shelf()
    new = renew(old)
    if write and new is not old:
        try:
            atomic_write(path, new.to_bytes())
        except MunimentError:
            return new  # a read-only git folder only costs the cache
    return new
