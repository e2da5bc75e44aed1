"""Rules about the ledger, reports and triage files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from muniment.ledger.entries import mint
from muniment.ledger.segment import render_segment
from tests.support.checking import LEDGER, check, ledger, notes, places, rules
from tests.support.repo import Repo


def test_a_whole_ledger_is_no_problem(repo: Repo) -> None:
    ledger(repo, notes(5))
    repo.commit("Ledger")
    outcome = check(repo)
    assert outcome.ok is True
    assert outcome.problems == ()
    assert outcome.checked == 1


def test_an_edited_entry_is_named_with_its_line(repo: Repo) -> None:
    data = ledger(repo, notes(3))
    edited = data.replace(b"Note 1", b"Nope 1")
    repo.write(LEDGER, edited)
    line = next(n for n, text in enumerate(edited.split(b"\n"), 1) if b"Nope 1" in text)
    outcome = check(repo)
    assert (LEDGER, line) in {(path, at) for path, at, _ in places(outcome)}
    assert outcome.ok is False


def test_a_removed_entry_that_others_name_is_incomplete(repo: Repo) -> None:
    ledger(repo, notes(3)[1:])
    assert "incomplete" in rules(check(repo))


def test_conflict_markers_are_one_hard_named_error(repo: Repo) -> None:
    one, two = notes(1), notes(1, start=1)
    ours, theirs = render_segment(one).decode(), render_segment(two).decode()
    repo.write(LEDGER, f"<<<<<<< ours\n{ours}=======\n{theirs}>>>>>>> theirs\n")
    outcome = check(repo)
    found = [problem for problem in outcome.problems if problem.rule == "conflict-markers"]
    assert [(problem.path, problem.line) for problem in found] == [(LEDGER, 1)]


@pytest.mark.parametrize("data", [b"", b"{", b"\x00\xff", b"[]", b'{"schema":"other/1","entries":[]}\n'])
def test_damaged_bytes_are_problems_never_a_crash(repo: Repo, data: bytes) -> None:
    repo.write(LEDGER, data)
    outcome = check(repo)
    assert outcome.ok is False
    assert all(problem.path == LEDGER for problem in outcome.problems)


def test_a_newer_schema_is_unknown(repo: Repo) -> None:
    data = ledger(repo, notes(1)).replace(b"muniment.ledger/1", b"muniment.ledger/2")
    repo.write(LEDGER, data)
    outcome = check(repo)
    assert (outcome.ok, outcome.problems) == (None, ())
    assert outcome.unknown[0].rule == "ledger"
    assert "upgrade" in outcome.unknown[0].settle


def test_another_layout_is_a_problem_that_fix_mends(repo: Repo) -> None:
    data = json.dumps(json.loads(ledger(repo, notes(2))), indent=2).encode()
    repo.write(LEDGER, data)
    outcome = check(repo)
    assert places(outcome) == [(LEDGER, 0, "layout")]
    assert outcome.problems[0].fix == "muniment check --fix"


def test_clock_jumps_are_notes(repo: Repo) -> None:
    first = notes(1)[0]
    early = mint(
        kind="note", data={"text": "early"}, at="2026-01-01T00:00:00Z", actor="R", after=[first.id], op="x"
    )
    ledger(repo, [first, early])
    outcome = check(repo)
    assert outcome.ok is True
    assert [note.rule for note in outcome.notes] == ["clock"]


def test_removed__an_entry_of_head_is_missed_in_the_working_tree(repo: Repo) -> None:
    entries = notes(3)
    ledger(repo, entries)
    repo.commit("Three")
    ledger(repo, entries[:2])
    outcome = check(repo)
    assert rules(outcome) == ["removed"]
    assert entries[2].id[:12] in outcome.problems[0].message


def test_removed__and_when_staged(repo: Repo) -> None:
    entries = notes(3)
    ledger(repo, entries)
    repo.commit("Three")
    ledger(repo, entries[:2])
    repo.git("add", LEDGER)
    ledger(repo, entries)  # the working tree is whole again: what is staged counts
    assert rules(check(repo, staged=True)) == ["removed"]
    assert rules(check(repo)) == []


def test_removed__a_deleted_ledger_is_missed_too(repo: Repo) -> None:
    ledger(repo, notes(2))
    repo.commit("Two")
    repo.git("rm", "-q", LEDGER)
    assert rules(check(repo, staged=True)) == ["missing"]
    assert places(check(repo)) == [(LEDGER, 0, "missing")]


def test_removed__committed_removal_is_found_against_the_upstream(repo: Repo, tmp_path: Path) -> None:
    entries = notes(3)
    ledger(repo, entries)
    repo.commit("Three")
    repo.bare_remote(tmp_path / "remote.git")
    ledger(repo, entries[:2])
    repo.commit("Lose one")
    repo.write("other", "x")
    repo.commit("More")
    assert rules(check(repo)) == ["removed"]


def test_removed__a_branch_names_no_other_judge_in_its_own_settings(repo: Repo, tmp_path: Path) -> None:
    entries = notes(3)
    ledger(repo, entries)
    repo.commit("Three")
    repo.bare_remote(tmp_path / "remote.git")
    repo.git("switch", "-qc", "mine")
    ledger(repo, entries[:2])
    repo.write(".muniment/config.yaml", "default_branch: mine\n")
    repo.commit("Lose one, and say that this branch is the default one")
    repo.git("push", "-q", "origin", "mine")
    assert rules(check(repo)) == ["removed"]
    repo.write(".muniment/config.local.yaml", "default_branch: mine\n")
    assert rules(check(repo)) == ["removed"], "HEAD's own history holds it, whichever branch judges"


def test_removed__in_a_range(repo: Repo) -> None:
    entries = notes(3)
    ledger(repo, entries)
    start = repo.commit("Three")
    ledger(repo, entries[:2])
    lost = repo.commit("Lose one")
    ledger(repo, entries)
    repo.commit("Back again")
    assert rules(check(repo, revisions=f"{start}..{lost}")) == ["removed"]
    assert rules(check(repo, revisions=f"{start}..HEAD")) == []


def test_removed__a_merge_must_hold_both_sides(repo: Repo) -> None:
    base = notes(1)
    ledger(repo, base)
    repo.commit("Base")
    repo.git("switch", "-qc", "side")
    theirs = notes(1, start=10, after=base)
    ledger(repo, [*base, *theirs])
    repo.commit("Theirs")
    repo.git("switch", "-q", "main")
    ours = notes(1, start=20, after=base)
    ledger(repo, [*base, *ours])
    repo.commit("Ours")
    repo.git("merge", "-q", "--no-commit", "-s", "ours", "side")
    ledger(repo, [*base, *ours])
    repo.write("docs/reviews/other.txt", "x")
    repo.git("add", ".")
    ledger(repo, [*base, *ours])
    outcome = check(repo)
    assert rules(outcome) == ["removed"]
    assert theirs[0].id[:12] in outcome.problems[0].message


def test_removed__in_a_shallow_clone_it_is_unknown(repo: Repo, tmp_path: Path) -> None:
    ledger(repo, notes(1))
    repo.commit("One")
    repo.git("switch", "-qc", "side")
    ledger(repo, notes(2))
    repo.commit("Two")
    repo.git("switch", "-q", "main")
    repo.write("file", "x")
    repo.commit("Main goes on")
    clone = Repo(tmp_path / "shallow")
    clone.path.mkdir()
    clone.git("clone", "-q", "--depth=1", "--no-single-branch", f"file://{repo.path}", ".")
    clone.git("switch", "-q", "side")
    outcome = check(clone)
    assert outcome.problems == ()
    assert outcome.ok is None
    assert [(one.rule, one.settle) for one in outcome.unknown] == [("removed", "git fetch --unshallow")]


def report(**changes: object) -> dict[str, object]:
    base: dict[str, object] = {
        "schema": "muniment.report/1",
        "bot": "helper",
        "version": "1.2.0",
        "commit": None,
        "kind": "daily",
        "date": "2026-03-02",
        "window": {"since": "2026-03-01T04:00:00Z", "until": "2026-03-02T04:00:00Z"},
        "findings": [],
        "coverage": {
            "spaces": 1,
            "exchanges": 2,
            "skipped": [],
            "dropped": {"invalid": 0, "badIds": 0},
            "spawns": 1,
            "wall_seconds": 3,
            "cost_usd": 0,
        },
    }
    return base | changes


def test_reports__are_judged_by_their_schema(repo: Repo) -> None:
    path = "docs/reviews/2026-03-02-helper-daily.json"
    repo.write(path, json.dumps(report()))
    assert check(repo).problems == ()
    repo.write(path, json.dumps(report(kind="hourly"), indent=1))
    assert [(one.path, one.rule) for one in check(repo).problems] == [(path, "report")]
    repo.write(path, b"{")
    assert rules(check(repo)) == ["report"]


def test_reports__other_json_in_the_folder_is_not_ours(repo: Repo) -> None:
    repo.write("docs/reviews/notes.json", "{")
    repo.write("docs/reviews/deep/2026-03-02-helper-daily.json", "{")
    assert check(repo).problems == ()


def test_one_bad_record_hides_no_other(repo: Repo) -> None:
    repo.write(LEDGER, "{")
    repo.write("docs/reviews/2026-03-02-helper-daily.json", "{")
    repo.write("docs/feedback-sweep/state.yml", "a: [")
    repo.write("docs/bugs/a.md", "[x](missing.md)\n")
    repo.write("docs/bugs/b.md", b"\xff")
    repo.write(".muniment/config.yaml", "nope: 1\n")
    found = {problem.path for problem in check(repo).problems}
    assert found == {
        LEDGER,
        "docs/reviews/2026-03-02-helper-daily.json",
        "docs/feedback-sweep/state.yml",
        "docs/bugs/a.md",
        "docs/bugs/b.md",
        ".muniment/config.yaml",
    }


def test_removed__history_of_the_default_branch_itself_is_cut_off(repo: Repo, tmp_path: Path) -> None:
    """The merge base is there, but what came before it isn't: an older entry may be missing."""
    ledger(repo, notes(3))
    repo.commit("Three")
    ledger(repo, notes(1))
    repo.commit("One")
    clone = Repo(tmp_path / "clone")
    repo.git("clone", "-q", "--depth", "1", f"file://{repo.path}", str(clone.path))
    assert [(one.rule, one.settle) for one in check(clone).unknown] == [("removed", "git fetch --unshallow")]
    clone.git("fetch", "-q", "--unshallow")
    assert rules(check(clone)) == ["removed", "removed"]
