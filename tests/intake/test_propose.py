"""The table of C8: verify, then relate, then decide."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from muniment.ids import Fingerprint
from muniment.intake.propose import Case, Contained, Known, Sighting, news, propose, value_points
from muniment.intake.rows import Action, Alias, Proposal, RelatedLine, Verdict, Verification
from tests.support.reports import finding

REAL = Verification(Verdict.REAL, "seen", "kim", "bug", "global", "code")
BUG = RelatedLine("docs/bugs/a.md", 3, "bugs", "duplicate", "A", "doc", "open")
ARCHIVED = RelatedLine("docs/archive/a.md", 1, "archive", "related", "A", "doc", "landed", "a" * 40)
PENDING = RelatedLine("docs/pending-verification.md", 5, "pending", "duplicate", "A", "pending", "pending")
COMMIT = RelatedLine("src/a.py", 0, "history", "duplicate", "Mend a", "commit", "landed", "b" * 40)
STORY = RelatedLine("docs/goals/g/roadmap.md", 9, "roadmap", "related", "M1.1", "story", "open")
OUT_OF_SCOPE = RelatedLine("docs/goals/g/goal.md", 7, "goals", "related", "No x", "decision", "decision")
DECISION = RelatedLine(
    "docs/goals/g/decisions.md", 2, "decisions", "duplicate", "D-001", "decision", "decision"
)
RULE = RelatedLine("AGENTS.md", 4, "instructions", "related", "never x", "decision", "decision")
REFERENCE = RelatedLine("docs/guide.md", 1, "docs", "duplicate", "Guide", "doc", "reference")
REPORTED = RelatedLine("docs/reviews/r.json", 1, "reviews", "duplicate", "A", "report", "earlier-review")
HELD = RelatedLine("docs/reviews/ledger.json", 3, "new", "duplicate", "A", "ledger", "earlier-review")


def weak(line: RelatedLine) -> RelatedLine:
    return replace(line, verdict="weak")


def ask(
    *related: RelatedLine,
    verify: Verification | None = REAL,
    known: Known = Known(),  # noqa: B008 - a frozen record
    alias: Alias | None = None,
    contains: bool | None = None,
    value: dict[str, Any] | None = None,
    **fields: Any,
) -> Proposal:
    case = Case(
        finding("a", **fields),
        verify,
        related,
        known,
        alias,
        lambda _: Contained(contains, "so"),
        value or {},
    )
    return propose(case)[0]


@pytest.mark.parametrize(
    ("related", "action", "target"),
    [
        ([], Action.NEW, ""),
        ([weak(BUG), weak(DECISION)], Action.NEW, ""),
        ([REFERENCE], Action.NEW, ""),
        ([REPORTED, HELD], Action.NEW, ""),
        ([BUG], Action.ATTACH, "docs/bugs/a.md:3"),
        ([weak(DECISION), BUG], Action.ATTACH, "docs/bugs/a.md:3"),
        ([REFERENCE, STORY], Action.ATTACH, "docs/goals/g/roadmap.md:9"),
        ([COMMIT, BUG], Action.ATTACH, "docs/bugs/a.md:3"),
        ([OUT_OF_SCOPE], Action.KNOWN_LIMITATION, "docs/goals/g/goal.md:7"),
        ([DECISION], Action.KNOWN_LIMITATION, "docs/goals/g/decisions.md:2"),
        ([RULE], Action.NEEDS_OWNER, "AGENTS.md:4"),
    ],
)
def test_propose__by_what_is_related(related: Sequence[RelatedLine], action: Action, target: str) -> None:
    found = ask(*related)
    assert (found.action, found.target) == (action, target)
    assert found.reason


@pytest.mark.parametrize(
    ("line", "contains", "action", "check"),
    [
        (ARCHIVED, True, Action.REVISIT, False),
        (ARCHIVED, False, Action.FIXED_NOT_DEPLOYED, False),
        (ARCHIVED, None, Action.REVISIT, True),
        (PENDING, False, Action.FIXED_NOT_DEPLOYED, False),
        (COMMIT, True, Action.REVISIT, False),
        (COMMIT, False, Action.FIXED_NOT_DEPLOYED, False),
    ],
)
def test_propose__landed_work_by_what_runs(
    line: RelatedLine, contains: bool | None, action: Action, check: bool
) -> None:
    found = ask(line, contains=contains)
    assert (found.action, found.check) == (action, check)
    assert found.target == ("b" * 40 if line is COMMIT else f"{line.path}:{line.line}")


def test_propose__a_wish_against_a_decision_is_the_owners() -> None:
    wish = Verification(Verdict.REAL, "seen", "kim", "feature", "global", "code")
    assert ask(DECISION, verify=wish).action is Action.NEEDS_OWNER
    assert ask(OUT_OF_SCOPE, verify=wish).action is Action.KNOWN_LIMITATION


@pytest.mark.parametrize(
    "text",
    ["It shared data without asking.", "No consent was given", "Breaks the GDPR", "opt-out is ignored"],
)
def test_propose__consent_is_the_owners(text: str) -> None:
    assert ask(BUG, what_went_wrong=text).action is Action.NEEDS_OWNER
    assert ask(what_went_wrong=text).action is Action.NEEDS_OWNER


def test_propose__a_close_call_is_the_owners() -> None:
    fields: dict[str, Any] = {"kind": "feature", "severity": "minor"}
    wish = Verification(Verdict.REAL, "seen", "kim", "feature", "global", "code")
    once = {"days": 1, "spaces": 1, "bots": 1}
    assert ask(verify=wish, value=once, **fields).action is Action.NEEDS_OWNER
    assert ask(verify=wish, value={**once, "days": 2}, **fields).action is Action.NEW
    cheap = Verification(Verdict.REAL, "seen", "kim", "feature", "global", "prompt")
    assert ask(verify=cheap, value=once, **fields).action is Action.NEW


def test_propose__not_verified_proposes_no_work() -> None:
    case = Case(finding("a"), None, (BUG,), Known(), None, lambda _: Contained(None, ""), {})
    proposed, if_real = propose(case)
    assert proposed.action is Action.NEEDS_OWNER
    assert if_real is not None
    assert (if_real.action, if_real.target) == (Action.ATTACH, "docs/bugs/a.md:3")


@pytest.mark.parametrize(
    ("verdict", "action"), [(Verdict.NOT_REAL, Action.REJECT), (Verdict.UNSURE, Action.NEEDS_OWNER)]
)
def test_propose__not_real_and_unsure_stop_before_relate(verdict: Verdict, action: Action) -> None:
    found = ask(BUG, verify=Verification(verdict, "why", "kim"))
    assert (found.action, found.target) == (action, "")
    assert "why" in found.reason


@pytest.mark.parametrize(
    ("status", "fresh", "action"),
    [
        ("reject", "", Action.DUPLICATE),
        ("reject", "another bot", Action.NEEDS_OWNER),
        ("known-limitation", "", Action.DUPLICATE),
        ("known-limitation", "another space", Action.NEEDS_OWNER),
        ("new", "another bot", Action.DUPLICATE),
        ("attach", "", Action.DUPLICATE),
        ("needs-owner", "", Action.NEEDS_OWNER),
        ("contested", "", Action.NEEDS_OWNER),
        ("unknown", "", Action.NEEDS_OWNER),
        ("open", "", Action.ATTACH),
        ("unseen", "", Action.ATTACH),
    ],
)
def test_propose__what_the_ledger_holds(status: str, fresh: str, action: Action) -> None:
    found = ask(BUG, known=Known("bug/code/first", status, "hint", "", fresh))
    assert found.action is action
    if action is Action.DUPLICATE:
        assert found.target == "bug/code/first"


def test_propose__a_fix_that_runs_reopens_what_the_ledger_holds() -> None:
    known = Known("bug/code/a", "fixed-not-deployed")
    assert ask(ARCHIVED, known=known, contains=True).action is Action.REVISIT
    assert ask(ARCHIVED, known=known, contains=False).action is Action.DUPLICATE
    assert ask(ARCHIVED, known=known, contains=None).action is Action.DUPLICATE


def test_propose__an_alias_follows_its_subject_with_the_threshold_shown() -> None:
    found = ask(BUG, alias=Alias(Fingerprint("bug/code/first"), 912, 760))
    assert (found.action, found.target) == (Action.DUPLICATE, "bug/code/first")
    assert "0.91" in found.reason
    assert "0.76" in found.reason


def test_news__space_bot_and_severity_but_never_recurrence() -> None:
    earlier = [Sighting("2026-03-01", "web", "oak", "moderate")]
    assert news(Sighting("2026-03-02", "web", "oak", "moderate"), earlier) == ""
    assert news(Sighting("2026-03-02", "web", "oak", "minor"), earlier) == ""
    assert news(Sighting("2026-03-02", "app", "oak", "moderate"), earlier) == "another bot"
    assert (
        news(Sighting("2026-03-02", "web", "elm", "high"), earlier) == "another space, higher severity (high)"
    )
    assert news(Sighting("2026-03-02", "web", "oak", "high"), []) == ""


def test_value_points__counts_days_spaces_and_bots_apart() -> None:
    sightings = [
        Sighting("2026-03-01", "web", "oak", "high"),
        Sighting("2026-03-02", "web", "oak", "high"),
        Sighting("2026-03-02", "app", "elm", "high"),
    ]
    found = value_points(finding("a", severity="high"), "config", sightings, (BUG, STORY))
    assert (found["severity"], found["days"], found["spaces"], found["bots"]) == ("high", 2, 2, 2)
    assert (found["affected"], found["cost"], found["breadth"]) == (["elm", "oak"], "low", "global")
    assert found["roadmap"] == ["docs/goals/g/roadmap.md:9"]
    assert value_points(finding("a"), "voice", (), ())["cost"] == "unknown"
