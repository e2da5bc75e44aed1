"""`muniment undo`: take an applied batch back, in one commit on HEAD."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from muniment.cli import output, previews
from muniment.cli.options import Invocation, json_option, pass_invocation

if TYPE_CHECKING:
    from muniment.intake.undo import Previewed, Undone


@click.command()
@click.argument("commit", required=False)
@click.option("--preview", "show", is_flag=True, help="Show exactly what would change, and make a token.")
@click.option("--confirm", "word", metavar="TOKEN", default=None, help="Do what the preview showed, once.")
@click.option("--yes", is_flag=True, help="Undo without being asked.")
@click.option("--reason", metavar="R", default="", help="Why, for the ledger.")
@click.option(
    "--include-dirty", metavar="PATH", multiple=True, help="Take this file's uncommitted changes along."
)
@json_option
@pass_invocation
@click.pass_context
def undo(
    ctx: click.Context,
    invocation: Invocation,
    *,
    commit: str | None,
    show: bool,
    word: str | None,
    yes: bool,
    reason: str,
    include_dirty: tuple[str, ...],
    as_json: bool,
) -> None:
    """Undo an applied batch: its documents by an inverse patch, its decisions by one ledger entry.

    COMMIT is the batch's commit (or an undo's, which applies the batch again); by default the newest batch
    that is not undone. Later edits elsewhere in the documents stay; where they overlap, nothing is done.
    What was done at a feedback source can't be undone. The decisions stay in the triage file: there they can
    be changed, and applied anew. After a no, the exit code is 1.

    \b
    Example:
      muniment undo --preview
      muniment undo --yes
    """  # noqa: D301 - \b is click's mark for a paragraph kept as it stands
    from muniment.intake import undo as use  # noqa: PLC0415 - help stays light

    previews.one_of(show=show, word=word, given=bool(commit or reason or include_dirty or yes), yes=yes)
    workspace, person = invocation.writable, invocation.interactive()
    if word is None:
        if not yes:
            previews.require_asking(show=show, person=person, as_json=as_json, command="undo")
        found = use.preview(workspace, commit, terminal=person, reason=reason, include_dirty=include_dirty)
        if not yes:
            _show(found, as_json=as_json, asking=not show)
        if show:
            return
        word = found.token.token
        verb, not_done = ("Apply", "Not applied again") if found.plan.again else ("Undo", "Not undone")
        if not yes and not previews.ask(f"{verb} this?", previews.not_done(found.token, "undo", not_done)):
            ctx.exit(1)
    _report(use.confirm(workspace, word, terminal=person), as_json=as_json)


def _show(found: Previewed, *, as_json: bool, asking: bool) -> None:
    plan = found.plan
    if as_json:
        body = {"batch": plan.batch, "undoes": plan.target.id}
        output.emit_json(previews.document(found.token, plan.log, body))
        return
    verb = "Applies again" if plan.again else "Undoes"
    heading = f"{verb} batch {output.style(output.safe(plan.batch), 'strong')}:"
    output.emit([heading])
    output.emit(previews.change_lines(plan.log, plan.before, plan.changes))
    if asking:
        output.emit(
            ["", heading, *(f"  {output.safe(one.path)}: {output.safe(one.what)}" for one in plan.log)]
        )
    else:
        previews.say_token(found.token, "undo")


def _report(done: Undone, *, as_json: bool) -> None:
    if as_json:
        output.emit_json({"commit": done.commit, "undone": done.undoes, "batch": done.batch})
        return
    word = "applied again" if done.again else "undone"
    batch, short = output.safe(done.batch), done.commit[:10]
    output.emit([f"{output.style(word, 'good')} batch {batch} in commit {short}"])
    if done.again:
        output.say(f"To take it back: muniment undo {short}")
        return
    output.say("What was done at a feedback source stays as it is.")
    output.say(
        "The decisions stay in the triage file and wait there.\n"
        f"  to decide otherwise: muniment triage --batch {batch}\n"
        f"  to apply them again: muniment apply --batch {batch}"
    )
