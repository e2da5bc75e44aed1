"""G4: killed at any write, rename, link, fsync, unlink or mkdir, the next run ends as if unkilled."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.support.kill import Killer, Mode, killer
from tests.support.repo import Repo

COMMIT = "tests.support.publishing:commit_once"
WRITE = "tests.support.publishing:write_once"


@pytest.fixture
def shim(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Killer]:
    monkeypatch.setenv("MUNIMENT_NOW", "2026-03-04T05:06:07Z")
    folder = tmp_path / "shim"
    folder.mkdir()
    with killer(folder) as made:
        yield made


def start(path: Path) -> Repo:
    """A small repository with a person's staged, unstaged and untracked work in it."""
    made = Repo.init(path, "--template=")
    for name in ("docs/ledger.json", "docs/gone.md", "docs/a.md", "mine.txt", "staged.txt"):
        made.write(name, "first\n")
    made.git("add", ".")
    made.git("-c", "user.name=R", "commit", "-q", "-m", "Start", "--date=2026-01-01T00:00:00Z")
    made.write("mine.txt", "unstaged\n")
    made.write("staged.txt", "staged\n")
    made.git("add", "staged.txt")
    made.write("untracked.txt", "untracked\n")
    return made


def with_hooks(made: Repo) -> None:
    hooks = made.path / ".git" / "hooks"
    hooks.mkdir()
    (hooks / "pre-commit").write_text("#!/bin/sh\necho generated > generated.txt\ngit add generated.txt\n")
    (hooks / "commit-msg").write_text("#!/bin/sh\necho 'Reviewed: yes' >> \"$1\"\n")
    for hook in hooks.iterdir():
        hook.chmod(0o755)


def picture(repo: Repo) -> dict[str, object]:
    """Everything a person can see: history, index entries, status, every file's bytes and mode."""
    files = sorted(one for one in repo.path.rglob("*") if one.is_file() and ".git" not in one.parts)
    return {
        "log": repo.git("log", "--format=%H %T %an %ad %s %b"),
        "index": repo.git("ls-files", "--stage"),
        "status": repo.git("status", "--porcelain=v2", "--branch"),
        "files": {
            one.relative_to(repo.path).as_posix(): (one.read_bytes(), one.stat().st_mode) for one in files
        },
        "locks": sorted(one.name for one in (repo.path / ".git").rglob("*.lock")),
        "folders": sorted(
            one.name for one in repo.path.rglob("*") if one.is_dir() and ".git" not in one.parts
        ),
        "journal": [one.name for one in (repo.path / ".git" / "muniment" / "journal").glob("*/intent.json")],
    }


@pytest.mark.parametrize(
    ("hooks", "mode"),
    [
        (None, Mode.KILL_GROUP),
        (None, Mode.KILL_ONE),
        (None, Mode.FILL),
        (with_hooks, Mode.KILL_GROUP),
    ],
    ids=["power off", "one process killed", "disk full", "power off, with hooks"],
)
def test_commit__killed_at_every_change(
    shim: Killer, tmp_path: Path, hooks: Callable[[Repo], None] | None, mode: Mode
) -> None:
    template = start(tmp_path / "template")
    if hooks:
        hooks(template)
    before = picture(template)
    whole = Repo(shutil.copytree(template.path, tmp_path / "whole"))
    assert not shim.run(COMMIT, whole.path)
    total, expected = shim.count, picture(whole)
    assert expected["log"] != before["log"]

    assert total > 30
    for limit in range(1, total + 1):
        run = Repo(shutil.copytree(template.path, tmp_path / f"run-{limit}"))
        killed = shim.run(COMMIT, run.path, limit=limit, mode=mode)
        assert killed or mode is not Mode.KILL_GROUP, f"not killed at {limit} of {total}"
        assert not shim.run(COMMIT, run.path), limit
        assert picture(run) == expected, f"after a kill at change {limit} of {total}"
        shutil.rmtree(run.path)


@pytest.mark.parametrize("mode", [Mode.KILL_GROUP, Mode.FILL], ids=["power off", "disk full"])
def test_write__killed_at_every_change(shim: Killer, tmp_path: Path, mode: Mode) -> None:
    template = start(tmp_path / "template")
    whole = Repo(shutil.copytree(template.path, tmp_path / "whole"))
    assert not shim.run(WRITE, whole.path)
    total, expected = shim.count, picture(whole)
    for limit in range(1, total + 1):
        run = Repo(shutil.copytree(template.path, tmp_path / f"run-{limit}"))
        assert shim.run(WRITE, run.path, limit=limit, mode=mode) == (mode is Mode.KILL_GROUP), limit
        assert not shim.run(WRITE, run.path), limit
        assert picture(run) == expected, f"after {mode.name} at change {limit} of {total}"
        shutil.rmtree(run.path)
