"""Edits to a state's text: the lines concerned change, every other byte stays (G2). Pure.

Comments, key order, unknown keys, indentation, line ends and spelling are kept. What can't be placed with
certainty gives None: the caller checks every result by reading it back, and has a slower way.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from muniment import yaml_io
from muniment.state import outline, spelling
from muniment.state.operations import REMOVE, Edit
from muniment.state.outline import Block

ORDER = ("schema_version", "lease", "lease_epoch", "sources", "items", "last_run", "conflicts")
"""Where a new top-level key goes: after the nearest of those before it here."""
_MANY = 16
"""From so many items on, all are found in one pass."""
_REST = re.compile(r"(?P<space>[ ]*)(?P<value>(?:\{[ ]*\}|null|Null|NULL|~)?)(?P<note>[ ]*(?:#.*)?)\Z")
_VALUE = re.compile(
    r"(?P<space>[ ]+)"
    r"(?P<value>\"(?:[^\"\\]|\\.)*\"|'(?:[^']|'')*'|\[.*\]|\{.*\}|[^\"'\s#&*!|>\[{%@`](?:(?! #).)*?)"
    r"(?P<note>[ ]*(?:[ ]#.*)?)\Z"
)


class _Unsure(Exception):
    """An edit that can't be placed with certainty."""


def apply(text: str, edits: Iterable[Edit]) -> str | None:
    """The text with edits made, or None where one can't be placed.

    Args:
        text: A state's text without a BOM; "" begins one.
        edits: What to change; at most one edit for each mapping.
    """
    ended = text if text.endswith("\n") or not text else text + _newline(text)
    try:
        edited = _Editor(ended).edit(list(edits))
    except _Unsure:
        return None
    return edited if ended == text else edited.removesuffix("\n").removesuffix("\r")


def _newline(text: str) -> str:
    at = text.find("\n")
    return "\r\n" if at > 0 and text[at - 1] == "\r" else "\n"


