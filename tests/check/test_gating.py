"""The gate within `check`: what is added is refused, what HEAD holds is a note, no value is printed (G12)."""

from __future__ import annotations

from pathlib import Path

import pytest

from muniment.check import gating
from tests.support.checking import LEDGER, PHONE, check, ledger, notes, places, rules
from tests.support.cli import muniment
from tests.support.repo import Repo

MAIL = "someone@" + "customer-mail.com"


@pytest.mark.parametrize("path", ["docs/bugs/a.md", "docs/goals/x/goal.md", "docs/pending-verification.md"])
def test_an_added_identifier_is_a_problem_with_its_line(repo: Repo, path: str) -> None:
    repo.write(path, f"# A\n\nCall {PHONE} or {MAIL}.\n")
    outcome = check(repo)
    assert places(outcome) == [(path, 3, "gate-email"), (path, 3, "gate-phone")]
    shown = muniment("check", cwd=repo.path)
    assert shown.code == 1
    assert PHONE not in shown.out + shown.err
    assert MAIL not in shown.out + shown.err


def test_only_what_is_added_to_head_counts(repo: Repo) -> None:
    repo.write("docs/bugs/a.md", f"# A\n\nCall {PHONE}.\n")
    repo.commit("Old bytes")
    repo.write("docs/bugs/a.md", f"# A\n\nCall {PHONE}.\n\nMore.\n")
    outcome = check(repo)
    assert outcome.problems == ()
    assert outcome.ok is True
    assert [(note.path, note.line, note.rule) for note in outcome.notes] == [
        ("docs/bugs/a.md", 3, "gate-phone")
    ]
    repo.write("docs/bugs/a.md", f"# A\n\nCall {PHONE}.\n\nOr {MAIL}.\n")
    assert rules(check(repo)) == ["gate-email"]


def test_other_files_are_not_judged_unless_configured(repo: Repo) -> None:
    repo.write("README.md", f"Call {PHONE}\n")
    repo.write("src/a/b.py", f"# {PHONE}\n")
    assert check(repo).problems == ()
    repo.write(".muniment/config.yaml", "gate_paths: [README.md, 'src/*.py']\n")
    assert {path for path, _, _ in places(check(repo))} == {"README.md", "src/a/b.py"}
    repo.git("add", ".")
    assert {path for path, _, _ in places(check(repo, staged=True))} == {"README.md", "src/a/b.py"}


def test_settings_and_allow_list_hold_addresses_by_design(repo: Repo) -> None:
    repo.write(".muniment/config.yaml", f"owners: [{MAIL}]\n")
    repo.write(".muniment/allow.txt", f"{MAIL}\n")
    assert check(repo).problems == ()


def test_an_allowed_value_passes_from_where_it_gives_authority(repo: Repo) -> None:
    repo.write(".muniment/allow.txt", f"{MAIL}\n")
    repo.write("docs/bugs/a.md", f"Write to {MAIL}\n")
    assert rules(check(repo)) == ["gate-email"], "an uncommitted allow-list allows nothing"
    repo.commit("Allow", ".muniment/allow.txt")
    assert check(repo).problems == ()


def test_a_range_is_judged_by_what_its_commits_add(repo: Repo) -> None:
    start = repo.head()
    repo.write("docs/bugs/a.md", f"Call {PHONE}\n")
    leaked = repo.commit("Leak")
    repo.write("docs/bugs/a.md", "Call\n")
    repo.commit("Taken back")
    assert rules(check(repo, revisions=f"{start}..{leaked}")) == ["gate-phone"]
    assert rules(check(repo, revisions=f"{start}..HEAD")) == ["gate-phone"]  # it leaves with the history


def test_the_staged_bytes_count_not_the_working_tree(repo: Repo) -> None:
    repo.write("docs/bugs/a.md", f"Call {PHONE}\n")
    repo.git("add", ".")
    repo.write("docs/bugs/a.md", "Call\n")
    assert rules(check(repo, staged=True)) == ["gate-phone"]
    repo.git("add", ".")
    repo.write("docs/bugs/a.md", f"Call {PHONE}\n")
    assert rules(check(repo, staged=True)) == []


