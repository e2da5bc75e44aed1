"""Roadmaps and decision records: every form, and every problem with its line."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muniment.documents import decisions, goals, roadmap
from muniment.documents.reading import read_document
from muniment.documents.roadmap import Roadmap, StoryStatus
from muniment.documents.stages import Layout, Stage
from muniment.errors import Problem

HEADED = """\
# Roadmap

## M1 — First release

Checkpoint: a person can import a report.

### M1.1 `import-reports` — Import reports

- **Status:** done
- Depends on: none

Text of the story. Status: backlog is not a field here.

### M1.2 view-plan: See the plan

Status: In progress
Depends on:
- M1.1

## Milestone M2: Second

### Story M2.1: Share a list

- status: backlog
- depends on: M1, view-plan
"""
LISTED = """\
## M1 First
- [x] M1.1 `import-reports` — Import reports
- [ ] **M1.2** view-plan: See the plan (status: in-progress; depends on: M1.1)
- M1.3 share-list — Share a list
  - Depends on: M1.1, M1.2
  - Status: backlog
"""
TABLE = """\
| Id | Slug | Title | Depends on | Status |
|----|------|-------|------------|--------|
| M1.1 | import-reports | Import reports | — | done |
| M1.2 | `view-plan` | See the plan | M1.1 | in-progress |
"""


def parsed(text: str) -> Roadmap:
    plan, problems = roadmap.parse(text, "r.md")
    assert problems == ()
    return plan


def rows(plan: Roadmap) -> list[tuple[str, str, str, str, tuple[str, ...], int]]:
    return [
        (
            story.id,
            story.slug,
            story.title,
            str(story.status),
            tuple(one.name for one in story.depends),
            story.line,
        )
        for story in plan.stories
    ]


def test_parse__headings() -> None:
    plan = parsed(HEADED)
    assert rows(plan) == [
        ("M1.1", "import-reports", "Import reports", "done", (), 7),
        ("M1.2", "view-plan", "See the plan", "in-progress", ("M1.1",), 14),
        ("M2.1", "", "Share a list", "backlog", ("M1", "view-plan"), 22),
    ]
    assert [(one.id, one.title, one.checkpoint) for one in plan.milestones] == [
        ("M1", "First release", "a person can import a report."),
        ("M2", "Second", ""),
    ]
    assert roadmap.check(plan) == ()


def test_parse__list_items() -> None:
    assert rows(parsed(LISTED)) == [
        ("M1.1", "import-reports", "Import reports", "done", (), 2),
        ("M1.2", "view-plan", "See the plan", "in-progress", ("M1.1",), 3),
        ("M1.3", "share-list", "Share a list", "backlog", ("M1.1", "M1.2"), 4),
    ]


def test_parse__tables() -> None:
    assert rows(parsed(TABLE)) == [
        ("M1.1", "import-reports", "Import reports", "done", (), 3),
        ("M1.2", "view-plan", "See the plan", "in-progress", ("M1.1",), 4),
    ]


def test_parse__crlf() -> None:
    assert rows(parsed(HEADED.replace("\n", "\r\n"))) == rows(parsed(HEADED))


def story(name: str, status: str = "backlog", depends: str = "") -> str:
    return f"### {name} — Title\n\n- Status: {status}\n- Depends on: {depends}\n\n"


def found(text: str) -> list[tuple[int, str]]:
    plan, problems = roadmap.parse(text, "r.md")
    return [(problem.line, problem.rule) for problem in (*problems, *roadmap.check(plan))]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (story("M1.1", "finished"), [(3, "roadmap-status-word")]),
        (story("M1.1", depends="M1.9"), [(4, "roadmap-unknown-id")]),
        (story("M1.1", depends="no-such-slug"), [(4, "roadmap-unknown-id")]),
        (story("M1.1") + story("M1.1"), [(6, "roadmap-id-twice")]),
        (story("M1.1 `a-b`") + story("M1.2 `a-b`"), [(6, "roadmap-slug-twice")]),
        (story("M1.1", depends="M1.1"), [(1, "roadmap-cycle")]),
        (story("M1.1", depends="M1.2") + story("M1.2", depends="M1.1"), [(1, "roadmap-cycle")]),
        (story("M1.1") + story("M1.2", "done", "M1.1"), [(8, "roadmap-status")]),
        (story("M1.1", depends="M2") + story("M2.1", depends="M1"), [(1, "roadmap-cycle")]),
        (story("M1.1", "done") + story("M1.2", "done", "M1.1"), []),
        (story("M1.1", depends="none") + story("M1.2", depends="—"), []),
    ],
)
def test_check__every_problem_with_its_line(text: str, expected: list[tuple[int, str]]) -> None:
    assert found(text) == expected


def test_check__a_cycle_names_its_way() -> None:
    text = story("M1.1", depends="M1.3") + story("M1.2", depends="M1.1") + story("M1.3", depends="M1.2")
    (problem,) = roadmap.check(parsed(text))
    assert problem.message == "M1.1 → M1.3 → M1.2 → M1.1 depend on each other."


def test_blocked__is_derived() -> None:
    text = story("M1.1", "done") + story("M1.2", depends="M1.1") + story("M1.3", depends="M1.2")
    assert [one.id for one in parsed(text).blocked()] == ["M1.3"]


@given(st.lists(st.tuples(st.integers(0, 11), st.integers(0, 11)), max_size=30))
def test_check__finds_a_cycle_exactly_when_there_is_one(edges: list[tuple[int, int]]) -> None:
    depends: dict[int, set[int]] = {number: set() for number in range(12)}
    for one, other in edges:
        depends[one].add(other)
    text = "".join(
        story(f"M1.{number}", depends=", ".join(f"M1.{other}" for other in sorted(others)))
        for number, others in depends.items()
    )
    cyclic = any(problem.rule == "roadmap-cycle" for problem in roadmap.check(parsed(text)))
    left = dict(depends)
    while free := [number for number, others in left.items() if not others & left.keys()]:
        for number in free:
            del left[number]
    assert cyclic is bool(left)


def test_check__nine_thousand_stories_in_a_chain() -> None:
    text = "".join(f"- M9.{n} — T (depends on: M9.{n + 1})\n" for n in range(1, 9000))
    began = time.process_time()
    assert [rule for _, rule in found(text)] == ["roadmap-unknown-id"]
    assert time.process_time() - began < 10


DECISIONS = """\
# Decisions

