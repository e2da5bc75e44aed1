"""`muniment intake`: take reports in and propose one decision per finding (C7)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from muniment.cli.options import Invocation, json_option, pass_invocation, read_input
from muniment.cli.output import emit, emit_json, problem_json, problem_lines, safe, say, style
from muniment.errors import UsageProblem

if TYPE_CHECKING:
    from muniment.intake.collect import Outcome


@click.command()
@click.argument("paths", nargs=-1, metavar="[PATH]…")
@click.option("--known", metavar="FILE", help="Names to refuse: one a line, or name<TAB>role.")
@json_option
@pass_invocation
@click.pass_context
def intake(
    ctx: click.Context, invocation: Invocation, paths: tuple[str, ...], known: str | None, as_json: bool
) -> None:
    """Take reports in: gate, copy, and one proposed decision per finding; commits nothing.

    PATH is a report.json, a folder searched for them, or such a place on another machine
    (host:path, ssh://host/path); without PATH, every bot of the settings. A report already taken in adds
    nothing. Exit code 1 when everything was refused, 4 when that was for something outside.
    """
    from muniment.intake import collect  # noqa: PLC0415 - help needs none of it
    from muniment.redact.names import KnownNames  # noqa: PLC0415 - same

    names = KnownNames.parse(_text(known), known) if known else None
    base = invocation.directory.absolute()
    outcome = collect.intake(invocation.writable, paths, base=base, known=names)
    _render(outcome, as_json=as_json)
    outside = all(one.unavailable for one in outcome.refused)
    ctx.exit((4 if outside else 1) if outcome.all_refused else 0)


def _text(file: str) -> str:
    try:
        return read_input(file).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageProblem(f"{file} is not UTF-8.", "Save the names as UTF-8.") from error


def _render(outcome: Outcome, *, as_json: bool) -> None:
    for note in outcome.notes:
        say(f"note: {safe(note)}")
    if as_json:
        emit_json(_json(outcome))
        return
    for line in problem_lines(outcome.problems):
        say(line)
    for one in outcome.refused:
        say(f"{style('refused:', 'bad')} {safe(one.path)}: {safe(one.reason)}")
        if one.hint:
            say(f"  {style('fix:', 'dim')} {safe(one.hint)}")
    emit(_lines(outcome))


def _lines(outcome: Outcome) -> Iterator[str]:
    for path in outcome.reports:
        yield f"taken in: {style(safe(path), 'path')}"
    batch = outcome.batch
    if batch is None or not batch.reports:
        return
    for row in batch.rows:
        hint = f", if it is real: {row.if_real.action.value}" if row.if_real else ""
        yield f"  row {row.row}: {row.fingerprint} ({row.finding['severity']}){hint}"
    if batch.suppressed:
        yield f"  suppressed, rejected before: {len(batch.suppressed)}"
    rows = "1 row" if len(batch.rows) == 1 else f"{len(batch.rows)} rows"
    yield f"Batch {batch.batch}: {rows} in {style(safe(outcome.triage or ''), 'path')}"
    yield f"Next: {style('muniment triage', 'strong')}, or edit that file."


def _json(outcome: Outcome) -> dict[str, Any]:
    from muniment.intake.shown import row_json  # noqa: PLC0415 - only for JSON

    batch = outcome.batch
    return {
        "batch": batch.batch if batch else None,
        "triage": outcome.triage,
        "reports": list(outcome.reports),
        "rows": [row_json(row) for row in batch.rows] if batch else [],
        "refused": [{"path": one.path, "reason": one.reason, "hint": one.hint} for one in outcome.refused],
        "known": list(outcome.known),
        "suppressed": [
            {
                "fingerprint": str(item.fingerprint),
                "report": item.report,
                "finding": item.finding,
                "reason": item.reason,
            }
            for item in (batch.suppressed if batch else ())
        ],
        "problems": [problem_json(problem) for problem in outcome.problems],
        "notes": list(outcome.notes),
    }
