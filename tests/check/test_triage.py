"""Rules about triage files, and about a ledger with sealed segments."""

from __future__ import annotations

import pytest

from tests.support.checking import LEDGER, check, ledger, notes, places, rules
from tests.support.cli import muniment
from tests.support.repo import Repo
from tests.support.triage import REPORT, TRIAGE, Told, decide, intake


def test_a_batch_as_intake_leaves_it_is_no_problem(repo: Repo) -> None:
    intake(repo, [Told("one"), Told("two")])
    assert check(repo).problems == ()
    decide(repo, ["1"])
    assert check(repo).problems == ()
    repo.git("add", ".")
    assert check(repo, staged=True).problems == ()


@pytest.mark.parametrize("staged", [False, True])
def test_a_misspelt_action_is_named_with_its_line(repo: Repo, staged: bool) -> None:
    intake(repo, [Told("one")])
    decide(repo, ["1"], "reject", reason="no", channel="file")
    text = repo.read(TRIAGE).decode().replace("decision: reject", "decision: rejekt")
    repo.write(TRIAGE, text)
    repo.git("add", ".")
    line = next(n for n, words in enumerate(text.splitlines(), 1) if "rejekt" in words)
    assert places(check(repo, staged=staged)) == [(TRIAGE, line, "triage-action")]


def test_an_edited_row_is_told_where_its_report_is_at_hand(repo: Repo) -> None:
    intake(repo, [Told("one")])
    report = repo.read(REPORT).replace(b"The list loses lines.", b"The list keeps lines.")
    repo.write(REPORT, report)
    assert "triage-digest" in rules(check(repo))


@pytest.mark.parametrize("data", [b"", b"# Nothing here\n", b"- batch: `x`\n" * 3, b"\x00" * 10])
def test_nonsense_is_a_problem_never_a_crash(repo: Repo, data: bytes) -> None:
    repo.write(TRIAGE, data)
    repo.git("add", ".")
    assert check(repo).ok is False
    assert all(problem.path == TRIAGE for problem in check(repo, staged=True).problems)


def test_a_missing_report_is_said(repo: Repo) -> None:
    intake(repo, [Told("one")])
    (repo.path / REPORT).unlink()
    outcome = check(repo)
    assert outcome.problems
    assert {problem.path for problem in outcome.problems} == {TRIAGE}


def sealed(repo: Repo) -> str:
    ledger(repo, notes(6))
    repo.commit("Six")
    muniment("ledger", "seal", "--over", "0", cwd=repo.path).ok()
    (path,) = [str(one.relative_to(repo.path)) for one in (repo.path / "docs/reviews/ledger").iterdir()]
    return path


def test_a_sealed_ledger_is_whole_in_every_scope(repo: Repo) -> None:
    start = repo.head()
    sealed(repo)
    assert check(repo).problems == ()
    repo.git("add", ".")
    assert check(repo, staged=True).problems == ()
    repo.commit("Sealed")
    assert check(repo, revisions=f"{start}..HEAD").problems == ()


def test_a_sealed_segment_edited_or_gone_is_a_problem(repo: Repo) -> None:
    path = sealed(repo)
    data = repo.read(path)
    repo.write(path, data.replace(b"Note 1", b"Nope 1"))
    assert "sealed" in rules(check(repo))
    (repo.path / path).unlink()
    found = rules(check(repo))
    assert "sealed" in found
    assert "removed" in found
    repo.write(path, data)
    repo.git("add", LEDGER)
    assert "sealed" in rules(check(repo, staged=True)), "the segment isn't staged with the list"
