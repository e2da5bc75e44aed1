"""Three-way merge of states as plain values: commutative, associative, losing nothing (G8, S4, pure).

Every value of a record is a slot: absent, a scalar or list, or a mapping of slots. A slot that one side
changed takes that side's value. One that both changed takes the greater, where absent < any scalar by its
canonical JSON < a mapping, and two mappings merge by key; that is the maximum of an order with the base at
its bottom, so the order of merges doesn't matter. What had to give way is kept in the `conflicts` list of the
item, the source or the state it belongs to. docs/design/merge.md has the algebra.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from functools import cmp_to_key
from typing import Any, Final

from muniment.state.cursor import compare, kind
from muniment.state.model import is_sensitive

CONFLICTS: Final = "conflicts"
EVIDENCE: Final = ("fix_ref", "verified_merge_sha", "verified_at")
STANDING: Final = ("status", *EVIDENCE)
"""The fields of an item that say how it stands; they are merged together."""
WITHHELD: Final = ("body", "quote")
"""What a sensitive item never stores (S17), whichever side wrote it."""


class _Missing:
    """What stands for an absent value."""

    def __repr__(self) -> str:
        return "MISSING"


MISSING: Final = _Missing()

Kept = dict[str, dict[str, Any]]
"""Path of a field → canonical JSON → value, of what two sides wrote differently."""
Join = Callable[[Any, Any, Any], Any]


def canonical(value: Any) -> str:
    """A value's canonical JSON, which orders values and tells them apart (`1` from `1.0`); "" when absent."""
    if value is MISSING:
        return ""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def same(one: Any, other: Any) -> bool:
    """Whether two values are the same as JSON, not as Python compares them."""
    return one is other or canonical(one) == canonical(other)


def merge(
    base: Mapping[str, Any] | None, ours: Mapping[str, Any], theirs: Mapping[str, Any]
) -> dict[str, Any]:
    """The state that holds what both sides did to `base`.

    Args:
        base: What both sides started from; None when there is no such version.
        ours: One side, as plain values with string keys.
        theirs: The other; which is which makes no difference.
    """
    if same(theirs, base) or same(ours, theirs):
        return dict(ours)
    if same(ours, base):
        return dict(theirs)
    kept: Kept = {}
    special: Mapping[str, Join] = {
        "schema_version": _greatest,
        "lease_epoch": _greatest,
        "lease": _lease,
        "items": lambda o, x, y: _collection("items", (o, x, y), kept, merge_item),
        "sources": lambda o, x, y: _collection("sources", (o, x, y), kept, _source),
    }
    merged = _record(base, ours, theirs, special, kept)
    return _without_hidden(merged, ours, theirs)


