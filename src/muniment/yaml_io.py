"""YAML in and out, for people's settings and for the state, over `yaml_events` and ruamel.yaml.

Reading follows the YAML 1.2 core schema and gives plain values with the line of each. It refuses what
two readers could take differently: duplicate keys, conflict markers, several documents, and aliases
that unfold without bound. Writing never re-serialises a person's file: `yaml_lines` edits the few
lines concerned and leaves every other byte (G2).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from muniment import yaml_lines
from muniment.yaml_events import YamlError, events
from muniment.yaml_lines import dump, plain_value

__all__ = ["Yaml", "YamlError", "dump", "parse", "round_trip", "set_fields", "set_item_fields"]

MAX_CHARS = 64 * 1024 * 1024
"""Longest text read at all, in characters."""
MAX_SLOW_CHARS = 4 * 1024 * 1024
"""Longest text given to the full parser, in characters: it reads about 0.3 MB a second."""
MAX_DEPTH = 64
MAX_UNFOLDED = 100_000
"""Most nodes that aliases may add by unfolding."""

_CONFLICT = re.compile(r"^(?:<{7}|>{7}|\|{7})(?:[ \t].*)?$", re.MULTILINE)
_CORE = "tag:yaml.org,2002:"


@dataclass(frozen=True, slots=True)
class Yaml:
    """One document as plain values.

    Attributes:
        value: dicts with string keys, lists, str, int, float, bool, None. Timestamps, dates, `.inf`
            and `.nan` stay strings, so that everything has a JSON form.
        lines: Path of keys and list positions → 1-based line.
    """

    value: Any
    lines: Mapping[tuple[str | int, ...], int] = field(default_factory=dict)

    def line(self, *keys: str | int) -> int:
        """The 1-based line where the value at this path is written (its key, if it has one); 0 unknown."""
        return self.lines.get(keys, 0)


def parse(text: str) -> Yaml:
    """Read one YAML document; an empty one is None.

    Raises:
        YamlError: Bad syntax, duplicate keys, conflict markers, several documents, a key that is no
            scalar, nesting deeper than 64, aliases that unfold without bound, or too long a text.
    """
    body = text.removeprefix("\ufeff")
    _refuse_outright(body)
    plain = yaml_lines.read(body)
    if plain is not None:
        return Yaml(*plain)
    if len(body) > MAX_SLOW_CHARS:
        raise YamlError(
            f"The file has {len(body)} characters; at most {MAX_SLOW_CHARS} are read unless it is plain "
            "block mappings."
        )
    builder = _Builder()
    last = 0
    for event in events(body):
        last = event.start_mark.line + 1
        builder.take(event, last)
    return Yaml(builder.root, builder.lines)


def _refuse_outright(text: str) -> None:
    """Raise for what no parser should be asked about."""
    if len(text) > MAX_CHARS:
        raise YamlError(f"The file has {len(text)} characters; at most {MAX_CHARS} are read.")
    marker = _CONFLICT.search(text)
    if marker:
        raise YamlError("The file holds a git conflict marker.", text.count("\n", 0, marker.start()) + 1)
    if "\0" in text:
        raise YamlError("The file is binary.", text.count("\n", 0, text.index("\0")) + 1)


@dataclass(slots=True)
class _Frame:
    """An open mapping or sequence."""

    value: Any
    path: tuple[str | int, ...]
    anchor: str | None
    nodes: int = 1
    key: str | None = None


class _Builder:
    """Builds plain values from parser events without recursion."""

    def __init__(self) -> None:
        self.root: Any = None
        self.lines: dict[tuple[str | int, ...], int] = {}
        self._stack: list[_Frame] = []
        self._anchors: dict[str, tuple[Any, int]] = {}
        self._unfolded = 0
        self._documents = 0

    def take(self, event: Any, line: int) -> None:
        """Take one event."""
        match type(event).__name__:
            case "DocumentStartEvent":
                self._documents += 1
                if self._documents > 1:
                    raise YamlError("The file holds several YAML documents; one is allowed.", line)
            case "ScalarEvent":
                self._scalar(event, line)
            case "AliasEvent":
                self._alias(str(event.anchor), line)
            case "MappingStartEvent":
                self._open({}, event.anchor, line)
            case "SequenceStartEvent":
                self._open([], event.anchor, line)
            case "MappingEndEvent" | "SequenceEndEvent":
                self._close()
            case _:
                pass

    def _scalar(self, event: Any, line: int) -> None:
        frame = self._stack[-1] if self._stack else None
        if frame is not None and isinstance(frame.value, dict) and frame.key is None:
            key = str(event.value)
            if key in frame.value:
                first = self.lines.get((*frame.path, key), 0)
                raise YamlError(f"The key {key[:80]!r} is there twice (first on line {first}).", line)
            frame.key = key
            frame.value[key] = None
            self.lines[(*frame.path, key)] = line
            if event.anchor:
                self._anchors[str(event.anchor)] = (key, 1)
            return
        value = _resolve(str(event.value), _tag(event), plain=bool(event.implicit[0]), line=line)
        self._place(value, line)
        if event.anchor:
            self._anchors[str(event.anchor)] = (value, 1)

    def _alias(self, name: str, line: int) -> None:
        frame = self._stack[-1] if self._stack else None
        if frame is not None and isinstance(frame.value, dict) and frame.key is None:
            raise YamlError("An alias is used as a key.", line)
        if name not in self._anchors:
            raise YamlError(f"The alias *{name[:80]} has no finished anchor before it.", line)
        value, nodes = self._anchors[name]
        self._unfolded += nodes
        if self._unfolded > MAX_UNFOLDED:
            raise YamlError("The file's aliases unfold to too many values.", line)
        self._place(value, line)
        if self._stack:
            self._stack[-1].nodes += nodes - 1

    def _open(self, value: Any, anchor: Any, line: int) -> None:
        if self._stack and isinstance(self._stack[-1].value, dict) and self._stack[-1].key is None:
            raise YamlError("A key is a mapping or a list; only plain keys are read.", line)
        if len(self._stack) >= MAX_DEPTH:
            raise YamlError(f"The file is nested deeper than {MAX_DEPTH} levels.", line)
        path = self._place(value, line)
        self._stack.append(_Frame(value, path, str(anchor) if anchor else None))

    def _close(self) -> None:
        frame = self._stack.pop()
        if frame.anchor:
            self._anchors[frame.anchor] = (frame.value, frame.nodes)
        if self._stack:
            self._stack[-1].nodes += frame.nodes - 1

    def _place(self, value: Any, line: int) -> tuple[str | int, ...]:
        """Put a value where the innermost open collection wants it; returns its path."""
        if not self._stack:
            self.root = value
            self.lines[()] = line
            return ()
        frame = self._stack[-1]
        frame.nodes += 1
        path: tuple[str | int, ...]
        if isinstance(frame.value, list):
            path = (*frame.path, len(frame.value))
            frame.value.append(value)
            self.lines[path] = line
        else:
            key = frame.key or ""
            path = (*frame.path, key)
            frame.value[key] = value
            frame.key = None
        return path


def _tag(event: Any) -> str:
    """An event's explicit tag, or "" when it has none."""
    tag = getattr(event, "ctag", None)
    return "" if tag is None else str(tag)


