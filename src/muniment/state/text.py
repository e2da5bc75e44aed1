"""A state's text as an operation sees it, and the text after its edits. Pure.

Reading makes sure of the whole file and parses only what is asked for; writing changes the lines concerned
and reads them back. Only a text that isn't plain block YAML goes through the full parser.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from muniment import yaml_io
from muniment.state import edit as surgery
from muniment.state import outline
from muniment.state.model import is_sensitive
from muniment.state.operations import HIDDEN_FIELDS, REMOVE, Edit, Unplaceable, scrub
from muniment.state.outline import Block
from muniment.state.overlay import merged, with_fields
from muniment.yaml_io import Yaml, YamlError

_BOM = "\ufeff"
_MAPPINGS = ("items", "sources", "lease", "last_run")
_KEEPING = re.compile(r"[|>][+0-9]*[ ]*(?:#.*)?\r?$", re.MULTILINE)
_MANY = 64
"""From so many edits of items on, the result is read back whole."""


class Corrupt(Exception):
    """A text that nothing may be read from or written to: what is wrong, and the 1-based line (0 unknown)."""

    def __init__(self, message: str, line: int = 0) -> None:
        super().__init__(message)
        self.message = message
        self.line = line


class NoState:
    """The view where there is no state."""

    exists = False
    data = b""

    def item(self, key: str) -> None:
        """There is none."""

    def source(self, source: str) -> None:
        """There is none."""

    def top(self, name: str) -> None:
        """There is none."""

    def items(self) -> tuple[tuple[str, Mapping[str, Any]], ...]:
        """There are none."""
        return ()

    def value(self) -> Any:
        """There is none."""
        return None

    def hidden_texts(self) -> tuple[Edit, ...]:
        """There are none."""
        return ()

    def edited(self, edits: Iterable[Edit]) -> bytes:
        """The bytes of a new state."""
        made = surgery.apply("", merged(edits))
        if made is None or not same(yaml_io.parse(made).value, _after({}, merged(edits))):
            raise Unplaceable("The values have no form in YAML that reads back as the same.")
        return made.encode("utf-8")


class StateText:
    """A state that was read and is sound as a whole.

    Attributes:
        data: The file's bytes.
        text: The same as text, without a BOM.
        plain: Whether single items can be read and written without the others.
    """

    exists = True

    def __init__(self, data: bytes) -> None:
        """Make sure of a file's bytes; raises `Corrupt`."""
        self.data = data
        self._whole = _decode(data)
        self._mark = _BOM if self._whole.startswith(_BOM) else ""
        self.text = self._whole.removeprefix(_BOM)
        self._document: Yaml | None = None
        self._blocks: dict[str, Block] = {}
        self._rest: Mapping[str, Any] = {}
        self._unended = False
        self.plain = self._outlined(data.removeprefix(_BOM.encode()))
        if not self.plain:
            self._document = _parsed(self._whole)
            self._rest = self._document.value
        _require_shape(self._rest, self._line)

    def _outlined(self, data: bytes) -> bool:
        """Whether the text is plain; then all but the items is read.

        A text whose last line isn't ended gets its end, which a write takes away again; only a block scalar
        that keeps it (`|`) would be another text then.
        """
        end = "" if self.text.endswith("\n") else "\r\n" if "\r\n" in self.text else "\n"
        blocks = outline.scan(self.text + end, data + end.encode())
        if blocks is None or (end and _KEEPING.search(self.text)):
            return False
        self.text, self._unended = self.text + end, bool(end)
        self._blocks = {block.key: block for block in blocks}
        items = self._blocks.get("items")
        others = self.text if items is None else self.text[: items.start] + self.text[items.end :]
        try:
            found = yaml_io.parse(others).value
        except YamlError:
            return False
        if not isinstance(found, dict):
            return False
        self._rest = found
        return set(self._rest) == self._blocks.keys() - {"items"}

    def _line(self, *path: str) -> int:
        """The line of a key; 0 unknown."""
        if self._document is not None:
            return self._document.line(*path)
        block = self._blocks.get(path[0]) if path else None
        if block is not None and len(path) > 1:
            block = outline.child(self.text, block, path[1]) or block
        return 0 if block is None else self.text.count("\n", 0, block.start) + 1

    def item(self, key: str) -> Mapping[str, Any] | None:
        """One item's fields; None also for an item that says nothing at all."""
        if self._document is not None:
            return self._record("items", self._document.value.get("items"), key)
        items = self._blocks.get("items")
        block = outline.child(self.text, items, key) if items is not None else None
        if block is None:
            return None
        return self._record("items", yaml_io.parse(outline.dedent(self.text, block)).value, key)

    def source(self, source: str) -> Mapping[str, Any] | None:
        """One source's fields, or None."""
        return self._record("sources", self._rest.get("sources"), source)

    def _record(self, section: str, records: Mapping[str, Any] | None, key: str) -> Mapping[str, Any] | None:
        record = (records or {}).get(key)
        if record is not None and not isinstance(record, dict):
            raise Unplaceable(f"{key[:80]!r} of {section} is no mapping.", self._line(section, key))
        return record

    def top(self, name: str) -> Any:
        """A top-level value other than the items."""
        return self._rest.get(name)

    def items(self) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """Every item that is a mapping, in the file's order."""
        for key, record in (self.value().get("items") or {}).items():
            if isinstance(record, dict):
                yield key, record

    def value(self) -> Mapping[str, Any]:
        """The whole state, as plain values in the file's order."""
        if self._document is None:
            try:
                self._document = yaml_io.parse(self._whole)
            except YamlError:  # longer than the parser takes at once
                self._document = Yaml(self._piece_by_piece())
        value: Mapping[str, Any] = self._document.value
        return value

    def _piece_by_piece(self) -> dict[str, Any]:
        """The whole of a plain text, its items read one by one."""
        items = self._blocks["items"]
        blocks = outline.children(self.text, items) or ()
        found = (yaml_io.parse(outline.dedent(self.text, block)).value for block in blocks)
        joined = {key: record for one in found for key, record in one.items()}
        return {name: joined if name == "items" else self._rest[name] for name in self._blocks}

    def hidden_texts(self) -> Iterator[Edit]:
        """What takes the text out of items whose source is sensitive, where it still stands (S17)."""
        sources = self._rest.get("sources") or {}
        hiding = tuple(f"{name}:" for name, record in sources.items() if is_sensitive(record))
        if not hiding:
            return
        for key, record in self._items_of(hiding):
            change = scrub(key, record)
            if change is not None:
                yield change

    def _items_of(self, prefixes: tuple[str, ...]) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """The items whose keys begin so, and that may hold text."""
        items = self._blocks.get("items")
        if self._document is not None or items is None:
            yield from ((key, record) for key, record in self.items() if key.startswith(prefixes))
            return
        for block in outline.children(self.text, items) or ():
            mine = block.key.startswith(prefixes)
            if mine and any(name in self.text[block.start : block.end] for name in HIDDEN_FIELDS):
                record = yaml_io.parse(outline.dedent(self.text, block)).value[block.key]
                if isinstance(record, dict):
                    yield block.key, record

    def edited(self, edits: Iterable[Edit]) -> bytes:
        """The file's bytes after edits.

        Raises:
            Unplaceable: There is no way to make them that keeps everything else.
        """
        once = tuple(one for edit in merged(edits) if (one := self._needed(edit)) is not None)
        if not once:
            return self.data
        made = surgery.apply(self.text, once)
        if made is not None and (self._reads_as(made, once) or self._wholly(made, once)):
            shown = made.removesuffix("\n").removesuffix("\r") if self._unended else made
            return (self._mark + shown).encode("utf-8")
        made = yaml_io.round_trip(self._whole, _paths(once), remove=REMOVE)
        if made is not None and self._wholly(made.removeprefix(_BOM), once):
            return made.encode("utf-8")
        first = next((one for one in once if one.section or one.key), once[0])
        path = [part for part in (first.section, first.key) if part]
        where = next((self._line(*path[:end]) for end in (2, 1) if self._line(*path[:end])), 1)
        raise Unplaceable("The file's YAML can't be edited without changing more than was asked.", where)

    def _needed(self, change: Edit) -> Edit | None:
        """The part of an edit that changes a value: what stands as it should keeps its spelling."""
        match change.section, change.key:
            case "items", key:
                standing = self.item(key)
            case "sources", key:
                standing = self.source(key)
            case _, "":
                standing = {name: self.top(name) for name in change.fields if name in self._rest}
            case _, key:
                standing = self.top(key)
        fields = {
            name: value
            for name, value in change.fields.items()
            if (name in (standing or {})) != (value is not REMOVE)
            or (value is not REMOVE and not same(value, (standing or {})[name]))
        }
        return Edit(change.section, change.key, fields, change.new) if fields else None

    def _reads_as(self, made: str, edits: tuple[Edit, ...]) -> bool:
        """Whether what was changed reads as it should; all other lines are as they were, by construction."""
        if not self.plain or len(edits) > _MANY:
            return False
        blocks = outline.sections(made)
        if blocks is None:
            return False
        items = next((block for block in blocks if block.key == "items"), None)
        others = made if items is None else made[: items.start] + made[items.end :]
        mine = [one for one in edits if one.section == "items"]
        try:
            rest = yaml_io.parse(others).value
            wanted = _after(self._rest, [one for one in edits if one.section != "items"])
            return same(rest, wanted) and all(self._item_reads_as(made, items, one) for one in mine)
        except YamlError:
            return False

    def _item_reads_as(self, made: str, items: Block | None, change: Edit) -> bool:
        block = None if items is None else outline.child(made, items, change.key)
        if block is None:
            return False
        found = yaml_io.parse(outline.dedent(made, block)).value
        return same(found, {change.key: with_fields(self.item(change.key), change.fields)})

    def _wholly(self, made: str, edits: tuple[Edit, ...]) -> bool:
        """Whether the whole of a text reads as it should."""
        try:
            return same(yaml_io.parse(made).value, _after(self.value(), edits))
        except YamlError:
            return False


