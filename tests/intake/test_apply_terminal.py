"""apply and undo at a terminal: shown, asked, done; and what only a person's word makes count (C9)."""

from __future__ import annotations

import os
import pty
import re
import select
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.cli import muniment
from tests.support.repo import Repo
from tests.support.triage import NAME, TRIAGE, Told, decide, intake

LIMIT_SECONDS = 60
INTERRUPT, END_OF_INPUT = "\x03", "\x04"
"""Ctrl-C (sent as the signal: the terminal isn't the process's own) and Ctrl-D."""


def _interruptible() -> None:
    """Take an interrupt, although a shell or a test runner in the background had it ignored."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def at_terminal(repo: Repo, *arguments: str, answer: str) -> tuple[int, str]:
    """Run a command with a pseudo-terminal on all its streams and answer its question."""
    main, side = pty.openpty()
    command = [sys.executable, "-m", "muniment", "-C", str(repo.path), *arguments]
    process = subprocess.Popen(
        command,
        stdin=side,
        stdout=side,
        stderr=side,
        preexec_fn=_interruptible,  # noqa: PLW1509 - no threads
    )
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
            if answer == INTERRUPT:
                process.send_signal(signal.SIGINT)
            else:
                os.write(main, answer.encode() + (b"" if answer == END_OF_INPUT else b"\n"))
            answered = True
    os.close(main)
    text = shown.decode("utf-8", "replace")
    return process.wait(LIMIT_SECONDS), re.sub(r"\x1b\[[0-9;]*m", "", text)


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


def test_apply__no_is_an_answer_that_changes_nothing(team: Repo) -> None:
    before = (team.head(), team.status(), team.read(TRIAGE))
    code, shown = at_terminal(team, "apply", answer="n")
    assert code == 1
    assert (team.head(), team.status(), team.read(TRIAGE)) == before
    assert "error" not in shown
    assert "Not applied; nothing was changed." in shown
    assert "Do it with:" not in shown
    (later,) = re.findall(r"muniment apply --confirm ([0-9a-f]+)", shown)
    assert at_terminal(team, "apply", "--confirm", later, answer="n")[0] == 1
    assert (team.head(), team.status(), team.read(TRIAGE)) == before
    assert at_terminal(team, "apply", "--confirm", later, answer="y")[0] == 0


@pytest.mark.parametrize("command", ["apply", "undo"])
@pytest.mark.parametrize("answer", [INTERRUPT, END_OF_INPUT])
def test_interrupted__says_that_nothing_was_done(team: Repo, command: str, answer: str) -> None:
    if command == "undo":
        assert at_terminal(team, "apply", answer="y")[0] == 0
    before = (team.head(), team.status())
    code, shown = at_terminal(team, command, answer=answer)
    assert code == 130
    assert "nothing was changed" in " ".join(shown.split())
    assert (team.head(), team.status()) == before


def test_apply__says_again_above_the_question_what_it_does_and_what_it_leaves_out(repo: Repo) -> None:
    intake(repo, [Told("one"), Told("two"), Told("three", "reject")])
    decide(repo, ["1", "3"], channel="flag")
    code, shown = at_terminal(repo, "apply", answer="y")
    assert code == 0, shown
    asked = " ".join(shown[shown.index("one.md: new bug") : shown.index("[y/N]")].split())
    assert "2 rows to apply: row 1: new" in asked
    assert "left out row 2: undecided, stays in the batch" in asked
    assert f"Decide the rest: muniment triage --batch {NAME}" in shown
    preview = muniment("apply", "--preview", "--json", cwd=repo.path)
    assert preview.code == 1


def test_apply_and_log__count_the_entries_alike(team: Repo) -> None:
    decide(team, ["1", "2"], channel="flag")
    shown = muniment("apply", "--preview", cwd=team.path).ok()
    assert "docs/reviews/ledger.json: 5 entries added" in shown.out
    (word,) = re.findall(r"--confirm ([0-9a-f]+)", shown.err)
    muniment("apply", "--confirm", word, cwd=team.path).ok()
    logged = muniment("ledger", "log", cwd=team.path).ok().out
    assert f"{NAME}  5 entries added" in logged
    assert len(logged.splitlines()) == 5


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
    assert at_terminal(team, "undo", answer="n")[0] == 1
    code, shown = at_terminal(team, "undo", answer="y")
    assert code == 0, shown
    assert "undone batch" in shown
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
