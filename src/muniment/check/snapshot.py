"""The files a check judges: of the working tree, of the index, or of a commit, behind one Protocol.

Reading writes nothing, and a hook's own index is read where git names one (G15, G16).
"""

from __future__ import annotations

import os
import shlex
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Protocol

from muniment.check.paths import Owned
from muniment.errors import MunimentError
from muniment.files import MAX_BYTES, read_bytes
from muniment.git.repo import LINK_MODE, MissingObject, Oid, Repository, TreeEntry


class Snapshot(Protocol):
    """One state of the repository's files."""

    @property
    def label(self) -> str:
        """What it is, in words."""
        ...

    @property
    def unreadable(self) -> Mapping[str, tuple[str, str]]:
        """Paths that are there and could not be read so far: why, and the command that would settle it."""
        ...

    def paths(self) -> Mapping[str, int]:
        """The owned paths that are there, with their git file mode, in order."""
        ...

    def stat(self, path: str) -> os.stat_result | None:
        """The stat data of a plain file of the working tree, taken before it was read; else None."""
        ...

    def read(self, path: str) -> bytes | None:
        """A file's bytes; None when there is no plain file, or it can't be read (see `unreadable`)."""
        ...

    def exists(self, path: str) -> bool:
        """Whether anything, file or folder, is at `path`."""
        ...


class WorkingTree:
    """What lies on disk now."""

    label = "the working tree"

    def __init__(self, root: Path, owned: Owned) -> None:
        self.root = root
        self.owned = owned
        self.unreadable: dict[str, tuple[str, str]] = {}
        self._stats: dict[str, os.stat_result] = {}
        self._known: dict[str, bool] = {}
        self._read: dict[str, bytes | None] = {}

    def paths(self) -> Mapping[str, int]:
        """The owned paths that are there, with their git file mode, in order."""
        return self._paths

    @cached_property
    def _paths(self) -> Mapping[str, int]:
        found: dict[str, int] = {}
        real = self.root.resolve()
        for start in dict.fromkeys((*self.owned.roots, *self.owned.gated_starts)):
            place = start.rstrip("/")
            if not (self.root / place).parent.resolve().is_relative_to(real):
                why = f"{place} lies behind a symbolic link that leads outside the repository."
                self.unreadable[place] = (why, f"ls -ld -- {shlex.quote(place.rpartition('/')[0])}")
                continue
            for path, info in self._walk(place):
                if path not in found and self.owned.kind(path):
                    found[path] = _mode(info)
                    self._stats[path] = info
        return dict(sorted(found.items()))

    def stat(self, path: str) -> os.stat_result | None:
        """The stat data of an owned plain file, taken before anything was read; None for anything else."""
        return self._stats.get(path) if self._paths.get(path) in _PLAIN else None

    def read(self, path: str) -> bytes | None:
        """A file's bytes; None when there is no plain file, or it can't be read."""
        if path not in self._read:
            self._read[path] = self._bytes(path)
        return self._read[path]

    def _bytes(self, path: str) -> bytes | None:
        target = os.path.join(self.root, path)  # noqa: PTH118 - text paths: this runs once per document
        try:
            if self._paths.get(path) not in _PLAIN and not stat.S_ISREG(os.lstat(target).st_mode):
                return None
            return _read(target)
        except FileNotFoundError:
            return None
        except (OSError, MunimentError) as error:
            why = error.strerror if isinstance(error, OSError) else str(error)
            self.unreadable[path] = (f"{path} can't be read: {why}.", f"ls -l -- {shlex.quote(path)}")
            return None

    def _walk(self, start: str) -> Iterator[tuple[str, os.stat_result]]:
        """Files below a repository-relative path (or that file), links named but not followed."""
        try:
            info = os.lstat(os.path.join(self.root, start))  # noqa: PTH118 - as above
        except OSError:
            return
        if not stat.S_ISDIR(info.st_mode):
            yield start, info
            return
        folders = [start]
        while folders:
            folder = folders.pop()
            for entry in self._listing(folder):
                path = f"{folder}/{entry.name}" if folder else entry.name
                if entry.is_dir(follow_symlinks=False):
                    if entry.name != ".git" and not os.path.lexists(f"{entry.path}/.git"):  # a submodule
                        folders.append(path)
                else:
                    yield path, entry.stat(follow_symlinks=False)

    def _listing(self, folder: str) -> list[os.DirEntry[str]]:
        try:
            return list(os.scandir(os.path.join(self.root, folder)))  # noqa: PTH118 - as above
        except OSError as error:
            why = f"The folder {folder} can't be read: {error.strerror}."
            self.unreadable[folder] = (why, f"ls -ld -- {shlex.quote(folder)}")
            return []

    def exists(self, path: str) -> bool:
        """Whether anything, file or folder, is at `path`."""
        known = self._known.get(path)
        if known is None:
            known = self._known[path] = (self.root / path).exists()
        return known


