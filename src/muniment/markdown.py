r"""Markdown read as CommonMark: the only user of markdown-it-py.

Everything is `str` in, our own records out. Line numbers are 1-based, offsets count characters of the
text as given. Lines end where CommonMark says (`\n`, `\r\n`, `\r`), never at U+2028 and the like. Front
matter is no Markdown and is left out of every reading.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

from muniment import markdown_scan

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+\Z")
_FENCE_LINE = re.compile(r"---[ \t]*(?:\r\n|\r|\n|\Z)")
_START = r"(?:\A|(?<=\n)|(?<=\r)(?!\n))"
_FRONT_END = re.compile(_START + r"---[ \t]*(?:\r\n|\r|\n|\Z)")
_WHITE = re.compile(r"[ \t\n\r]+")
_CONTAINERS: Mapping[str, str] = {
    "bullet_list": "ul",
    "ordered_list": "ol",
    "list_item": "li",
    "blockquote": "quote",
}


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """The YAML block at a document's very start.

    Attributes:
        text: What stands between the two `---` lines.
        start: Offset of `text`.
        end: Offset just after the closing `---` line.
    """

    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading outside quotes, lists and code."""

    level: int
    text: str
    line: int


@dataclass(frozen=True, slots=True)
class Section:
    """A heading with what follows it, up to the next heading of its own level or a higher one.

    Attributes:
        heading: The heading; None for what stands before the first one.
        line: First line of the section.
        end: Last line of the section.
        text: The section's own text without subsections, heading line left out.
    """

    heading: Heading | None
    line: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Link:
    """A link or image, outside code."""

    target: str
    text: str
    line: int


@dataclass(frozen=True, slots=True)
class Leaf:
    """One leaf block as a reader sees it.

    Attributes:
        path: The containers around it, outermost first: `ul`, `ol`, `li`, `quote`; the first leaf of a
            list item has `li*` for that item.
        kind: `p`, `h1` … `h6`, `code`, `html`, `hr`, or `def` for a link definition.
        text: What is read: escapes resolved, white space runs made one space; code as it is.
        raw: The leaf's Markdown without the containers' prefixes; of code, the words after the opening
            fence on the first line, then the code.
        line: First line, 0 for a definition.
        end: Last line.
    """

    path: tuple[str, ...]
    kind: str
    text: str
    raw: str = ""
    line: int = 0
    end: int = 0

    @property
    def quoted(self) -> bool:
        """Whether it lies in a block quote."""
        return "quote" in self.path


def lines_of(text: str) -> list[str]:
    """The lines of a text with their own line endings."""
    return _LINE.findall(text)


def newline_of(text: str) -> str:
    """The line ending that a text uses most (the first one met on a tie); LF without any."""
    crlf = text.count("\r\n")
    counts = {"\r\n": crlf, "\n": text.count("\n") - crlf, "\r": text.count("\r") - crlf}
    best = max(counts.values())
    if not best:
        return "\n"
    return min((ending for ending in counts if counts[ending] == best), key=text.find)


def front_matter(text: str) -> FrontMatter | None:
    """The front matter, after an optional BOM; None when there is none or it isn't closed."""
    first = _FENCE_LINE.match(text, 1 if text.startswith("\ufeff") else 0)
    if not first:
        return None
    last = _FRONT_END.search(text, first.end())
    if not last:
        return None
    return FrontMatter(text[first.end() : last.start()], first.end(), last.end())


def headings(text: str) -> tuple[Heading, ...]:
    """The document's headings outside quotes, lists and code."""
    tokens, shift = _tokens(text)
    found = []
    for position, token in enumerate(tokens):
        if token.type == "heading_open" and token.level == 0 and token.map:
            words = inline_reading(tokens[position + 1].children or ())
            found.append(Heading(int(token.tag[1:]), words, token.map[0] + 1 + shift))
    return tuple(found)


