"""Paths inside the repository, times, and opening a workspace."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from muniment.errors import UsageProblem
from muniment.workspace import clock, inside, open_workspace, parse_instant, rfc3339
from tests.support.repo import Repo


@pytest.mark.parametrize(
    "path", ["", "/", "/etc/passwd", "../x", "a/../../x", ".git/config", "a/.GIT/x", "a\0b"]
)
def test_inside__refuses_paths_that_leave_the_tree(tmp_path: Path, path: str) -> None:
    with pytest.raises(UsageProblem):
        inside(tmp_path, path)


def test_inside__refuses_symbolic_links_that_lead_out(tmp_path: Path) -> None:
    root = tmp_path / "root"
    (root / "docs").mkdir(parents=True)
    (tmp_path / "out").mkdir()
    (root / "away").symlink_to(tmp_path / "out")
    (root / "docs" / "leaf.md").symlink_to(tmp_path / "out" / "leaf.md")
    (root / "near.md").symlink_to(root / "docs")
    for path in ("away/x.md", "docs/leaf.md"):
        with pytest.raises(UsageProblem, match="symbolic link"):
            inside(root, path)
    assert inside(root, "near.md") == root / "near.md"


@pytest.mark.parametrize("path", ["-rf", "a b/ü.md", "line\nbreak.md", "docs/x.md"])
def test_inside__takes_odd_but_honest_names(tmp_path: Path, path: str) -> None:
    assert inside(tmp_path, path) == tmp_path / path


def test_times__are_utc_rfc3339() -> None:
    assert rfc3339(datetime(2026, 3, 1, 12, 0, 0, 999, tzinfo=UTC)) == "2026-03-01T12:00:00Z"
    assert rfc3339(parse_instant("2026-03-01T12:00:00+02:00")) == "2026-03-01T10:00:00Z"
    assert rfc3339(parse_instant("2026-03-01T12:00:00")) == "2026-03-01T12:00:00Z"
    with pytest.raises(UsageProblem, match="ISO 8601"):
        parse_instant("yesterday")


def test_clock__is_fixed_by_the_environment() -> None:
    fixed = clock({"MUNIMENT_NOW": "2026-03-01T00:00:00Z"})
    assert fixed() == fixed() == datetime(2026, 3, 1, tzinfo=UTC)
    assert clock({})().tzinfo is UTC
    with pytest.raises(UsageProblem):
        clock({"MUNIMENT_NOW": "soon"})


def test_open_workspace__knows_actor_and_private_folder(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    below = repo.path / "docs"
    below.mkdir()
    ws = open_workspace(below)
    assert ws.root == repo.path
    assert ws.actor == "Robin Owner"
    assert ws.private == repo.path / ".git" / "muniment"
    monkeypatch.setenv("MUNIMENT_ACTOR", "Ada")
    assert open_workspace(below).actor == "Ada"


def test_open_workspace__says_that_there_is_no_repository(tmp_path: Path) -> None:
    with pytest.raises(UsageProblem):
        open_workspace(tmp_path)
