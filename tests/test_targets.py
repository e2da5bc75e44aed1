"""What may be written: intent-to-add entries, and names that no target can have (G5)."""

from __future__ import annotations

from typing import Any

import pytest

from muniment import targets
from muniment.errors import MunimentError
from muniment.workspace import open_workspace
from tests.support.cli import muniment
from tests.support.repo import Repo
from tests.support.triage import TRIAGE, Told, decide, intake


@pytest.fixture
def team(repo: Repo) -> Repo:
    intake(repo, [Told("one")])
    decide(repo, ["1"])
    return repo


def preview(repo: Repo) -> Any:
    return muniment("apply", "--preview", "--json", cwd=repo.path)


def test_names_staged_alone__are_no_change_of_a_persons(team: Repo) -> None:
    team.git("add", "-N", ".")
    token = preview(team).ok().json["token"]
    muniment("apply", "--confirm", token, cwd=team.path).ok()
    assert team.status() == ""
    assert TRIAGE in team.git("ls-tree", "-r", "--name-only", "HEAD")


def test_names_staged_alone__of_a_file_that_was_edited_are_refused(team: Repo) -> None:
    team.git("add", "-N", ".")
    (report,) = (team.path / "docs/reviews").glob("*.md")
    report.write_text(report.read_text() + "\nMine.\n")
    assert preview(team).json["error"]["code"] == "dirty-target"


def test_content_staged_by_a_person__is_refused(team: Repo) -> None:
    (report,) = (team.path / "docs/reviews").glob("*.md")
    before = report.read_bytes()
    report.write_bytes(before + b"\nMine.\n")
    team.git("add", ".")
    report.write_bytes(before)
    assert preview(team).json["error"]["code"] == "dirty-target"


@pytest.mark.parametrize("path", ["a\nb.md", "a\x7fb.md", "a\u2028b.md", "../a.md", "/a.md", "x" * 400])
def test_require_target__refuses_what_no_line_can_name(repo: Repo, path: str) -> None:
    with pytest.raises(MunimentError):
        targets.require_target(open_workspace(repo.path), path)


@pytest.mark.parametrize("path", ["a b.md", "-a.md", "a`b.md", "ä/ö.md", "a\u200bb.md"])
def test_require_target__takes_every_other_name(repo: Repo, path: str) -> None:
    targets.require_target(open_workspace(repo.path), path)
