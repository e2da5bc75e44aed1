"""The plain part of YAML, line by line: what Muniment writes itself, read without a parser.

A state file of a megabyte takes the full parser seconds. Nearly all such files are block mappings of
scalars, and those are read here in one pass. `read` answers None for anything it isn't certain of, and
the full parser decides; the two agree on everything both read (tested as a property).
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Path = tuple[str | int, ...]

_CONSTANTS: Mapping[str, bool | None] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_INT = re.compile(r"[-+]?[0-9]{1,4000}\Z")
_BASED = re.compile(r"0(?:o[0-7]{1,4000}|x[0-9a-fA-F]{1,3000})\Z")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?\Z")

_UNSURE = re.compile(
    "[\x00-\x08\x0b-\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\ufeff\ud800-\udfff\ufffe\uffff]|\r(?!\n)"
)
_ORDINARY = bytes(range(0x20, 0x7F)) + b"\t\n\r"
_WORD = r"[A-Za-z0-9_][A-Za-z0-9_./@+~-]*+(?::[A-Za-z0-9_./@+~-]++)*+"
_DOUBLE = r'"[^"\\\t\r\n]*+(?:\\(?:["\\/bfnrt]|u(?![dD][89a-fA-F])[0-9a-fA-F]{4})[^"\\\t\r\n]*+)*+"'
_SINGLE = r"'[^'\t\r\n]*+(?:''[^'\t\r\n]*+)*+'"
_KEY_START = re.compile(rf"(?P<indent>[ ]*)(?P<key>{_WORD}|{_DOUBLE}|{_SINGLE}):(?:[ ]|\Z)")
_QUOTED = re.compile(rf"(?:{_DOUBLE}|{_SINGLE})")
_FIRST = r"(?:[A-Za-z0-9_(./$+^;=<\u00a1-\ud7ff\ue000-\ufdff]|-[A-Za-z0-9.])"
_PLAIN = re.compile(rf"{_FIRST}[^\t]*\Z")
_ROWS = re.compile(
    rf"([ ]*+)({_WORD}|{_DOUBLE}|{_SINGLE}):"
    rf"(?:[ ]++(?:({_FIRST}(?:[^\t\r\n:#]++|:(?=[^ \r\n])|(?<! )#)*+)|({_DOUBLE}|{_SINGLE})[ ]*+))?+"
    r"[ ]*+\r?(?:\n|\Z)"
    r"|[^\n]*+(?:\n|\Z)"
)
"""Cuts each line into indentation, key, and plain or quoted value; all four empty for any other line."""
_MAX_KEY = 200
_MAX_DIGITS = 300


def plain_value(text: str) -> Any:
    """What an unquoted scalar means in the YAML 1.2 core schema."""
    if text in _CONSTANTS:
        return _CONSTANTS[text]
    return _number(text) if text[0] in "0123456789+-." else text


def _number(text: str) -> int | float | str:
    """A number in one of the core schema's spellings, or the text itself."""
    if _INT.match(text):
        return int(text)
    if _BASED.match(text):
        return int(text[2:], 8 if text[1] == "o" else 16)
    number = float(text) if _FLOAT.match(text) else None
    return text if number is None or abs(number) == float("inf") else number


@dataclass(slots=True)
class _Level:
    """An open block mapping."""

    indent: int
    value: dict[str, Any]
    path: Path


class _Unsure(Exception):
    """The text is not in the plain part."""


