"""Decision records of a goal: `## D-001 — Title` with fields, as Markdown (C13). Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from muniment.documents.sections import MAX_LINE, Section, outline, plain
from muniment.errors import Problem

_HEADING = re.compile(r"(D-\d{1,6})\b[\s:.—\u2013-]*(.*)$")
_FIELD = re.compile(
    r"[ \t]*(?:[-*+][ \t]+)?(?:\*\*|__)?([A-Za-z][A-Za-z -]{1,30}?)(?:\*\*|__)?[ \t]*:"
    r"(?:\*\*|__)?(?:[ \t]+(.*)|)$"
)
_REFERENCE = re.compile(r"(?:[a-z0-9-]+[/:])?\bM\d+(?:\.\d+)*\b|\bD-\d+\b")
_ITEM = re.compile(r"[ \t]*(?:[-*+]|\d{1,9}[.)]|\|)[ \t]")

FIELDS = frozenset(
    {"category", "decided", "alternatives", "reasoning", "revisit if", "used by", "status", "date"}
)
NOTHING = frozenset({"", "-", "\u2013", "—", "none", "n/a", "nothing", "no one", "nobody"})
"""Words that say a list is empty."""


@dataclass(frozen=True, slots=True)
class Reference:
    """A name of something elsewhere, and the line it stands on."""

    name: str
    line: int


@dataclass(frozen=True, slots=True)
class DecisionRecord:
    """One decision; a field that isn't there is empty.

    Attributes:
        id: `D-` and digits.
        line: 1-based line of its heading.
        text: All of its text, for matching.
        used_by: Stories or milestones that build on it.
    """

    id: str
    title: str
    line: int
    text: str
    category: str = ""
    decided: str = ""
    alternatives: str = ""
    reasoning: str = ""
    revisit_if: str = ""
    used_by: tuple[Reference, ...] = ()


def parse(text: str, path: str) -> tuple[tuple[DecisionRecord, ...], tuple[Problem, ...]]:
    """The decision records of a document, and a problem for every id that stands twice."""
    records: list[DecisionRecord] = []
    problems: list[Problem] = []
    first_line: dict[str, int] = {}
    sections = outline(text).sections
    for at, section in enumerate(sections):
        match = _HEADING.match(section.title) if section.level else None
        if not match:
            continue
        inner = [section]
        for below in sections[at + 1 :]:
            if below.level <= section.level:
                break
            inner.append(below)
        record = _record(match[1], match[2].strip(), section.line, fields_of(inner), inner[0].text)
        records.append(record)
        if record.id in first_line:
            where = first_line[record.id]
            problems.append(
                Problem(path, record.line, "decision-twice", f"{record.id} stands already on line {where}.")
            )
        first_line.setdefault(record.id, record.line)
    return tuple(records), tuple(problems)


def _record(
    name: str, title: str, line: int, fields: Mapping[str, tuple[int, str]], text: str
) -> DecisionRecord:
    def value(key: str) -> str:
        return fields.get(key, (0, ""))[1]

    return DecisionRecord(
        id=name,
        title=title or value("decided")[:120],
        line=line,
        text="\n".join(dict.fromkeys((text, *(found for _, found in fields.values())))),
        category=value("category"),
        decided=value("decided"),
        alternatives=value("alternatives"),
        reasoning=value("reasoning"),
        revisit_if=value("revisit if"),
        used_by=references(*fields.get("used by", (0, ""))),
    )


def fields_of(sections: list[Section], known: frozenset[str] = FIELDS) -> dict[str, tuple[int, str]]:
    """`name: value` lines and `### Name` sub-sections → (line, value).

    A value runs on over the lines below: of a sub-section all of them, of a line those up to a blank one or,
    when it has a value already, to the next list item. Only known names are fields; a name's first counts.
    """
    found: dict[str, tuple[int, list[str]]] = {}
    current: list[str] = []
    whole = False
    for line, text, heading in _lines(sections):
        match = None if heading else _FIELD.match(text[:MAX_LINE])
        name = (text if heading else match[1] if match else "").strip().lower().rstrip(":")
        if name in known or heading:
            current = [match[2] or ""] if match else []
            whole = heading
            found.setdefault(name, (line, current))
        elif not whole and any(current) and (not text.strip() or _ITEM.match(text)):
            current = []
            whole = True  # what follows belongs to no field
        else:
            current.append(text)
    return {name: (line, plain("\n".join(value))) for name, (line, value) in found.items() if name in known}


def _lines(sections: list[Section]) -> Iterator[tuple[int, str, bool]]:
    for at, section in enumerate(sections):
        if at:
            yield section.line, section.title, True
        for number, line in enumerate(section.text.split("\n"), start=section.start):
            yield number, line, False


def references(line: int, text: str) -> tuple[Reference, ...]:
    """The names in a value: every id, and any other word between commas; words that say "none" give none."""
    names: list[str] = []
    for part in re.split(r"[,;]|\band\b", text):
        word = plain(part).strip(" .()[]")
        if word.lower() not in NOTHING:
            names += _REFERENCE.findall(word) or [word[:60]]
    return tuple(Reference(name, line) for name in dict.fromkeys(names))
