"""Rules about the state and the rolling plan."""

from __future__ import annotations

import pytest

from tests.support.checking import PLAN, STATE, check, places, rules, state
from tests.support.cli import muniment
from tests.support.repo import Repo

OPEN = {"status": "analyzed", "title": "List loses flour", "category": "bug", "actionable": "true"}


def reconciled(repo: Repo) -> None:
    state(repo, {"inbox:1": OPEN, "inbox:2": {**OPEN, "title": "Reminder twice"}})
    muniment("plan", "reconcile", cwd=repo.path).ok()


def test_a_reconciled_plan_is_no_problem(repo: Repo) -> None:
    reconciled(repo)
    outcome = check(repo)
    assert outcome.problems == ()
    assert outcome.ok is True


def test_an_outdated_plan_is_a_problem_with_the_command(repo: Repo) -> None:
    reconciled(repo)
    text = repo.read(STATE).decode().replace("status: in_plan", "status: source_gone", 1)
    repo.write(STATE, text)
    outcome = check(repo)
    assert places(outcome) == [(PLAN, 0, "plan")]
    assert "1 to take off" in outcome.problems[0].message
    assert outcome.problems[0].fix == "muniment plan reconcile"
    muniment("plan", "reconcile", cwd=repo.path).ok()
    assert check(repo).problems == ()


def test_a_missing_plan_is_a_problem_only_when_there_is_something_to_show(repo: Repo) -> None:
    state(repo, {})
    assert check(repo).problems == ()
    state(repo, {"inbox:1": OPEN})
    assert places(check(repo)) == [(PLAN, 0, "plan")]


def test_a_hand_edit_is_said_once(repo: Repo) -> None:
    reconciled(repo)
    repo.write(PLAN, repo.read(PLAN).replace(b"List loses flour", b"List loses sugar"))
    assert rules(check(repo)) == ["hand-edit"]


def test_human_notes_are_free(repo: Repo) -> None:
    reconciled(repo)
    text = repo.read(PLAN).decode()
    repo.write(PLAN, text.replace("<!-- human-notes:end", "My own thoughts.\n\n<!-- human-notes:end"))
    assert check(repo).problems == ()


def test_foreign_lines_are_notes(repo: Repo) -> None:
    reconciled(repo)
    plan = repo.read(PLAN)
    state(repo, {})
    repo.write(PLAN, plan)
    muniment("plan", "reconcile", cwd=repo.path).ok()
    outcome = check(repo)
    assert outcome.problems == ()
    assert sorted(note.rule for note in outcome.notes) == ["foreign-line", "foreign-line"]
    assert all(note.line for note in outcome.notes)


def test_a_plan_that_is_not_ours_is_a_problem_before_it_is_moved(repo: Repo) -> None:
    reconciled(repo)
    repo.write(PLAN, "# My own plan\n")
    assert rules(check(repo)) == ["plan-rotation"]
    assert repo.read(PLAN) == b"# My own plan\n"


def test_without_a_state_the_plan_is_unknown(repo: Repo) -> None:
    reconciled(repo)
    (repo.path / STATE).unlink()
    outcome = check(repo)
    assert (outcome.ok, outcome.problems) == (None, ())
    assert outcome.unknown[0].rule == "plan"


def test_with_a_shared_branch_the_plan_is_unknown(repo: Repo) -> None:
    reconciled(repo)
    repo.write(".muniment/config.yaml", "sweep_shared_branch: muniment/state\n")
    outcome = check(repo)
    assert outcome.ok is None
    assert outcome.unknown[0].settle == "git fetch origin muniment/state"


def test_closed_items_carry_evidence(repo: Repo) -> None:
    proof = {"fix_ref": "'#12'", "verified_merge_sha": "abc1234", "verified_at": "2026-03-01T00:00:00Z"}
    state(
        repo,
        {
            "inbox:1": {"status": "closed", **proof},
            "inbox:2": {"status": "closed", "fix_ref": "'#13'"},
            "inbox:3": {"status": "fix_pending", "title": "x"},
        },
    )
    muniment("plan", "reconcile", cwd=repo.path).ok()
    outcome = check(repo)
    assert rules(outcome) == ["closed-without-evidence"]
    problem = outcome.problems[0]
    assert "inbox:2" in problem.message
    assert "verified_merge_sha, verified_at" in problem.message
    assert repo.read(STATE).decode().splitlines()[problem.line - 1].strip().startswith("inbox:2")


@pytest.mark.parametrize(
    ("field", "value"), [("fix_ref", "x"), ("verified_merge_sha", "deadbeef!"), ("verified_at", "never")]
)
def test_closed_items__words_that_are_no_evidence_are_none(repo: Repo, field: str, value: str) -> None:
    proof = {"fix_ref": "'#12'", "verified_merge_sha": "abc1234", "verified_at": "2026-03-01T00:00:00Z"}
    state(repo, {"inbox:1": {"status": "closed", **proof, field: value}})
    outcome = check(repo)
    assert rules(outcome) == ["closed-without-evidence"]
    assert field in outcome.problems[0].message


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("items: [\n", "state-yaml"),
        ("items: {}\n", "state-shape"),
        ("schema_version: 1\nitems: []\n", "state-shape"),
        ("schema_version: 1\nitems:\n  nokey: {status: closed}\n", "state-item"),
        ("schema_version: 1\nitems:\n  a:1: 3\n", "state-item"),
        ("<<<<<<< ours\nschema_version: 1\n=======\n>>>>>>> theirs\n", "state-yaml"),
        ("schema_version: 1\nschema_version: 1\n", "state-yaml"),
    ],
)
def test_the_state_is_judged_by_its_shape(repo: Repo, text: str, rule: str) -> None:
    repo.write(STATE, text)
    assert rule in rules(check(repo))


def test_crlf_in_the_state_is_a_problem(repo: Repo) -> None:
    repo.write(STATE, "schema_version: 1\r\nitems: {}\r\n")
    assert rules(check(repo)) == ["line-endings"]
