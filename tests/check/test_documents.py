"""Rules about documents: links, regions, goals, encoding."""

from __future__ import annotations

import posixpath
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muniment import regions
from muniment.check.facts import candidates
from muniment.check.links import resolve
from muniment.ledger.entries import mint
from tests.support.checking import PLAN, check, ledger, places, rules
from tests.support.repo import Repo


def test_links__to_files_folders_headings_and_the_web_are_fine(repo: Repo) -> None:
    repo.write("docs/ideas/b c.md", "# B\n")
    repo.write(
        "docs/bugs/a.md",
        "[b](../ideas/b%20c.md#top) [b](<../ideas/b c.md>) [top](/README.md) [folder](../ideas) [up](..)\n"
        "[self](#here) [web](https://example.org/x.md) [mail](mailto:a) ![image](../../README.md?raw=1)\n"
        "[ref][r] [root](../../)\n\n[r]: ../ideas/ 'title'\n",
    )
    assert check(repo).problems == ()
    assert check(repo).notes == ()


@pytest.mark.parametrize(
    "text",
    [
        "line\n\n[gone](gone.md)\n",
        "line\n\n[gone](<gone.md>)\n",
        "line\n\n![gone](gone.md)\n",
        "line\n\n[gone][r]\n\n[r]: gone.md\n",
        "line\n\n[gone](gone.md#part 'title')\n",
        "line\n\n[gone](gone\\.md)\n",
        "line\n\n[gone](&#103;one.md)\n",
        "line\n\n[gone](%67one.md)\n",
        "line\n\n> [gone](gone.md)\n",
        "line\n\n- [gone](\ngone.md)\n",
    ],
)
def test_links__a_missing_target_is_a_problem_with_its_line(repo: Repo, text: str) -> None:
    repo.write("docs/bugs/a.md", text)
    outcome = check(repo)
    assert places(outcome) == [("docs/bugs/a.md", 3, "doc-link")]
    assert "docs/bugs/gone.md" in outcome.problems[0].message
    assert outcome.problems[0].fix == "git log --oneline -- docs/bugs/gone.md"


@pytest.mark.parametrize(
    "text",
    [
        "```\n[gone](gone.md)\n```\n",
        "    [gone](gone.md)\n",
        "`[gone](gone.md)`\n",
        "<!-- [gone](gone.md) -->\n",
        "\\[gone](gone.md)\n",
    ],
)
def test_links__in_code_and_comments_do_not_count(repo: Repo, text: str) -> None:
    repo.write("docs/bugs/a.md", text)
    assert check(repo).problems == ()


def test_links__out_of_the_repository_are_a_note(repo: Repo) -> None:
    repo.write("docs/bugs/a.md", "[issue](../../../issues/12)\n")
    outcome = check(repo)
    assert outcome.problems == ()
    assert [note.rule for note in outcome.notes] == ["doc-link"]


def test_links__a_document_that_moved_stage_is_followed(repo: Repo) -> None:
    repo.write("docs/archive/fix.md", "# Fixed\n")
    repo.write("docs/ideas/a.md", "[fix](../bugs/fix.md)\n")
    outcome = check(repo)
    assert outcome.problems == ()
    assert "moved to docs/archive/fix.md" in outcome.notes[0].message


def test_links__a_renamed_file_is_followed_through_history(repo: Repo) -> None:
    repo.write("src/old.py", "print('one of a kind')\n")
    repo.write("docs/ideas/a.md", "[code](../../src/old.py)\n")
    repo.commit("Code")
    repo.git("mv", "src/old.py", "src/new.py")
    repo.commit("Rename")
    outcome = check(repo)
    assert outcome.problems == ()
    assert "moved to src/new.py" in outcome.notes[0].message


def test_links__absent_on_this_branch_is_a_note(repo: Repo) -> None:
    repo.git("switch", "-qc", "side")
    repo.write("docs/ideas/only-there.md", "# There\n")
    repo.commit("There")
    repo.git("switch", "-q", "main")
    repo.write("docs/bugs/a.md", "[there](../ideas/only-there.md)\n")
    outcome = check(repo)
    assert outcome.problems == ()
    assert "it is on side" in outcome.notes[0].message


def test_links__in_a_shallow_clone_absence_is_unknown(repo: Repo, tmp_path: Path) -> None:
    repo.write("docs/bugs/a.md", "[x](../../src/x.py)\n")
    repo.commit("Doc")
    clone = Repo(tmp_path / "shallow")
    clone.path.mkdir()
    clone.git("clone", "-q", "--depth=1", f"file://{repo.path}", ".")
    outcome = check(clone)
    assert (outcome.ok, outcome.problems) == (None, ())
    assert outcome.unknown[0].settle == "git fetch --unshallow"