def _resolve(text: str, tag: str, *, plain: bool, line: int) -> Any:
    """A scalar's value by its explicit tag, or by the core schema when it is plain and untagged."""
    kind = tag.removeprefix(_CORE).removeprefix("!!")
    if kind in {"int", "float", "bool", "null"}:
        value = plain_value(text)
        if type(value).__name__.replace("NoneType", "null") == kind:
            return value
        if kind == "float" and isinstance(value, int):
            return float(value)
        raise YamlError(f"A value tagged !!{kind} is none.", line)
    return plain_value(text) if plain and kind == "" else text


def set_item_fields(text: str, section: str, key: str, fields: Mapping[str, Any]) -> str:
    """`set_fields` for one item."""
    return set_fields(text, section, {key: fields})


def set_fields(
    text: str, section: str, changes: Mapping[str, Mapping[str, Any]], *, document: Yaml | None = None
) -> str:
    """The text with fields of `section`'s items set, every other byte as it was (G2).

    A field that stands on one line is replaced there, its comment kept; a new one goes after the item's
    first line. What can't be placed so goes through a round trip that keeps comments. Either way the
    result is read back and must hold exactly the old values with these fields set.

    Args:
        text: A YAML document with block mappings `section` → item key → field.
        section: The top-level key.
        changes: Item key → field → new JSON value.
        document: The text as already parsed, if it is.

    Raises:
        YamlError: The text can't be read, an item isn't there, or neither way gives the right values.
    """
    before = document or parse(text)
    wanted = _with_fields(before.value, section, changes)
    if wanted == before.value:
        return text
    edited = _edit_lines(text, before, section, changes)
    if edited is not None and _reads_as(edited, wanted):
        return edited
    edited = _round_trip(text, section, changes)  # seconds for a large file: only where lines don't do
    if edited is not None and _reads_as(edited, wanted):
        return edited
    raise YamlError("The file's YAML can't be edited without changing more than was asked.")


