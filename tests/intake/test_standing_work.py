"""Landed work that was taken back, left on a side branch or backported is seen for what it is (C8, G17)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from muniment.git.repo import Oid
from muniment.intake.standing_work import Landings
from muniment.workspace import open_workspace
from tests.support.cli import muniment
from tests.support.repo import Repo
from tests.support.reports import finding, write

SAID = "The bedroom lamp flickers when the dimmer is below ten percent"


@pytest.fixture
def lamp(repo: Repo) -> Repo:
    """`v1.0.0`, then a fix of the lamp on `main`, tagged `fix`."""
    repo.write("src/app.py", "level = 1\n")
    repo.commit("Lamp")
    repo.git("tag", "v1.0.0")
    repo.write("src/app.py", "level = 2\n")
    repo.commit(f"Fix: {SAID}")
    repo.git("tag", "fix")
    return repo


def fix(repo: Repo) -> Oid:
    return Oid(repo.git("rev-parse", "fix"))


def landings(repo: Repo) -> Landings:
    return Landings(open_workspace(repo.path))


def proposed(repo: Repo, folder: Path, version: str = "1.0.0") -> Any:
    write(folder, [finding("lamp-flickers", SAID)], version=version)
    muniment("intake", str(folder), cwd=repo.path).ok()
    made = muniment("triage", "verify", "1", "real", "--reason", "seen", "--json", cwd=repo.path).ok()
    return made.json["rows"][0]["proposed"]


def reverted(repo: Repo) -> None:
    repo.git("revert", "--no-edit", "fix")


def reverted_by_short_id(repo: Repo) -> None:
    repo.write("src/app.py", "level = 3\n")
    repo.commit(f"Back out\n\nThis reverts commit {fix(repo)[:9]}.")


def reverted_by_title(repo: Repo) -> None:
    repo.write("src/app.py", "level = 3\n")
    repo.commit(f'Revert "Fix: {SAID} (#3)" (#4)\n\nReverts someone/lamps#3')


def put_back_without_a_word(repo: Repo) -> None:
    repo.write("src/app.py", "level = 1\n")
    repo.commit("The hall went dark")


def reverted_three_times(repo: Repo) -> None:
    for _ in range(3):
        repo.git("revert", "--no-edit", "HEAD")


@pytest.mark.parametrize(
    "act",
    [reverted, reverted_by_short_id, reverted_by_title, put_back_without_a_word, reverted_three_times],
)
def test_fix_that_was_taken_back__is_no_landed_work(lamp: Repo, tmp_path: Path, act: Any) -> None:
    act(lamp)
    assert "was taken back" in landings(lamp).taken_back(fix(lamp))
    assert proposed(lamp, tmp_path / "in")["action"] == "new"


def test_fix_that_stands__waits_to_be_deployed(lamp: Repo, tmp_path: Path) -> None:
    lamp.write("src/app.py", "level = 2\nmore = 1\n")
    lamp.commit("More")
    assert landings(lamp).taken_back(fix(lamp)) == ""
    assert proposed(lamp, tmp_path / "in")["action"] == "fixed-not-deployed"


def test_fix_that_was_reapplied__stands_and_a_version_between_lacks_it(lamp: Repo, tmp_path: Path) -> None:
    lamp.git("revert", "--no-edit", "HEAD")
    lamp.git("tag", "v1.1.0")
    lamp.git("revert", "--no-edit", "HEAD")
    assert landings(lamp).taken_back(fix(lamp)) == ""
    said = proposed(lamp, tmp_path / "in", "1.1.0")
    assert (said["action"], said["target"]) == ("fixed-not-deployed", fix(lamp))
    assert "taken back" in said["reason"]


def test_revert_of_a_merge__takes_back_what_it_merged_and_nothing_before(lamp: Repo) -> None:
    lamp.git("switch", "-qc", "side")
    lamp.write("src/side.py", "side = 1\n")
    side = lamp.commit("Side work")
    lamp.git("switch", "-q", "main")
    lamp.git("merge", "-q", "--no-ff", "--no-edit", "side")
    lamp.git("revert", "--no-edit", "-m", "1", "HEAD")
    lamp.write("src/side.py", "other = 1\n")
    lamp.commit("Another way")
    assert "was taken back" in landings(lamp).taken_back(Oid(side))
    assert landings(lamp).taken_back(fix(lamp)) == ""


def test_files_added_by_the_fix_and_gone_now__leave_a_doubt(lamp: Repo) -> None:
    lamp.write("src/new.py", "added = 1\n")
    added = lamp.commit("Add a guard")
    lamp.git("mv", "src/new.py", "src/renamed.py")
    lamp.commit("Rename")
    assert "may have been taken back" in landings(lamp).taken_back(Oid(added))


def test_fix_reverted_upstream_only__counts_as_taken_back(lamp: Repo, tmp_path: Path) -> None:
    lamp.git("revert", "--no-edit", "HEAD")
    lamp.bare_remote(tmp_path / "up.git")
    lamp.git("reset", "-q", "--hard", "fix")
    assert "origin/main" in landings(lamp).taken_back(fix(lamp))


def test_fix_on_a_side_branch__is_unknown_and_never_called_landed(lamp: Repo, tmp_path: Path) -> None:
    lamp.git("branch", "-f", "feature", "fix")
    lamp.git("reset", "-q", "--hard", "v1.0.0")
    lamp.bare_remote(tmp_path / "up.git")
    lamp.git("switch", "-q", "feature")
    said = proposed(lamp, tmp_path / "in")
    assert (said["action"], said["check"]) == ("revisit", True)
    assert "not on origin/main yet" in said["reason"]


def test_work_ahead_of_upstream_on_its_own_branch__is_landed(lamp: Repo, tmp_path: Path) -> None:
    lamp.bare_remote(tmp_path / "up.git")
    lamp.write("src/app.py", "level = 5\n")
    assert landings(lamp).doubt(Oid(lamp.commit("Ahead"))) == ""


@pytest.mark.parametrize("options", [(), ("-x",)])
def test_backported_fix__is_in_the_version_that_runs(
    lamp: Repo, tmp_path: Path, options: tuple[str, ...]
) -> None:
    lamp.git("switch", "-qc", "release", "v1.0.0")
    lamp.write("notes.txt", "1.0\n")
    lamp.commit("Notes")
    lamp.git("cherry-pick", *options, "fix")
    lamp.git("tag", "v1.0.1")
    lamp.git("switch", "-q", "main")
    said = proposed(lamp, tmp_path / "in", "1.0.1")
    assert said["action"] == "revisit"
    assert "contains it (as " in said["reason"]


def test_backported_and_reverted_there__is_lacking(lamp: Repo) -> None:
    lamp.git("switch", "-qc", "release", "v1.0.0")
    lamp.git("cherry-pick", "-x", "fix")
    lamp.git("revert", "--no-edit", "HEAD")
    tip = Oid(lamp.head())
    lamp.git("switch", "-q", "main")
    assert landings(lamp).holds(fix(lamp), tip, "1").answer is False


def test_short_commit_that_a_branch_is_named_like__is_unknown(lamp: Repo, tmp_path: Path) -> None:
    short = lamp.head()[:8]
    lamp.git("branch", short, "v1.0.0")
    write(tmp_path / "in", [finding("lamp-flickers", SAID)], version="1.0.0", commit=short)
    muniment("intake", str(tmp_path / "in"), cwd=lamp.path).ok()
    made = muniment("triage", "verify", "1", "real", "--reason", "seen", "--json", cwd=lamp.path).ok()
    said = made.json["rows"][0]["proposed"]
    assert (said["action"], said["check"]) == ("revisit", True)
