"""The shelf of landed work: the newest `relate_commits` commits reachable from HEAD."""

from __future__ import annotations

import hashlib
from typing import Any

from muniment.documents.stages import Layout, Stage
from muniment.errors import Problem, Unavailable
from muniment.git import listing
from muniment.git.repo import Commit, Oid
from muniment.relate.shelf import Addition, Shelf
from muniment.workspace import Workspace

PARTS = 1


def refresh(ws: Workspace, old: Shelf) -> tuple[Shelf, tuple[Problem, ...]]:
    """The shelf for HEAD as it is now; `old` itself when HEAD is where it was.

    Its facts hold `landed`: for each document in the archive, the commit that brought it there.
    """
    layout = Layout.of(ws.config)
    settings = hashlib.sha256(f"{layout!r} {ws.config.relate_commits}".encode()).hexdigest()[:16]
    tip = ws.repo.head().commit
    known = old.facts if old.facts and old.facts["settings"] == settings else None
    if known and known["tip"] == tip:
        return old, ()
    before = Oid(known["tip"]) if known and known["tip"] else None
    grows = bool(before and tip and ws.repo.is_ancestor(before, tip))
    try:
        additions, landed = _read(ws, layout, tip, before if grows else None)
    except Unavailable as error:
        message = f"Commits can't be read: {error.message}"
        return Shelf(), (Problem("", 0, "relate-history", message, error.hint),)
    if grows and known:
        landed = {**known["landed"], **landed}
    keep = list(old.sources) if grows else []
    room = max(0, ws.config.relate_commits - len(additions))
    keep = keep[max(0, len(keep) - room) :]
    facts = {"settings": settings, "tip": tip, "landed": landed}
    return old.revised(keep, additions, facts, parts=PARTS), ()


def landed_at(shelf: Shelf, path: str) -> str:
    """The commit that brought a document to a path in the archive; empty when that isn't known."""
    landed: dict[str, str] = shelf.facts["landed"] if shelf.facts else {}
    return landed.get(path, "")


def _read(
    ws: Workspace, layout: Layout, tip: Oid | None, before: Oid | None
) -> tuple[list[Addition], dict[str, Any]]:
    """Commits after `before`, oldest first, and what they brought to the archive."""
    from muniment.relate.passages import of_commit  # noqa: PLC0415 - unless HEAD moved, nothing is read

    if tip is None or ws.config.relate_commits == 0:
        return [], {}
    hide = (before,) if before else ()
    commits: list[Commit] = list(ws.repo.commits((tip,), hide=hide, limit=ws.config.relate_commits))
    commits.reverse()
    changes = {one.commit: one for one in listing.touched(ws.repo, (commit.oid for commit in commits))}
    cut = _boundary(ws)
    archive = layout.folder(Stage.ARCHIVE) + "/"
    landed: dict[str, Any] = {}
    additions: list[Addition] = []
    for commit in commits:
        change = None if commit.oid in cut else changes.get(commit.oid)
        if change:
            landed.update((path, commit.oid) for path in change.added if path.startswith(archive))
        passage = of_commit(commit.oid, commit.message, change.paths if change else (), layout)
        additions.append(Addition(commit.oid, "", None, ((passage,) if passage else (),)))
    return additions, landed


def _boundary(ws: Workspace) -> frozenset[str]:
    """Commits whose parents a shallow clone lacks: what they changed isn't known (G17)."""
    if not ws.repo.is_shallow():
        return frozenset()
    return frozenset((ws.repo.common_dir / "shallow").read_text("ascii").split())