class _Editor:
    """Collects what to put where, and does it in one go."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.newline = _newline(text)
        found = outline.sections(text)
        if found is None or (not found and text.strip()):
            raise _Unsure
        self.top = {block.key: block for block in found}
        if len(self.top) != len(found):
            raise _Unsure
        self.splices: list[tuple[int, int, str]] = []
        self.added: dict[str, str] = {}

    def edit(self, edits: Sequence[Edit]) -> str:
        """The text after the edits; raises `_Unsure`."""
        for name in ("sources", "items"):
            self._records(name, [edit for edit in edits if edit.section == name])
        for edit in edits:
            if not edit.section and edit.key:
                self._mapping(edit.key, edit.fields)
            elif not edit.section:
                self._top_fields(edit.fields)
        self._place_added()
        parts, at = [], 0
        for start, end, new in sorted(self.splices, key=lambda one: one[:2]):
            if start < at:
                raise _Unsure
            parts += [self.text[at:start], new]
            at = end
        return "".join([*parts, self.text[at:]])

    def _records(self, section: str, edits: Sequence[Edit]) -> None:
        """Items or sources: fields of those that are there, the others as new records."""
        if not edits:
            return
        parent = self.top.get(section)
        if parent is None:
            self.added[section] = self._new_records(f"{section}:{self.newline}", edits, "  ", "  ")
            return
        known = self._index(parent) if len(edits) >= _MANY else None
        fresh = []
        for edit in edits:
            block = known.get(edit.key) if known is not None else outline.child(self.text, parent, edit.key)
            if block is not None:
                self._fields(block, edit.fields)
            elif edit.new:
                fresh.append(edit)
            else:
                raise _Unsure
        if fresh:
            self._insert(parent, fresh)

    def _index(self, parent: Block) -> Mapping[str, Block]:
        found = outline.children(self.text, parent)
        if found is None:
            if self._emptied(parent) is not None:
                return {}
            raise _Unsure
        return {block.key: block for block in found}

    def _new_records(self, head: str, edits: Iterable[Edit], pad: str, step: str) -> str:
        ordered = sorted(edits, key=lambda one: one.key)
        made = (spelling.record(edit.key, _set(edit.fields), pad, self.newline, step) for edit in ordered)
        return head + "".join(made)

    def _insert(self, parent: Block, edits: Sequence[Edit]) -> None:
        """New records: where they belong if the section is sorted, else at its end."""
        pad = outline.inner_pad(self.text, parent)
        if not pad:
            head = self._emptied(parent)
            if head is None:
                raise _Unsure
            made = self._new_records(head, edits, parent.pad + "  ", "  ")
            self.splices.append((parent.start, parent.body, made))
            return
        keys = list(outline.names(self.text, parent))
        step = self._step(parent, pad)
        if keys != sorted(keys):
            self.splices.append((parent.end, parent.end, self._new_records("", edits, pad, step)))
            return
        for edit in sorted(edits, key=lambda one: one.key):
            at = bisect_left(keys, edit.key)
            before = outline.child(self.text, parent, keys[at - 1]) if at else None
            if at and before is None:
                raise _Unsure
            place = before.end if before is not None else parent.body
            self.splices.append((place, place, self._new_records("", [edit], pad, step)))

    def _step(self, parent: Block, pad: str) -> str:
        """How much deeper than a record its fields stand."""
        first = outline.child(self.text, parent, self._first(parent))
        inner = outline.inner_pad(self.text, first) if first else None
        return inner[len(pad) :] if inner else "  "

    def _first(self, parent: Block) -> str:
        return next(iter(outline.names(self.text, parent)), "")

    def _mapping(self, name: str, fields: Mapping[str, Any]) -> None:
        """Fields of one top-level mapping."""
        block = self.top.get(name)
        if block is not None:
            self._fields(block, fields)
        elif _set(fields):
            self.added[name] = spelling.record(name, _set(fields), "", self.newline)

    def _top_fields(self, fields: Mapping[str, Any]) -> None:
        """Fields of the top level itself."""
        for name, value in fields.items():
            block = self.top.get(name)
            if block is None:
                if value is not REMOVE:
                    self.added[name] = spelling.field(name, value, "", self.newline)
            elif value is REMOVE:
                self.splices.append((block.start, block.end, "".join(outline.comments(self.text, block))))
            else:
                self._set_field(block, value)

    def _fields(self, block: Block, fields: Mapping[str, Any]) -> None:
        """Set and remove fields of a block mapping, or fill an empty one."""
        standing = outline.children(self.text, block)
        head = None if standing else self._emptied(block)
        if not standing and head is not None:
            lines = (
                spelling.field(name, one, block.pad + "  ", self.newline)
                for name, one in _set(fields).items()
            )
            self.splices.append((block.start, block.body, head + "".join(lines)))
            return
        if not standing:
            self._by_round_trip(block, fields)
            return
        by_key = {one.key: one for one in standing}
        if len(by_key) != len(standing):
            raise _Unsure
        added = ""
        for name, value in fields.items():
            field = by_key.get(name)
            if field is not None and value is REMOVE:
                self.splices.append((field.start, field.end, ""))
            elif field is not None:
                self._set_field(field, value)
            elif value is not REMOVE:
                added += spelling.field(name, value, standing[0].pad, self.newline)
        last = standing[-1].end
        if added:
            self.splices.append((last, last, added))
        elif all(fields.get(name) is REMOVE for name in by_key):
            self._empty(block)

    def _by_round_trip(self, block: Block, fields: Mapping[str, Any]) -> None:
        """Set fields of a record in flow style or the like, by the slow editor, and of nothing else."""
        paths = (((block.key, name), value) for name, value in fields.items())
        made = yaml_io.round_trip(outline.dedent(self.text, block), paths, remove=REMOVE)
        if made is None:
            raise _Unsure
        lines = (block.pad + line if line.strip() else line for line in made.split("\n"))
        self.splices.append((block.start, block.end, "\n".join(lines)))

    def _set_field(self, field: Block, value: Any) -> None:
        """Another value for a field: in its place if it stands on one line, else for all its lines."""
        new = spelling.field(field.key, value, field.pad, self.newline)
        head_end = field.body - len(self._eol(field))
        match = _VALUE.match(field.rest)
        if match and field.end == field.body and new.count("\n") == 1:
            start = head_end - len(field.rest)
            shown = f"{match['space']}{spelling.value(value)}{match['note']}"
            self.splices.append((start, head_end, shown))
            return
        kept = outline.comments(self.text, field) if field.bare else ()
        self.splices.append((field.start, field.end, new + "".join(kept)))

    def _emptied(self, block: Block) -> str | None:
        """The first line of an empty mapping, ready to get fields below it; None for any other block."""
        match = _REST.match(block.rest)
        if not match or block.end != block.body:
            return None
        head_end = block.body - len(self._eol(block))
        colon = head_end - len(block.rest)
        note = match["note"].strip(" ")
        return self.text[block.start : colon] + (f"  {note}" if note else "") + self.newline

    def _empty(self, block: Block) -> None:
        """Write that a mapping has no field left."""
        at = block.body - len(self._eol(block)) - len(block.rest)
        self.splices.append((at, at, " {}"))

    def _eol(self, block: Block) -> str:
        return "\r\n" if self.text.startswith("\r\n", block.body - 2) else "\n"

    def _place_added(self) -> None:
        """Put new top-level keys after the nearest of those that come before them."""
        names = sorted(self.added, key=lambda name: ORDER.index(name) if name in ORDER else len(ORDER))
        for name in names:
            earlier = ORDER[: ORDER.index(name)] if name in ORDER else tuple(self.top)
            before = [self.top[one] for one in earlier if one in self.top]
            place = max((block.end for block in before[-1:]), default=len(self.text) if not self.top else 0)
            self.splices.append((place, place, self.added[name]))


def _set(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not REMOVE}
