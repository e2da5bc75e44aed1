"""From a triage file's lines to rows: what stands, what was decided, and what counts as none and why (C9).

Pure. The reports' findings come in by a function; without one, rows are read as written and no digest is
checked, which is what a look at an older version of the file needs.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from muniment.errors import Problem
from muniment.intake.rows import Action, Decision, Row, approved, row_digest
from muniment.intake.triage_file import APPROVE, DISMISS, Block, Said, TriageFile, said
from muniment.intake.triage_lines import LineError, read_facts

FindingOf = Callable[[str, str], Mapping[str, Any] | None]
"""A report's path and a finding's id → the finding in the contract's keys, or None."""

NEEDS_TARGET = frozenset(
    {Action.ATTACH, Action.KNOWN_LIMITATION, Action.DUPLICATE, Action.FIXED_NOT_DEPLOYED, Action.REVISIT}
)
REFRESH = "muniment triage refresh"
_LAYER = re.compile(r"[a-z][a-z0-9_-]{0,39}\Z")


@dataclass(frozen=True, slots=True)
class Reading:
    """The rows of a file, in file order, and what is wrong in it."""

    rows: tuple[Row, ...]
    problems: tuple[Problem, ...]


def read_rows(file: TriageFile, path: str, finding_of: FindingOf | None = None) -> Reading:
    """The rows of a parsed triage file with the decisions that its lines make; channel `file`, `claimed`."""
    rows: list[Row] = []
    problems: list[Problem] = []
    grouped: dict[str, list[Block]] = {}
    for block in file.blocks:
        grouped.setdefault(block.row, []).append(block)
    for blocks in grouped.values():
        row, found = _row(file.batch, blocks, path, finding_of)
        problems += found
        if row is not None:
            rows.append(row)
    return Reading(tuple(rows), tuple(problems))


def _row(
    batch: str, blocks: Sequence[Block], path: str, finding_of: FindingOf | None
) -> tuple[Row | None, list[Problem]]:
    problems: list[Problem] = []
    block = blocks[0]
    if len(blocks) > 1:
        places = ", ".join(str(one.heading) for one in blocks)
        text = f"Row {block.row} stands {len(blocks)} times (lines {places})."
        problems.append(Problem(path, blocks[1].heading, "triage-twice", text, "Keep one of the sections."))
    try:
        facts = read_facts(block.raw_facts())
    except LineError as error:
        text = f"Row {block.row} can't be read: {error}. It counts as undecided."
        return None, [*problems, Problem(path, block.heading, "triage-row", text, REFRESH)]
    native = facts.pop("native")
    finding = finding_of(facts["report"], native) if finding_of else {"id": native}
    if finding is None:
        text = f"Row {block.row}: {facts['report']} holds no finding {native}. It counts as undecided."
        return None, [*problems, Problem(path, block.heading, "triage-row", text, "Restore the report.")]
    row = Row(finding=finding, line=block.heading, **facts)
    if finding_of and row_digest(batch, row) != row.digest:
        text = f"Row {row.row} differs from what Muniment wrote; a decision in it counts as none."
        return row, [*problems, Problem(path, block.heading, "triage-digest", text, REFRESH)]
    decided, found = _decided(row, blocks, path)
    return decided, [*problems, *found]


def _decided(row: Row, blocks: Sequence[Block], path: str) -> tuple[Row, list[Problem]]:
    """The row with its decision, if its lines make exactly one that can be read."""
    problems: list[Problem] = []
    made: list[Said] = []
    for block in blocks:
        words, found = said(block, path)
        problems += found
        if words is not None:
            made.append(words)
    if len(made) > 1:
        places = ", ".join(str(words.line) for words in made)
        text = f"Row {row.row} has {len(made)} decisions (lines {places}); they count as none."
        problems.append(Problem(path, made[1].line, "triage-twice", text, "Keep one of them."))
        return row, problems
    if not made or problems:
        return row, problems
    result = decide(row, made[0])
    if isinstance(result, str):
        text = f"Row {row.row}: {result} It counts as no decision."
        return row, [Problem(path, made[0].line, "triage-action", text)]
    return result, []


def decide(row: Row, words: Said) -> Row | str:
    """The row as those words decide it, or what is wrong with them, as a sentence."""
    if words.layer and not _LAYER.match(words.layer):
        return f"{words.layer[:40]!r} is no target layer."
    edits = {key: value for key, value in (("layer", words.layer), ("text", words.text)) if value}
    if words.word == DISMISS:
        return replace(row, dismissed=True)
    if words.word == APPROVE:
        proposal = approved(row)
        if proposal is None:
            return "there is no proposal to approve."
        action = proposal.action
        target = words.target or proposal.target
        reason = words.reason or proposal.reason
    else:
        action = Action(words.word)
        if not words.reason:
            return f"{words.word} overrides the proposal and needs a reason."
        target = words.target or default_target(row, action)
        reason = words.reason
    if action in NEEDS_TARGET and not target:
        return f"{action.value} needs a target, and nothing related gives one."
    decision = Decision(action, target, reason, words.by, "file", "claimed")
    return replace(row, decision=decision, edits=edits or None)


def default_target(row: Row, action: Action) -> str:
    """What an override without a target means: the proposal's if it fits, else the first related.

    A duplicate's target is the ledger subject that it was recognised under, if any.
    """
    for proposal in (row.proposed, row.if_real):
        if proposal and proposal.action is action and proposal.target:
            return proposal.target
    if action not in NEEDS_TARGET:
        return ""
    if action is Action.DUPLICATE:
        if row.alias:
            return row.alias.canonical
        if row.basis:
            return row.fingerprint
    first = next((line for line in row.related if line.path), None)
    if first is None:
        return ""
    return f"{first.path}:{first.line}" if first.line else first.path
