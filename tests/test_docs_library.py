"""The library page's example runs from top to bottom, and does what the page says (U7)."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from muniment.ledger import store
from muniment.workspace import open_workspace
from tests.support.repo import Repo
from tests.support.triage import Told, finding, report

PAGE = Path(__file__).resolve().parents[1] / "docs" / "library.md"
PYTHON = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SUBJECT = "bug/code/merged-list-drops-quantities"


def test_example__runs_and_its_act_is_undone(
    repo: Repo, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    repo.write(
        "docs/bugs/merged.md",
        "# Merged shopping lists lose quantities\n\nThe merged list loses quantities.\n",
    )
    repo.commit("A known bug")
    told = Told("merged-list-drops-quantities", said="Quantities are lost.")
    repo.write("reports/larder/report.json", report([finding(1, told)]))
    monkeypatch.chdir(repo.path)
    code = "\n".join(PYTHON.findall(PAGE.read_text("utf-8")))
    names: dict[str, object] = {}
    exec(compile(code, str(PAGE), "exec"), names)  # noqa: S102 - our own page, which is what is tested
    shown = capsys.readouterr().out
    assert shown.startswith(f"unseen 0 {SUBJECT}\n")
    assert "bugs docs/bugs/merged.md Merged shopping lists lose quantities\n" in shown
    assert f"['{SUBJECT}']" in shown
    assert "Call [phone-1]\n" in shown
    assert "used-token 3 " in shown
    assert repo.git("log", "--format=%s", "-2").splitlines()[0].startswith("Undo triage batch")
    kinds = [entry.kind for entry in store.load(open_workspace(repo.path)).entries]
    assert kinds == ["finding", "decision", "applied", "undo"]
