"""Whether landed work still stands at a commit: a fix that was taken back is no fix (C8, G17).

Being an ancestor proves that a commit was there once, not that its work still is. Three more things are
looked at, all in this clone's own history: commits that say what they revert, and whether those were
reverted in turn; whether every file that the work changed is as it was before; and whether the same change
is there under another id (a backport). Where that leaves a doubt, the answer is unknown.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from muniment.git.repo import Commit, MissingObject, Oid
from muniment.intake.propose import Contained
from muniment.workspace import Workspace

_REVERTS = re.compile(r"\breverts? commits? ([0-9a-f]{7,64})\b", re.IGNORECASE)
_PICKED = re.compile(r"^\(cherry picked from commit ([0-9a-f]{40,64})\)", re.MULTILINE)
_TITLE = re.compile(r'(Revert|Reapply) "(.+)"\Z')
_NUMBER = re.compile(r" \([#!]\d+\)\Z")


@dataclass(frozen=True, slots=True)
class _Revert:
    """A commit that takes others back: the ids that it names, else the subject line that it quotes."""

    oid: Oid
    names: tuple[Oid, ...]
    title: str


@dataclass(frozen=True, slots=True)
class _Past:
    """The history behind one commit.

    Attributes:
        place: Commit → its place, newest first.
        reverts: Its reverts, newest first.
        titles: Commit → its subject line without a trailing number.
        merged: Merge commit → its first parent.
        same: What identifies a change whatever its commit's id → the commits that carry it.
    """

    place: Mapping[Oid, int]
    reverts: tuple[_Revert, ...]
    titles: Mapping[Oid, str]
    merged: Mapping[Oid, Oid]
    same: Mapping[object, tuple[Oid, ...]]


class Landings:
    """What became of landed commits; each history is walked once."""

    def __init__(self, ws: Workspace) -> None:
        self._ws = ws
        self._pasts: dict[Oid, _Past] = {}
        self._code: dict[Oid, tuple[str, ...]] = {}
        self._lost: dict[tuple[Oid, Oid], str] = {}

    @cached_property
    def _lines(self) -> tuple[tuple[str, Oid], ...]:
        """Where landed work has to stand: HEAD, and the upstream default branch as far as it is known."""
        head = self._ws.repo.head()
        found = [("HEAD", head.commit)] if head.commit else []
        ref = self._upstream
        tip = self._ws.repo.refs(ref).get(ref) if ref else None
        if ref and tip and tip != head.commit:
            found.append((ref.removeprefix("refs/remotes/"), tip))
        return tuple(found)

    @cached_property
    def _upstream(self) -> str | None:
        return self._ws.repo.upstream_default(self._ws.config.default_branch)

    def is_docs_only(self, commit: Oid) -> bool:
        """Whether a commit changed documents alone: it may have filed the problem, and mended nothing."""
        return not self._code_paths(commit)

    def is_revert(self, commit: Oid) -> bool:
        """Whether a commit says that it takes another one back (or does that to such a commit)."""
        try:
            return _revert(self._ws.repo.commit(commit)) is not None
        except MissingObject:
            return False

    def doubt(self, landed: Oid) -> str:
        """Why landed work doesn't count as landed, in words; empty when it stands where it has to."""
        return self.taken_back(landed) or self._elsewhere(landed)

    def taken_back(self, landed: Oid) -> str:
        """What took landed work back, or may have, here or upstream; empty when it stands."""
        for name, tip in self._lines:
            if self._ws.repo.is_ancestor(landed, tip) and (why := self._gone(landed, tip)):
                return f"commit {landed.short}, which landed it, {why} ({name})"
        return ""

    def _elsewhere(self, landed: Oid) -> str:
        """Why a commit of a side branch alone is not landed; empty where no upstream says otherwise."""
        branch, ref = self._ws.repo.head().branch, self._upstream
        if ref is None or (branch is not None and ref.endswith(f"/{branch}")):
            return ""
        tip = dict(self._lines).get(ref.removeprefix("refs/remotes/"))
        if tip is None or self._ws.repo.is_ancestor(landed, tip) is not False or self._twin(landed, tip):
            return ""
        return f"commit {landed.short} is not on {ref.removeprefix('refs/remotes/')} yet"

    def holds(self, landed: Oid, at: Oid, shown: str) -> Contained:
        """Whether the work of a landed commit is in the version `at`, which people know as `shown`."""
        answer = self._ws.repo.is_ancestor(landed, at)
        if answer is None:
            return Contained(None, "history is cut off here; `git fetch --unshallow` would settle it")
        if answer and (why := self._gone(landed, at)):
            sure = not why.startswith("may")
            said = f"in the running version {shown} commit {landed.short} {why}"
            return Contained(False if sure else None, said)
        if not answer and (twin := self._twin(landed, at)):
            return Contained(True, f"the running version {shown} contains it (as {twin.short})")
        word = "contains" if answer else "lacks"
        return Contained(answer, f"the running version {shown} {word} it ({landed[:10]})")

    def _gone(self, landed: Oid, at: Oid) -> str:
        """What took an ancestor's work away again, in words for after `commit X`; empty when it stands."""
        key = (landed, at)
        if key not in self._lost:
            revert = self._undone_by(self._past(at), landed)
            self._lost[key] = f"was taken back by {revert.short}" if revert else self._emptied(landed, at)
        return self._lost[key]

    def _undone_by(self, past: _Past, target: Oid) -> Oid | None:
        """The newest revert of a commit that was not itself taken back."""
        for revert in past.reverts:
            if past.place[revert.oid] >= past.place.get(target, 0):
                break
            if self._concerns(past, revert, target) and self._undone_by(past, revert.oid) is None:
                return revert.oid
        return None

    def _concerns(self, past: _Past, revert: _Revert, target: Oid) -> bool:
        if target in revert.names:
            return True
        if not revert.names:
            return bool(revert.title) and revert.title == past.titles.get(target)
        repo = self._ws.repo
        return any(
            bool(repo.is_ancestor(target, name)) and repo.is_ancestor(target, past.merged[name]) is False
            for name in revert.names
            if name in past.merged
        )

    def _emptied(self, landed: Oid, at: Oid) -> str:
        """Whether all code that the commit changed is as it was before, without a word of a revert."""
        repo, paths = self._ws.repo, self._code_paths(landed)
        try:
            parents = repo.commit(landed).parents
            if not parents or "" in paths:
                return ""
            before = {path: repo.entry(parents[0], path) for path in paths}
            if not paths or any(repo.entry(at, path) != old for path, old in before.items()):
                return ""
        except MissingObject:
            return ""
        if any(old is not None for old in before.values()):
            return "was taken back: what it changed is as it was before"
        return "may have been taken back: the files that it added are gone"

    def undoes(self, later: Oid, earlier: Oid) -> bool:
        """Whether a commit put all code that an earlier one changed back as it was, whatever it says."""
        if later == earlier or not self._ws.repo.is_ancestor(earlier, later):
            return False
        try:
            parents = self._ws.repo.commit(later).parents
        except MissingObject:
            return False
        return bool(
            parents and self._emptied(earlier, later) and not self._emptied(earlier, parents[0])
        ) and not set(self._code_paths(later)) - set(self._code_paths(earlier))

    def _twin(self, landed: Oid, at: Oid) -> Oid | None:
        """A commit behind `at` that makes the same change under another id, and whose work stands."""
        past = self._past(at)
        try:
            keys = _identity(self._ws.repo.commit(landed))
        except MissingObject:
            return None
        twins = (twin for key in keys for twin in past.same.get(key, ()))
        return next((twin for twin in twins if twin != landed and not self._gone(twin, at)), None)

    def _code_paths(self, commit: Oid) -> tuple[str, ...]:
        """What a commit changed besides documents; an empty name when that can't be told."""
        if commit not in self._code:
            try:
                parents = self._ws.repo.commit(commit).parents
                changed = self._ws.repo.diff_paths(parents[0] if parents else None, commit)
            except MissingObject:
                changed = ("",)
            folders = (f"{self._ws.config.docs_root}/", ".muniment/")
            self._code[commit] = tuple(
                path for path in changed if not path.startswith(folders) and not path.lower().endswith(".md")
            )
        return self._code[commit]

    def _past(self, at: Oid) -> _Past:
        if at not in self._pasts:
            self._pasts[at] = _read(self._ws.repo.commits((at,)))
        return self._pasts[at]


