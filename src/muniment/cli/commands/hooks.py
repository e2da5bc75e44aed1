"""`muniment hooks`: plain git hooks that run the check before a commit."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from muniment.cli import output
from muniment.cli.options import Invocation, json_option, pass_invocation, running_program

if TYPE_CHECKING:
    from muniment.hooks import Changed, Hooks


@click.group()
def hooks() -> None:
    """Install, remove or show the git hooks.

    They run `muniment check --staged` before a commit or merge, after any hook that was there before.
    MUNIMENT_SKIP=1 skips Muniment's part once. For the pre-commit framework see docs/hooks.md.
    """


@hooks.command()
@json_option
@pass_invocation
def install(invocation: Invocation, as_json: bool) -> None:
    """Install the hooks beside what is there; doing it again changes nothing."""
    from muniment import hooks as plain  # noqa: PLC0415 - help stays light

    _report(plain.install(invocation.workspace, running_program()), as_json=as_json)


@hooks.command()
@json_option
@pass_invocation
def uninstall(invocation: Invocation, as_json: bool) -> None:
    """Remove the hooks and put back what was there before."""
    from muniment import hooks as plain  # noqa: PLC0415 - help stays light

    _report(plain.uninstall(invocation.workspace), as_json=as_json)


@hooks.command()
@json_option
@pass_invocation
def status(invocation: Invocation, as_json: bool) -> None:
    """Show what stands at each hook's place."""
    from muniment import hooks as plain  # noqa: PLC0415 - help stays light

    found = plain.read(invocation.workspace, running_program())
    if as_json:
        output.emit_json(document(found))
    else:
        output.emit(_status_lines(found))


def document(found: Hooks) -> dict[str, object]:
    """The hooks as JSON."""
    return {
        "installed": found.installed,
        "folder": str(found.folder),
        "core_hooks_path": found.elsewhere,
        "hooks": [
            {"name": hook.name, "path": str(hook.path), "state": hook.standing.value, "chained": hook.chained}
            for hook in found.hooks
        ],
    }


def _status_lines(found: Hooks) -> list[str]:
    lines = []
    if found.elsewhere:
        calls = "mentions muniment" if found.calls else "doesn't call muniment"
        lines.append(f"core.hooksPath is {output.safe(found.elsewhere)!r}; its pre-commit hook {calls}.")
    for hook in found.hooks:
        chained = ", an earlier hook runs first" if hook.chained else ""
        lines.append(f"{hook.name}: {hook.standing.value}{chained}")
    if not found.installed and not found.elsewhere:
        lines.append("Run `muniment hooks install` to check each commit.")
    return lines


def _report(changed: Changed, *, as_json: bool) -> None:
    if as_json:
        output.emit_json({"changed": changed.anything, "hooks": dict(changed.actions)})
    else:
        output.emit(f"{name}: {action}" for name, action in changed.actions)
