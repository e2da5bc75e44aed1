"""A command under the lease doesn't outlive the process that keeps the lease for it (G9)."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from tests.support.leasing import lease, started, until
from tests.support.repo import Repo


def alive(pid: int) -> bool:
    """Whether a process runs; a zombie doesn't."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="it reads Linux's list of processes")
@pytest.mark.parametrize("hears", ["", "trap '' TERM; "], ids=["TERM", "KILL"])
def test_a_killed_run_takes_its_command_along(repo: Repo, hears: str) -> None:
    note = repo.path / "pids"
    script = f"{hears}sleep 300 & echo $$ $! > {note}.part; mv {note}.part {note}; wait; sleep 300"
    with started(repo, "lease", "run", "--ttl-minutes", "0.05", "--", "sh", "-c", script) as runner:
        pids = [int(word) for word in until(lambda: note.exists() and note.read_text().split())]
        assert all(alive(pid) for pid in pids)
        os.kill(runner.pid, signal.SIGKILL)
        until(lambda: not any(alive(pid) for pid in pids))
    assert lease(repo, "acquire", "--wait", "20", branch=None).out.split()[0] == "STALE-RECLAIMED"


def test_what_a_command_leaves_behind_on_purpose_stays(repo: Repo) -> None:
    note = repo.path / "pid"
    script = f"sleep 300 >/dev/null 2>&1 & echo $! > {note}"
    with started(repo, "lease", "run", "--", "sh", "-c", script) as runner:
        assert runner.wait(60) == 0
    pid = int(note.read_text())
    os.kill(pid, 0)
    os.kill(pid, signal.SIGKILL)
