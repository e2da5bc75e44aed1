"""The state's merge on a file's own lines, so that comments and spelling survive it (G2, G8, pure).

`merge` decides on values; here the result is put together from the lines of the sides. Entries whose text is
the same everywhere are passed through unread, which is what makes a merge of a large state quick; the others
are read, merged, and written back key by key: an entry's lines come from the side whose value won, and only a
value that neither side has (a merged mapping in flow style, `conflicts`) is written anew. The result is read
back before anybody gets it. What isn't plain block mappings is merged by value and written anew.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from muniment.state import spelling
from muniment.state.merge import CONFLICTS, MISSING, merge, merge_item, same, withheld
from muniment.state.merge_blocks import Block, Nested, certain, nested, reindented, split
from muniment.state.merge_form import SideError, dressed, pick, plain
from muniment.state.merge_order import placed
from muniment.yaml_io import YamlError, dump, parse

SIDES = ("base", "ours", "theirs")
_NUMBER = re.compile(r"\n +r: +([0-9]+) *(?=[\n#])")
_SECTIONS = ("sources", "items")
_MAPPINGS = (*_SECTIONS, "lease", "last_run")
Values = Callable[[Any, Any, Any], dict[str, Any]]
Piece = tuple[str, str]
"""Lines, and the same without what is passed through."""


def merge_text(base: str | None, ours: str, theirs: str) -> str:
    """The text of a state that holds what both sides did to `base`, the same whichever side is which.

    Args:
        base: What both sides started from; None when there is no such version.
        ours: One side.
        theirs: The other.

    Raises:
        SideError: A version is no state that can be read: markers, twice the same key, cut off, empty.
    """
    return _merge_document((base, ours, theirs), merge, _SECTIONS, _state_fault)


def merge_item_text(base: str | None, ours: str, theirs: str, *, hidden: bool = False) -> str:
    """The same for the file of one item, a flat mapping of its fields.

    Args:
        base: What both sides started from; None when there is no such version.
        ours: One side.
        theirs: The other.
        hidden: Whether the item's source is sensitive, so that no text of it may be stored (S17).
    """

    def values(old: Any, one: Any, other: Any) -> dict[str, Any]:
        merged = merge_item(old, one, other)
        return withheld(merged) if hidden else merged

    return _merge_document((base, ours, theirs), values, (), lambda _: "")


def combined(texts: Sequence[str], value: Mapping[str, Any]) -> str:
    """A text that says `value`, out of the lines of three others."""
    return _merge_document(texts, lambda *_: dict(value), (), lambda _: "")


def _state_fault(value: Any) -> str:
    if type(value.get("schema_version")) is not int:
        return "The state has no whole-number `schema_version`."
    wrong = [name for name in _MAPPINGS if not isinstance(value.get(name), dict | None)]
    return f"`{wrong[0]}` is no mapping." if wrong else ""


def _merge_document(
    texts: Sequence[str | None], values: Values, sections: Collection[str], fault: Callable[[Any], str]
) -> str:
    bare = [None if text is None else plain(text) for text in texts]
    documents = [None if text is None else _Document.read(text, sections) for text in bare]
    if decided := _one_sided(texts):
        for side, text in zip(SIDES, bare, strict=True):
            if text is not None:
                _value(side, text, text, fault)  # a side that can't be read is no result either
        return decided[0]
    merged = None
    if all(one is not None or text is None for one, text in zip(documents, bare, strict=True)):
        merged = _by_lines(bare, documents, values, fault)
    if merged is None:
        merged = _by_value(bare, values, fault)
    return dressed(merged, texts)


def _one_sided(texts: Sequence[str | None]) -> tuple[str] | None:
    """The whole text where a single side changed it, or both alike."""
    base, ours, theirs = texts
    if ours is not None and theirs in {ours, base}:
        return (ours,)
    return (theirs,) if theirs is not None and ours == base else None


class _Document:
    """A text's top-level entries, and the entries of its sections."""

    def __init__(self, source: str, block: Block, sections: Mapping[str, Nested]) -> None:
        self.source = source
        self.block = block
        self.sections = sections

    @classmethod
    def read(cls, text: str, names: Collection[str]) -> _Document | None:
        """The document, or None when its lines aren't certainly plain block mappings."""
        block = split(text, 0)
        if block is None:
            return None
        sections = {
            name: found
            for name in names
            if name in block.entries and (found := nested(block.entries[name], 0)) is not None
        }
        return cls(text, block, sections)

    def text(self, unchanged: Mapping[str, Collection[str]]) -> str:
        """The text without the entries of its sections that are the same everywhere."""
        parts = [self.block.lead]
        for key, entry in self.block.entries.items():
            section = self.sections.get(key)
            if section is None or not unchanged.get(key):
                parts.append(entry)
                continue
            kept = (one for name, one in section.block.entries.items() if name not in unchanged[key])
            parts += [section.head, section.block.lead, *kept]
        return "".join(parts)