class _Reader:
    """One pass over the lines of a text, each cut into its parts by one expression beforehand.

    A line of the common form, `key: value` with a plain or quoted value, costs one step of the loop in
    `read`; any other goes through `_entry`.
    """

    def __init__(self, text: str) -> None:
        self.rows: Sequence[tuple[str, str, str, str]] = _ROWS.findall(text)
        lines = text.split("\n")
        self.lines = [line.removesuffix("\r") for line in lines] if "\r" in text else lines
        self.found: dict[Path, int] = {}

    def read(self) -> Any:
        """The document's value; raises `_Unsure`."""
        number = self._skip(0)
        if number < len(self.lines) and self.lines[number].rstrip(" ") == "---":
            number = self._skip(number + 1)
        if number == len(self.lines):
            return None
        root: dict[str, Any] = {}
        self.found[()] = number + 1
        levels = [_Level(0, root, ())]
        while number < len(self.lines):
            number = self._skip(self._fields(number, levels))
            if number < len(self.lines):
                number = self._skip(self._entry(number, levels))
        return root

    def _fields(self, number: int, levels: list[_Level]) -> int:
        """Read lines of the common form into the innermost mapping; returns the first line that is none."""
        level = levels[-1]
        indent, value, path = level.indent, level.value, level.path
        rows, found, last = self.rows, self.found, len(self.lines)
        while number < last:
            pad, token, plain, quoted = rows[number]
            if len(pad) != indent or not (plain or quoted) or len(token) > _MAX_KEY:
                break
            key = token if token[0] not in "\"'" else _key(token)
            if key in value:
                raise _Unsure
            number += 1
            found[*path, key] = number
            value[key] = plain_value(plain.rstrip(" ")) if plain else _key(quoted)
        return number

    def _skip(self, number: int) -> int:
        """The next line that isn't blank or a comment."""
        while number < len(self.lines):
            stripped = self.lines[number].lstrip(" ")
            if stripped and stripped[0] != "#":
                break
            number += 1
        return number

    def _entry(self, number: int, levels: list[_Level]) -> int:
        """Read one key with its value; returns the line after it."""
        match = _KEY_START.match(self.lines[number])
        if not match or len(match["key"]) > _MAX_KEY:
            raise _Unsure
        indent = len(match["indent"])
        while levels and levels[-1].indent > indent:
            levels.pop()
        if not levels or levels[-1].indent != indent:
            raise _Unsure
        level = levels[-1]
        key = _key(match["key"])
        if key in level.value:
            raise _Unsure
        path = (*level.path, key)
        self.found[path] = number + 1
        value = _token(self.lines[number][match.end() :])
        if not value:
            return self._nested(number + 1, level, key, levels)
        if value in {"|", "|-"}:
            level.value[key], number = self._literal(number + 1, indent, keep=value == "|")
            return number
        level.value[key] = _scalar(value)
        following = self._skip(number + 1)
        if following < len(self.lines) and _indent(self.lines[following]) > indent:
            raise _Unsure
        return following

    def _nested(self, number: int, level: _Level, key: str, levels: list[_Level]) -> int:
        """What a key without a value on its line holds: a mapping, a list of scalars, or null."""
        path = (*level.path, key)
        following = self._skip(number)
        level.value[key] = None
        if following == len(self.lines):
            return following
        indent = _indent(self.lines[following])
        if self.lines[following].startswith("- ", indent) and indent >= level.indent:
            level.value[key], following = self._list(following, indent, path)
        elif indent > level.indent:
            child: dict[str, Any] = {}
            level.value[key] = child
            levels.append(_Level(indent, child, path))
        return following

    def _list(self, number: int, indent: int, path: Path) -> tuple[list[Any], int]:
        """A block list of scalars, and the line after it."""
        items: list[Any] = []
        while number < len(self.lines) and self.lines[number].startswith("- ", indent):
            value = _token(self.lines[number][indent + 2 :])
            if not value or _KEY_START.match(value):
                raise _Unsure
            self.found[(*path, len(items))] = number + 1
            items.append(_scalar(value))
            number = self._skip(number + 1)
            if number < len(self.lines) and _indent(self.lines[number]) > indent:
                raise _Unsure
        return items, number

    def _literal(self, number: int, outer: int, *, keep: bool) -> tuple[str, int]:
        """A literal block scalar, and the line after it."""
        indent = _indent(self.lines[number]) if number < len(self.lines) else 0
        if indent <= outer or not self.lines[number].strip(" "):
            raise _Unsure
        content = []
        while number < len(self.lines):
            line = self.lines[number]
            if line.strip(" ") and _indent(line) < indent:
                break
            content.append(line[indent:])
            number += 1
        text = "\n".join(content).rstrip("\n")
        if content[-1].strip(" ") == "" and any(line.strip(" ") == "" and line for line in content):
            raise _Unsure
        if number == len(self.lines) and content[-1].strip(" "):
            keep = False  # the text ends without a line break to keep
        return (text + "\n" if keep else text), number


def read(text: str) -> tuple[Any, dict[Path, int]] | None:
    """The value and the line of each key, or None when the text is not certainly in the plain part."""
    if _holds_unsure(text):
        return None
    reader = _Reader(text)
    try:
        return reader.read(), reader.found
    except _Unsure:
        return None


def _holds_unsure(text: str) -> bool:
    """Whether `_UNSURE` is in a text; the ordinary characters are sorted out first, which is quicker."""
    try:
        strange = text.encode().translate(None, _ORDINARY)
    except UnicodeEncodeError:
        return True
    return bool(_UNSURE.search(strange.decode())) or text.count("\r") != text.count("\r\n")


def _indent(line: str) -> int:
    """How many spaces a line begins with."""
    return len(line) - len(line.lstrip(" "))


def _token(rest: str) -> str:
    """The value on a line after its key, without spaces around it and without a comment."""
    rest = rest.strip(" ")
    quoted = _QUOTED.match(rest)
    if quoted:
        after = rest[quoted.end() :]
        if (after.lstrip(" ") and not after.startswith(" ")) or after.lstrip(" ")[:1] not in {"", "#"}:
            raise _Unsure
        return quoted[0]
    if rest.startswith("#"):
        return ""
    return rest.partition(" #")[0].rstrip(" ") if rest[:1] not in {"[", "{", '"', "'"} else rest


