"""`muniment apply`: preview a triaged batch, confirm it, one commit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from muniment.cli import output, previews
from muniment.cli.options import Invocation, json_option, pass_invocation

if TYPE_CHECKING:
    from muniment.intake.apply import Done, Previewed
    from muniment.intake.derive import Plan, RefusedRow


@click.command()
@click.option("--batch", metavar="B", default=None, help="The batch; by default the one that waits.")
@click.option("--preview", "show", is_flag=True, help="Show exactly what would change, and make a token.")
@click.option("--confirm", "word", metavar="TOKEN", default=None, help="Do what the preview showed, once.")
@click.option(
    "--include-dirty", metavar="PATH", multiple=True, help="Take this file's uncommitted changes along."
)
@json_option
@pass_invocation
@click.pass_context
def apply(
    ctx: click.Context,
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
    Rows that nobody has decided are left out and stay in the batch. After a no, the exit code is 1.

    \b
    Example:
      muniment apply --preview
      muniment apply --confirm 0f3c…
    """  # noqa: D301 - \b is click's mark for a paragraph kept as it stands
    from muniment.intake import apply as use  # noqa: PLC0415 - help stays light

    previews.one_of(show=show, word=word, given=batch is not None or bool(include_dirty))
    workspace, person = invocation.writable, invocation.interactive()
    if word is not None:
        if not previews.ask_if_needed(workspace, word, person=person):
            ctx.exit(1)
    else:
        previews.require_asking(show=show, person=person, as_json=as_json, command="apply")
        found = use.preview(workspace, batch, terminal=person, include_dirty=include_dirty)
        _show(found, as_json=as_json, asking=not show)
        if show:
            return
        word = found.token.token
        if not previews.ask("Apply this?", previews.not_done(found.token, "apply", "Not applied")):
            ctx.exit(1)
    _report(use.confirm(workspace, word, terminal=person), as_json=as_json)


def _show(found: Previewed, *, as_json: bool, asking: bool) -> None:
    plan = found.plan
    if as_json:
        rows = [previews.row_json(row) for row in plan.rows]
        body = {
            "batch": plan.batch,
            "rows": rows,
            "refused": [_refused_json(row) for row in plan.refused],
            "undecided": list(plan.left),
            "problems": [output.problem_json(problem) for problem in plan.ignored],
        }
        output.emit_json(previews.document(found.token, plan.log, body))
        return
    output.emit(_summary(plan))
    output.emit(previews.change_lines(plan.log, plan.before, plan.changes))
    for line in output.problem_lines(plan.ignored):
        output.say(line)
    if asking:
        output.emit(["", *_summary(plan)])
    else:
        previews.say_token(found.token, "apply")


def _summary(plan: Plan) -> list[str]:
    """The batch, each row that is applied or refused, and which rows stay out of it."""
    rows = output.number(len(plan.rows), "row")
    lines = [f"Batch {output.style(output.safe(plan.batch), 'strong')}, {rows} to apply:"]
    lines += [previews.row_line(row) for row in plan.rows]
    lines += [_refused_line(row) for row in plan.refused]
    return lines + _left_line(plan.left)


def _left_line(left: Sequence[str]) -> list[str]:
    if not left:
        return []
    named = f"row {left[0]}" if len(left) == 1 else f"rows {', '.join(left)}"
    stays = "stays" if len(left) == 1 else "stay"
    return [f"  {output.style('left out', 'warn')} {output.safe(named)}: undecided, {stays} in the batch"]


def _report(done: Done, *, as_json: bool) -> None:
    if as_json:
        output.emit_json(
            {
                "commit": done.commit,
                "batch": done.batch,
                "applied": [previews.row_json(row) for row in done.applied],
                "refused": [_refused_json(row) for row in done.refused],
                "undecided": list(done.left),
            }
        )
        return
    lines = [
        f"{output.style('applied', 'good')} batch {output.safe(done.batch)} in commit {done.commit[:10]}"
    ]
    lines += [previews.row_line(row) for row in done.applied]
    lines += [_refused_line(row) for row in done.refused]
    lines += _left_line(done.left)
    output.emit([*lines, "Take it back with: muniment undo"])
    if done.left or done.refused:
        output.say(f"Decide the rest: muniment triage --batch {output.safe(done.batch)}")


def _refused_json(row: RefusedRow) -> dict[str, str]:
    return {"row": row.row, "fingerprint": row.fingerprint, "reason": row.reason, "hint": row.hint}


def _refused_line(row: RefusedRow) -> str:
    hint = f" {output.style(row.hint, 'dim')}" if row.hint else ""
    return f"  {output.style('refused', 'bad')} row {output.safe(row.row)}: {output.safe(row.reason)}{hint}"
