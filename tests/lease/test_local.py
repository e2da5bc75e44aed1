"""The lease of one clone: whatever the worktree, branch or writer; by the boot clock; and for the plan."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from muniment.files import file_lock
from muniment.lease_local import LocalLease
from muniment.state.requests import Status
from muniment.workspace import open_workspace
from tests.support.cli import muniment
from tests.support.leasing import lease, said
from tests.support.repo import Repo

HELD = "lease: {writer: ann, timestamp: '2026-11-30T10:00:00Z', ttl_minutes: 60, epoch: 4}\n"


class Clock:
    """A boot clock that a test turns."""

    def __init__(self) -> None:
        self.seconds = 1_000.0
        self.boot = "one"

    def lease(self, repo: Repo) -> LocalLease:
        ws = open_workspace(repo.path)
        return LocalLease(
            replace(ws, boot=lambda: self.seconds, boot_id=lambda: self.boot, sleep=self.pass_by)
        )

    def pass_by(self, seconds: float) -> None:
        self.seconds += seconds


@pytest.fixture
def second(repo: Repo, tmp_path: Path) -> Repo:
    repo.git("worktree", "add", "-q", "-b", "side", str(tmp_path / "second"))
    return Repo(tmp_path / "second")


def test_one_lease_for_all_worktrees(repo: Repo, second: Repo) -> None:
    mine = said(repo, "acquire", "--writer", "ann", branch=None)
    assert (mine["status"], mine["mode"], mine["epoch"], mine["commit"]) == ("OK", "local", 1, None)
    assert said(repo, "acquire", "--writer", "ann", branch=None)["session"] == mine["session"]
    for writer in ("ann", "bob"):
        found = lease(second, "acquire", "--writer", writer, "--json", branch=None)
        assert (found.code, found.json["status"], found.json["holder"]) == (3, "LOCKED", "ann")
    assert said(second, "renew", branch=None)["status"] == "LEASE-LOST"
    assert said(second, "release", branch=None)["status"] == "LEASE-LOST"
    assert said(repo, "status", branch=None)["status"] == "OK"
    assert said(repo, "release", branch=None)["status"] == "OK"
    assert said(second, "acquire", "--writer", "bob", branch=None)["epoch"] == 2
    assert repo.status() == ""


def test_it_runs_out_by_the_boot_clock_alone(repo: Repo, second: Repo) -> None:
    clock = Clock()
    ann, bob = clock.lease(repo), clock.lease(second)
    assert ann.acquire("ann", 120.0).status is Status.OK
    clock.seconds += 119
    assert bob.acquire("bob", 120.0).retry_after == pytest.approx(1.0)
    held = ann.own("ann")
    assert held
    assert ann.renew(held).status is Status.LEASE_LOST, "the holder stops before the others may begin"
    clock.seconds += 1
    assert bob.acquire("bob", 120.0, reclaim=False).status is Status.LOCKED
    taken = bob.acquire("bob", 120.0)
    assert taken.status is Status.STALE_RECLAIMED
    assert taken.held
    assert (taken.held.record.epoch, taken.held.record.previous["writer"]) == (2, "ann")
    assert ann.renew(held).status is Status.LEASE_LOST
    assert ann.own("ann") is None


def test_another_boot_ends_it(repo: Repo, second: Repo) -> None:
    clock = Clock()
    held = clock.lease(repo).acquire("ann", 120.0).held
    clock.boot = "two"
    clock.seconds = 1.0
    assert held
    assert clock.lease(repo).renew(held).status is Status.LEASE_LOST
    assert clock.lease(second).acquire("bob", 120.0).status is Status.STALE_RECLAIMED


def test_wait_ends_when_it_runs_out(repo: Repo, second: Repo) -> None:
    clock = Clock()
    clock.lease(repo).acquire("ann", 120.0)
    assert clock.lease(second).acquire("bob", 9.0, wait=70.0).status is Status.LOCKED
    assert clock.lease(second).acquire("bob", 9.0, wait=60.0).status is Status.STALE_RECLAIMED
    assert clock.lease(repo).acquire("ann", 9.0, wait=60.0, reclaim=False).retry_after == 0
    assert clock.seconds < 1_131, "a stale lease that isn't to be taken ends the waiting"


def test_the_epoch_grows_whatever_happens_to_the_file(repo: Repo) -> None:
    said(repo, "acquire", "--writer", "ann", branch=None)
    said(repo, "release", branch=None)
    assert said(repo, "acquire", "--writer", "ann", branch=None)["epoch"] == 2
    (repo.path / ".git/muniment/local-lease.json").unlink()
    assert said(repo, "acquire", "--writer", "cid", branch=None)["epoch"] == 3


@pytest.mark.parametrize("text", ["", "[]", "{", '{"lease": {"writer": 1}, "boot": 1, "boot_id": ""}'])
def test_a_file_that_cannot_be_read_is_live_until_it_is_broken(repo: Repo, text: str) -> None:
    repo.write(".git/muniment/local-lease.json", text)
    found = lease(repo, "acquire", branch=None)
    assert (found.code, found.out.split()[0]) == (3, "LOCKED")
    assert "can't be read" in found.out
    token = said(repo, "break", "--reason", "torn", "--preview", branch=None)["token"]
    assert said(repo, "break", "--reason", "torn", "--confirm", token, branch=None)["status"] == "OK"
    assert said(repo, "acquire", branch=None)["status"] == "OK"


def test_break_raises_the_epoch_and_stops_the_holder(repo: Repo, second: Repo) -> None:
    said(repo, "acquire", "--writer", "ann", branch=None)
    token = said(second, "break", "--reason", "gone", "--preview", branch=None)["token"]
    assert lease(second, "break", "--reason", "gone", branch=None).code == 3
    done = said(second, "break", "--reason", "gone", "--confirm", token, branch=None)
    assert (done["status"], done["epoch"], done["previous"]["reason"]) == ("OK", 2, "gone")
    assert said(repo, "renew", branch=None)["status"] == "LEASE-LOST"
    used = lease(second, "break", "--reason", "gone", "--confirm", token, branch=None)
    assert used.code == 3
    assert "acted on" in used.err


def test_a_live_lease_in_the_state_file_is_honoured(
    repo: Repo, second: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = open_workspace(repo.path).config.sweep_state_path
    repo.write(path, f"schema_version: 1\n{HELD}items: {{}}\n")
    monkeypatch.setenv("MUNIMENT_NOW", "2026-11-30T10:30:00Z")
    found = said(repo, "acquire", "--writer", "bob", branch=None)
    assert (found["status"], found["holder"], found["retry_after"]) == ("LOCKED", "ann", 1800)
    assert said(repo, "status", branch=None)["holder"] == "ann"
    assert said(second, "acquire", "--writer", "bob", branch=None)["status"] == "OK", "not its state file"
    said(second, "release", branch=None)
    assert said(repo, "acquire", "--writer", "ann", branch=None)["status"] == "OK", "there the name counts"
    said(repo, "release", branch=None)
    monkeypatch.setenv("MUNIMENT_NOW", "2026-11-30T11:30:00Z")
    assert said(repo, "acquire", "--writer", "bob", branch=None)["status"] == "OK"


@pytest.mark.parametrize("taken", ["soon", "2999-01-01T00:00:00Z"])
def test_an_unreadable_or_future_time_in_the_state_file_is_live(repo: Repo, taken: str) -> None:
    path = open_workspace(repo.path).config.sweep_state_path
    repo.write(path, f"schema_version: 1\nlease: {{writer: ann, timestamp: '{taken}', ttl_minutes: 1}}\n")
    found = said(repo, "acquire", "--writer", "bob", branch=None)
    assert (found["status"], found["holder"]) == ("LOCKED", "ann")
    assert found["retry_after"] != 0, "nobody may take it for stale"


# The plan


@pytest.fixture
def planned(repo: Repo) -> Callable[..., int]:
    path = open_workspace(repo.path).config.sweep_state_path
    repo.write(path, "schema_version: 1\nitems: {}\n")

    def reconcile(*arguments: str, where: Repo = repo) -> int:
        return muniment("plan", "reconcile", *arguments, cwd=where.path).code

    return reconcile


def test_a_reconcile_is_kept_out_by_anothers_lease(
    repo: Repo, planned: Callable[..., int], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert planned() == 0
    said(repo, "acquire", "--writer", "ann", branch=None)
    assert planned() == 3
    assert planned("--writer", "bob") == 3
    assert planned("--writer", "ann") == 0
    monkeypatch.setenv("MUNIMENT_WRITER", "ann")
    assert planned() == 0
    monkeypatch.delenv("MUNIMENT_WRITER")
    said(repo, "release", branch=None)
    assert planned() == 0


def test_a_reconcile_in_another_worktree_is_kept_out(
    repo: Repo, second: Repo, planned: Callable[..., int]
) -> None:
    path = open_workspace(repo.path).config.sweep_state_path
    second.write(path, "schema_version: 1\nitems: {}\n")
    said(repo, "acquire", "--writer", "ann", branch=None)
    assert planned("--writer", "ann", where=second) == 3


def test_a_lease_waits_for_a_running_reconcile(repo: Repo, planned: Callable[..., int]) -> None:
    assert planned() == 0
    with file_lock(repo.path / ".git/muniment/local-lease.lock"):
        found = lease(repo, "acquire", "--writer", "ann", "--json", branch=None)
        assert (found.code, found.json["status"], found.json["holder"]) == (3, "LOCKED", None)
    assert said(repo, "acquire", "--writer", "ann", "--wait", "5", branch=None)["status"] == "OK"


def test_the_lease_in_the_state_file_keeps_a_reconcile_out(
    repo: Repo, planned: Callable[..., int], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = open_workspace(repo.path).config.sweep_state_path
    monkeypatch.setenv("MUNIMENT_NOW", "2026-11-30T10:30:00Z")
    repo.write(path, f"schema_version: 1\n{HELD}items: {{}}\n")
    assert planned() == 3
    assert planned("--writer", "ann") == 0
