"""What a lease call answers, in shared mode or local: fields for programs, words for people (G9)."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import Any, Protocol

from muniment.state.lease import LeaseRecord
from muniment.state.requests import Held, Result, Status
from muniment.workspace import Workspace

_TELLS_RECORD = frozenset({Status.OK, Status.STALE_RECLAIMED, Status.LOCKED, Status.LEASE_LOST})
"""Answers after which the record that stands is known."""


class Lease(Protocol):
    """A lease of either mode, for one worktree; times in seconds."""

    ws: Workspace
    mode: str

    @property
    def place(self) -> str:
        """Where the lease lies, for people."""

    def acquire(
        self, writer: str, ttl: float, *, wait: float = 0.0, reclaim: bool = True, run: bool = False
    ) -> Result:
        """Take the lease."""

    def renew(self, held: Held, ttl: float | None = None) -> Result:
        """Stamp it again."""

    def release(self, held: Held) -> Result:
        """Give it back."""

    def end(self, reason: str, ttl: float, *, only: tuple[int, str] | None = None) -> Result:
        """End whatever lease there is, or only the one with this epoch and session."""

    def status(self) -> Result:
        """Who holds it."""

    def own(self, writer: str = "", session: str = "", epoch: int = 0) -> Held | None:
        """The session that this worktree keeps, or the one named."""

    def kept(self) -> Held | None:
        """The session that this worktree keeps, whoever's it is; asks nobody."""


@dataclass(frozen=True, slots=True)
class LeaseAnswer:
    """An answer as the contract prints it; None where something is unknown.

    Attributes:
        status: The word.
        mode: `local` or `shared`.
        writer: Who asked.
        session: The session that the asker holds now.
        epoch: The fencing number: that of the lease that stands, else the last one.
        acquired: When the lease that stands was taken.
        renewed: When it was stamped last.
        ttl_minutes: How long it holds without a stamp.
        commit: The commit that carries it.
        holder: The name of whoever holds it now.
        retry_after: Seconds until asking again makes sense.
        previous: Who held it before, and how that ended.
        words: The remote's words.
    """

    status: Status
    mode: str
    writer: str | None = None
    session: str | None = None
    epoch: int | None = None
    acquired: str | None = None
    renewed: str | None = None
    ttl_minutes: float | None = None
    commit: str | None = None
    holder: str | None = None
    retry_after: float | None = None
    previous: dict[str, Any] | None = None
    words: str = ""

    @property
    def exit_code(self) -> int:
        """0 done, 3 held or lost, 4 something outside."""
        if self.status in {Status.OK, Status.STALE_RECLAIMED, Status.FREE}:
            return 0
        return 3 if self.status in {Status.LOCKED, Status.LEASE_LOST, Status.REMOTE_REWOUND} else 4

    @property
    def stale(self) -> bool:
        """Whether the lease that stands in the way has run out."""
        return self.status is Status.LOCKED and self.retry_after == 0 and self.holder is not None

    def json(self) -> dict[str, Any]:
        """The contract's document; the remote's words only where there are any."""
        made = {field.name: getattr(self, field.name) for field in fields(self)}
        made["status"] = str(self.status)
        if not self.words:
            del made["words"]
        return made

    def head(self) -> str:
        """What stands behind the word, on the same line."""
        return {
            Status.OK: self._held(),
            Status.STALE_RECLAIMED: f"{self._held()}; taken over from {self._before()}",
            Status.LOCKED: self._locked(),
            Status.LEASE_LOST: f"now {self._held()}" if self.holder else "nothing of this call was written",
            Status.FREE: "nobody holds the lease",
            Status.REMOTE_REWOUND: "the branch on the remote was set back",
            Status.OFFLINE: "the remote can't be asked; nothing was written",
            Status.REJECTED_POLICY: "the remote refuses such a push; nothing was written",
            Status.UNKNOWN: "nobody could say whether the push landed",
        }[self.status]

    def hint(self) -> str:
        """What to run next, or ""."""
        soon = "" if not self.retry_after else f" in {self.retry_after:.0f} s at the latest"
        hints = {
            Status.LOCKED: f"It may be free{soon}; wait for it: muniment lease acquire --wait SECONDS. A "
            "person ends it for good: muniment lease break --reason TEXT",
            Status.LEASE_LOST: "Acquire it again before writing: muniment lease acquire",
            Status.REMOTE_REWOUND: "What was seen there last is gone. It is watched for one lease time "
            f"before anybody may take it{soon and f':{soon}'}.",
            Status.OFFLINE: "Nothing is written at any source without the lease; try again later.",
            Status.REJECTED_POLICY: "A branch that nothing protects is the way out: set "
            "`sweep_shared_branch`, or give --branch.",
            Status.UNKNOWN: "Ask: muniment lease status",
        }
        if self.stale:
            return "It has run out: muniment lease acquire takes it over."
        said = f"The remote says: {self.words} " if self.words and self.mode == "shared" else ""
        return f"{said}{hints.get(self.status, '')}".strip()

    def _locked(self) -> str:
        return self._held() if self.holder is not None else self.words or "held by a lease that can't be read"

    def _held(self) -> str:
        if self.holder is None:
            return f"epoch {self.epoch}; nobody holds the lease"
        since = f" since {self.acquired}" if self.acquired else ""
        renewed = f", renewed {self.renewed}" if self.renewed and self.renewed != self.acquired else ""
        holder = self.holder or "a writer without a name"
        return f"held by {holder}{since}{renewed}, epoch {self.epoch}, {self.ttl_minutes:g} minutes"

    def _before(self) -> str:
        return str((self.previous or {}).get("writer") or "another writer")


