"""Which working files are certainly what they were: blob ids remembered beside the files' stat data.

git's index makes the same promise for tracked files, but only of what its filters would store, and less
surely: it compares with the time at which it was written, not with one before the files were read. Here an
id is kept only when, in the file system's own time, the file's last change (of bytes or of attributes) lay
`QUIET_SECONDS` before a moment before it was read. Whatever changes it later then changes its stat data: a
restored modification time, or the same size, hides nothing, since the change time can't be set.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path

from muniment.errors import MunimentError
from muniment.files import atomic_write
from muniment.git.repo import Oid

FORMAT = 1
QUIET_SECONDS = 60
"""How long a file has to have been left alone: longer than any file system's clock is coarse, and than a
mapped page may stay written to without a new time (30 s by default on Linux)."""
MAX_KEPT = 50_000

Stamp = tuple[int, int, int, int]
"""Times of the last change of bytes and of attributes (ns), size (bytes), inode number."""


def stamp(info: os.stat_result) -> Stamp:
    """What of a file's stat data tells that it is still the same."""
    return info.st_mtime_ns, info.st_ctime_ns, info.st_size, info.st_ino


class Stamps:
    """Blob ids of working files by their stat data, kept in one file under the git folder.

    Losing the file only costs time. Its own modification time, as it stood when it was loaded, is the moment
    before which a file must have been quiet; so ids are first trusted two runs later.
    """

    def __init__(self, cache: Path) -> None:
        self._cache = cache
        self._known: Mapping[str, tuple[Stamp, Oid]] | None = None
        self._since = self._device = 0
        self._kept: dict[str, tuple[Stamp, Oid]] = {}
        self._stale = False

    def oid(self, path: str, info: os.stat_result) -> Oid | None:
        """The blob id of a file with this stat data, or None where it has to be read.

        Args:
            path: Repository-relative.
            info: Its stat data, taken in this run.
        """
        found = self._loaded().get(path)
        if found is None or found[0] != stamp(info) or info.st_dev != self._device:
            return None
        self._kept[path] = found
        return found[1]

    def note(self, path: str, info: os.stat_result, oid: Oid) -> None:
        """Remember the id of bytes that were read after `info` was taken, if the file was quiet by then."""
        self._loaded()
        self._stale = True  # also where nothing is kept yet: then the next run has a later moment to compare
        quiet = max(info.st_mtime_ns, info.st_ctime_ns) + QUIET_SECONDS * 10**9 <= self._since
        if quiet and info.st_dev == self._device:
            self._kept[path] = (stamp(info), oid)

    def save(self, *, whole: bool) -> None:
        """Keep what was learnt; with `whole`, everything was looked at, and what was not seen is dropped."""
        if not self._stale or os.name == "nt":  # there the change time is the time of creation
            return
        kept = self._kept if whole else {**self._loaded(), **self._kept}
        listed = {path: [*seen, oid] for path, (seen, oid) in kept.items()} if len(kept) <= MAX_KEPT else {}
        try:
            data = json.dumps([FORMAT, listed], separators=(",", ":")).encode("ascii")
            atomic_write(self._cache, data, mode=0o600)
        except MunimentError:
            return  # a read-only git folder only costs the cache

    def _loaded(self) -> Mapping[str, tuple[Stamp, Oid]]:
        if self._known is None:
            self._known = self._load() if os.name != "nt" else {}
        return self._known

    def _load(self) -> Mapping[str, tuple[Stamp, Oid]]:
        try:
            with self._cache.open("rb") as stream:
                info = os.fstat(stream.fileno())
                version, listed = json.loads(stream.read())
            known = {
                path: ((changed, altered, size, inode), Oid(oid))
                for path, (changed, altered, size, inode, oid) in listed.items()
            }
        except (OSError, ValueError, TypeError, AttributeError):
            return {}
        self._since, self._device = info.st_mtime_ns, info.st_dev
        return known if version == FORMAT else {}
