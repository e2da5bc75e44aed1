"""`check --fix`: machine-owned files with one right form, through the door, said; nobody's text."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from muniment.files import file_lock
from tests.support.checking import LEDGER, PHONE, PLAN, STATE, check, ledger, notes, rules, state
from tests.support.cli import muniment
from tests.support.repo import Repo

OPEN = {"status": "analyzed", "title": "List loses flour", "category": "bug", "actionable": "true"}


def fix(repo: Repo, *words: str) -> dict[str, str]:
    """Run `check --fix`; what it did by path."""
    result = muniment("check", "--fix", "--json", *words, cwd=repo.path)
    return {one["path"]: one["what"] for one in result.json["fixed"]}


def test_ledger_layout_is_mended_and_nothing_else_of_it(repo: Repo) -> None:
    canonical = ledger(repo, notes(4))
    repo.write(LEDGER, json.dumps(json.loads(canonical), indent=2))
    assert list(fix(repo)) == [LEDGER]
    assert repo.read(LEDGER) == canonical
    assert fix(repo) == {}


def test_line_endings_are_mended(repo: Repo) -> None:
    canonical = ledger(repo, notes(2))
    state(repo, {})
    lf = repo.read(STATE)
    for name, data in ((LEDGER, canonical), (STATE, lf)):
        repo.write(name, data.replace(b"\n", b"\r\n"))
    assert set(fix(repo)) == {LEDGER, STATE}
    assert (repo.read(LEDGER), repo.read(STATE)) == (canonical, lf)
    assert check(repo).problems == ()


def test_the_plan_is_reconciled(repo: Repo) -> None:
    state(repo, {"inbox:1": OPEN})
    fixed = fix(repo)
    assert set(fixed) == {PLAN, STATE}
    assert check(repo).problems == ()
    assert fix(repo) == {}


def test_a_hand_edit_is_kept_not_mended_away(repo: Repo) -> None:
    state(repo, {"inbox:1": OPEN})
    fix(repo)
    repo.write(PLAN, repo.read(PLAN).replace(b"List loses flour", b"List loses sugar"))
    edited = repo.read(PLAN)
    assert fix(repo) == {}
    assert repo.read(PLAN) == edited
    assert rules(check(repo)) == ["hand-edit"]


def test_a_plan_that_is_not_ours_is_left_for_a_person(repo: Repo) -> None:
    state(repo, {"inbox:1": OPEN})
    repo.write(PLAN, "# Mine\n")
    assert fix(repo) == {}
    assert repo.read(PLAN) == b"# Mine\n"


def test_a_damaged_ledger_is_left_as_it_is(repo: Repo) -> None:
    data = ledger(repo, notes(3)).replace(b"Note 1", b"Nope 1").replace(b"\n", b"\r\n")
    repo.write(LEDGER, data)
    assert fix(repo) == {}
    assert repo.read(LEDGER) == data


def test_what_the_gate_refuses_is_not_written(repo: Repo) -> None:
    state(repo, {"inbox:1": {**OPEN, "title": f"Call {PHONE}"}})
    before = repo.read(STATE)
    result = muniment("check", "--fix", "--json", cwd=repo.path)
    assert result.code == 1
    assert repo.read(STATE) == before
    assert not (repo.path / PLAN).exists()
    assert PHONE not in result.out + result.err


def test_documents_are_never_touched(repo: Repo) -> None:
    data = b"[gone](gone.md)\r\n<<<<<<< ours\na\n=======\nb\n>>>>>>> theirs\n"
    repo.write("docs/bugs/a.md", data)
    assert fix(repo) == {}
    assert repo.read("docs/bugs/a.md") == data


def test_staged__the_working_file_is_mended_and_to_be_staged_again(repo: Repo) -> None:
    canonical = ledger(repo, notes(2))
    repo.write(LEDGER, json.dumps(json.loads(canonical), indent=2))
    repo.git("add", ".")
    staged = repo.git("ls-files", "-s")
    result = muniment("check", "--staged", "--fix", "--json", cwd=repo.path)
    assert result.code == 1, "what is staged still has the problem"
    assert [one["path"] for one in result.json["fixed"]] == [LEDGER]
    assert any(note["rule"] == "stage-again" and note["path"] == LEDGER for note in result.json["notes"])
    assert repo.git("ls-files", "-s") == staged
    repo.git("add", ".")
    assert muniment("check", "--staged", cwd=repo.path).code == 0


def test_a_range_cannot_be_mended(repo: Repo) -> None:
    assert muniment("check", "--range", "HEAD..HEAD", "--fix", cwd=repo.path).code == 2


def test_wrong_settings_refuse_before_anything_is_written(repo: Repo) -> None:
    data = ledger(repo, notes(2)).replace(b"\n", b"\r\n")
    repo.write(LEDGER, data)
    repo.write(".muniment/config.yaml", "nope: 1\n")
    assert muniment("check", "--fix", cwd=repo.path).code == 2
    assert repo.read(LEDGER) == data


def test_another_process_at_work_is_waited_for_then_refused(
    repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    import muniment.publish as door  # noqa: PLC0415 - patched here only

    monkeypatch.setattr(door, "file_lock", lambda path: file_lock(path, wait_seconds=0))
    (repo.path / ".git/muniment").mkdir()
    with file_lock(repo.path / ".git/muniment/lock"):
        assert muniment("check", "--fix", cwd=repo.path).code == 3


def test_without_fix_nothing_is_written(repo: Repo) -> None:
    data = ledger(repo, notes(2)).replace(b"\n", b"\r\n")
    repo.write(LEDGER, data)
    check(repo)
    assert repo.read(LEDGER) == data


def test_fix_says_what_it_did_to_a_person(repo: Repo) -> None:
    repo.write(LEDGER, ledger(repo, notes(2)).replace(b"\n", b"\r\n"))
    result = muniment("check", "--fix", cwd=repo.path).ok()
    assert f"fixed: {LEDGER}: written in Muniment's layout" in result.err


def test_paths__only_named_files_are_mended(repo: Repo, tmp_path: Path) -> None:
    del tmp_path
    crlf = ledger(repo, notes(2)).replace(b"\n", b"\r\n")
    repo.write(LEDGER, crlf)
    state(repo, {})
    repo.write(STATE, repo.read(STATE).replace(b"\n", b"\r\n"))
    assert set(fix(repo, STATE)) == {STATE}
    assert repo.read(LEDGER) == crlf
