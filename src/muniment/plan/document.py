"""The rolling plan as a document: whose it is, the lines on it, and how open items are written (S13, S14)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from muniment import markdown, quoting, regions
from muniment.errors import Problem
from muniment.markdown import Leaf
from muniment.quoting import block_reading, code_text, link_target, phrase, untrusted_block
from muniment.regions import Region
from muniment.state.model import Item
from muniment.yaml_io import YamlError, parse

ITEMS = "sweep-items"
NOTES = "human-notes"
OURS: Mapping[str, str] = {
    "artifact_contract": "ce-unified-plan/v1",
    "artifact_readiness": "requirements-only",
    "product_contract_source": "muniment-sweep",
}
"""Front-matter keys that make the file at the stable path a plan of ours."""
MAX_QUOTE = 4_000
"""Longest quote shown, in characters; the rest is counted and said."""
WITHHELD = "Withheld: this item or its source is sensitive."
"""What stands where the text of a sensitive item would."""

_ITEM_LINE = re.compile(r"\*\*R(?P<number>[0-9]{1,16})\*\* — .*? · state `(?P<key>[^`]+)`", re.DOTALL)
_BULLET_LINE = re.compile(r"\n([-*+] +\S)")
_NEXT_BLOCK = re.compile(r"\n(?=[^ \t\n])(?=[^\n]*\S)")
"""Before a line at the left margin that isn't blank."""
_WORDS: Mapping[str, str] = {
    "analyzed": "to plan",
    "in_plan": "planned",
    "fix_pending": "waiting for the proof of a fix",
    "ack_deferred": "not acknowledged yet",
}


@dataclass(frozen=True, slots=True)
class PlanLine:
    """One item's line on a plan, with its block.

    Attributes:
        key: The state key on the line.
        number: Its R-number.
        text: The whole list item as it stands, LF endings, without blank lines at its end.
        line: Its first line in the body that it was found in.
    """

    key: str
    number: int
    text: str
    line: int = field(default=0, compare=False)

    @property
    def end(self) -> int:
        """Its last line there."""
        return self.line + self.text.count("\n")


@dataclass(frozen=True, slots=True)
class Plan:
    """A plan of ours, read.

    Attributes:
        text: The whole document.
        items: The machine-owned region.
        notes: The human-owned region.
        lines: The item lines found in the machine-owned region.
    """

    text: str
    items: Region
    notes: Region
    lines: tuple[PlanLine, ...]


@dataclass(frozen=True, slots=True)
class Rendered:
    """Markdown of ours together with how it reads, so that nothing has to parse it again."""

    markdown: str
    leaves: tuple[Leaf, ...]


def read_plan(text: str, path: str) -> tuple[Plan | None, tuple[Problem, ...]]:
    """The plan in a text, or None with the reasons why it isn't a plan of ours (S14)."""
    found, problems = regions.find(text, path)
    if problems:
        return None, problems
    matter = markdown.front_matter(text)
    if matter is None:
        return None, (Problem(path, 1, "plan-front-matter", "The plan has no front matter."),)
    values = front_matter_values(matter.text)
    for key, value in OURS.items():
        if values.get(key) != value:
            words = f"The front matter doesn't say `{key}: {value}`."
            return None, (Problem(path, 1, "plan-front-matter", words),)
    by_name = {region.name: region for region in found}
    for name in (ITEMS, NOTES):
        if name not in by_name:
            return None, (Problem(path, 0, "plan-markers", f"The markers of `{name}` are missing."),)
    items = by_name[ITEMS]
    return Plan(text, items, by_name[NOTES], plan_lines(items.body)), ()


def front_matter_values(text: str) -> dict[str, str]:
    """The one-line values of a front matter by key, quotes and comments taken off; {} when it isn't YAML."""
    try:
        value = parse(text).value
    except YamlError:
        return {}
    return {key: str(item) for key, item in value.items()} if isinstance(value, dict) else {}


