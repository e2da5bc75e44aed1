"""`muniment gate`: refuse text that still holds an identifier or a secret (G12)."""

from __future__ import annotations

import click

from muniment.cli.options import Invocation, json_option, pass_invocation
from muniment.cli.output import emit, emit_json, safe, say
from muniment.errors import MunimentError, UsageProblem
from muniment.redact.batch import load_names
from muniment.redact.gate import Gate, GateProblem, gate_for
from muniment.redact.names import KnownNames


@click.command()
@click.argument("paths", nargs=-1, metavar="[PATH]…")
@click.option(
    "--range", "revisions", metavar="A..B", help="Judge what these commits add, messages and paths too."
)
@click.option("--known", metavar="FILE", help="Known names: one a line, or name<TAB>role.")
@json_option
@pass_invocation
@click.pass_context
def gate(  # noqa: PLR0917 - click passes one argument an option
    ctx: click.Context,
    invocation: Invocation,
    paths: tuple[str, ...],
    revisions: str | None,
    known: str | None,
    as_json: bool,
) -> None:
    """Refuse files or commits that hold an identifier or a secret; says where and what kind, never the value.

    Exit code 1 when something is refused. Files are judged whole; commits by what they add.
    """
    from muniment.redact import gate_files as service  # noqa: PLC0415 - help needs none of it

    if bool(paths) == bool(revisions):
        raise UsageProblem("Give either files or --range A..B.", "For example: muniment gate docs/ notes.md")
    names = load_names(known)
    if revisions:
        found = service.gate_range(invocation.workspace, revisions, names)
    else:
        found = service.gate_paths(paths, _gate_here(invocation, names))
    if known is None:
        say("note: names were not checked; give them with --known FILE.")
    _render(found, as_json=as_json)
    ctx.exit(1 if found else 0)


def _gate_here(invocation: Invocation, names: KnownNames) -> Gate:
    """The repository's gate (reviewed values, its own names), or a bare one outside any repository."""
    try:
        return gate_for(invocation.workspace, names)
    except MunimentError as error:
        if error.exit_code != UsageProblem.exit_code:
            raise
        return Gate(names)


def _render(found: tuple[GateProblem, ...], *, as_json: bool) -> None:
    if as_json:
        problems = [
            {"path": item.path, "line": item.line, "column": item.column, "kind": item.kind} for item in found
        ]
        emit_json({"ok": not found, "problems": problems})
        return
    emit(safe(str(item)) for item in found)
    say(f"The gate refuses: {len(found)} found." if found else "The gate passes.")