def _read(commits: Iterator[Commit]) -> _Past:
    place: dict[Oid, int] = {}
    titles: dict[Oid, str] = {}
    merged: dict[Oid, Oid] = {}
    same: dict[object, tuple[Oid, ...]] = {}
    reverts: list[_Revert] = []
    for commit in commits:
        place[commit.oid] = len(place)
        titles[commit.oid] = _title(commit.subject)
        if len(commit.parents) > 1:
            merged[commit.oid] = commit.parents[0]
        for key in _identity(commit):
            same[key] = (*same.get(key, ()), commit.oid)
        if (revert := _revert(commit)) is not None:
            reverts.append(revert)
    return _Past(place, tuple(_resolved(one, place) for one in reverts), titles, merged, same)


def _identity(commit: Commit) -> tuple[object, ...]:
    """What a commit shares with its cherry-picks: its own or its origin's id; author, time and subject."""
    author = commit.author
    picked = _PICKED.findall(commit.message)
    return (commit.oid, *picked, (author.email, author.name, author.when, _title(commit.subject)))


def _revert(commit: Commit) -> _Revert | None:
    names = tuple(Oid(name.lower()) for name in _REVERTS.findall(commit.message))
    titled = _TITLE.match(_title(commit.subject))
    if not names and titled is None:
        return None
    quoted = _title(titled[2]) if titled else ""
    return _Revert(commit.oid, names, f'Revert "{quoted}"' if titled and titled[1] == "Reapply" else quoted)


def _resolved(revert: _Revert, place: Mapping[Oid, int]) -> _Revert:
    """The revert with its abbreviated ids as the full ones that they begin."""
    full: list[Oid] = []
    for name in revert.names:
        full += [name] if name in place else [oid for oid in place if oid.startswith(name)]
    return _Revert(revert.oid, tuple(full) or revert.names, revert.title)


def _title(subject: str) -> str:
    return _NUMBER.sub("", subject.strip())
