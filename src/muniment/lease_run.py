"""Run a command under the lease: kept by a heartbeat, stopped before the lease can be another's (G9).

The command gets a process group of its own, so that stopping it reaches its children too. Whatever the
heartbeat's thread waits for, the thread that watches the command keeps to the holder's deadline.
"""

from __future__ import annotations

import math
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

from muniment.errors import MunimentError, UsageProblem
from muniment.lease_answer import Lease, LeaseAnswer, answer
from muniment.state.lease import Memory
from muniment.state.requests import Held, Result, Status

GRACE_SECONDS = 5.0
"""The longest that a command gets between TERM and KILL."""
GRACE_SHARE = 0.2
"""The same as a share of a short ttl."""
BEAT_SHARE = 1 / 3
"""The heartbeat's interval as a share of the ttl."""
AGAIN_SHARE, MAX_AGAIN_SECONDS = 1 / 30, 5.0
"""After a heartbeat that failed, the next one comes sooner."""
LOOK_SECONDS = 0.1
"""How often the command is looked after."""
NOT_FOUND, NOT_RUNNABLE = 127, 126
_GUARD = """
read -r group grace || exit 0
read -r over && exit 0
kill -s TERM -- "-$group"
sleep "$grace"
kill -s KILL -- "-$group"
"""
"""What a shell beside the command does: nothing, unless this process is gone without a word."""
_FORWARDED = ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2")


@dataclass(frozen=True, slots=True)
class Ran:
    """What became of a command.

    Attributes:
        exit_code: Its own; 128 and the signal's number when one ended it. 3 when it was stopped for want
            of the lease, and yet said 0.
        taken: How the lease was got.
        ended: How it was given back, or what was lost; None when the command was never started.
        why: Why the command was stopped or not started, for people.
    """

    exit_code: int
    taken: LeaseAnswer | None
    ended: LeaseAnswer | None = None
    why: str = ""


@dataclass(slots=True)
class _Heartbeat:
    """Renews the lease from a thread until told to stop; `lost` says why it can't any more."""

    lease: Lease
    session: str
    ttl: float
    over: threading.Event = field(default_factory=threading.Event)
    lost: Result | None = None
    trouble: str = ""

    def beat(self) -> None:
        """Renew again and again; ends when the lease is lost."""
        pause = self.ttl * BEAT_SHARE
        while not self.over.wait(pause):
            held = kept(self.lease, self.session)
            if held is None:
                self.lost = self.lease.status()
                return
            try:
                result = self.lease.renew(held)
            except MunimentError as error:
                self.trouble = error.message
                pause = min(self.ttl * AGAIN_SHARE, MAX_AGAIN_SECONDS)
                continue
            if result.status in {Status.LEASE_LOST, Status.REMOTE_REWOUND}:
                self.lost = result
                return
            well = result.status is Status.OK
            pause = self.ttl * BEAT_SHARE if well else min(self.ttl * AGAIN_SHARE, MAX_AGAIN_SECONDS)
            self.trouble = "" if well else " ".join((result.status, *result.words.split()))


def kept(lease: Lease, session: str) -> Held | None:
    """What this worktree keeps of a session; None when it was given back or lost."""
    held = lease.kept()
    return held if held is not None and held.record.session == session else None


