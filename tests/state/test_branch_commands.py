"""`muniment state --branch`: the whole protocol on a shared branch, by the commands themselves."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.git import hook, snapshot
from tests.support.repo import Repo
from tests.support.transports import logging_git

BRANCH = "muniment/state"


def run(repo: Repo, *arguments: str, stdin: str = "", **environ: str) -> tuple[str, Any, str]:
    """The word, the value of line 2, and what went to people; the exit code must be 0."""
    done = subprocess.run(
        [sys.executable, "-m", "muniment", "-C", str(repo.path), "state", *arguments],
        input=stdin, capture_output=True, text=True, check=False, env={**os.environ, **environ},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    word, _, rest = done.stdout.partition("\n")
    return word, json.loads(rest) if rest else None, done.stderr


def on(repo: Repo, command: str, *arguments: str, stdin: str = "") -> tuple[str, Any, str]:
    return run(repo, command, "--branch", BRANCH, *arguments, stdin=stdin)


def put(repo: Repo, native: str, fields: str = "{}", *more: str, writer: str = "w") -> str:
    given = ("--source", "inbox", "--id", native, "--json", fields, "--writer", writer, *more)
    return on(repo, "upsert-item", *given)[0]


@pytest.fixture
def bare(repo: Repo, tmp_path: Path) -> Repo:
    return repo.bare_remote(tmp_path / "bare.git")


def test_the_protocol_on_a_branch(repo: Repo, bare: Repo, tmp_path: Path) -> None:
    before = snapshot(repo)
    assert on(repo, "read")[0] == "NO-STATE"
    assert on(repo, "cursor-get", "--source", "inbox")[:2] == ("OK", {"cursor": None})
    assert put(repo, "1") == "LEASE-LOST"
    assert on(repo, "lease-acquire", "--writer", "w")[0] == "OK"
    assert on(repo, "lease-acquire", "--writer", "w")[0] == "OK"
    assert put(repo, "1", '{"title": "One"}') == "OK"
    assert put(repo, "1", writer="other") == "LEASE-LOST"
    passing = ("cursor-advance", "--source", "inbox", "--to", "5", "--writer", "w", "--past-item")
    assert on(repo, *passing, "9")[0] == "REFUSED"
    assert on(repo, *passing, "1")[0] == "OK"
    lines = '{"op": "upsert-item", "source": "inbox", "id": "2", "json": {"status": "closed"}}\n'
    assert on(repo, "batch", "--writer", "w", stdin=lines)[:2] == ("OK", {"operations": 1})
    assert on(repo, "validate")[:2] == ("OK", {"downgraded": ["inbox:2"]})
    recorded = ("run-record", "--writer", "w", "--outcome", "completed", "--counts", "{}")
    assert on(repo, *recorded)[0] == "OK"
    other = bare.clone(tmp_path / "other")
    assert on(other, "lease-acquire", "--writer", "w")[0] == "LOCKED"
    assert put(other, "3") == "LEASE-LOST"
    assert on(other, *recorded)[0] == "LEASE-LOST"
    assert on(other, "lease-release", "--writer", "w")[0] == "LEASE-LOST"
    word, value, _ = on(other, "read")
    assert (word, value["items"]["inbox:1"]["title"], value["lease"]["writer"]) == ("OK", "One", "w")
    assert value["sources"] == {"inbox": {"cursor": "5"}}
    assert on(repo, "compact", "--writer", "w")[0] == "OK"
    assert bare.git("rev-list", "--count", BRANCH) == "1"
    assert "Replaces: " in bare.git("log", "--format=%B", BRANCH)
    assert put(repo, "4") == "OK"
    assert on(repo, "lease-release", "--writer", "w")[0] == "OK"
    assert on(repo, "lease-release", "--writer", "w")[0] == "OK"
    assert on(other, "lease-acquire", "--writer", "w2")[0] == "OK"
    assert sorted(on(other, "read")[1]["items"]) == ["inbox:1", "inbox:2", "inbox:4"]
    bare.git("fsck", "--strict")
    assert snapshot(repo) == before


@pytest.mark.usefixtures("bare")
def test_without_a_writer__the_lease_of_this_worktree_counts(repo: Repo) -> None:
    upsert = ("upsert-item", "--source", "inbox", "--id", "1", "--json", "{}")
    assert on(repo, *upsert)[0] == "LEASE-LOST"
    assert on(repo, "lease-acquire")[0] == "OK"
    assert on(repo, "lease-acquire")[0] == "LOCKED"
    assert on(repo, *upsert)[0] == "OK"
    assert run(repo, *upsert, "--branch", BRANCH, MUNIMENT_WRITER="other")[0] == "LEASE-LOST"
    assert on(repo, "lease-release")[0] == "OK"


def test_session_and_epoch_fence_a_write(repo: Repo, bare: Repo, tmp_path: Path) -> None:
    assert on(repo, "lease-acquire", "--writer", "w")[0] == "OK"
    lease = on(repo, "read")[1]["lease"]
    mine = ("--session", lease["session"], "--epoch", str(lease["epoch"]))
    assert put(repo, "1", "{}", *mine) == "OK"
    assert put(repo, "2", "{}", "--session", "0" * 32) == "LEASE-LOST"
    assert put(repo, "2", "{}", "--epoch", str(lease["epoch"] + 1)) == "LEASE-LOST"
    linked = Repo(tmp_path / "linked")
    repo.git("worktree", "add", "-q", "--detach", str(linked.path))
    assert put(linked, "3") == "LEASE-LOST"
    assert put(linked, "3", "{}", *mine) == "OK"
    assert sorted(on(repo, "read")[1]["items"]) == ["inbox:1", "inbox:3"]
    assert bare.git("rev-list", "--count", BRANCH) == "3"


def test_import_of_an_older_tracker(repo: Repo, bare: Repo) -> None:
    assert bare.path.exists()
    old = {"channels": {"C1": {"last_processed_ts": "9"}}, "items": {"slack:7": {"status": "analyzed"}}}
    repo.write("old.json", json.dumps(old))
    given = ("import-legacy", "--file", "old.json", "--source-map", '{"C1": "slack"}', "--writer", "w")
    assert on(repo, *given)[0] == "LEASE-LOST"
    on(repo, "lease-acquire", "--writer", "w")
    assert on(repo, *given)[:2] == ("OK", {"cursors_imported": 1, "items_imported": 1})
    assert "slack:7" in on(repo, "read")[1]["items"]


def test_trouble_has_its_words(repo: Repo, bare: Repo) -> None:
    on(repo, "lease-acquire", "--writer", "w")
    put(repo, "1")
    hook(bare, "pre-receive", "echo 'main is closed' >&2; exit 1")
    word, _, said = on(repo, "upsert-item", "--source", "s", "--id", "2", "--json", "{}", "--writer", "w")
    assert word == "REJECTED-POLICY"
    assert "main is closed" in said
    assert "sweep_shared_branch" in said
    (bare.path / "hooks" / "pre-receive").unlink()
    away = bare.path.with_name("away.git")
    bare.path.rename(away)
    assert put(repo, "3") == "OFFLINE"
    word, value, said = on(repo, "read")
    assert (word, sorted(value["items"])) == ("OK", ["inbox:1"])
    assert "minutes ago" in said
    away.rename(bare.path)
    assert put(repo, "3") == "OK"
    assert put(repo, "4", '{"title": "Call +49 151 2345 6789"}') == "ERROR"
    assert put(repo, "4") == "OK"
    assert sorted(on(repo, "read")[1]["items"]) == ["inbox:1", "inbox:3", "inbox:4"]


@pytest.mark.parametrize(
    "given",
    [
        ("read",),
        ("read", "--branch", BRANCH, "--state", "x.yml"),
        ("read", "--state", "x.yml", "--session", "a"),
        ("read", "--branch", BRANCH, "--remote", "nowhere"),
        ("compact", "--state", "x.yml"),
        ("read", "--branch", BRANCH, "--epoch", "0"),
        ("lease-acquire", "--branch", BRANCH, "--ttl-minutes", "0"),
    ],
)
def test_misuse_exits_2(given: tuple[str, ...], repo: Repo, bare: Repo) -> None:
    assert bare.path.exists()
    command = [sys.executable, "-m", "muniment", "-C", str(repo.path), "state", *given]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")


def test_broken_settings_stop_writes(repo: Repo, bare: Repo) -> None:
    assert bare.path.exists()
    on(repo, "lease-acquire", "--writer", "w")
    repo.write(".muniment/config.yaml", "feedback_sources: nonsense\n")
    with pytest.raises(AssertionError, match="feedback_sources"):
        put(repo, "1")


def test_a_write_takes_two_git_processes(
    repo: Repo, bare: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert bare.path.exists()
    on(repo, "lease-acquire", "--writer", "w")
    log = tmp_path / "log"
    monkeypatch.setenv("PATH", logging_git(tmp_path / "bin", log) + os.pathsep + os.environ["PATH"])
    assert put(repo, "1") == "OK"
    asked = [line.split(" ", 2)[2] for line in log.read_text().splitlines()]
    assert [line.split()[0] for line in asked] == ["config", "push"], asked
    log.write_text("")
    on(repo, "lease-acquire", "--writer", "w2")
    asked = [line for line in log.read_text().splitlines() if "cat-file" not in line]
    assert len(asked) <= 3, asked


@pytest.mark.usefixtures("bare")
def test_writers_of_one_worktree_take_turns(repo: Repo) -> None:
    assert on(repo, "lease-acquire", "--writer", "w")[0] == "OK"
    command = [sys.executable, "-m", "muniment", "-C", str(repo.path), "state", "upsert-item"]
    given = ["--branch", BRANCH, "--source", "inbox", "--writer", "w", "--json", "{}", "--id"]
    running = [subprocess.Popen([*command, *given, str(one)], stdout=subprocess.PIPE) for one in range(6)]
    assert [one.communicate()[0].split() for one in running] == [[b"OK"]] * 6
    assert len(on(repo, "read")[1]["items"]) == 6


@pytest.mark.usefixtures("bare")
@pytest.mark.parametrize("name", ["bad..name", "a b", "x.lock", "a//b", ".a", "@", "a~1"])
def test_a_name_that_no_branch_can_have__is_misuse(name: str, repo: Repo) -> None:
    command = [sys.executable, "-m", "muniment", "-C", str(repo.path), "state", "read", "--branch", name]
    assert subprocess.run(command, capture_output=True, check=False).returncode == 2
