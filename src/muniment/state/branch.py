"""A state that lies on a branch: `state.yml` and a file for each item, as one view. Pure.

Items that stand in `state.yml` itself (a state in one file that was put on a branch) are read and edited
there; a file of the same item comes first. Every other file of the branch is left alone.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any, Protocol

from muniment.state import operations, text
from muniment.state.item_file import FOLDER, ItemFile, is_item, new_item, path_of
from muniment.state.model import is_sensitive
from muniment.state.operations import Edit, Unplaceable
from muniment.state.overlay import merged, with_fields
from muniment.state.text import Corrupt, NoState, StateText

STATE_FILE = "state.yml"
_OURS = re.compile("[0-9a-f]{2}")


class Files(Protocol):
    """The files of one commit."""

    def file(self, path: str) -> bytes | None:
        """A file's bytes, or None."""

    def names(self, folder: str) -> Mapping[str, bool]:
        """What lies directly in a folder: name → whether it is a folder."""

    def paths(self, folder: str) -> Collection[str]:
        """The paths of all files below a folder."""


class BranchState:
    """The state of one commit of the branch, seen as the operations see it."""

    def __init__(self, files: Files, *, hidden: Collection[str] = ()) -> None:
        """Read `state.yml`; raises `Corrupt`. `hidden`: sources that the settings mark sensitive."""
        self._files = files
        self._hidden = hidden
        self._main: StateText | NoState = text.read(files.file(STATE_FILE))
        self._read: dict[str, ItemFile | None] = {}

    @property
    def exists(self) -> bool:
        """Whether the branch holds a state."""
        return self._main.exists

    @property
    def data(self) -> bytes:
        """The bytes of `state.yml`."""
        return self._main.data

    def item(self, key: str) -> Mapping[str, Any] | None:
        """One item's fields, or None; raises `Unplaceable` for a broken one."""
        found = self._file(path_of(key)) or self._elsewhere(key)
        return found.fields if found is not None else self._main.item(key)

    def _file(self, path: str) -> ItemFile | None:
        if path not in self._read:
            data = self._files.file(path)
            self._read[path] = None if data is None else ItemFile(path, data)
        return self._read[path]

    @cached_property
    def _odd(self) -> Mapping[str, str]:
        """Key → path of items whose file lies at another place than we would give it.

        Looked for beside the folders that we make, not in them: a write must not list all the items.
        """
        names = self._files.names(FOLDER)
        places = [f"{FOLDER}/{name}" for name, is_folder in names.items() if not is_folder]
        for name, is_folder in names.items():
            if is_folder and not _OURS.fullmatch(name):
                places += self._files.paths(f"{FOLDER}/{name}")
        found = {}
        for path in places:
            if is_item(path):
                try:
                    item = self._file(path)
                except Unplaceable:
                    continue
                if item is not None and path_of(item.key) != path:
                    found[item.key] = path
        return found

    def _elsewhere(self, key: str) -> ItemFile | None:
        path = self._odd.get(key)
        return None if path is None else self._file(path)

    def source(self, source: str) -> Mapping[str, Any] | None:
        """One source's fields, or None."""
        return self._main.source(source)

    def top(self, name: str) -> Any:
        """A top-level value, or None."""
        return self._main.top(name)

    def items(self) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """Every item that is a mapping: those in `state.yml`, then the files by path."""
        files = dict(self._items_in_files())
        yield from ((key, record) for key, record in self._main.items() if key not in files)
        yield from files.items()

    def _items_in_files(self) -> Iterator[tuple[str, Mapping[str, Any]]]:
        for path in sorted(self._files.paths(FOLDER)):
            if is_item(path):
                try:
                    found = self._file(path)
                except Unplaceable:
                    continue
                if found is not None:
                    yield found.key, found.fields

    def value(self) -> dict[str, Any] | None:
        """The whole state in one value; an item in a file doesn't repeat its `id`, which its key says.

        Raises:
            Corrupt: An item's file can't be read: nothing may pass for the whole state without it.
        """
        if not self.exists:
            return None
        whole = dict(self._main.value() or {})
        items = dict(whole.get("items") or {})
        for path in sorted(self._files.paths(FOLDER)):
            if is_item(path):
                try:
                    found = self._file(path)
                except Unplaceable as error:
                    raise Corrupt(error.message, error.line) from error
                if found is not None:
                    items[found.key] = _without_id(found)
        return whole | {"items": items}

    # Writing

    def changes(self, edits: Iterable[Edit]) -> dict[str, bytes | None]:
        """The files that edits make of those that stand; one that stays as it is isn't among them.

        Raises:
            Unplaceable: There is no way to make them that keeps everything else.
        """
        once = merged(edits)
        once = merged((*once, *self._scrubs(once)))
        own = [one for one in once if one.section == "items" and not self._in_main(one.key)]
        main = [one for one in once if one not in own]
        made: dict[str, bytes | None] = {}
        if main:
            made[STATE_FILE] = self._main.edited(main)
        for one in own:
            found = self._file(path_of(one.key)) or self._elsewhere(one.key)
            path = path_of(one.key) if found is None else found.path
            made[path] = new_item(path, one.fields) if found is None else found.edited(one.fields)
        return {path: data for path, data in made.items() if data != self._files.file(path)}

    def _in_main(self, key: str) -> bool:
        """Whether an item stands in `state.yml` and nowhere else."""
        if self._file(path_of(key)) is not None or self._main.item(key) is None:
            return False
        return self._elsewhere(key) is None

    def _scrubs(self, edits: Collection[Edit]) -> Iterator[Edit]:
        """What takes hidden text out of items that the edits leave or make sensitive (S17)."""
        seen = set()
        for one in edits:
            if one.section == "items":
                seen.add(one.key)
                after = with_fields(self.item(one.key), one.fields)
                yield from self._scrub(one.key, after)
        yield from self._scrubs_of_sources(edits, seen)

    def _scrub(self, key: str, record: Mapping[str, Any]) -> Iterator[Edit]:
        if operations.hides(self, key, record, self._hidden):
            change = operations.scrub(key, record)
            if change is not None:
                yield change

    def _scrubs_of_sources(self, edits: Collection[Edit], seen: Collection[str]) -> Iterator[Edit]:
        """The same for all items of a source that these edits make sensitive."""
        turned = {one.key for one in edits if one.section == "sources" and is_sensitive(one.fields)}
        if not turned:
            return
        for key, record in self.items():
            if key not in seen and key.partition(":")[0] in turned:
                change = operations.scrub(key, record)
                if change is not None:
                    yield change


def _without_id(item: ItemFile) -> dict[str, Any]:
    """An item's fields without the `id` that its key ends with."""
    native = item.key.partition(":")[2]
    said = item.fields.get("id")
    return {name: value for name, value in item.fields.items() if name != "id" or said != native}
