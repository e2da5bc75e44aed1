"""A shared lease as values: the record, what a clone remembers, whether it may be taken over (G9, pure).

Times here are seconds: `boot` on this machine's boot clock, which counts suspended time and never jumps,
`wall` since the epoch. The record's own times are for people, and for the bounded wall-clock rule.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import Enum
from typing import Any

from muniment.errors import UsageProblem
from muniment.workspace import Instant

MAX_RECENT = 32
"""How many clones that held the lease lately are remembered in the state."""
GUARD_SHARE = 0.1
MAX_GUARD_SECONDS = 30.0
"""A holder stops this long before its ttl is over: a tenth of it, at most half a minute."""
SHORTEST_MINUTES, LONGEST_MINUTES = 0.001, 5_256_000
"""Bounds of a ttl: what a record's rounding keeps, and ten years."""
COURTESY_SHARE = 0.2
_KNOWN = ("writer", "session", "epoch", "seq", "acquired", "renewed", "timestamp", "ttl_minutes", "previous")

Sign = tuple[int, str, int]
"""Epoch, session and sequence: what a stamp changes, and nothing else does."""


@dataclass(frozen=True, slots=True)
class LeaseRecord:
    """The lease as it stands on the branch.

    Attributes:
        writer: The holder's name; display only.
        session: The nonce of one acquire.
        epoch: The fencing number.
        seq: How often this session has stamped.
        acquired: RFC 3339.
        renewed: RFC 3339.
        ttl: Seconds.
        previous: Who held it before, and how that ended.
        extra: Fields of later versions, kept.
    """

    writer: str
    session: str
    epoch: int
    seq: int
    acquired: str
    renewed: str
    ttl: float
    previous: Mapping[str, Any] = field(default_factory=dict)
    extra: Mapping[str, Any] = field(default_factory=dict)

    @property
    def sign(self) -> Sign:
        """What tells one stamp from another."""
        return self.epoch, self.session, self.seq

    def stamped(self, now: Instant, ttl: float | None = None) -> LeaseRecord:
        """The record with its next stamp."""
        return replace(self, seq=self.seq + 1, renewed=now.text, ttl=ttl or self.ttl)

    def fields(self) -> dict[str, Any]:
        """The record as the file holds it."""
        minutes = self.ttl / 60
        made: dict[str, Any] = {
            "writer": self.writer,
            "session": self.session,
            "epoch": self.epoch,
            "seq": self.seq,
            "acquired": self.acquired,
            "renewed": self.renewed,
            "timestamp": self.renewed,
            "ttl_minutes": int(minutes) if minutes.is_integer() else round(minutes, 9),
        }
        if self.previous:
            made["previous"] = dict(self.previous)
        return made | dict(self.extra)


@dataclass(frozen=True, slots=True)
class Face:
    """What one tip of the branch says about the lease.

    Attributes:
        record: The lease, or None when it is free.
        unreadable: Whether there is one that can't be read: it is live until somebody breaks it.
        epoch: The greatest epoch that the tip knows of.
        recent: Ids of the clones that held it last, oldest first.
        previous: Who held it last, and how that ended.
    """

    record: LeaseRecord | None = None
    unreadable: bool = False
    epoch: int = 0
    recent: tuple[str, ...] = ()
    previous: Mapping[str, Any] = field(default_factory=dict)

    @property
    def sign(self) -> Sign:
        """The stamp that stands; a free lease has its epoch only."""
        return self.record.sign if self.record else (self.epoch, "", 0)


def face(top: Mapping[str, Any]) -> Face:
    """What the top level of a state says; anything unsure is unreadable, so live."""
    held = top.get("lease")
    recent = top.get("lease_recent")
    known = tuple(str(one) for one in recent)[-MAX_RECENT:] if isinstance(recent, list) else ()
    epoch = _whole(top.get("lease_epoch")) or 0
    last = top.get("lease_previous")
    last = last if isinstance(last, Mapping) else {}
    if held is None or held == {}:
        return Face(None, False, epoch, known, last)
    record = _record(held) if isinstance(held, Mapping) else None
    if record is None:
        own = _whole(held.get("epoch")) if isinstance(held, Mapping) else None
        return Face(None, True, max(epoch, own or 0), known, last)
    return Face(record, False, max(epoch, record.epoch), known, last)


def _record(held: Mapping[str, Any]) -> LeaseRecord | None:
    epoch, minutes = _whole(held.get("epoch")), held.get("ttl_minutes")
    session, writer = held.get("session"), held.get("writer")
    if (
        not isinstance(minutes, int | float)
        or isinstance(minutes, bool)
        or not 0 < minutes <= LONGEST_MINUTES
    ):
        return None
    if epoch is None or not isinstance(session, str) or not session:
        return None
    renewed = held.get("renewed", held.get("timestamp"))
    previous = held.get("previous")
    return LeaseRecord(
        str(writer) if isinstance(writer, str | int) else "",
        session,
        epoch,
        _whole(held.get("seq")) or 0,
        str(held.get("acquired") or ""),
        str(renewed or ""),
        float(minutes) * 60,
        previous if isinstance(previous, Mapping) else {},
        {key: value for key, value in held.items() if key not in _KNOWN},
    )


