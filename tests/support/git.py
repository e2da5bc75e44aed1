"""Open repositories in each way that Muniment can, and put real hooks into them."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from muniment.git.libgit import LibgitRepository
from muniment.git.program import ProgramRepository, discover
from tests.support.repo import Repo

Opener = Callable[[Path], ProgramRepository]


def by_program(path: Path) -> ProgramRepository:
    return discover(path, os.environ)


def by_library(path: Path) -> ProgramRepository:
    """pygit2 from the first question on."""
    found = discover(path, os.environ)
    return LibgitRepository(found.git, found.place, patience=0)


OPENERS: dict[str, Opener] = {"program": by_program, "libgit": by_library}


def hook(repo: Repo, name: str, script: str) -> Path:
    """Install a shell hook."""
    path = repo.path / repo.git("rev-parse", "--git-path", f"hooks/{name}")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return path


def snapshot(repo: Repo) -> dict[str, object]:
    """Everything of a repository that a read, or a refused write, must leave as it is."""
    files = (one for one in repo.path.rglob("*") if one.is_file() or one.is_symlink())
    return {
        one.relative_to(repo.path).as_posix(): (
            one.lstat().st_mtime_ns,
            one.lstat().st_mode,
            one.read_bytes(),
        )
        for one in files
        if "muniment" not in one.relative_to(repo.path).parts and not one.is_dir()
    }
