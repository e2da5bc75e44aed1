"""A document cut into sections and blocks by a line scanner: no Markdown parser on the way of `relate`.

Pure. The scanner knows front matter, headings (`#` and underlined), fences and HTML comments; what it gets
wrong in odd corners of Markdown only shifts where a match is shown, and changes no file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from muniment.documents.stages import MAX_DOCUMENT

MAX_LINE = 2_000
"""Characters of one line that can be a heading, a list item or a field; bounds the work on hostile lines."""
MAX_BLOCK = 4_000
"""Characters of one block that are kept."""
MAX_BLOCKS = 2_000
"""Blocks of one document that can become results of their own."""

_ATX = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*$")
_UNDERLINE = re.compile(r" {0,3}(={2,}|-{2,})[ \t]*$")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)$")
_ITEM = re.compile(r"([ \t]*)(?:[-*+]|\d{1,9}[.)])[ \t]+(.*)$")
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_TABLE_RULE = re.compile(r"[ \t]*\|?[ \t:|-]+\|[ \t:|-]*$")
_FRONT_FIELD = re.compile(r"([A-Za-z][\w-]*)[ \t]*:[ \t]*(.+?)[ \t]*$")
_LINK = re.compile(
    r"!?\[([^\[\]\n]{0,300})\](?:\([^()\s]{0,300}(?:[ \t]+\"[^\"\n]{0,300}\")?\)|\[[^\[\]\n]{0,300}\])"
)
_EMPHASIS = re.compile(r"[*`~]+|(?<!\w)_+|_+(?!\w)")


@dataclass(frozen=True, slots=True)
class Section:
    r"""A heading and the text below it, up to the next heading of any level.

    Attributes:
        line: 1-based line of the heading; of the first line for text before any heading.
        level: 1 to 6, or 0 for text before any heading.
        title: The heading's text without emphasis marks; empty at level 0.
        text: The lines below, comments blanked out, `\n` between them.
        start: 1-based line of the first of them.
    """

    line: int
    level: int
    title: str
    text: str
    start: int


@dataclass(frozen=True, slots=True)
class Block:
    """One list item (with what is nested in it), paragraph or table row."""

    line: int
    text: str


@dataclass(frozen=True, slots=True)
class Outline:
    """A document's title, plain front-matter fields, and sections in order."""

    title: str
    line: int
    sections: tuple[Section, ...]
    front: Mapping[str, str] = field(default_factory=dict)

    def walk(self) -> Iterator[tuple[Section, tuple[str, ...]]]:
        """Each section with the titles of those that it lies in, outermost first, its own last."""
        around: list[Section] = []
        for section in self.sections:
            while around and around[-1].level >= section.level:
                around.pop()
            if section.level:
                around.append(section)
            yield section, tuple(above.title for above in around)


def outline(text: str, fallback_title: str = "") -> Outline:
    """Cut a document into sections; at most `MAX_DOCUMENT` characters are read."""
    lines = _plain_lines(text)
    front, first = _front_matter(lines)
    sections = tuple(_sections(lines, first))
    headed = next((section for section in sections if section.level == 1), None)
    headed = headed or next((section for section in sections if section.level), None)
    title = front.get("title", "").strip("\"'") or (headed.title if headed else "") or fallback_title
    return Outline(title, headed.line if headed else 1, sections, front)


def blocks(section: Section) -> Iterator[Block]:
    """The list items, paragraphs and table rows of a section; a nested item belongs to its parent."""
    group: list[str] = []
    began = 0
    for number, line in enumerate(section.text.split("\n"), start=section.start):
        line = line[:MAX_LINE]  # noqa: PLW2901 - a bound, not another value
        if "|" in line and _TABLE_RULE.match(line):
            group = []  # the row above was the table's head
            continue
        if group and _begins_block(line, group[0], group[-1]):
            yield Block(began, plain("\n".join(group)))
            group = []
        if not group and not line.strip():
            continue
        began = began if group else number
        group.append(line)
    if group:
        yield Block(began, plain("\n".join(group)))


def _begins_block(line: str, first: str, last: str) -> bool:
    """Whether a line starts a new block after one with these first and last lines."""
    in_item = bool(_ITEM.match(first))
    if not line.strip():
        return not in_item
    if line.lstrip().startswith("|") or first.lstrip().startswith("|"):
        return True
    deeper = _indent(line) > _indent(first)
    if _ITEM.match(line):
        return not (in_item and deeper)
    return in_item and not last.strip() and not deeper


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def plain(text: str) -> str:
    """Markdown's inline marks and bullets dropped, links kept by their words, on one line."""
    text = _LINK.sub(r"\1", text[:MAX_BLOCK])
    kept = (
        re.sub(r"^[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?", "", line)
        for line in text.split("\n")
    )
    return " ".join(_EMPHASIS.sub("", " ".join(kept)).replace("|", " ").split())


def _plain_lines(text: str) -> list[str]:
    text = text[:MAX_DOCUMENT].removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    if "<!--" in text:
        text = _COMMENT.sub(lambda match: "\n" * match[0].count("\n"), text)
    return text.split("\n")


def _front_matter(lines: list[str]) -> tuple[dict[str, str], int]:
    """The plain `key: value` lines of YAML front matter, and the index of the first line after it."""
    if not lines or lines[0].rstrip() != "---":
        return {}, 0
    for at in range(1, min(len(lines), 500)):
        if lines[at].rstrip() in {"---", "..."}:
            found = (_FRONT_FIELD.match(line[:MAX_LINE]) for line in lines[1:at])
            return {match[1].lower(): match[2] for match in found if match}, at + 1
    return {}, 0


def _sections(lines: list[str], first: int) -> Iterator[Section]:
    fence = ""
    line, level, title, start = first + 1, 0, "", first
    for at in range(first, len(lines)):
        text = lines[at]
        fence, inside = _fence_after(text, fence)
        if inside:
            continue
        heading = _heading(lines, at, start)
        if heading is None:
            continue
        above = at - 1 if heading[2] else at
        body = "\n".join(lines[start:above])
        if level or body.strip():
            yield Section(line, level, title, body, start + 1)
        line, level, title, start = above + 1, heading[0], plain(heading[1]), at + 1
    body = "\n".join(lines[start:])
    if level or body.strip():
        yield Section(line, level, title, body, start + 1)


def _fence_after(text: str, fence: str) -> tuple[str, bool]:
    """The fence that is open after a line, and whether the line belongs to a fenced block."""
    match = _FENCE.match(text[:MAX_LINE]) if "`" in text or "~" in text else None
    if not fence:
        opens = match and not (match[1][0] == "`" and "`" in match[2])
        return (match[1], True) if match and opens else ("", False)
    closes = match and match[1].startswith(fence) and not match[2].strip()
    return ("" if closes else fence), True


def _heading(lines: list[str], at: int, start: int) -> tuple[int, str, bool] | None:
    """Level, text and whether it is underlined, when line `at` makes a heading."""
    text = lines[at][:MAX_LINE]
    if "#" in text[:4]:
        match = _ATX.match(text)
        return (len(match[1]), match[2] or "", False) if match else None
    if at == start or not _UNDERLINE.match(text):
        return None
    above = lines[at - 1][:MAX_LINE]
    if not above.strip() or _ITEM.match(above) or above.lstrip().startswith((">", "|", "#")):
        return None
    if at - 2 >= start and lines[at - 2].strip():
        return None  # the last line of a paragraph of several: seldom meant as a heading
    return (1 if "=" in text else 2), above.strip(), True