def run(
    lease: Lease,
    command: Sequence[str],
    *,
    writer: str,
    ttl: float,
    wait: float = 0.0,
    folder: Path | None = None,
    stdout: int | None = None,
) -> Ran:
    """Hold the lease while a command runs.

    Args:
        lease: The lease.
        command: The program and its arguments.
        writer: Who holds it.
        ttl: Seconds.
        wait: Seconds to wait for it.
        folder: Where the command runs; None: here.
        stdout: Where its output goes, as a file descriptor; None: to this process's own.

    Raises:
        UsageProblem: This system has no process groups.
    """
    if os.name == "nt":  # pragma: no cover - exercised on Windows only
        raise UsageProblem("`lease run` needs process groups, which Windows doesn't have.")
    missing = _missing(command[0], lease.ws.environ, folder)
    if missing:
        return Ran(missing, None, why=f"{command[0]}: no such command; the lease wasn't asked for.")
    result = lease.acquire(writer, ttl, wait=wait, run=True)
    taken = answer(result, lease.mode, writer)
    if result.held is None or taken.exit_code:
        return Ran(taken.exit_code, taken)
    session = result.held.record.session
    try:
        code, lost, why = _watched(lease, result.held, command, folder, stdout)
    except OSError as error:
        code, lost, why = NOT_RUNNABLE, None, f"{command[0]} could not be started: {error.strerror}."
    if lost is not None:
        return Ran(code or 3, taken, answer(lost, lease.mode, writer, session), why)
    held = kept(lease, session)
    given = lease.release(held) if held else Result(Status.LEASE_LOST, None, result.memory)
    return Ran(code, taken, answer(given, lease.mode, writer, session), why)


def _missing(program: str, environ: Mapping[str, str], folder: Path | None) -> int:
    """The shell's exit code for a program that isn't there or can't be run; 0 for one that can."""
    import shutil  # noqa: PLC0415 - start-up of other modules stays light

    if os.sep not in program:
        return 0 if shutil.which(program, path=environ.get("PATH")) else NOT_FOUND
    path = (folder or Path()) / program
    if not path.exists():
        return NOT_FOUND
    return 0 if path.is_file() and os.access(path, os.X_OK) else NOT_RUNNABLE


def _watched(
    lease: Lease, held: Held, command: Sequence[str], folder: Path | None, stdout: int | None
) -> tuple[int, Result | None, str]:
    """Run the command with a heartbeat: its exit code, and what was lost and why when it was stopped."""
    record = held.record
    environ = {
        **lease.ws.environ,
        "MUNIMENT_WRITER": record.writer,
        "MUNIMENT_LEASE_EPOCH": str(record.epoch),
        "MUNIMENT_LEASE_SESSION": record.session,
    }
    heart = _Heartbeat(lease, record.session, record.ttl)
    with _forwarding() as signals, _guard() as guard:
        child = subprocess.Popen(command, env=environ, cwd=folder, stdout=stdout, process_group=0)
        guard(f"{child.pid} {math.ceil(_grace(record.ttl))}")
        signals.begin(child.pid)
        thread = threading.Thread(target=heart.beat, daemon=True)
        thread.start()
        try:
            with _foreground(child.pid):
                return _until_over(lease, held, child, heart)
        except BaseException:
            _stop(lease, child, 0.0)
            raise
        finally:
            heart.over.set()
            thread.join(GRACE_SECONDS)


def _until_over(
    lease: Lease, held: Held, child: subprocess.Popen[bytes], heart: _Heartbeat
) -> tuple[int, Result | None, str]:
    grace = _grace(held.record.ttl)
    while True:
        with suppress(subprocess.TimeoutExpired):
            return _code(child.wait(LOOK_SECONDS)), None, ""
        _continue(child.pid)
        now = lease.ws.instant()
        if heart.lost is not None:
            _stop(lease, child, min(now.boot + grace, held.deadline))
            return _code(child.returncode), heart.lost, "The lease was lost, so the command was stopped."
        if now.boot >= held.deadline - grace or now.boot_id != held.boot_id:
            standing = kept(lease, held.record.session)
            if standing is not None and standing.deadline > held.deadline:
                held = standing
                continue
            _stop(lease, child, held.deadline)
            why = f" ({heart.trouble})" if heart.trouble else ""
            lost = Result(Status.LEASE_LOST, None, Memory())
            said = f"The lease couldn't be renewed in time{why}, so the command was stopped."
            return _code(child.returncode), lost, said


def _grace(ttl: float) -> float:
    return min(GRACE_SECONDS, ttl * GRACE_SHARE)


