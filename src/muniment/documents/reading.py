"""One document read: its sections, and the single lines in it that decide, limit, plan or wait. Pure.

Such a line is a *statement*: a decision record, a roadmap story, a line of the pending-verification page, an
owner's instruction to agents, or a line saying that something is out of scope, accepted or left as it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from muniment.documents import decisions, roadmap
from muniment.documents.sections import MAX_BLOCKS, Outline, Section, blocks, outline
from muniment.documents.stages import MAX_DOCUMENT, Stage, Standing
from muniment.errors import Problem

TITLE_CHARS = 120

_LIMITING_SECTION = re.compile(
    r"\b(?:residuals?|out[ -]of[ -]scope|not in scope|(?:known |accepted |current )?limitations?"
    r"|known (?:issues?|gaps?)"
    r"|non[ -]?goals?|won'?t[ -]?(?:fix|do)|will not (?:fix|do)|not planned|deliberately not"
    r"|accepted(?: as (?:it )?is| for now"
    r"| (?:residuals?|risks?|trade-?offs?|behaviou?rs?|gaps?|losses|costs?|debts?|deviations?))"
    r")\b|^accepted$",
    re.IGNORECASE,
)
_LIMITING_LINE = re.compile(
    r"(?:residuals?(?: risks?)?|out[ -]of[ -]scope|(?:known |accepted )?limitations?|non[ -]?goals?"
    r"|not planned|won'?t[ -]?fix|accepted"
    r"(?: as (?:it )?is| residual| risk| trade-?off| limitation| for now)?)[ \t]?[:—\u2013]",
    re.IGNORECASE,
)
_LIMITING_WORDS = ("residual", "scope", "limitation", "goal", "not planned", "wont", "won't", "accepted")
_DONE = re.compile(r"[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+\[[xX]\][ \t]")
_SENTENCE_END = re.compile(r"(?<=[.!?。！？])\s+|(?<=[。！？])")  # noqa: RUF001 - full stops of other scripts


class Kind(StrEnum):
    """What a statement is."""

    LIMITATION = "limitation"
    DECISION = "decision"
    STORY = "story"
    PENDING = "pending"
    INSTRUCTION = "instruction"


@dataclass(frozen=True, slots=True)
class Statement:
    """One line or record of a document.

    Attributes:
        id: `D-001` or `M1.2` where it has one; empty otherwise.
        context: Titles of the sections around it, for matching and for people.
    """

    kind: Kind
    line: int
    title: str
    text: str
    standing: Standing
    id: str = ""
    context: str = ""


@dataclass(frozen=True, slots=True)
class Document:
    """A document's whole reading.

    Attributes:
        sections: All sections, except those that are statements as a whole.
        statements: The single lines and records, by line.
        truncated: Whether the document is longer than what is read.
    """

    path: str
    stage: Stage
    title: str
    line: int
    sections: tuple[Section, ...]
    statements: tuple[Statement, ...]
    roadmap: roadmap.Roadmap | None = None
    records: tuple[decisions.DecisionRecord, ...] = ()
    problems: tuple[Problem, ...] = ()
    truncated: bool = False


def read_document(path: str, stage: Stage, text: str) -> Document:
    """Read one document; at most `MAX_DOCUMENT` characters of it count."""
    name = path.rsplit("/", 1)[-1].rsplit(".", 1)[0]
    shape = outline(text, fallback_title=name.replace("-", " ").replace("_", " "))
    text = text[:MAX_DOCUMENT]
    problems: tuple[Problem, ...] = ()
    plan: roadmap.Roadmap | None = None
    records: tuple[decisions.DecisionRecord, ...] = ()
    statements = list(_limitations(shape))
    sections = shape.sections
    if stage is Stage.ROADMAP:
        plan, problems = roadmap.parse(text, path)
        statements += _stories(plan)
        taken = {story.line for story in plan.stories}
        sections = tuple(section for section in sections if section.line not in taken)
    elif stage is Stage.DECISIONS:
        records, problems = decisions.parse(text, path)
        statements += _records(records)
        sections = () if records else sections
    elif stage is Stage.PENDING:
        statements, sections = list(_pending(shape)), ()
    elif stage is Stage.INSTRUCTIONS:
        statements, sections = list(_instructions(shape)), ()
    return Document(
        path=path,
        stage=stage,
        title=shape.title,
        line=shape.line,
        sections=sections,
        statements=tuple(sorted(statements, key=lambda found: found.line)[:MAX_BLOCKS]),
        roadmap=plan,
        records=records,
        problems=problems,
        truncated=len(text) == MAX_DOCUMENT,
    )


def short_title(text: str) -> str:
    """The first sentence of a text, at most `TITLE_CHARS` characters, cut at a word."""
    first = next((part for part in _SENTENCE_END.split(" ".join(text[:2000].split()), 1) if part), "")
    if len(first) <= TITLE_CHARS:
        return first
    cut = first[: TITLE_CHARS - 1]
    return (cut.rsplit(" ", 1)[0] if " " in cut[60:] else cut) + "…"


def _limitations(shape: Outline) -> Iterator[Statement]:
    """The blocks of limiting sections, and limiting lines anywhere."""
    for section, around in shape.walk():
        limiting = any(_LIMITING_SECTION.search(title) for title in around)
        if not limiting and not _may_limit(section.text.lower()):
            continue
        for block in blocks(section):
            if limiting or _LIMITING_LINE.match(block.text):
                yield _statement(Kind.LIMITATION, block.line, block.text, around, Standing.DECISION)


def _may_limit(text: str) -> bool:
    """Whether a lower-case text may hold a limiting line: most don't, and looking for one is slow."""
    return any(word in text for word in _LIMITING_WORDS)


def _pending(shape: Outline) -> Iterator[Statement]:
    """Lines that wait for proof; a ticked one has landed."""
    for section, around in shape.walk():
        lines = section.text.split("\n")
        for block in blocks(section):
            first = lines[block.line - section.start]
            if first.lstrip().startswith(("-", "*", "+", "|")) or first.lstrip()[:1].isdigit():
                standing = Standing.LANDED if _DONE.match(first) else Standing.PENDING
                yield _statement(Kind.PENDING, block.line, block.text, around, standing)


def _instructions(shape: Outline) -> Iterator[Statement]:
    for section, around in shape.walk():
        for block in blocks(section):
            yield _statement(Kind.INSTRUCTION, block.line, block.text, around, Standing.DECISION)


def _statement(kind: Kind, line: int, text: str, around: tuple[str, ...], standing: Standing) -> Statement:
    return Statement(kind, line, short_title(text), text, standing, context=" / ".join(around))


def _stories(plan: roadmap.Roadmap) -> Iterator[Statement]:
    milestones = {milestone.id: milestone.title for milestone in plan.milestones}
    for story in plan.stories:
        done = story.status is roadmap.StoryStatus.DONE
        yield Statement(
            Kind.STORY,
            story.line,
            f"{story.id} {story.title}".strip(),
            f"{story.slug.replace('-', ' ')}\n{story.text}",
            Standing.LANDED if done else Standing.OPEN,
            id=story.id,
            context=milestones.get(story.milestone, ""),
        )


def _records(records: tuple[decisions.DecisionRecord, ...]) -> Iterator[Statement]:
    for record in records:
        title = f"{record.id} {record.title}".strip()
        yield Statement(Kind.DECISION, record.line, title, record.text, Standing.DECISION, id=record.id)
