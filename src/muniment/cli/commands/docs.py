"""`muniment docs`: list and search documents by stage."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import click

from muniment.cli import output
from muniment.cli.options import Invocation, json_option, pass_invocation, rev_option
from muniment.errors import Problem, UsageProblem

if TYPE_CHECKING:
    from muniment.documents.reading import Document

STAGES = (
    "ideas",
    "backlog",
    "in-progress",
    "bugs",
    "refactor",
    "archive",
    "debug",
    "pending",
    "roadmap",
    "goals",
    "decisions",
    "instructions",
    "docs",
)


@click.group()
def docs() -> None:
    """List and search documents by stage."""


@docs.command("list")
@click.option("--stage", type=click.Choice(STAGES), help="Only this stage.")
@rev_option
@json_option
@pass_invocation
def list_(invocation: Invocation, stage: str | None, rev: str | None, as_json: bool) -> None:
    """List every document with its stage, as in the working tree or at a commit."""
    from muniment.documents import catalogue  # noqa: PLC0415 - keeps --help light

    found, problems = catalogue.load(invocation.workspace, rev)
    chosen = [document for document in found.documents if stage is None or document.stage == stage]
    _report(problems, as_json=as_json)
    if as_json:
        rows = [_row(document) for document in chosen]
        output.emit_json({"documents": rows, "problems": [output.problem_json(one) for one in problems]})
    else:
        output.emit(_line(document) for document in chosen)


def _row(document: Document) -> dict[str, object]:
    return {
        "path": document.path,
        "stage": str(document.stage),
        "status": str(document.stage.standing),
        "title": document.title,
        "line": document.line,
    }


def _line(document: Document) -> str:
    path = output.style(output.safe(document.path), "path")
    return f"{document.stage:<12} {path}  {output.safe(document.title)}"


@docs.command()
@click.argument("text")
@click.option("--stage", type=click.Choice(STAGES), help="Only this stage.")
@click.option("--limit", type=click.IntRange(1, 1000), default=10, show_default=True, help="Most results.")
@rev_option
@json_option
@pass_invocation
def search(  # noqa: PLR0917 - click passes options by name
    invocation: Invocation, text: str, stage: str | None, limit: int, rev: str | None, as_json: bool
) -> None:
    """Rank the documents, stories, decisions and pending lines that hold the words of TEXT.

    Unlike `relate`, it shows whatever matches: judging is up to you.
    """
    from muniment.relate import index  # noqa: PLC0415 - keeps --help light

    if not text.strip():
        raise UsageProblem("There is no text to search for.")
    relations = index.search(invocation.at(rev), text, limit=limit, stage=stage)
    _report(relations.skipped, as_json=as_json)
    if as_json:
        output.emit_json({"results": [one.as_json() for one in relations.results]})
    else:
        output.emit(
            f"{one.stage:<12} {output.style(output.safe(f'{one.path}:{one.line}'), 'path')}  "
            f"{output.safe(one.title)}  {output.style(output.safe(', '.join(one.matched)), 'dim')}"
            for one in relations.results
        )


def _report(problems: Iterable[Problem], *, as_json: bool) -> None:
    if not as_json:
        for line in output.problem_lines(problems):
            output.say(line)
