"""`muniment report`: check a report, or read it as a page; needs no repository (C3, C4)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from muniment.cli.options import Invocation, json_option, pass_invocation, read_input, rev_option
from muniment.cli.output import emit, emit_json, problem_json, problem_lines, safe, say
from muniment.errors import CheckFailed, MunimentError, UsageProblem

if TYPE_CHECKING:
    from muniment.redact.gate import Gate
    from muniment.reports import Judged

_DROPPED = frozenset({"finding", "bad-ids"})


@click.group()
def report() -> None:
    """Validate or render a review report (`report.json`); needs no repository."""


@report.command()
@click.argument("file", metavar="FILE")
@rev_option
@json_option
@pass_invocation
@click.pass_context
def validate(ctx: click.Context, invocation: Invocation, file: str, rev: str | None, as_json: bool) -> None:
    """Check a report as `intake` does: gate, schema, every finding. Exit code 1 when anything is wrong.

    FILE may be `-` for standard input.
    """
    judged = _judge(invocation, file, rev)
    faults = [problem for problem in judged.problems if problem.rule != "cut"]
    if as_json:
        emit_json(_json(judged))
    else:
        emit(problem_lines(judged.problems))
        say(_words(judged))
    ctx.exit(1 if faults else 0)


@report.command()
@click.argument("file", metavar="FILE")
@rev_option
@json_option
@pass_invocation
def render(invocation: Invocation, file: str, rev: str | None, as_json: bool) -> None:
    """Print a report as the Markdown page that stands beside its copy.

    FILE may be `-` for standard input. Findings that break the schema are left out and said.
    """
    from muniment import reports  # noqa: PLC0415 - help needs none of it

    judged = _judge(invocation, file, rev)
    if judged.report is None:
        raise CheckFailed(f"{file}: {judged.reason}", problems=judged.problems)
    page = reports.page(judged.report)
    if as_json:
        emit_json({"page": page, "problems": [problem_json(problem) for problem in judged.problems]})
    else:
        click.echo(page, nl=False)
    for line in problem_lines(judged.problems):
        say(line)


def _judge(invocation: Invocation, file: str, rev: str | None) -> Judged:
    from muniment import reports  # noqa: PLC0415 - help needs none of it
    from muniment.findings import MAX_REPORT_BYTES  # noqa: PLC0415 - same

    if rev is not None:
        return _judge_at(invocation, file, rev)
    gate, layers = _rules(invocation)
    place = file if file == "-" else str(invocation.directory / file)
    return reports.judge(read_input(place, limit=MAX_REPORT_BYTES), file, gate, layers)


def _judge_at(invocation: Invocation, file: str, rev: str) -> Judged:
    """A report as it is in a commit, judged by that commit's target layers and today's gate."""
    from muniment import reports  # noqa: PLC0415 - help needs none of it
    from muniment.check.run import repository_path  # noqa: PLC0415 - same
    from muniment.findings import MAX_REPORT_BYTES  # noqa: PLC0415 - same
    from muniment.redact.gate import gate_for  # noqa: PLC0415 - same

    if file == "-":
        raise UsageProblem("--rev reads a file of a commit, not standard input.", "Give its path.")
    ws = invocation.at(rev)
    path = repository_path(ws, invocation.directory, file)
    data = ws.read(path, limit=MAX_REPORT_BYTES)
    if data is None:
        raise UsageProblem(f"There is no file {safe(path)} in {safe(rev)}.", "git ls-tree -r --name-only REV")
    return reports.judge(data, path, gate_for(invocation.workspace), ws.config.target_layers)


def _rules(invocation: Invocation) -> tuple[Gate, tuple[str, ...]]:
    """Gate and target layers of the repository, or the defaults outside of one."""
    from muniment.config_schema import KEYS  # noqa: PLC0415 - help needs none of it
    from muniment.redact.gate import Gate, gate_for  # noqa: PLC0415 - same

    try:
        ws = invocation.workspace
    except UsageProblem:
        return Gate(), tuple(KEYS["target_layers"].default)
    except MunimentError as error:
        say(f"note: {safe(error.message)} The default settings are used.")
        return Gate(), tuple(KEYS["target_layers"].default)
    return gate_for(ws), ws.config.target_layers


def _json(judged: Judged) -> dict[str, object]:
    report = judged.report
    return {
        "ok": report is not None and not any(problem.rule in _DROPPED for problem in judged.problems),
        "reason": judged.reason,
        "findings": len(report.findings) if report else 0,
        "dropped": {
            "invalid": report.invalid if report else 0,
            "badIds": report.bad_ids if report else 0,
        },
        "cut": sum(problem.rule == "cut" for problem in judged.problems),
        "problems": [problem_json(problem) for problem in judged.problems],
    }


def _words(judged: Judged) -> str:
    if judged.report is None:
        return "The report is refused as a whole."
    dropped = judged.report.invalid + judged.report.bad_ids
    return f"{len(judged.report.findings)} findings are valid, {dropped} dropped."