def _with_fields(value: Any, section: str, changes: Mapping[str, Mapping[str, Any]]) -> Any:
    """The document's values as they should be afterwards."""
    items = value.get(section) if isinstance(value, dict) else None
    if not isinstance(items, dict):
        raise YamlError(f"There is no mapping {section!r}.")
    new = dict(items)
    for key, fields in changes.items():
        if not isinstance(new.get(key), dict):
            raise YamlError(f"{section} has no mapping {key[:80]!r}.")
        new[key] = new[key] | dict(fields)
    return value | {section: new}


def _reads_as(text: str, wanted: Any) -> bool:
    """Whether a text reads as exactly these values."""
    try:
        return bool(parse(text).value == wanted)
    except YamlError:
        return False


_ONE_LINE = re.compile(
    r"(?P<lead> +(?:[^\s\"'#]+|\"[^\"\\]*\"|'[^']*'):[ ]+)"
    r"(?P<value>\"(?:[^\"\\]|\\.)*\"|'(?:[^']|'')*'|\[[^\r\n]*\]|\{[^\r\n]*\}"
    r"|[^\"'\s#&*!|>\[{%@`](?:[^ \t\r\n]|[ \t]++(?=[^ \t\r\n#]))*+)"
    r"(?P<rest>[ \t]*+(?:(?<=[ \t])#[^\r\n]*)?(?:\r\n|\r|\n|\Z))"
)
_MAPPING_LINE = re.compile(
    r"(?P<indent> +)(?:[^\s\"'#]+|\"[^\"]*\"|'[^']*'):[ \t]*(?:#[^\r\n]*)?(?:\r\n|\r|\n)\Z"
)
_LINES = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+\Z")


def _edit_lines(
    text: str, before: Yaml, section: str, changes: Mapping[str, Mapping[str, Any]]
) -> str | None:
    """`set_fields` by lines, or None where a line isn't what it takes."""
    lines = _LINES.findall(text)
    for key, fields in changes.items():
        head = before.line(section, key)
        first = min((before.line(section, key, name) for name in before.value[section][key]), default=0)
        opening = _MAPPING_LINE.match(lines[head - 1]) if 0 < head < first <= len(lines) else None
        if not opening:
            return None
        indent = lines[first - 1][: len(lines[first - 1]) - len(lines[first - 1].lstrip(" "))]
        newline = lines[head - 1][len(lines[head - 1].rstrip("\r\n")) :]
        added = ""
        for name, value in fields.items():
            number = before.line(section, key, name)
            if number > len(lines):
                return None  # a parser that counts rarer line ends
            if not number:
                added += f"{indent}{yaml_lines.key(name)}: {yaml_lines.scalar(value)}{newline}"
                continue
            match = _ONE_LINE.fullmatch(lines[number - 1])
            if not match:
                return None
            lines[number - 1] = f"{match['lead']}{yaml_lines.scalar(value)}{match['rest']}"
        lines[head - 1] += added
    return "".join(lines)


def _round_trip(text: str, section: str, changes: Mapping[str, Mapping[str, Any]]) -> str | None:
    """`set_fields` by a round trip that keeps comments, or None where even that fails."""
    pairs = ((key, name, value) for key, fields in changes.items() for name, value in fields.items())
    return round_trip(text, (((section, key, name), value) for key, name, value in pairs))


def round_trip(
    text: str, changes: Iterable[tuple[Sequence[str], Any]], *, remove: object = ...
) -> str | None:
    """The text with values set at paths of mapping keys, by a parser that keeps comments; None if it can't.

    Slow, and not exact about spelling: read the result back before it is used. Missing mappings are made;
    a value that is `remove` itself takes the key away.
    """
    import io  # noqa: PLC0415 - rarely needed

    from ruamel.yaml import YAML  # noqa: PLC0415 - slow to import
    from ruamel.yaml.error import YAMLError  # noqa: PLC0415 - same

    if len(text) > MAX_SLOW_CHARS or re.search(r"\r(?!\n)", text):
        return None  # too slow; or line ends that would all become others
    editor = YAML(typ="rt", pure=True)
    editor.preserve_quotes = True
    editor.width = 1 << 30
    editor.indent(mapping=2, sequence=4, offset=2)
    mark = "\ufeff" if text.startswith("\ufeff") else ""
    try:
        document = editor.load(text[len(mark) :].replace("\r\n", "\n"))
        for path, value in changes:
            place = document
            for key in path[:-1]:
                if place.get(key) is None:
                    place[key] = {}
                place = place[key]
            if value is remove:
                place.pop(path[-1], None)
            else:
                place[path[-1]] = value
        out = io.StringIO()
        editor.dump(document, out)
    except (YAMLError, LookupError, TypeError, ValueError, AttributeError, RecursionError):
        return None
    shown = out.getvalue()
    return mark + (shown.replace("\n", "\r\n") if "\r\n" in text else shown)