def test_links__other_documents_are_not_ours(repo: Repo) -> None:
    repo.write("docs/guide.md", "[gone](gone.md)\n")
    repo.write("README.md", "[gone](gone.md)\n")
    assert check(repo).problems == ()


@pytest.mark.parametrize(
    ("target", "place"),
    [
        ("x.md", "docs/bugs/x.md"),
        ("../ideas/x.md#a", "docs/ideas/x.md"),
        ("/README.md", "README.md"),
        ("#a", ""),
        ("../../..", None),
        ("../../../x", None),
        ("../..", ""),
        ("a%2Fb", "docs/bugs/a/b"),
        ("../../x", "x"),
        ("./x/../y.md", "docs/bugs/y.md"),
        ("../.hidden/x", "docs/.hidden/x"),
        ("..x/y", "docs/bugs/..x/y"),
        ("x//y/", "docs/bugs/x/y"),
        ("x.md?plain=1", "docs/bugs/x.md"),
        ("a../b.md", "docs/bugs/a../b.md"),
    ],
)
def test_resolve(target: str, place: str | None) -> None:
    assert resolve("docs/bugs/a.md", target) == place


@given(st.lists(st.sampled_from(["..", ".", "a", "b.md", ".c", "", "..d", "e f"]), min_size=1, max_size=7))
def test_resolve__the_quick_way_agrees_with_normalising(parts: list[str]) -> None:
    target = "/".join(parts)
    absolute = target.startswith("/")
    place = posixpath.normpath(posixpath.join("" if absolute else "docs/bugs", target.lstrip("/")))
    expected = None if place == ".." or place.startswith("../") else "" if place == "." else place
    assert resolve("docs/bugs/a.md", target) == (expected if target else "")


def test_candidates__cost_nothing_without_links() -> None:
    assert candidates("no links here, not even a [bracket]\n") == ((), False)


def test_texts__not_utf8_and_conflict_markers(repo: Repo) -> None:
    repo.write("docs/bugs/a.md", b"one\n\xe9\n")
    repo.write("docs/bugs/b.md", "one\n<<<<<<< ours\na\n=======\nb\n>>>>>>> theirs\n")
    assert places(check(repo)) == [("docs/bugs/a.md", 2, "text"), ("docs/bugs/b.md", 2, "conflict-markers")]


def test_texts__a_heading_underlined_or_a_quote_is_no_conflict(repo: Repo) -> None:
    repo.write("docs/bugs/a.md", "Title\n=======\n\n>>> deep quote\n\n<<<<<<<<\n")
    assert check(repo).problems == ()


def region(body: str, digest: str | None = None) -> str:
    marked = regions.reading_digest(body) if digest is None else digest
    return f"# T\n\n<!-- sweep-items:start -->\n\n{body}\n<!-- sweep-items:end sha256={marked} -->\n"


def test_regions__a_hand_edit_is_reported_before_it_is_moved(repo: Repo) -> None:
    text = region("- one\n- two\n")
    repo.write("docs/ideas/a.md", text)
    assert check(repo).problems == ()
    repo.write("docs/ideas/a.md", text.replace("- one", "* one").replace("\n", "\r\n"))
    assert check(repo).problems == (), "a formatter is no hand edit"
    repo.write("docs/ideas/a.md", text.replace("two", "three"))
    outcome = check(repo)
    assert places(outcome) == [("docs/ideas/a.md", 3, "hand-edit")]
    assert outcome.problems[0].fix == "muniment plan reconcile"


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("<!-- sweep-items:start -->\n", "region-unbalanced"),
        ("<!-- sweep-items:end -->\n", "region-unbalanced"),
        (region("a\n") + region("b\n"), "region-repeated"),
    ],
)
def test_regions__broken_markers_are_problems(repo: Repo, text: str, rule: str) -> None:
    repo.write("docs/ideas/a.md", text)
    assert rule in rules(check(repo))


def test_regions__markers_in_code_do_not_count(repo: Repo) -> None:
    repo.write("docs/ideas/a.md", "```\n<!-- sweep-items:start -->\n```\n")
    assert check(repo).problems == ()


ROADMAP = """\
# Roadmap

## M1 First

### M1.1 `one` — One

status: {one}

### M1.2 `two` — Two

status: {two}
depends on: {needs}
"""


@pytest.mark.parametrize(
    ("one", "two", "needs", "expected"),
    [
        ("done", "in-progress", "M1.1", []),
        ("backlog", "done", "M1.1", ["roadmap-status"]),
        ("done", "done", "M9.9", ["roadmap-unknown-id"]),
        ("backlog", "backlog", "M1.2", ["roadmap-cycle"]),
        ("finished", "backlog", "M1.1", ["roadmap-status-word"]),
    ],
)
def test_roadmaps(repo: Repo, one: str, two: str, needs: str, expected: list[str]) -> None:
    path = "docs/goals/sharing/roadmap.md"
    repo.write(path, ROADMAP.format(one=one, two=two, needs=needs))
    outcome = check(repo)
    assert rules(outcome) == expected
    assert all(problem.path == path and problem.line for problem in outcome.problems)


