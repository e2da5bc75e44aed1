"""The one door out: every owned file is written, and every commit made, here (G4, G5, G12).

Final bytes in memory → the gate → a journal → the files → the repository's hooks → the gate again → the
commit → the branch by compare-and-set, with the index's entries of just these files → done. Whatever
happens before the branch moves, everything is put back to the exact old bytes. Design and reasons:
`docs/design/publish.md`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING

from muniment import journal_recovery, landing, targets
from muniment.errors import Refused
from muniment.files import FileChange, file_lock
from muniment.git import index as indexes
from muniment.git.committing import require_identity, tidy_message
from muniment.git.locks import ref_locks, wait_until_free
from muniment.git.repo import EXECUTABLE_MODE, FILE_MODE, LINK_MODE, Head, Oid, TreeEntry
from muniment.journal import Journal, Wanted, changed_meanwhile, sweep_temporary
from muniment.journal_recovery import Settled as Recovered
from muniment.workspace import Workspace

if TYPE_CHECKING:
    from muniment.redact.gate import Cleared, Gate

Seen = Mapping[str, bytes | None]
NOTHING: Seen = MappingProxyType({})
_LFS_POINTER = b"version https://git-lfs"
_EXECUTE_BITS = 0o111


@dataclass(frozen=True, slots=True)
class ClearedChange:
    """A file change that the gate has let pass; made by `Door.clear` only.

    Attributes:
        path: Repository-relative path with `/`.
        cleared: The gate's word for path and bytes; None deletes the file.
        mode: Git file mode; None keeps the file's own, or 0o100644 for a new one.
    """

    path: str
    cleared: Cleared | None
    mode: int | None = None

    @property
    def data(self) -> bytes | None:
        """The whole new content as it will stand in the working tree; None deletes the file."""
        return None if self.cleared is None else self.cleared.data


@dataclass(frozen=True, slots=True)
class Published:
    """What a commit did: its id (None: nothing had changed) and the paths written."""

    commit: Oid | None
    paths: tuple[str, ...]


def open_journal(ws: Workspace) -> bool:
    """Whether a killed run left a step of this worktree open; reads only (G13)."""
    return Journal(ws.repo, ws.private).is_open()


@contextmanager
def open_door(ws: Workspace) -> Iterator[Door]:
    """Hold the clone's lock for the block, after finishing or undoing what a killed run left open.

    Everything that is read in order to be written back is to be read inside the block.

    Raises:
        Refused: Another Muniment process holds the lock.
    """
    with file_lock(ws.lock_path):
        yield Door(ws)


class Door:
    """The open door; see `open_door`. `recovered` says what a killed run had left, if anything."""

    def __init__(self, ws: Workspace) -> None:
        self._ws = ws
        self._journal = Journal(ws.repo, ws.private)
        self._written = targets.Written(ws)
        self.recovered: Recovered | None = None
        if self._journal.is_open():
            self.recovered = journal_recovery.recover(ws, self._journal)
        self._journal.discard()

    @cached_property
    def gate(self) -> Gate:
        """The gate for this workspace, built when first needed."""
        from muniment.redact.gate import gate_for  # noqa: PLC0415 - heavy, and a recovery needs none

        return gate_for(self._ws)

    def clear(self, changes: Iterable[FileChange], gate: Gate | None = None) -> tuple[ClearedChange, ...]:
        """Show every change to the gate, against what HEAD holds at its path (G12).

        A new file is judged against what HEAD holds at the paths that the same changes take away, and at the
        one it is said to come from: content that only moves is not new. The new path is judged in any case.

        Raises:
            GateRefused: An identifier or a secret would be added; nothing was written.
            Refused, UsageProblem: A target that can't be written.
        """
        listed = tuple(changes)
        targets.require_plain(self._ws, (change.path for change in listed))
        head = self._ws.repo.head().commit
        gone = tuple(change.path for change in listed if change.data is None)

        def judged(change: FileChange) -> Cleared | None:
            if change.data is None:
                return None
            old = self._committed(head, change.path, change.data)
            if old is not None:
                return (gate or self.gate).clear(change.path, change.data, old)
            sources = dict.fromkeys((change.moved_from, *gone) if change.moved_from else gone)
            held = (self._committed(head, source, change.data) for source in sources)
            moved = (data for data in held if data is not None)
            return (gate or self.gate).clear_new(change.path, change.data, moved)

        return tuple(ClearedChange(change.path, judged(change), change.mode) for change in listed)

    def _committed(self, head: Oid | None, path: str, data: bytes) -> bytes | None:
        """HEAD's bytes at `path`, as the working tree would have them when conversion makes a difference."""
        entry = self._ws.repo.entry(head, path) if head else None
        if entry is None or entry.mode not in {FILE_MODE, EXECUTABLE_MODE}:
            return None
        blob = self._ws.repo.blob(entry.oid)
        converted = (b"\r\n" in blob) != (b"\r\n" in data) or blob.startswith(_LFS_POINTER)
        return self._ws.repo.smudge(path, entry.oid) if converted else blob

    def write(
        self,
        cleared: Iterable[ClearedChange],
        *,
        include_dirty: Collection[str] = frozenset(),
        refuse_dirty: bool = False,
        operation: str = "write",
        seen: Seen = NOTHING,
    ) -> tuple[str, ...]:
        """Write files without a commit, all or none; returns the paths whose bytes changed.

        `seen` holds, for any of the paths, the bytes that the caller read to compute the new ones.

        Raises:
            Refused: With `refuse_dirty`, a target with uncommitted changes not made by Muniment.
            Unavailable: A file can't be written; every file is as it was.
        """
        changes = self._accepted(cleared)
        targets.require_plain(self._ws, (change.path for change in changes))
        wanted = self._wanted(changes, None)
        _require_seen(wanted, seen)
        if refuse_dirty:
            targets.require_clean(self._ws, [file.path for file in wanted], include_dirty)
        if not wanted:
            return ()
        self._remember(wanted)
        intent = self._journal.begin(wanted, kind="write", operation=operation)
        try:
            self._journal.write_forward(intent)
        except BaseException:
            journal_recovery.roll_back(self._ws, self._journal, intent)
            raise
        self._journal.finish()
        return tuple(file.path for file in wanted)

    def _remember(self, wanted: Collection[Wanted]) -> None:
        """Note as ours what is about to stand in files that hold HEAD's or our own bytes only.

        Noted before it is written: after a kill a file may hold it already, and a note too many is harmless.
        """
        known = {file.path for file in wanted if file.now and self._written.holds(file.path, file.now[1])}
        unsure = [file.path for file in wanted if file.path not in known]
        dirty = self._ws.repo.dirty(unsure) if unsure else {}
        files = {file.path: file.then and file.then[1] for file in wanted if file.path not in dirty}
        self._written.remember(files)

    def commit(
        self,
        cleared: Iterable[ClearedChange],
        message: str,
        *,
        operation: str,
        include_dirty: Collection[str] = frozenset(),
        may_be_dirty: Collection[str] = frozenset(),
        seen: Seen = NOTHING,
    ) -> Published:
        """Write files and commit exactly them on the checked-out branch, hooks and all; or do nothing.

        `operation` is a stable key: after a kill, the next door's `recovered` names it, so that a retry
        can tell whether it was done. `may_be_dirty` are targets whose uncommitted content the caller
        has itself read into the change; `include_dirty` those that the person named. `seen` holds, for any
        of the paths, the bytes that the caller read to compute the new ones: one that was edited since is
        refused.

        Raises:
            Refused: Detached HEAD, an operation under way, a conflicted or locked index, a dirty or
                unusable target, a hook that rejects or changes an owned file, a branch that moved.
                Everything is as it was.
            UsageProblem: git doesn't know who commits.
            GateRefused: The message, or what a hook made of the commit, doesn't pass the gate.
            Unavailable: Disk, permissions or signing; everything is as it was.
        """
        changes = self._accepted(cleared)
        text = self.gate.clear_text(tidy_message(message.encode("utf-8")))
        head = self._preflight(changes, {*include_dirty, *may_be_dirty})
        self.gate.clear_text(head.branch or "", "branch name")
        blobs = self._to_commit(changes, head)
        if not blobs:
            return Published(None, self.write(changes, operation=operation, seen=seen))
        files = self._wanted(changes, head.commit, also=blobs)
        _require_seen(files, seen)
        work = landing.Work(self._ws, self._journal, head, blobs, self.gate, operation)
        commit = work.run(files, text)
        self._written.forget(blobs)
        return Published(commit, tuple(sorted(file.path for file in files)))

    def _preflight(self, changes: Collection[ClearedChange], allowed: Collection[str]) -> Head:
        """Everything that can be refused before a byte is written."""
        repo = self._ws.repo
        targets.require_quiet(repo)
        head = repo.head()
        if head.ref is None:
            raise Refused(
                "HEAD is detached: a commit here would be on no branch. Nothing was written.",
                "Switch to a branch first: git switch BRANCH, or git switch -c NEW-BRANCH",
                code="detached-head",
            )
        wait_until_free(indexes.lock_file(repo), *ref_locks(repo, head.ref))
        require_identity(repo)
        targets.require_plain(self._ws, (change.path for change in changes))
        targets.require_clean(self._ws, [change.path for change in changes], allowed)
        return head

    def _to_commit(self, changes: Collection[ClearedChange], head: Head) -> dict[str, TreeEntry | None]:
        """The tree entries that differ from HEAD, their blobs stored through the clean filters (G2)."""
        repo = self._ws.repo
        found: dict[str, TreeEntry | None] = {}
        for change in changes:
            old = repo.entry(head.commit, change.path) if head.commit else None
            new = None
            if change.data is not None:
                mode = change.mode or (old.mode if old else self._mode(change.path))
                new = TreeEntry(change.path, mode, repo.clean(change.path, change.data))
            if new != old:
                found[change.path] = new
                if change.data is not None:
                    repo.clean(change.path, change.data, write=True)
        targets.require_not_ignored(
            repo, (path for path in found if not (head.commit and repo.entry(head.commit, path)))
        )
        return found

    def _mode(self, path: str) -> int:
        """The mode for a file that HEAD doesn't have: as it is staged, else as it stands on disk."""
        staged = self._ws.repo.index_entries((path,)).get(path)
        if staged is not None and staged.mode != LINK_MODE:
            return staged.mode
        found = targets.current_bytes(self._ws, path)
        trusts_bits = (self._ws.repo.config("core.filemode") or "true") == "true"
        return EXECUTABLE_MODE if found and trusts_bits and found[0] & _EXECUTE_BITS else FILE_MODE

    def _wanted(
        self, changes: Collection[ClearedChange], head: Oid | None, *, also: Collection[str] = ()
    ) -> list[Wanted]:
        """The files whose bytes on disk have to change, and those named by `also`."""
        wanted = []
        for change in changes:
            sweep_temporary(self._ws.root / change.path)
            now = targets.current_bytes(self._ws, change.path)
            then = None if change.data is None else (_permissions(change.mode, now), change.data)
            same = now == then if now is None or then is None else now[1] == then[1]
            if not same or change.path in also:
                entry = self._ws.repo.entry(head, change.path) if head else None
                wanted.append(Wanted(change.path, now, now if same else then, entry.oid if entry else ""))
        return wanted

    def _accepted(self, cleared: Iterable[ClearedChange]) -> tuple[ClearedChange, ...]:
        """The changes, each checked to carry the gate's own word for its own path."""
        from muniment.redact.gate import Cleared  # noqa: PLC0415 - heavy

        changes = tuple(cleared)
        for change in changes:
            if change.cleared is not None and not isinstance(change.cleared, Cleared):
                raise TypeError("publish accepts only what the gate has cleared")
            if change.cleared is not None and change.cleared.path != change.path:
                raise targets.refuse_outside(change.path)
        if len({change.path for change in changes}) != len(changes):
            raise ValueError("a path is changed twice in one step")
        return changes


def _require_seen(files: Iterable[Wanted], seen: Seen) -> None:
    """Refuse when a file no longer holds what the caller read."""
    for file in files:
        if file.path in seen and seen[file.path] != (file.now and file.now[1]):
            raise changed_meanwhile(file.path)


def _permissions(mode: int | None, now: tuple[int, bytes] | None) -> int:
    """Permission bits for a file: its own, with the execute bits that a given git mode asks for."""
    kept = now[0] if now else 0o644
    if mode is None:
        return kept
    return kept | _EXECUTE_BITS & (kept >> 2 | 0o100) if mode == EXECUTABLE_MODE else kept & ~_EXECUTE_BITS


__all__ = ["ClearedChange", "Door", "Published", "Recovered", "open_door", "open_journal"]
