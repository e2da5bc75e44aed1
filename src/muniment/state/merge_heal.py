"""What a merge by lines lost of a state, put back without touching what came later (G8, pure).

A plain merge of a state can come out clean and wrong: an edit on the lines of another item, a field of one
side left out. Its commit's parents tell what should have come of it. What somebody decided by hand in the
merge, where both sides had changed a value, or wrote since, stays.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from muniment.state.merge import CONFLICTS, MISSING, canonical, ordered, same
from muniment.state.merge_text import combined, merge_text
from muniment.yaml_io import YamlError, parse

Sides = tuple[Any, Any, Any]
"""A value in base, ours and theirs."""


def heal_text(base: str | None, ours: str, theirs: str, result: str, now: str) -> str | None:
    """The state as it stands now with what the merge lost put back; None when it lost nothing.

    Args:
        base: What both sides of the merge started from; None when there is no such version.
        ours: One parent's state.
        theirs: The other's.
        result: What the merge commit made of them.
        now: What stands now.

    Raises:
        SideError: A parent's state can't be read.
    """
    merged = merge_text(base, ours, theirs)
    if merged == result:
        return None
    found, standing = _value(result), _value(now)
    if found is None:
        return merged if now == result else None
    if standing is None:
        return None
    right = parse(merged).value
    sides = (MISSING if base is None else parse(base).value, parse(ours).value, parse(theirs).value)
    displaced = frozenset(_displaced(sides, found, right, ()))
    healed = _patched(found, standing, _wanted(sides, found, right, displaced, ()))
    if same(healed, standing):
        return None
    return combined((result, now, merged), healed)


def _value(text: str) -> dict[str, Any] | None:
    try:
        value = parse(text).value
    except YamlError:
        return None
    return value if isinstance(value, dict) else None


def _wanted(sides: Sides, found: Any, merged: Any, displaced: Collection[str], path: tuple[str, ...]) -> Any:
    """What the merge should have made: the semantic merge, but for choices a person may have made in it.

    Such a choice is one side's value where both had written, and anything written where neither had, unless
    that is the very value that is missing where a side had put it (`displaced`).
    """
    if same(found, merged) or path[-1:] == (CONFLICTS,):
        return found
    if not _is_leaf((*sides[1:], found, merged), path):
        wanted = {}
        for name in ordered(found, merged, {}):
            inside = _inside(sides, name), _get(found, name), _get(merged, name)
            wanted[name] = _wanted(*inside, displaced, (*path, name))
        return _members(wanted.items())
    base, ours, theirs = sides
    if same(ours, theirs) and same(ours, base):
        return merged if canonical(found) in displaced else found
    if merged is MISSING:
        return found  # nothing is taken away
    one_sided = same(ours, theirs) or same(ours, base) or same(theirs, base)
    chosen = not one_sided and (same(found, ours) or same(found, theirs))
    return found if chosen else merged


def _displaced(sides: Sides, found: Any, merged: Any, path: tuple[str, ...]) -> Iterator[str]:
    """The canonical JSON of values that a side alone wrote and that aren't where it wrote them."""
    if same(found, merged) or path[-1:] == (CONFLICTS,):
        return
    if _is_leaf((*sides[1:], found, merged), path):
        if merged is not MISSING and not all(same(one, merged) for one in sides):
            yield canonical(merged)
        return
    for name in ordered(found, merged, {}):
        yield from _displaced(_inside(sides, name), _get(found, name), _get(merged, name), (*path, name))


def _is_leaf(values: Iterable[Any], path: tuple[str, ...]) -> bool:
    """Whether a place is decided as a whole."""
    return path == ("lease",) or not all(isinstance(one, Mapping) for one in values)


def _inside(sides: Sides, name: str) -> Sides:
    base, ours, theirs = (_get(one, name) for one in sides)
    return base, ours, theirs


def _get(value: Any, name: str) -> Any:
    return value.get(name, MISSING) if isinstance(value, Mapping) else MISSING


def _members(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    return {name: value for name, value in pairs if value is not MISSING}


def _patched(found: Any, now: Any, wanted: Any) -> Any:
    """What stands now, with the step from `found` to `wanted` made wherever it still stands as found."""
    if same(wanted, found):
        return now
    if same(now, found):
        return wanted
    if not (isinstance(now, Mapping) and isinstance(wanted, Mapping)):
        return now
    return _members(
        (name, _patched(_get(found, name), _get(now, name), _get(wanted, name)))
        for name in ordered(now, wanted, {})
    )
