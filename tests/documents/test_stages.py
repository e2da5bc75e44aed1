"""Which path is what."""

from __future__ import annotations

import pytest

from muniment.cli.commands.docs import STAGES
from muniment.config import Config
from muniment.documents.stages import FOLDERS, Layout, Stage, Standing


@pytest.mark.parametrize(
    ("path", "stage"),
    [
        *((f"docs/{stage}/a/b.md", stage) for stage in FOLDERS),
        ("docs/pending-verification.md", Stage.PENDING),
        ("docs/ROADMAP.md", Stage.ROADMAP),
        ("docs/goals/lists/goal.md", Stage.GOALS),
        ("docs/goals/lists/decisions.md", Stage.DECISIONS),
        ("docs/goals/lists/roadmap.md", Stage.ROADMAP),
        ("docs/guide.rst", Stage.REFERENCE),
        ("CLAUDE.md", Stage.INSTRUCTIONS),
        ("src/app/AGENTS.md", Stage.INSTRUCTIONS),
        ("docs/bugs/CLAUDE.local.md", Stage.INSTRUCTIONS),
        ("policy/a.yaml", Stage.INSTRUCTIONS),
        ("notes/one.txt", Stage.INSTRUCTIONS),
        ("docs/reviews/2026-05-01-helper-daily.md", None),
        ("docs/reviews/triage/b.md", None),
        ("docs/plans/feedback-sweep-plan.md", None),
        ("docs/feedback-sweep/state.yml", None),
        ("docs/bugs/picture.png", None),
        ("docs/bugs/.hidden.md", None),
        ("README.md", None),
        ("src/bugs/a.md", None),
        ("docsx/bugs/a.md", None),
    ],
)
def test_stage_of(path: str, stage: Stage | None) -> None:
    layout = Layout(extra=("policy", "notes/*.txt"))
    assert layout.stage_of(path) is stage


def test_layout__follows_the_settings() -> None:
    layout = Layout.of(Config(docs_root="documentation", relate_paths=("policy/",)))
    assert layout.stage_of("documentation/bugs/a.md") is Stage.BUGS
    assert layout.stage_of("docs/bugs/a.md") is None
    assert layout.stage_of("policy/a.md") is Stage.INSTRUCTIONS


def test_goal_of() -> None:
    assert Layout().goal_of("docs/goals/lists/roadmap.md") == "lists"
    assert Layout().goal_of("docs/ROADMAP.md") == ""


def test_standing_of_stages() -> None:
    assert {stage.standing for stage in FOLDERS} == {Standing.OPEN, Standing.LANDED}
    assert Stage.ARCHIVE.standing is Standing.LANDED
    assert Stage.REFERENCE.standing is Standing.REFERENCE


def test_stages_offered_on_the_command_line_are_those_that_hold_documents() -> None:
    records = {Stage.REVIEWS, Stage.LEDGER, Stage.HISTORY}
    assert tuple(str(stage) for stage in Stage if stage not in records) == STAGES
