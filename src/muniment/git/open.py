"""Open the repository of a folder with the implementation that suits it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from muniment.git.libgit import LibgitRepository
from muniment.git.program import discover
from muniment.git.repo import Repository


def open_repository(directory: Path, environ: Mapping[str, str]) -> Repository:
    """Open the repository that `directory` lies in.

    Raises:
        UsageProblem: The folder is missing, in no repository, or git refuses it (`safe.directory`).
    """
    found = discover(directory, environ)
    opened = LibgitRepository(found.git, found.place)
    if "settings" in found.__dict__:
        opened.__dict__["settings"] = found.settings
    return opened
