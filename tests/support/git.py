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


def snapshot(repo: Repo, *, times: bool = True) -> dict[str, object]:
    """Everything of a repository that a read, or a refused write, must leave as it is."""
    found: dict[str, object] = {}
    for one in repo.path.rglob("*"):
        name = one.relative_to(repo.path)
        info = one.lstat()
        if "muniment" in name.parts or (one.is_dir() and not one.is_symlink()):
            continue
        content = os.readlink(one) if one.is_symlink() else one.read_bytes()  # noqa: PTH115 - text, not a path
        found[name.as_posix()] = (info.st_mode, content, info.st_mtime_ns if times else 0)
    return found