def merge_item(base: Any, ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> dict[str, Any]:
    """One item of both sides; `base` is what it was, `MISSING` or None when it wasn't there."""
    if same(theirs, base) or same(ours, theirs):
        return dict(ours)
    if same(ours, base):
        return dict(theirs)
    kept: Kept = {}
    old = base if isinstance(base, Mapping) else {}
    standing = _standing(old, ours, theirs, kept)
    special = {name: _always(value) for name, value in standing.items()} | {
        "sensitive": lambda o, x, y: _sensitive(o, x, y, kept)
    }
    merged = _record(old, ours, theirs, special, kept)
    return withheld(merged) if is_sensitive(merged) else merged


def _without_hidden(
    merged: dict[str, Any], ours: Mapping[str, Any], theirs: Mapping[str, Any]
) -> dict[str, Any]:
    """The state without the text that one side wrote to a source's items and the other had hidden (S17)."""
    sources, items = merged.get("sources"), merged.get("items")
    named = sources.items() if isinstance(sources, Mapping) else ()
    hidden = {name for name, source in named if is_sensitive(source)}
    if not hidden or not isinstance(items, Mapping):
        return merged
    sides = [side if isinstance(side, Mapping) else {} for side in (ours.get("items"), theirs.get("items"))]

    def shown(key: str, item: Any) -> Any:
        new = not same(*(side.get(key, MISSING) for side in sides))
        if (
            not new
            or not isinstance(item, Mapping)
            or not hidden & {key.partition(":")[0], str(item.get("source"))}
        ):
            return item
        return withheld(item)

    return merged | {"items": {key: shown(key, item) for key, item in items.items()}}


def withheld(item: Mapping[str, Any]) -> dict[str, Any]:
    """An item without the text that may be stored nowhere, in its fields and in the conflicts about them."""
    kept = {name: value for name, value in item.items() if name not in WITHHELD}
    rows = [row for row in kept.get(CONFLICTS, ()) if row["field"].partition("/")[0] not in WITHHELD]
    return {name: value for name, value in kept.items() if name != CONFLICTS} | (
        {CONFLICTS: rows} if rows else {}
    )


def _sensitive(base: Any, ours: Any, theirs: Any, kept: Kept) -> Any:
    """Whether an item is sensitive: of two different answers the one that says so."""
    decided, value = _one_sided(base, ours, theirs)
    if decided:
        return value
    if ours is not MISSING and theirs is not MISSING:
        _keep(kept, "sensitive", (ours, theirs))
    return max((ours, theirs), key=lambda one: (one is not MISSING and bool(one), canonical(one)))


def _always(value: Any) -> Join:
    return lambda _o, _x, _y: value


def _source(base: Any, ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> dict[str, Any]:
    return _record(base, ours, theirs, {"cursor": _cursor}, {})


def _record(base: Any, ours: Any, theirs: Any, special: Mapping[str, Join], kept: Kept) -> dict[str, Any]:
    """A mapping with a `conflicts` list of its own: fields by `special`, else as slots."""
    old = base if isinstance(base, Mapping) else {}
    merged: dict[str, Any] = {}
    for name in ordered(old, ours, theirs):
        if name == CONFLICTS:
            merged[name] = None  # its place
            continue
        sides = (old.get(name, MISSING), ours.get(name, MISSING), theirs.get(name, MISSING))
        value = special[name](*sides) if name in special else _slot(sides, escaped(name), kept)
        if value is not MISSING:
            merged[name] = value
    listed = _conflicts((old, ours, theirs), kept, merged)
    merged[CONFLICTS] = listed
    if not listed:
        del merged[CONFLICTS]
    return merged


def ordered(base: Mapping[str, Any], ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> list[str]:
    """The keys of all three: the base's in its order, then new ones in their own."""
    return [*base, *sorted({*ours, *theirs} - base.keys())]


def escaped(name: str) -> str:
    """A key as a part of a path (RFC 6901)."""
    return name.replace("~", "~0").replace("/", "~1")


def _one_sided(base: Any, ours: Any, theirs: Any) -> tuple[bool, Any]:
    """Whether the three-way rule decides, and the value: what one side alone did, or both alike."""
    if same(ours, theirs) or same(theirs, base):
        return True, ours
    return (True, theirs) if same(ours, base) else (False, None)


def _slot(sides: tuple[Any, Any, Any], path: str, kept: Kept) -> Any:
    """One value of a record, by the rule of the module."""
    base, ours, theirs = sides
    decided, value = _one_sided(base, ours, theirs)
    if decided:
        return value
    if ours is MISSING or theirs is MISSING:
        return theirs if ours is MISSING else ours  # an edit beats a deletion
    if isinstance(ours, Mapping) and isinstance(theirs, Mapping):
        old = base if isinstance(base, Mapping) else {}
        merged = {
            name: _slot(
                (old.get(name, MISSING), ours.get(name, MISSING), theirs.get(name, MISSING)),
                f"{path}/{escaped(name)}",
                kept,
            )
            for name in ordered(old, ours, theirs)
        }
        return {name: value for name, value in merged.items() if value is not MISSING}
    _keep(kept, path, (value for value in (ours, theirs) if not isinstance(value, Mapping)))
    return max((ours, theirs), key=lambda one: (isinstance(one, Mapping), canonical(one)))


def _keep(kept: Kept, path: str, values: Iterable[Any]) -> None:
    kept.setdefault(path, {}).update({canonical(one): one for one in values if one is not MISSING})


def _collection(
    name: str, sides: tuple[Any, Any, Any], kept: Kept, member: Callable[[Any, Any, Any], dict[str, Any]]
) -> Any:
    """A mapping of records by id: a deletion stands only against an unchanged other side."""
    base, ours, theirs = sides
    if not (isinstance(ours, Mapping) and isinstance(theirs, Mapping)):
        return _slot(sides, name, kept)
    old = base if isinstance(base, Mapping) else {}
    merged: dict[str, Any] = {}
    for key in ordered(old, ours, theirs):
        one = (old.get(key, MISSING), ours.get(key, MISSING), theirs.get(key, MISSING))
        decided, value = _one_sided(*one)
        if not decided and isinstance(one[1], Mapping) and isinstance(one[2], Mapping):
            value = member(*one)
        elif not decided:
            value = _slot(one, f"{name}/{escaped(key)}", kept)
        if value is not MISSING:
            merged[key] = value
    return merged


def _standing(
    base: Mapping[str, Any], ours: Mapping[str, Any], theirs: Mapping[str, Any], kept: Kept
) -> dict[str, Any]:
    """The status and its evidence: `closed` beats any other status, whole evidence beats less of it.

    The evidence stays together. A side whose item is closed with all of it stands for both, so that
    nobody's edit takes the evidence away from the word that it proves.
    """
    old, *sides = (tuple(one.get(name, MISSING) for name in STANDING) for one in (base, ours, theirs))
    changed = [group for group in sides if _shown(group) != _shown(old)]
    words = [group[0] for group in changed if _closed(group) or not same(group[0], old[0])]
    proofs = [group[1:] for group in changed if _closed(group) or _shown(group[1:]) != _shown(old[1:])]
    word = max(words, key=lambda one: (one == "closed", canonical(one)), default=old[0])
    proof = max(proofs, key=lambda one: (_whole(one), _shown(one)), default=old[1:])
    if len({canonical(one) for one in words}) > 1:
        _keep(kept, STANDING[0], words)
    for place, name in enumerate(EVIDENCE):
        if len({canonical(one[place]) for one in proofs}) > 1:
            _keep(kept, name, (one[place] for one in proofs))
    return dict(zip(STANDING, (word, *proof), strict=True))


def _shown(group: Iterable[Any]) -> list[str]:
    return [canonical(one) for one in group]


def _whole(proof: Iterable[Any]) -> bool:
    return all(one is not MISSING and one for one in proof)


def _closed(group: tuple[Any, ...]) -> bool:
    return bool(group[0] == "closed") and _whole(group[1:])


def _greatest(base: Any, ours: Any, theirs: Any) -> Any:
    """The greater number of two that differ from the base; a number beats anything else."""
    decided, value = _one_sided(base, ours, theirs)
    if decided:
        return value
    return max(
        (ours, theirs), key=lambda one: (type(one) is int, one if type(one) is int else 0, canonical(one))
    )


def _lease(base: Any, ours: Any, theirs: Any) -> Any:
    """One side's lease whole: what one side alone did; else the higher epoch, then the greater session."""
    decided, value = _one_sided(base, ours, theirs)
    return value if decided else max((ours, theirs), key=_lease_rank)


def _lease_rank(lease: Any) -> tuple[bool, float, str, str]:
    record = lease if isinstance(lease, Mapping) else {}
    epoch = record.get("epoch")
    number = epoch if isinstance(epoch, int | float) and not isinstance(epoch, bool) else -1
    return bool(record), number, canonical(record.get("session", MISSING)), canonical(lease)


def _cursor(base: Any, ours: Any, theirs: Any) -> Any:
    """The later cursor (S4); one that a single side moved is that side's."""
    decided, value = _one_sided(base, ours, theirs)
    if decided:
        return value
    return max((ours, theirs), key=_CURSOR_ORDER)


def _compare_cursors(one: Any, other: Any) -> int:
    """A total order: what is no cursor, then by kind, then as the engine compares; 0 for equal moments."""
    texts = [_cursor_text(side) for side in (one, other)]
    kinds = [-1 if text is None else kind(text) for text in texts]
    if kinds[0] != kinds[1]:
        return kinds[0] - kinds[1]
    order = 0 if texts[0] is None or texts[1] is None else compare(texts[0], texts[1])
    return order or (canonical(one) > canonical(other)) - (canonical(one) < canonical(other))


_CURSOR_ORDER = cmp_to_key(_compare_cursors)


def _cursor_text(value: Any) -> str | None:
    """A cursor as text; None for what is none."""
    if isinstance(value, str):
        return value
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else None


def _conflicts(
    sides: tuple[Mapping[str, Any], Mapping[str, Any], Mapping[str, Any]],
    kept: Kept,
    merged: Mapping[str, Any],
) -> list[dict[str, Any]]:
    """The record's `conflicts`: per field what one side did to the list, else the union, and what is new."""
    base, ours, theirs = (_listed(one.get(CONFLICTS, MISSING)) for one in sides)
    found: list[dict[str, Any]] = []
    for path in sorted({*base, *ours, *theirs, *kept}):
        old, one, other = (listed.get(path, {}) for listed in (base, ours, theirs))
        if one.keys() == old.keys():
            values = dict(other)
        elif other.keys() == old.keys():
            values = dict(one)
        else:
            values = {**one, **other}
        if path in kept or not (one.keys() == old.keys() or other.keys() == old.keys()):
            values |= kept.get(path, {})
            if values.keys() == {canonical(_at(merged, path))}:
                continue  # the field holds it
        if values:
            found.append({"field": path, "values": [values[key] for key in sorted(values)]})
    return found


def _listed(value: Any) -> dict[str, dict[str, Any]]:
    """A `conflicts` list by field and canonical JSON; one of another shape counts as a value by itself."""
    if value is MISSING:
        return {}
    rows: dict[str, dict[str, Any]] = {}
    for row in value if isinstance(value, list) else [value]:
        shaped = isinstance(row, Mapping) and set(row) == {"field", "values"}
        if shaped and isinstance(row["field"], str) and isinstance(row["values"], list):
            _keep(rows, row["field"], row["values"])
        else:
            _keep(rows, CONFLICTS, [row])
    return rows


def _at(record: Any, path: str) -> Any:
    """The value at a path of a record, or `MISSING`."""
    for part in path.split("/"):
        name = part.replace("~1", "/").replace("~0", "~")
        record = record.get(name, MISSING) if isinstance(record, Mapping) else MISSING
    return record
