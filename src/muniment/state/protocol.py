"""The lease protocol as generators that ask for effects and are told their outcome (G9, pure).

Each step asks for one thing (a look, a fetch, a push, a pause) and decides from the answer alone, so the
same code runs against git and against the simulated remote of the tests, which tries every order, loss and
crash. What each failure leads to: `docs/design/lease.md`.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from muniment.state.lease import (
    Judgement,
    LeaseRecord,
    Memory,
    Standing,
    courtesy,
    judge,
    recent_after,
    usable,
)
from muniment.state.requests import (
    Again,
    Contains,
    Effect,
    Fetch,
    Held,
    Keep,
    Landing,
    Look,
    Now,
    Pause,
    Push,
    Result,
    Save,
    Stamp,
    Status,
    Steps,
    Trouble,
    Want,
)
from muniment.workspace import Instant

RACES = 6
"""Lost races in a row after which an acquire that doesn't wait gives up."""
SHORTEST_PAUSE = 0.05
"""Seconds between two looks at least: what is left of a ttl may be next to nothing."""
REMAKES = 4
"""How often a write is made again on a tip that another process of the same session moved."""

# Looking


def see(memory: Memory, patience: float, *, look: bool = False) -> Generator[Effect, Any, Memory | Trouble]:
    """Look at the branch, fetching only a tip that wasn't seen before; the memory afterwards, already kept.

    Args:
        memory: What is remembered.
        patience: Seconds for which a rewound branch is only watched, at least.
        look: Whether to look before fetching even where the lease was last seen free.
    """
    if memory.tip and (look or memory.face.record is not None):
        tip = yield Look()
        if isinstance(tip, Trouble):
            return tip
        if tip == memory.tip:
            now = yield Now()
            kept = memory.seen(tip, memory.face, now)
            if kept != memory:
                yield Save(kept)
            return kept
    found = yield Fetch(memory.tip)
    if isinstance(found, Trouble):
        return found
    gone = bool(memory.tip) and found.tip != memory.tip and found.descends is not True
    told = found.replaces and found.face.epoch > memory.greatest
    unsure = found.tip and found.descends is None and found.face.epoch >= memory.greatest
    now = yield Now()
    kept = memory.seen(found.tip, found.face, now, rewound=patience * (gone and not told and not unsure))
    yield Save(kept)
    return kept


# Landing one commit


@dataclass(frozen=True, slots=True)
class Landed:
    """The end of one push: its commit, what became of it, and the remote's words."""

    commit: str
    landing: Landing
    words: str = ""


def land(
    expected: str, stamp: Stamp, until: float, *, stubborn: bool = False
) -> Generator[Effect, Any, Landed]:
    """Push one commit until its outcome is known, or `until` is over; the same commit each time.

    Nothing but its own id tells whether it landed: it can land once at most, since it expects a tip that is
    gone afterwards.

    Args:
        expected: The tip it is made on.
        stamp: What it carries.
        until: The boot clock at which to stop.
        stubborn: Whether to try again after a refusal too. Nobody waits for a remote that is offline.
    """
    pushed = yield Push(expected, stamp)
    doubt, pause = False, SHORTEST_PAUSE
    while True:
        doubt = doubt or pushed.landing is Landing.UNKNOWN
        if pushed.landing is Landing.LANDED:
            return Landed(pushed.commit, Landing.LANDED, pushed.words)
        if doubt:
            known = yield from _found_out(pushed.commit, expected, stamp.epoch)
            if known is not None:
                return Landed(pushed.commit, known, pushed.words)
        elif pushed.landing in {Landing.LOST, Landing.OFFLINE} or not (
            stubborn or pushed.landing is Landing.BUSY
        ):
            return Landed(pushed.commit, pushed.landing, pushed.words)
        yield Pause(pause)
        pause = min(pause * 2, 2.0)
        now = yield Now()
        if now.boot >= until:
            return Landed(pushed.commit, Landing.UNKNOWN if doubt else pushed.landing, pushed.words)
        pushed = yield Again(pushed.commit, expected)


