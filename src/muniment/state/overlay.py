"""Edits laid over what stands: how several operations become one write. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from muniment.state.operations import REMOVE, Edit, View


class Overlay:
    """A view with edits laid over it, so that each operation of a batch sees what those before it did."""

    def __init__(self, view: View) -> None:
        self._view = view
        self._records: dict[tuple[str, str], Mapping[str, Any] | None] = {}
        self._top: dict[str, Any] = {}
        self._edited = False
        self.edits: tuple[Edit, ...] = ()

    @property
    def exists(self) -> bool:
        """Whether there is a state, or would be after the edits."""
        return self._edited or self._view.exists

    def item(self, key: str) -> Mapping[str, Any] | None:
        """As `View.item`, after the edits."""
        return self._record("items", key, self._view.item)

    def source(self, source: str) -> Mapping[str, Any] | None:
        """As `View.source`, after the edits."""
        return self._record("sources", source, self._view.source)

    def top(self, name: str) -> Any:
        """As `View.top`, after the edits."""
        if name in self._top:
            value = self._top[name]
            return None if value is REMOVE else value
        return self._view.top(name) if self._view.exists else None

    def add(self, edits: Iterable[Edit]) -> None:
        """Lay more edits over the view."""
        for edit in edits:
            self._edited = True
            if edit.section:
                standing = self.item(edit.key) if edit.section == "items" else self.source(edit.key)
                self._records[edit.section, edit.key] = with_fields(standing, edit.fields)
            elif edit.key:
                self._top[edit.key] = with_fields(self.top(edit.key), edit.fields)
            else:
                self._top |= edit.fields
        self.edits = merged((*self.edits, *edits))

    def _record(
        self, section: str, key: str, below: Callable[[str], Mapping[str, Any] | None]
    ) -> Mapping[str, Any] | None:
        if (section, key) in self._records:
            return self._records[section, key]
        return below(key) if self._view.exists else None


def with_fields(record: Mapping[str, Any] | None, fields: Mapping[str, Any]) -> dict[str, Any]:
    """A record as it is once fields are set and removed."""
    after = {**(record or {}), **fields}
    return {name: value for name, value in after.items() if value is not REMOVE}


def merged(edits: Iterable[Edit]) -> tuple[Edit, ...]:
    """The same edits, those of one mapping made one; a mapping stays where it first came."""
    found: dict[tuple[str, str], Edit] = {}
    for edit in edits:
        place = (edit.section, edit.key)
        before = found.get(place)
        found[place] = (
            edit if before is None else Edit(*place, {**before.fields, **edit.fields}, new=before.new)
        )
    return tuple(found.values())
