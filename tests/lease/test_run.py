"""`muniment lease run` with real processes: exit codes, the heartbeat, signals, and a lease that is lost."""

from __future__ import annotations

import json
import os
import signal
import sys
from functools import partial
from pathlib import Path

import pytest

from tests.support.cli import muniment
from tests.support.leasing import BRANCH, at_terminal, lease, said, started, state_of, until
from tests.support.repo import Repo

RUN = ("lease", "run", "--branch", BRANCH)
SHORT = ("--ttl-minutes", "0.05")


@pytest.fixture
def bare(repo: Repo, tmp_path: Path) -> Repo:
    return repo.bare_remote(tmp_path / "bare.git")


@pytest.fixture
def other(bare: Repo, tmp_path: Path) -> Repo:
    return bare.clone(tmp_path / "other")


def script(*lines: str) -> tuple[str, ...]:
    return ("--", "sh", "-c", "\n".join(lines))


def test_the_command_holds_it_and_it_is_given_back(repo: Repo, bare: Repo) -> None:
    put = f"{sys.executable} -m muniment state upsert-item --branch {BRANCH} --source s --id 1 --json '{{}}'"
    lines = script(
        put, 'echo "$MUNIMENT_WRITER $MUNIMENT_LEASE_EPOCH $MUNIMENT_LEASE_SESSION"', "pwd", "exit 7"
    )
    with started(repo, *RUN, "--writer", "ann", *lines) as running:
        out, _ = running.communicate()
    assert running.returncode == 7
    word, told, folder = out.decode().splitlines()
    assert word == "OK", "the command writes under the session around it"
    assert told.split()[:2] == ["ann", "1"]
    assert len(told.split()[2]) == 32
    assert Path(folder).samefile(repo.path)
    assert "\nlease:" not in state_of(bare)
    assert said(repo, "status")["previous"]["ended"] == "released"
    assert bare.git("log", "--format=%s", BRANCH).splitlines() == [
        "Release the lease of ann",
        "Update the state",
        "Acquire the lease for ann",
    ]


@pytest.mark.parametrize(
    ("command", "code"),
    [(("true",), 0), (("sh", "-c", "kill -KILL $$"), 137), (("no-such-command",), 127), (("/",), 126)],
)
def test_the_exit_code_is_the_commands(repo: Repo, bare: Repo, command: tuple[str, ...], code: int) -> None:
    assert lease(repo, "run", "--", *command).code == code
    if code >= 126 and code < 128:
        assert not bare.git("branch", "--list", BRANCH), "nothing was asked for"
    assert said(repo, "status")["status"] == "FREE"


def test_without_the_lease_nothing_is_started(repo: Repo, bare: Repo, other: Repo, tmp_path: Path) -> None:
    said(other, "acquire", "--writer", "bob")
    mark = tmp_path / "mark"
    refused = lease(repo, "run", "--", "touch", str(mark))
    assert (refused.code, refused.out.split()[0]) == (3, "LOCKED")
    assert lease(repo, "run", "--json", "--", "touch", str(mark)).json["holder"] == "bob"
    bare.path.rename(tmp_path / "away.git")
    assert lease(repo, "run", "--", "touch", str(mark)).code == 4
    assert not mark.exists()


def test_json_stays_alone_on_stdout(repo: Repo, bare: Repo) -> None:
    with started(repo, *RUN, "--json", "--writer", "ann", *script("echo heard", "exit 5")) as running:
        out, err = running.communicate()
    found = json.loads(out)
    assert (found["status"], found["epoch"], found["exit_code"]) == ("OK", 1, 5)
    assert "heard" in err.decode()
    assert "\nlease:" not in state_of(bare)


def test_a_heartbeat_keeps_it_longer_than_its_ttl(repo: Repo, bare: Repo, other: Repo) -> None:
    """The other contends all the time; the command ends when it reads so on its input's file."""
    stop = repo.path.parent / "stop"
    wait = f"while [ ! -e {stop} ]; do sleep 0.05; done"
    with started(repo, *RUN, "--writer", "ann", "--ttl-minutes", "0.2", *script(wait)) as running:
        until(lambda: said(other, "status")["holder"] == "ann")
        until(lambda: int(bare.git("rev-list", "--count", BRANCH)) >= 5)
        assert said(other, "acquire", "--writer", "bob")["status"] == "LOCKED"
        assert running.poll() is None
        stop.touch()
        running.communicate()
    assert running.returncode == 0
    assert said(other, "acquire", "--writer", "bob")["status"] == "OK"


