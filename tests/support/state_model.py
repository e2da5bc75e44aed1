"""A state as plain dicts: what the engine's operations mean, without any text."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from muniment.state.operations import REMOVE, Edit


class Model:
    """A view over a dict, and the dict after edits."""

    def __init__(self, value: Mapping[str, Any] | None = None) -> None:
        self.state: dict[str, Any] = copy.deepcopy(dict(value or {}))
        self.exists = value is not None

    def item(self, key: str) -> Mapping[str, Any] | None:
        found: Mapping[str, Any] | None = (self.state.get("items") or {}).get(key)
        return found

    def source(self, source: str) -> Mapping[str, Any] | None:
        found: Mapping[str, Any] | None = (self.state.get("sources") or {}).get(source)
        return found

    def top(self, name: str) -> Any:
        return self.state.get(name)

    def items(self) -> Iterator[tuple[str, Mapping[str, Any]]]:
        yield from (self.state.get("items") or {}).items()

    def apply(self, edits: Iterable[Edit]) -> None:
        for edit in edits:
            self.exists = True
            place = self.state
            for part in (edit.section, edit.key):
                if part:
                    if place.get(part) is None:
                        place[part] = {}
                    place = place[part]
            for name, value in edit.fields.items():
                if value is REMOVE:
                    place.pop(name, None)
                else:
                    place[name] = value
