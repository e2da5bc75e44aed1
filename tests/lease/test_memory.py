"""What a clone and a worktree keep about a lease: privately, each for itself, and never falling back (G9)."""

from __future__ import annotations

import shutil
import stat
from dataclasses import replace
from pathlib import Path

import pytest

from muniment.lease_memory import LeaseMemory
from muniment.state.lease import Face, LeaseRecord, Memory
from muniment.state.requests import Held
from muniment.workspace import open_workspace
from tests.support.repo import Repo

RECORD = LeaseRecord(
    "w", "a" * 32, 7, 2, "2026-12-01T08:00:00Z", "2026-12-01T08:01:00Z", 90.0, {"writer": "v"}
)
HELD = Held(RECORD, "c" * 40, 123.5, "boot", run=True)
SEEN = Memory(
    "d" * 40, Face(RECORD, False, 9, ("one", "two"), {"ended": "stale"}), 5.5, "boot", 9, 8.5, "e" * 40
)


def of(repo: Repo) -> LeaseMemory:
    return LeaseMemory(open_workspace(repo.path), "store")


def files(repo: Repo) -> list[Path]:
    return sorted((repo.path / ".git" / "muniment" / "lease").glob("*.json"))


def test_it_comes_back_as_it_was_kept(repo: Repo) -> None:
    of(repo).keep(HELD, RECORD.session)
    of(repo).save(SEEN)
    assert of(repo).held() == HELD
    assert of(repo).read() == SEEN
    assert {stat.S_IMODE(one.stat().st_mode) for one in files(repo)} == {0o600}


def test_an_unreadable_lease_is_remembered_as_such(repo: Repo) -> None:
    seen = replace(SEEN, face=Face(None, unreadable=True, epoch=9))
    of(repo).save(seen)
    assert of(repo).read() == seen


@pytest.mark.parametrize("text", ["", "[]", "{", '{"tip": 1}', "\xff"])
def test_a_damaged_file_counts_as_absent(repo: Repo, text: str) -> None:
    of(repo).keep(HELD, RECORD.session)
    of(repo).save(SEEN)
    for one in files(repo):
        one.write_text(text, "latin-1")
    assert of(repo).held() is None
    assert of(repo).read() == Memory()


def test_a_copy_of_the_clone_holds_nothing(repo: Repo, tmp_path: Path) -> None:
    of(repo).keep(HELD, RECORD.session)
    copy = Repo(tmp_path / "copy")
    shutil.copytree(repo.path, copy.path, symlinks=True)
    assert of(copy).held() is None
    assert of(repo).held() == HELD


def test_each_worktree_keeps_its_own(repo: Repo, tmp_path: Path) -> None:
    linked = Repo(tmp_path / "linked")
    repo.git("worktree", "add", "-q", "--detach", str(linked.path))
    of(repo).keep(HELD, RECORD.session)
    assert of(linked).held() is None
    of(linked).keep(replace(HELD, tip="f" * 40), RECORD.session)
    assert of(repo).held() == HELD
    assert of(linked).clone == of(repo).clone


def test_the_greatest_epoch_never_falls(repo: Repo) -> None:
    of(repo).save(SEEN)
    of(repo).save(replace(SEEN, greatest=3))
    assert of(repo).read().greatest == 9


def test_an_older_stamp_replaces_no_newer_one(repo: Repo) -> None:
    of(repo).keep(HELD, RECORD.session)
    of(repo).keep(replace(HELD, record=replace(RECORD, seq=1)), RECORD.session)
    assert of(repo).held() == HELD
    newer = replace(HELD, record=replace(RECORD, seq=1, epoch=8, session="b" * 32))
    of(repo).keep(newer, newer.record.session)
    of(repo).keep(None, RECORD.session)
    assert of(repo).held() == newer
    of(repo).keep(None, newer.record.session)
    assert of(repo).held() is None
