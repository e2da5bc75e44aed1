"""What to do with a finding: verify, relate, decide, in that order, by the table of C8.

Pure: what git, the ledger and the documents say comes in as records. Nothing here decides anything; a
proposal is a suggestion with its reason, and an unverified claim proposes no work at all.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from muniment.documents.stages import Stage, Standing
from muniment.findings import SEVERITIES
from muniment.intake.rows import Action, Alias, Proposal, RelatedLine, Verdict, Verification
from muniment.intake.triage_lines import normal

COVERING = frozenset({"duplicate", "related"})
"""Verdicts of `relate` that count as covering; `weak` never does."""
COSTS: Mapping[str, str] = {
    "code": "high",
    "tool": "high",
    "skill": "moderate",
    "task": "moderate",
    "prompt": "low",
    "config": "low",
    "profile": "low",
    "preference": "low",
    "docs": "low",
}
"""What a change usually costs, by target layer; a layer of the team's own is `unknown`."""

_SAME = "duplicate"
"""The strongest verdict of `relate`."""
_CONSENT = re.compile(
    r"\b(?:consent\w*|opt(?:ed|ing|s)?[- ](?:in|out)|privacy|gdpr|dsgvo|rgpd|personal data|data protection|"
    r"without (?:being )?ask(?:ed|ing)|out of scope|einwilligung\w*|datenschutz\w*|consentement|"
    r"consentimiento)\b",
    re.IGNORECASE,
)
_OWNERS_OWN = frozenset({Stage.DECISIONS, Stage.INSTRUCTIONS})
_RECORDS = frozenset({"ledger", "report"})
_SHOWN = 10
"""Most affected spaces named one by one; the rest are counted."""
_FIXING = frozenset({"attach", "new", "revisit", "fixed-not-deployed"})


@dataclass(frozen=True, slots=True)
class Contained:
    """Whether the running version contains a landed change: None is unknown, and `why` says why.

    Attributes:
        docs_only: The commit that landed it changed documents alone (it archived one): the code may have come
            before, so that lacking this commit is no proof that the work is lacking.
    """

    answer: bool | None
    why: str
    docs_only: bool = False


@dataclass(frozen=True, slots=True)
class Known:
    """What the ledger holds about a finding's subject.

    Attributes:
        subject: The canonical subject.
        status: `unseen`, `open`, an action word, `contested` or `unknown`.
        hint: Why it is contested or unknown, and what to do.
        target: The current decision's target.
        news: What is new about this finding since the decision, in words; empty when nothing is.
    """

    subject: str = ""
    status: str = "unseen"
    hint: str = ""
    target: str = ""
    news: str = ""


@dataclass(frozen=True, slots=True)
class Case:
    """Everything that a proposal depends on.

    Attributes:
        finding: The finding in the contract's keys.
        verify: The verification, or None.
        related: Ranked, best first.
        known: What the ledger holds.
        alias: The subject that it was recognised under, or None.
        contains: Whether the running version contains the change that landed a related line.
        value: The row's value points.
    """

    finding: Mapping[str, Any]
    verify: Verification | None
    related: Sequence[RelatedLine]
    known: Known
    alias: Alias | None
    contains: Callable[[RelatedLine], Contained]
    value: Mapping[str, Any]

    @property
    def kind(self) -> str:
        """The kind as verified, else as the judge hinted."""
        return (self.verify.kind if self.verify else "") or str(self.finding["kind"])

    @property
    def layer(self) -> str:
        """The target layer as verified, else as the judge hinted."""
        return (self.verify.target_layer if self.verify else "") or str(self.finding["target_layer"])


def propose(case: Case) -> tuple[Proposal, Proposal | None]:
    """The proposal for a row, and for an unverified one what is proposed if it is real."""
    if case.verify is None:
        work = _clean(decide(case))
        said = f"Not verified yet. Approving it calls it real and decides: {work.action.value}."
        return Proposal(Action.NEEDS_OWNER, "", said), work
    if case.verify.verdict is Verdict.NOT_REAL:
        return _clean(Proposal(Action.REJECT, "", f"Not real: {case.verify.reason}")), None
    if case.verify.verdict is Verdict.UNSURE:
        said = f"Whether it is real is unsure: {case.verify.reason}"
        return _clean(Proposal(Action.NEEDS_OWNER, "", said)), None
    return _clean(decide(case)), None


def _clean(proposal: Proposal) -> Proposal:
    return replace(proposal, reason=normal(proposal.reason))


