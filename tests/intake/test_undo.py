"""undo: one commit on HEAD that takes a batch back, and gives it back again (G14)."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from muniment.intake import acts
from tests.support.cli import Result, muniment
from tests.support.repo import Repo
from tests.support.triage import REPORT, TRIAGE, Told, approve_all, decide, intake

LEDGER = "docs/reviews/ledger.json"
LISTS = b"# Lists\n\nLines get lost.\n\n## Notes\n\nMine.\n"


@pytest.fixture
def team(repo: Repo) -> Repo:
    repo.write("docs/bugs/lists.md", LISTS)
    repo.write("docs/archive/done.md", "# Done\n\nLanded.\n")
    repo.commit("Documents")
    return repo


def apply(repo: Repo, *told: Told, name: str = "2026-03-02") -> str:
    triage = intake(repo, told, name=name, date=name)
    decide(repo, [str(number + 1) for number in range(len(told))], triage=triage)
    word = muniment("apply", "--batch", name, "--preview", "--json", cwd=repo.path).ok().json["token"]
    done = muniment("apply", "--confirm", word, "--json", cwd=repo.path).ok().json
    assert done["refused"] == []
    return str(done["commit"])


def undo(repo: Repo, *arguments: str) -> Result:
    return muniment("undo", *arguments, "--json", cwd=repo.path)


def status(repo: Repo, subject: str) -> dict[str, object]:
    found = muniment("ledger", "status", subject, "--json", cwd=repo.path).ok().json
    return {key: found[key] for key in ("status", "decisions", "aliases", "seen")}


def entries(repo: Repo) -> set[str]:
    return {entry["id"] for entry in muniment("ledger", "log", "--json", cwd=repo.path).ok().json["entries"]}


BATCH = (
    Told("one"),
    Told("two", "attach", "docs/bugs/lists.md"),
    Told("three", "reject"),
    Told("four", "fixed-not-deployed", "docs/archive/done.md"),
    Told("five", "duplicate", "bug/code/one", canonical="bug/code/one"),
)


def test_undo__takes_documents_and_decisions_back_in_one_commit(team: Repo) -> None:
    before = {told.fingerprint: status(team, told.fingerprint) for told in BATCH}
    applied = apply(team, *BATCH)
    after = {told.fingerprint: status(team, told.fingerprint) for told in BATCH}
    kept = entries(team)
    done = undo(team, "--yes").ok().json
    assert done["commit"] == team.head()
    assert team.git("rev-parse", "HEAD^") == applied
    assert team.status() == ""
    assert team.read("docs/bugs/lists.md") == LISTS
    assert not (team.path / "docs/bugs/one.md").exists()
    assert not (team.path / "docs/pending-verification.md").exists()
    assert {told.fingerprint: status(team, told.fingerprint) for told in BATCH} == before != after
    assert entries(team) > kept
    assert len(entries(team)) == len(kept) + 1
    changed = set(team.git("diff", "--name-only", "HEAD^", "HEAD").split())
    assert REPORT not in changed
    assert TRIAGE not in changed


def test_undo_of_an_undo__applies_again(team: Repo) -> None:
    apply(team, *BATCH)
    tree = team.git("ls-tree", "-r", "HEAD", "--", "docs/bugs", "docs/pending-verification.md")
    applied = {told.fingerprint: status(team, told.fingerprint) for told in BATCH}
    taken = undo(team, "--yes").ok().json["commit"]
    undo(team, taken, "--yes").ok()
    assert team.git("ls-tree", "-r", "HEAD", "--", "docs/bugs", "docs/pending-verification.md") == tree
    assert {told.fingerprint: status(team, told.fingerprint) for told in BATCH} == applied
    undo(team, "--yes").ok()
    assert team.read("docs/bugs/lists.md") == LISTS
    assert status(team, "bug/code/one")["status"] == "unseen"


def test_undo__by_commit_takes_an_older_batch_and_leaves_the_newer(team: Repo) -> None:
    first = apply(team, Told("one", "attach", "docs/bugs/lists.md", said="First said."), name="2026-03-02")
    apply(team, Told("two", "attach", "docs/bugs/lists.md", said="Second said."), name="2026-03-03")
    undo(team, first, "--yes").ok()
    text = team.read("docs/bugs/lists.md")
    assert text.startswith(LISTS[:20])
    assert b"First said." not in text
    assert b"Second said." in text
    assert status(team, "bug/code/one")["status"] == "unseen"
    assert status(team, "bug/code/two")["status"] == "attach"


def test_undo__keeps_later_edits_elsewhere(team: Repo) -> None:
    apply(team, *BATCH)
    text = team.read("docs/bugs/lists.md").replace(b"Lines get lost.", b"Lines get lost often.")
    team.write("docs/bugs/lists.md", text)
    team.commit("Edit")
    undo(team, "--yes").ok()
    assert team.read("docs/bugs/lists.md") == LISTS.replace(b"lost.", b"lost often.")


def test_undo__a_later_edit_that_overlaps_refuses_and_names_it(team: Repo) -> None:
    apply(team, *BATCH)
    lines = team.read("docs/bugs/lists.md").split(b"\n")
    number = next(index for index, line in enumerate(lines) if b"list loses" in line)
    lines[number] += b" Indeed."
    team.write("docs/bugs/lists.md", b"\n".join(lines))
    team.write("docs/bugs/one.md", team.read("docs/bugs/one.md") + b"More.\n")
    team.commit("Edit")
    before = (team.head(), team.status(), entries(team))
    refused = undo(team, "--yes")
    assert refused.code == 3
    problems = {(one["path"], one["line"]) for one in refused.json["error"]["problems"]}
    assert ("docs/bugs/lists.md", number + 1) in problems
    assert any(path == "docs/bugs/one.md" for path, _ in problems)
    assert (team.head(), team.status(), entries(team)) == before


@pytest.mark.parametrize("place", ["docs/archive/one.md", "docs/archive/under-another-name.md"])
def test_undo__a_created_document_that_moved_refuses(team: Repo, place: str) -> None:
    apply(team, Told("one"))
    team.git("mv", "docs/bugs/one.md", place)
    team.commit("Move")
    refused = undo(team, "--yes")
    assert refused.code == 3
    assert place in refused.json["error"]["message"]


def test_undo__a_created_document_that_is_gone_is_no_obstacle(team: Repo) -> None:
    apply(team, Told("one"))
    team.git("rm", "-q", "docs/bugs/one.md")
    team.commit("Delete")
    commit = undo(team, "--yes").ok().json["commit"]
    assert status(team, "bug/code/one")["status"] == "unseen"
    undo(team, commit, "--yes").ok()
    assert status(team, "bug/code/one")["status"] == "new"
    assert not (team.path / "docs/bugs/one.md").exists()


def test_undo__through_a_filter_program(team: Repo) -> None:
    team.git("config", "filter.turn.clean", "tr a-z n-za-m")
    team.git("config", "filter.turn.smudge", "tr a-z n-za-m")
    team.write(".gitattributes", "docs/bugs/*.md filter=turn\n")
    team.git("add", "--renormalize", ".")
    team.commit("Turn letters")
    before = team.read("docs/bugs/lists.md")
    apply(team, *BATCH)
    undo(team, "--yes").ok()
    assert team.read("docs/bugs/lists.md") == before
    assert not (team.path / "docs/bugs/one.md").exists()


def test_undo__dirty_document_is_refused(team: Repo) -> None:
    apply(team, *BATCH)
    team.write("docs/bugs/lists.md", team.read("docs/bugs/lists.md").replace(b"# Lists", b"# My lists"))
    assert undo(team, "--yes").code == 3
    undo(team, "--yes", "--include-dirty", "docs/bugs/lists.md").ok()
    assert team.read("docs/bugs/lists.md") == LISTS.replace(b"# Lists", b"# My lists")


def test_undo__of_a_batch_that_took_dirty_text_along_keeps_it(team: Repo) -> None:
    team.write("docs/bugs/lists.md", LISTS.replace(b"Mine.", b"Mine, unsaved."))
    triage = intake(team, [Told("two", "attach", "docs/bugs/lists.md")])
    decide(team, ["1"], triage=triage)
    shown = muniment("apply", "--preview", "--json", "--include-dirty", "docs/bugs/lists.md", cwd=team.path)
    muniment("apply", "--confirm", shown.ok().json["token"], cwd=team.path).ok()
    undo(team, "--yes").ok()
    assert team.read("docs/bugs/lists.md") == LISTS.replace(b"Mine.", b"Mine, unsaved.")


def test_undo__applies_the_same_batch_anew(team: Repo) -> None:
    apply(team, Told("one"))
    undo(team, "--yes").ok()
    word = muniment("apply", "--preview", "--json", cwd=team.path).ok().json["token"]
    muniment("apply", "--confirm", word, cwd=team.path).ok()
    assert status(team, "bug/code/one")["status"] == "new"
    assert status(team, "bug/code/one")["seen"] == 1
    assert (team.path / "docs/bugs/one.md").exists()


def test_undo_of_an_undo__refuses_once_the_batch_was_applied_anew(team: Repo) -> None:
    apply(team, Told("two", "attach", "docs/bugs/lists.md"))
    taken_back = undo(team, "--yes").ok().json["commit"]
    word = muniment("apply", "--preview", "--json", cwd=team.path).ok().json["token"]
    muniment("apply", "--confirm", word, cwd=team.path).ok()
    text, known = team.read("docs/bugs/lists.md"), entries(team)
    refused = undo(team, taken_back, "--yes")
    assert (refused.code, refused.json["error"]["code"]) == (3, "applied-again")
    assert (team.read("docs/bugs/lists.md"), entries(team)) == (text, known)
    undo(team, "--yes").ok()
    assert team.read("docs/bugs/lists.md") == LISTS
    assert status(team, "bug/code/two")["status"] == "unseen"


def test_undo__decided_otherwise_then_is_not_contested(team: Repo) -> None:
    apply(team, Told("one"))
    undo(team, "--yes").ok()
    decide(team, ["1"], "reject", reason="not worth it")
    word = muniment("apply", "--preview", "--json", cwd=team.path).ok().json["token"]
    muniment("apply", "--confirm", word, cwd=team.path).ok()
    assert status(team, "bug/code/one")["status"] == "reject"


def test_undo__nothing_to_undo(team: Repo) -> None:
    assert undo(team, "--yes").code == 1
    apply(team, Told("one"))
    taken = undo(team, "--yes").ok().json
    assert undo(team, "--yes").code == 1
    assert undo(team, taken["undone"], "--yes").code == 3
    assert undo(team, "HEAD~2", "--yes").code == 2
    assert undo(team, "no-such-rev", "--yes").code == 4


def test_undo__preview_changes_nothing_and_its_token_works_once(team: Repo) -> None:
    apply(team, *BATCH)
    before = (team.head(), team.status(), team.read(LEDGER))
    shown = undo(team, "--preview").ok().json
    assert {"docs/bugs/one.md", "docs/bugs/lists.md", LEDGER} <= {one["path"] for one in shown["changes"]}
    assert (team.head(), team.status(), team.read(LEDGER)) == before
    undo(team, "--confirm", shown["token"]).ok()
    assert undo(team, "--confirm", shown["token"]).code == 3


def test_undo__token_is_stale_once_a_document_changed(team: Repo) -> None:
    apply(team, *BATCH)
    word = undo(team, "--preview").ok().json["token"]
    team.write("docs/bugs/lists.md", team.read("docs/bugs/lists.md").replace(b"# Lists", b"# My lists"))
    team.commit("Edit")
    refused = undo(team, "--confirm", word)
    assert refused.code == 3
    assert "docs/bugs/lists.md" in refused.json["error"]["message"]


def test_undo__bare_form_needs_a_terminal(team: Repo) -> None:
    apply(team, Told("one"))
    assert muniment("undo", cwd=team.path).code == 2


@pytest.mark.parametrize("how", ["ci", "verified"])
def test_undo__by_flag_needs_authority(team: Repo, how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    apply(team, Told("one"))
    if how == "ci":
        monkeypatch.setenv("CI", "true")
    else:
        team.write(".muniment/config.yaml", "require_verified_approvals: true\n")
        team.commit("Settings")
    head = team.head()
    refused = undo(team, "--yes")
    assert refused.code == 3
    assert refused.json["error"]["code"] == "no-authority"
    assert team.head() == head


def test_undo__in_another_clone_finds_the_batch_by_its_commit(team: Repo, tmp_path: Path) -> None:
    applied = apply(team, *BATCH)
    other = team.clone(tmp_path / "other")
    undo(other, applied, "--yes").ok()
    assert other.read("docs/bugs/lists.md") == LISTS


def test_undo__crlf_checkout(team: Repo) -> None:
    team.git("config", "core.autocrlf", "true")
    (team.path / "docs/bugs/lists.md").unlink()
    team.git("checkout", "--", "docs/bugs/lists.md")
    crlf = LISTS.replace(b"\n", b"\r\n")
    assert team.read("docs/bugs/lists.md") == crlf
    apply(team, *BATCH)
    assert b"\n" not in team.read("docs/bugs/lists.md").replace(b"\r\n", b"")
    assert team.status() == ""
    undo(team, "--yes").ok()
    assert team.read("docs/bugs/lists.md") == crlf
    assert team.status() == ""
    assert not (team.path / "docs/bugs/one.md").exists()


def test_undo__of_a_batch_too_large_for_one_entry_takes_all_of_it_back(
    team: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(acts, "PART_BYTES", 400)
    told = [Told(f"number-{number}") for number in range(12)]
    triage = intake(team, [*told, Told("two", "attach", "docs/bugs/lists.md")])
    approve_all(team, triage)
    word = muniment("apply", "--preview", "--json", cwd=team.path).ok().json["token"]
    muniment("apply", "--confirm", word, cwd=team.path).ok()
    assert muniment("ledger", "verify", cwd=team.path).code == 0
    log = muniment("ledger", "log", "--kind", "applied", "--json", cwd=team.path).ok().json["entries"]
    assert len(log) > 3
    assert undo(team, min(log, key=lambda one: len(one["data"]["entries"]))["id"], "--yes").code in {2, 3}
    commit = undo(team, "--yes").ok().json["commit"]
    assert team.read("docs/bugs/lists.md") == LISTS
    assert list((team.path / "docs/bugs").iterdir()) == [team.path / "docs/bugs/lists.md"]
    assert status(team, "bug/code/number-7") == {
        "status": "unseen",
        "decisions": [],
        "aliases": [],
        "seen": 0,
    }
    assert undo(team, "--yes").code == 1
    undo(team, commit, "--yes").ok()
    assert len(list((team.path / "docs/bugs").iterdir())) == 13
    assert status(team, "bug/code/number-7")["status"] == "new"


def test_undo_of_an_undo__keeps_what_was_edited_in_between(team: Repo) -> None:
    apply(team, *BATCH)
    team.write("docs/bugs/lists.md", team.read("docs/bugs/lists.md").replace(b"# Lists", b"# My lists"))
    team.commit("Edit")
    commit = undo(team, "--yes").ok().json["commit"]
    team.write("docs/bugs/lists.md", team.read("docs/bugs/lists.md").replace(b"get lost", b"vanish"))
    team.commit("Edit")
    undo(team, commit, "--yes").ok()
    text = team.read("docs/bugs/lists.md")
    assert text.startswith(b"# My lists\n\nLines vanish.")
    assert b"## Evidence from review" in text
    undo(team, "--yes").ok()
    assert team.read("docs/bugs/lists.md") == LISTS.replace(b"# L", b"# My l").replace(b"get lost", b"vanish")


EDIT = st.sampled_from(["Lists", "Lines get lost.", "Notes", "Mine."])


@settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(st.tuples(EDIT, st.sampled_from([" a", " b", "\n\nInserted."])), max_size=3))
def test_undo__is_the_inverse_whatever_was_edited_elsewhere(
    tmp_path_factory: pytest.TempPathFactory, edits: list[tuple[str, str]]
) -> None:
    repo = Repo.init(tmp_path_factory.mktemp("undo") / "work")
    repo.write("docs/bugs/lists.md", LISTS)
    repo.commit("Start")
    apply(repo, Told("two", "attach", "docs/bugs/lists.md"))
    text, wanted = repo.read("docs/bugs/lists.md"), LISTS
    for where, what in edits:
        text, wanted = (one.replace(where.encode(), (where + what).encode(), 1) for one in (text, wanted))
    repo.write("docs/bugs/lists.md", text)
    repo.commit("Edit")
    undo(repo, "--yes").ok()
    assert repo.read("docs/bugs/lists.md") == wanted
