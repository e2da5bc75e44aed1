"""The engine protocol's own lease commands on a shared branch, and the state there opened for a command."""

from __future__ import annotations

from collections.abc import Callable

from muniment.errors import Refused, UsageProblem
from muniment.git.oid import Oid
from muniment.lease import SharedLease
from muniment.lease_answer import explain
from muniment.state.branch import BranchState
from muniment.state.lease import ttl_seconds
from muniment.state.operations import Answer, Word
from muniment.state.requests import Result, Status
from muniment.state.shared import SharedBranch, SharedState, answered
from muniment.workspace import Workspace


class _SetBack(Exception):
    """The branch was set back, or is gone, since it was last seen here."""

    def __init__(self, result: Result) -> None:
        super().__init__(result.status)
        self.result = result


class LeasedState(SharedState):
    """A state on a shared branch, with the lease that guards it."""

    def __init__(
        self, branch: SharedBranch, lease: SharedLease, *, session: str = "", epoch: int = 0
    ) -> None:
        """Name the state and its lease."""
        super().__init__(branch, lease, session=session, epoch=epoch)
        self._lease = lease

    @property
    def writer(self) -> str:
        """The writer of the session that this worktree keeps, or ""."""
        held = self._lease.kept()
        return held.record.writer if held else ""

    def _ask(self, question: Callable[[BranchState], Answer]) -> Answer:
        """As the plain state; but an older state, or none, never passes for what stands."""
        try:
            return super()._ask(question)
        except _SetBack as error:
            return _said(error.result)

    def _tip(self) -> tuple[Oid | None, str]:
        try:
            seen = self._lease.status()
        except Refused:  # the plain way says what is wrong with it
            return super()._tip()
        if seen.status is Status.REMOTE_REWOUND:
            raise _SetBack(seen)
        known = seen.memory.tip
        if seen.status in {Status.OFFLINE, Status.REJECTED_POLICY} or not known:
            return super()._tip()
        return (Oid(known), "") if self.branch.store.has(Oid(known)) else super()._tip()

    def acquire(self, writer: str, ttl_minutes: float | None, now: str) -> Answer:  # noqa: ARG002 - its record's times come with the stamp
        """Take the lease, once the remote has accepted it."""
        name = "sweep_lease_ttl_minutes" if ttl_minutes is None else "--ttl-minutes"
        minutes = float(self.branch.ws.config.setting(name)) if ttl_minutes is None else ttl_minutes
        ttl = ttl_seconds(minutes, name)

        def take() -> Answer:
            before = self._lease.memory.read().face.record
            result = self._lease.acquire(writer, ttl)
            if result.status is not Status.STALE_RECLAIMED:
                return _said(result)
            previous = result.held.record.previous if result.held else {}
            stamp = before.renewed if before and before.epoch == previous.get("epoch") else None
            value = {"previous_writer": previous.get("writer"), "previous_timestamp": stamp}
            return Answer(Word.STALE_RECLAIMED, value)

        return answered(take)

    def release(self, writer: str) -> Answer:
        """Give the lease back; `OK` also when there is none."""

        def give() -> Answer:
            held = self._lease.own(writer, self._session, self._epoch)
            if held is not None:
                return _said(self._lease.release(held))
            seen = self._lease.status()
            if seen.status is Status.LOCKED:
                return Answer(Word.LEASE_LOST, note="Another session holds the lease; it is left alone.")
            return Answer(Word.OK) if seen.status is Status.FREE else _said(seen)

        return answered(give)


def open_shared(
    ws: Workspace, branch: str, remote: str | None, *, session: str = "", epoch: int = 0
) -> LeasedState:
    """The state on a branch of a remote (None: the clone's main one); nothing is asked yet.

    Raises:
        UsageProblem: There is no such remote, or none at all.
    """
    name = remote or next(iter(ws.repo.remotes), None)
    if name is None:
        raise UsageProblem(
            "This clone has no remote, so there is no shared branch.",
            "Add one: git remote add origin URL; or name a file with --state.",
            code="no-remote",
        )
    shared = SharedBranch(ws, name, branch)
    return LeasedState(shared, SharedLease(ws, shared), session=session, epoch=epoch)


def _said(result: Result) -> Answer:
    """A lease's status as the engine's word."""
    if result.status is Status.FREE:
        return Answer(Word.OK)
    return Answer(Word(result.status.value), note="" if result.status is Status.OK else explain(result))
