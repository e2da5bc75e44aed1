"""What is found in the files is what git itself finds; whatever is unusual is left to git."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from muniment.errors import UsageProblem
from muniment.git import discovery
from muniment.git.process import Git
from muniment.git.program import discover
from muniment.git.settings import Settings
from tests.support.repo import Repo
from tests.support.transports import logging_git


def both(directory: Path, environ: dict[str, str] | None = None) -> bool:
    """Whether the files sufficed; either way both answers must agree."""
    variables = dict(os.environ if environ is None else environ)
    git = Git(directory, variables)
    found = discovery.find(directory, git)
    if found is not None:
        asked = discovery.ask(git)
        assert (found[0].root, found[0].git_dir, found[0].common_dir, found[0].object_format) == (
            asked.root, asked.git_dir, asked.common_dir, asked.object_format,
        )  # fmt: skip
        assert found[1] == Settings.parse(git.run("config", "--list", "-z").out)
    return found is not None


def test_usual_repositories(repo: Repo, tmp_path: Path) -> None:
    (repo.path / "docs" / "deep").mkdir(parents=True)
    linked, bare = tmp_path / "linked", tmp_path / "bare.git"
    repo.git("worktree", "add", "-q", "--detach", str(linked))
    (linked / "sub").mkdir()
    repo.git("clone", "-q", "--bare", ".", str(bare))
    repo.git("clone", "-q", "--separate-git-dir", str(tmp_path / "away"), str(bare), str(tmp_path / "c"))
    Repo.init(tmp_path / "wide", "--object-format=sha256")
    (tmp_path / "link").symlink_to(repo.path / "docs")
    for folder in ("work", "work/docs/deep", "linked", "linked/sub", "c", "wide", "link"):
        assert both(tmp_path / folder), folder


def test_submodules(repo: Repo, tmp_path: Path) -> None:
    inner = repo.clone(tmp_path / "inner")
    repo.git("submodule", "add", "-q", str(inner.path), "lib")
    assert not both(repo.path / "lib")
    assert discover(repo.path / "lib", os.environ).root == repo.path / "lib"


def test_the_unusual_is_gits(repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bare = repo.bare_remote(tmp_path / "bare.git")
    linked = tmp_path / "of-bare"
    bare.git("worktree", "add", "-q", "--detach", str(linked))
    (tmp_path / "empty").mkdir()
    (tmp_path / "odd").mkdir()
    (tmp_path / "odd" / ".git").write_text("nothing of git's\n")
    for folder in ("bare.git", "of-bare", "empty", "odd", "work/.git", "work/.git/refs"):
        assert not both(tmp_path / folder), folder
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))
    assert not both(repo.path)
    monkeypatch.delenv("GIT_CEILING_DIRECTORIES")
    repo.git("config", "core.worktree", str(tmp_path / "empty"))
    assert not both(repo.path)
    with pytest.raises(UsageProblem):
        discover(tmp_path / "empty", os.environ)


def test_a_repository_of_somebody_else_is_refused_as_ever(
    repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
    git = Git(repo.path, os.environ)
    git.reading["GIT_TEST_ASSUME_DIFFERENT_OWNER"] = "1"
    assert discovery.find(repo.path, git) is None


def test_opening_costs_one_process(repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = tmp_path / "log"
    monkeypatch.setenv("PATH", logging_git(tmp_path / "bin", log) + os.pathsep + os.environ["PATH"])
    assert discover(repo.path, os.environ).config("user.name") == "Robin Owner"
    assert len(log.read_text().splitlines()) == 1
