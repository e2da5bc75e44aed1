"""What can be found, as passages: parts of documents, statements, findings, subjects, commits. Pure."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from muniment.documents.reading import Document, Kind, Statement, short_title
from muniment.documents.stages import Layout, Stage, Standing
from muniment.relate.place import Passage, Place, exact_term
from muniment.relate.text import terms

PART_TERMS = 1_500
"""A document longer than twice this is searched in parts of about this many terms, cut at headings."""
MESSAGE_CHARS = 4_000
PATHS_SHOWN = 30

_TRAILER = re.compile(r"^(?:[A-Z][A-Za-z]*(?:-[A-Za-z]+)+|Cc|Fixes|Closes): \S.*$", re.MULTILINE)
_TYPES = {
    Kind.LIMITATION: "decision",
    Kind.DECISION: "decision",
    Kind.INSTRUCTION: "decision",
    Kind.STORY: "story",
    Kind.PENDING: "pending",
}


def of_document(document: Document) -> Iterator[Passage]:
    """A document as a whole, or in parts when it is long."""
    title = terms(document.title)
    body: Counter[str] = Counter()
    line = document.line
    size = 0
    parts: list[tuple[int, Counter[str]]] = []
    for section in document.sections:
        counted = (
            terms(section.text)
            if section.title == document.title
            else terms(f"{section.title}\n{section.text}")
        )
        if size >= PART_TERMS:
            parts.append((line, body))
            body, line, size = Counter(), section.line, 0
        body.update(counted)
        size += counted.total()
    parts.append((line, body))
    if sum(counted.total() for _, counted in parts) <= 2 * PART_TERMS:
        whole: Counter[str] = Counter()
        for _, counted in parts:
            whole.update(counted)
        parts = [(document.line, whole)]
    for first, counted in parts:
        if counted or title:
            place = Place(
                "doc", document.path, first, document.title, document.stage, document.stage.standing
            )
            yield Passage(place, title, counted)


def of_statements(document: Document) -> Iterator[Passage]:
    """Each statement of a document."""
    for statement in document.statements:
        place = Place(
            _TYPES[statement.kind],
            document.path,
            statement.line,
            statement.title,
            document.stage,
            statement.standing,
        )
        yield Passage(place, terms(statement.title), terms(_statement_text(document, statement)))


def _statement_text(document: Document, statement: Statement) -> str:
    around = statement.context or document.title
    return f"{statement.text}\n{around}"


def of_report(data: bytes, path: str) -> Iterator[Passage]:
    """Each finding of a report's JSON; nothing when it is no report."""
    try:
        report: Any = json.loads(data)
    except (ValueError, RecursionError):
        return
    findings = report.get("findings") if isinstance(report, dict) else None
    text = data.decode("utf-8", "replace")
    at = 0
    for finding in findings if isinstance(findings, list) else ():
        if not isinstance(finding, dict):
            continue
        name, wrong, better, excerpt, fingerprint = (
            _text(finding.get(key))
            for key in ("id", "what_went_wrong", "proposed_improvement", "excerpt", "fingerprint")
        )
        found = text.find(json.dumps(name), at) if name else -1
        at = found if found >= 0 else at
        title = short_title(wrong)
        place = Place(
            "report",
            path,
            text.count("\n", 0, at) + 1,
            title,
            Stage.REVIEWS,
            Standing.EARLIER_REVIEW,
            fingerprint=fingerprint,
        )
        named = terms(title) + Counter([exact_term(fingerprint)] if fingerprint else [])
        slug = fingerprint.rpartition("/")[2].replace("-", " ")
        yield Passage(place, named, terms(f"{wrong}\n{better}\n{excerpt}\n{slug}"))


@dataclass(frozen=True, slots=True)
class SubjectText:
    """What the ledger says about one canonical subject.

    Attributes:
        names: Its fingerprint and every alias.
        titles: Titles of its findings, newest first.
        reasons: Reasons of its decisions.
        status: The folded status word.
        decided: Whether a decision stands.
    """

    fingerprint: str
    names: tuple[str, ...]
    titles: tuple[str, ...]
    reasons: tuple[str, ...]
    status: str
    decided: bool
    path: str
    line: int


def of_subject(subject: SubjectText) -> Passage:
    """A ledger subject, found by its names exactly and by its words."""
    slugs = [name.rpartition("/")[2].replace("-", " ") for name in subject.names]
    title = subject.titles[0] if subject.titles else slugs[0]
    place = Place(
        "ledger",
        subject.path,
        subject.line,
        title,
        subject.status,
        Standing.DECISION if subject.decided else Standing.OPEN,
        fingerprint=subject.fingerprint,
    )
    named = terms(title) + Counter(exact_term(name) for name in subject.names)
    return Passage(place, named, terms("\n".join((*subject.titles, *slugs, *subject.reasons))))


def of_commit(oid: str, message: str, paths: Iterable[str], layout: Layout) -> Passage | None:
    """A commit, found by its message and the names of what it touches.

    None for one that touches only documents, records and plans: filing a bug is not landed work.
    """
    touched = tuple(paths)
    if touched and all(is_record(path, layout) for path in touched):
        return None
    subject, _, body = message[:MESSAGE_CHARS].partition("\n")
    named = [path for path in touched if not is_record(path, layout)][:PATHS_SHOWN]
    place = Place(
        "commit", named[0] if named else "", 0, subject.strip(), Stage.HISTORY, Standing.LANDED, oid
    )
    words = "\n".join((_TRAILER.sub("", body), *(path.replace("/", " ") for path in named)))
    return Passage(place, terms(subject), terms(words))


def is_record(path: str, layout: Layout) -> bool:
    """Whether a path holds documents in stages, records, plans or settings, and not the product itself."""
    stage = layout.stage_of(path)
    if stage is not None:
        return stage not in {Stage.REFERENCE, Stage.INSTRUCTIONS}
    owned = (f"{layout.reviews}/", ".muniment/")
    return path in {layout.plan, layout.state} or path.startswith(owned)


def _text(value: object) -> str:
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else ""