def _by_lines(
    texts: Sequence[str | None],
    documents: Sequence[_Document | None],
    values: Values,
    fault: Callable[[Any], str],
) -> str | None:
    """The merge put together from the sides' lines; None where that doesn't give the right values."""
    unchanged = _unchanged(documents)
    read: list[Any] = []
    for side, text, document in zip(SIDES, texts, documents, strict=True):
        if text is None or document is None:
            read.append(None)
            continue
        value = _value(side, text, document.text(unchanged), fault)
        read.append(value | {name: value[name] or {} for name in unchanged if name in value})
    merged = values(*read)
    blocks = [None if one is None else one.block for one in documents]
    sections = {name: [one.sections[name] if one else None for one in documents] for name in unchanged}
    whole, checked = _Rendering(unchanged, sections).block(blocks, read, merged, ())
    try:
        found = parse(checked).value
    except YamlError:
        return None
    if isinstance(found, dict):
        found |= {name: found[name] or {} for name in unchanged if name in found}
    return whole if same(found, merged) else None


def _unchanged(documents: Sequence[_Document | None]) -> dict[str, frozenset[str]]:
    """Section → the keys of entries whose text is the same in every version, where lines alone tell them."""
    there = [one for one in documents if one is not None]
    if len(there) < len(SIDES) or not all(certain(one.source) for one in there):
        return {}
    found: dict[str, frozenset[str]] = {}
    for name in there[0].sections:
        sections = [one.sections.get(name) for one in there]
        if any(section is None or section.indent != there[0].sections[name].indent for section in sections):
            continue
        entries = [section.block.entries for section in sections if section is not None]
        found[name] = frozenset(
            key for key, text in entries[0].items() if all(other.get(key) == text for other in entries[1:])
        )
    return found


def _value(side: str, text: str, pruned: str, fault: Callable[[Any], str]) -> dict[str, Any]:
    """A version's values, without what is the same everywhere; raises `SideError`."""
    try:
        value = parse(pruned).value
    except YamlError:
        value = _whole_value(side, text)  # says where in the file itself
    if not isinstance(value, dict):
        raise SideError(side, "The file is empty." if not text.strip() else "The file is no mapping.", 1)
    if words := fault(value):
        raise SideError(side, words)
    return value


def _whole_value(side: str, text: str) -> Any:
    try:
        return parse(text).value
    except YamlError as error:
        raise SideError(side, error.message, error.line) from error


def _by_value(texts: Sequence[str | None], values: Values, fault: Callable[[Any], str]) -> str:
    """The merge of values, as the text of a side that says just that, else written anew."""
    read = [
        None if text is None else _value(side, text, text, fault)
        for side, text in zip(SIDES, texts, strict=True)
    ]
    merged = values(*read)
    base, ours, theirs = texts
    holding = [text for text, value in zip(texts[1:], read[1:], strict=True) if text and same(value, merged)]
    if len(holding) == len(texts) - 1:
        return str(pick(base, ours, theirs))
    return holding[0] if holding else dump(merged)


@dataclass(frozen=True, slots=True)
class _Slot:
    """One key in base, ours and theirs: where it lies, its lines, its values, its indentation."""

    path: tuple[str, ...]
    texts: Sequence[str | None]
    sides: Sequence[Any]
    indent: int


