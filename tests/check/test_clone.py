"""Rules about this clone: an interrupted step, and the check as a hook of Muniment's own commit (G4, G5)."""

from __future__ import annotations

import sys
from pathlib import Path

from muniment.check.findings import Outcome
from muniment.errors import Refused
from muniment.files import FileChange, file_lock
from muniment.journal import Journal, Wanted
from muniment.publish import open_door
from muniment.workspace import open_workspace
from tests.support.checking import LEDGER, check, ledger, notes, rules
from tests.support.cli import muniment
from tests.support.repo import Repo


def interrupted(repo: Repo) -> bytes:
    """A step of one file, journalled and not begun, its run gone; returns the bytes it meant to write."""
    new = ledger(repo, notes(2))
    old = ledger(repo, notes(1))
    repo.commit("One entry")
    ws = open_workspace(repo.path)
    journal = Journal(ws.repo, ws.private)
    journal.begin([Wanted(LEDGER, (0o644, old), (0o644, new))], kind="write", operation="test")
    return new


def test_open_journal__is_a_problem_that_fix_ends(repo: Repo) -> None:
    new = interrupted(repo)
    outcome = check(repo)
    assert "open-journal" in rules(outcome)
    assert next(one.fix for one in outcome.problems if one.rule == "open-journal") == "muniment check --fix"
    assert "open-journal" in rules(check(repo, staged=True)), "a hook says it too"
    fixed = muniment("check", "--fix", "--json", cwd=repo.path).ok().json["fixed"]
    assert fixed[0]["what"] == "an interrupted step (test) is completed"
    assert repo.read(LEDGER) == new
    assert check(repo).problems == ()


def test_open_journal__while_its_run_is_alive_it_is_none(repo: Repo) -> None:
    interrupted(repo)
    ws = open_workspace(repo.path)
    with file_lock(ws.lock_path):
        assert "open-journal" not in rules(check(repo))


def hooked(repo: Repo) -> None:
    hook = repo.path / ".git/hooks/pre-commit"
    hook.write_text(f"#!/bin/sh\nexec '{sys.executable}' -m muniment check --staged\n")
    hook.chmod(0o755)


def published(root: Path, name: str, data: bytes) -> str:
    ws = open_workspace(root)
    with open_door(ws) as door:
        try:
            done = door.commit(door.clear([FileChange(name, data)]), "Publish", operation="test")
        except Refused as error:
            return error.message + error.hint
    return done.commit or ""


def test_the_hook_lets_muniments_own_commit_pass(repo: Repo) -> None:
    hooked(repo)
    before = repo.head()
    published(repo.path, "docs/bugs/a.md", b"# Fine\n")
    assert repo.head() != before


def test_the_hook_judges_what_muniment_commits_not_what_a_person_staged(repo: Repo, tmp_path: Path) -> None:
    repo.git("worktree", "add", "-q", str(tmp_path / "linked"))
    hooked(repo)
    for place in (repo, Repo(tmp_path / "linked")):
        place.write("docs/ideas/mine.md", "[gone](gone.md)\n")
        place.git("add", ".")
        before = place.head()
        published(place.path, "docs/bugs/a.md", b"# Fine\n")
        assert place.head() != before, place.path
        assert "gone.md" in published(place.path, "docs/bugs/b.md", b"[gone](gone.md)\n"), place.path
        assert not (place.path / "docs/bugs/b.md").exists()


def unknown(outcome: Outcome) -> list[tuple[str, str]]:
    return [(one.rule, one.settle) for one in outcome.unknown]


def test_upstream__without_any_remote_all_is_known(repo: Repo) -> None:
    ledger(repo, notes(2))
    assert unknown(check(repo)) == []


def test_upstream__a_remote_whose_head_is_not_known(repo: Repo, tmp_path: Path) -> None:
    ledger(repo, notes(2))
    repo.commit("Ledger")
    repo.git("branch", "-m", "trunk")
    repo.git("clone", "-q", "--bare", ".", str(tmp_path / "remote.git"))
    repo.git("remote", "add", "origin", str(tmp_path / "remote.git"))
    repo.git("fetch", "-q", "origin")
    repo.git("remote", "set-head", "origin", "--delete", check=False)
    settle = "git remote set-head origin --auto"
    assert unknown(check(repo)) == [("upstream", settle)]
    assert unknown(check(repo, "docs")) == [("upstream", settle)]
    assert unknown(check(repo, revisions="HEAD~1..HEAD")) == []
    answer = muniment("check", "--require-known", "--json", cwd=repo.path)
    assert (answer.code, answer.json["ok"], answer.json["unknown"][0]["settle"]) == (4, None, settle)
    repo.git(*settle.split()[1:])
    assert unknown(check(repo)) == []


def test_upstream__a_remote_that_was_never_fetched(repo: Repo, tmp_path: Path) -> None:
    ledger(repo, notes(2))
    repo.commit("Ledger")
    repo.git("clone", "-q", "--bare", ".", str(tmp_path / "remote.git"))
    repo.git("remote", "add", "hub", str(tmp_path / "remote.git"))
    settle = "git fetch hub && git remote set-head hub --auto"
    assert unknown(check(repo)) == [("upstream", settle)]
    for command in settle.split(" && "):
        repo.git(*command.split()[1:])
    assert unknown(check(repo)) == []


def test_upstream__the_only_remote_counts_whatever_its_name(repo: Repo, tmp_path: Path) -> None:
    ledger(repo, notes(3))
    repo.commit("Ledger")
    repo.bare_remote(tmp_path / "remote.git", "hub")
    ledger(repo, notes(1))
    found = check(repo)
    assert (rules(found), unknown(found)) == (["removed", "removed"], [])


def test_upstream__of_several_remotes_none_of_which_is_origin(repo: Repo, tmp_path: Path) -> None:
    ledger(repo, notes(2))
    repo.commit("Ledger")
    repo.bare_remote(tmp_path / "one.git", "one")
    repo.bare_remote(tmp_path / "two.git", "two")
    settle = "git config checkout.defaultRemote one"
    assert unknown(check(repo)) == [("upstream", settle)]
    repo.git(*settle.split()[1:])
    assert unknown(check(repo)) == []


def test_upstream__nothing_owned_is_nothing_to_compare(repo: Repo, tmp_path: Path) -> None:
    repo.git("remote", "add", "origin", str(tmp_path / "remote.git"))
    assert unknown(check(repo)) == []
