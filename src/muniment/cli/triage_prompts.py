"""Triage at a terminal, row by row with plain prompts: the evidence beside what is related (C9)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from muniment.cli.options import Invocation
from muniment.cli.output import emit, problem_lines, safe, say, style
from muniment.cli.triage_view import quote_lines, row_lines
from muniment.errors import MunimentError, UsageProblem
from muniment.intake.rows import Action

if TYPE_CHECKING:
    from types import ModuleType

    from muniment.intake.batches import Seen
    from muniment.intake.rows import Row
    from muniment.intake.triage import Choice, Verified
    from muniment.workspace import Workspace

KEYS = (
    ("a", "approve"),
    ("o", "override"),
    ("e", "edit"),
    ("v", "verify"),
    ("d", "dismiss"),
    ("s", "skip"),
    ("q", "quit"),
)


def converse(invocation: Invocation, name: str | None) -> None:
    """Ask about every row that waits, one by one; what was decided is kept at once.

    Raises:
        UsageProblem: There is no terminal to ask at.
    """
    if not invocation.interactive():
        raise UsageProblem(
            "Triage row by row needs a terminal.",
            "Use `muniment triage show`, `verify`, `approve`, `override`, or edit the triage file.",
        )
    from muniment.intake import batches  # noqa: PLC0415 - help needs none of it

    ws = invocation.writable
    seen = batches.look(ws, name)
    batch = seen.loaded.batch.batch
    for line in problem_lines(seen.loaded.problems):
        say(line)
    rows = [row for row in seen.loaded.batch.rows if _waits(row, seen)]
    for number, row in enumerate(rows, start=1):
        emit(["", style(f"{number} of {len(rows)}", "dim"), *quote_lines(row)])
        emit(row_lines(row, standing=seen.standings.get(row.row)))
        if not _ask(ws, batch, row.row):
            break
    _end(ws, batch)


def _waits(row: Row, seen: Seen) -> bool:
    """Whether a row is asked about: neither applied nor dismissed, nor decided so that it counts."""
    standing = seen.standings.get(row.row)
    return row.row not in seen.applied and not row.dismissed and not (standing and standing.counts)


def _ask(ws: Workspace, batch: str, name: str) -> bool:
    """Ask about one row until it is decided or left; False when the person wants to stop."""
    from muniment.intake import batches  # noqa: PLC0415 - help needs none of it

    while True:
        row = batches.look(ws, batch).loaded.row(name)
        key = _key(row)
        if key in {"s", "q"}:
            return key == "s"
        try:
            if _act(ws, batch, row, key):
                return True
        except MunimentError as error:
            say(f"{style('not done:', 'bad')} {safe(error.message)} {safe(error.hint)}".rstrip())


def _key(row: Row) -> str:
    words = ", ".join(f"[{key}]{word[1:]}" for key, word in KEYS)
    if row.decision is not None:
        words = f"[c]onfirm the decision in the file, {words}"
    known = {key for key, _ in KEYS} | ({"c"} if row.decision is not None else set())
    while True:
        answer: str = click.prompt(f"Row {row.row}: {words}", default="s", show_default=False, err=True)
        key = answer.strip().casefold()[:1]
        if key in known:
            return key
        say("Answer with one of the letters; Enter skips.")


def _act(ws: Workspace, batch: str, row: Row, key: str) -> bool:
    """Do what a key stands for; True when the row is decided."""
    from muniment import authority  # noqa: PLC0415 - help needs none of it
    from muniment.intake import triage as acts  # noqa: PLC0415 - same

    channel = authority.channel_here(authority.rules(ws), at_terminal=True)
    if key == "v":
        done = acts.verify(ws, batch, row.row, _verified(acts))
        fresh = done.loaded.row(row.row)
        emit(row_lines(fresh))
        return False
    if key == "c":
        acts.confirm(ws, batch, row.row, channel)
    elif key == "e":
        acts.edit(ws, batch, row.row, _edited(acts), channel)
    else:
        acts.choose(ws, batch, [row.row], _choice(acts, key), channel)
    emit([style(f"Row {row.row} is decided.", "good")])
    return True


def _verified(acts: ModuleType) -> Verified:
    verdict = click.prompt("Is it real?", type=click.Choice(["real", "not-real", "unsure"]), err=True)
    from muniment.intake.rows import Verdict  # noqa: PLC0415 - help needs none of it

    found: Verified = acts.Verified(Verdict(verdict), _line("Why"))
    return found


def _choice(acts: ModuleType, key: str) -> Choice:
    choice: Choice
    if key == "a":
        choice = acts.Choice("approve")
    elif key == "d":
        choice = acts.Choice("dismiss", reason=_line("Why (may be empty)", empty=True))
    else:
        action = click.prompt("Action", type=click.Choice([action.value for action in Action]), err=True)
        target = _line("Target, PATH[:LINE] (empty: the first related)", empty=True)
        choice = acts.Choice(action, target, _line("Why"))
    return choice


def _edited(acts: ModuleType) -> Choice:
    choice: Choice = acts.Choice(
        "approve",
        _line("Target (empty: as it is)", empty=True),
        "",
        _line("Layer (empty: as it is)", empty=True),
        _line("The problem in other words (empty: as it is)", empty=True),
    )
    return choice


def _line(question: str, *, empty: bool = False) -> str:
    while True:
        answer: str = click.prompt(question, default="", show_default=False, err=True)
        if answer.strip() or empty:
            return answer.strip()
        say("A reason is needed.")


def _end(ws: Workspace, batch: str) -> None:
    from muniment.intake import batches  # noqa: PLC0415 - help needs none of it

    seen = batches.look(ws, batch)
    counting = sum(one.counts for one in seen.standings.values())
    waiting = sum(_waits(row, seen) for row in seen.loaded.batch.rows)
    say(f"{counting} decided, {waiting} waiting. Next: muniment apply --batch {batch} --preview")
