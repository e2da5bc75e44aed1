"""A shelf kept in step with files, of the working tree or of a commit, by reading only what changed (G15)."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from muniment.documents.catalogue_files import read_file
from muniment.errors import Problem
from muniment.relate.place import Passage
from muniment.relate.shelf import Addition, Shelf, Source
from muniment.workspace import Workspace

SLACK_NS = 2_000_000_000
"""A file changed so shortly before it was read may change again within one tick of its clock."""

Reading = tuple[tuple[tuple[Passage, ...], ...], tuple[Problem, ...]]
"""The passages of each part, and the problems of the file."""


@dataclass(frozen=True, slots=True)
class Item:
    """Something read from one file, or from one file together with others that change what it says."""

    name: str
    with_files: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Kind:
    """What a shelf holds.

    Attributes:
        items: Everything that belongs on it now.
        read: The reading of an item's own bytes.
        settings: A text that changes when the same bytes would be read otherwise.
        parts: How many parts a reading has.
    """

    items: Sequence[Item]
    read: Callable[[str, bytes], Reading]
    settings: str
    parts: int


@dataclass(frozen=True, slots=True)
class _Facts:
    """What a source remembers: the stat signature of its files, and the problems it had."""

    signature: tuple[int, ...]
    problems: tuple[Problem, ...]

    def to_json(self) -> Any:
        rows = [[found.path, found.line, found.rule, found.message] for found in self.problems]
        return [self.signature, rows]


def refresh(ws: Workspace, old: Shelf, kind: Kind, started: Callable[[], int]) -> Shelf:
    """The shelf as the files are in `ws`; `old` itself when nothing changed.

    `started` gives the file system's time (ns) from before anything was read. A file is trusted by its
    signature when it was changed at least `SLACK_NS` before the shelf was made; any other is read again, and
    taken over when its content is known. A file of a commit has no signature.
    """
    known = old.sources if old.facts and old.facts["settings"] == kind.settings else {}
    read_at: int = old.facts["read_at"] if known else 0
    keep: set[str] = set()
    renewed: dict[str, Source] = {}
    additions: list[Addition] = []
    for item in kind.items:
        source = known.get(item.name)
        signature = _signature(ws, item)
        if source and any(signature) and _trusted(source, signature, read_at):
            keep.add(item.name)
            continue
        started()
        contents = [read_file(ws, path) for path in (item.name, *item.with_files)]
        key = _key(contents)
        if source and key and source.key == key:
            keep.add(item.name)
            if tuple(source.facts[0]) != signature:
                renewed[item.name] = Source(key, [signature, source.facts[1]], source.counts)
        elif contents[0] is not None:
            additions.append(_addition(item.name, contents[0], key, signature, kind))
    if not additions and not renewed and len(keep) == len(old.sources) and old.facts:
        return old
    ordered = [name for name in old.sources if name in keep]  # passages stay in their order
    base = Shelf({**old.sources, **renewed}, old.parts, old.facts)
    facts = {"settings": kind.settings, "read_at": started()}
    return base.revised(ordered, additions, facts, parts=kind.parts)


def problems(shelf: Shelf) -> tuple[Problem, ...]:
    """What was wrong with the files of a shelf, by path."""
    rows = (row for source in shelf.sources.values() for row in source.facts[1])
    return tuple(sorted(Problem(*row) for row in rows))


def _addition(name: str, data: bytes | Problem, key: str, signature: tuple[int, ...], kind: Kind) -> Addition:
    if isinstance(data, Problem):
        return Addition(name, key, _Facts(signature, (data,)).to_json(), ((),) * kind.parts)
    passages, found = kind.read(name, data)
    return Addition(name, key, _Facts(signature, found).to_json(), passages)


def _signature(ws: Workspace, item: Item) -> tuple[int, ...]:
    """Size, time, identity and mode of each of its files; zeros for one that is gone, or of a commit."""
    found: list[int] = []
    if ws.commit is not None:
        return (0, 0, 0, 0) * (1 + len(item.with_files))
    for path in (item.name, *item.with_files):
        try:
            seen = os.lstat(ws.root / path)
        except (OSError, ValueError):
            found += (0, 0, 0, 0)
        else:
            found += (seen.st_size, max(seen.st_mtime_ns, seen.st_ctime_ns), seen.st_ino, seen.st_mode)
    return tuple(found)


def _trusted(source: Source, signature: tuple[int, ...], read_at: int) -> bool:
    same = tuple(source.facts[0]) == signature
    return same and all(signature[at] < read_at - SLACK_NS for at in range(1, len(signature), 4))


def _key(contents: Iterable[bytes | Problem | None]) -> str:
    """The git blob id (SHA-1) of one file's bytes, or a digest of several; empty when one can't be read."""
    found = tuple(contents)
    digests = [
        hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()
        for data in found
        if isinstance(data, bytes)
    ]
    if len(digests) != len(found):
        return ""
    return digests[0] if len(digests) == 1 else hashlib.sha256(" ".join(digests).encode()).hexdigest()
