"""Entries that HEAD's own history recorded are never silently gone (G6, G13)."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from muniment.ledger import past
from muniment.workspace import Workspace, open_workspace
from tests.support.cli import Result, muniment
from tests.support.ledger import PATH
from tests.support.repo import Repo


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MUNIMENT_NOW", "2026-02-01T00:00:00Z")


def add(repo: Repo, text: str) -> Result:
    return muniment("ledger", "add", "--kind", "note", "--data", json.dumps({"text": text}), cwd=repo.path)


def write(repo: Repo, text: str) -> None:
    repo.write("README.md", text)
    repo.commit(f"Write {text}")


def commit(repo: Repo, text: str) -> None:
    add(repo, text).ok()
    repo.git("add", "-A")
    repo.git("commit", "-qm", f"Note {text}")


def open_(repo: Repo) -> Workspace:
    return open_workspace(repo.path, {**os.environ})


def rules(repo: Repo) -> list[str]:
    return [one["rule"] for one in muniment("check", "--json", cwd=repo.path).json["problems"]]


@pytest.mark.parametrize("remote", [True, False])
@pytest.mark.parametrize("count", [1, 2])
def test_reverted_by_hand__check_reports_and_writers_refuse_until_repair(
    repo: Repo, tmp_path: Path, count: int, remote: bool
) -> None:
    write(repo, "x")
    for number in range(count):
        commit(repo, str(number))
    repo.git("revert", "--no-edit", "HEAD")
    if remote:
        repo.bare_remote(tmp_path / "bare.git")
    assert "removed" in rules(repo)
    before = (repo.path / PATH).read_bytes() if (repo.path / PATH).exists() else None
    done = add(repo, "next")
    assert (done.code, "muniment repair" in done.err) == (3, True)
    assert (repo.path / PATH).exists() == (before is not None)
    assert add(repo, "again").code == 3
    muniment("repair", cwd=repo.path).ok()
    assert "removed" not in rules(repo)
    add(repo, "next").ok()
    repo.git("add", "-A")
    repo.git("commit", "-qm", "Mend")
    assert past.search(open_(repo)).lost == {}
    add(repo, "after").ok()


def test_search__carries_on_from_the_last_head_and_follows_a_switch(repo: Repo) -> None:
    write(repo, "x")
    commit(repo, "one")
    repo.git("branch", "other")
    commit(repo, "two")
    assert past.search(open_(repo)).lost == {}
    repo.git("revert", "--no-edit", "HEAD")
    write(repo, "y")
    assert len(past.search(open_(repo)).lost) == 1
    write(repo, "z")
    assert len(past.search(open_(repo)).lost) == 1
    repo.git("switch", "-q", "other")
    assert past.search(open_(repo)).lost == {}
    add(repo, "here").ok()


def test_search__a_limit_stops_a_writer_and_not_the_check(repo: Repo) -> None:
    write(repo, "x")
    commit(repo, "one")
    commit(repo, "two")
    repo.git("revert", "--no-edit", "HEAD")
    ws = open_(repo)
    short = past.search(ws, limit=0)
    assert (short.complete, past.search(ws, limit=0)) == (False, short)
    full = past.search(ws, limit=None)
    assert (full.complete, len(full.lost)) == (True, 1)


def test_shallow__what_cannot_be_told_stops_no_writer(repo: Repo, tmp_path: Path) -> None:
    write(repo, "x")
    commit(repo, "one")
    repo.git("revert", "--no-edit", "HEAD")
    clone = repo.clone(tmp_path / "cut", "--depth", "1", "--no-local")
    found = past.search(open_(clone))
    assert (bool(found.unknown), found.lost) == (True, {})
    add(clone, "here").ok()
