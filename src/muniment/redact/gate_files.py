"""The story behind `muniment gate`: whole files and folders, and ranges of commits (G12)."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from muniment.errors import Unavailable, UsageProblem
from muniment.files import read_bytes
from muniment.git.repo import GITLINK_MODE, Commit, Oid
from muniment.redact.gate import Gate, GateProblem, gate_for
from muniment.redact.names import KnownNames

if TYPE_CHECKING:  # a workspace brings the git library, which judging plain files doesn't need
    from muniment.workspace import Workspace


def gate_paths(paths: Iterable[str], gate: Gate) -> tuple[GateProblem, ...]:
    """Everything refusable in whole files, folders included; needs no repository.

    Raises:
        Unavailable: A path is missing or unreadable.
    """
    problems: list[GateProblem] = []
    for path in paths:
        for name in _files(path):
            problems += gate.inspect(name, read_bytes(Path(name)), None)
    return tuple(problems)


def _files(path: str) -> Iterator[str]:
    if not Path(path).is_dir():
        yield path
        return
    for folder, folders, names in os.walk(path, onerror=_unreadable):
        folders[:] = sorted(name for name in folders if name != ".git")
        yield from (str(Path(folder) / name) for name in sorted(names) if (Path(folder) / name).is_file())


def _unreadable(error: OSError) -> None:
    raise Unavailable(f"{error.filename} can't be read: {error.strerror}.") from error


def gate_range(ws: Workspace, revisions: str, known: KnownNames) -> tuple[GateProblem, ...]:
    """Everything refusable that the commits of A..B add: files, paths and messages, commit by commit.

    What one commit adds and a later one removes still leaves with the history, so each commit is judged
    against its own parents.

    Raises:
        UsageProblem: Not a range, or a revision that names nothing here.
    """
    first, dots, last = revisions.partition("..")
    if not dots or last.startswith("."):
        raise UsageProblem(f"{revisions!r} is not a range.", "Write A..B, for example origin/main..HEAD.")
    hide, tip = _resolved(ws, first or "HEAD"), _resolved(ws, last or "HEAD")
    gate = gate_for(ws, known)
    problems: list[GateProblem] = []
    for commit in ws.repo.commits([tip], hide=[hide]):
        problems += gate.inspect_text(commit.message, "commit message")
        problems += gate_commit(ws, gate, commit)
    return tuple(problems)


def _resolved(ws: Workspace, revision: str) -> Oid:
    commit = ws.repo.resolve(revision)
    if commit is None:
        raise UsageProblem(f"{revision!r} names no commit here.", "Fetch it, or check its spelling.")
    return commit


def gate_commit(
    ws: Workspace,
    gate: Gate,
    commit: Commit,
    *,
    judged: Callable[[str], bool] = lambda _: True,
    elsewhere: tuple[Oid, ...] = (),
) -> Iterator[GateProblem]:
    """What a commit adds to every one of its parents (a merge adds what none of them has).

    Args:
        ws: The repository.
        gate: Its gate.
        commit: The commit.
        judged: Which paths are looked at.
        elsewhere: Commits that the caller judges as a whole: what their file holds is not told again.
    """
    parents = commit.parents
    paths = set(ws.repo.diff_paths(parents[0] if parents else None, commit.oid))
    for parent in parents[1:]:
        paths &= set(ws.repo.diff_paths(parent, commit.oid))
    for path in sorted(filter(judged, paths)):
        entry = ws.repo.entry(commit.oid, path)
        if entry is None or entry.mode == GITLINK_MODE:
            continue
        if any(there and there.oid == entry.oid for there in (ws.repo.entry(at, path) for at in elsewhere)):
            continue
        data = ws.repo.blob(entry.oid)
        told = [found] if (found := _before(ws, elsewhere, path)) is not None else []
        old = _before(ws, parents, path)
        if old is None:
            yield from gate.inspect_new(path, data, chain(_gone(ws, commit, sorted(paths)), told))
        else:
            yield from gate.inspect(path, data, b"\n".join([old, *told]))


def _gone(ws: Workspace, commit: Commit, paths: Iterable[str]) -> Iterator[bytes]:
    """The bytes of the files that a commit takes away: a renamed file adds nothing."""
    for path in paths:
        if ws.repo.entry(commit.oid, path) is None:
            yield _before(ws, commit.parents, path) or b""


def _before(ws: Workspace, parents: tuple[Oid, ...], path: str) -> bytes | None:
    """The parents' bytes at `path`, joined for a merge, or None where no parent has the file."""
    found = (entry for parent in parents if (entry := ws.repo.entry(parent, path)))
    entries = [entry for entry in found if entry.mode != GITLINK_MODE]
    return b"\n".join(ws.repo.blob(entry.oid) for entry in entries) if entries else None