def _found_out(commit: str, expected: str, epoch: int) -> Generator[Effect, Any, Landing | None]:
    """Whether a commit of unknown outcome landed, by looking; None while it still may, or nobody can tell.

    Where history was replaced meanwhile, it may have landed before that; where an older epoch stands, the
    commit that it was made on may be still to come.
    """
    tip = yield Look()
    if isinstance(tip, Trouble) or tip == expected:
        return None
    if tip == commit:
        return Landing.LANDED
    found = yield Fetch(commit)
    if isinstance(found, Trouble):
        return None
    behind = found.descends if found.descends is not None else (yield Contains(found.tip, commit))
    if behind:
        return Landing.LANDED
    hidden = found.replaces or found.face.epoch < epoch
    hidden = hidden and not (expected and (yield Contains(found.tip, expected)))
    return None if behind is None or hidden or found.tip == expected else Landing.LOST


# The calls


def acquire(want: Want, memory: Memory, held: Held | None = None) -> Steps:
    """Take the lease; `held` is the session that this worktree already has, if any."""
    now = yield Now()
    if held is not None and _may_go_on(held, want, now):
        again = yield from write(held, memory, ttl=want.ttl)
        if again.status not in {Status.LEASE_LOST, Status.REMOTE_REWOUND}:
            return again
        memory = again.memory
        if again.status is Status.LEASE_LOST and _may_still_come(held, memory):
            want = replace(want, session=held.record.session)  # whichever lands, it is this one session
    return (yield from _contend(want, memory))


def _may_go_on(held: Held, want: Want, now: Instant) -> bool:
    return held.record.writer == want.writer and not (held.run or want.run) and held.lives(now)


def _contend(want: Want, memory: Memory) -> Steps:
    """Look, judge and try to stamp, until it is decided."""
    races, polite, look = 0, "", False
    while True:
        seen = yield from see(memory, want.ttl, look=look)
        now = yield Now()
        look, waits = True, now.boot < want.until
        if isinstance(seen, Trouble):
            if seen.status is not Status.OFFLINE or not waits:
                return Result(seen.status, None, memory, words=seen.words)
            yield Pause(1.0, looks=True)
            continue
        memory = seen
        found = judge(memory, now, want.skew)
        answer = _may_not(found, want, ours=_is_ours(memory, want))
        asks = found.standing is Standing.STALE and not want.reclaim
        if answer is not None and (asks or not waits):
            return Result(answer, None, memory, found.retry_after)
        if answer is not None:
            yield Pause(_until_next_look(found, want, now), looks=True)
        elif waits and polite != memory.tip and (grace := _courtesy(found, memory, want)):
            polite = memory.tip
            yield Pause(grace)
        else:
            result = yield from _take(want, memory)
            races += 1
            if result.status is not Status.LOCKED or (races > RACES and not waits):
                return result
            yield Pause(min(0.05 * 2**races, 1.0))


def _until_next_look(found: Judgement, want: Want, now: Instant) -> float:
    return max(SHORTEST_PAUSE, min(want.ttl / 3, found.retry_after or want.ttl, want.until - now.boot))


def _courtesy(found: Judgement, memory: Memory, want: Want) -> float:
    free = found.standing is Standing.FREE
    return courtesy(memory.face.recent, want.clone, want.ttl) if free else 0.0


def _may_not(found: Judgement, want: Want, *, ours: bool) -> Status | None:
    """The answer to a challenger who may not stamp now; `ours`: see `_is_ours`."""
    if found.standing is Standing.REWOUND:
        return Status.REMOTE_REWOUND
    if ours:
        return None
    if found.standing in {Standing.LIVE, Standing.UNREADABLE}:
        return Status.LOCKED
    return Status.LOCKED if found.standing is Standing.STALE and not want.reclaim else None


