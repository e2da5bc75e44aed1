"""Contend for one lease from real processes, each in a clone of its own, and judge what they witnessed.

Run as a program it is one worker. The witness file gets a line for each thing that a worker does, in order:
appends of one short line are whole, and all workers read one clock.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

BRANCH = "muniment/state"
_ROOT = Path(__file__).resolve().parents[2]


@dataclass(slots=True)
class Session:
    """One worker between its acquire and its end.

    Attributes:
        writer: Whose.
        begun: When the acquire had been answered.
        ended: When the critical section was over, or was known to be lost.
        stamps: For each call that was answered OK: when it was asked, and when it was answered.
    """

    writer: str
    begun: float
    ended: float = float("inf")
    stamps: list[tuple[float, float]] = field(default_factory=list)


@dataclass(slots=True)
class Seen:
    """What the witness file tells."""

    sessions: list[Session] = field(default_factory=list)
    acked: set[str] = field(default_factory=set)
    refused: set[str] = field(default_factory=set)
    words: list[str] = field(default_factory=list)


def start(clone: Path, writer: str, witness: Path, **plan: Any) -> subprocess.Popen[bytes]:
    """Start a worker in a process group of its own; `plan`: see `work`."""
    told = json.dumps({"clone": str(clone), "writer": writer, "witness": str(witness), **plan})
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join([str(_ROOT / "src"), str(_ROOT)])}
    return subprocess.Popen([sys.executable, __file__, told], env=environ, start_new_session=True)


def read(witness: Path) -> Seen:
    """The witness file, as sessions and tokens."""
    seen, current = Seen(), dict[str, Session]()
    for line in witness.read_text("utf-8").splitlines():
        told = json.loads(line)
        at, writer, event = told["at"], told["writer"], told["event"]
        seen.words.append(f"{event} {told.get('word', '')}".strip())
        if event == "open":
            current[writer] = Session(writer, at, stamps=[(told["asked"], at)])
            seen.sessions.append(current[writer])
        elif event == "write" and told["word"] == "OK":
            seen.acked.add(told["token"])
            current[writer].stamps.append((told["asked"], at))
        elif event == "write" and told["word"] == "LEASE-LOST":
            seen.refused.add(told["token"])
            current[writer].ended = min(current[writer].ended, at)
        elif event in {"close", "die"}:
            current[writer].ended = min(current[writer].ended, at)
    return seen


def overlaps(sessions: Sequence[Session], ttl: float) -> Iterator[tuple[Session, Session]]:
    """Sessions that were under way at once, though the earlier one's last stamp was younger than the ttl."""
    ordered = sorted(sessions, key=lambda one: one.begun)
    for at, one in enumerate(ordered):
        for other in ordered[at + 1 :]:
            stamp = max(asked for asked, answered in one.stamps if answered <= other.begun)
            if other.begun < one.ended and other.begun < stamp + ttl:
                yield one, other


def interleaved(tokens: Sequence[str]) -> list[str]:
    """Sessions whose tokens, in the branch's order, have another session's between them."""
    blocks: list[str] = []
    for token in tokens:
        session = token.rpartition("-")[0]
        if not blocks or blocks[-1] != session:
            blocks.append(session)
    return sorted({one for one in blocks if blocks.count(one) > 1})


def tokens_of(text: str) -> list[str]:
    """The tokens in a text, in order."""
    return re.findall(r"tok-[\w.]+-\d+-\d+", text)


# The worker


def work(  # noqa: PLR0917 - the plan's own names
    clone: str, writer: str, witness: str, ttl: float, sessions: int, writes: int, dies: int, wait: float
) -> None:
    """Acquire, write and release again and again, through the library.

    Args:
        clone: Where.
        writer: Who.
        witness: The witness file.
        ttl: Seconds.
        sessions: How many sessions to have.
        writes: How many tokens each writes.
        dies: In which session to be killed, after its first write; 0 for none.
        wait: Seconds to wait for the lease.
    """
    from muniment.lease_engine import open_shared  # noqa: PLC0415 - the parent needs none of this
    from muniment.lease_open import open_lease  # noqa: PLC0415 - as above
    from muniment.state.operations import upsert_item  # noqa: PLC0415 - as above
    from muniment.workspace import open_workspace  # noqa: PLC0415 - as above

    descriptor = os.open(witness, os.O_WRONLY | os.O_APPEND | os.O_CREAT)

    def tell(event: str, **more: Any) -> None:
        line = {"at": time.monotonic(), "writer": writer, "event": event, **more}
        os.write(descriptor, f"{json.dumps(line)}\n".encode())

    had = 0
    while had < sessions:
        ws = open_workspace(Path(clone))
        lease, state = open_lease(ws, BRANCH, None), open_shared(ws, BRANCH, None)
        asked = time.monotonic()
        result = lease.acquire(writer, ttl, wait=wait)
        if result.held is None:
            tell("refused", word=str(result.status))
            continue
        had += 1
        tell("open", asked=asked, word=str(result.status))
        for at in range(writes):
            token, asked = f"tok-{writer}-{had}-{at}", time.monotonic()
            act = partial(upsert_item, source="bench", native=token, fields={"status": "ingested"})
            done = state.held(act, writer, "")
            tell("write", token=token, asked=asked, word=str(done.word))
            if dies == had:
                tell("die")
                os.kill(os.getpid(), signal.SIGKILL)
            if done.word == "LEASE-LOST":
                break
        tell("close")
        held = lease.own(writer)
        tell("release", word=str(lease.release(held).status) if held else "LEASE-LOST")


if __name__ == "__main__":
    work(**json.loads(sys.argv[1]))
