r"""A folded view of a text, with a map from every folded position to the original one (G12).

Detection runs on the view, replacement on the original. Folding drops what a reader doesn't see (format
characters, combining marks, variation selectors), makes every decimal digit ASCII, every dash `-`, every
space a space, and casefolds what compatibility decomposition leaves. A second view decodes the ways a
character can be written in text: HTML entities, percent and `\u` escapes, Markdown's backslashes.
"""

from __future__ import annotations

import re
import unicodedata
from array import array
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

import re2

_DROPPED = {"Mn", "Mc", "Me", "Cf"}
_IGNORABLE = frozenset("\u115f\u1160\u3164\uffa0\u2800\u0640\u17b4\u17b5")
"""Fillers and the Arabic tatweel: they show nothing, or only stretch a word."""
_APOSTROPHES = "\u2018\u2019\u201b\u02bc\u02b9\u2032\u00b4\u05f3\u055a\ua78c"
_EQUIVALENT = {
    **dict.fromkeys(_APOSTROPHES, "'"),
    "\u2212": "-",
    "\u02d7": "-",
    "\u2043": "-",
    "\t": " ",
    "\x0b": "\n",
    "\x0c": "\n",
    "\x85": "\n",
    "\n": "\n",
    "\r": "\r",
    "\u0131": "i",
    "\u0142": "l",
    "\u0141": "l",
    "\u00f8": "o",
    "\u00d8": "o",
    "\u0111": "d",
    "\u0110": "d",
}


@dataclass(frozen=True, slots=True)
class View:
    """A derived text and where each of its characters came from.

    Attributes:
        text: The derived text.
        starts: Position in `text` at which each piece starts, ascending.
        origins: Position in the source at which each piece starts.
        ends: Position in the source after each piece.
        linear: 1 where the piece's characters correspond one to one, 0 where the piece is one atom.
        below: The text that `origins` refer to.
        source: The view that `below` belongs to; None when it is the original text.
    """

    text: str
    starts: array[int]
    origins: array[int]
    ends: array[int]
    linear: bytes
    below: str
    source: View | None = None

    def span(self, start: int, end: int) -> tuple[int, int]:
        """The original range of a non-empty range of this view, widened to whole original characters."""
        low, high = self._local(start, end)
        while high < len(self.below) and unicodedata.category(self.below[high])[0] == "M":
            high += 1  # marks on the last character go with it
        return self.source.span(low, high) if self.source else (low, high)

    def unfolded(self, position: int) -> str:
        """The character that the one at `position` was folded from, with its case."""
        return self.below[self._local(position, position + 1)[0]]

    def aligned(self, start: int, end: int) -> bool:
        """Whether the range starts and ends on whole original characters."""
        first = bisect_right(self.starts, start) - 1
        last = bisect_right(self.starts, end - 1) - 1
        whole_start = self.linear[first] or self.starts[first] == start
        following = self.starts[last + 1] if last + 1 < len(self.starts) else len(self.text)
        if not (whole_start and (self.linear[last] or following == end)):
            return False
        return self.source.aligned(*self._local(start, end)) if self.source else True

    def _local(self, start: int, end: int) -> tuple[int, int]:
        first = bisect_right(self.starts, start) - 1
        last = bisect_right(self.starts, end - 1) - 1
        low = self.origins[first] + (start - self.starts[first] if self.linear[first] else 0)
        high = self.origins[last] + (end - self.starts[last]) if self.linear[last] else self.ends[last]
        return low, high


class ViewBuilder:
    """Collects the pieces of a view in order; dropped characters are gaps between pieces."""

    def __init__(self, below: str, source: View | None = None) -> None:
        self._below = below
        self._texts: list[str] = []
        self._length = 0
        self._starts = array("q")
        self._origins = array("q")
        self._ends = array("q")
        self._linear = bytearray()
        self._source = source

    def copy(self, text: str, origin: int) -> None:
        """Add characters that correspond one to one to the source from `origin` on."""
        if text:
            self._add(text, origin, origin + len(text), 1)

    def atom(self, text: str, origin: int, end: int) -> None:
        """Add characters that all stand for the source range as a whole."""
        if text:
            self._add(text, origin, end, 0)

    def _add(self, text: str, origin: int, end: int, linear: int) -> None:
        self._texts.append(text)
        self._starts.append(self._length)
        self._origins.append(origin)
        self._ends.append(end)
        self._linear.append(linear)
        self._length += len(text)

    def build(self) -> View:
        """The finished view."""
        text = "".join(self._texts)
        return View(
            text, self._starts, self._origins, self._ends, bytes(self._linear), self._below, self._source
        )


