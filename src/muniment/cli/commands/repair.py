"""`muniment repair`: mend ledger, state and plan after a plain merge, losing nothing."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from muniment.cli import output
from muniment.cli.options import Invocation, json_option, pass_invocation

if TYPE_CHECKING:
    from muniment.git.repo import Operation
    from muniment.ledger.repair_report import Outcome


@click.command()
@click.argument("paths", nargs=-1, metavar="[PATH]…")
@json_option
@pass_invocation
@click.pass_context
def repair(context: click.Context, invocation: Invocation, paths: tuple[str, ...], as_json: bool) -> None:
    """Mend ledger, state and plan after a merge, revert or cherry-pick, losing nothing.

    Conflict markers, doubled and lost entries, absent ancestors and sealed segments are mended from the
    conflict's sides and from this clone's history; state and plan are merged by item. Also works in the
    middle of a merge or rebase; nothing is staged or committed. Exit 1 when something is left;
    docs/repair.md says what then.
    """
    from muniment.merge_repair import repair as mend  # noqa: PLC0415 - help stays light

    ws = invocation.writable
    done = mend(ws, _inside(invocation, paths))
    if as_json:
        output.emit_json(_document(done))
    else:
        _print(done, ws.repo.operation())
    context.exit(1 if done.unresolved else 0)


def _inside(invocation: Invocation, paths: Sequence[str]) -> list[str]:
    from muniment.check.run import repository_path  # noqa: PLC0415 - only with a PATH

    return [repository_path(invocation.workspace, invocation.directory, path) for path in paths]


def _document(done: Outcome) -> dict[str, object]:
    return {
        "repaired": [{"path": one.path, "what": one.what} for one in done.repaired],
        "unresolved": [
            {
                "path": one.path,
                "line": one.line,
                "rule": one.rule,
                "message": one.message,
                "settle": one.settle,
            }
            for one in done.unresolved
        ],
        "written": list(done.written),
    }


def _print(done: Outcome, operation: Operation) -> None:
    for one in done.repaired:
        output.emit([f"{output.style('repaired:', 'good')} {output.safe(one.path)}: {output.safe(one.what)}"])
    for left in done.unresolved:
        where = f"{left.path}:{left.line}" if left.line else left.path
        rule = output.style(f"[{left.rule}]", "dim")
        output.emit(
            [f"{output.style('unresolved:', 'bad')} {output.safe(where)}: {output.safe(left.message)} {rule}"]
        )
    if not done.repaired and not done.unresolved:
        output.emit(
            ["Nothing to repair: the ledger holds all that HEAD's history recorded; no merge is open."]
        )
    if done.written:
        listed = " ".join(shlex.quote(path) for path in done.written)
        output.say(f"Nothing was staged. Next: git add -- {output.safe(listed)}")
        if operation.value in {"merge", "rebase", "cherry-pick", "revert"} and not done.unresolved:
            output.say(f"then: git {operation.value} --continue")