def decide(case: Case) -> Proposal:
    """The proposal for a claim taken as real: the ledger first, then documents, decisions and history."""
    held = _held(case) or _alias(case)
    if held:
        return held
    covering = [line for line in case.related if line.verdict in COVERING and line.type not in _RECORDS]
    top = _top(covering)
    if top and top.status == Standing.DECISION:
        return _decided(case, top)
    word = _CONSENT.search(f"{case.finding['what_went_wrong']} {case.finding['proposed_improvement']}")
    if word:
        said = f"It touches consent, privacy or scope (the word {word[0].lower()!r})."
        return Proposal(Action.NEEDS_OWNER, place(top) if top else "", said)
    if top is None:
        return _fresh(case)
    if top.status in {Standing.LANDED, Standing.PENDING}:
        return _landed(case, top, covering)
    what = "story" if top.type == "story" else f"document ({top.stage})"
    return Proposal(Action.ATTACH, place(top), f"An open {what} covers it.")


def place(line: RelatedLine) -> str:
    """A related line as a target: PATH, PATH:LINE, or the id of a commit."""
    if line.type == "commit" or not line.path:
        return line.commit
    return f"{line.path}:{line.line}" if line.line else line.path


def _top(covering: Sequence[RelatedLine]) -> RelatedLine | None:
    """The line that decides: the best one that asks for work, proves it or rules it out.

    Documents come before bare commits: a message that names a problem need not have mended it. A
    document outside the stages describes, and covers nothing.
    """
    telling = [line for line in covering if line.status not in {Standing.REFERENCE, Standing.EARLIER_REVIEW}]
    documents = [line for line in telling if line.type != "commit"]
    return next(iter(documents or telling), None)


def _held(case: Case) -> Proposal | None:
    """What the ledger's own record of the subject comes to; None when it holds no decision."""
    known = case.known
    if known.status == "unseen":
        return None
    if known.status in {"contested", "unknown"}:
        return Proposal(Action.NEEDS_OWNER, "", f"The ledger's answer is {known.status}. {known.hint}")
    if known.status in {"reject", "known-limitation"} and known.news:
        said = f"Decided before ({known.status}), but there is new evidence: {known.news}."
        return Proposal(Action.NEEDS_OWNER, "", said)
    landed = _landed_since(case) if known.status in _FIXING else None
    if landed or known.status == "open":
        return landed
    waits = known.status == "needs-owner"
    said = "It waits for the owner already." if waits else f"The ledger holds it already ({known.status})."
    return Proposal(Action.NEEDS_OWNER if waits else Action.DUPLICATE, "" if waits else known.subject, said)


def _landed_since(case: Case) -> Proposal | None:
    """A fix that landed for a known problem, where the version that still shows it contains the fix (C10).

    When that version lacks other work on it, what it contains was perhaps never the fix: no claim.
    """
    found = _answers(case, [line for line in case.related if line.verdict in COVERING])
    if not found or any(answer.answer is False for _, answer in found):
        return None
    for line, answer in found:
        if answer.answer:
            return Proposal(Action.REVISIT, place(line), f"A fix landed, and {answer.why}.")
    return None


def _alias(case: Case) -> Proposal | None:
    if case.alias is None:
        return None
    score, threshold = case.alias.score_pm / 1000, case.alias.threshold_pm / 1000
    said = f"The same problem under another slug (likeness {score:.2f}, threshold {threshold:.2f})."
    return Proposal(Action.DUPLICATE, case.alias.canonical, said)


def _decided(case: Case, top: RelatedLine) -> Proposal:
    """A decision covers a bug report about it, and conflicts with the wish for something else."""
    if top.stage == Stage.INSTRUCTIONS or (top.stage in _OWNERS_OWN and case.kind != "bug"):
        return Proposal(Action.NEEDS_OWNER, place(top), "It may conflict with an owner's decision.")
    what = "A decision" if top.stage in _OWNERS_OWN else "An out-of-scope or accepted-residual line"
    return Proposal(Action.KNOWN_LIMITATION, place(top), f"{what} covers it.")


_Answer = tuple[RelatedLine, Contained]


def _answers(case: Case, covering: Sequence[RelatedLine]) -> list[_Answer]:
    """Each landed piece of work among some lines, and whether the running version contains it."""
    landed = (line for line in covering if line.status == Standing.LANDED and line.type not in _RECORDS)
    return [(line, case.contains(line)) for line in landed]


