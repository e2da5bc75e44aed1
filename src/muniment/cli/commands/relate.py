"""`muniment relate`: find what is already documented, decided or landed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from muniment.cli import output
from muniment.cli.options import Invocation, json_option, pass_invocation, read_input, rev_option
from muniment.errors import Problem, Unavailable, UsageProblem

if TYPE_CHECKING:  # the index is imported when it is asked
    from muniment.relate import index
    from muniment.workspace import Workspace

MAX_TEXT = 16 * 1024 * 1024
"""Longest text taken as a query, in bytes."""


@click.command()
@click.argument("text", required=False)
@click.option("--file", "file", metavar="F", help="Read the text from a file (`-`: standard input).")
@click.option("--limit", type=click.IntRange(1, 1000), default=10, show_default=True, help="Most results.")
@click.option("--batch", is_flag=True, help="Answer queries given as JSON lines on standard input.")
@click.option("--docs", metavar="DOCS.jsonl", help="With --batch: the corpus; needs no repository.")
@click.option("--rebuild", is_flag=True, help="Drop the cached index first.")
@click.option("--semantic", is_flag=True, help="Rank by meaning too (not in this version).")
@rev_option
@json_option
@pass_invocation
def relate(  # noqa: PLR0917 - click passes options by name
    invocation: Invocation,
    text: str | None,
    file: str | None,
    limit: int,
    batch: bool,
    docs: str | None,
    rebuild: bool,
    semantic: bool,
    rev: str | None,
    as_json: bool,
) -> None:
    """Rank everything that may cover TEXT (`-`: standard input): its first line counts as a title.

    Documents in every stage, limitations, stories, decisions, pending lines, agent instructions, the ledger,
    earlier reports and the git log are searched, offline. With nothing worth offering it says so.
    """
    if semantic:
        raise Unavailable(
            "Ranking by meaning (--semantic) is not part of this version.", "Run it without --semantic."
        )
    if docs and rev is not None:
        raise UsageProblem("--docs searches a file and --rev a commit.", "Give only one of them.")
    if rebuild and rev is not None:
        raise UsageProblem("As of a commit no index is kept.", "Give only one of --rebuild and --rev.")
    if batch:
        _batch(invocation, docs, text or file, limit, rev, rebuild=rebuild)
        return
    if docs:
        raise UsageProblem("--docs belongs with --batch.", "Add --batch, or drop --docs.")
    if rebuild:
        _rebuild(invocation)
        if text is None and file is None:
            output.say("The index was built anew.")
            return
    _one(invocation.at(rev), text, file, limit, as_json=as_json)


def _rebuild(invocation: Invocation) -> None:
    from muniment.relate import index  # noqa: PLC0415 - keeps --help light

    index.drop(invocation.workspace)
    index.refresh(invocation.workspace)


def _one(ws: Workspace, text: str | None, file: str | None, limit: int, *, as_json: bool) -> None:
    from muniment.relate import index  # noqa: PLC0415 - keeps --help light

    if text is not None and file is not None:
        raise UsageProblem("Give TEXT or --file, not both.")
    title, body = index.split_text(_given(text, file))
    relations = index.relate(ws, title, body, limit=limit)
    _warn(relations.skipped)
    if as_json:
        output.emit_json(
            {"abstained": relations.abstained, "results": [one.as_json() for one in relations.results]}
        )
    else:
        output.emit(_lines(relations))


def _given(text: str | None, file: str | None) -> str:
    given = text
    if file is not None or text == "-":
        given = read_input(file or "-", limit=MAX_TEXT).decode("utf-8-sig", "replace")
    if given is None or not given.strip():
        raise UsageProblem("There is no text to relate.", "Give it as an argument, with --file F, or on `-`.")
    return given


def _lines(relations: index.Relations) -> Iterator[str]:
    if relations.abstained:
        yield "Nothing found that is worth offering. (That is no proof that nothing covers it.)"
    for one in relations.results:
        where = f"{one.path}:{one.line}" if one.line else one.path or one.commit[:10]
        if one.type == "commit":
            where = f"{one.commit[:10]} {one.path}".strip()
        yield (
            f"{one.verdict:<9} {one.score:.2f}  {output.style(output.safe(where), 'path')}  "
            f"{output.safe(one.title)}  {output.style(f'[{one.type}, {one.status}]', 'dim')}"
        )
        yield f"               {output.style('matched: ' + output.safe(', '.join(one.matched)), 'dim')}"


def _warn(skipped: tuple[Problem, ...]) -> None:
    if skipped:
        output.say(f"{len(skipped)} of the files to search are not, or not wholly, searched:")
        for line in output.problem_lines(skipped[:10]):
            output.say(f"  {line}")


def _batch(
    invocation: Invocation,
    docs: str | None,
    other: str | None,
    limit: int,
    rev: str | None,
    *,
    rebuild: bool,
) -> None:
    """Answer each query line of standard input, over a corpus or (without one) over the repository."""
    if other not in {None, "-"}:
        raise UsageProblem("--batch reads its queries from standard input.", "Drop TEXT and --file.")
    from muniment.relate import corpus  # noqa: PLC0415 - keeps --help light

    queries = corpus.read_texts(read_input("-"), "<stdin>")
    if docs is not None:
        texts = corpus.read_texts(read_input(docs), docs)
        answers = corpus.over_corpus(texts, queries, limit=limit)
    else:
        answers = corpus.over_repository(invocation.at(rev), queries, limit=limit, rebuild=rebuild)
    for answer in answers:
        click.echo(json.dumps(answer, ensure_ascii=False))
