"""Which branch gives authority: the upstream default branch, as this clone knows it (C9, G12, S10).

The branch under judgement must not choose its own judge. A committed `default_branch` counts only as it
stands on the remote's own default branch; this machine's local settings may name it freely. Approvals, the
gate's allow-list and the check of the ledger's history all ask here, so none of them can be led elsewhere.
Nothing is fetched.
"""

from __future__ import annotations

from dataclasses import dataclass

from muniment.config import load_at
from muniment.git.repo import MissingObject, Oid
from muniment.workspace import Workspace

SET_HEAD = "git fetch origin && git remote set-head origin --auto"
"""What makes the remote's default branch known in a clone."""


@dataclass(frozen=True, slots=True)
class Upstream:
    """The upstream default branch.

    Attributes:
        ref: Its full ref; None when there is no remote, or the branch isn't known here.
        tip: Its commit here; None without a ref.
        settle: The command that would make it known; empty when it is known or there is no remote.
    """

    ref: str | None
    tip: Oid | None = None
    settle: str = ""


def upstream(ws: Workspace) -> Upstream:
    """The upstream default branch of this clone; never raises for what is absent from it."""
    chosen = next((item for item in ws.config.settings if item.key == "default_branch"), None)
    if chosen is not None and chosen.source == "local" and chosen.value:
        ref = ws.repo.upstream_default(str(chosen.value))
        return _known(ws, ref) if ref else Upstream(None, settle=f"git fetch origin {chosen.value}")
    ref = ws.repo.upstream_default("")
    if ref is None:
        has_remote = bool(ws.repo.refs("refs/remotes/")) or bool(ws.repo.config("remote.origin.url"))
        return Upstream(None, settle=SET_HEAD if has_remote else "")
    named = _named_there(ws, ref)
    return _known(ws, (ws.repo.upstream_default(named) if named else None) or ref)


def authority_commit(ws: Workspace) -> Oid | None:
    """The commit whose settings count: the upstream's, HEAD's without any remote; None when unknown."""
    found = upstream(ws)
    if found.ref is None and not found.settle:
        return ws.repo.head().commit
    return found.tip


def _known(ws: Workspace, ref: str) -> Upstream:
    return Upstream(ref, ws.repo.refs(ref).get(ref))


def _named_there(ws: Workspace, ref: str) -> str:
    tip = ws.repo.refs(ref).get(ref)
    try:
        return load_at(ws.repo, tip)[0].default_branch if tip else ""
    except MissingObject:
        return ""
