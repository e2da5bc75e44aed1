"""Asking for a decision's target: the places there are to choose from, and an answer checked at once (C9)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from muniment.cli.output import emit, safe, say, style
from muniment.errors import MunimentError
from muniment.intake.rows import Action

if TYPE_CHECKING:
    from muniment.intake.rows import RelatedLine, Row
    from muniment.intake.triage import Choice
    from muniment.workspace import Workspace

MEANT: Mapping[Action, str] = {
    Action.ATTACH: "the document that gets the evidence",
    Action.KNOWN_LIMITATION: "the line that covers it",
    Action.DUPLICATE: "the earlier finding: its fingerprint, or a row's id",
    Action.FIXED_NOT_DEPLOYED: "the landed work: a document, or a commit",
    Action.REVISIT: "the landed work: a document, or a commit",
}
"""The actions that point somewhere, and to what; the others take no target."""
MOST = 9


def ask_target(ws: Workspace, batch: str, row: Row, choice: Choice) -> Choice:
    """The choice with the target that a person gives, once it fits; unchanged where none is needed."""
    action = _action(row, choice)
    if action is None or action not in MEANT:
        return choice
    places = list(_places(row, action))[:MOST]
    emit(_shown(places, action))
    usual = _usual(row, choice, action)
    enter = f" (Enter: {usual})" if usual else ""
    while True:
        answer: str = click.prompt(f"Target{safe(enter)}", default="", show_default=False, err=True).strip()
        numbered = action is not Action.DUPLICATE and answer.isascii() and answer.isdigit()
        if numbered and 0 < int(answer) <= len(places):
            answer = places[int(answer) - 1][0]
        chosen = replace(choice, target=answer)
        fault = fault_of(ws, batch, row, chosen)
        if not fault:
            return chosen
        say(f"{style('not a target:', 'bad')} {safe(fault)}")


def fault_of(ws: Workspace, batch: str, row: Row, choice: Choice) -> str:
    """Why a choice would be refused for its target, in a sentence; empty when it would not."""
    from muniment.intake import batches, choices, decided_targets  # noqa: PLC0415 - help needs none of it
    from muniment.intake.triage_file import Said  # noqa: PLC0415 - as above
    from muniment.intake.triage_rows import decide  # noqa: PLC0415 - as above
    from muniment.ledger import store  # noqa: PLC0415 - as above

    try:
        found = choices.resolved(ws, batches.load(ws, batch), store.load(ws), row, choice)
        words = Said(found.word, found.target, found.reason or "-", "", "", ws.actor, 0)
        decided = decide(replace(row, decision=None, edits=None, dismissed=False), words)
        if isinstance(decided, str):
            return decided
        decided_targets.require(ws, decided.decision)
    except MunimentError as error:
        return f"{error.message} {error.hint}".rstrip()
    return ""


def _action(row: Row, choice: Choice) -> Action | None:
    from muniment.intake.rows import approved  # noqa: PLC0415 - help needs none of it
    from muniment.intake.triage_file import APPROVE  # noqa: PLC0415 - as above

    if choice.word != APPROVE:
        return Action(choice.word)
    proposal = approved(row)
    return proposal.action if proposal else None


def _usual(row: Row, choice: Choice, action: Action) -> str:
    """What an empty answer means."""
    from muniment.intake.rows import approved  # noqa: PLC0415 - help needs none of it
    from muniment.intake.triage_file import APPROVE  # noqa: PLC0415 - as above
    from muniment.intake.triage_rows import default_target  # noqa: PLC0415 - as above

    proposal = approved(row)
    if choice.word == APPROVE and proposal is not None:
        return proposal.target
    return default_target(row, action)


def _places(row: Row, action: Action) -> Iterator[tuple[str, str]]:
    """The related places that an action may point to, best first, with their titles."""
    if action is Action.DUPLICATE:
        if row.alias is not None:
            yield str(row.alias.canonical), "the same problem under another slug"
        return
    seen: set[str] = set()
    for line in row.related:
        target = _place(line, action)
        if target and target not in seen:
            seen.add(target)
            yield target, line.title


def _place(line: RelatedLine, action: Action) -> str:
    landed = action in {Action.FIXED_NOT_DEPLOYED, Action.REVISIT}
    document = line.path.casefold().endswith((".md", ".markdown"))
    if document and line.type not in {"report", "ledger"}:
        return f"{line.path}:{line.line}" if line.line else line.path
    return str(line.commit)[:10] if landed and line.commit else ""


def _shown(places: list[tuple[str, str]], action: Action) -> Iterator[str]:
    yield f"  Target: {MEANT[action]}{'' if places else '; nothing related offers itself'}"
    for number, (target, title) in enumerate(places, start=1):
        mark = "-" if action is Action.DUPLICATE else str(number)
        yield f"  {mark}  {style(safe(target), 'path')}  {safe(title)}"
