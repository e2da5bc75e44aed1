"""The documentation is true: its commands run, its links lead somewhere, CI runs the README's command."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGES = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")])
CONSOLE = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)\s]+)\)")


def _script(page: Path) -> str:
    """The page's console blocks as one shell script; a here-document's lines carry no prompt."""
    lines = [line for block in CONSOLE.findall(page.read_text("utf-8")) for line in block.splitlines()]
    return "set -e\n" + "\n".join(line.removeprefix("$ ") for line in lines)


def test_tutorial__runs_from_top_to_bottom(tmp_path: Path) -> None:
    tool = tmp_path / "bin" / "muniment"
    tool.parent.mkdir()
    tool.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m muniment "$@"\n')
    tool.chmod(0o755)
    shown = "/tmp/report.json"  # noqa: S108 - the path that the tutorial names; the run gets its own
    script = _script(ROOT / "docs/tutorial.md").replace(shown, str(tmp_path / "report.json"))
    assert script.count("muniment ") > 15
    variables = {**os.environ, "PATH": f"{tool.parent}:{os.environ['PATH']}"}
    done = subprocess.run(
        ["sh", "-x", "-c", script], cwd=tmp_path, env=variables, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:] + done.stdout[-1000:]
    assert (tmp_path / "larder/docs/bugs/merged-lists.md").read_text().startswith("# Merged shopping lists")
    assert "Evidence from review" not in (tmp_path / "larder/docs/bugs/merged-lists.md").read_text(), "undone"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_page__links_lead_somewhere(page: Path) -> None:
    text = re.sub(r"^(`{3,}).*?^\1", "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
    text = re.sub(r"`[^`\n]*`", "", text)
    targets = [target for target in LINK.findall(text) if "://" not in target and not target.startswith("#")]
    missing = [target for target in targets if not (page.parent / target.split("#")[0]).exists()]
    assert missing == []


def test_readme__has_two_commands_and_ci_calls_the_second() -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    assert readme.count("<!-- demo-command -->\n\n    sh .ci/setup && .venv/bin/muniment demo\n") == 1
    assert readme.count("<!-- test-command -->\n\n    sh .ci/setup dev && .venv/bin/python -m pytest") == 1
    assert "test-command" in (ROOT / ".ci/run").read_text("utf-8")