## D-001 — Use git

- **Category:** storage
- **Decided:** Everything is a file
  in git.
- **Alternatives**: a database

### Reasoning

Because it is there.

Two paragraphs.

### Revisit if

never

### Used by

- M1.1 (import)
- view-plan

## D-002: Second

Used by: none
"""


def test_decisions__fields_as_lines_and_as_sections() -> None:
    records, problems = decisions.parse(DECISIONS, "d.md")
    assert problems == ()
    first, second = records
    assert (first.id, first.title, first.line) == ("D-001", "Use git", 3)
    assert first.category == "storage"
    assert first.decided == "Everything is a file in git."
    assert first.alternatives == "a database"
    assert first.reasoning == "Because it is there. Two paragraphs."
    assert first.revisit_if == "never"
    assert first.used_by[0].name == "M1.1"
    assert (second.id, second.title, second.used_by) == ("D-002", "Second", ())


def test_decisions__an_id_twice() -> None:
    _, problems = decisions.parse("## D-001 A\n\n## D-001 B\n", "d.md")
    assert [(problem.line, problem.rule) for problem in problems] == [(3, "decision-twice")]


def goal(**texts: str) -> tuple[Problem, ...]:
    layout = Layout()
    documents = []
    for name, text in texts.items():
        path = "docs/ROADMAP.md" if name == "across" else f"docs/goals/{name.replace('_', '/')}.md"
        stage = layout.stage_of(path)
        assert stage is not None
        documents.append(read_document(path, stage, text))
    return goals.check(documents, layout)


def test_goals__used_by_names_a_story_milestone_slug_or_decision() -> None:
    used = "## D-001 A\n\nUsed by: {}\n\n## D-002 B\n"
    plan = story("M1.1 `import-reports`")
    for name in ("M1.1", "M1", "import-reports", "D-002"):
        assert goal(lists_roadmap=plan, lists_decisions=used.format(name)) == ()
    (problem,) = goal(lists_roadmap=plan, lists_decisions=used.format("M1.1 and M7.7"))
    assert (problem.path, problem.line, problem.rule) == (
        "docs/goals/lists/decisions.md",
        3,
        "decision-used-by",
    )
    (problem,) = goal(lists_decisions=used.format("M1.1"))
    assert problem.rule == "decision-used-by"


def test_goals__ids_belong_to_one_goal() -> None:
    plan = story("M1.1 `a-b`", depends="other/M1.1") + story("M1.2", depends="other/c-d")
    assert goal(lists_roadmap=plan, other_roadmap=story("M1.1 `c-d`")) == ()
    (problem,) = goal(lists_roadmap=story("M1.1", depends="other/M1.1"))
    assert problem.rule == "roadmap-unknown-id"


def test_goals__the_roadmap_across_goals_serves_a_goal_without_one() -> None:
    assert goal(across=story("M3.1"), lists_decisions="## D-001 A\n\nUsed by: M3.1\n") == ()


def test_status__words() -> None:
    assert [str(status) for status in StoryStatus] == ["backlog", "in-progress", "done"]
    assert Stage.ROADMAP.standing == "open"
