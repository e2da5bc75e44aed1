"""The shelf of landed work: the newest `relate_commits` commits reachable from HEAD (or another commit)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Any

from muniment.documents.stages import Layout, Stage
from muniment.errors import Problem, Unavailable
from muniment.git import listing
from muniment.git.repo import Commit, Oid
from muniment.relate.shelf import Addition, Shelf
from muniment.workspace import Workspace

PARTS = 1
PLACE = "(git log)"
_GAPS = {
    "relate-shallow": (
        "This clone is shallow: commits before its first are not searched.",
        "git fetch --unshallow",
    ),
    "relate-partial": (
        "This clone lacks trees: commits are searched by their messages alone.",
        "git fetch --refetch --filter=blob:none",
    ),
}
"""Gaps in what is searched, by rule: what is missing, and the command that would fill it (G17)."""


def refresh(ws: Workspace, old: Shelf) -> tuple[Shelf, tuple[Problem, ...]]:
    """The shelf for HEAD as it is now, or for `ws.commit`; `old` itself when it is for just that commit.

    Its facts hold `landed`: for each document in the archive, the commit that brought it there.
    """
    layout = Layout.of(ws.config)
    settings = hashlib.sha256(
        f"{layout!r} {ws.config.relate_commits} {ws.repo.is_shallow()}".encode()
    ).hexdigest()[:16]
    tip = ws.commit or ws.repo.head().commit
    known = old.facts if old.facts and old.facts["settings"] == settings else None
    if known and known["tip"] == tip:
        return old, _gap(known["gap"])
    before = Oid(known["tip"]) if known and known["tip"] else None
    grows = bool(before and tip and ws.repo.is_ancestor(before, tip))
    try:
        additions, landed, gap = _read(ws, layout, tip, before if grows else None)
    except Unavailable as error:
        message = f"Commits can't be read: {error.message}"
        return Shelf(), (Problem(PLACE, 0, "relate-history", message, error.hint),)
    if grows and known:
        landed = {**known["landed"], **landed}
        gap = gap or known["gap"]
    keep = list(old.sources) if grows else []
    room = max(0, ws.config.relate_commits - len(additions))
    keep = keep[max(0, len(keep) - room) :]
    facts = {"settings": settings, "tip": tip, "landed": landed, "gap": gap}
    return old.revised(keep, additions, facts, parts=PARTS), _gap(gap)


def _gap(rule: str) -> tuple[Problem, ...]:
    return (Problem(PLACE, 0, rule, *_GAPS[rule]),) if rule else ()


def landed_at(shelf: Shelf, path: str) -> str:
    """The commit that brought a document to a path in the archive; empty when that isn't known."""
    landed: dict[str, str] = shelf.facts["landed"] if shelf.facts else {}
    return landed.get(path, "")


def _read(
    ws: Workspace, layout: Layout, tip: Oid | None, before: Oid | None
) -> tuple[list[Addition], dict[str, Any], str]:
    """Commits after `before`, oldest first; what they brought to the archive; what could not be read."""
    from muniment.relate.passages import of_commit  # noqa: PLC0415 - unless HEAD moved, nothing is read

    if tip is None or ws.config.relate_commits == 0:
        return [], {}, ""
    hide = (before,) if before else ()
    commits: list[Commit] = list(ws.repo.commits((tip,), hide=hide, limit=ws.config.relate_commits))
    commits.reverse()
    changes, gap = _changes(ws, commits)
    archive = layout.folder(Stage.ARCHIVE) + "/"
    landed: dict[str, Any] = {}
    additions: list[Addition] = []
    for commit in commits:
        change = changes.get(commit.oid)
        if change:
            landed.update((path, commit.oid) for path in change.added if path.startswith(archive))
        passage = of_commit(commit.oid, commit.message, change.paths if change else (), layout)
        additions.append(Addition(commit.oid, "", None, ((passage,) if passage else (),)))
    return additions, landed, gap


def _changes(ws: Workspace, commits: Iterable[Commit]) -> tuple[dict[Oid, listing.Touched], str]:
    """What each commit changed, where that is known, and why it isn't elsewhere (G17).

    The first commits of a shallow clone changed something unknown; a clone without trees knows of none.
    """
    cut: frozenset[str] = frozenset()
    gap = ""
    if ws.repo.is_shallow():
        cut = frozenset((ws.repo.common_dir / "shallow").read_text("ascii").split())
        gap = "relate-shallow"
    asked = (commit.oid for commit in commits if commit.oid not in cut)
    try:
        return {one.commit: one for one in listing.touched(ws.repo, asked)}, gap
    except Unavailable:
        return {}, "relate-partial"
