"""`status`: every part by itself, from real files."""

from __future__ import annotations

from muniment import overview
from muniment.workspace import open_workspace
from tests.support.checking import LEDGER, ledger, notes, state
from tests.support.cli import muniment
from tests.support.repo import Repo


def test_an_empty_repository(repo: Repo) -> None:
    found = muniment("status", "--json", cwd=repo.path).ok().json
    assert found["branch"] == "main"
    assert found["ledger"] == {"entries": 0, "ok": True, "problem": ""}
    assert (found["plan"], found["triage"], found["pending"], found["faults"]) == (None, [], 0, [])
    assert [step["command"] for step in found["next"]] == ["muniment hooks install"]


def test_what_is_there_is_counted(repo: Repo) -> None:
    ledger(repo, notes(3))
    state(repo, {"inbox:1": {"status": "in_plan"}, "inbox:2": {"status": "closed"}})
    repo.write("docs/pending-verification.md", "# Pending\n\n- [ ] One\n- [x] Two\n- [ ] Three\n")
    repo.git("checkout", "-q", "--detach")
    found = muniment("status", "--json", cwd=repo.path).ok().json
    assert found["branch"] == ""
    assert found["ledger"]["entries"] == 3
    assert found["plan"] == {"path": "docs/plans/feedback-sweep-plan.md", "open": 1}
    assert found["pending"] == 2
    text = muniment("status", cwd=repo.path).ok().out
    assert "3 entries, whole" in text
    assert "1 open item\n" in text


def test_one_broken_part_hides_no_other(repo: Repo) -> None:
    ledger(repo, notes(3)[1:])
    repo.write(".muniment/config.yaml", "nope: 1\n")
    repo.write("docs/reviews/triage/b.md", b"\xff")
    found = muniment("status", "--json", cwd=repo.path).ok().json
    assert found["ledger"]["ok"] is False
    assert LEDGER in found["ledger"]["problem"]
    assert found["triage"][0]["fault"]
    assert found["config"]["problems"][0]["rule"] == "config"
    assert [step["command"] for step in found["next"]][:2] == ["muniment config show", "muniment repair"]
    assert "not whole" in muniment("status", cwd=repo.path).out


def test_looking_changes_nothing(repo: Repo) -> None:
    state(repo, {"inbox:1": {"status": "analyzed"}})
    repo.commit("State")
    muniment("status", cwd=repo.path).ok()
    assert repo.status() == ""


def test_library_answers_the_same(repo: Repo) -> None:
    found = overview.status(open_workspace(repo.path))
    assert (found.branch, found.waiting, found.hooks) == ("main", 0, False)