def answer(result: Result, mode: str, writer: str = "", lost: str = "") -> LeaseAnswer:
    """An answer from what a call came to.

    Args:
        result: It.
        mode: `local` or `shared`.
        writer: Who asked.
        lost: The session that the caller came with, whose own record says nothing about a holder.
    """
    status, face = result.status, result.memory.face
    record = result.held.record if result.held else face.record
    if status not in _TELLS_RECORD or (record and status is Status.LEASE_LOST and record.session == lost):
        record = None
    known = status in _TELLS_RECORD or status is Status.FREE
    tells = status in {Status.LOCKED, Status.REMOTE_REWOUND} and (record or result.retry_after)
    made = LeaseAnswer(
        status,
        mode,
        writer or None,
        result.held.record.session if result.held and known else None,
        (face.epoch or None) if known else None,
        commit=((result.held.tip if result.held else result.memory.tip) or None) if known else None,
        retry_after=round(result.retry_after, 3) if tells and math.isfinite(result.retry_after) else None,
        previous=dict(face.previous) or None if known else None,
        words=" ".join(result.words.split()),
    )
    return made if record is None else _with(made, record)


def _with(made: LeaseAnswer, record: LeaseRecord) -> LeaseAnswer:
    """The answer with what a record tells."""
    minutes = record.ttl / 60
    told = {
        "epoch": record.epoch,
        "acquired": record.acquired or None,
        "renewed": record.renewed or None,
        "ttl_minutes": int(minutes) if minutes.is_integer() else round(minutes, 9),
        "holder": record.writer,
        "previous": dict(record.previous) or made.previous,
    }
    return LeaseAnswer(**{field.name: getattr(made, field.name) for field in fields(made)} | told)


def explain(result: Result) -> str:
    """What a status means and what to do next, for people."""
    words = f" The remote says: {result.words}" if result.words else ""
    return _MEANING.get(result.status, "") + words


_MEANING = {
    Status.LEASE_LOST: "The lease is lost, and nothing of this call was written. Acquire it again: "
    "muniment lease acquire",
    Status.OFFLINE: "The remote can't be asked, so nothing was written.",
    Status.REJECTED_POLICY: "The remote refuses such a push, and nothing was written. A branch that nothing "
    "protects is the way out: set `sweep_shared_branch` or give --branch.",
    Status.REMOTE_REWOUND: "The branch on the remote was set back: what was seen there last is gone. It is "
    "watched for one lease time before anybody may take it.",
    Status.UNKNOWN: "Nobody could say whether the push landed. Ask again: muniment lease status",
}