def set_front_matter(text: str, values: Mapping[str, str]) -> str | None:
    """The document with keys of its front matter set, everything else as it was.

    A key that isn't there is added as the last line. The result is read back: None when it wouldn't hold
    exactly the old values with these set (front matter in flow style, a value over several lines).

    Args:
        text: The document.
        values: Key → its new value as YAML: plain words, or quoted by the caller.
    """
    matter = markdown.front_matter(text)
    if matter is None:
        return None
    lines = markdown.lines_of(matter.text)
    newline = markdown.newline_of(text[: matter.end])
    for key, value in values.items():
        number, line = next(
            ((number, new) for number, line in enumerate(lines) if (new := _set_value(line, key, value))),
            (len(lines), f"{key}: {value}{newline}"),
        )
        lines[number : number + 1] = [line]
    edited = "".join(lines)
    wanted = front_matter_values(matter.text) | front_matter_values(
        "\n".join(f"{key}: {value}" for key, value in values.items())
    )
    if front_matter_values(edited) != wanted:
        return None
    return text[: matter.start] + edited + text[matter.start + len(matter.text) :]


def _set_value(line: str, key: str, value: str) -> str | None:
    """A line `key: …` with another value, the key's spelling and a comment kept; None for any other line."""
    match = re.fullmatch(
        rf"(?P<head>(?P<quote>[\"']?){re.escape(key)}(?P=quote)[ \t]*:)(?P<space>[ \t]*)"
        r"(?:\"[^\"\r\n]*\"|'[^'\r\n]*'|[^\s\"'#](?:[^\r\n#]|(?<=\S)#)*?)?"
        r"(?P<tail>[ \t]*(?:(?<=[ \t])#[^\r\n]*)?(?:\r\n|\r|\n|\Z))",
        line,
    )
    if not match:
        return None
    tail = match["tail"] if match["tail"][:1] != "#" else f" {match['tail']}"
    return f"{match['head']}{match['space'] or ' '}{value}{tail}"


def plan_lines(body: str) -> tuple[PlanLine, ...]:
    """The item lines of a region's body, however a formatter laid them out."""
    return tuple(line for chunk, number in _list_items(body) if (line := _plan_line(chunk, number)))


def _list_items(body: str) -> Iterable[tuple[str, int]]:
    """The list items at the left margin: a bullet's line and the indented lines after it; and its line."""
    text = "\n" + body.replace("\r\n", "\n").replace("\r", "\n")
    line = counted = 0
    for bullet in _BULLET_LINE.finditer(text):
        start = bullet.start(1)
        after = _NEXT_BLOCK.search(text, bullet.end())
        line += text.count("\n", counted, start)
        counted = start
        yield text[start : after.start() if after else len(text)].rstrip(), line


def _plan_line(chunk: str, number: int) -> PlanLine | None:
    """The item that a list item stands for, if it has the form of one."""
    first = chunk.split("\n\n", 1)[0]
    match = _ITEM_LINE.match(" ".join(first[1:].split()))
    if not match:
        return None
    return PlanLine(quoting.read_code(match["key"]), int(match["number"]), chunk, number)


def render_item(item: Item) -> Rendered:
    """One item's list item: its line, then its quote in an untrusted block."""
    title = phrase(item.title) or "(untitled)"
    read = quoting.phrase_reading(item.title) or "(untitled)"
    target = link_target(item.origin)
    key, source, category = (code_text(text) for text in (item.key, item.source, item.category))
    parts = [f"- **R{item.number}** — {title}", f"state {key}", f"source {source}"]
    words = [f"R{item.number} — {read}", f"state {key[1:-1]}", f"source {source[1:-1]}"]
    if target:
        parts.append(f"[origin]({target})")
        words.append(f"origin\x1f{target}\x1f")
    parts.append(f"category {category}")
    words.append(f"category {category[1:-1]}")
    quote = _shown_quote(item)
    quoted = untrusted_block(quote)
    block = "  " + quoted.replace("\n", "\n  ")
    leaves = (
        Leaf(("ul", "li*"), "p", " · ".join(words)),
        *(Leaf(("ul", "li", "quote"), kind, text) for kind, text in block_reading(quoted)),
    )
    return Rendered(f"{' · '.join(parts)}\n\n{block}", leaves)


def _shown_quote(item: Item) -> str:
    """The text to quote: a placeholder for what is withheld or absent, a count for what is cut off."""
    if item.sensitive:
        return WITHHELD
    if not item.quote.strip():
        return "No text was recorded."
    if len(item.quote) <= MAX_QUOTE:
        return item.quote
    more = len(item.quote) - MAX_QUOTE
    return f"{item.quote[:MAX_QUOTE]}\n\n… and {more} more characters in the state file."