def identity(text: str) -> View:
    """The text as a view of itself."""
    builder = ViewBuilder(text)
    builder.copy(text, 0)
    return builder.build()


def fold(text: str, source: View | None = None) -> View:
    """The folded view of `text`; linear in its length. `source` is the view that `text` belongs to."""
    builder = ViewBuilder(text, source)
    folds = {character: fold_character(character) for character in set(text)}
    table = {ord(character): folded for character, folded in folds.items() if len(folded) == 1}
    irregular = [character for character, folded in folds.items() if len(folded) != 1]
    if not irregular:
        plain = text.isascii() and all(folds[character] == character.lower() for character in folds)
        builder.copy(text.lower() if plain else text.translate(table), 0)
        return builder.build()
    cursor = 0
    for match in re.finditer(f"[{''.join(map(re.escape, irregular))}]", text):
        position = match.start()
        builder.copy(text[cursor:position].translate(table), cursor)
        cursor = position + 1
        builder.atom(folds[match.group()], position, cursor)
    builder.copy(text[cursor:].translate(table), cursor)
    return builder.build()


def fold_text(text: str) -> str:
    """The folded form alone, for the things that are looked for."""
    return "".join(map(fold_character, text))


def fold_character(character: str) -> str:
    """One character's folded form: empty when a reader doesn't see it."""
    if " " < character < "\x7f":
        return character.lower()
    known = _EQUIVALENT.get(character)
    if known is not None:
        return known
    digit = unicodedata.digit(character, None)
    if digit is not None:
        return str(digit)
    return "".join(map(_fold_part, unicodedata.normalize("NFKD", character))).casefold()


def _fold_part(character: str) -> str:
    known = _EQUIVALENT.get(character)
    if known is not None:
        return known
    category = unicodedata.category(character)
    if category in _DROPPED or character in _IGNORABLE or category == "Cc":
        return ""
    if category == "Nd":
        return str(unicodedata.digit(character))
    if category == "Pd":
        return "-"
    if category == "Zs":
        return " "
    return "\n" if category in {"Zl", "Zp"} else character


# --- written-out characters -------------------------------------------------------------------------

_ESCAPE = re2.compile(
    r"&#[xX][0-9A-Fa-f]{1,6};?|&#[0-9]{1,7};?|&[A-Za-z][A-Za-z0-9]{1,31};"
    r"|(?:%[0-9A-Fa-f]{2})+"
    r"|(?:\\u[0-9A-Fa-f]{4})+|\\u\{[0-9A-Fa-f]{1,6}\}|\\U[0-9A-Fa-f]{8}|\\x[0-9A-Fa-f]{2}"
    r"|(?:\\[!-/:-@\[-`{-~])+"
)
_EDGE = 2
"""Of a run of backslash escapes, how many at either end are mapped one by one."""
_QUOTED_PRINTABLE = re.compile(r"(?<=[A-Za-z0-9])=(?:40|2[Ee])(?=[A-Za-z0-9=])")
_ROUNDS = 3
"""How often an escape inside an escape is followed (`%2540`, `&amp;#64;`)."""


def decoded(text: str) -> View | None:
    """The lines with escapes in them and their neighbours, decoded; None when there is no escape.

    Only those lines, so that the plain text is not scanned twice.
    """
    if not ("&" in text or "%" in text or "\\" in text or "=40" in text or "=2" in text):
        return None
    matches = _escapes(text)
    if not matches:
        return None
    view = _decode(text, matches, None)
    for _ in range(_ROUNDS - 1):
        matches = _escapes(view.text)
        if not matches:
            break
        view = _decode(view.text, matches, view)
    return view


