"""Files as a batch's rows change them, in memory: several rows compose, a refused row leaves no trace.

Every path that was looked at is remembered with what was there, or that nothing was: a token binds them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from muniment.errors import MunimentError

Loader = Callable[[str], bytes | None]
"""A repository-relative path → the file's bytes, or None when there is none; raises for anything else."""


class RowRefused(MunimentError):
    """One row can't be applied; the others go on. Nothing of the row was done."""

    code = "row-refused"


@dataclass(frozen=True, slots=True)
class Change:
    """One thing done to one file, in words for the preview."""

    path: str
    what: str


@dataclass(slots=True)
class Desk:
    """The working copy of a derivation; it writes nothing to disk.

    Attributes:
        load: Reads a file as it is on disk.
        found: Path → what was on disk when it was first looked at.
        made: Path → the bytes that the rows so far give it.
        log: What was done, in order.
    """

    load: Loader
    found: dict[str, bytes | None] = field(default_factory=dict)
    made: dict[str, bytes] = field(default_factory=dict)
    log: list[Change] = field(default_factory=list)

    def read(self, path: str) -> bytes | None:
        """The file as the rows so far left it; None when there is none.

        Raises:
            RowRefused: The path leads out of the repository, is a link or a folder, or can't be read.
        """
        if path in self.made:
            return self.made[path]
        if path not in self.found:
            self.found[path] = self.load(path)
        return self.found[path]

    def write(self, path: str, data: bytes, what: str) -> None:
        """Give a file new bytes; it must have been read before, so that nothing is written over unseen."""
        if path not in self.found:
            raise KeyError(path)
        self.made[path] = data
        self.log.append(Change(path, what))

    def fork(self) -> Desk:
        """A copy for one row; `adopt` it when the row went through."""
        return Desk(self.load, self.found, dict(self.made), list(self.log))

    def adopt(self, fork: Desk) -> None:
        """Take over what a fork made; what it only looked at is shared already."""
        self.made = fork.made
        self.log = fork.log

    def changed(self) -> Mapping[str, bytes]:
        """Path → final bytes, of the files that differ from the disk."""
        return {path: data for path, data in sorted(self.made.items()) if data != self.found[path]}
