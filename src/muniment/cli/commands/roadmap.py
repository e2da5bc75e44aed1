"""`muniment roadmap`: check goals, milestones and stories."""

from __future__ import annotations

import click

from muniment.cli import output
from muniment.cli.options import Invocation, json_option, pass_invocation, rev_option


@click.group()
def roadmap() -> None:
    """Check goals, milestones and stories."""


@roadmap.command()
@rev_option
@json_option
@pass_invocation
@click.pass_context
def check(ctx: click.Context, invocation: Invocation, rev: str | None, as_json: bool) -> None:
    """Check every roadmap and decision record: cycles, unknown ids, unknown `used by`, early `done`."""
    from muniment.documents import catalogue, goals  # noqa: PLC0415 - keeps --help light

    found, _ = catalogue.load(invocation.workspace, rev)
    problems = goals.check(found.documents, found.layout)
    plans = [document.roadmap for document in found.documents if document.roadmap]
    stories = sum(len(plan.stories) for plan in plans)
    if as_json:
        shown = [output.problem_json(problem) for problem in problems]
        blocked = [f"{plan.path}:{story.line} {story.id}" for plan in plans for story in plan.blocked()]
        output.emit_json({"ok": not problems, "problems": shown, "stories": stories, "blocked": blocked})
    else:
        output.emit(output.problem_lines(problems))
        output.say(f"{stories} stories in {len(plans)} roadmaps, {len(problems)} problems.")
    ctx.exit(1 if problems else 0)