def _escapes(text: str) -> list[tuple[int, str]]:
    """Where each escape starts, and the escape, in order."""
    found = [(match.start(), match.group()) for match in _ESCAPE.finditer(text)]
    if "=40" in text or "=2" in text:
        found += [(match.start(), match.group()) for match in _QUOTED_PRINTABLE.finditer(text)]
        found.sort()
    return found


def _decode(text: str, escapes: list[tuple[int, str]], source: View | None) -> View:
    """One round: windows of whole lines around the escapes; in later rounds, the whole view."""
    builder = ViewBuilder(text, source)
    cursor = window_end = line_end = 0
    if source is not None:
        window_end = line_end = len(text)
    for start, escape in escapes:
        if start >= window_end:
            builder.copy(text[cursor:window_end], cursor)
            cursor = max(_line_start(text, start, 2), window_end)
            builder.atom("\n\n", cursor, cursor + 1)
            window_end = cursor
        if start >= line_end:  # once a line: a flood of escapes on one line stays linear
            line_end = _line_end(text, start + len(escape), 1)
            window_end = max(window_end, _line_end(text, line_end, 1))
        builder.copy(text[cursor:start], cursor)
        for character, low, high in _characters(escape, start):
            builder.atom(character, low, high)
        cursor = start + len(escape)
    builder.copy(text[cursor:window_end], cursor)
    return builder.build()


def _line_start(text: str, position: int, lines: int) -> int:
    for _ in range(lines):
        position = text.rfind("\n", 0, position)
        if position < 0:
            return 0
    return position + 1


def _line_end(text: str, position: int, lines: int) -> int:
    for _ in range(lines):
        position = text.find("\n", position) + 1
        if position == 0:
            return len(text)
    return position


def _characters(escape: str, origin: int) -> Iterator[tuple[str, int, int]]:
    """What an escape stands for, character by character where it matters, each with its source range."""
    end = origin + len(escape)
    if escape[0] == "%":
        yield from _percent(escape, origin)
    elif escape[0] == "=":
        yield chr(int(escape[1:], 16)), origin, end
    elif escape[0] == "&":
        yield _entity(escape), origin, end
    elif escape[:2] == "\\u" and escape[2] != "{":
        units = bytes.fromhex(escape.replace("\\u", ""))
        position = origin
        for character in units.decode("utf-16-be", "replace"):
            width = 12 if ord(character) > 0xFFFF else 6  # noqa: PLR2004 - a surrogate pair is two escapes
            yield character, position, position + width
            position += width
    elif escape[1].isalpha():
        yield _scalar(int(escape[2:].strip("{}"), 16)), origin, end
    else:
        yield from _punctuation(escape[1::2], origin)


def _punctuation(marks: str, origin: int) -> Iterator[tuple[str, int, int]]:
    """Marks that each follow a backslash. No identifier lies among many: the middle of a run is one piece."""
    low, high = (_EDGE, len(marks) - _EDGE) if len(marks) > 2 * _EDGE else (len(marks), len(marks))
    for index in (*range(low), *range(high, len(marks))):
        if index == high:
            yield marks[low:high], origin + 2 * low, origin + 2 * high
        yield marks[index], origin + 2 * index, origin + 2 * index + 2


def _percent(escape: str, origin: int) -> Iterator[tuple[str, int, int]]:
    data = bytes.fromhex(escape.replace("%", ""))
    try:
        characters = data.decode("utf-8")
    except UnicodeDecodeError:
        characters = data.decode("latin-1")
    wide = len(characters) != len(data)
    position = origin
    for character in characters:
        width = 3 * (len(character.encode()) if wide else 1)
        yield character, position, position + width
        position += width


def _entity(escape: str) -> str:
    body = escape[1:].rstrip(";")
    if body[0] != "#":
        from html.entities import html5  # noqa: PLC0415 - a large table that plain text never needs

        return html5.get(f"{body};", escape)
    return _scalar(int(body[2:], 16) if body[1] in "xX" else int(body[1:]))  # noqa: FURB166 - any case of x


def _scalar(value: int) -> str:
    return chr(value) if value < 0xD800 or 0xDFFF < value < 0x110000 else "\ufffd"  # noqa: PLR2004 - surrogates; the last code point
