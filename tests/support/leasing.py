"""Clones of one bare remote, the `lease` commands in them, real processes and a terminal."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.support.cli import Result, muniment
from tests.support.repo import Repo

BRANCH = "muniment/state"
LIMIT_SECONDS = 60.0
"""How long a condition may take to come true; a test that gets there has failed."""


def lease(repo: Repo, *arguments: str, branch: str | None = BRANCH) -> Result:
    """`muniment lease ARGUMENTS…` on the branch; None: in local mode."""
    shared = () if branch is None else ("--branch", branch)
    return muniment("lease", arguments[0], *shared, *arguments[1:], cwd=repo.path)


def said(repo: Repo, *arguments: str, branch: str | None = BRANCH) -> dict[str, Any]:
    """The JSON document of the same."""
    found: dict[str, Any] = lease(repo, *arguments, "--json", branch=branch).json
    return found


def until(true: Callable[[], Any]) -> Any:
    """Ask until the answer is true, and return it."""
    end = time.monotonic() + LIMIT_SECONDS
    while not (found := true()):
        assert time.monotonic() < end, "it never came true"
        time.sleep(0.02)
    return found


def program(repo: Repo, *arguments: str) -> list[str]:
    """The command line of a process of its own."""
    return [sys.executable, "-m", "muniment", "-C", str(repo.path), *arguments]


@contextmanager
def started(repo: Repo, *arguments: str) -> Iterator[subprocess.Popen[bytes]]:
    """A running muniment; killed at the end if it still runs."""
    child = subprocess.Popen(
        program(repo, *arguments), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    try:
        yield child
    finally:
        child.kill()
        child.wait()
        for pipe in filter(None, (child.stdout, child.stderr)):
            pipe.close()


def at_terminal(repo: Repo, *arguments: str, answers: str) -> tuple[int, str, str]:
    """Run at a terminal that a person types at: exit code, stdout, and what the terminal showed."""
    ours, theirs = pty.openpty()
    child = subprocess.Popen(
        program(repo, *arguments), stdin=theirs, stderr=theirs, stdout=subprocess.PIPE, start_new_session=True
    )
    os.close(theirs)
    os.write(ours, answers.encode())
    out, _ = child.communicate(timeout=LIMIT_SECONDS)
    shown = b""
    try:
        while piece := os.read(ours, 65536):
            shown += piece
    except OSError:  # Linux says so when nobody has the other end any more
        pass
    os.close(ours)
    return child.returncode, out.decode(), shown.decode()


def state_of(bare: Repo, branch: str = BRANCH) -> str:
    """The state file on the remote."""
    return bare.git("show", f"{branch}:state.yml")


def put_state(bare: Repo, folder: Path, text: str, branch: str = BRANCH) -> None:
    """Push a state by hand, as anybody may."""
    hand = bare.clone(folder)
    if bare.git("branch", "--list", branch):
        hand.git("checkout", "-q", branch)
    else:
        hand.git("checkout", "-q", "--orphan", branch)
    hand.write("state.yml", text)
    hand.commit("By hand", "state.yml")
    hand.git("push", "-q", "origin", f"HEAD:{branch}")