def read(data: bytes | None) -> StateText | NoState:
    """The view of a file's bytes, None standing for no file; raises `Corrupt`."""
    return NoState() if data is None else StateText(data)


def _decode(data: bytes) -> str:
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Corrupt("The file is not UTF-8.", data.count(b"\n", 0, error.start) + 1) from error
    if not text.removeprefix(_BOM).strip():
        raise Corrupt("The file is empty.", 1)
    return text


def _parsed(text: str) -> Yaml:
    try:
        document = yaml_io.parse(text)
    except YamlError as error:
        raise Corrupt(error.message, error.line) from error
    if not isinstance(document.value, dict):
        raise Corrupt("The file is no YAML mapping.", document.line() or 1)
    return document


def _require_shape(top: Mapping[str, Any], line: Any) -> None:
    """Raise `Corrupt` for a known key that is missing or of the wrong shape."""
    version = top.get("schema_version")
    if type(version) is not int or version < 1:
        missing = "schema_version" not in top
        words = "There is no `schema_version`." if missing else "`schema_version` is no whole number above 0."
        raise Corrupt(words, line("schema_version"))
    for name in _MAPPINGS:
        if not isinstance(top.get(name), dict | None):
            raise Corrupt(f"`{name}` is no mapping.", line(name))
    epoch = top.get("lease_epoch")
    if epoch is not None and (type(epoch) is not int or epoch < 0):
        raise Corrupt("`lease_epoch` is no whole number.", line("lease_epoch"))


def same(one: Any, other: Any) -> bool:
    """Whether two plain values are the same whatever the order of keys; 1, true and 1.0 are told apart."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def _after(value: Mapping[str, Any], edits: Iterable[Edit]) -> dict[str, Any]:
    """The whole value as it should be after edits."""
    after = dict(value)
    for one in edits:
        if one.section:
            section = dict(after.get(one.section) or {})
            section[one.key] = with_fields(section.get(one.key), one.fields)
            after[one.section] = section
        elif one.key:
            after[one.key] = with_fields(after.get(one.key), one.fields)
        else:
            after = with_fields(after, one.fields)
    return after


def _paths(edits: Iterable[Edit]) -> Iterator[tuple[tuple[str, ...], Any]]:
    for one in edits:
        stem = tuple(part for part in (one.section, one.key) if part)
        yield from (((*stem, name), value) for name, value in one.fields.items())