def _key(token: str) -> str:
    """A key's text."""
    if token[0] == '"':
        return str(json.loads(token)) if "\\" in token else token[1:-1]
    return token[1:-1].replace("''", "'") if token[0] == "'" else token


def _scalar(token: str) -> Any:
    """A one-line value; raises `_Unsure` for anchors, aliases, tags, folded text and open flows."""
    if token[0] in "\"'":
        if not _QUOTED.fullmatch(token):
            raise _Unsure
        return _key(token)
    if token[0] in "[{":
        return _flow(token)
    if not _PLAIN.match(token) or ": " in token or " #" in token or token.endswith(":"):
        raise _Unsure
    return plain_value(token)


def _flow(token: str) -> Any:
    """A flow collection that is also JSON; raises `_Unsure` for any other."""
    try:
        value = json.loads(
            token, object_pairs_hook=_unique, parse_constant=_refuse, parse_float=_fraction, parse_int=_whole
        )
    except (ValueError, RecursionError):
        raise _Unsure from None
    if re.search(r"\\u[dD][89a-fA-F]|\t", token):
        raise _Unsure
    return value


def _fraction(text: str) -> float:
    """A fraction that YAML reads as JSON does: one without an exponent."""
    if "e" in text or "E" in text or len(text) > _MAX_DIGITS:
        raise _Unsure
    return float(text)


def _whole(text: str) -> int:
    """A whole number of a sane length."""
    if len(text) > _MAX_DIGITS:
        raise _Unsure
    return int(text)


def _unique(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """A mapping without repeated keys."""
    made = dict(pairs)
    if len(made) != len(pairs) or any(len(key) > _MAX_KEY for key in made):
        raise _Unsure
    return made


def _refuse(_constant: str) -> Any:
    """NaN and the infinities are no JSON."""
    raise _Unsure


def scalar(value: Any) -> str:
    """A JSON value as one line of YAML: plain where that is certain, else quoted; collections in flow."""
    if isinstance(value, str):
        if _SAFE_PLAIN.match(value) and isinstance(plain_value(value), str) and value not in _SPECIAL:
            return value
        return _quote(value)
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_quote(str(key))}: {scalar(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(scalar(item) for item in value) + "]"
    return json.dumps(value)


_SAFE_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_./@+-]*(?: [A-Za-z0-9_./@+-]+)*\Z")
_SPECIAL = frozenset(
    word for base in ("y", "n", "yes", "no", "on", "off") for word in (base, base.title(), base.upper())
)
"""Words that YAML 1.1 readers take for booleans."""


def _quote(text: str) -> str:
    """A double-quoted scalar."""
    shown = json.dumps(text, ensure_ascii=False)
    return re.sub(
        "[\x7f-\xa0\u2028\u2029\ufeff\ud800-\udfff\ufffe\uffff]",
        lambda match: f"\\u{ord(match[0]):04x}",
        shown,
    )


def key(name: str) -> str:
    """A mapping key as YAML: plain where that is certain, else quoted."""
    return name if re.fullmatch(_WORD, name) and len(name) < _MAX_KEY else _quote(name)


def dump(value: Any) -> str:
    """A JSON value as YAML in block style, for a fresh file; `parse` reads it back as the same value."""
    if isinstance(value, Mapping) and value:
        return "\n".join(_block(value, 0)) + "\n"
    return scalar(value) + "\n"


def _block(value: Mapping[str, Any], depth: int) -> list[str]:
    """The lines of a mapping."""
    lines: list[str] = []
    pad = "  " * depth
    for name, item in value.items():
        token = key(name)
        if isinstance(item, Mapping) and item:
            lines += [f"{pad}{token}:", *_block(item, depth + 1)]
        elif isinstance(item, list | tuple) and item:
            lines += [f"{pad}{token}:", *(f"{pad}  - {scalar(entry)}" for entry in item)]
        elif isinstance(item, str) and _literal_fits(item):
            rows = item.split("\n")
            lines += [f"{pad}{token}: |-", *(f"{pad}  {row}" if row else "" for row in rows)]
        else:
            lines.append(f"{pad}{token}: {scalar(item)}")
    return lines


def _literal_fits(text: str) -> bool:
    """Whether a text of several lines can stand as a literal block and be read back exactly."""
    rows = text.split("\n")
    return (
        len(rows) > 1
        and bool(rows[0].strip())
        and rows[0][0] not in " \t"
        and bool(rows[-1].strip())
        and not _UNSURE.search(text)
        and "\r" not in text
        and all(row.strip(" \t") or not row for row in rows)
    )