class _Rendering:
    """Puts merged values together from lines; every piece whole, and without what is passed through.

    Attributes:
        unchanged: Section → keys that are passed through.
        sections: Section → its lines in each version.
    """

    def __init__(
        self, unchanged: Mapping[str, Collection[str]], sections: Mapping[str, Sequence[Nested | None]]
    ) -> None:
        self.unchanged = unchanged
        self.sections = sections

    def block(
        self,
        blocks: Sequence[Block | None],
        values: Sequence[Any],
        merged: Mapping[str, Any],
        path: tuple[str, ...],
    ) -> Piece:
        """The lines of a mapping whose versions lie at one indentation.

        Args:
            blocks: Its lines in base, ours and theirs; None where it is absent.
            values: Its values there.
            merged: The merged mapping, without what is passed through.
            path: Where it lies in the document.
        """
        indent = next(block.indent for block in blocks if block is not None)
        through = self.unchanged.get(path[0], ()) if len(path) == 1 else ()
        lead = _both(*(block.lead if block else None for block in blocks))
        pieces = [(lead, lead)]
        for key in placed(blocks, merged):
            texts = [block.entries.get(key) if block else None for block in blocks]
            if key in through:
                pieces.append((texts[0] or "", ""))
            elif key in merged:
                sides = [value.get(key, MISSING) if isinstance(value, dict) else MISSING for value in values]
                pieces.append(self._entry(_Slot((*path, key), texts, sides, indent), merged[key]))
        return "".join(whole for whole, _ in pieces), "".join(pruned for _, pruned in pieces)

    def _entry(self, slot: _Slot, value: Any) -> Piece:
        """One key's lines."""
        base, ours, theirs = slot.texts
        both = isinstance(value, dict) and ours is not None and theirs is not None
        section = len(slot.path) == 1 and bool(self.unchanged.get(slot.path[0]))
        mixed = self._nested(slot, value, section=section) if both else None
        if mixed and base not in {ours, theirs}:
            return mixed
        holding = [
            text
            for text, side in zip(slot.texts[1:], slot.sides[1:], strict=True)
            if text and same(side, value)
        ]
        if len(holding) == len(SIDES) - 1:
            text = str(pick(base, ours, theirs))
        elif holding:
            text = holding[0]
        elif mixed:
            return mixed
        else:
            text = fresh(slot.path[-1], value, slot.indent)
        return text, mixed[1] if mixed and section else text

    def _nested(self, slot: _Slot, value: Mapping[str, Any], *, section: bool) -> Piece | None:
        """A mapping's lines put together from both sides'; None where they aren't block mappings."""
        if section:
            found = list(self.sections[slot.path[0]])
        else:
            found = [None if text is None else nested(text, slot.indent) for text in slot.texts]
        real = next((one for one in found[1:] if one), None)
        if real is None or not (value or section):
            return None
        nothing = Nested(real.head, real.indent, Block(real.indent, "", {}))
        told = zip(found[1:], slot.sides[1:], strict=True)
        found[1:] = [nothing if one is None and side == {} else one for one, side in told]
        if found[1] is None or found[2] is None:
            return None
        target = pick(*(one.indent if one else None for one in found))
        blocks = [reindented(one.block, target) if one else None for one in found]
        head = str(pick(*(one.head if one else None for one in found)))
        whole, pruned = self.block(blocks, slot.sides, value, slot.path)
        return head + whole, head + pruned


def _both(base: str | None, ours: str | None, theirs: str | None) -> str:
    """Comments of both sides where both changed them."""
    one, other = ours or "", theirs or ""
    if other in {one, base or ""}:
        return one
    return other if one == (base or "") else "".join(sorted({one, other}))


def fresh(key: str, value: Any, indent: int) -> str:
    """A key's lines written anew, one record of `conflicts` a line."""
    pad = " " * indent
    if key == CONFLICTS and isinstance(value, list) and value:
        return "".join([f"{pad}{key}:\n", *(f"{pad}  - {spelling.value(row)}\n" for row in value)])
    return spelling.field(key, value, pad, "\n")


def shared_numbers(text: str) -> tuple[str, ...]:
    """One sentence for each R-number that several items of a merged state have (S13).

    The merge leaves them: who keeps a number depends on all items there are, and the next `plan reconcile`,
    which knows them, gives the new ones.
    """
    seen = _NUMBER.findall(text)
    if len(set(seen)) == len(seen):
        return ()
    value = parse(text).value
    items = value.get("items") if isinstance(value, dict) else None
    holders: dict[int, list[str]] = {}
    for key, item in (items or {}).items():
        number = item.get("r") if isinstance(item, dict) else None
        if type(number) is int:
            holders.setdefault(number, []).append(key)
    return tuple(
        f"R{number} now stands for {', '.join(sorted(keys))}; `muniment plan reconcile` leaves it to "
        f"{min(keys)} and gives the other a new number."
        for number, keys in sorted(holders.items())
        if len(keys) > 1
    )