def _landed(case: Case, top: RelatedLine, covering: Sequence[RelatedLine]) -> Proposal:
    """What landed work comes to: one piece alone never speaks for the others that cover the finding.

    A version that contains the feature may lack its fix. So `revisit` needs every landed piece to run;
    where they disagree, a lacking one decides if it is as like the finding as any that runs, and
    otherwise it is unclear.
    """
    answer = case.contains(top)
    others = [one for one in _answers(case, covering) if one[0] != top]
    found = [(top, answer), *others]
    inside = [one for one in found if one[1].answer]
    lacking = [one for one in found if one[1].answer is False]
    if not inside or len(inside) == len(found):
        return _agreed(case, top, answer)
    sure = [one for one in lacking if _outweighs(case, one, inside)]
    if sure and top.status != Standing.PENDING:
        line, lacks = sure[0]
        said = f"Work on it landed, and {lacks.why}. {_also(inside, 'contains')}"
        return Proposal(Action.FIXED_NOT_DEPLOYED, place(line), said)
    line, doubted = next(iter(lacking or [one for one in found if one[1].answer is None]))
    if top.status == Standing.PENDING:
        line = top
    said = (
        f"Work on it landed, but whether the fix runs is unclear: {doubted.why}. {_also(inside, 'contains')}"
    )
    return Proposal(Action.REVISIT, place(line), said, check=True)


def _agreed(case: Case, top: RelatedLine, answer: Contained) -> Proposal:
    """What landed work comes to where no other that covers the finding speaks against it."""
    if answer.answer is None:
        said = f"Work on it landed; whether it runs is unknown: {answer.why}."
        return Proposal(Action.REVISIT, place(top), said, check=True)
    action = Action.REVISIT if answer.answer else Action.FIXED_NOT_DEPLOYED
    hardly = [line for line in case.related if line.verdict not in COVERING and line.type == "commit"]
    against = [one for one in _answers(case, hardly) if one[1].answer is (not answer.answer)]
    verb = "lacks" if answer.answer else "contains"
    said = f"Work on it landed, and {answer.why}. {_also(against, verb, 'hardly related ')}"
    return Proposal(action, place(top), said.strip())


def _outweighs(case: Case, one: _Answer, inside: Sequence[_Answer]) -> bool:
    """Whether lacking work is as like the finding as any that runs: called the same, or ranked before it.

    An archived document has to be called the same where nothing that runs is: its commit says when
    somebody put it away, not when its code came.
    """
    line, lacks = one
    if lacks.docs_only:
        return line.verdict == _SAME and all(other.verdict != _SAME for other, _ in inside)
    rank = case.related.index
    return line.verdict == _SAME or all(rank(line) < rank(other) for other, _ in inside)


def _also(answers: Sequence[_Answer], verb: str, what: str = "") -> str:
    """The rest of the landed work in a sentence; empty when there is none."""
    names = list(dict.fromkeys(line.commit[:10] or place(line) for line, _ in answers))
    return f"The same version {verb} other {what}work: {', '.join(names)}." if names else ""


def _fresh(case: Case) -> Proposal:
    """Nothing related: work, unless its value is a close call (a small wish, seen once, dear to build)."""
    once = all(int(case.value.get(key, 1)) <= 1 for key in ("days", "spaces", "bots"))
    minor = case.finding["severity"] == "minor" and case.kind == "feature"
    if minor and once and COSTS.get(case.layer) == "high":
        return Proposal(Action.NEEDS_OWNER, "", "A close call: a minor wish, seen once, and costly to build.")
    return Proposal(Action.NEW, "", "Nothing related was found.")


@dataclass(frozen=True, slots=True)
class Sighting:
    """One finding as far as recurrence and new evidence go."""

    day: str
    bot: str
    space: str
    severity: str


def news(now: Sighting, earlier: Sequence[Sighting]) -> str:
    """What is new about a sighting: space, bot or higher severity, never mere recurrence (C10)."""
    if not earlier:
        return ""
    found = []
    if now.bot not in {one.bot for one in earlier}:
        found.append("another bot")
    if now.space not in {one.space for one in earlier}:
        found.append("another space")
    worst = min(_rank(one.severity) for one in earlier)
    if _rank(now.severity) < worst:
        found.append(f"higher severity ({now.severity})")
    return ", ".join(found)


def _rank(severity: str) -> int:
    return SEVERITIES.index(severity) if severity in SEVERITIES else len(SEVERITIES)


def value_points(
    finding: Mapping[str, Any], layer: str, sightings: Sequence[Sighting], related: Sequence[RelatedLine]
) -> dict[str, Any]:
    """The value points of a row (C8): severity, recurrence, who was affected, breadth, cost, roadmap fit."""
    spaces = sorted({normal(one.space) for one in sightings if one.space})
    roadmap = next(
        (
            place(line)
            for line in related
            if line.verdict in COVERING and line.stage in {Stage.ROADMAP, Stage.GOALS}
        ),
        "",
    )
    return {
        "severity": finding["severity"],
        "days": len({one.day for one in sightings}),
        "spaces": len(spaces),
        "bots": len({one.bot for one in sightings}),
        "affected": spaces[:_SHOWN] + ([f"and {len(spaces) - _SHOWN} more"] if len(spaces) > _SHOWN else []),
        "breadth": finding["scope"],
        "cost": COSTS.get(layer, "unknown"),
        "roadmap": [roadmap] if roadmap else [],
    }