def _take(want: Want, memory: Memory) -> Steps:
    """Stamp a lease that is free, stale or our own; `LOCKED` when somebody else was faster."""
    now = yield Now()
    before = None if _is_ours(memory, want) else memory.face.record
    epoch = max(memory.face.epoch, memory.greatest) + 1
    previous = memory.face.previous if before is None else _ended(before, "stale", now)
    record = LeaseRecord(want.writer, want.session, epoch, 1, now.text, now.text, want.ttl, previous)
    stamp = Stamp(record, epoch, recent_after(memory.face.recent, want.clone), previous)
    deadline = now.boot + usable(want.ttl)
    done = yield from land(memory.tip, stamp, min(deadline, now.boot + want.patience))
    held = Held(record, done.commit, deadline, now.boot_id, want.run)
    if done.landing is Landing.LANDED:
        memory = memory.seen(done.commit, stamp.face, now)
        yield Save(memory)
        now = yield Now()
        if not held.lives(now):  # too late to be believed; what stands is ours, so it is taken once more
            return Result(Status.LOCKED, None, memory)
        yield Keep(held, want.session)
        return Result(Status.OK if before is None else Status.STALE_RECLAIMED, held, memory)
    if done.landing is Landing.LOST:
        return Result(Status.LOCKED, None, memory, words=done.words)
    if done.landing is Landing.UNKNOWN:
        yield Keep(held, want.session)
    return Result(_FAILED[done.landing], None, memory, words=done.words)


def _is_ours(memory: Memory, want: Want) -> bool:
    """Whether a stamp of this very acquire stands: it landed after its outcome was given up."""
    return memory.face.record is not None and memory.face.record.session == want.session


def _ended(record: LeaseRecord, how: str, now: Instant) -> Mapping[str, Any]:
    return {"writer": record.writer, "epoch": record.epoch, "ended": how, "at": now.text}


_FAILED = {
    Landing.REFUSED: Status.REJECTED_POLICY,
    Landing.OFFLINE: Status.OFFLINE,
    Landing.UNKNOWN: Status.UNKNOWN,
    Landing.BUSY: Status.OFFLINE,
}


def write(
    held: Held,
    memory: Memory,
    *,
    change: bool = False,
    ttl: float | None = None,
    stubborn: bool = False,
    ends: bool = False,
    replaces: bool = False,
    patience: float = 30.0,
) -> Steps:
    """Stamp the lease again, with the caller's change in the same commit; nothing is fetched if all is well.

    Args:
        held: The session.
        memory: What is remembered.
        change: Whether the caller's change goes in.
        ttl: Another ttl from now on, in seconds.
        stubborn: Whether to try again after a refusal too, until the deadline.
        ends: Whether to give the lease back.
        replaces: Whether the commit replaces history; takes the next epoch.
        patience: Seconds to find out an unknown outcome; a stubborn call takes all that the lease leaves.
    """
    session = held.record.session
    for _ in range(REMAKES):
        now = yield Now()
        if not held.lives(now):
            yield Keep(None, session)
            return Result(Status.LEASE_LOST, None, memory)
        record = held.record.stamped(now, ttl)
        if record.ttl < held.record.ttl:  # others go by it as soon as it lands, whether we hear of it or not
            held = replace(held, deadline=min(held.deadline, now.boot + usable(record.ttl)))
            yield Keep(held, session)
        if replaces:
            record = replace(record, epoch=max(record.epoch, memory.greatest) + 1)
        epoch = max(record.epoch, memory.greatest)
        previous = _ended(record, "released", now) if ends else memory.face.previous
        stamp = Stamp(None if ends else record, epoch, memory.face.recent, previous, change, replaces)
        until = held.deadline if stubborn else min(held.deadline, now.boot + patience)
        done = yield from land(held.tip, stamp, until, stubborn=stubborn)
        if done.landing is Landing.LANDED:
            after = (
                None
                if ends
                else Held(record, done.commit, now.boot + usable(record.ttl), now.boot_id, held.run)
            )
            memory = memory.seen(done.commit, stamp.face, now)
            yield Save(memory)
            yield Keep(after, session)
            return Result(Status.OK, after, memory)
        if done.landing is not Landing.LOST:
            return Result(_FAILED[done.landing], held, memory, words=done.words)
        after_loss = yield from _still_ours(held, memory, ends=ends)
        if isinstance(after_loss, Result):
            return after_loss
        held, memory = after_loss
    return Result(Status.LOCKED, held, memory)


