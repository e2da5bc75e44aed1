"""A kill at any write leaves the old ledger or the new one, and a second run does it once (G4, G6)."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from muniment.ledger.history import verify
from muniment.ledger.store import Draft, load
from muniment.ledger.store_write import record
from muniment.workspace import Workspace, open_workspace
from tests.support.ledger import PATH
from tests.support.repo import Repo

KILLED = 9
SHIM = """
import os, sys
left = [int(sys.argv.pop(1))]
def dying(name):
    real = getattr(os, name)
    def call(*arguments, **more):
        left[0] -= 1
        if left[0] == 0:
            os._exit(9)
        return real(*arguments, **more)
    setattr(os, name, call)
for name in ("fsync", "rename", "replace", "unlink", "rmdir", "mkdir"):
    dying(name)
from muniment.cli.main import main
main(sys.argv[1:])
"""


def open_(repo: Repo) -> Workspace:
    return open_workspace(repo.path, {**os.environ, "MUNIMENT_NOW": "2026-02-01T00:00:00Z"})


def run(repo: Repo, kill_at: int, *arguments: str) -> int:
    """Run the command in a process that ends without a word at its k-th write; 0: it runs to its end."""
    done = subprocess.run(
        [sys.executable, "-c", SHIM, str(kill_at), "-C", str(repo.path), "ledger", *arguments],
        capture_output=True,
        check=False,
    )
    assert done.returncode in {0, KILLED}, done.stderr.decode()
    return done.returncode


def kill_everywhere(repo: Repo, step: int, *arguments: str) -> int:
    """Kill the command at the `step`-th write, then run it again in full; returns the first outcome."""
    first = run(repo, step, *arguments)
    assert run(repo, 0, *arguments) == 0
    return first


def test_add__killed_at_any_write_records_once(repo: Repo) -> None:
    record(open_(repo), Draft("note", {"text": "before"}))
    record(open_(repo), Draft("note", {"text": "with a cached tip"}))
    outcomes = []
    for step in range(1, 60):
        old = repo.read(PATH)
        add = ("add", "--kind", "note", "--data", json.dumps({"n": step}), "--op", f"op-{step}")
        outcomes.append(run(repo, step, *add))
        assert verify(open_(repo)).ok
        assert all(line in repo.read(PATH).split(b"\n") for line in old.split(b"\n"))
        assert run(repo, 0, *add) == 0
        ledger = load(open_(repo))
        assert ledger.verdict.ok
        assert [entry.data["n"] for entry in ledger.entries if entry.op == f"op-{step}"] == [step]
        assert len(ledger.entries) == step + 2
        if outcomes[-1] == 0:
            break
    assert outcomes[0] == KILLED
    assert outcomes[-1] == 0, "the loop has to reach the end of the command"
    assert [path.name for path in (repo.path / PATH).parent.iterdir()] == ["ledger.json"]


@pytest.mark.parametrize("step", [1, 3, 5, 8, 11, 14, 18, 22])
def test_expunge__killed_anywhere_is_done_once(repo: Repo, step: int) -> None:
    target = record(open_(repo), Draft("note", {"text": "the secret word"})).entries[0]
    repo.commit("before")
    kill_everywhere(repo, step, "expunge", target.id, "--reason", "asked", "--yes")
    ledger = load(open_(repo))
    assert (ledger.verdict.ok, ledger.verdict.expunged) == (True, (target.id,))
    assert [entry.kind for entry in ledger.entries] == ["note", "expunge"]
    assert b"secret" not in repo.read(PATH)
    assert repo.status() == ""
    assert len(repo.git("log", "--format=%h").split()) == 3