def test_roadmaps__only_the_goal_that_changed_counts_when_staged(repo: Repo) -> None:
    bad = ROADMAP.format(one="backlog", two="done", needs="M1.1")
    repo.write("docs/goals/old/roadmap.md", bad)
    repo.commit("Old")
    repo.write("docs/goals/new/goal.md", "# New\n")
    repo.git("add", ".")
    assert rules(check(repo, staged=True)) == []
    repo.write("docs/goals/old/goal.md", "# Old\n")
    repo.git("add", ".")
    assert rules(check(repo, staged=True)) == ["roadmap-status"]


def test_symbolic_links__where_muniment_writes_are_problems(repo: Repo, tmp_path: Path) -> None:
    (tmp_path / "outside.md").write_text("[x](gone.md)\n")
    (repo.path / "docs/plans").mkdir(parents=True)
    (repo.path / PLAN).symlink_to(tmp_path / "outside.md")
    (repo.path / "docs/bugs").symlink_to(tmp_path)
    outcome = check(repo)
    assert places(outcome) == [(PLAN, 0, "symbolic-link")]


def test_allow_list__not_utf8_is_a_problem(repo: Repo) -> None:
    repo.write(".muniment/allow.txt", b"\xff\n")
    assert rules(check(repo)) == ["text"]


def test_links__a_folder_or_file_of_a_remote_branch_is_a_note(repo: Repo, tmp_path: Path) -> None:
    repo.bare_remote(tmp_path / "remote.git")
    other = repo.clone(tmp_path / "other")
    other.git("switch", "-qc", "feature")
    other.write("src/new/part.py", "x = 1\n")
    other.commit("New part")
    other.git("remote", "set-url", "origin", str(tmp_path / "remote.git"))
    other.git("push", "-q", "origin", "feature")
    repo.git("fetch", "-q", "origin")
    repo.write("docs/bugs/a.md", "[f](../../src/new) [p](../../src/new/part.py)\n")
    outcome = check(repo)
    assert outcome.problems == ()
    assert [note.message.rpartition(" ")[2] for note in outcome.notes] == ["origin/feature."] * 2


def test_links__a_removed_target_is_a_problem_even_though_history_knows_it(repo: Repo) -> None:
    repo.write("src/gone.py", "print('gone for good')\n")
    repo.commit("There")
    repo.git("rm", "-q", "src/gone.py")
    repo.commit("Gone")
    repo.write("docs/bugs/a.md", "[code](../../src/gone.py) [never](../../src/never.py)\n")
    assert rules(check(repo)) == ["doc-link", "doc-link"]


def test_links__in_a_range_and_when_staged_moves_are_followed_too(repo: Repo) -> None:
    repo.write("docs/bugs/b.md", "# B\n")
    start = repo.commit("B")
    repo.git("mv", "docs/bugs/b.md", "docs/archive-b.md")
    (repo.path / "docs/archive").mkdir()
    repo.git("mv", "docs/archive-b.md", "docs/archive/b.md")
    repo.write("docs/bugs/a.md", "[b](b.md)\n")
    repo.git("add", ".")
    outcome = check(repo, staged=True)
    assert (outcome.problems, [note.rule for note in outcome.notes]) == ((), ["doc-link"])
    repo.commit("Moved")
    outcome = check(repo, revisions=f"{start}..HEAD")
    assert (outcome.problems, [note.rule for note in outcome.notes]) == ((), ["doc-link"])


@pytest.mark.parametrize(
    ("target", "told"),
    [
        ("docs/bugs/gone.md:12", True),
        ("docs/bugs/here.md:1", False),
        ("docs/bugs/here.md", False),
        ("docs/bugs/moved.md", False),
        ("bug/code/some-slug", False),
    ],
)
def test_decision_targets__what_is_gone_is_a_note(repo: Repo, target: str, told: bool) -> None:
    repo.write("docs/bugs/here.md", "# Here\n")
    repo.write("docs/archive/moved.md", "# Moved\n")
    action = "duplicate" if target.startswith("bug/") else "attach"
    data = {"subject": "bug/code/x", "action": action, "target": target}
    entry = mint(kind="decision", data=data, at="2026-03-01T00:00:00Z", actor="R", after=(), op="d", basis=())
    ledger(repo, [entry])
    outcome = check(repo)
    assert outcome.problems == ()
    assert [note.rule for note in outcome.notes] == (["decision-target"] if told else [])