def test_a_lost_lease_stops_the_command_and_its_children(repo: Repo, bare: Repo, other: Repo) -> None:
    pids = repo.path.parent / "pids"
    lines = script("trap '' TERM", f"sleep 1000 & echo $$ $! > {pids}", "while :; do sleep 0.05; done")
    with started(repo, *RUN, "--writer", "ann", *SHORT, *lines) as running:
        until(lambda: pids.exists() and pids.read_text().strip())
        token = said(other, "break", "--reason", "gone", "--preview")["token"]
        assert said(other, "break", "--reason", "gone", "--confirm", token)["status"] == "OK"
        _, err = running.communicate()
    assert running.returncode == 137
    assert "LEASE-LOST" in err.decode()
    assert bare.git("log", "-1", "--format=%s", BRANCH) == "Break the lease"
    for pid in pids.read_text().split():
        until(partial(gone, int(pid)))


def test_a_command_that_says_0_without_the_lease_is_no_success(repo: Repo, other: Repo) -> None:
    mark = repo.path.parent / "mark"
    lines = script("trap 'exit 0' TERM", f"touch {mark}", "while :; do sleep 0.05; done")
    with started(repo, *RUN, "--json", *SHORT, *lines) as running:
        until(mark.exists)
        token = said(other, "break", "--reason", "gone", "--preview")["token"]
        said(other, "break", "--reason", "gone", "--confirm", token)
        out, _ = running.communicate()
    assert running.returncode == 3
    assert json.loads(out)["status"] == "LEASE-LOST"


def test_it_is_stopped_before_a_lease_that_cannot_be_renewed_runs_out(
    repo: Repo, bare: Repo, other: Repo
) -> None:
    mark, away = repo.path.parent / "mark", bare.path.with_name("away.git")
    lines = script("trap '' TERM", f"touch {mark}", "while :; do sleep 0.05; done")
    with started(repo, *RUN, *SHORT, *lines) as running:
        until(mark.exists)
        assert said(other, "status")["status"] == "LOCKED"
        bare.path.rename(away)
        _, err = running.communicate()
    away.rename(bare.path)
    assert running.returncode == 137
    assert "couldn't be renewed in time" in err.decode()
    assert said(other, "acquire", "--wait", "20")["status"] == "STALE-RECLAIMED", "nothing more was stamped"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_signals_go_to_the_command_and_the_lease_is_given_back(
    repo: Repo, bare: Repo, number: signal.Signals
) -> None:
    mark = repo.path.parent / "mark"
    name = number.name.removeprefix("SIG")
    lines = script(f"trap 'exit 9' {name}", f"touch {mark}", "while :; do sleep 0.05; done")
    with started(repo, *RUN, *lines) as running:
        until(mark.exists)
        running.send_signal(number)
        running.communicate()
    assert running.returncode == 9
    assert bare.git("log", "-1", "--format=%s", BRANCH).startswith("Release the lease")


def test_a_killed_run_leaves_a_lease_that_runs_out(repo: Repo, other: Repo) -> None:
    mark = repo.path.parent / "mark"
    with started(repo, *RUN, *SHORT, *script(f"echo $$ > {mark}", "while :; do sleep 0.05; done")) as running:
        until(lambda: mark.exists() and mark.read_text().strip())
        running.kill()
        os.kill(int(mark.read_text()), signal.SIGKILL)
    assert said(other, "acquire")["status"] == "LOCKED"
    assert said(other, "acquire", "--wait", "20")["status"] == "STALE-RECLAIMED"


def test_in_local_mode(repo: Repo) -> None:
    lines = script(f"{sys.executable} -m muniment lease acquire --writer bob", "exit 4")
    with started(repo, "lease", "run", "--writer", "ann", *lines) as running:
        out, _ = running.communicate()
    assert running.returncode == 4
    assert out.decode().startswith("LOCKED held by ann")
    assert said(repo, "status", branch=None)["status"] == "FREE"


def test_the_command_has_the_terminal(repo: Repo) -> None:
    words = ("lease", "run", *script("read word", 'echo "got $word"'))
    code, out, _ = at_terminal(repo, *words, answers="hello\n")
    assert (code, out) == (0, "got hello\n")


def test_a_reconcile_under_it_goes_ahead(repo: Repo) -> None:
    repo.write(".muniment/config.yaml", "sweep_state_path: state.yml\n")
    repo.write("state.yml", "schema_version: 1\nitems: {}\n")
    with started(
        repo, "lease", "run", "--", sys.executable, "-m", "muniment", "plan", "reconcile"
    ) as running:
        _, err = running.communicate()
    assert running.returncode == 0, err.decode()
    said(repo, "acquire", "--writer", "ann", branch=None)
    assert muniment("plan", "reconcile", cwd=repo.path).code == 3


def gone(pid: int) -> bool:
    """Whether a process ended; one that nobody has waited for counts as ended."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] in {"Z", "X"}
    except OSError:
        return True
