"""From cleared files to a commit on the branch, or back to where it started; used by `publish.py` alone.

The order matters more than anything else here; `docs/design/publish.md` has the state machine.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from muniment.errors import Refused, Unavailable
from muniment.files import atomic_write, file_lock
from muniment.git import committing
from muniment.git import index as indexes
from muniment.git.process import GitKilled
from muniment.git.repo import GITLINK_MODE, Head, Oid, TreeEntry
from muniment.journal import Intent, Journal, Wanted, current
from muniment.journal_recovery import complete_index, drop_own_locks, is_amended, landed, roll_back
from muniment.targets import LEFTOVERS, Written
from muniment.workspace import Workspace

if TYPE_CHECKING:
    from muniment.redact.gate import ClearedText, Gate

_BACK = "everything is as it was"
Entries = Mapping[str, TreeEntry | None]


@contextmanager
def _inherited(ws: Workspace, descriptor: int) -> Iterator[None]:
    """Let the git and hook processes of the block hold a lock along with us (POSIX)."""
    ws.repo.git.inherited = (descriptor,) if os.name == "posix" else ()
    try:
        yield
    finally:
        ws.repo.git.inherited = ()


@dataclass(slots=True)
class Work:
    """One commit being made.

    Attributes:
        ws: The workspace.
        journal: Its journal, not yet begun.
        head: Where the branch stood when everything was checked.
        entries: The tree entries to commit.
        gate: Judges what hooks leave.
        operation: The caller's stable key.
        hooked: Digests that hooks left in files of ours, so that rolling back may replace them.
        theirs: Paths with a person's uncommitted changes before hooks ran.
        shown: The index entries that the commit set.
    """

    ws: Workspace
    journal: Journal
    head: Head
    entries: Entries
    gate: Gate
    operation: str
    hooked: dict[str, frozenset[str]] = field(default_factory=dict)
    theirs: frozenset[str] = frozenset()
    shown: Entries = field(default_factory=dict)

    @property
    def ref(self) -> str:
        """The branch's full name; a detached HEAD was refused before."""
        return self.head.ref or ""

    def run(self, files: list[Wanted], text: ClearedText) -> Oid:
        """Journal, write, build, land; or put everything back and raise."""
        intent = self.journal.begin(
            files, kind="commit", operation=self.operation, ref=self.ref, parent=self.head.commit or ""
        )
        with file_lock(self.journal.alive) as descriptor, _inherited(self.ws, descriptor):
            commit = self._after(intent, self._settled(intent, text))
        self.journal.finish()
        return commit

    def _settled(self, intent: Intent, text: ClearedText) -> Oid:
        """The commit, landed; or an error, with everything put back."""
        try:
            self.journal.write_forward(intent)
            commit, entries, message = self._build(intent, text)
            self._land(commit, entries, message)
        except BaseException as error:
            if isinstance(error, GitKilled):
                drop_own_locks(self.ws, self.journal, intent)
            found = landed(self.ws, self.journal, intent)
            if found is None:
                roll_back(self.ws, self.journal, intent, self.hooked)
                raise
            complete_index(self.ws, self.journal, intent, found)
            if not isinstance(error, Exception):
                raise  # interrupted: the journal stays open, so that the next run learns of the commit
            return found
        return commit

    def _build(self, intent: Intent, text: ClearedText) -> tuple[Oid, Entries, str]:
        """Make the commit object, hooks run and their doings gated; returns it with its index entries."""
        repo, journal = self.ws.repo, self.journal
        indexes.private_index(repo, journal.index, self.head.commit, self.entries)
        committing.write_message(journal.message, text.text)
        tree = indexes.write_tree(repo, journal.index)
        entries, message = dict(self.entries), text.text
        if committing.has_hooks(repo):
            self.theirs = self._dirty_before()
            final = self._run_hooks(intent, tree)
            entries |= self._gate_extra(tree, final)
            tree = final
            message = committing.tidy_message(journal.message.read_bytes())
            if message != text.text:
                message = self.gate.clear_text(message).text
                committing.write_message(journal.message, message)
        date = f"{int(self.ws.now().timestamp())} +0000"
        commit = committing.commit_tree(repo, tree, self.head.commit, journal.message, date)
        return commit, entries, message

    def _dirty_before(self) -> frozenset[str]:
        """Paths with a person's uncommitted changes; noted, so that hooks' doings can be told from them."""
        before = committing.changed_by_user(self.ws.repo)
        self.journal.note_dirty(before)
        return before - Written(self.ws, LEFTOVERS).unchanged(before)

    def _run_hooks(self, intent: Intent, tree: Oid) -> Oid:
        """Run the hooks before a commit in git's order; returns the tree they leave.

        Raises:
            Refused: A hook rejected the commit, or changed a file of ours.
        """
        repo, journal = self.ws.repo, self.journal
        message = str(journal.message)
        arguments = {"prepare-commit-msg": (message, "message"), "commit-msg": (message,)}
        for name in committing.HOOKS:
            done = committing.run_hook(repo, name, *arguments.get(name, ()), index=journal.index)
            kept = self._changed_on_disk(intent)
            if done.code:
                raise Refused(
                    f"The repository's {name} hook rejected the commit; {_BACK}.\n{done.err}".rstrip(),
                    _kept_hint("Make the hook pass, then run the command again.", kept),
                    code="hook-rejected",
                )
            now = indexes.write_tree(repo, journal.index)
            changed = [path for path in committing.changed_paths(repo, tree, now) if path in self.entries]
            if changed or kept:
                path = (changed or list(kept))[0]
                raise Refused(
                    f"The repository's {name} hook changed {path}, which is Muniment's; {_BACK}.",
                    _kept_hint(f"Let the hook leave {path} alone.", kept),
                    code="hook-changed",
                )
        return now

    def _changed_on_disk(self, intent: Intent) -> dict[str, str]:
        """Files of ours that a hook rewrote in the working tree → where a copy of its version was kept."""
        kept: dict[str, str] = {}
        for step in intent.steps:
            digest = current(self.ws.root, step.path)
            if digest == step.new.digest:
                continue
            self.hooked[step.path] = self.hooked.get(step.path, frozenset()) | {digest}
            kept[step.path] = ""
            if digest not in {"", "link", "folder"}:
                copy = self.ws.private / "kept" / f"{digest[:16]}-{step.path.rpartition('/')[2]}"
                atomic_write(copy, (self.ws.root / step.path).read_bytes(), mode=0o600)
                kept[step.path] = str(copy)
        return kept

    def _gate_extra(self, tree: Oid, final: Oid) -> Entries:
        """The entries that hooks added to the commit, each judged by the gate.

        Raises:
            Refused: A hook swept a person's uncommitted change into the commit.
            GateRefused: What a hook added doesn't pass.
        """
        repo = self.ws.repo
        paths = committing.changed_paths(repo, tree, final)
        old = committing.tree_entries(repo, tree, paths)
        new = committing.tree_entries(repo, final, paths)
        for path in paths:
            self._judge(path, old[path], new[path])
        return new

    def _judge(self, path: str, old: TreeEntry | None, new: TreeEntry | None) -> None:
        """Show the gate what a hook made of one file, unless it is a person's unfinished work."""
        if path in self.theirs:
            raise Refused(
                f"A hook put your uncommitted change of {path} into Muniment's commit; {_BACK}.",
                "Commit your own work first, or let the hook add only the files it was given.",
                code="hook-changed",
            )
        if new is None or new.mode == GITLINK_MODE:
            return
        blob = self.ws.repo.blob
        before = blob(old.oid) if old and old.mode != GITLINK_MODE else None
        self.gate.clear(path, blob(new.oid), before)

    def _land(self, commit: Oid, entries: Entries, message: str) -> None:
        """Move the branch by compare-and-set while holding the index's lock, then show the new index."""
        self.journal.note_commit(commit)
        kind = "commit" if self.head.commit else "commit (initial)"
        reason = f"{kind}: {message.partition(chr(10))[0]}"
        self.shown = entries
        indexes.replace(self.ws.repo, self.journal.prepared, entries, partial(self._move, commit, reason))

    def _move(self, commit: Oid, reason: str) -> None:
        repo = self.ws.repo
        if repo.head() == self.head and repo.update_ref(self.ref, commit, self.head.commit, reason):
            return
        raise Refused(
            f"{self.head.branch} moved, or another branch was checked out, meanwhile; {_BACK}.",
            "Run the command again.",
            code="branch-moved",
        )

    def _after(self, intent: Intent, commit: Oid) -> Oid:
        """Run the post-commit hook; what it makes of the commit by amending is judged like the rest."""
        repo = self.ws.repo
        committing.run_hook(repo, "post-commit", index=indexes.user_index(repo))
        tip = repo.resolve(self.ref)
        if tip is None or tip == commit or repo.is_ancestor(commit, tip):
            return commit
        parents = (self.head.commit,) if self.head.commit else ()
        if repo.commit(tip).parents != parents:
            self.journal.finish()
            raise Unavailable(
                f"The commit {commit.short} was made, but {self.head.branch} moved away from it right after.",
                f"Look at it with: git show {commit.short}",
            )
        try:
            self._judge_amended(intent, commit, tip)
        except BaseException:
            self._take_back(intent, tip)
            raise
        return tip

    def _judge_amended(self, intent: Intent, commit: Oid, tip: Oid) -> None:
        repo = self.ws.repo
        if not is_amended(self.ws, intent, commit, tip):
            raise Refused(
                f"The repository's post-commit hook changed a file that is Muniment's; {_BACK}.",
                "Let the hook leave that file alone.",
                code="hook-changed",
            )
        for path in repo.diff_paths(commit, tip):
            self._judge(path, repo.entry(commit, path), repo.entry(tip, path))
        if repo.commit(tip).message != repo.commit(commit).message:
            self.gate.clear_text(repo.commit(tip).message)

    def _take_back(self, intent: Intent, tip: Oid) -> None:
        """Undo a landed commit that a post-commit hook spoilt: branch and index first, then the files."""
        repo, parent = self.ws.repo, self.head.commit
        entries = {path: repo.entry(parent, path) if parent else None for path in self.shown}
        indexes.replace(repo, self.journal.prepared, entries, partial(self._move_back, tip))
        self._changed_on_disk(intent)
        roll_back(self.ws, self.journal, intent, self.hooked)

    def _move_back(self, tip: Oid) -> None:
        repo, parent = self.ws.repo, self.head.commit
        reason = "muniment: the post-commit hook spoilt the commit"
        if parent is None:
            repo.git.out("update-ref", "-m", reason, "-d", self.ref, tip, acting=True)
        elif not repo.update_ref(self.ref, parent, tip, reason):
            raise Refused(
                f"{self.head.branch} moved in the meantime; its newest commit needs a look.",
                code="branch-moved",
            )


def _kept_hint(hint: str, kept: Mapping[str, str]) -> str:
    """The hint, with where the hook's version of a file was kept."""
    copies = [copy for copy in kept.values() if copy]
    return f"{hint} What it made of the file is kept in {copies[0]}." if copies else hint
