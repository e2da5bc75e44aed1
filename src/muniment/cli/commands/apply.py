"""`muniment apply`: preview a triaged batch, confirm it, one commit."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from muniment.cli import output, previews
from muniment.cli.options import Invocation, json_option, pass_invocation

if TYPE_CHECKING:
    from muniment.intake.apply import Done, Previewed
    from muniment.intake.derive import RefusedRow


@click.command()
@click.option("--batch", metavar="B", default=None, help="The batch; by default the one that waits.")
@click.option("--preview", "show", is_flag=True, help="Show exactly what would change, and make a token.")
@click.option("--confirm", "word", metavar="TOKEN", default=None, help="Do what the preview showed, once.")
@click.option(
    "--include-dirty", metavar="PATH", multiple=True, help="Take this file's uncommitted changes along."
)
@json_option
@pass_invocation
def apply(
    invocation: Invocation,
    *,
    batch: str | None,
    show: bool,
    word: str | None,
    include_dirty: tuple[str, ...],
    as_json: bool,
) -> None:
    """Apply a triaged batch: documents, ledger, reports and triage file in one commit.

    Without an option it shows what would change and asks, at a terminal. Elsewhere, preview first; the
    token works once, for 24 hours, in this clone, and only while nothing that it depends on has changed.

    \b
    Example:
      muniment apply --preview
      muniment apply --confirm 0f3c…
    """  # noqa: D301 - \b is click's mark for a paragraph kept as it stands
    from muniment.intake import apply as use  # noqa: PLC0415 - help stays light

    previews.one_of(show=show, word=word, given=batch is not None or bool(include_dirty))
    workspace, person = invocation.writable, invocation.interactive()
    if word is None:
        previews.require_asking(show=show, person=person, as_json=as_json, command="apply")
        found = use.preview(workspace, batch, terminal=person, include_dirty=include_dirty)
        _show(found, as_json=as_json)
        if show:
            return
        previews.ask("Apply this?")
        word = found.token.token
    else:
        previews.ask_if_needed(workspace, word, person=person)
    _report(use.confirm(workspace, word, terminal=person), as_json=as_json)


def _show(found: Previewed, *, as_json: bool) -> None:
    plan = found.plan
    if as_json:
        rows = [previews.row_json(row) for row in plan.rows]
        body = {
            "batch": plan.batch,
            "rows": rows,
            "refused": [_refused_json(row) for row in plan.refused],
            "problems": [output.problem_json(problem) for problem in plan.ignored],
        }
        output.emit_json(previews.document(found.token, plan.log, body))
        return
    lines = [f"Batch {output.style(output.safe(plan.batch), 'strong')}:"]
    lines += [previews.row_line(row) for row in plan.rows]
    lines += [_refused_line(row) for row in plan.refused]
    output.emit([*lines, *previews.change_lines(plan.log, plan.before, plan.changes)])
    for line in output.problem_lines(plan.ignored):
        output.say(line)
    previews.say_token(found.token, "apply")


def _report(done: Done, *, as_json: bool) -> None:
    if as_json:
        output.emit_json(
            {
                "commit": done.commit,
                "batch": done.batch,
                "applied": [previews.row_json(row) for row in done.applied],
                "refused": [_refused_json(row) for row in done.refused],
            }
        )
        return
    lines = [
        f"{output.style('applied', 'good')} batch {output.safe(done.batch)} in commit {done.commit[:10]}"
    ]
    lines += [previews.row_line(row) for row in done.applied]
    lines += [_refused_line(row) for row in done.refused]
    output.emit([*lines, "Take it back with: muniment undo"])


def _refused_json(row: RefusedRow) -> dict[str, str]:
    return {"row": row.row, "fingerprint": row.fingerprint, "reason": row.reason, "hint": row.hint}


def _refused_line(row: RefusedRow) -> str:
    hint = f" {output.style(row.hint, 'dim')}" if row.hint else ""
    return f"  {output.style('refused', 'bad')} row {output.safe(row.row)}: {output.safe(row.reason)}{hint}"
