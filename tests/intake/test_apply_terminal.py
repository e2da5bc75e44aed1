"""apply and undo at a terminal: shown, asked, done; and what only a person's word makes count (C9)."""

from __future__ import annotations

import os
import pty
import select
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.cli import muniment
from tests.support.repo import Repo
from tests.support.triage import TRIAGE, Told, decide, intake

LIMIT_SECONDS = 60


def at_terminal(repo: Repo, *arguments: str, answer: str) -> tuple[int, str]:
    """Run a command with a pseudo-terminal on all its streams and answer its question."""
    main, side = pty.openpty()
    command = [sys.executable, "-m", "muniment", "-C", str(repo.path), *arguments]
    process = subprocess.Popen(command, stdin=side, stdout=side, stderr=side, close_fds=True)
    os.close(side)
    shown = b""
    answered = False
    while select.select([main], [], [], LIMIT_SECONDS)[0]:
        try:
            piece = os.read(main, 4096)
        except OSError:  # Linux's way of saying that the other side is closed
            break
        if not piece:
            break
        shown += piece
        if not answered and b"[y/N]" in shown:
            os.write(main, answer.encode() + b"\n")
            answered = True
    os.close(main)
    return process.wait(LIMIT_SECONDS), shown.decode("utf-8", "replace")


@pytest.fixture
def team(repo: Repo) -> Repo:
    intake(repo, [Told("one"), Told("two", "reject")])
    decide(repo, ["1", "2"], channel="file")
    return repo


def decisions(repo: Repo) -> list[tuple[str, str, str]]:
    found = muniment("ledger", "log", "--kind", "decision", "--json", cwd=repo.path).ok().json["entries"]
    return [(one["data"]["action"], one["data"]["channel"], one["data"]["verified"]) for one in found]


def test_apply__lines_of_the_file_count_once_confirmed_at_the_terminal(team: Repo) -> None:
    assert muniment("apply", "--preview", cwd=team.path).code == 1
    code, shown = at_terminal(team, "apply", answer="y")
    assert code == 0, shown
    assert "docs/bugs/one.md" in shown
    assert sorted(decisions(team)) == [("new", "terminal", "terminal"), ("reject", "terminal", "terminal")]
    assert team.status() == ""


def test_apply__no_changes_nothing(team: Repo) -> None:
    before = (team.head(), team.status(), team.read(TRIAGE))
    code, _ = at_terminal(team, "apply", answer="n")
    assert code != 0
    assert (team.head(), team.status(), team.read(TRIAGE)) == before


def test_token_of_a_terminal__is_no_good_elsewhere(team: Repo) -> None:
    code, shown = at_terminal(team, "apply", "--preview", answer="")
    assert code == 0, shown
    (word,) = [path.stem for path in (team.path / ".git/muniment/tokens").iterdir()]
    refused = muniment("apply", "--confirm", word, "--json", cwd=team.path)
    assert refused.code == 3
    assert refused.json["error"]["code"] == "no-authority"
    code, shown = at_terminal(team, "apply", "--confirm", word, answer="y")
    assert code == 0, shown


def test_terminal__is_none_under_ci(team: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", "true")
    code, shown = at_terminal(team, "apply", answer="y")
    assert code == 1, shown


def test_undo__asks_and_records_the_terminal(team: Repo) -> None:
    assert at_terminal(team, "apply", answer="y")[0] == 0
    code, shown = at_terminal(team, "undo", answer="y")
    assert code == 0, shown
    assert not (team.path / "docs/bugs/one.md").exists()
    found = muniment("ledger", "log", "--kind", "undo", "--json", cwd=team.path).ok().json["entries"]
    assert found[0]["data"]["verified"] == "terminal"


def test_confirm__from_many_processes_at_once_makes_one_commit(team: Repo) -> None:
    decide(team, ["1", "2"], channel="flag")
    word = muniment("apply", "--preview", "--json", cwd=team.path).ok().json["token"]
    before = int(team.git("rev-list", "--count", "HEAD"))
    command = [sys.executable, "-m", "muniment", "-C", str(team.path), "apply", "--confirm", word]
    started = [
        subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        for _ in range(4)
    ]
    codes = sorted(process.wait(LIMIT_SECONDS) for process in started)
    assert codes == [0, 3, 3, 3]
    assert int(team.git("rev-list", "--count", "HEAD")) == before + 1
    assert team.status() == ""


def test_confirm__from_a_linked_worktree_is_another_branch(team: Repo, tmp_path: Path) -> None:
    decide(team, ["1"], channel="flag")
    word = muniment("apply", "--preview", "--json", cwd=team.path).ok().json["token"]
    team.git("worktree", "add", "-q", "-b", "side", str(tmp_path / "side"))
    assert muniment("apply", "--confirm", word, cwd=tmp_path / "side").code == 3
    muniment("apply", "--confirm", word, cwd=team.path).ok()
