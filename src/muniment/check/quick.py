"""The way out for a commit that touches nothing of ours: names alone, no parser, no object (G13).

A hook runs before every commit of everyone, so this is the one path that has to cost next to nothing: two
git processes, the settings from their JSON cache, and string comparisons.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from muniment import config as configuration
from muniment.check.findings import Outcome
from muniment.check.paths import Owned
from muniment.git.program import discover


def nothing_staged(directory: Path, environ: Mapping[str, str]) -> Outcome | None:
    """The outcome when nothing owned is staged and nothing else is amiss; None when a real check is due.

    Raises:
        UsageProblem: No repository there, or a bare one.
    """
    repo = discover(directory, environ)
    settings, problems = configuration.load(repo, environ)
    interrupted = next((repo.common_dir / "muniment" / "journal").glob("*/intent.json"), None)
    if problems or interrupted or Owned.of(settings).any(change.path for change in repo.staged()):
        return None
    return Outcome(what="what is staged")
