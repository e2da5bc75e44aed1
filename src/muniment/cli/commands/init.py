"""`muniment init`: make this repository ready."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from muniment.cli import output
from muniment.cli.options import Invocation, json_option, pass_invocation, running_program

if TYPE_CHECKING:
    from muniment.project import Prepared


@click.command()
@click.option("--merge-driver", is_flag=True, help="Only install the merge drivers in this clone.")
@json_option
@pass_invocation
def init(invocation: Invocation, merge_driver: bool, as_json: bool) -> None:
    """Set up Muniment in this repository.

    Writes .muniment/config.yaml and .muniment/allow.txt if they are missing, and Muniment's own lines of
    .gitattributes and .gitignore; puts the merge drivers for ledger, state and plan into this clone's git
    configuration. It commits nothing, and doing it again changes nothing.

    \b
    Example:
      muniment init
      git add .muniment .gitattributes .gitignore && git commit -m "Add muniment"
    """  # noqa: D301 - \b is click's mark for a paragraph kept as it stands
    from muniment import hooks, merge_driver_setup, project  # noqa: PLC0415 - help stays light

    workspace = invocation.writable
    prepared = project.prepare(workspace, attributes_only=merge_driver)
    driver = merge_driver_setup.install(workspace, running_program())
    steps = _next_steps(prepared.changed, hooks_installed=hooks.read(workspace).installed)
    if as_json:
        output.emit_json(_document(prepared, steps, driver=driver))
    else:
        output.emit(_lines(prepared, steps, driver=driver))


def _document(prepared: Prepared, steps: Sequence[tuple[str, str]], *, driver: bool) -> dict[str, object]:
    return {
        "created": list(prepared.created),
        "updated": list(prepared.updated),
        "unchanged": list(prepared.unchanged),
        "merge_driver": "installed" if driver else "unchanged",
        "notes": list(prepared.notes),
        "next": [{"command": command, "why": why} for command, why in steps],
    }


def _lines(prepared: Prepared, steps: Sequence[tuple[str, str]], *, driver: bool) -> list[str]:
    lines = [f"{output.style('created', 'good')} {output.safe(path)}" for path in prepared.created]
    lines += [f"{output.style('updated', 'good')} {output.safe(path)}" for path in prepared.updated]
    if driver:
        lines.append(
            f"{output.style('installed', 'good')} the merge drivers, in this clone's git configuration"
        )
    if not lines:
        lines = ["Everything is in place already; nothing was changed."]
    lines += [f"{output.style('note:', 'warn')} {output.safe(note)}" for note in prepared.notes]
    lines += ["", "Next:"]
    for command, why in steps:
        lines += [f"  {output.style(command, 'strong')}", f"      {why}"]
    return lines


def _next_steps(changed: Sequence[str], *, hooks_installed: bool) -> list[tuple[str, str]]:
    steps = []
    if changed:
        steps.append((f"git add {shlex.join(changed)}", "then commit: init commits nothing itself"))
    if not hooks_installed:
        steps.append(("muniment hooks install", "check what Muniment owns before each commit"))
    steps.append(("muniment intake PATH", "take in a bot's report: a report.json, or a folder of them"))
    steps.append(("muniment check", "see whether everything Muniment owns is in order"))
    return steps
