"""The lease inside a state file (G9, S20): who holds it, who may take it, and how a write re-stamps it. Pure.

Here the writer's name is the identity, and the record's own times are all there is to judge by: it is stale
only when readable ones prove that its ttl has passed. The lease of shared mode has a protocol of its own.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Any

from muniment.errors import UsageProblem
from muniment.state.operations import REMOVE, Answer, Edit, View, Word, ensure_version
from muniment.workspace import parse_instant

DEFAULT_TTL_MINUTES = 60
_ANOTHERS = ("session", "seq", "acquired", "renewed", "previous")
"""Fields that tell of one holding of the lease only; a new holding doesn't inherit them."""


def acquire(view: View, writer: str, ttl_minutes: float | None, now: str) -> Answer:
    """Take the lease, keep it when it is one's own, or take it over when it is provably stale.

    Args:
        view: What stands.
        writer: Who asks.
        ttl_minutes: How long it holds without a stamp; None keeps that of one's own lease, else an hour.
        now: The time as it is to be written, ISO 8601.

    Raises:
        UsageProblem: No writer, or a ttl that is no time.
    """
    if not writer.strip():
        raise UsageProblem("A lease needs a writer.")
    require_ttl(ttl_minutes)
    held = lease_of(view)
    stale = is_stale(held, now)
    mine = held is not None and writer_of(held) == writer
    if held is not None and not (mine or stale):
        who = writer_of(held) or "a writer whose name can't be read"
        return Answer(
            Word.LOCKED, note=f"Held by {who} since {held.get('timestamp') or 'an unknown time'}, not stale."
        )
    ttl = ttl_minutes or (_ttl(held) if held is not None and mine else None) or DEFAULT_TTL_MINUTES
    ttl = int(ttl) if float(ttl).is_integer() else ttl
    epoch = _top_epoch(view) if mine and not stale else _top_epoch(view) + 1
    fields: dict[str, Any] = {
        "writer": writer,
        "timestamp": now,
        "ttl_minutes": ttl,
        "epoch": max(epoch, 1),
    }
    if held is not None and not (mine and not stale):
        fields |= {name: REMOVE for name in _ANOTHERS if name in held}
    elif held is not None:
        fields |= _renewed(held, now)
    top: dict[str, Any] = {"lease_epoch": fields["epoch"]}
    edits = (*ensure_version(view), Edit("", "lease", fields, new=held is None), Edit("", "", top))
    if held is None or mine:
        return Answer(Word.OK, edits=edits)
    previous = {"previous_writer": held.get("writer"), "previous_timestamp": held.get("timestamp")}
    return Answer(Word.STALE_RECLAIMED, previous, edits)


def require_ttl(ttl_minutes: float | None) -> None:
    """Raise `UsageProblem` for a ttl that is no time."""
    if ttl_minutes is not None and not (math.isfinite(ttl_minutes) and ttl_minutes > 0):
        raise UsageProblem("The ttl is a number of minutes above 0.")


def release(view: View, writer: str) -> Answer:
    """Give the lease back; `OK` also when nobody holds it, `LEASE-LOST` when another does."""
    held = lease_of(view)
    if held is None:
        return Answer(Word.OK)
    if writer_of(held) != writer:
        return _lost(f"The lease is held by {writer_of(held) or 'a writer whose name cannot be read'}.")
    top = {"lease": REMOVE, "lease_epoch": _top_epoch(view)}
    return Answer(Word.OK, edits=(Edit("", "", top),))


def holding(
    view: View, writer: str, now: str, act: Callable[[View], Answer], *, epoch: int | None = None
) -> Answer:
    """Do `act` as the holder of the lease, and stamp the lease again with it.

    Args:
        view: What stands.
        writer: Who writes.
        now: The time of the stamp, as it is to be written.
        act: The operation; its edits are taken only if it is `OK`.
        epoch: The fencing number that the writer was given, where it says one.

    Returns:
        What `act` answers, or `LEASE-LOST` when there is no state or no lease, when another holds it, or when
        its own readable times prove that it ran out: whoever let it run out acquires again before writing.
    """
    held = lease_of(view)
    if held is None:
        return _lost("Nobody holds the lease.")
    if writer_of(held) != writer:
        return _lost(f"The lease is held by {writer_of(held) or 'a writer whose name cannot be read'}.")
    if epoch is not None and epoch != _epoch(held):
        return _lost(f"The lease has epoch {_epoch(held)}, not {epoch}: it was taken anew since.")
    if is_stale(held, now):
        return _lost(
            f"The lease ran out: {held.get('timestamp')} is more than its ttl ago. Acquire it again."
        )
    answer = act(view)
    if answer.word is not Word.OK:
        return answer
    stamp = Edit("", "lease", {"timestamp": now} | _renewed(held, now))
    return Answer(answer.word, answer.value, (*answer.edits, stamp), answer.note)


def free_for(view: View, writer: str | None) -> Answer | None:
    """None when a write that needs no lease hits nobody else's; else `LEASE-LOST`."""
    held = lease_of(view)
    if held is None or writer_of(held) == writer:
        return None
    return _lost(f"The lease is held by {writer_of(held) or 'a writer whose name cannot be read'}.")


def lease_of(view: View) -> Mapping[str, Any] | None:
    """The lease record, or None: it is there exactly while somebody holds it."""
    held = view.top("lease") if view.exists else None
    return held if isinstance(held, Mapping) and held else None


def is_stale(held: Mapping[str, Any] | None, now: str) -> bool:
    """Whether a record's own readable times prove that its ttl has passed; anything unsure is live."""
    ttl = None if held is None else _ttl(held)
    taken = None if held is None else _moment(held.get("timestamp"))
    instant = _moment(now)
    if ttl is None or taken is None or instant is None:
        return False
    try:
        return instant - taken > timedelta(minutes=ttl)
    except OverflowError:  # a ttl of millennia
        return False


def _moment(value: object) -> datetime | None:
    if not isinstance(value, str):
        return None
    try:
        return parse_instant(value)
    except UsageProblem:
        return None


def writer_of(held: Mapping[str, Any]) -> str:
    """The holder's name; a number counts as its digits, since a hand may have left the quotes away."""
    writer = held.get("writer")
    return str(writer) if isinstance(writer, str | int) and not isinstance(writer, bool) else ""


def _ttl(held: Mapping[str, Any]) -> float | None:
    """The record's ttl in minutes, or None for anything that is no time."""
    ttl = held.get("ttl_minutes")
    usable = isinstance(ttl, int | float) and not isinstance(ttl, bool) and 0 < ttl < math.inf
    return ttl if usable else None


def _renewed(held: Mapping[str, Any], now: str) -> dict[str, Any]:
    """What a stamp changes besides the timestamp, in a record that counts its stamps."""
    fields: dict[str, Any] = {"renewed": now} if "renewed" in held else {}
    if isinstance(held.get("seq"), int):
        fields["seq"] = held["seq"] + 1
    return fields


def _epoch(held: Mapping[str, Any]) -> int:
    epoch = held.get("epoch")
    return epoch if isinstance(epoch, int) and not isinstance(epoch, bool) and epoch > 0 else 0


def _top_epoch(view: View) -> int:
    """The highest epoch that the state tells of."""
    highest = view.top("lease_epoch") if view.exists else None
    greatest = highest if isinstance(highest, int) and not isinstance(highest, bool) else 0
    held = lease_of(view)
    return max(greatest, 0, _epoch(held) if held is not None else 0)


def _lost(note: str) -> Answer:
    return Answer(Word.LEASE_LOST, note=note)
