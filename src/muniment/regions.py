"""Machine-owned and human-owned regions of a Markdown document: find, digest, replace, salvage (G2, G3).

A region stands between two comment lines of its own, `<!-- NAME:start -->` and `<!-- NAME:end -->`. They
count only as top-level comments: never inside a code block, an HTML block, a quote or a list. The end
marker of a machine-owned region carries `sha256=` and 16 hex digits over the region's *reading*, so a
formatter is not a hand edit and a changed word is one. Everything here is pure; outside the span that
is replaced, every character stays as it is.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass

from muniment import markdown
from muniment.errors import Problem, Refused
from muniment.markdown import Leaf
from muniment.quoting import inline_text, untrusted_block

__all__ = [
    "HUMAN",
    "MACHINE",
    "Region",
    "append_under_heading",
    "find",
    "inline_text",
    "insert_before",
    "leaves_digest",
    "reading_digest",
    "replace",
    "salvage",
    "salvage_markdown",
    "texts",
    "untrusted_block",
]

MACHINE = frozenset({"sweep-items"})
"""Names of machine-owned regions that Muniment writes."""
HUMAN = frozenset({"human-notes"})
"""Names of human-owned regions; Muniment only ever appends what it salvaged."""

_DIGEST = re.compile(r"\bsha256=([0-9a-f]{16})(?![0-9a-fA-F])")
_FENCE_WORDS = {"": "text", "def": "markdown"}


@dataclass(frozen=True, slots=True)
class Region:
    """One region of a text; offsets count its characters.

    Attributes:
        name: The markers' name.
        start: Where the start marker begins.
        body_start: Just after the start marker's line.
        body_end: Where the end marker begins.
        end: Just after the end marker's `-->`.
        body: What stands between the markers' lines.
        digest: The end marker's digest; "" when it has none (or no readable one).
        line: The start marker's line.
        end_line: The end marker's line.
    """

    name: str
    start: int
    body_start: int
    body_end: int
    end: int
    body: str
    digest: str
    line: int
    end_line: int


@dataclass(frozen=True, slots=True)
class _Marker:
    name: str
    opens: bool
    start: int
    end: int
    next_line: int
    digest: str
    line: int


def find(
    text: str, path: str, names: Collection[str] = MACHINE | HUMAN
) -> tuple[tuple[Region, ...], tuple[Problem, ...]]:
    """The regions with these names, in order, and what is wrong with their markers.

    With any problem the regions returned are those that are whole; a writer must not use them.

    Args:
        text: The document, newlines as they are.
        path: Its path, for the problems.
        names: Names that count; another tool's markers don't.
    """
    regions: list[Region] = []
    problems: list[Problem] = []
    opened: _Marker | None = None
    for marker in _markers(text, names):
        if marker.opens and opened:
            problems.append(_problem(path, marker, "nested", f"inside `{opened.name}` (line {opened.line})"))
        elif marker.opens and any(region.name == marker.name for region in regions):
            problems.append(_problem(path, marker, "repeated", "although there was one before"))
            opened = marker
        elif marker.opens:
            opened = marker
        elif opened is None or opened.name != marker.name:
            problems.append(_problem(path, marker, "unbalanced", "without its start"))
        else:
            regions.append(_region(text, opened, marker))
            opened = None
    if opened:
        problems.append(_problem(path, opened, "unbalanced", "without its end"))
    return tuple(regions), tuple(problems)


def replace(text: str, region: Region, body: str, digest: str = "") -> str:
    """The text with a region's body replaced, and its end marker's digest if one is given.

    Args:
        text: The text that `region` was found in.
        region: The region.
        body: New Markdown with LF endings; it is written in the line ending of the region's marker,
            with a blank line on either side, as formatters want.
        digest: 16 hex digits, or "" for a region without one.
    """
    newline = _newline_before(text, region.body_start)
    inside = f"\n{body.strip(chr(10))}\n\n" if body.strip("\n") else "\n"
    attribute = f" sha256={digest}" if digest else ""
    marker = f"<!-- {region.name}:end{attribute} -->"
    return text[: region.body_start] + inside.replace("\n", newline) + marker + text[region.end :]


def reading_digest(body: str) -> str:
    """16 hex digits over how a body reads: its text, order and nesting (see docs/design/regions.md)."""
    return leaves_digest(markdown.fragment_leaves(body))


def leaves_digest(leaves: Iterable[Leaf]) -> str:
    """`reading_digest` of a body whose leaf blocks are known."""
    digest = hashlib.sha256()
    for leaf in leaves:
        record = "\x1d".join(("/".join(leaf.path), leaf.kind, leaf.text)) + "\x1e"
        digest.update(record.encode("utf-8", "surrogatepass"))
    return digest.hexdigest()[:16]


def salvage(
    body: str, known: Collection[str], *, explained: Callable[[Leaf], bool] = lambda _leaf: False
) -> tuple[Leaf, ...]:
    """The leaves of a hand-edited body that nobody else keeps, in reading order.

    Code counts by line, every other block as a whole, so that one edited word gives one leaf.

    Args:
        body: The region's body as found.
        known: Texts of the last rendering and of the new one (code: of each line).
        explained: Whether something else accounts for a leaf.
    """
    kept = []
    for leaf in markdown.fragment_leaves(body):
        if leaf.kind == "code":
            lines = [line for line in leaf.text.split("\n") if line.strip() and line.strip() not in known]
            if lines and not explained(leaf):
                text = "\n".join(lines)
                info = leaf.raw.partition("\n")[0]
                kept.append(Leaf(leaf.path, leaf.kind, text, f"{info}\n{text}", leaf.line, leaf.end))
        elif leaf.text and leaf.text not in known and not explained(leaf):
            kept.append(leaf)
    return tuple(kept)


def texts(leaves: Iterable[Leaf]) -> frozenset[str]:
    """What `salvage` compares with: the text of each leaf, and of each line of code."""
    found: set[str] = set()
    for leaf in leaves:
        if leaf.kind == "code":
            found.update(line.strip() for line in leaf.text.split("\n"))
        else:
            found.add(leaf.text)
    return frozenset(found)


def salvage_markdown(leaves: Sequence[Leaf]) -> str:
    """Salvaged leaves as Markdown for a human-owned region.

    Quoted text stays in an untrusted block; the rest becomes one bullet each, code a code block.
    """
    blocks: list[str] = []
    quoted: list[str] = []
    for leaf in leaves:
        if leaf.quoted:
            quoted.append(leaf.text)
            continue
        if quoted:
            blocks.append(untrusted_block("\n\n".join(quoted)))
            quoted = []
        blocks.append(_salvaged(leaf))
    if quoted:
        blocks.append(untrusted_block("\n\n".join(quoted)))
    return "\n\n".join(blocks)


def append_under_heading(text: str, heading: str, block: str) -> str:
    """The text with a block appended under a heading, everything else byte for byte as it was.

    The heading is found by what it reads, at any level, outside quotes, code and machine-owned regions;
    the block goes to the end of its section. Without it, the heading is added at the document's end at
    the level of the document's sections. Line endings, BOM and a missing final newline are kept.

    Args:
        text: The document.
        heading: The heading's words.
        block: Markdown with LF endings.

    Raises:
        Refused: The place lies inside a code or HTML block that is never closed, or markers are broken.
    """
    regions, problems = find(text, "the document")
    if problems:
        raise Refused(str(problems[0]), problems[0].fix, problems=problems)
    place = _place(text, heading, regions)
    words = block.strip("\n")
    if not place.found:
        words = f"{'#' * place.level} {inline_text(heading)}\n\n{words}"
    result, line = _insert(text, place.offset, words)
    old = markdown.leaves(text)
    last = len(markdown.lines_of(text[: place.offset]))
    above = sum(1 for leaf in old if 0 < leaf.line <= last)
    before = [_words(leaf) for leaf in old]
    added = [_words(leaf) for leaf in markdown.fragment_leaves(words)]
    after = [_words(leaf) for leaf in markdown.leaves(result)]
    expected = before[:above] + added + before[above:]
    if sorted(after) != sorted(expected) or after[: above + 1] != expected[: above + 1]:
        raise Refused(
            f"What would be appended at line {line} changes how the document reads.",
            "Close the code or HTML block before it, then run the command again. Nothing was written.",
        )
    return result


def insert_before(text: str, offset: int, block: str) -> str:
    """The text with a block after the last line before `offset` that isn't blank, a line of its own.

    Args:
        text: The document.
        offset: Where a line begins.
        block: Markdown with LF endings; it is written in the document's line ending.
    """
    lines = markdown.lines_of(text[:offset])
    while lines and not lines[-1].strip():
        del lines[-1]
    return _insert(text, sum(map(len, lines)), block)[0]


@dataclass(frozen=True, slots=True)
class _Place:
    found: bool
    offset: int
    level: int


def _place(text: str, heading: str, regions: Sequence[Region]) -> _Place:
    """Where a block under this heading goes: after the last line of its section that isn't blank."""
    lines = markdown.lines_of(text)
    machine = [region for region in regions if region.name not in HUMAN]
    headings = markdown.headings(text)
    marks = [mark for mark in headings if not _around(mark.line, machine)]
    found = next((mark for mark in marks if _plain(mark.text) == _plain(heading)), None)
    if found is None:
        end, level = len(lines), 2 if not marks or marks[0].level == 1 else marks[0].level
    else:
        level = found.level
        after = next((mark for mark in headings if mark.line > found.line and mark.level <= level), None)
        end = after.line - 1 if after else len(lines)
        closing = [region.end_line - 1 for region in _around(found.line, regions)]
        opening = [region.line - 1 for region in _around(after.line, machine)] if after else []
        end = min(end, *closing, *opening) if closing or opening else end
    while end and not lines[end - 1].strip(" \t\r\n\ufeff"):
        end -= 1
    return _Place(found is not None, sum(map(len, lines[:end])), level)


