"""`muniment ledger`: record entries, read them in order, and prove that none was changed or lost."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from muniment.cli import output
from muniment.cli.commands.ledger_acts import expunge, seal
from muniment.cli.options import Invocation, json_option, pass_invocation, rev_option

if TYPE_CHECKING:
    from muniment.ledger.store import Ledger


@click.group()
def ledger() -> None:
    """Record and read decisions.

    The ledger is an append-only set of entries in one file; what is decided about a subject is derived from
    it on every read. See docs/formats/ledger.md.
    """


@ledger.command()
@click.option("--kind", required=True, metavar="KIND", help="decision, finding, note, …; others are kept.")
@click.option(
    "--data", required=True, metavar="OBJ", help="The body, a JSON object; `-` reads it from stdin."
)
@click.option("--op", default="", metavar="KEY", help="A stable operation key: a retry adds nothing.")
@click.option("--basis", multiple=True, metavar="ID", help="The current decisions that were looked at.")
@json_option
@pass_invocation
def add(  # noqa: PLR0917 - click passes options by name
    invocation: Invocation, kind: str, data: str, op: str, basis: tuple[str, ...], as_json: bool
) -> None:
    """Record one entry in the working tree; nothing is committed."""
    from muniment.cli.commands import ledger_view as view  # noqa: PLC0415 - help stays light
    from muniment.ledger.store_write import record  # noqa: PLC0415 - same

    draft = view.draft(kind, data, op, basis)
    appended = record(invocation.writable, draft)
    for note in appended.notes:
        output.say(note)
    view.emit_added(appended, as_json=as_json)


@ledger.command()
@click.option("--kind", default=None, metavar="KIND", help="Only entries of this kind.")
@rev_option
@json_option
@pass_invocation
def log(invocation: Invocation, kind: str | None, rev: str | None, as_json: bool) -> None:
    """List the entries, oldest first, in the order that every clone derives."""
    from muniment.cli.commands import ledger_view as view  # noqa: PLC0415 - help stays light

    found = _load(invocation, rev)
    view.require_readable(found)
    view.emit_log(found, kind, as_json=as_json)


@ledger.command()
@click.option("--against", default=None, metavar="REV", help="Also prove that nothing since REV was lost.")
@rev_option
@json_option
@pass_invocation
def verify(invocation: Invocation, against: str | None, rev: str | None, as_json: bool) -> int:
    """Check every entry, every link, and with --against that history lost none.

    Exit 1 when something is wrong, 4 when REV can't be read here.
    """
    from muniment.cli.commands import ledger_view as view  # noqa: PLC0415 - help stays light
    from muniment.ledger.history import verify as verified  # noqa: PLC0415 - same

    return view.emit_verdict(verified(invocation.workspace, against=against, rev=rev), as_json=as_json)


@ledger.command()
@click.argument("subject")
@rev_option
@json_option
@pass_invocation
def status(invocation: Invocation, subject: str, rev: str | None, as_json: bool) -> None:
    """Say what is decided about SUBJECT, a fingerprint or any name that entries use."""
    from muniment.cli.commands import ledger_view as view  # noqa: PLC0415 - help stays light

    view.emit_status(_load(invocation, rev), subject, as_json=as_json)


def _load(invocation: Invocation, rev: str | None) -> Ledger:
    from muniment.ledger.store import load  # noqa: PLC0415 - help stays light

    return load(invocation.workspace, rev)


ledger.add_command(expunge)
ledger.add_command(seal)
