"""Merges that lost something: what a merge by lines made of state and plan, against its parents (G8)."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from muniment.check.context import Context
from muniment.check.findings import Finding
from muniment.check.paths import Kind
from muniment.errors import Problem
from muniment.git.repo import Commit


def merges(context: Context) -> Iterator[Finding]:
    """State and plan hold what the merges before them brought together, item by item (G8)."""
    if not context.wants_any(Kind.STATE, Kind.PLAN):
        return
    from muniment import merge_repair  # noqa: PLC0415 - only with a state or a plan

    commits = [commit for commit in _commits(context, merge_repair.RECENT) if len(commit.parents) > 1]
    if not commits:
        return
    for kind, path in merge_repair.targets(context.ws):
        data = context.record(path)
        if data is None or not context.scope.wants(path):
            continue
        for commit, versions, result in merge_repair.merges(context.ws, path, commits=commits):
            healed = merge_repair.lost(kind, versions, result, data)
            if healed is not None and healed != data:
                message = (
                    f"The merge {commit.oid[:12]} went by lines and lost or mixed up what a side had written."
                )
                yield Problem(path, 0, "lost-in-merge", message, f"muniment repair {shlex.quote(path)}")
                break


def _commits(context: Context, recent: int) -> Iterator[Commit]:
    """The commits in question: the range's, else the newest."""
    tip = context.scope.tip
    if tip is None:
        return
    if context.scope.mode == "range":
        hide = [context.scope.base] if context.scope.base else []
        yield from context.ws.repo.commits([tip], hide=hide)
    elif context.scope.mode != "staged":
        yield from context.ws.repo.commits([tip], limit=recent)
