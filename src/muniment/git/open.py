"""Choose the implementation of `Repository` for a folder: pygit2, or the git program where it can't."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from muniment.git.repo import Repository


def open_repository(directory: Path, environ: Mapping[str, str]) -> Repository:
    """Open the repository that `directory` lies in.

    Raises:
        UsageProblem: The folder is missing, in no repository, or git refuses it (`safe.directory`).
    """
    from muniment.git.program import discover  # noqa: PLC0415 - a hook that needs no repository skips it

    return discover(directory, environ)