def _around(line: int, regions: Iterable[Region]) -> list[Region]:
    """The regions that a line lies in."""
    return [region for region in regions if region.line < line < region.end_line]


def _insert(text: str, offset: int, words: str) -> tuple[str, int]:
    """The text with a block on lines of its own at `offset`, a line's end; and the block's first line."""
    newline = markdown.newline_of(text)
    before, after = text[:offset], text[offset:]
    if not before and after.startswith("\ufeff"):
        before, after = "\ufeff", after[1:]
    lead = "" if before in {"", "\ufeff"} else newline
    if lead and not before.endswith(("\n", "\r")):
        lead += newline
    tail = newline
    if after.lstrip(" \t")[:1] not in {"", "\n", "\r"}:
        tail += newline
    if not after and before not in {"", "\ufeff"} and not before.endswith(("\n", "\r")):
        tail = ""
    line = len(markdown.lines_of(before + lead)) + 1
    return before + lead + words.replace("\n", newline) + tail + after, line


def _words(leaf: Leaf) -> tuple[str, str]:
    """A leaf without its place."""
    return leaf.kind, leaf.text


def _plain(heading: str) -> str:
    """A heading's words for comparison."""
    return " ".join(heading.split()).casefold().rstrip(":")


def _salvaged(leaf: Leaf) -> str:
    """One leaf that is no quote, as a block that reads the same."""
    if leaf.kind in {"code", "html", "def"}:
        info, _, code = leaf.raw.partition("\n") if leaf.kind == "code" else (leaf.kind, "", leaf.raw)
        mark = "~" if "`" in info else "`"
        fence = mark * max(3, 1 + max(map(len, re.findall(f"{mark}+", leaf.raw)), default=0))
        return f"{fence}{_FENCE_WORDS.get(info, info)}\n{code}\n{fence}"
    bullet = "- " + re.sub(r"[ \t\r\n]+", " ", leaf.raw)
    read = markdown.fragment_leaves(bullet)
    same = len(read) == 1 and (read[0].kind, read[0].text, read[0].path) == ("p", leaf.text, ("ul", "li*"))
    return bullet if same else "- " + inline_text(leaf.text.replace("\x1f", " "))