def sections(text: str) -> tuple[Section, ...]:
    """The document by section, in order; an empty preamble is left out."""
    lines = lines_of(text)
    marks = headings(text)
    matter = front_matter(text)
    first = len(lines_of(text[: matter.end])) + 1 if matter else 1
    out = []
    preamble_end = marks[0].line - 1 if marks else len(lines)
    preamble = "".join(lines[first - 1 : preamble_end])
    if preamble.strip():
        out.append(Section(None, first, preamble_end, preamble))
    for position, heading in enumerate(marks):
        following = marks[position + 1 :]
        own_end = following[0].line - 1 if following else len(lines)
        end = next((later.line - 1 for later in following if later.level <= heading.level), len(lines))
        body = _without_heading(lines[heading.line - 1 : own_end])
        out.append(Section(heading, heading.line, end, body))
    return tuple(out)


def links(text: str) -> tuple[Link, ...]:
    """Links and images of the document, those inside quotes included; never those in code."""
    tokens, shift = _tokens(text)
    found: list[Link] = []
    for token in tokens:
        if token.type == "inline" and token.children:
            line = (token.map[0] if token.map else 0) + 1 + shift
            found.extend(_links_in(token.children, line))
    return tuple(found)


def code_lines(text: str) -> frozenset[int]:
    """The lines that lie in code blocks, HTML blocks or quotes: no marker or decision is read there."""
    tokens, shift = _tokens(text, inline=False)
    kinds = {"fence", "code_block", "html_block", "blockquote_open"}
    return frozenset(
        line + shift
        for token in tokens
        if token.type in kinds and token.map
        for line in range(token.map[0] + 1, token.map[1] + 1)
    )


def leaves(text: str) -> tuple[Leaf, ...]:
    """A document's leaf blocks in reading order, its front matter left out; then its link definitions."""
    matter = front_matter(text)
    start = matter.end if matter else (1 if text.startswith("\ufeff") else 0)
    shift = len(lines_of(text[:start])) if matter else 0
    found = fragment_leaves(text[start:])
    if not shift:
        return found
    return tuple(
        replace(leaf, line=leaf.line + shift, end=leaf.end + shift) if leaf.line else leaf for leaf in found
    )


@lru_cache(maxsize=4)
def fragment_leaves(text: str) -> tuple[Leaf, ...]:
    """The leaf blocks of a part of a document, such as a region's body, then its link definitions.

    Two lines of dashes at its start are no front matter: those stand at the start of a file only. The
    newest few are remembered: a body is read for its digest, then for what is in it.
    """
    env: dict[str, Any] = {}
    found = list(_leaves(_parser(inline=True).parse(text, env), 0))
    return (*found, *_definitions(env))


def html_starts(text: str) -> frozenset[int]:
    """Offsets of lines that begin an HTML block (a comment is one) outside every other block.

    Decided line by line where that is certain, by the full parser elsewhere, so that an ordinary
    document of 10 MB costs no parse.
    """
    mark = 1 if text.startswith("\ufeff") else 0
    body = text[mark:]
    matter = front_matter(body)
    starts = markdown_scan.scan(body, matter.end if matter else 0)
    if starts is None:
        starts = _parse_html(body)
    return frozenset(start + mark for start in starts) if mark else starts


def _definitions(env: Mapping[str, Any]) -> Iterator[Leaf]:
    """The link definitions by label; those that an earlier one of the same label outdoes stand after it."""
    first = [(label, 0, target) for label, target in env.get("references", {}).items()]
    further = [
        (target["label"], place, target) for place, target in enumerate(env.get("duplicate_refs", ()), 1)
    ]
    for label, _, target in sorted(first + further, key=lambda row: row[:2]):
        words = _join((label, target.get("href", ""), target.get("title", "")))
        title = f" {json.dumps(target['title'], ensure_ascii=False)}" if target.get("title") else ""
        yield Leaf((), "def", words, f"[{label}]: {target.get('href') or '<>'}{title}")


def inline_reading(children: Sequence[Token]) -> str:
    """What a reader sees of inline tokens; a link's or image's target follows its text."""
    parts: list[str] = []
    targets: list[str] = []
    for child in children:
        match child.type:
            case "softbreak" | "hardbreak":
                parts.append(" ")
            case "link_open":
                targets.append(_join((str(child.attrGet("href") or ""), str(child.attrGet("title") or ""))))
            case "link_close":
                parts.append(f"\x1f{targets.pop()}\x1f")
            case "image":
                target = _join((str(child.attrGet("src") or ""), str(child.attrGet("title") or "")))
                parts.append(f"{child.content}\x1f{target}\x1f")
            case _:
                parts.append(child.content)
    return _WHITE.sub(" ", "".join(parts)).strip(" ")