_PLAIN = (0o100644, 0o100755)
_SMALL = 1024 * 1024


def _read(target: str) -> bytes:
    """A plain file's bytes: in one call when it is small, else with the limit of `files.read_bytes`."""
    descriptor = os.open(target, os.O_RDONLY | getattr(os, "O_BINARY", 0))
    try:
        data = os.read(descriptor, _SMALL)
    finally:
        os.close(descriptor)
    return data if len(data) < _SMALL else read_bytes(Path(target), limit=MAX_BYTES)


def _mode(info: os.stat_result) -> int:
    """The git file mode; 0 for what git doesn't store, such as a socket."""
    if stat.S_ISLNK(info.st_mode):
        return LINK_MODE
    if not stat.S_ISREG(info.st_mode):
        return 0
    return 0o100755 if info.st_mode & 0o100 else 0o100644


class Objects:
    """Files held as git objects: those of the index, or of a commit's tree."""

    def __init__(
        self, repo: Repository, label: str, owned: Owned, given: Callable[[], Iterable[TreeEntry]]
    ) -> None:
        self.repo = repo
        self.label = label
        self.owned = owned
        self._given = given
        self.unreadable: dict[str, tuple[str, str]] = {}
        self._read: dict[Oid, bytes] = {}

    @classmethod
    def staged(cls, repo: Repository, owned: Owned) -> Objects:
        """What the next commit would hold."""
        return cls(repo, "what is staged", owned, lambda: repo.index_entries().values())

    @classmethod
    def commit(cls, repo: Repository, commit: Oid, label: str, owned: Owned) -> Objects:
        """What a commit holds."""
        return cls(repo, label, owned, lambda: repo.entries(commit))

    @cached_property
    def entries(self) -> Mapping[str, TreeEntry]:
        """Every file of the tree by path."""
        return {entry.path: entry for entry in self._given()}

    @cached_property
    def _folders(self) -> frozenset[str]:
        return frozenset(path[:at] for path in self.entries for at, char in enumerate(path) if char == "/")

    def paths(self) -> Mapping[str, int]:
        """The owned paths that are there, with their git file mode, in order."""
        return self._paths

    @cached_property
    def _paths(self) -> Mapping[str, int]:
        return {path: entry.mode for path, entry in sorted(self.entries.items()) if self.owned.kind(path)}

    def stat(self, path: str) -> os.stat_result | None:  # noqa: ARG002 - as the Protocol has it
        """None: an object has no stat data."""
        return None

    def read(self, path: str) -> bytes | None:
        """A file's bytes; None when there is no plain file, or this clone lacks its blob."""
        entry = self.entries.get(path)
        if entry is None or not stat.S_ISREG(entry.mode):
            return None
        if entry.oid not in self._read:
            try:
                self._read[entry.oid] = self.repo.blob(entry.oid)
            except MissingObject as error:
                settle = f"git fetch origin {entry.oid}" if self.repo.is_partial() else "git fsck"
                self.unreadable[path] = (f"{path} in {self.label}: {error.message}", settle)
                return None
        return self._read[entry.oid]

    def exists(self, path: str) -> bool:
        """Whether anything, file or folder, is at `path`."""
        return path in self.entries or path in self._folders