def render_region(
    items: Sequence[Item], foreign: Sequence[PlanLine], kept: Sequence[PlanLine], sources: Sequence[str]
) -> Rendered:
    """The machine-owned region's body.

    Args:
        items: What is shown, hidden text already replaced, each with its number.
        foreign: Lines of items that this state doesn't know.
        kept: Lines of items whose record can't be read.
        sources: The sources' ids, in the state's order.
    """
    parts = [_heading(2, "Summary"), _paragraph(_summary(items, foreign, kept)), _heading(2, "Requirements")]
    if not items and not foreign and not kept:
        parts.append(_paragraph("No open items."))
    for category in sorted({item.category for item in items}, key=_category_order):
        parts.append(_category_heading(category))
        in_it = [item for item in items if item.category == category]
        parts.extend(
            render_item(item) for item in sorted(in_it, key=lambda item: (item.number or 0, item.key))
        )
    for heading, lines in (("Items of another state", foreign), ("Items that can't be read", kept)):
        if lines:
            parts.append(_heading(3, heading))
            parts.extend(
                Rendered(line.text, markdown.fragment_leaves(line.text))
                for line in sorted(lines, key=_line_order)
            )
    parts += [
        _heading(2, "Outstanding questions"),
        *_questions(items),
        _heading(2, "Sources"),
        *_sources(items, sources),
    ]
    return Rendered(
        "\n\n".join(part.markdown for part in parts), tuple(leaf for part in parts for leaf in part.leaves)
    )


def _summary(items: Sequence[Item], foreign: Sequence[PlanLine], kept: Sequence[PlanLine]) -> str:
    """One sentence that counts everything shown."""
    if not items:
        words = "No open items."
    else:
        counts = [
            f"{number} {text}"
            for status, text in [*_WORDS.items(), ("", "in another state of work")]
            if (
                number := sum(1 for item in items if (item.status if item.status in _WORDS else "") == status)
            )
        ]
        words = f"{len(items)} open {'item' if len(items) == 1 else 'items'}: {', '.join(counts)}."
    if foreign:
        words += f" Lines whose item this state doesn't know: {len(foreign)}."
    if kept:
        words += f" Lines whose item can't be read: {len(kept)}."
    return words


def _questions(items: Sequence[Item]) -> list[Rendered]:
    """What a person has to say before work can start; said so when it is nothing."""
    asked = [item for item in items if item.question]
    if not asked:
        return [_paragraph("None.")]
    return [render_question(item) for item in sorted(asked, key=lambda item: (item.number or 0, item.key))]


def render_question(item: Item) -> Rendered:
    """What is to be asked about one item, as a bullet."""
    about = f"Question on R{item.number}, {code_text(item.key)} — {phrase(item.title) or '(untitled)'}"
    return _bullet(f"{about} — {phrase(item.question, after='')}")


def _sources(items: Sequence[Item], sources: Sequence[str]) -> list[Rendered]:
    """How many items each source has open."""
    names = sorted({*sources, *(item.source for item in items)})
    if not names:
        return [_paragraph("None.")]
    return [
        _bullet(f"{code_text(name)}: {sum(1 for item in items if item.source == name)} open")
        for name in names
    ]


def _category_order(category: str) -> tuple[bool, str]:
    """By name, what nobody classified last."""
    return category == "unclassified", category


def _line_order(line: PlanLine) -> tuple[int, str]:
    return line.number, line.key


def _category_heading(category: str) -> Rendered:
    """A category's heading: bare for a plain word, else a code span."""
    if re.fullmatch(r"[A-Za-z0-9]+(?:[ -][A-Za-z0-9]+)*", category):
        return _heading(3, category)
    shown = code_text(category)
    return Rendered(f"### {shown}", (Leaf((), "h3", " ".join(shown[1:-1].split())),))


def _heading(level: int, words: str) -> Rendered:
    return Rendered(f"{'#' * level} {words}", (Leaf((), f"h{level}", words),))


def _paragraph(words: str) -> Rendered:
    return Rendered(words, (Leaf((), "p", words),))


def _bullet(text: str) -> Rendered:
    """A bullet of ours that holds escaped text."""
    shown = f"- {text}"
    return Rendered(shown, markdown.fragment_leaves(shown))
