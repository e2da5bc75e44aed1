"""The private store stays small, keeps what the tip needs, and loses nothing that can't be fetched again."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from muniment.git import store_tidy
from muniment.git.oid import Oid
from muniment.git.push_answer import Outcome
from muniment.git.remote import Remote
from muniment.git.repo import Signature
from tests.support.git import by_program
from tests.support.repo import Repo

WHO = Signature("Robin Owner", "robin@example.org", 1_764_000_000)


@pytest.fixture
def remote(repo: Repo, tmp_path: Path) -> Remote:
    repo.bare_remote(tmp_path / "bare.git")
    return Remote(by_program(repo.path), "origin", "state")


def landed(remote: Remote, parent: Oid | None, text: str) -> Oid:
    tree = remote.store.edit(parent, {"state.yml": text.encode(), "items/0a/x.yml": b"x\n"})
    commit = remote.store.write_commit(tree, [parent] if parent else [], f"{text}\n", WHO, WHO)
    assert remote.push(commit, parent).outcome is Outcome.LANDED
    return commit


def loose(remote: Remote) -> set[str]:
    found = (remote.store.folder / "objects").glob("??/*")
    return {path.parent.name + path.name for path in found}


def age(remote: Remote, oids: set[str]) -> None:
    for oid in oids:
        os.utime(remote.store.folder / "objects" / oid[:2] / oid[2:], (0, 0))


def test_old_objects_that_the_tip_does_not_need_go(remote: Remote, monkeypatch: pytest.MonkeyPatch) -> None:
    first = landed(remote, None, "one")
    second = landed(remote, first, "two")
    third = landed(remote, second, "three")
    age(remote, loose(remote))
    pending = remote.store.write_commit(remote.store.commit(third).tree, [third], "Pending\n", WHO, WHO)
    before = loose(remote)
    with remote.store.lock():
        assert not store_tidy.tidy(remote.store, third)
        assert loose(remote) == before
        monkeypatch.setattr(store_tidy, "MANY_OBJECTS", -1)
        assert store_tidy.tidy(remote.store, third)
    assert first not in loose(remote)
    assert second not in loose(remote)
    assert remote.store.has(pending)
    assert remote.store.file(third, "items/0a/x.yml") == b"x\n"
    assert remote.fetch(third).descends is True
    fourth = landed(remote, third, "four")
    assert remote.fetch(second).descends is True  # fetched again, whole
    assert remote.contains(fourth, first) is True


def test_it_is_not_done_over_and_over(remote: Remote, monkeypatch: pytest.MonkeyPatch) -> None:
    tip = landed(remote, None, "one")
    monkeypatch.setattr(store_tidy, "MANY_OBJECTS", 0)
    monkeypatch.setattr(store_tidy, "_SAMPLE", tip[:2])
    with remote.store.lock():
        assert store_tidy.tidy(remote.store, tip)
        (remote.store.folder / "kept").write_text("1000000\n")
        assert not store_tidy.tidy(remote.store, tip)


def test_a_store_of_many_packs_is_fetched_anew(remote: Remote, monkeypatch: pytest.MonkeyPatch) -> None:
    tip = landed(remote, None, "one")
    (remote.store.folder / "objects" / "pack" / "pack-1.idx").write_bytes(b"")
    monkeypatch.setattr(store_tidy, "MANY_PACKS", 0)
    assert remote.fetch(tip).tip == tip
    assert not list((remote.store.folder / "objects" / "pack").iterdir())
