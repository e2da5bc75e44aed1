"""`muniment status`: what is open, waiting or broken in this repository."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from muniment.cli import output
from muniment.cli.options import Invocation, json_option, pass_invocation, rev_option

if TYPE_CHECKING:
    from muniment.overview import Status


@click.command()
@rev_option
@json_option
@pass_invocation
def status(invocation: Invocation, rev: str | None, as_json: bool) -> None:
    """Show what is open, waiting or broken in this repository, now or as of a commit.

    It looks and changes nothing; `muniment check` says in detail what is wrong.
    """
    from muniment import overview  # noqa: PLC0415 - help stays light

    found = overview.status(invocation.at(rev))
    steps = list(overview.next_steps(found))
    if as_json:
        output.emit_json(_document(found, steps))
    else:
        output.emit(_lines(found, steps))


def _document(found: Status, steps: list[tuple[str, str]]) -> dict[str, object]:
    return {
        "rev": found.commit or None,
        "branch": found.branch,
        "operation": found.operation,
        "config": {"problems": [output.problem_json(problem) for problem in found.settings]},
        "ledger": {
            "entries": found.ledger.entries,
            "ok": found.ledger.ok,
            "problem": found.ledger.problem,
        },
        "triage": [
            {"batch": batch.batch, "rows": batch.rows, "waiting": batch.waiting, "fault": batch.fault[2:]}
            for batch in found.batches
        ],
        "plan": None if found.plan is None else {"path": found.plan[0], "open": found.plan[1]},
        "pending": found.pending,
        "interrupted": found.interrupted,
        "hooks": found.hooks,
        "faults": list(found.faults),
        "next": [{"command": command, "why": why} for command, why in steps],
    }


def _lines(found: Status, steps: list[tuple[str, str]]) -> Iterator[str]:
    where = found.branch or "(detached)"
    if found.commit:
        yield f"commit   {found.commit}"
    else:
        yield f"branch   {output.safe(where)}{f', {found.operation} under way' if found.operation else ''}"
    whole = {True: "whole", False: output.style("not whole", "bad"), None: output.style("unknown", "warn")}
    yield f"ledger   {found.ledger.entries} entries, {whole[found.ledger.ok]}"
    if found.ledger.problem:
        yield f"         {output.safe(found.ledger.problem)}"
    open_ones = [batch for batch in found.batches if batch.waiting or batch.fault]
    yield f"triage   {len(found.batches)} batches, {found.waiting} rows waiting"
    for batch in open_ones:
        said = output.safe(batch.fault[2:]) or f"{batch.waiting} of {batch.rows} rows waiting"
        yield f"         {output.safe(batch.batch)}: {said}"
    yield f"plan     {'no state here' if found.plan is None else f'{found.plan[1]} open items'}"
    yield f"pending  {found.pending} fixes wait for proof"
    for fault in found.faults:
        yield output.style(f"unread   {output.safe(fault)}", "warn")
    yield from output.problem_lines(found.settings)
    for command, why in steps:
        yield f"next     {output.style(command, 'strong')}: {why}"
