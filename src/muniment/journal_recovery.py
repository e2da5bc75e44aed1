"""What becomes of a step that was killed: finished, or put back to the exact old bytes (G4).

`docs/design/publish.md` has the table of states; `tests/test_kill.py` visits every one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from muniment.errors import Refused
from muniment.files import file_lock
from muniment.git import committing, locks
from muniment.git import index as indexes
from muniment.git.repo import Head, Oid
from muniment.git.worktree import read_worktree
from muniment.journal import Intent, Journal, current, sweep_temporary
from muniment.targets import LEFTOVERS, Written
from muniment.workspace import Workspace

Outcome = Literal["completed", "rolled-back"]


@dataclass(frozen=True, slots=True)
class Settled:
    """What became of an open step; `left` are files that a person changed since and that were left alone."""

    operation: str
    outcome: Outcome
    commit: Oid | None
    paths: tuple[str, ...]
    left: tuple[str, ...] = ()


def recover(ws: Workspace, journal: Journal) -> Settled:
    """Finish or undo the step that a killed run left open.

    Files alone go forward when each is still old or new. A step with a commit is complete exactly when
    the branch has the commit. Anything else goes back to the exact old bytes. A git or a hook of the killed
    run may still be at work: its end is waited for.

    Raises:
        Refused: Such a process is still running, or the journal can't be read.
    """
    intent = journal.load()
    try:
        with file_lock(journal.alive):
            return _recover(ws, journal, intent)
    except Refused as refused:
        if refused.code != "locked" or str(journal.alive) not in refused.message:
            raise
        raise Refused(
            "A hook or git process of an interrupted muniment command is still running.",
            "Wait for it to end, then run the command again.",
            code="locked",
        ) from refused


def _recover(ws: Workspace, journal: Journal, intent: Intent) -> Settled:
    for path in intent.paths:
        sweep_temporary(ws.root / path)
    if intent.kind == "write":
        if all(current(ws.root, step.path) in {step.old.digest, step.new.digest} for step in intent.steps):
            journal.write_forward(intent)
            journal.finish()
            return Settled(intent.operation, "completed", None, intent.paths)
    elif commit := landed(ws, journal, intent):
        locks.drop_own(ws.repo, intent.ref, commit, journal.noted_at())
        complete_index(ws, journal, intent, commit)
        journal.finish()
        return Settled(intent.operation, "completed", commit, intent.paths)
    drop_own_locks(ws, journal, intent)
    left = roll_back(ws, journal, intent)
    return Settled(intent.operation, "rolled-back", None, intent.paths, left)


def roll_back(
    ws: Workspace, journal: Journal, intent: Intent, hooked: Mapping[str, frozenset[str]] | None = None
) -> tuple[str, ...]:
    """Put every file back and close the journal; returns the paths left to a person's edit."""
    left = journal.write_back(intent, hooked)
    _note_leftovers(ws, journal, intent)
    journal.finish()
    return left


def _note_leftovers(ws: Workspace, journal: Journal, intent: Intent) -> None:
    """Remember what hooks left in other files, so that the next try doesn't take it for a person's work."""
    before = journal.noted_dirty()
    if before is None:
        return
    paths = committing.changed_by_user(ws.repo) - before - frozenset(intent.paths)
    files = {path: read_worktree(ws.root / path) for path in paths}
    Written(ws, LEFTOVERS).remember({path: found[1] for path, found in files.items() if found})


def drop_own_locks(ws: Workspace, journal: Journal, intent: Intent) -> None:
    """Release what a kill left locked by us, and nothing else."""
    if indexes.is_ours(ws.repo, journal.prepared):
        indexes.lock_file(ws.repo).unlink()
    if commit := journal.noted_commit():
        locks.drop_own(ws.repo, intent.ref, commit, journal.noted_at())


def landed(ws: Workspace, journal: Journal, intent: Intent) -> Oid | None:
    """The step's commit when the branch has it, as it was made or as a post-commit hook amended it."""
    commit, tip = journal.noted_commit(), ws.repo.resolve(intent.ref)
    if commit is None or tip is None:
        return None
    if tip == commit or ws.repo.is_ancestor(commit, tip):
        return commit
    return tip if is_amended(ws, intent, commit, tip) else None


def is_amended(ws: Workspace, intent: Intent, commit: Oid, tip: Oid) -> bool:
    """Whether `tip` stands in for `commit`: same parent, and the same content at every path of the step."""
    parents = (intent.parent,) if intent.parent else ()
    if ws.repo.resolve(commit) is None or ws.repo.commit(tip).parents != parents:
        return False
    return all(ws.repo.entry(commit, path) == ws.repo.entry(tip, path) for path in intent.paths)


def complete_index(ws: Workspace, journal: Journal, intent: Intent, commit: Oid) -> None:
    """After a kill between the branch's move and the index's: let the index show the commit.

    While our own lock stands nobody can have changed the index, so the finished one takes its place.
    Otherwise only entries still as before the commit are set; what a person staged since stays.
    """
    repo = ws.repo
    head = repo.head()
    if indexes.is_ours(repo, journal.prepared):
        if head == Head(intent.ref, commit):
            indexes.lock_file(repo).replace(indexes.user_index(repo))
            return
        indexes.lock_file(repo).unlink()
    if head != Head(intent.ref, commit):
        return
    parent = Oid(intent.parent) if intent.parent else None
    paths = repo.diff_paths(parent, commit)
    staged = repo.index_entries(paths)
    behind = {
        path: repo.entry(commit, path)
        for path in paths
        if staged.get(path) == (repo.entry(parent, path) if parent else None)
    }
    if behind:
        indexes.replace(repo, journal.prepared, behind, lambda: None)
