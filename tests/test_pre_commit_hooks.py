"""`.pre-commit-hooks.yaml` names a command that exists."""

from __future__ import annotations

import shlex
from pathlib import Path

from muniment import yaml_io
from tests.support.cli import muniment
from tests.support.repo import Repo


def test_the_hook_runs_the_check(repo: Repo) -> None:
    text = (Path(__file__).parent.parent / ".pre-commit-hooks.yaml").read_text(encoding="utf-8")
    (hook,) = yaml_io.parse(text).value
    assert (hook["id"], hook["language"]) == ("muniment", "python")
    assert hook["pass_filenames"] is False
    assert hook["stages"] == ["pre-commit", "pre-merge-commit"]
    program, *words = shlex.split(hook["entry"])
    assert program == "muniment"
    muniment(*words, cwd=repo.path).ok()
