"""A branch whose history was replaced under the lease goes on; one that was set back is watched (G9)."""

from __future__ import annotations

from pathlib import Path

from tests.support.cli import muniment
from tests.support.leasing import BRANCH, lease, said
from tests.support.repo import Repo


def compact(repo: Repo) -> None:
    word = muniment("state", "compact", "--branch", BRANCH, cwd=repo.path).ok().out.split("\n", 1)[0]
    assert word == "OK"


def test_a_compacted_branch__is_no_rewind(repo: Repo, tmp_path: Path) -> None:
    bare = repo.bare_remote(tmp_path / "bare.git")
    other = bare.clone(tmp_path / "other")
    lease(repo, "acquire").ok()
    assert said(other, "status")["status"] == "LOCKED"
    compact(repo)
    assert said(other, "status")["status"] == "LOCKED"
    lease(repo, "release").ok()
    lease(other, "acquire").ok()
    assert said(repo, "status")["holder"] == said(other, "status")["holder"]


def test_a_branch_set_back_after_a_compaction__is_a_rewind_whatever_its_epoch_is_now(
    repo: Repo, tmp_path: Path
) -> None:
    bare = repo.bare_remote(tmp_path / "bare.git")
    other, fresh = bare.clone(tmp_path / "other"), bare.clone(tmp_path / "fresh")
    lease(repo, "acquire", "--ttl-minutes", "0.05").ok()
    compact(repo)
    early = bare.git("rev-parse", BRANCH).strip()
    lease(repo, "release").ok()
    assert said(other, "status")["status"] == "FREE"
    bare.git("update-ref", f"refs/heads/{BRANCH}", early)
    assert said(fresh, "acquire", "--wait", "30")["status"] == "STALE-RECLAIMED"
    assert said(other, "status")["status"] == "REMOTE-REWOUND"


def test_what_is_read_after_that__is_no_older_state_and_no_empty_one(repo: Repo, tmp_path: Path) -> None:
    bare = repo.bare_remote(tmp_path / "bare.git")
    lease(repo, "acquire").ok()
    early = bare.git("rev-parse", BRANCH).strip()
    put = ("upsert-item", "--source", "inbox", "--id", "1", "--json", "{}")
    assert state(repo, *put) == "OK"
    assert state(repo, "read") == "OK"
    bare.git("update-ref", f"refs/heads/{BRANCH}", early)
    assert state(repo, "read") == "REMOTE-REWOUND"
    assert state(repo, "cursor-get", "--source", "inbox") == "REMOTE-REWOUND"
    bare.git("update-ref", "-d", f"refs/heads/{BRANCH}")
    assert state(repo, "cursor-get", "--source", "inbox") == "REMOTE-REWOUND"
    assert state(bare.clone(tmp_path / "fresh"), "cursor-get", "--source", "inbox") == "OK"


def state(repo: Repo, command: str, *arguments: str) -> str:
    """The word of a `state` command on the branch."""
    return (
        muniment("state", command, "--branch", BRANCH, *arguments, cwd=repo.path).ok().out.split("\n", 1)[0]
    )