def _still_ours(
    held: Held, memory: Memory, *, ends: bool
) -> Generator[Effect, Any, Result | tuple[Held, Memory]]:
    """After a lost race: the session on the tip that stands now if it is still ours, or the call's end."""
    session = held.record.session
    seen = yield from see(memory, held.record.ttl, look=True)
    if isinstance(seen, Trouble):
        return Result(seen.status, held, memory, words=seen.words)
    ours = seen.face.record
    if seen.rewound_until:
        yield Keep(None, session)
        return Result(Status.REMOTE_REWOUND, None, seen)
    if ours is not None and (ours.session, ours.epoch) == (session, held.record.epoch):
        return replace(held, record=ours, tip=seen.tip), seen
    if not _may_still_come(held, seen):
        yield Keep(None, session)
    given_back = ends and ours is None and seen.face.epoch == held.record.epoch
    return Result(Status.OK if given_back else Status.LEASE_LOST, None, seen)


def _may_still_come(held: Held, memory: Memory) -> bool:
    """Whether a session was acquired by a push of unknown outcome, and may still appear on the branch."""
    return memory.face.epoch < held.record.epoch


def renew(held: Held, memory: Memory, ttl: float | None = None) -> Steps:
    """Stamp the lease again, trying until the holder's own deadline."""
    return write(held, memory, ttl=ttl, stubborn=True)


def release(held: Held, memory: Memory) -> Steps:
    """Give the lease back, trying until the holder's own deadline."""
    return write(held, memory, stubborn=True, ends=True)


def compact(held: Held, memory: Memory) -> Steps:
    """Replace the branch's history by one commit, under the lease."""
    return write(held, memory, change=True, replaces=True)


def end(memory: Memory, ttl: float, patience: float = 30.0, *, only: tuple[int, str] | None = None) -> Steps:
    """End whatever lease there is, a live or unreadable one too; a person's decision (`lease break`).

    Args:
        memory: What is remembered.
        ttl: For how many seconds to watch a rewound branch.
        patience: Seconds to find out an unknown outcome.
        only: Epoch and session of the lease that the person was asked about; another one is left alone.
    """
    for _ in range(REMAKES):
        seen = yield from see(memory, ttl)
        if isinstance(seen, Trouble):
            return Result(seen.status, None, memory, words=seen.words)
        memory = seen
        if memory.face.record is None and not memory.face.unreadable:
            return Result(Status.FREE, None, memory)
        if only is not None and memory.face.sign[:2] != only:
            return Result(Status.LOCKED, None, memory)
        now = yield Now()
        epoch = max(memory.face.epoch, memory.greatest) + 1
        broken = memory.face.record
        previous = _ended(broken, "broken", now) if broken else {"ended": "broken", "at": now.text}
        stamp = Stamp(None, epoch, memory.face.recent, previous)
        done = yield from land(memory.tip, stamp, now.boot + patience)
        if done.landing is Landing.LANDED:
            memory = memory.seen(done.commit, stamp.face, now)
            yield Save(memory)
            return Result(Status.OK, None, memory)
        if done.landing is not Landing.LOST:
            return Result(_FAILED[done.landing], None, memory, words=done.words)
    return Result(Status.LOCKED, None, memory)
