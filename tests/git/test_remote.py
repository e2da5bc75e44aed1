"""One branch of one remote, over real transports: what is brought, what lands, and what stays untouched."""

from __future__ import annotations

from pathlib import Path

import pytest

from muniment.errors import UsageProblem
from muniment.git.oid import Oid
from muniment.git.push_answer import Outcome
from muniment.git.remote import Remote, RemoteTrouble
from muniment.git.repo import Signature
from tests.support.git import by_program, hook, snapshot
from tests.support.repo import Repo

WHO = Signature("Robin Owner", "robin@example.org", 1_764_000_000)
BRANCH = "muniment/state"


def child(remote: Remote, parent: Oid | None, text: str) -> Oid:
    tree = remote.store.edit(parent, {"state.yml": text.encode(), f"items/{text[:2]}/x.yml": text.encode()})
    return remote.store.write_commit(tree, [parent] if parent else [], f"Set {text}\n", WHO, WHO)


@pytest.fixture
def bare(repo: Repo, tmp_path: Path) -> Repo:
    return repo.bare_remote(tmp_path / "bare.git")


def of(repo: Repo, name: str = "origin") -> Remote:
    return Remote(by_program(repo.path), name, BRANCH)


def test_a_branch_is_made_read_and_moved_by_compare_and_set(repo: Repo, bare: Repo) -> None:
    before = snapshot(repo)
    remote = of(repo)
    with remote.store.lock():
        assert remote.look() is None
        assert remote.fetch(None).tip is None
        first = child(remote, None, "one")
        assert remote.push(first, None).outcome is Outcome.LANDED
        assert remote.push(first, None).outcome is Outcome.LANDED  # the same commit again is harmless
        assert remote.look() == first == bare.git("rev-parse", BRANCH)
        second = child(remote, first, "two")
        assert remote.push(second, None).outcome is Outcome.LOST_RACE
        assert remote.push(second, first).outcome is Outcome.LANDED
        assert remote.push(child(remote, first, "late"), first).outcome is Outcome.LOST_RACE
    assert bare.git("rev-parse", BRANCH) == second
    bare.git("fsck", "--strict")
    assert snapshot(repo) == before


def test_another_clone_sees_what_landed_and_whether_it_descends(
    repo: Repo, bare: Repo, tmp_path: Path
) -> None:
    remote, other = of(repo), of(bare.clone(tmp_path / "other"))
    first = child(remote, None, "one")
    remote.push(first, None)
    found = other.fetch(None)
    assert (found.tip, found.descends) == (first, None)
    second, third = child(remote, first, "two"), None
    remote.push(second, first)
    third = child(remote, second, "three")
    remote.push(third, second)
    again = other.fetch(first)
    assert (again.tip, again.descends) == (third, True)
    assert other.contains(third, second) is True
    assert other.store.file(third, "state.yml") == b"three"
    bare.git("update-ref", f"refs/heads/{BRANCH}", first)
    assert other.fetch(third) == type(again)(first, descends=False)


def test_a_hook_declines_and_nothing_lands(repo: Repo, bare: Repo) -> None:
    remote = of(repo)
    hook(bare, "pre-receive", 'echo "! [rejected] x -> x (stale info)" >&2; exit 1')
    result = remote.push(child(remote, None, "one"), None)
    assert result.outcome is Outcome.POLICY
    assert "pre-receive hook declined" in result.message
    assert remote.look() is None


def test_an_absent_remote_is_told(repo: Repo, bare: Repo) -> None:
    remote = of(repo)
    commit = child(remote, None, "one")
    bare.path.rename(bare.path.with_name("away.git"))
    assert remote.push(commit, None).outcome is Outcome.OFFLINE
    with pytest.raises(RemoteTrouble) as caught:
        remote.look()
    assert caught.value.outcome is Outcome.OFFLINE
    with pytest.raises(RemoteTrouble):
        remote.fetch(None)
    with pytest.raises(UsageProblem):
        of(repo, "nowhere")
