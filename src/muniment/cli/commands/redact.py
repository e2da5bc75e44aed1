"""`muniment redact`: replace identifiers by stable tags; needs no repository (G12)."""

from __future__ import annotations

import sys

import click

from muniment.cli.options import json_option, read_input
from muniment.cli.output import emit_json


@click.command()
@click.argument("file", default="-", metavar="[FILE|-]")
@click.option("--known", metavar="FILE", help="Known names: one a line, or name<TAB>role.")
@click.option(
    "--batch", is_flag=True, help="JSONL in (id, text, known_names), JSONL out with the gate's verdicts."
)
@json_option
def redact(file: str, known: str | None, batch: bool, as_json: bool) -> None:
    """Replace phone numbers, WhatsApp ids, e-mail addresses, known names and secrets by stable tags.

    Reads FILE or standard input and prints the redacted text; redacting it again changes nothing.
    """
    from muniment.redact import batch as service  # noqa: PLC0415 - help needs none of it

    if batch:
        lines = sys.stdin.buffer if file == "-" else read_input(file).splitlines()
        for line in service.batch(lines):
            click.echo(line)
        return
    redacted = service.redact_bytes(read_input(file), file, service.load_names(known)).text
    if as_json:
        emit_json({"text": redacted})
    else:
        click.echo(redacted, nl=False)
