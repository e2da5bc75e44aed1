"""Which commit a decision in a file comes from: a blame by meaning, not by characters (C9).

A decision is the same as long as its row, its words and its edits read the same; moving or reformatting
its lines changes nothing, and changing any of them makes it the newer commit's decision. Read through
the repository's Protocol, so nothing is fetched and replace refs are ignored.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from muniment.errors import Unavailable
from muniment.git.repo import Commit, MissingObject, Oid, Repository


class Unreachable(Unavailable):
    """History that this clone lacks decides the question; the hint names the fetch (G17)."""

    code = "history-missing"


Readings = Callable[[bytes], Mapping[str, str]]
"""A version of the triage file → row id → the reading of its decision; rows without one are left out."""


class History:
    """The versions of one file behind one commit, each parsed once."""

    def __init__(self, repo: Repository, tip: Oid, path: str, readings: Readings) -> None:
        self._repo = repo
        self._tip = tip
        self._path = path
        self._readings = readings
        self._blobs: dict[Oid, Oid | None] = {}
        self._parsed: dict[Oid, Mapping[str, str]] = {}

    def introduced(self, row: str, wanted: str) -> Commit | None:
        """The commit that last made a row's decision read `wanted`; None when it doesn't at the tip.

        Raises:
            Unreachable: A shallow or partial clone lacks the commits or blobs that would tell.
        """
        try:
            return self._walk(row, wanted)
        except MissingObject as error:
            raise Unreachable(str(error), self._fetch()) from error

    def _walk(self, row: str, wanted: str) -> Commit | None:
        if self._reading(self._tip, row) != wanted:
            return None
        at = self._repo.commit(self._tip)
        merges: list[Commit] = []
        while (came_from := self._carrier(at, row, wanted)) is not None:
            if len(at.parents) > 1:
                merges.append(at)
            at = self._repo.commit(came_from)
        if not at.parents and self._repo.is_shallow():
            raise Unreachable("history is cut off before the decision.", self._fetch())
        return next((merge for merge in merges if self._revives(merge, at, row, wanted)), at)

    def _carrier(self, commit: Commit, row: str, wanted: str) -> Oid | None:
        """The first parent that has the reading already."""
        return next((parent for parent in commit.parents if self._reading(parent, row) == wanted), None)

    def _revives(self, merge: Commit, origin: Commit, row: str, wanted: str) -> bool:
        """Whether a merge chose the reading against a parent that had it once and had it taken away.

        Merging by git's rules keeps what was taken away on one side; choosing otherwise is the merger's act.
        """
        for parent in merge.parents:
            if self._reading(parent, row) == wanted:
                continue
            knew = self._repo.is_ancestor(origin.oid, parent)
            if knew is None:
                raise Unreachable("history is cut off before the decision.", self._fetch())
            if knew:
                return True
        return False

    def _reading(self, commit: Oid, row: str) -> str | None:
        if commit not in self._blobs:
            entry = self._repo.entry(commit, self._path)
            self._blobs[commit] = entry.oid if entry else None
        blob = self._blobs[commit]
        if blob is None:
            return None
        if blob not in self._parsed:
            self._parsed[blob] = self._readings(self._repo.blob(blob))
        return self._parsed[blob].get(row)

    def _fetch(self) -> str:
        return "git fetch --unshallow" if self._repo.is_shallow() else "git fetch"
