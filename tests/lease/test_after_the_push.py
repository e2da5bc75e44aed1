"""What fails after a push must not be told as `nothing was written`: what landed, landed (G9)."""

from __future__ import annotations

from pathlib import Path

import pytest

from muniment.lease_engine import LeasedState, open_shared
from muniment.state.operations import Word, upsert_item
from muniment.workspace import open_workspace
from tests.support.git import hook
from tests.support.repo import Repo

BRANCH = "muniment/state"


@pytest.fixture
def bare(repo: Repo, tmp_path: Path) -> Repo:
    return repo.bare_remote(tmp_path / "bare.git")


@pytest.fixture
def state(repo: Repo, bare: Repo) -> LeasedState:
    """A shared state whose lease is held."""
    assert bare.path.exists()
    made = open_shared(open_workspace(repo.path), BRANCH, None)
    assert made.acquire("w", 60, "").word == "OK"
    return made


def put(state: LeasedState, native: str) -> Word:
    return state.held(lambda view: upsert_item(view, "inbox", native, {"status": "ingested"}), "w", "").word


def test_a_memory_that_cannot_be_kept(repo: Repo, bare: Repo, state: LeasedState) -> None:
    (seen,) = [
        one
        for one in (repo.path / ".git" / "muniment" / "lease").glob("*.json")
        if not one.name.endswith(".session.json")
    ]
    seen.unlink()
    seen.mkdir()
    assert put(state, "1") == "OK"
    assert put(state, "2") == "OK"
    assert state.release("w").word == "OK"
    assert "lease:" not in bare.git("show", f"{BRANCH}:state.yml")


def test_an_answer_is_lost_and_then_the_branch_cannot_be_read(bare: Repo, state: LeasedState) -> None:
    """The server dies after the move, and somebody pushes nonsense on top, before we look."""
    hook(
        bare,
        "reference-transaction",
        f"""
[ "$1" = committed ] && [ ! -e "$GIT_DIR/once" ] && grep -q refs/heads/ || exit 0
touch "$GIT_DIR/once"
export GIT_AUTHOR_NAME=x GIT_AUTHOR_EMAIL=x@example.org GIT_COMMITTER_NAME=x GIT_COMMITTER_EMAIL=x@example.org
unset GIT_QUARANTINE_PATH
tip=$(git rev-parse refs/heads/{BRANCH})
blob=$(printf '<<<<<<< ours\\n' | git hash-object -w --stdin)
tree=$(printf '100644 blob %s\\tstate.yml\\n' "$blob" | git mktree)
git update-ref refs/heads/{BRANCH} $(git commit-tree -p $tip -m nonsense $tree)
kill -9 $PPID
""",
    )
    state.branch.remote.seconds = 20
    word = put(state, "1")
    assert "items/" in bare.git("ls-tree", "-r", "--name-only", f"{BRANCH}~1"), "it had landed"
    assert word in {"OK", "UNKNOWN"}, word