@contextmanager
def _guard() -> Iterator[Callable[[str], None]]:
    """A shell that stops the command if this process is killed: the pipe to it ends without a word then.

    The block gets what tells it the command's process group, and how many seconds lie between TERM and KILL.
    """
    shell = subprocess.Popen(
        ["/bin/sh", "-c", _GUARD],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )

    def tell(words: str) -> None:
        assert shell.stdin is not None  # noqa: S101 - it is a pipe
        with suppress(OSError):  # somebody killed the guard; the command goes on without it
            shell.stdin.write(f"{words}\n".encode("ascii"))
            shell.stdin.flush()

    try:
        yield tell
    finally:
        tell("over")
        tell("over")
        with suppress(OSError):
            shell.communicate()


def _stop(lease: Lease, child: subprocess.Popen[bytes], until: float) -> None:
    """TERM for the command's whole group; KILL for what is left at `until` on the boot clock."""
    _signal(child.pid, signal.SIGTERM)
    _signal(child.pid, signal.SIGCONT)
    while lease.ws.boot() < until:
        with suppress(subprocess.TimeoutExpired):
            child.wait(LOOK_SECONDS / 2)
            if not _signal(child.pid, 0):
                return
            lease.ws.sleep(LOOK_SECONDS / 2)
    _signal(child.pid, signal.SIGKILL)
    child.wait()


def _signal(group: int, number: int) -> bool:
    """Send a signal to a process group; whether there was anybody left to get it."""
    try:
        os.killpg(group, number)
    except (ProcessLookupError, PermissionError):
        return False
    return True


def _code(returned: int) -> int:
    """An exit code as a shell says it."""
    return 128 - returned if returned < 0 else returned


@dataclass(slots=True)
class _Signals:
    """Hands signals on to the command, those that came before it began too."""

    group: int = 0
    early: list[int] = field(default_factory=list)

    def begin(self, group: int) -> None:
        """Name the command's process group."""
        self.group = group
        for number in self.early:
            _signal(group, number)

    def hand_on(self, number: int, _frame: FrameType | None) -> None:
        """The handler."""
        if self.group:
            _signal(self.group, number)
        else:
            self.early.append(number)


@contextmanager
def _forwarding() -> Iterator[_Signals]:
    """Forward signals to the command while the block runs; only the main thread can."""
    signals = _Signals()
    if threading.current_thread() is not threading.main_thread():
        yield signals
        return
    numbers = [getattr(signal, name) for name in _FORWARDED if hasattr(signal, name)]
    before = {
        number: signal.signal(number, signals.hand_on)
        for number in numbers
        if signal.getsignal(number) is not signal.SIG_IGN
    }
    try:
        yield signals
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _terminal() -> int | None:
    """The terminal on standard input when this process has the foreground of it."""
    try:
        number = sys.stdin.fileno()
        return number if os.isatty(number) and os.tcgetpgrp(number) == os.getpgrp() else None
    except (OSError, ValueError):
        return None


@contextmanager
def _foreground(group: int) -> Iterator[None]:
    """Give the terminal to the command, so that it may read and ^C reaches it; take it back afterwards."""
    terminal = _terminal()
    if terminal is None:
        yield
        return
    ignored = signal.signal(signal.SIGTTOU, signal.SIG_IGN)
    try:
        with suppress(OSError):
            os.tcsetpgrp(terminal, group)
            _signal(group, signal.SIGCONT)  # it may have asked for the terminal already
        yield
    finally:
        with suppress(OSError):
            os.tcsetpgrp(terminal, os.getpgrp())
        signal.signal(signal.SIGTTOU, ignored)


def _continue(child: int) -> None:
    """A command that ^Z suspended goes on: no shell would, and the lease is being kept meanwhile."""
    with suppress(ChildProcessError):
        found = os.waitid(os.P_PID, child, os.WSTOPPED | os.WNOHANG)
        if found is not None and found.si_status == signal.SIGTSTP:
            _signal(child, signal.SIGCONT)
