"""`muniment lease` on a real remote: words, JSON, exit codes, and what a person is asked."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.cli import muniment
from tests.support.git import hook, snapshot
from tests.support.leasing import BRANCH, at_terminal, lease, put_state, said, state_of, until
from tests.support.repo import Repo

KEYS = [
    "status", "mode", "writer", "session", "epoch", "acquired", "renewed", "ttl_minutes", "commit", "holder",
    "retry_after",
]  # fmt: skip
SHORT = ("--ttl-minutes", "0.01")


@pytest.fixture
def bare(repo: Repo, tmp_path: Path) -> Repo:
    return repo.bare_remote(tmp_path / "bare.git")


@pytest.fixture
def other(bare: Repo, tmp_path: Path) -> Repo:
    return bare.clone(tmp_path / "other")


def test_one_holds_it_and_the_other_is_told(repo: Repo, bare: Repo, other: Repo) -> None:
    before = snapshot(repo)
    assert said(repo, "status") == dict.fromkeys([*KEYS, "previous"]) | {"status": "FREE", "mode": "shared"}
    mine = said(repo, "acquire", "--writer", "ann", "--ttl-minutes", "1.5")
    assert list(mine)[: len(KEYS)] == KEYS
    assert (mine["status"], mine["mode"], mine["writer"], mine["holder"]) == ("OK", "shared", "ann", "ann")
    assert (mine["epoch"], mine["ttl_minutes"], mine["retry_after"]) == (1, 1.5, None)
    assert mine["commit"] == bare.git("rev-parse", BRANCH)
    assert mine["session"] in state_of(bare)
    theirs = lease(other, "acquire", "--writer", "ann", "--json")
    assert (theirs.code, theirs.json["status"], theirs.json["holder"]) == (3, "LOCKED", "ann")
    assert theirs.json["session"] is None
    assert 0 < theirs.json["retry_after"] <= 90
    assert lease(other, "acquire").out.split()[0] == "LOCKED"
    assert lease(other, "status").code == 3
    assert said(repo, "status")["status"] == "OK"
    assert snapshot(repo) == before


def test_renew_and_release_act_on_this_worktree(repo: Repo, bare: Repo, other: Repo) -> None:
    said(repo, "acquire", "--writer", "ann")
    assert lease(other, "renew").code == 3
    assert said(other, "release") | {"commit": 0} == said(other, "renew") | {"commit": 0}
    renewed = said(repo, "renew", "--ttl-minutes", "5")
    assert (renewed["status"], renewed["writer"], renewed["ttl_minutes"]) == ("OK", "ann", 5)
    assert said(repo, "renew", "--writer", "bob")["status"] == "LEASE-LOST"
    assert said(repo, "release", "--epoch", "7")["status"] == "LEASE-LOST"
    given = said(repo, "release")
    assert (given["status"], given["holder"], given["session"], given["epoch"]) == ("OK", None, None, 1)
    assert lease(repo, "release").out.startswith("FREE ")
    assert said(repo, "renew")["status"] == "LEASE-LOST"
    assert said(other, "acquire")["epoch"] == 2
    assert "lease_epoch: 2" in state_of(bare)


def test_a_session_is_handed_to_another_clone(repo: Repo, other: Repo) -> None:
    mine = said(repo, "acquire", "--writer", "ann")
    named = ("--session", mine["session"], "--epoch", str(mine["epoch"]))
    assert said(other, "renew", *named)["status"] == "OK"
    assert said(other, "renew", "--session", "0" * 32)["status"] == "LEASE-LOST"
    assert said(repo, "renew")["status"] == "OK", "the tip was moved by the same session"
    assert said(other, "release", *named)["status"] == "OK"
    assert said(repo, "renew")["status"] == "LEASE-LOST"


def test_wait_gets_a_lease_that_runs_out_and_records_who_lost_it(repo: Repo, bare: Repo, other: Repo) -> None:
    assert said(repo, "acquire", "--writer", "ann", *SHORT)["status"] == "OK"
    assert said(other, "acquire", "--writer", "bob")["status"] == "LOCKED"
    taken = said(other, "acquire", "--writer", "bob", "--wait", "30")
    assert (taken["status"], taken["epoch"], taken["holder"]) == ("STALE-RECLAIMED", 2, "bob")
    assert taken["previous"]["writer"] == "ann"
    assert taken["previous"]["ended"] == "stale"
    assert '"ended": "stale"' in state_of(bare)
    late = lease(repo, "renew", "--json")
    assert (late.code, late.json["status"]) == (3, "LEASE-LOST")


def test_the_settings_name_branch_and_ttl(repo: Repo, bare: Repo) -> None:
    repo.write(".muniment/config.yaml", "sweep_shared_branch: team/state\nsweep_lease_ttl_minutes: 7\n")
    found = said(repo, "acquire", branch=None)
    assert (found["mode"], found["ttl_minutes"]) == ("shared", 7)
    assert found["writer"].startswith("muniment-")
    assert "ttl_minutes: 7" in state_of(bare, "team/state")
    assert said(repo, "status", branch="")["mode"] == "local"


def test_a_remote_that_is_gone_or_refuses(repo: Repo, bare: Repo) -> None:
    hook(bare, "pre-receive", "echo no lease here >&2; exit 1")
    refused = lease(repo, "acquire", "--json")
    assert (refused.code, refused.json["status"], refused.json["session"]) == (4, "REJECTED-POLICY", None)
    assert "no lease here" in refused.json["words"]
    assert "sweep_shared_branch" in refused.err
    (bare.path / "hooks" / "pre-receive").unlink()
    said(repo, "acquire", "--writer", "ann")
    bare.path.rename(bare.path.with_name("away.git"))
    for command in ("acquire", "renew", "status", "release"):
        gone = lease(repo, command, "--json")
        assert (gone.code, gone.json["status"], gone.json["holder"]) == (4, "OFFLINE", None), command
    assert lease(repo, "acquire").out.startswith("OFFLINE ")


def test_a_branch_set_back_is_said(repo: Repo, bare: Repo, other: Repo) -> None:
    said(repo, "acquire", "--writer", "ann")
    old = bare.git("rev-parse", BRANCH)
    said(repo, "renew")
    assert said(other, "status")["status"] == "LOCKED"
    bare.git("update-ref", f"refs/heads/{BRANCH}", old)
    back = lease(other, "acquire", "--json")
    assert (back.code, back.json["status"]) == (3, "REMOTE-REWOUND")
    assert back.json["retry_after"] > 0


@pytest.mark.parametrize(
    "arguments",
    [
        ("acquire", "--ttl-minutes", "0"),
        ("acquire", "--ttl-minutes", "nan"),
        ("acquire", "--wait", "-1"),
        ("acquire", "--writer", " "),
        ("acquire", "--remote", "nowhere"),
        ("break", "--reason", " ", "--preview"),
        ("break", "--reason", "x", "--preview", "--confirm", "y"),
        ("run",),
    ],
)
def test_misuse_is_exit_2(repo: Repo, bare: Repo, arguments: tuple[str, ...]) -> None:
    assert lease(repo, *arguments).code == 2
    assert not bare.git("branch", "--list", BRANCH)


def test_a_remote_needs_a_branch(repo: Repo) -> None:
    assert lease(repo, "acquire", "--remote", "origin", branch=None).code == 2
    assert lease(repo, "acquire").code == 2, "there is no remote"


# Ending somebody's lease


def test_break_needs_a_person_or_a_token(repo: Repo, bare: Repo, other: Repo) -> None:
    said(repo, "acquire", "--writer", "ann")
    alone = lease(other, "break", "--reason", "it hangs")
    assert alone.code == 3
    assert "--preview" in alone.err
    shown = said(other, "break", "--reason", "it hangs", "--preview")
    assert shown["holder"] == "ann"
    assert lease(other, "break", "--reason", "another", "--confirm", shown["token"]).code == 3
    assert lease(other, "break", "--reason", "it hangs", "--confirm", "0" * 32).code == 3
    assert said(repo, "status")["status"] == "OK"
    said(repo, "renew")  # a heartbeat isn't another lease
    done = said(other, "break", "--reason", "it hangs", "--confirm", shown["token"])
    assert (done["status"], done["holder"], done["epoch"]) == ("OK", None, 2)
    assert "Reason: it hangs" in bare.git("log", "-1", "--format=%B", BRANCH)
    assert said(repo, "renew")["status"] == "LEASE-LOST"
    assert lease(other, "break", "--reason", "it hangs", "--confirm", shown["token"]).code == 3
    assert said(other, "acquire")["epoch"] == 3


def test_break_leaves_a_lease_taken_anew_alone(repo: Repo, bare: Repo, other: Repo) -> None:
    said(repo, "acquire", "--writer", "ann")
    token = said(other, "break", "--reason", "it hangs", "--preview")["token"]
    said(repo, "release")
    said(repo, "acquire", "--writer", "ann")
    changed = lease(other, "break", "--reason", "it hangs", "--confirm", token)
    assert changed.code == 3
    assert "Changed since the preview: lease" in changed.err
    assert said(repo, "renew")["status"] == "OK"
    assert bare.git("log", "--grep=Break", "--format=%s", BRANCH) == ""


@pytest.mark.parametrize(
    "record",
    [
        "{writer: ann, session: s, epoch: 5, ttl_minutes: soon}",
        "{writer: ann, timestamp: yesterday}",
        "{writer: ann, session: s, epoch: 5, ttl_minutes: 60, renewed: 2999-01-01T00:00:00Z}",
    ],
)
def test_break_ends_an_unreadable_or_future_record(
    repo: Repo, bare: Repo, tmp_path: Path, record: str
) -> None:
    put_state(bare, tmp_path / "hand", f"schema_version: 1\nlease_epoch: 9\nlease: {record}\nitems: {{}}\n")
    assert said(repo, "acquire")["status"] == "LOCKED"
    token = said(repo, "break", "--reason", "by hand", "--preview")["token"]
    assert said(repo, "break", "--reason", "by hand", "--confirm", token)["epoch"] == 10
    assert said(repo, "acquire")["epoch"] == 11


def test_break_of_nothing_is_free(repo: Repo, bare: Repo) -> None:
    assert said(repo, "break", "--reason", "x", "--preview")["status"] == "FREE"
    assert not bare.git("branch", "--list", BRANCH)


def test_under_ci_no_token_is_a_person(repo: Repo, bare: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    said(repo, "acquire", "--writer", "ann")
    monkeypatch.setenv("CI", "1")
    assert lease(repo, "break", "--reason", "x", "--preview").code == 3
    assert bare.git("rev-list", "--count", BRANCH) == "1"


def test_a_person_is_asked_before_a_break(repo: Repo, bare: Repo, other: Repo) -> None:
    said(repo, "acquire", "--writer", "ann")
    words = ("lease", "break", "--branch", BRANCH, "--reason", "it hangs")
    code, out, shown = at_terminal(other, *words, answers="n\n")
    assert (code, out.split()[0]) == (3, "LOCKED")
    assert "held by ann since" in shown
    assert bare.git("rev-list", "--count", BRANCH) == "1"
    code, out, _ = at_terminal(other, *words, answers="y\n")
    assert (code, out.split()[0]) == (0, "OK")
    assert said(repo, "status")["status"] == "FREE"


def test_a_person_is_asked_before_taking_over(repo: Repo, bare: Repo, other: Repo) -> None:
    said(repo, "acquire", "--writer", "ann", *SHORT)
    until(lambda: said(other, "status")["retry_after"] == 0)
    words = ("lease", "acquire", "--branch", BRANCH, "--writer", "bob", "--wait", "60")
    code, out, shown = at_terminal(other, *words, answers="n\n")
    assert (code, out.split()[0]) == (3, "LOCKED")
    assert "Take it over?" in shown
    code, out, _ = at_terminal(other, *words, answers="y\n")
    assert (code, out.split()[0]) == (0, "STALE-RECLAIMED")
    assert "writer: bob" in state_of(bare)


def test_writing_needs_the_session_that_acquire_kept(repo: Repo, bare: Repo, other: Repo) -> None:
    said(repo, "acquire", "--writer", "ann")
    put = ("state", "upsert-item", "--branch", BRANCH, "--source", "s", "--id", "1", "--json", "{}")
    assert muniment(*put, "--writer", "ann", cwd=repo.path).out.split()[0] == "OK"
    assert muniment(*put, "--writer", "ann", cwd=other.path).out.split()[0] == "LEASE-LOST"
    assert said(repo, "renew")["status"] == "OK"
    assert bare.git("rev-list", "--count", BRANCH) == "3"
