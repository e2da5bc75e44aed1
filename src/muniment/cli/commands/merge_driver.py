"""`muniment merge-driver` and `muniment textconv`: what git calls, by the settings that `init` makes."""

from __future__ import annotations

from pathlib import Path

import click

from muniment.cli import output
from muniment.cli.options import Invocation, pass_invocation

_FILE = click.Path(path_type=Path)


@click.command("merge-driver")
@click.argument("kind", metavar="ledger|state|plan")
@click.argument("base", type=_FILE)
@click.argument("ours", type=_FILE)
@click.argument("theirs", type=_FILE)
@click.argument("path")
@pass_invocation
def merge_driver(  # noqa: PLR0917 - git's own order
    invocation: Invocation, kind: str, base: Path, ours: Path, theirs: Path, path: str
) -> None:
    """Merge three versions of a ledger, a state or a plan; the result replaces OURS.

    git calls it, for what .gitattributes names; `muniment init` sets that up. When a version can't be read
    OURS stays as it is and git shows a conflict.
    """
    from muniment.merge_driver import run  # noqa: PLC0415 - help stays light

    folder = invocation.directory
    for note in run(kind, folder / base, folder / ours, folder / theirs, path):
        output.say(f"{output.safe(path)}: {output.safe(note)}")


@click.command()
@click.argument("kind", metavar="ledger")
@click.argument("file", type=_FILE)
@pass_invocation
def textconv(invocation: Invocation, kind: str, file: Path) -> None:
    """Show a ledger as text, one entry in a few lines; `git diff` calls it.

    What can't be read as a ledger is shown as it stands.
    """
    from muniment.ledger.textconv import readable  # noqa: PLC0415 - help stays light
    from muniment.merge_driver import read_for_diff  # noqa: PLC0415 - same

    click.echo(readable(read_for_diff(kind, invocation.directory / file)), nl=False)