def _join(words: Sequence[str]) -> str:
    """Words that can't run into each other, empty ones at the end left out."""
    return "\x1f".join(words).rstrip("\x1f")


@cache
def _parser(*, inline: bool) -> MarkdownIt:
    """A CommonMark parser; without `inline` it finds blocks only, four times as fast."""
    from markdown_it import MarkdownIt  # noqa: PLC0415 - 60 ms that most commands don't need

    parser = MarkdownIt("commonmark")
    if not inline:
        parser.core.ruler.disable("inline")
    return parser


def _tokens(text: str, *, inline: bool = True) -> tuple[list[Token], int]:
    """The tokens of the Markdown after any front matter, and how many lines that takes."""
    matter = front_matter(text)
    start = matter.end if matter else (1 if text.startswith("\ufeff") else 0)
    shift = len(lines_of(text[:start])) if matter else 0
    return _parser(inline=inline).parse(text[start:], {}), shift


def _leaves(tokens: Sequence[Token], shift: int) -> Iterator[Leaf]:
    """The leaf blocks among block tokens."""
    path: list[str] = []
    kind = "p"
    for token in tokens:
        container = _CONTAINERS.get(token.type.rpartition("_")[0])
        if container and token.nesting == 1:
            path.append("li*" if container == "li" else container)
            continue
        if container:
            path.pop()
            continue
        if token.type in {"paragraph_open", "heading_open"}:
            kind = "p" if token.type == "paragraph_open" else token.tag
            continue
        leaf = _leaf(token, kind, tuple(path), shift)
        if leaf:
            yield leaf
            path = ["li" if part == "li*" else part for part in path]


def _leaf(token: Token, kind: str, path: tuple[str, ...], shift: int) -> Leaf | None:
    """The leaf that a token stands for, if it stands for one."""
    first, last = token.map or (0, 0)
    where = (first + 1 + shift, last + shift)
    match token.type:
        case "inline":
            return Leaf(path, kind, inline_reading(token.children or ()), token.content, *where)
        case "fence" | "code_block":
            code = token.content.removesuffix("\n")
            return Leaf(path, "code", code, f"{token.info.strip()}\n{code}", *where)
        case "html_block":
            html = "\n".join(line.strip() for line in token.content.strip().split("\n"))
            return Leaf(path, "html", html, html, *where)
        case "hr":
            return Leaf(path, "hr", "", "---", *where)
        case _:
            return None


def _links_in(children: Sequence[Token], line: int) -> Iterator[Link]:
    """Links and images among inline tokens."""
    for position, child in enumerate(children):
        if child.type in {"softbreak", "hardbreak"}:
            line += 1
        elif child.type == "link_open":
            close = next(n for n in range(position, len(children)) if children[n].type == "link_close")
            words = "".join(inner.content for inner in children[position + 1 : close])
            yield Link(str(child.attrGet("href") or ""), words, line)
        elif child.type == "image":
            yield Link(str(child.attrGet("src") or ""), child.content, line)


def _without_heading(lines: Sequence[str]) -> str:
    """A section's lines without its heading, ATX or setext."""
    if re.match(r" {0,3}#", lines[0]):
        return "".join(lines[1:])
    underline = next(
        (n for n, line in enumerate(lines) if n and re.match(r" {0,3}(?:=+|-+)[ \t]*[\r\n]*\Z", line)), 0
    )
    return "".join(lines[underline + 1 :])


def _parse_html(text: str) -> frozenset[int]:
    """`html_starts` by the parser."""
    tokens, shift = _tokens(text, inline=False)
    wanted = {
        token.map[0] + shift
        for token in tokens
        if token.type == "html_block" and token.level == 0 and token.map
    }
    offsets = set()
    offset = 0
    for number, line in enumerate(lines_of(text)):
        if number in wanted:
            offsets.add(offset)
        offset += len(line)
    return frozenset(offsets)
