"""The demo runs the real commands and ends as its story says (U2)."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.cli import muniment
from tests.support.repo import Repo

PHONE = "555" + " 0143"


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """One run of the demo as a person sees it: its folder and all it printed."""
    folder = tmp_path_factory.mktemp("demo") / "larder"
    done = subprocess.run(
        [sys.executable, "-m", "muniment", "demo", str(folder)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr + done.stdout[-2000:]
    return folder, done.stdout


def test_demo__decides_every_finding_as_its_story_says(told: tuple[Path, str]) -> None:
    ledger = json.loads((told[0] / "robin/docs/reviews/ledger.json").read_text())
    decided = {
        entry["data"]["subject"].split("/")[-1]: entry["data"]["action"]
        for entry in ledger["entries"]
        if entry["kind"] == "decision"
    }
    assert decided == {
        "merged-list-drops-quantities": "attach",
        "expiry-reminder-wrong-hour": "revisit",
        "reminder-sent-twice": "fixed-not-deployed",
        "curt-answer": "reject",
        "shopping-list-forgets-amounts": "duplicate",
        "offline-edits-lost": "known-limitation",
        "nut-allergy-ignored-in-suggestions": "new",
    }


def test_demo__keeps_the_phone_number_out_of_every_commit(told: tuple[Path, str]) -> None:
    assert "refused" in told[1]
    assert PHONE not in told[1]
    history = Repo(told[0] / "remote.git").git("log", "-p", "--all")
    assert "walnut" in history, "the history is there"
    assert PHONE not in history


def test_demo__leaves_clean_trees_and_two_equal_clones(told: tuple[Path, str]) -> None:
    robin, ada = Repo(told[0] / "robin"), Repo(told[0] / "ada")
    assert robin.status() == ada.status() == ""
    assert robin.head() == ada.head()


def test_demo__hostile_text_stays_a_quotation(told: tuple[Path, str]) -> None:
    text = (told[0] / "robin/docs/bugs/nut-allergy-ignored-in-suggestions.md").read_text()
    hostile = [line for line in text.splitlines() if "git push --force" in line or "decision: reject" in line]
    assert len(hostile) == 2
    assert all(line.startswith("> ") for line in hostile)
    assert "<!-- sweep-items:end" not in text


def test_demo__undoes_and_applies_again_as_robin(told: tuple[Path, str]) -> None:
    ledger = json.loads((told[0] / "robin/docs/reviews/ledger.json").read_text())
    undone = [entry for entry in ledger["entries"] if entry["kind"] == "undo"]
    assert sorted(entry["data"]["reason"] for entry in undone) == ["Ask the cooks first.", "The cooks agree."]
    assert {entry["actor"] for entry in ledger["entries"]} == {"Robin Owner"}
    assert "ada $ muniment undo" not in told[1]
    found = muniment("ledger", "status", "bug/skill/nut-allergy-ignored-in-suggestions", cwd=told[0] / "ada")
    assert ": new" in found.ok().out


def test_demo__relate_names_the_open_bug_first(told: tuple[Path, str]) -> None:
    answer = told[1].split("muniment relate", 1)[1].splitlines()[1]
    assert "docs/bugs/merged-lists-lose-quantities.md" in answer


def test_demo__ends_with_a_short_summary(told: tuple[Path, str]) -> None:
    closing = told[1].split("── What happened", 1)[1]
    assert len(closing.strip().splitlines()) <= 15


def test_demo__says_where_to_look_and_each_place_exists(told: tuple[Path, str]) -> None:
    closing = told[1].split("Where to look", 1)[1]
    for place in (
        "docs/reviews/triage/",
        "docs/reviews/ledger.json",
        "docs/bugs/",
        "docs/pending-verification.md",
    ):
        assert place in closing
        assert (told[0] / "robin" / place).exists()


def test_demo__refuses_a_folder_that_holds_something(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    result = muniment("demo", str(tmp_path), cwd=tmp_path)
    assert result.code == 2
    assert "not an empty folder" in result.err
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_demo__json_lists_every_step(tmp_path: Path) -> None:
    shown = muniment("demo", str(tmp_path / "x"), "--json", cwd=tmp_path).ok().json
    commands = [step["command"].split()[1] for step in shown["steps"]]
    for wanted in ("init", "intake", "triage", "apply", "plan", "check", "relate", "ledger", "undo"):
        assert wanted in commands