def test_a_forged_ledger_text_is_judged_too(repo: Repo) -> None:
    entries = notes(1)
    ledger(repo, entries)
    repo.commit("One")
    repo.write(LEDGER, repo.read(LEDGER).replace(b"Note 0", PHONE.encode()))
    assert "gate-phone" in rules(check(repo))


def test_committed__judged_once_and_remembered_by_blob(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    repo.write("docs/bugs/a.md", f"Call {PHONE}\n")
    repo.commit("Old")
    first = check(repo).notes
    monkeypatch.setattr(gating, "_gate", lambda _: pytest.fail("judged again"))
    assert check(repo).notes == first


def test_committed__new_rules_drop_what_was_remembered(repo: Repo) -> None:
    repo.write("docs/bugs/a.md", f"Write to {MAIL}\n")
    repo.commit("Old")
    assert [note.rule for note in check(repo).notes] == ["gate-email"]
    repo.write(".muniment/allow.txt", f"{MAIL}\n")
    repo.commit("Allow")
    assert check(repo).notes == ()


def test_committed__a_long_look_is_cut_and_counted(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gating, "MAX_FRESH", 10)
    for name in "abc":
        repo.write(f"docs/bugs/{name}.md", f"Call {PHONE} {name}\n")
    repo.commit("Old")
    seen = []
    for _ in range(4):
        notes_now = check(repo).notes
        seen.append(sorted(note.rule for note in notes_now))
    assert seen[0] == ["gate-later", "gate-phone"]
    assert seen[2] == seen[3] == ["gate-phone"] * 3


def test_committed__a_damaged_cache_is_only_a_missed_one(repo: Repo) -> None:
    repo.write("docs/bugs/a.md", f"Call {PHONE}\n")
    repo.commit("Old")
    first = check(repo).notes
    for junk in (b"", b"{", b"[1]", b'["x", 3]', b"\xff"):
        (repo.path / ".git/muniment/cache/check-gate.json").write_bytes(junk)
        assert check(repo).notes == first


def test_a_crlf_working_file_is_compared_by_its_text(repo: Repo) -> None:
    repo.git("config", "core.autocrlf", "true")
    repo.write("docs/bugs/a.md", f"# A\r\n\r\nCall {PHONE}.\r\n")
    repo.commit("Old, stored with LF")
    outcome = check(repo)
    assert outcome.problems == ()


def test_names_known_for_a_bot_are_judged(repo: Repo, tmp_path: Path) -> None:
    names = tmp_path / "names.txt"
    names.write_text("Zebulon Quartermain\n")
    repo.write(".muniment/config.yaml", f"bots:\n  - {{name: b, from: x, known_names: {names}}}\n")
    repo.write("docs/bugs/a.md", "Zebulon Quartermain said so.\n")
    assert rules(check(repo)) == ["gate-name"]


def test_a_moved_file_adds_nothing_but_what_is_new_in_it(repo: Repo) -> None:
    repo.write("docs/bugs/a.md", f"# A\n\nCall {PHONE}.\n")
    repo.commit("Old bytes")
    repo.git("mv", "docs/bugs/a.md", "docs/bugs/b.md")
    assert check(repo).problems == ()
    assert check(repo, staged=True).problems == ()
    repo.write("docs/bugs/b.md", f"# A\n\nCall {PHONE}.\n\nOr {MAIL}, or {PHONE}.\n")
    assert sorted(rules(check(repo))) == ["gate-email", "gate-phone"]
    repo.write("docs/bugs/b.md", "# A\n")
    repo.git("mv", "-f", "docs/bugs/b.md", f"docs/bugs/{PHONE}.md")
    assert rules(check(repo)) == ["gate-phone"]


def test_a_copied_file_adds_what_it_holds(repo: Repo) -> None:
    repo.write("docs/bugs/a.md", f"# A\n\nCall {PHONE}.\n")
    repo.commit("Old bytes")
    repo.write("docs/bugs/b.md", f"# A\n\nCall {PHONE}.\n")
    assert places(check(repo)) == [("docs/bugs/b.md", 3, "gate-phone")]


def in_range(repo: Repo, start: str = "start") -> list[tuple[str, int, str]]:
    return places(check(repo, revisions=f"{start}..HEAD"))


def test_commits__what_one_adds_and_a_later_one_takes_out(repo: Repo) -> None:
    repo.git("tag", "start")
    repo.write("docs/bugs/one.md", f"# One\n\nCall {PHONE}.\n")
    leaky = repo.commit("Add one")
    repo.write("docs/bugs/one.md", "# One\n\nCall nobody.\n")
    repo.commit("Say it otherwise")
    outcome = check(repo, revisions="start..HEAD")
    assert places(outcome) == [("docs/bugs/one.md", 3, "gate-phone")]
    problem = outcome.problems[0]
    assert leaky[:10] in problem.message
    assert PHONE not in str(problem)
    assert problem.fix == f"git rebase -i --rebase-merges {leaky[:10]}^"
    answer = muniment("check", "--range", "start..HEAD", cwd=repo.path)
    assert (answer.code, leaky[:10] in answer.out) == (1, True)


def test_commits__a_file_that_is_gone_at_the_end(repo: Repo) -> None:
    repo.git("tag", "start")
    repo.write("docs/bugs/one.md", f"# One\n\nCall {PHONE}.\n")
    repo.commit("Add one")
    repo.git("rm", "-q", "docs/bugs/one.md")
    repo.commit("Remove it")
    assert in_range(repo) == [("docs/bugs/one.md", 3, "gate-phone")]


def test_commits__a_message(repo: Repo) -> None:
    repo.git("tag", "start")
    leaky = repo.commit(f"Fix it\n\nSaid by {PHONE}\n\nSigned-off-by: Robin Owner <robin@example.org>")
    repo.commit("Signed\n\nSigned-off-by: Robin Owner <robin@example.org>")
    outcome = check(repo, revisions="start..HEAD")
    assert [(one.rule, leaky[:10] in one.message) for one in outcome.problems] == [("gate-phone", True)]
    assert PHONE not in str(outcome.problems[0])


def test_commits__what_stands_at_the_end_is_told_once(repo: Repo) -> None:
    repo.git("tag", "start")
    repo.write("docs/bugs/one.md", f"# One\n\nCall {PHONE}.\n")
    repo.commit("Add one")
    repo.write("docs/bugs/one.md", f"# One\n\nPlease\n\nCall {PHONE}.\n")
    repo.commit("Go on")
    assert in_range(repo) == [("docs/bugs/one.md", 5, "gate-phone")]


def test_commits__what_the_start_holds_is_old(repo: Repo) -> None:
    repo.write("docs/bugs/one.md", f"# One\n\nCall {PHONE}.\n")
    repo.commit("Old")
    repo.git("tag", "start")
    repo.write("docs/bugs/one.md", "# One\n")
    repo.commit("Take it out")
    repo.git("revert", "--no-edit", "HEAD")
    repo.git("mv", "docs/bugs/one.md", "docs/bugs/two.md")
    repo.commit("Move it")
    repo.git("rm", "-q", "docs/bugs/two.md")
    repo.commit("Remove it")
    assert in_range(repo) == []


def test_commits__a_merge_adds_what_neither_side_has(repo: Repo) -> None:
    repo.write("docs/bugs/one.md", f"# One\n\nCall {PHONE}.\n")
    repo.commit("Old on main")
    repo.git("branch", "side", "HEAD~1")
    repo.git("tag", "start")
    repo.git("switch", "-q", "side")
    repo.write("docs/bugs/two.md", "# Two\n")
    repo.commit("Two")
    repo.git("merge", "-q", "--no-edit", "main")
    assert in_range(repo) == []
    repo.git("merge", "-q", "--no-edit", "--no-ff", "--no-commit", "main", check=False)
    repo.write("docs/bugs/two.md", f"# Two\n\nCall {PHONE}.\n")
    repo.git("add", ".")
    repo.git("commit", "-q", "--amend", "--no-edit")
    repo.write("docs/bugs/two.md", "# Two\n")
    repo.commit("Back")
    assert in_range(repo) == [("docs/bugs/two.md", 3, "gate-phone")]


def test_commits__other_peoples_files_are_not_judged(repo: Repo) -> None:
    repo.git("tag", "start")
    repo.write("src/a.txt", f"Call {PHONE}.\n")
    repo.commit("Add")
    repo.write("src/a.txt", "None.\n")
    repo.commit("Drop")
    assert in_range(repo) == []
