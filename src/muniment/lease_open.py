"""The lease that a command is about: on a shared branch, or in this clone where there is none (G9)."""

from __future__ import annotations

from dataclasses import replace

from muniment.errors import UsageProblem
from muniment.lease_answer import Lease, LeaseAnswer, answer
from muniment.state.requests import Status
from muniment.workspace import Workspace


def open_lease(ws: Workspace, branch: str | None = None, remote: str | None = None) -> Lease:
    """The lease on a branch of a remote; nothing is asked yet.

    Args:
        ws: The repository.
        branch: The state branch; None: that of the settings; "" or no such setting: local mode.
        remote: Its remote; None: the clone's main one.

    Raises:
        UsageProblem: There is no such remote, or a remote is named in local mode.
    """
    named = str(ws.config.setting("sweep_shared_branch") or "") if branch is None else branch
    if not named:
        if remote is not None:
            raise UsageProblem("--remote goes with --branch: without a branch the lease is this clone's own.")
        from muniment.lease_local import LocalLease  # noqa: PLC0415 - one mode of the two

        return LocalLease(ws)
    from muniment.lease import SharedLease  # noqa: PLC0415 - the other mode
    from muniment.state.shared import SharedBranch  # noqa: PLC0415 - as above

    name = remote or next(iter(ws.repo.remotes), None)
    if name is None:
        raise UsageProblem(
            "This clone has no remote, so there is no shared branch.",
            "Add one: git remote add origin URL; or leave out --branch for a lease of this clone alone.",
            code="no-remote",
        )
    return SharedLease(ws, SharedBranch(ws, name, named))


def renew(lease: Lease, writer: str, session: str, epoch: int, ttl: float | None) -> LeaseAnswer:
    """Stamp the lease that this worktree holds (or the session named); `ttl` in seconds."""
    held = lease.own(writer, session, epoch)
    if held is None:
        return _not_held(lease, writer)
    return answer(lease.renew(held, ttl), lease.mode, held.record.writer, held.record.session)


def release(lease: Lease, writer: str, session: str, epoch: int) -> LeaseAnswer:
    """Give the lease back; `FREE` where nobody holds it, so that a second release is no failure."""
    held = lease.own(writer, session, epoch)
    if held is None:
        seen = lease.status()
        if seen.status is Status.FREE and not session:
            return answer(seen, lease.mode, writer)
        return _not_held(lease, writer)
    return answer(lease.release(held), lease.mode, held.record.writer, held.record.session)


def _not_held(lease: Lease, writer: str) -> LeaseAnswer:
    """The answer to whoever holds nothing: who does, as far as it can be asked."""
    seen = answer(lease.status(), lease.mode, writer)
    if seen.status in {Status.OK, Status.LOCKED, Status.FREE}:
        return replace(seen, status=Status.LEASE_LOST, session=None, retry_after=None)
    return seen
