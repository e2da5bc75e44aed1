"""Which branch gives authority: the upstream default branch, as this clone knows it (C9, G12, S10).

The branch under judgement must not choose its own judge. A committed `default_branch` counts only as it
stands on the remote's own default branch; this machine's local settings may name it freely. Approvals, the
gate's allow-list and the check of the ledger's history all ask here, so none of them can be led elsewhere.
Nothing is fetched.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass

from muniment.config import load_at
from muniment.git.repo import MissingObject, Oid
from muniment.workspace import Workspace


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
        return _known(ws, ref) if ref else Upstream(None, settle=f"git fetch {_remote(ws)} {chosen.value}")
    ref = ws.repo.upstream_default("")
    if ref is None:
        return Upstream(None, settle=_settle(ws))
    named = _named_there(ws, ref)
    return _known(ws, (ws.repo.upstream_default(named) if named else None) or ref)


def authority_commit(ws: Workspace, known: Upstream | None = None) -> Oid | None:
    """The commit whose settings count: the upstream's, HEAD's without any remote; None when unknown.

    `known` is what `upstream` said in this run, if it was asked.
    """
    found = known or upstream(ws)
    if found.ref is None and not found.settle:
        return ws.repo.head().commit
    return found.tip


def _settle(ws: Workspace) -> str:
    """What makes the remote's default branch known in a clone; empty without any remote.

    A remote that was never fetched is one all the same: what stands there is unknown, not nothing.
    """
    remotes = ws.repo.remotes
    if not remotes and not ws.repo.refs("refs/remotes/"):
        return ""
    if (
        len(remotes) > 1
        and ws.repo.config("checkout.defaultRemote") not in remotes
        and "origin" not in remotes
    ):
        return f"git config checkout.defaultRemote {shlex.quote(remotes[0])}"
    name = _remote(ws)
    set_head = f"git remote set-head {name} --auto"
    return set_head if ws.repo.refs(f"refs/remotes/{name}/") else f"git fetch {name} && {set_head}"


def _remote(ws: Workspace) -> str:
    return shlex.quote((*ws.repo.remotes, "origin")[0])


def _known(ws: Workspace, ref: str) -> Upstream:
    return Upstream(ref, ws.repo.refs(ref).get(ref))


def _named_there(ws: Workspace, ref: str) -> str:
    tip = ws.repo.refs(ref).get(ref)
    try:
        return load_at(ws.repo, tip)[0].default_branch if tip else ""
    except MissingObject:
        return ""
