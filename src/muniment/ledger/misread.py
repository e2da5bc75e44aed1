"""What this version can't understand, so that it says `unknown` instead of guessing (G6, G17; pure)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from muniment.ledger.entries import DECIDING_FIELDS, Entry
from muniment.ledger.segment import body_fault, is_known

UPGRADE = "A newer Muniment wrote about it: upgrade this one."


def misreading(entry: Entry) -> str:
    """Why this version can't tell what an entry means; empty when it can."""
    if entry.unknown:
        return f"An entry about it has the unknown field `{entry.unknown[0]}`. {UPGRADE}"
    if not is_known(entry):
        return f"An entry of the unknown kind `{entry.kind}` names it. {UPGRADE}"
    understood = DECIDING_FIELDS.get(entry.kind)
    if understood is not None:
        strange = entry.data.keys() - understood
        if strange:
            return f"A {entry.kind} about it has the unknown field `{min(strange)}`. {UPGRADE}"
    if entry.kind in {"decision", "alias"} and body_fault(entry):
        return f"The {entry.kind} {entry.id.short} about it is damaged."
    return ""


def strings(value: Any) -> Iterator[str]:
    """Every string in a JSON value, keys left out."""
    stack = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, str):
            yield item
        elif isinstance(item, Mapping):
            stack.extend(item.values())
        elif isinstance(item, list):
            stack.extend(item)
