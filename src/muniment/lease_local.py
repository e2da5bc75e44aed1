"""The lease of local mode: one for each clone, whatever the worktree, branch or writer (G9).

It lies under the common git folder and is never committed. The file is changed under an OS lock, which a
reconcile holds as long as it runs: a killed one blocks nobody. A live lease inside this worktree's state file
is honoured: that is how users of the engine protocol hold theirs.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from muniment.errors import MunimentError, Refused, UsageProblem
from muniment.files import atomic_write, file_lock, read_bytes
from muniment.lease_memory import LeaseMemory
from muniment.state import store
from muniment.state.claim import is_stale, lease_of, writer_of
from muniment.state.lease import Face, LeaseRecord, Memory, Standing, face, instant_of, usable
from muniment.state.requests import Held, Result, Status
from muniment.state.text import Corrupt, read
from muniment.workspace import Instant, Workspace

MAX_BYTES = 64 * 1024
"""Longest lease file that is read, in bytes."""
LOOK_SECONDS = 0.2
"""The time between two looks of a wait."""
BUSY_SECONDS = 2.0
"""How long a call that doesn't wait gives a running reconcile to end."""


@dataclass(frozen=True, slots=True)
class _Found:
    """What stands: the lease, since when by the boot clock, and who keeps it."""

    face: Face
    stamped: float = 0.0
    boot_id: str = ""
    inside: bool = False

    def memory(self) -> Memory:
        """The same, as the answers take it."""
        return Memory(face=self.face, since=self.stamped, boot_id=self.boot_id, greatest=self.face.epoch)

    def standing(self, now: Instant) -> tuple[Standing, float]:
        """How it stands, and how many seconds until it runs out."""
        record = self.face.record
        if self.face.unreadable:
            return Standing.UNREADABLE, 0.0
        if record is None:
            return Standing.FREE, 0.0
        if self.inside:
            taken = instant_of(record.renewed)
            return Standing.LIVE, math.inf if taken is None else max(taken + record.ttl - now.wall, 1.0)
        passed = now.boot - self.stamped
        if self.boot_id != now.boot_id or passed >= record.ttl:
            return Standing.STALE, 0.0
        return Standing.LIVE, record.ttl - max(passed, 0.0)


