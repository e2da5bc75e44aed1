"""`muniment plan`: bring the rolling plan up to date with the state."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from muniment.cli import output
from muniment.cli.options import Invocation, json_option, pass_invocation
from muniment.cli.state_options import writer_option
from muniment.errors import UsageProblem

if TYPE_CHECKING:
    from muniment.plan.service import Outcome


@click.group()
def plan() -> None:
    """Keep the rolling plan: a view of the open items in the state."""


@plan.command()
@writer_option
@json_option
@pass_invocation
def reconcile(invocation: Invocation, writer: str, as_json: bool) -> None:
    """Bring the plan up to date with the state; commits nothing.

    New items get an R-number for life, closed ones leave, everything that people wrote stays. A line
    edited by hand in the machine-owned list is kept under the human notes.
    """
    from muniment.plan import service  # noqa: PLC0415 - `--help` stays quick

    outcome = service.reconcile(invocation.writable, writer)
    if as_json:
        output.emit_json(outcome.json())
    else:
        output.emit(_lines(outcome))
    for warning in (*outcome.result.warnings, *map(str, outcome.problems)):
        output.say(output.safe(f"warning: {warning}"))
    for note in outcome.notes:
        output.say(output.safe(f"note: {note}"))


@plan.command()
def pull() -> None:
    """Copy the plan from the state branch (shared mode)."""
    raise UsageProblem(
        "`plan pull` needs shared mode, where state and plan live on a branch of their own; this version "
        "keeps both in the working tree.",
        "Run `muniment plan reconcile`.",
    )


def _lines(outcome: Outcome) -> list[str]:
    """What a person wants to know."""
    result = outcome.result
    lines = []
    if outcome.rotated_to:
        reason = str(result.reasons[0]) if result.reasons else "It was no plan of ours any more."
        lines.append(output.safe(f"Moved the old plan to {outcome.rotated_to}: {reason}"))
    counts = f"{result.open} open, {len(result.added)} added, {len(result.drained)} drained"
    lines.append(output.safe(f"{outcome.path}: {counts}."))
    if result.foreign:
        lines.append(
            f"{output.number(len(result.foreign), 'line')} of items that this state doesn't know; kept."
        )
    if result.salvaged:
        lines.append(
            f"{output.number(len(result.salvaged), 'line')} edited by hand, kept under the human notes."
        )
    if not outcome.written:
        lines.append("Nothing to write.")
    return lines
