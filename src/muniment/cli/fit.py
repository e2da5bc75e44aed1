"""Long lines at a terminal: broken between words, with what belongs together kept below each other (pure).

Only what a person sees is broken; a pipe or a file gets the lines as they are.
"""

from __future__ import annotations

import re
import unicodedata

NARROWEST = 30
"""Columns below which nothing is broken: no layout helps there."""
_ANSI = re.compile(r"\x1b\[[0-9;]*m")
_HASH = re.compile(r"\b(?:[0-9a-f]{64}|[0-9a-f]{40})\b")
_COLUMN = re.compile(r"( *(?:[-*•] )?)\S.*?  +(?=\S)")
_QUOTED = re.compile(r" *(?:│|>)(?: |\Z)")
_WIDE = frozenset("WF")
_DEEPEST = 18
"""The widest first column that following lines are set below."""


def columns(text: str) -> int:
    """How many columns a line takes, colours aside; wide characters take two."""
    bare = _ANSI.sub("", text)
    if bare.isascii():
        return len(bare)
    return sum(
        0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in _WIDE else 1
        for char in bare
    )


def short_hashes(text: str) -> str:
    """Full object ids cut to the ten digits that people tell commits apart by."""
    return _HASH.sub(lambda match: match[0][:10], text)


def fit(line: str, width: int) -> list[str]:
    """One line as lines of at most `width` columns; a word that is longer than that stays whole.

    What follows is set below the second column of a list, or a little deeper than the line began. A quoted
    line's mark is repeated, so that no part of a quotation looks like something else.
    """
    if width < NARROWEST or columns(line) <= width:
        return [line]
    lead = _below(_ANSI.sub("", line))
    found, begun = [], ""
    for word in re.split(r"(?<=\S) (?=\S)", line):
        if not begun:
            begun = word
        elif columns(f"{begun} {word}") <= width:
            begun = f"{begun} {word}"
        else:
            found.append(begun)
            begun = lead + word
    return [*found, begun]


def _below(bare: str) -> str:
    """What the following lines of a broken line begin with."""
    if mark := _QUOTED.match(bare):
        return mark[0].rstrip() + " "
    column = _COLUMN.match(bare)
    if column and columns(column[0]) <= _DEEPEST:
        return " " * columns(column[0])
    return " " * (len(bare) - len(bare.lstrip(" ")) + 4)
