"""Block mappings as spans of lines: which lines belong to which key, without reading the values (pure)."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from muniment.yaml_lines import read

_WORD = r"[A-Za-z0-9_][A-Za-z0-9_./@+~-]*(?::[A-Za-z0-9_./@+~-]+)*"
_KEY = rf"""(?:{_WORD}|"(?:[^"\\\n]|\\.)*"|'(?:[^'\n]|'')*')"""
_OPENS = re.compile(rf"(?P<indent> *){_KEY}: *(?:#[^\n]*)?\n")
_FIRST = re.compile(r"^(?P<indent> *)[^ #\n]", re.MULTILINE)
_OPEN = (
    r"(?:\"(?:[^\"\\\n]|\\.)*(?=\n)|'(?:[^'\n]|'')*(?=\n)|[\[{](?:[^\n]*[^\]}\n])?(?=\n)"
    r"|[&*!<?])"
)
_SUSPECT = (re.compile(rf": +{_OPEN}"), re.compile(rf"\n *(?:- +)?{_OPEN}"))
"""Quotes and brackets that may go on on the next line, whose lines could look like keys; anchors and tags."""


@dataclass(frozen=True, slots=True)
class Block:
    """A block mapping.

    Attributes:
        indent: How many spaces its keys have before them.
        lead: Lines before its first key.
        entries: Key → its lines: comments directly above it at its indentation, itself, its value.
    """

    indent: int
    lead: str
    entries: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Nested:
    """A key whose value is a block mapping.

    Attributes:
        head: Its lines up to its own.
        indent: The indentation of the keys inside.
        block: What is inside.
    """

    head: str
    indent: int
    block: Block


def certain(text: str) -> bool:
    """Whether a text's indentation alone tells its mappings apart: only blocks take several lines."""
    return not any(one.search(text) for one in _SUSPECT) or read(text) is not None


def split(text: str, indent: int) -> Block | None:
    """The entries of a block mapping; None when a line is neither a key's nor inside one.

    Args:
        text: Lines with LF endings.
        indent: How many spaces stand before the mapping's keys.
    """
    entries: dict[str, str] = {}
    start, name, lead = 0, "", text
    for match in _line(indent).finditer("\n" + text):  # so that every line has a break before it
        token, place = match[1], match.start()
        if token is None:
            if not _belongs(match[2], indent, begun=bool(name)):
                return None
            continue
        if name:
            entries[name] = text[start:place]
        else:
            lead = text[:place]
        start, name = place, _name(token)
        if not name or name in entries:
            return None
    if name:
        entries[name] = text[start:]
    return Block(indent, lead, entries)


@cache
def _line(indent: int) -> re.Pattern[str]:
    """The lines at or left of an indentation: a key with comments above it, or anything else."""
    pad = f" {{{indent}}}"
    return re.compile(
        rf"\n(?:{pad}#[^\n]*\n)*(?:{pad}({_KEY}):(?=[ \n])|( {{0,{indent}}}[^ #\n][^\n]*))",
    )


def _belongs(odd: str, indent: int, *, begun: bool) -> bool:
    """Whether a line that is no key's goes with what is above it: a list's, or the document's start."""
    return odd.startswith(" " * indent + "- ") if begun else odd.rstrip(" ") == "---"


def _name(token: str) -> str:
    """A key's text; "" for one that can't be read."""
    if token[0] == '"':
        if "\\" not in token:
            return token[1:-1]
        try:
            return str(json.loads(token))
        except ValueError:
            return ""
    return token[1:-1].replace("''", "'") if token[0] == "'" else token


def nested(text: str, indent: int) -> Nested | None:
    """The block mapping that an entry's lines hold; None when its value is anything else.

    Args:
        text: The entry's lines, comments above it included.
        indent: The indentation of the entry's own key.
    """
    start = 0
    while text.startswith(" " * indent + "#", start):
        start = text.index("\n", start) + 1
    opening = _OPENS.match(text, start)
    if not opening or len(opening["indent"]) != indent:
        return None
    first = _FIRST.search(text, opening.end())
    if not first or len(first["indent"]) <= indent:
        return None
    inner = len(first["indent"])
    block = split(text[opening.end() :], inner)
    if block is None or not block.entries:
        return None
    return Nested(text[: opening.end()], inner, block)


def reindented(block: Block, indent: int) -> Block:
    """The same block with its keys at another indentation."""
    if block.indent == indent:
        return block

    def shift(text: str) -> str:
        lines = text.split("\n")
        if indent > block.indent:
            more = " " * (indent - block.indent)
            return "\n".join(more + line if line else line for line in lines)
        less = block.indent - indent
        return "\n".join(line[min(less, len(line) - len(line.lstrip(" "))) :] for line in lines)

    return Block(indent, shift(block.lead), {key: shift(text) for key, text in block.entries.items()})