class LocalLease:
    """The lease of this clone, for one worktree."""

    mode = "local"

    def __init__(self, ws: Workspace) -> None:
        self.ws = ws
        self.memory = LeaseMemory(ws, "local")
        self._file = ws.private / "local-lease.json"
        self._lock = ws.private / "local-lease.lock"

    @property
    def place(self) -> str:
        """Where the lease lies, for people."""
        return "this clone"

    # The calls

    def acquire(
        self, writer: str, ttl: float, *, wait: float = 0.0, reclaim: bool = True, run: bool = False
    ) -> Result:
        """Take the lease, keep one's own, or take over one that has run out; times in seconds."""
        until = self.ws.boot() + wait
        while True:
            left = until - self.ws.boot()
            try:
                with file_lock(self._lock, wait_seconds=max(left, 0.0 if wait else BUSY_SECONDS)):
                    result = self._acquired(writer, ttl, reclaim=reclaim, run=run)
            except Refused as error:
                return self._busy(error)
            asks = result.retry_after == 0 and result.memory.face.record and not reclaim
            left = until - self.ws.boot()
            if result.status is not Status.LOCKED or left <= 0 or asks:
                return result
            self.ws.sleep(min(LOOK_SECONDS, left))

    def renew(self, held: Held, ttl: float | None = None) -> Result:
        """Stamp the lease again; `ttl` in seconds changes it from now on."""
        return self._as_holder(held, lambda record, now: record.stamped(now, ttl))

    def release(self, held: Held) -> Result:
        """Give the lease back."""
        return self._as_holder(held, lambda _record, _now: None)

    def end(
        self,
        reason: str,
        ttl: float,  # noqa: ARG002 - of shared mode
        *,
        only: tuple[int, str] | None = None,
    ) -> Result:
        """End whatever lease there is in this clone; one inside the state file is its own command's."""
        with file_lock(self._lock):
            found, now = self._read(), self.ws.instant()
            if found.face.record is None and not found.face.unreadable:
                return self._inside_or_free(found)
            if only is not None and found.face.sign[:2] != only:
                return Result(Status.LOCKED, None, found.memory())
            previous = _ended(found.face.record, "broken", now) | {"by": self.ws.actor, "reason": reason}
            kept = Face(None, False, self._epoch(found.face) + 1, (), previous)
            self._write(kept, now)
            return Result(Status.OK, None, Memory(face=kept))

    def status(self) -> Result:
        """Who holds it: `OK` for this worktree, `LOCKED` for another, `FREE`."""
        found, now = self._standing(""), self.ws.instant()
        memory, (standing, left) = found.memory(), found.standing(now)
        held, record = self.memory.held(), found.face.record
        if standing is Standing.FREE:
            return Result(Status.FREE, None, memory)
        if held and record and held.record.session == record.session and held.lives(now):
            return Result(Status.OK, replace(held, record=record), memory)
        return Result(Status.LOCKED, None, memory, left)

    def own(self, writer: str = "", session: str = "", epoch: int = 0) -> Held | None:
        """The session that this worktree keeps, or the one named, where it stands; else None."""
        held = self.memory.held()
        if session and (held is None or held.record.session != session):
            found = self._read()
            record = found.face.record
            known = record is not None and record.session == session
            held = (
                Held(record, "", found.stamped + usable(record.ttl), found.boot_id)
                if known and record
                else None
            )
        if held is None or (writer and held.record.writer != writer):
            return None
        return None if epoch and held.record.epoch != epoch else held

    def kept(self) -> Held | None:
        """The session that this worktree keeps; asks nobody."""
        return self.memory.held()

    @contextmanager
    def during(self, writer: str) -> Iterator[None]:
        """Keep every other sweep and reconcile of this clone out while the block runs.

        The lease inside the state file is left to the block, which reads that file anyway.

        Raises:
            Refused: Another writer holds the lease, or a reconcile runs.
        """
        with file_lock(self._lock):
            found, now = self._read(), self.ws.instant()
            held, record = self.memory.held(), found.face.record
            standing, _ = found.standing(now)
            mine = held and record and (held.record.session, writer) == (record.session, record.writer)
            if standing in {Standing.LIVE, Standing.UNREADABLE} and not mine:
                raise _held_by(record)
            yield

    # Under the lock

    def _acquired(self, writer: str, ttl: float, *, reclaim: bool, run: bool) -> Result:
        found, now = self._standing(writer), self.ws.instant()
        standing, left = found.standing(now)
        record, held = found.face.record, self.memory.held()
        ours = held and record and (held.record.session, writer) == (record.session, record.writer)
        if ours and held and record and not (held.run or run) and held.lives(now):
            return self._stamped(found, record.stamped(now, ttl), now, run=False)
        if standing in {Standing.LIVE, Standing.UNREADABLE} or (standing is Standing.STALE and not reclaim):
            return Result(Status.LOCKED, None, found.memory(), left)
        epoch = self._epoch(found.face) + 1
        previous = found.face.previous if record is None else _ended(record, "stale", now)
        session = self.ws.token_hex(16)
        made = LeaseRecord(writer, session, epoch, 1, now.text, now.text, ttl, previous)
        kept = replace(found, face=replace(found.face, previous=previous))
        done = self._stamped(kept, made, now, run=run)
        return done if record is None else replace(done, status=Status.STALE_RECLAIMED)

    def _as_holder(self, held: Held, after: Any) -> Result:
        try:
            with file_lock(self._lock):
                found, now = self._read(), self.ws.instant()
                record = found.face.record
                same = record is not None and record.session == held.record.session
                if record is None or not same or not held.lives(now):
                    self.memory.keep(None, held.record.session)
                    return Result(Status.LEASE_LOST, None, found.memory())
                stamped = after(record, now)
                if stamped is not None:
                    return self._stamped(found, stamped, now, run=held.run)
                given = Face(None, False, record.epoch, (), _ended(record, "released", now))
                self._write(given, now)
                self.memory.keep(None, record.session)
                return Result(Status.OK, None, Memory(face=given))
        except Refused as error:
            return self._busy(error)

    def _stamped(self, found: _Found, record: LeaseRecord, now: Instant, *, run: bool) -> Result:
        after = Face(record, False, max(record.epoch, found.face.epoch), (), found.face.previous)
        self._write(after, now)
        held = Held(record, "", now.boot + usable(record.ttl), now.boot_id, run)
        self.memory.keep(held, record.session)
        return Result(Status.OK, held, Memory(face=after))

    def _busy(self, error: Refused) -> Result:
        """Another process of this clone works under the lock, such as a reconcile."""
        found = self._read()
        return Result(Status.LOCKED, None, found.memory(), math.inf, error.message)

    # What stands

    def _standing(self, writer: str) -> _Found:
        """The clone's lease, or the one inside the state file where that is live and another writer's."""
        found = self._read()
        if found.face.record is not None or found.face.unreadable:
            standing, _ = found.standing(self.ws.instant())
            if standing is not Standing.STALE:
                return found
        inside = self._inside()
        if inside is None or (writer and inside.writer == writer):
            return found
        return _Found(Face(inside, False, found.face.epoch), inside=True)

    def _inside(self) -> LeaseRecord | None:
        """The live lease inside this worktree's state file; None where there is none, or no state."""
        try:
            path = self.ws.path(store.local_path(self.ws))
            held = lease_of(read(read_bytes(path, limit=store.MAX_BYTES))) if path.is_file() else None
        except (Corrupt, MunimentError):
            return None  # a state that can't be read is its own commands' to refuse
        if held is None or is_stale(held, self.ws.timestamp()):
            return None
        made = face({"lease": {"epoch": 0, **held, "session": "inside"}}).record
        taken = str(held.get("timestamp") or "")
        plain = LeaseRecord(writer_of(held), "", 0, 0, taken, taken, 0.0)
        return plain if made is None else replace(made, session="", acquired=made.acquired or taken)

    def _inside_or_free(self, found: _Found) -> Result:
        inside = self._inside()
        if inside is None:
            return Result(Status.FREE, None, found.memory())
        raise UsageProblem(
            f"{inside.writer or 'A writer without a name'} holds the lease inside the state file.",
            "Release it there: muniment state lease-release --state FILE --writer NAME.",
        )

    def _epoch(self, seen: Face) -> int:
        kept = self.memory.held()
        return max(seen.epoch, kept.record.epoch if kept else 0)

    def _read(self) -> _Found:
        """The file; one that is there and can't be read is a lease that only a break ends."""
        if not self._file.exists():
            return _Found(Face())
        try:
            top = json.loads(read_bytes(self._file, limit=MAX_BYTES))
            return _Found(face(top), float(top["boot"]), str(top["boot_id"]))
        except (MunimentError, ValueError, KeyError, TypeError, AttributeError):
            return _Found(Face(None, unreadable=True))

    def _write(self, seen: Face, now: Instant) -> None:
        kept = {
            "lease": seen.record.fields() if seen.record else None,
            "lease_epoch": seen.epoch,
            "lease_previous": dict(seen.previous),
            "boot": now.boot,
            "boot_id": now.boot_id,
        }
        atomic_write(self._file, json.dumps(kept, indent=1).encode("utf-8"), mode=0o600)


def _ended(record: LeaseRecord | None, how: str, now: Instant) -> dict[str, Any]:
    known = {"writer": record.writer, "epoch": record.epoch} if record else {}
    return {**known, "ended": how, "at": now.text}


def _held_by(record: LeaseRecord | None) -> Refused:
    who = "a lease that can't be read" if record is None else record.writer or "a writer without a name"
    since = (
        f" since {record.acquired or record.renewed}"
        if record and (record.acquired or record.renewed)
        else ""
    )
    return Refused(
        f"This clone's lease is held by {who}{since}.",
        "Wait until that run has released it (muniment lease status); a person ends it: muniment lease "
        "break. Nothing was written.",
        code="locked",
    )