def _markers(text: str, names: Collection[str]) -> list[_Marker]:
    """The markers that count, in order."""
    pattern = re.compile(
        r"(?P<marker><!--[ \t]*(?P<name>"
        + "|".join(map(re.escape, sorted(names)))
        + r"):(?P<side>start|end)(?P<rest>(?:[ \t][^\r\n>]*?)?)[ \t]*-->)[ \t]*(?P<newline>\r\n|\r|\n|\Z)"
    )
    candidates = [match for match in pattern.finditer(text) if _begins_line(text, match.start())]
    if not candidates or not names:
        return []
    starts = markdown.html_starts(text)
    found = []
    position, line = (1 if text.startswith("\ufeff") else 0), 0
    for match in candidates:
        start = match.start("marker")
        if start not in starts:
            continue
        line += len(markdown.lines_of(text[position:start]))
        position = start
        digest = _DIGEST.search(match["rest"])
        found.append(
            _Marker(
                name=match["name"],
                opens=match["side"] == "start",
                start=start,
                end=match.end("marker"),
                next_line=match.end(),
                digest=digest[1] if digest else "",
                line=line + 1,
            )
        )
    return found


def _begins_line(text: str, offset: int) -> bool:
    """Whether a line begins at an offset; a BOM before the first one is no part of it."""
    return offset == 0 or text[offset - 1] in "\r\n" or (offset == 1 and text[0] == "\ufeff")


def _region(text: str, first: _Marker, last: _Marker) -> Region:
    """The region between two markers."""
    return Region(
        name=first.name,
        start=first.start,
        body_start=first.next_line,
        body_end=last.start,
        end=last.end,
        body=text[first.next_line : last.start],
        digest=last.digest,
        line=first.line,
        end_line=last.line,
    )


def _problem(path: str, marker: _Marker, rule: str, where: str) -> Problem:
    """A problem at a marker."""
    side = "start" if marker.opens else "end"
    return Problem(
        path,
        marker.line,
        f"region-{rule}",
        f"The marker `{marker.name}:{side}` stands here {where}.",
        "Restore the pair of marker lines from git, or remove the extra one; nothing was written.",
    )


def _newline_before(text: str, offset: int) -> str:
    """The line ending just before an offset."""
    if text[offset - 2 : offset] == "\r\n":
        return "\r\n"
    return text[offset - 1] if text[offset - 1] in "\r\n" else "\n"
