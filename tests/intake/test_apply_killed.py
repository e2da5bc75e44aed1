"""Killed at any change of a file and confirmed again with the same token: one commit, as if unkilled (G4)."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.applying import PLACE
from tests.support.cli import muniment
from tests.support.kill import Killer, killer
from tests.support.repo import Repo
from tests.support.triage import Told, decide, intake


@pytest.fixture
def shim(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Killer]:
    monkeypatch.setenv("MUNIMENT_NOW", "2026-03-04T05:06:07Z")
    folder = tmp_path / "shim"
    folder.mkdir()
    with killer(folder) as made:
        yield made


def start(path: Path) -> Repo:
    """A repository with a decided batch and a person's own work in it."""
    made = Repo.init(path, "--template=")
    made.write("docs/bugs/lists.md", "# Lists\n\nLines get lost.\n")
    made.write("mine.txt", "mine\n")
    made.git("add", ".")
    made.git("commit", "-q", "-m", "Start", "--date=2026-01-01T00:00:00Z")
    made.write("mine.txt", "unstaged\n")
    intake(made, [Told("one"), Told("two", "attach", "docs/bugs/lists.md"), Told("three", "reject")])
    decide(made, ["1", "2", "3"])
    return made


def preview(repo: Repo, command: str) -> None:
    word = muniment(command, "--preview", "--json", cwd=repo.path).ok().json["token"]
    (repo.path / PLACE).write_text(word)


def picture(repo: Repo) -> dict[str, object]:
    files = sorted(one for one in repo.path.rglob("*") if one.is_file() and ".git" not in one.parts)
    private = repo.path / ".git" / "muniment"
    token = json.loads((private / "tokens" / f"{(repo.path / PLACE).read_text()}.json").read_bytes())
    return {
        "log": repo.git("log", "--format=%H %T %an %ad %s %b"),
        "index": repo.git("ls-files", "--stage"),
        "status": repo.git("status", "--porcelain=v2", "--branch"),
        "files": {one.relative_to(repo.path).as_posix(): one.read_bytes() for one in files},
        "journal": [one.name for one in private.glob("journal/*/intent.json")],
        "used": token["used"],
    }


@pytest.mark.parametrize("command", ["apply", "undo"])
def test_killed_at_every_change(shim: Killer, tmp_path: Path, command: str) -> None:
    template = start(tmp_path / "template")
    preview(template, "apply")
    scenario = f"tests.support.applying:{command}_once"
    if command == "undo":
        assert not shim.run("tests.support.applying:apply_once", template.path)
        preview(template, "undo")
    before = template.git("rev-list", "--count", "HEAD")
    whole = Repo(shutil.copytree(template.path, tmp_path / "whole"))
    assert not shim.run(scenario, whole.path)
    total, expected = shim.count, picture(whole)
    assert int(whole.git("rev-list", "--count", "HEAD")) == int(before) + 1
    assert total > 30
    step = 1 if command == "apply" else 3  # the same door; every change is tried by `apply`
    for limit in range(1, total + 1, step):
        run = Repo(shutil.copytree(template.path, tmp_path / f"run-{limit}"))
        assert shim.run(scenario, run.path, limit=limit), f"not killed at {limit} of {total}"
        assert not shim.run(scenario, run.path), limit
        assert picture(run) == expected, f"after a kill at change {limit} of {total}"
        shutil.rmtree(run.path)
