"""`muniment check`: one command for hooks, CI and "before a PR"."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from muniment.cli import output
from muniment.cli.options import Invocation, json_option, pass_invocation
from muniment.errors import UsageProblem

if TYPE_CHECKING:
    from muniment.check.findings import Outcome

UNKNOWN = 4
PROBLEMS = 1


@click.command()
@click.argument("paths", nargs=-1, metavar="[PATH]…")
@click.option("--staged", is_flag=True, help="Only what is staged, as it is staged (for hooks).")
@click.option("--range", "revisions", metavar="A..B", help="Only what these commits change (for CI).")
@click.option("--fix", is_flag=True, help="Mend what is safe to mend, and say what was done.")
@click.option("--require-known", is_flag=True, help="Exit with 4 when something could not be decided here.")
@json_option
@pass_invocation
@click.pass_context
def check(  # noqa: PLR0917 - click passes options by name
    context: click.Context,
    invocation: Invocation,
    paths: tuple[str, ...],
    staged: bool,
    revisions: str | None,
    fix: bool,
    require_known: bool,
    as_json: bool,
) -> None:
    """Check everything Muniment owns: for hooks, CI and before a PR.

    Looks at the working tree, or only at PATHs, what is staged, or a range of commits. Every problem says
    where, which rule, and the command that fixes it; docs/check.md explains every rule.
    """
    if sum((staged, bool(revisions), bool(paths))) > 1:
        raise UsageProblem("Give only one of --staged, --range and PATH.", "See `muniment check --help`.")
    if staged and not fix and _nothing_staged(invocation, as_json=as_json):
        return
    with output.waiting("Checking"):
        outcome = _outcome(invocation, paths, revisions, staged=staged, fix=fix)
    if as_json:
        output.emit_json(_document(outcome))
    else:
        _print(outcome, quiet=invocation.quiet)
    context.exit(_code(outcome, require_known=require_known))


def _nothing_staged(invocation: Invocation, *, as_json: bool) -> bool:
    """Answer at once when nothing of Muniment's is staged: this runs before every commit of everyone."""
    from muniment.check import quick  # noqa: PLC0415 - help stays light

    if not quick.nothing_staged(invocation.directory, os.environ):
        return False
    if as_json:
        empty: dict[str, object] = {"ok": True, "problems": [], "unknown": [], "notes": [], "fixed": []}
        output.emit_json({**empty, "checked": 0})
    elif not invocation.quiet:
        output.say(output.style("No problem: nothing of Muniment's is staged.", "good"))
    return True


def _outcome(
    invocation: Invocation, paths: Sequence[str], revisions: str | None, *, staged: bool, fix: bool
) -> Outcome:
    from muniment.check import run  # noqa: PLC0415 - help and the quick way stay light

    workspace = invocation.workspace
    paths = [run.repository_path(workspace, invocation.directory, path) for path in paths]
    if fix:
        from muniment.check.fix import mend  # noqa: PLC0415 - only for --fix

        return mend(workspace, paths, revisions, staged=staged)
    return run.check(workspace, paths, revisions, staged=staged)


def _code(outcome: Outcome, *, require_known: bool) -> int:
    if outcome.problems:
        return PROBLEMS
    return UNKNOWN if require_known and outcome.unknown else 0


def _document(outcome: Outcome) -> dict[str, object]:
    return {
        "ok": outcome.ok,
        "problems": [output.problem_json(problem) for problem in outcome.problems],
        "unknown": [{"rule": one.rule, "why": one.why, "settle": one.settle} for one in outcome.unknown],
        "notes": [
            {"path": note.path, "line": note.line, "rule": note.rule, "message": note.message}
            for note in outcome.notes
        ],
        "fixed": [{"path": path, "what": what} for path, what in outcome.fixed],
        "checked": outcome.checked,
    }


def _print(outcome: Outcome, *, quiet: bool) -> None:
    output.emit(output.problem_lines(outcome.problems))
    for path, what in outcome.fixed:
        output.say(f"{output.style('fixed:', 'good')} {output.safe(path)}: {what}")
    for one in outcome.unknown:
        rule = output.style(f"[{one.rule}]", "dim")
        output.say(f"{output.style('unknown:', 'warn')} {output.safe(one.why)} {rule}")
        output.say(f"  to settle it: {output.safe(one.settle)}")
    if quiet:
        return
    for note in outcome.notes:
        output.say(f"{output.style('note:', 'dim')} {output.safe(str(note))}")
    output.say(_summary(outcome))


def _summary(outcome: Outcome) -> str:
    count = len(outcome.problems)
    files = f"{outcome.checked} file{'' if outcome.checked == 1 else 's'} of Muniment's in {outcome.what}"
    if count:
        return output.style(f"{count} problem{'' if count == 1 else 's'} ({files}).", "bad")
    if outcome.unknown:
        return output.style(f"No problem found, but not everything could be decided ({files}).", "warn")
    return output.style(f"No problem ({files}).", "good")
