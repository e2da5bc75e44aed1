"""No command writes over an edit that a person makes after the command has read the file (G5, G16)."""
# ruff: noqa: ARG001 - every preparation takes the same arguments

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from muniment.publish import Door
from tests.support.cli import muniment
from tests.support.repo import Repo
from tests.support.reports import finding, write
from tests.support.state_text import STATE, item, state_text

EDIT = b"\nA person's words.\n"
LEDGER = "docs/reviews/ledger.json"


@pytest.fixture
def edits(monkeypatch: pytest.MonkeyPatch) -> Callable[[], dict[str, bytes]]:
    """Edit every target at the last moment, as a person would; returns path → what it holds then."""
    theirs: dict[str, bytes] = {}

    def editing(name: str) -> None:
        real = getattr(Door, name)

        def acted(door: Door, cleared: Any, *arguments: Any, **options: Any) -> Any:
            changes = tuple(cleared)
            for change in changes:
                place = door._ws.root / change.path
                place.parent.mkdir(parents=True, exist_ok=True)
                there = place.read_bytes() if place.exists() else b""
                place.write_bytes(there + EDIT)
                theirs[change.path] = there + EDIT
            return real(door, changes, *arguments, **options)

        monkeypatch.setattr(Door, name, acted)

    def begin() -> dict[str, bytes]:
        for name in ("write", "commit"):
            editing(name)
        return theirs

    return begin


def taken(repo: Repo, folder: Path) -> None:
    write(folder, [finding("a", "The clock is wrong.")])
    muniment("intake", str(folder), cwd=repo.path).ok()


def noted(repo: Repo) -> str:
    made = muniment("ledger", "add", "--kind", "note", "--data", '{"text":"a"}', "--json", cwd=repo.path)
    return str(made.ok().json["id"])


def prepare_intake(repo: Repo, folder: Path) -> list[str]:
    write(folder, [finding("a", "The clock is wrong.")])
    return ["intake", str(folder)]


def prepare_triage(repo: Repo, folder: Path) -> list[str]:
    taken(repo, folder)
    return ["triage", "verify", "1", "real", "--reason", "seen"]


def prepare_plan(repo: Repo, folder: Path) -> list[str]:
    repo.write(STATE, state_text(item("inbox:1", category="bug")))
    muniment("plan", "reconcile", cwd=repo.path).ok()
    repo.write(STATE, state_text(item("inbox:1", category="bug"), item("inbox:2")))
    return ["plan", "reconcile"]


def prepare_init(repo: Repo, folder: Path) -> list[str]:
    repo.write(".gitattributes", "*.png binary\n")
    return ["init"]


def prepare_fix(repo: Repo, folder: Path) -> list[str]:
    noted(repo)
    repo.write(LEDGER, repo.read(LEDGER).replace(b"\n", b"\r\n"))
    return ["check", "--fix"]


def prepare_first_entry(repo: Repo, folder: Path) -> list[str]:
    return ["ledger", "add", "--kind", "note", "--data", '{"text":"a"}']


def prepare_expunge(repo: Repo, folder: Path) -> list[str]:
    entry = noted(repo)
    repo.commit("Ledger")
    return ["ledger", "expunge", entry, "--reason", "gone", "--yes"]


def prepare_undo(repo: Repo, folder: Path) -> list[str]:
    taken(repo, folder)
    muniment("triage", "approve", "1", cwd=repo.path).ok()
    token = muniment("apply", "--preview", "--json", cwd=repo.path).ok().json["token"]
    muniment("apply", "--confirm", token, cwd=repo.path).ok()
    return ["undo", "--yes"]


@pytest.mark.parametrize(
    "prepare",
    [
        prepare_intake,
        prepare_triage,
        prepare_plan,
        prepare_init,
        prepare_fix,
        prepare_first_entry,
        prepare_expunge,
        prepare_undo,
    ],
)
def test_edit_at_the_last_moment__is_kept(
    repo: Repo, tmp_path: Path, prepare: Any, edits: Callable[[], dict[str, bytes]]
) -> None:
    command = prepare(repo, tmp_path / "data")
    head = repo.head()
    theirs = edits()
    result = muniment(*command, cwd=repo.path)
    assert theirs
    assert {path: repo.read(path) for path in theirs} == theirs
    assert (result.code, repo.head()) == (3, head), result.err
