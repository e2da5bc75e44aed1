"""What a clone remembers of a shared lease, and the session that a worktree keeps, on disk (G9).

Private files under the common git folder. A file that can't be read counts as absent: what was seen is seen
again, and a forgotten session is a lease that runs out. So is one found in a copy of the clone that held it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from muniment.files import atomic_write, file_lock
from muniment.git.place import worktree_name
from muniment.state.lease import Face, LeaseRecord, Memory, face
from muniment.state.requests import Held
from muniment.workspace import Workspace

TURN_SECONDS = 60.0


class LeaseMemory:
    """The private files about the lease on one branch (`name`: its store's)."""

    def __init__(self, ws: Workspace, name: str) -> None:
        self._ws = ws
        self._folder = ws.private / "lease"
        self._seen = self._folder / f"{name}.json"
        worktree = worktree_name(ws.repo.git_dir, ws.repo.common_dir)
        self._session = self._folder / f"{name}-{worktree}.session.json"
        self._place = ws.repo.git_dir.stat().st_ino

    @cached_property
    def clone(self) -> str:
        """This clone's id: 8 hex digits, made once."""
        path = self._folder / "clone"
        with file_lock(self._folder / "lock"):
            known = path.read_text("ascii").strip() if path.exists() else ""
            if not known:
                known = self._ws.token_hex(4)
                atomic_write(path, f"{known}\n".encode("ascii"), mode=0o600)
        return known

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Let the clone's writers go one after the other: they share one lease, and would only race.

        Raises:
            Refused: Another one didn't come to its end within a minute.
        """
        with file_lock(self._seen.with_suffix(".turn"), wait_seconds=TURN_SECONDS):
            yield

    def read(self) -> Memory:
        """What was last seen; an empty memory when nothing was."""
        found = _read(self._seen)
        try:
            return Memory(
                str(found["tip"]),
                face(found["face"]),
                float(found["since"]),
                str(found["boot_id"]),
                int(found["greatest"]),
                float(found["rewound_until"]),
                str(found["rewound_from"]),
            )
        except (KeyError, TypeError, ValueError):
            return Memory()

    def save(self, memory: Memory) -> None:
        """Keep what was seen; the greatest epoch never falls."""
        with file_lock(self._folder / "lock"):
            greatest = max(memory.greatest, self.read().greatest)
            kept = asdict(replace(memory, greatest=greatest, face=Face()))
            kept["face"] = _top(memory.face)
            _write(self._seen, kept)

    def held(self) -> Held | None:
        """The session that this worktree keeps."""
        found = _read(self._session)
        try:
            record = face({"lease": found["record"]}).record
            if record is None or found["place"] != self._place:
                return None
            return Held(
                record,
                str(found["tip"]),
                float(found["deadline"]),
                str(found["boot_id"]),
                bool(found["run"]),
            )
        except (KeyError, TypeError, ValueError):
            return None

    def keep(self, held: Held | None, session: str) -> None:
        """Keep a session, unless a newer one stands; None: forget it, if it still is this one."""
        with file_lock(self._folder / "lock"):
            standing = self.held()
            if held is None:
                if standing is None or standing.record.session == session:
                    self._session.unlink(missing_ok=True)
            elif standing is None or _rank(standing.record) <= _rank(held.record):
                kept = {name: getattr(held, name) for name in ("tip", "deadline", "boot_id", "run")}
                _write(self._session, {**kept, "place": self._place, "record": held.record.fields()})


def _rank(record: LeaseRecord) -> tuple[int, int]:
    return record.epoch, record.seq


def _top(seen: Face) -> dict[str, Any]:
    """A face as the top level of a state, from which it is read again."""
    lease = seen.record.fields() if seen.record else "unreadable" if seen.unreadable else None
    return {
        "lease": lease,
        "lease_epoch": seen.epoch,
        "lease_recent": list(seen.recent),
        "lease_previous": dict(seen.previous),
    }


def _read(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _write(path: Path, value: Mapping[str, Any]) -> None:
    atomic_write(path, json.dumps(value).encode("utf-8"), mode=0o600)
