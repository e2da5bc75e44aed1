"""Which lock files are ours after a kill, and that no other is ever deleted (G16)."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from muniment.errors import Refused
from muniment.git import index as indexes
from muniment.git import locks
from muniment.git.program import ProgramRepository, discover
from muniment.git.repo import Oid
from muniment.git.settings import Settings
from tests.support.repo import Repo

COMMIT = Oid("1" * 40)


@pytest.fixture
def found(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> ProgramRepository:
    monkeypatch.setattr(locks, "WAIT_SECONDS", 0.05)
    monkeypatch.setattr(locks, "PAUSE", 0.01)
    return discover(repo.path, os.environ)


def lock(found: ProgramRepository, content: str, name: str = "refs/heads/main.lock") -> Path:
    path = found.common_dir / name
    path.write_text(content)
    return path


@pytest.mark.parametrize("content", [f"{COMMIT}\n", str(COMMIT), "1111", ""])
def test_drop_own__what_a_killed_update_left(found: ProgramRepository, content: str) -> None:
    path = lock(found, content)
    locks.drop_own(found, "refs/heads/main", COMMIT, 0)
    assert not path.exists()


@pytest.mark.parametrize("content", ["2" * 40 + "\n", "ref: refs/heads/x\n", f"{COMMIT}\nx", "x" * 200])
def test_drop_own__never_another_processes(found: ProgramRepository, content: str) -> None:
    path = lock(found, content)
    locks.drop_own(found, "refs/heads/main", COMMIT, 0)
    assert path.exists()


def test_drop_own__never_one_that_was_there_before(found: ProgramRepository) -> None:
    path = lock(found, "", "HEAD.lock")
    locks.drop_own(found, "refs/heads/main", COMMIT, path.stat().st_ctime_ns + 1)
    assert path.exists()


def test_drop_own__never_one_that_still_changes(
    found: ProgramRepository, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = lock(found, "")
    monkeypatch.setattr("muniment.git.locks.time.sleep", lambda _seconds: path.write_text("11"))
    locks.drop_own(found, "refs/heads/main", COMMIT, 0)
    assert path.exists()


def test_ref_locks__with_reftable_are_the_tables(found: ProgramRepository) -> None:
    assert len(locks.ref_locks(found, "refs/heads/main")) == 2
    again = ProgramRepository(found.git, found.place)
    again.__dict__["settings"] = Settings({"extensions.refstorage": "reftable"})
    assert [one.name for one in locks.ref_locks(again, "refs/heads/main")] == ["tables.list.lock"]


def test_replace__sets_entries_and_nothing_when_the_act_fails(found: ProgramRepository, repo: Repo) -> None:
    before = (repo.path / ".git" / "index").read_bytes()

    def fail() -> None:
        assert indexes.lock_file(found).exists()
        raise Refused("no")

    with pytest.raises(Refused, match="no"):
        indexes.replace(found, repo.path / ".git" / "prepared", {"README.md": None}, fail)
    assert (repo.path / ".git" / "index").read_bytes() == before
    assert not indexes.lock_file(found).exists()
    indexes.replace(found, repo.path / ".git" / "prepared", {"README.md": None}, lambda: None)
    assert found.index_entries() == {}


def test_replace__waits_and_then_refuses_a_foreign_lock(
    found: ProgramRepository, repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(indexes, "WAIT_SECONDS", 0.05)
    path = lock(found, "", "index.lock")
    with pytest.raises(Refused) as raised:
        indexes.replace(found, repo.path / ".git" / "prepared", {"README.md": None}, lambda: None)
    assert raised.value.code == "locked"
    assert path.exists()
    assert not indexes.is_ours(found, repo.path / ".git" / "prepared")


def test_replace__begins_again_when_the_index_changed_under_it(
    found: ProgramRepository, repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    take = indexes._take
    seen: list[int] = []

    def slow(prepared: Path, lock_path: Path) -> bool:
        if not seen:
            seen.append(1)
            repo.write("mine.txt", "x\n")
            repo.git("add", "mine.txt")
        return take(prepared, lock_path)

    monkeypatch.setattr(indexes, "_take", slow)
    indexes.replace(found, repo.path / ".git" / "prepared", {"README.md": None}, lambda: None)
    assert set(found.index_entries()) == {"mine.txt"}


def test_take__without_hard_links(
    found: ProgramRepository, repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr("muniment.git.index.os.link", refuse)
    prepared = repo.path / ".git" / "prepared"
    indexes.replace(found, prepared, {"README.md": None}, lambda: None)
    assert found.index_entries() == {}
    path = lock(found, "", "index.lock")
    assert not indexes._take(prepared, path)
    path.write_bytes(prepared.read_bytes())
    assert indexes.is_ours(found, prepared)
