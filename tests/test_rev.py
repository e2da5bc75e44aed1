"""`--rev`: every reading command answers from a commit's files, never from the working tree (G1)."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from muniment.errors import UsageProblem
from muniment.workspace import open_workspace
from tests.support import triage as batch
from tests.support.checking import LEDGER, ledger, notes, state
from tests.support.cli import muniment
from tests.support.repo import Repo

OLD_DOC = "docs/bugs/lost-flour.md"
NEW_DOC = "docs/ideas/barge.md"
READING = (
    ("status",),
    ("triage", "list"),
    ("triage", "show"),
    ("relate", "flour"),
    ("report", "validate", batch.REPORT),
    ("report", "render", batch.REPORT),
    ("config", "show"),
    ("docs", "list"),
    ("docs", "search", "flour"),
    ("roadmap", "check"),
)


@pytest.fixture
def past(repo: Repo) -> str:
    """A commit with a batch, a ledger, a state, a document and settings; the working tree has others."""
    repo.write(".muniment/config.yaml", "relate_commits: 7\n")
    repo.write(OLD_DOC, "# Flour gets lost\n\nThe flour sack is lost between the mill and the barge.\n")
    repo.write("docs/pending-verification.md", "# Pending\n\n- [ ] One\n- [ ] Two\n")
    ledger(repo, notes(3))
    state(repo, {"inbox:1": {"status": "in_plan"}})
    batch.intake(repo, [batch.Told("lost-flour")])
    made = repo.commit("Everything")
    repo.write(".muniment/config.yaml", "relate_commits: 9\n")
    repo.git("rm", "-q", "-r", "docs")
    repo.write(NEW_DOC, "# A barge without a rudder\n\nThe barge needs a rudder.\n")
    repo.commit("Something else")
    return made


def ask(repo: Repo, *arguments: str, rev: str) -> object:
    return muniment(*arguments, "--rev", rev, "--json", cwd=repo.path).ok().json


def test_status_as_of_a_commit(repo: Repo, past: str) -> None:
    found = muniment("status", "--rev", past, "--json", cwd=repo.path).ok().json
    assert found["rev"] == past
    assert found["ledger"] == {"entries": 3, "ok": True, "problem": ""}
    assert [(one["batch"], one["rows"]) for one in found["triage"]] == [(batch.NAME, 1)]
    assert (found["pending"], found["plan"]["open"], found["faults"]) == (2, 1, [])
    assert (found["interrupted"], found["hooks"], found["next"]) == (None, None, [])
    now = muniment("status", "--json", cwd=repo.path).ok().json
    assert (now["rev"], now["triage"], now["pending"]) == (None, [], 0)
    assert past[:10] in muniment("status", "--rev", past, cwd=repo.path).ok().out


def test_triage_as_of_a_commit(repo: Repo, past: str) -> None:
    assert muniment("triage", "list", "--json", cwd=repo.path).ok().json == []
    listed = muniment("triage", "list", "--rev", "HEAD~1", "--json", cwd=repo.path).ok().json
    assert [one["batch"] for one in listed] == [batch.NAME]
    shown = muniment("triage", "show", "--rev", past, "--json", cwd=repo.path).ok().json
    assert [row["fingerprint"] for row in shown["rows"]] == ["bug/code/lost-flour"]
    assert shown["rows"][0]["finding"]["what_went_wrong"] == "The list loses lines."
    none = muniment("triage", "show", cwd=repo.path)
    assert (none.code, "no triage batch here" in none.err) == (2, True)


def test_a_row_decided_since_is_undecided_back_then(repo: Repo) -> None:
    batch.intake(repo, [batch.Told("lost-flour")])
    before = repo.commit("Batch")
    muniment("triage", "override", "1", "--action", "reject", "--reason", "No.", cwd=repo.path).ok()
    now = muniment("triage", "show", "--json", cwd=repo.path).ok().json
    then = muniment("triage", "show", "--rev", before, "--json", cwd=repo.path).ok().json
    assert now["rows"][0]["decision"]["action"] == "reject"
    assert then["rows"][0]["decision"] is None


def test_relate_as_of_a_commit_sees_just_that_tree(repo: Repo, past: str) -> None:
    def found(text: str, *rev: str) -> set[str]:
        answer = muniment("relate", text, *rev, "--json", cwd=repo.path).ok().json
        return {one["path"] for one in answer["results"] if one["type"] == "doc"}

    flour, rudder = "The flour sack is lost", "The barge needs a rudder"
    for _ in range(2):  # whatever is asked in between, each answer is its own tree's
        assert found(flour, "--rev", past) == {OLD_DOC}
        assert found(rudder, "--rev", past) == set()
        assert found(flour) == set()
        assert found(rudder) == {NEW_DOC}
    searched = muniment("docs", "search", "flour", "--rev", past, "--json", cwd=repo.path).ok().json
    assert OLD_DOC in {one["path"] for one in searched["results"]}
    assert muniment("docs", "search", "flour", "--json", cwd=repo.path).ok().json["results"] == []


def test_relate_finds_commits_up_to_the_revision_only(repo: Repo) -> None:
    repo.write("a.txt", "one")
    first = repo.commit("Repair the granary door hinge")
    repo.write("a.txt", "two")
    repo.commit("Paint the windmill sails crimson")

    def commits(text: str, *rev: str) -> list[str]:
        answer = muniment("relate", text, *rev, "--json", cwd=repo.path).ok().json
        return [one["title"] for one in answer["results"] if one["type"] == "commit"]

    sails = "Paint the windmill sails crimson"
    assert commits(sails) == [sails]
    assert commits(sails, "--rev", first) == []
    assert commits("Repair the granary door hinge", "--rev", first) == ["Repair the granary door hinge"]
    assert commits(sails) == [sails]


def test_an_edited_document_is_read_as_it_was(repo: Repo) -> None:
    repo.write(OLD_DOC, "# Flour gets lost\n\nThe sack is lost on the barge.\n")
    first = repo.commit("First")
    muniment("relate", "sack barge lost", cwd=repo.path).ok()
    repo.write(OLD_DOC, "# Something else\n\nNothing of the kind.\n")
    then = muniment("docs", "search", "barge", "--rev", first, "--json", cwd=repo.path).ok().json["results"]
    now = muniment("docs", "search", "barge", "--json", cwd=repo.path).ok().json["results"]
    assert ([one["title"] for one in then], now) == (["Flour gets lost"], [])


def test_the_cache_is_not_written_as_of_a_commit(repo: Repo, past: str) -> None:
    muniment("relate", "flour", cwd=repo.path).ok()
    before = digests(repo.path / ".git" / "muniment" / "cache" / "relate")
    muniment("relate", "flour", "--rev", past, cwd=repo.path).ok()
    assert digests(repo.path / ".git" / "muniment" / "cache" / "relate") == before


def digests(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def test_report_as_of_a_commit(repo: Repo, past: str) -> None:
    assert muniment("report", "validate", batch.REPORT, cwd=repo.path).code != 0
    found = muniment("report", "validate", batch.REPORT, "--rev", past, "--json", cwd=repo.path).ok().json
    assert (found["ok"], found["findings"]) == (True, 1)
    page = muniment("report", "render", batch.REPORT, "--rev", past, cwd=repo.path).ok().out
    assert "The list loses lines." in page
    (repo.path / "sub").mkdir()
    deeper = muniment("report", "validate", f"../{batch.REPORT}", "--rev", past, cwd=repo.path / "sub")
    assert deeper.code == 0
    absent = muniment("report", "render", "docs/nothing.json", "--rev", past, cwd=repo.path)
    assert (absent.code, "no file docs/nothing.json" in absent.err) == (2, True)


def test_settings_as_of_a_commit(repo: Repo, past: str) -> None:
    def shown(*rev: str) -> tuple[object, object]:
        found = muniment("config", "show", "relate_commits", *rev, "--json", cwd=repo.path).ok().json
        return found["settings"][0]["value"], found["settings"][0]["source"]

    assert (shown(), shown("--rev", past), shown("--rev", "HEAD~2")) == (
        (9, "committed"),
        (7, "committed"),
        (5000, "default"),
    )


def test_documents_lie_where_the_commit_says(repo: Repo) -> None:
    repo.write(".muniment/config.yaml", "docs_root: manual\n")
    repo.write("manual/bugs/one.md", "# One\n")
    repo.write("docs/bugs/two.md", "# Two\n")
    first = repo.commit("First")
    repo.write(".muniment/config.yaml", "docs_root: docs\n")
    then = muniment("docs", "list", "--stage", "bugs", "--rev", first, "--json", cwd=repo.path).ok().json
    now = muniment("docs", "list", "--stage", "bugs", "--json", cwd=repo.path).ok().json
    assert [one["path"] for one in then["documents"]] == ["manual/bugs/one.md"]
    assert [one["path"] for one in now["documents"]] == ["docs/bugs/two.md"]


@pytest.mark.parametrize("command", READING, ids=" ".join)
@pytest.mark.usefixtures("past")
def test_an_unknown_revision_is_wrong_usage(repo: Repo, command: tuple[str, ...]) -> None:
    found = muniment(*command, "--rev", "no-such-branch", "--json", cwd=repo.path)
    assert found.code == 2
    assert "no-such-branch" in found.json["error"]["message"]
    assert found.json["error"]["hint"]


@pytest.mark.parametrize("command", READING, ids=" ".join)
def test_reading_a_commit_changes_nothing(repo: Repo, past: str, command: tuple[str, ...]) -> None:
    head, index = repo.head(), repo.read(".git/index")
    muniment(*command, "--rev", past, cwd=repo.path).ok()
    assert (repo.head(), repo.read(".git/index"), repo.status()) == (head, index, "")


@pytest.mark.usefixtures("past")
def test_before_init_there_is_nothing(repo: Repo) -> None:
    start = "HEAD~2"
    found = muniment("status", "--rev", start, "--json", cwd=repo.path).ok().json
    assert (found["ledger"]["entries"], found["ledger"]["ok"]) == (0, True)
    assert (found["triage"], found["plan"], found["pending"], found["faults"]) == ([], None, 0, [])
    assert muniment("triage", "list", "--rev", start, "--json", cwd=repo.path).ok().json == []
    assert muniment("triage", "show", "--rev", start, cwd=repo.path).code == 2
    assert muniment("relate", "flour sack", "--rev", start, "--json", cwd=repo.path).ok().json["abstained"]


def test_a_broken_ledger_now_is_no_matter_back_then(repo: Repo, past: str) -> None:
    repo.write(LEDGER, "<<<<<<< broken")
    found = muniment("status", "--rev", past, "--json", cwd=repo.path).ok().json
    assert (found["ledger"]["ok"], found["ledger"]["entries"]) == (True, 3)


def test_a_workspace_at_a_commit(repo: Repo, past: str) -> None:
    ws = open_workspace(repo.path)
    then = ws.at(past)
    assert (then.commit, then.config.relate_commits, ws.config.relate_commits) == (past, 7, 9)
    assert then.read(OLD_DOC) == repo.git("show", f"{past}:{OLD_DOC}").encode() + b"\n"
    assert (ws.read(OLD_DOC), then.read("docs"), then.read("nothing")) == (None, None, None)
    assert then.files("docs/bugs") == ("lost-flour.md",)
    assert (ws.files("docs/bugs"), ws.files("docs/ideas")) == ((), ("barge.md",))
    assert ws.at(None) is ws
    with pytest.raises(UsageProblem, match="longer than"):
        then.read(OLD_DOC, limit=3)
