"""Documents of a working tree and of a commit; nothing is hidden by a bad one."""

from __future__ import annotations

import pytest

from muniment.documents import catalogue
from muniment.documents.reading import Kind
from muniment.documents.stages import Stage
from muniment.errors import UsageProblem
from muniment.workspace import open_workspace
from tests.support.cli import muniment
from tests.support.docs_tree import FILES, plant
from tests.support.repo import Repo


@pytest.fixture
def planted(repo: Repo) -> Repo:
    return plant(repo)


def test_load__every_document_by_path(planted: Repo) -> None:
    found, problems = catalogue.load(open_workspace(planted.path))
    assert problems == ()
    assert [document.path for document in found.documents] == sorted(
        path for path in FILES if path.endswith(".md")
    )
    assert [document.path for document in found.of_stage(Stage.BUGS)] == ["docs/bugs/stale-search.md"]
    document = found.document("docs/ideas/voice.md")
    assert document is not None
    assert document.title == "Voice notes as input"
    assert found.document("absent.md") is None
    kinds = {statement.kind for _, statement in found.statements()}
    assert kinds == set(Kind)
    limits = [(document.path, one.line) for document, one in found.statements(Kind.LIMITATION)]
    assert ("docs/ideas/voice.md", 7) in limits


def test_load__at_a_revision_without_a_checkout(planted: Repo) -> None:
    before = planted.head()
    planted.write("docs/bugs/new.md", "# New\n")
    planted.git("rm", "-q", "docs/ideas/voice.md")
    planted.commit("Change")
    planted.write("docs/bugs/newest.md", "# Newest\n")
    ws = open_workspace(planted.path)
    now = {document.path for document in catalogue.load(ws)[0].documents}
    then = {document.path for document in catalogue.load(ws, before)[0].documents}
    head = {document.path for document in catalogue.load(ws, "HEAD")[0].documents}
    assert now - then == {"docs/bugs/new.md", "docs/bugs/newest.md"}
    assert now - head == {"docs/bugs/newest.md"}
    assert then - now == {"docs/ideas/voice.md"}
    with pytest.raises(UsageProblem):
        catalogue.load(ws, "no-such-revision")


def test_load__problems_name_file_and_line(planted: Repo) -> None:
    planted.write("docs/bugs/binary.md", b"\0\1\2")
    planted.write("docs/bugs/latin.md", b"# One\n\nsch\xf6n\n")
    planted.write("docs/goals/lists/roadmap.md", "### M1.1 A\n\n- Depends on: M1.1\n- Status: nearly\n")
    found, problems = catalogue.load(open_workspace(planted.path))
    assert len(found.documents) == len([path for path in FILES if path.endswith(".md")]) + 1
    assert [(one.path, one.line, one.rule) for one in problems] == [
        ("docs/bugs/binary.md", 0, "document-binary"),
        ("docs/bugs/latin.md", 3, "document-encoding"),
        ("docs/goals/lists/roadmap.md", 1, "roadmap-cycle"),
        ("docs/goals/lists/roadmap.md", 4, "roadmap-status-word"),
    ]


def test_load__names_with_odd_characters(planted: Repo) -> None:
    for name in ("a\nb.md", "-dash.md", "sp ace.md", "ünï.md", ":colon.md", "*.md"):
        planted.write(f"docs/ideas/{name}", "# Odd\n")
    found, _ = catalogue.load(open_workspace(planted.path))
    assert len(found.of_stage(Stage.IDEAS)) == 7
    planted.commit("Odd names")
    assert len(catalogue.load(open_workspace(planted.path))[0].of_stage(Stage.IDEAS)) == 7


def test_docs_list(planted: Repo) -> None:
    answer = muniment("docs", "list", "--stage", "bugs", "--json", cwd=planted.path).ok().json
    row = {"path": "docs/bugs/stale-search.md", "stage": "bugs", "status": "open", "line": 1}
    row["title"] = "Search shows stale recipes after an edit"
    assert answer == {"documents": [row], "problems": []}
    assert "docs/ideas/voice.md" in muniment("docs", "list", cwd=planted.path).ok().out
    assert "docs/ideas/voice.md" in muniment("docs", "list", "--rev", "HEAD", cwd=planted.path).ok().out
    assert muniment("docs", "list", "--rev", "nothing", cwd=planted.path).code == 2


def test_docs_search(planted: Repo) -> None:
    answer = muniment("docs", "search", "audio", "--json", cwd=planted.path).ok().json
    assert answer["results"][0]["path"] == "docs/ideas/voice.md"
    assert "docs/ideas/voice.md:8" in muniment("docs", "search", "audio", cwd=planted.path).ok().out
    assert muniment("docs", "search", " ", cwd=planted.path).code == 2


def test_roadmap_check(planted: Repo) -> None:
    assert muniment("roadmap", "check", "--json", cwd=planted.path).ok().json == {
        "ok": True, "problems": [], "stories": 2, "blocked": [],
    }  # fmt: skip
    planted.write("docs/goals/lists/roadmap.md", "### M1.1 A\n\n- Depends on: M1.2\n\n### M1.2 B\n")
    answer = muniment("roadmap", "check", "--json", cwd=planted.path).ok().json
    assert answer["blocked"] == ["docs/goals/lists/roadmap.md:1 M1.1"]
    planted.write("docs/goals/lists/roadmap.md", "### M1.1 A\n\n- Depends on: M1.1\n")
    done = muniment("roadmap", "check", cwd=planted.path)
    assert done.code == 1
    assert "docs/goals/lists/roadmap.md:1: M1.1 → M1.1 depend on each other." in done.out
    assert muniment("roadmap", "check", "--rev", "HEAD", cwd=planted.path).code == 0