def _whole(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


@dataclass(frozen=True, slots=True)
class Memory:
    """What a clone remembers of the branch between two runs.

    Attributes:
        tip: The commit last seen, "" before the first look, or when the branch was seen to be absent.
        face: What that tip says.
        since: The boot clock when its stamp was first seen.
        boot_id: The boot that `since` and `rewound_until` belong to.
        greatest: The greatest epoch ever seen.
        rewound_until: The boot clock up to which a rewound branch is only watched; 0 when it isn't.
        rewound_from: The tip that is gone, kept for whoever wants it back.
    """

    tip: str = ""
    face: Face = field(default_factory=Face)
    since: float = 0.0
    boot_id: str = ""
    greatest: int = 0
    rewound_until: float = 0.0
    rewound_from: str = ""

    def seen(self, tip: str, face: Face, now: Instant, *, rewound: float = 0.0) -> Memory:
        """The memory after a look that found `tip`.

        Args:
            tip: The commit, "" for none.
            face: What it says.
            now: The clocks once it was found; for a stamp of one's own, when it was made: never later than
                its deadline is counted from, never earlier than it came to be.
            rewound: For how many seconds to watch at least, because what was seen before is not behind
                it; 0 when it is.
        """
        same_boot = self.boot_id == now.boot_id
        watched = same_boot and self.tip and self.face.sign == face.sign and not rewound
        until = self.rewound_until
        if until and not same_boot:
            until += now.boot - self.since
        if rewound:
            until = max(until, now.boot + self._longest(face, rewound))
        return Memory(
            tip,
            face,
            self.since if watched else now.boot,
            now.boot_id,
            max(self.greatest, face.epoch),
            until if until > now.boot else 0.0,
            self.tip if rewound else self.rewound_from,
        )

    def _longest(self, face: Face, least: float) -> float:
        """The longest that a holder of what was seen, or of what is seen now, may still believe in it."""
        return max(least, *(one.record.ttl if one.record else 0.0 for one in (self.face, face)))


class Standing(Enum):
    """What a challenger may make of a tip."""

    FREE = "free"
    LIVE = "live"
    STALE = "stale"
    UNREADABLE = "unreadable"
    REWOUND = "rewound"


@dataclass(frozen=True, slots=True)
class Judgement:
    """The standing, and how many seconds until it may be another one if nobody stamps."""

    standing: Standing
    retry_after: float = 0.0


def judge(memory: Memory, now: Instant, skew: float) -> Judgement:
    """Judge what was seen last.

    Args:
        memory: It, with the observation.
        now: The clocks.
        skew: Seconds that two wall clocks may differ; 0 turns the wall-clock rule off.
    """
    if memory.rewound_until > now.boot and memory.boot_id == now.boot_id:
        return Judgement(Standing.REWOUND, memory.rewound_until - now.boot)
    if memory.face.unreadable:
        return Judgement(Standing.UNREADABLE)
    record = memory.face.record
    if record is None:
        return Judgement(Standing.FREE)
    watched = now.boot - memory.since if memory.boot_id == now.boot_id else 0.0
    if watched >= record.ttl:
        return Judgement(Standing.STALE)
    renewed = instant_of(record.renewed)
    if skew > 0 and renewed is not None and renewed + record.ttl + skew < now.wall:
        return Judgement(Standing.STALE)
    return Judgement(Standing.LIVE, record.ttl - watched)


def instant_of(text: str) -> float | None:
    """Seconds since the epoch of an RFC 3339 time, or None for anything else."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return moment.timestamp() if moment.tzinfo is not None else None


def ttl_seconds(minutes: float, name: str) -> float:
    """A ttl in seconds; raises `UsageProblem`, naming the option or setting, for one that is no time."""
    if not SHORTEST_MINUTES <= minutes <= LONGEST_MINUTES:
        raise UsageProblem(
            f"{name} is a number of minutes from {SHORTEST_MINUTES} to {LONGEST_MINUTES}; fractions are fine."
        )
    return minutes * 60


def usable(ttl: float) -> float:
    """How long a holder may believe in a stamp, in seconds: its ttl without the guard."""
    return ttl - min(ttl * GUARD_SHARE, MAX_GUARD_SECONDS)


def recent_after(recent: tuple[str, ...], clone: str) -> tuple[str, ...]:
    """The list of the last holders with `clone` as the newest."""
    return (*(one for one in recent if one != clone), clone)[-MAX_RECENT:]


def courtesy(recent: tuple[str, ...], clone: str, ttl: float) -> float:
    """Seconds that a clone waits before it takes a free lease: the longer, the later it last held it.

    Whoever isn't among the last holders waits for nobody, nor does whoever is alone among them; and nobody
    leaves a lease of `ttl` seconds idle for more than a fifth of that.
    """
    others = [one for one in recent if one and one != clone]
    if clone not in recent or not others:
        return 0.0
    return min(0.1, COURTESY_SHARE * ttl / len(recent)) * recent.index(clone)
