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
            {
                "batch": batch.batch,
                "rows": batch.rows,
                "waiting": batch.waiting,
                **batch.waits.counts(),
                "fault": batch.fault[2:],
            }
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
    from muniment.intake import waiting  # noqa: PLC0415 - help stays light

    where = found.branch or "(detached)"
    if found.commit:
        yield f"commit   {output.short_hashes(found.commit)}"
    else:
        yield f"branch   {output.safe(where)}{f', {found.operation} under way' if found.operation else ''}"
    whole = {True: "whole", False: output.style("not whole", "bad"), None: output.style("unknown", "warn")}
    yield f"ledger   {output.number(found.ledger.entries, 'entry', 'entries')}, {whole[found.ledger.ok]}"
    if found.ledger.problem:
        yield f"         {output.safe(found.ledger.problem)}"
    open_ones = [batch for batch in found.batches if batch.waiting or batch.fault]
    batches, rows = output.number(len(found.batches), "batch", "batches"), output.number(found.waiting, "row")
    yield f"triage   {batches}, {rows} waiting"
    for batch in open_ones:
        said = (
            output.safe(batch.fault[2:])
            or f"of {output.number(batch.rows, 'row')}, {waiting.said(batch.waits)}"
        )
        yield f"         {output.safe(batch.batch)}: {said}"
    yield f"plan     {'no state here' if found.plan is None else output.number(found.plan[1], 'open item')}"
    yield f"pending  {output.number(found.pending, 'fix waits', 'fixes wait')} for proof"
    for fault in found.faults:
        yield output.style(f"unread   {output.safe(fault)}", "warn")
    yield from output.problem_lines(found.settings)
    for command, why in steps:
        yield f"next     {output.style(command, 'strong')}: {why}"
