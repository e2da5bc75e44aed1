"""What the lease protocol asks for, what it is told, and what its calls come to: plain records (G9, pure).

A step of the protocol yields one of the requests here and is sent the answer that the request's docstring
names after the arrow.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from muniment.state.lease import Face, LeaseRecord, Memory
from muniment.workspace import Instant


class Status(StrEnum):
    """What a call answers."""

    OK = "OK"
    STALE_RECLAIMED = "STALE-RECLAIMED"
    LOCKED = "LOCKED"
    LEASE_LOST = "LEASE-LOST"
    FREE = "FREE"
    OFFLINE = "OFFLINE"
    REJECTED_POLICY = "REJECTED-POLICY"
    REMOTE_REWOUND = "REMOTE-REWOUND"
    UNKNOWN = "UNKNOWN"


class Landing(StrEnum):
    """What became of a push, as far as the protocol tells pushes apart."""

    LANDED = "landed"
    LOST = "lost"
    REFUSED = "refused"
    BUSY = "busy"
    OFFLINE = "offline"
    UNKNOWN = "unknown"


# What a generator asks for, and what it is told


@dataclass(frozen=True, slots=True)
class Now:
    """Read the clocks → `Instant`."""


@dataclass(frozen=True, slots=True)
class Look:
    """Ask the remote for its tip → the commit, "" when the branch is absent, or `Trouble`."""


@dataclass(frozen=True, slots=True)
class Fetch:
    """Bring the tip and what lies between it and `known` → `Fetched` or `Trouble`."""

    known: str


@dataclass(frozen=True, slots=True)
class Fetched:
    """A tip ("" for none), what it says, and whether what was known is behind it.

    Attributes:
        tip: The commit.
        face: What it says.
        descends: Whether `known` is the tip or behind it; None when nothing was known or nobody can tell.
        replaces: Whether its history begins with a commit that says it replaces an older one.
    """

    tip: str
    face: Face
    descends: bool | None = None
    replaces: bool = False


@dataclass(frozen=True, slots=True)
class Trouble:
    """The remote can't be asked; `words` for people."""

    status: Status
    words: str = ""


@dataclass(frozen=True, slots=True)
class Stamp:
    """The commit to be made: the lease it carries, and whether the caller's own change goes in as well.

    Attributes:
        record: The lease; None to leave it free.
        epoch: What `lease_epoch` becomes.
        recent: What `lease_recent` becomes.
        previous: What `lease_previous` becomes: who held it last, and how that ended.
        change: Whether the change of this call is part of it.
        replaces: Whether the commit gets no parent.
    """

    record: LeaseRecord | None
    epoch: int
    recent: tuple[str, ...]
    previous: Mapping[str, Any] = field(default_factory=dict)
    change: bool = False
    replaces: bool = False

    @property
    def face(self) -> Face:
        """What a tip made so says."""
        return Face(self.record, False, self.epoch, self.recent, self.previous)


@dataclass(frozen=True, slots=True)
class Push:
    """Make a commit on `expected` ("" for a new branch) and push it, expecting that tip → `Pushed`."""

    expected: str
    stamp: Stamp


@dataclass(frozen=True, slots=True)
class Again:
    """Push a commit once more, expecting the same tip → `Pushed`."""

    commit: str
    expected: str


@dataclass(frozen=True, slots=True)
class Pushed:
    """The commit that was pushed, what became of it, and the remote's words."""

    commit: str
    landing: Landing
    words: str = ""


@dataclass(frozen=True, slots=True)
class Contains:
    """Whether `commit` is the fetched `tip` or behind it → bool, or None when nobody can tell."""

    tip: str
    commit: str


@dataclass(frozen=True, slots=True)
class Save:
    """Keep what is remembered → None."""

    memory: Memory


@dataclass(frozen=True, slots=True)
class Keep:
    """Keep what this worktree holds; None: forget it, if it is still this session → None."""

    held: Held | None
    session: str


@dataclass(frozen=True, slots=True)
class Pause:
    """Wait for about `seconds`, with jitter; `looks` when it is between two looks of a wait → None."""

    seconds: float
    looks: bool = False


Effect = Now | Look | Fetch | Push | Again | Contains | Save | Keep | Pause
Steps = Generator[Effect, Any, "Result"]


@dataclass(frozen=True, slots=True)
class Held:
    """A session as its worktree keeps it.

    Attributes:
        record: The lease as last stamped.
        tip: The commit of that stamp, and the base of the next.
        deadline: The boot clock after which nothing is done under it.
        boot_id: The boot that the deadline belongs to.
        run: Whether a `lease run` keeps it, so that no other call takes it for its own.
    """

    record: LeaseRecord
    tip: str
    deadline: float
    boot_id: str
    run: bool = False

    def lives(self, now: Instant) -> bool:
        """Whether the holder may still act under it."""
        return self.boot_id == now.boot_id and now.boot < self.deadline


@dataclass(frozen=True, slots=True)
class Want:
    """What is asked of an acquire.

    Attributes:
        writer: Who.
        session: A fresh nonce.
        ttl: Seconds.
        skew: Seconds that two wall clocks may differ; 0 turns the wall-clock rule off.
        clone: This clone's id, for fairness.
        until: The boot clock at which waiting ends; 0 for one try.
        patience: Seconds to find out an unknown outcome.
        reclaim: Whether a stale lease may be taken over; if not, finding one ends the waiting too.
        run: See `Held.run`.
    """

    writer: str
    session: str
    ttl: float
    skew: float
    clone: str
    until: float = 0.0
    patience: float = 30.0
    reclaim: bool = True
    run: bool = False


@dataclass(frozen=True, slots=True)
class Result:
    """What a call came to.

    Attributes:
        status: The word.
        held: The session held now, if any.
        memory: What is remembered now.
        retry_after: Seconds until asking again makes sense; 0 when nobody knows.
        words: The remote's words, for people.
    """

    status: Status
    held: Held | None
    memory: Memory
    retry_after: float = 0.0
    words: str = ""
