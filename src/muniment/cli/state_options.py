"""Options of the `state` commands, checked as they are read, and how their answers are printed."""

from __future__ import annotations

import functools
import json
import os
import re
import secrets
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import click

from muniment.cli import output
from muniment.cli.options import Invocation
from muniment.errors import UsageProblem

if TYPE_CHECKING:
    from muniment.lease_engine import LeasedState
    from muniment.state.engine import StateFile
    from muniment.state.operations import Answer

    Place = StateFile | LeasedState

_ODD = re.compile("[\x7f-\x9f\u2028\u2029\ud800-\udfff]")
"""Characters that would end the line for some readers, or that UTF-8 can't hold."""


def place_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """Where the state is, a file or a shared branch; the command gets the opened state as `place`."""

    @functools.wraps(function)
    def opened(*args: Any, **given: Any) -> Any:
        where = {name: given.pop(name) for name in ("state", "branch", "remote", "session", "epoch")}
        place = _open(**where)
        if where["branch"] is not None and _is_unnamed(given):
            given["writer"] = getattr(place, "writer", "") or given["writer"]
        return function(*args, place=place, **given)

    command: Callable[..., Any] = opened
    for option in reversed(_PLACE):
        command = option(command)
    return command


def _is_unnamed(given: Mapping[str, Any]) -> bool:
    """Whether a command that writes under a lease was told no writer: then it is the lease's own."""
    context = click.get_current_context()
    source = context.get_parameter_source("writer") if given.get("writer") else None
    named = os.environ.get("MUNIMENT_WRITER") or context.command.name == "lease-acquire"
    return source is click.core.ParameterSource.DEFAULT and not named


_PLACE = (
    click.option("--state", metavar="FILE", help="The state file; any path."),
    click.option("--branch", help="The branch that the state is shared on, instead of a file."),
    click.option("--remote", help="That branch's remote; by default the clone's main one."),
    click.option("--session", help="The lease's session; by default the one that this worktree acquired."),
    click.option("--epoch", type=click.IntRange(min=1), help="The lease's fencing number, to be checked."),
)


def _open(
    *, state: str | None, branch: str | None, remote: str | None, session: str | None, epoch: int | None
) -> Place:
    if (state is None) == (branch is None):
        raise UsageProblem("Name the state by --state FILE, or by --branch B, and not by both.")
    invocation = click.get_current_context().find_object(Invocation) or Invocation(".")
    if branch is not None:
        from muniment.lease_engine import open_shared  # noqa: PLC0415 - help stays light

        return open_shared(invocation.workspace, branch, remote, session=session or "", epoch=epoch or 0)
    if remote is not None or session is not None or epoch is not None:
        raise UsageProblem("--remote, --session and --epoch go with --branch, not with --state.")
    from muniment.state.engine import StateFile  # noqa: PLC0415 - help stays light

    if not state or "\0" in state:
        raise UsageProblem("--state needs the path of a file.")
    return StateFile(invocation.directory / state)


def _text(_context: click.Context, _parameter: click.Parameter, value: str | None) -> str | None:
    """A text that UTF-8 can hold."""
    from muniment.state.batch import require_text  # noqa: PLC0415 - help stays light

    return None if value is None else require_text(value)


def _writer(context: click.Context, parameter: click.Parameter, value: str | None) -> str:
    """The name given, else the one that `lease run` gave this process, else one that nobody else has."""
    unique = f"muniment-{os.getpid()}-{secrets.token_hex(4)}"
    name = value if value is not None else os.environ.get("MUNIMENT_WRITER") or unique
    if not name.strip():
        raise UsageProblem("--writer needs a name.")
    return _text(context, parameter, name) or ""


def moment(_context: click.Context, parameter: click.Parameter, value: str | None) -> str:
    """A time as it was given, once it is known to be one; the clock's without one."""
    from muniment.workspace import clock, parse_instant, rfc3339  # noqa: PLC0415 - help stays light

    if value is None:
        return rfc3339(clock(os.environ)())
    try:
        parse_instant(value)
    except UsageProblem as error:
        raise UsageProblem(f"{parameter.opts[0]}: {error.message}") from error
    return value


def some_object(_context: click.Context, parameter: click.Parameter, value: str | None) -> dict[str, Any]:
    """A JSON object."""
    from muniment.state.batch import json_object  # noqa: PLC0415 - help stays light

    if value is None:
        return {}
    try:
        return json_object(value)
    except UsageProblem as error:
        raise UsageProblem(f"{parameter.opts[0]}: {error.message}") from error


def option(name: str, words: str, check: Callable[..., Any] = _text, **more: Any) -> Callable[..., Any]:
    """An option whose value is checked."""
    return click.option(name, callback=check, help=words, **more)


writer_option = option(
    "--writer",
    "Who writes; by default MUNIMENT_WRITER, else the shared lease's own, or a unique name.",
    _writer,
)
now_option = option("--now", "The time to write, ISO 8601, kept as given; by default the clock's.", moment)
source_option = option("--source", "The source's id.", required=True)


def show(answer: Answer) -> None:
    """Print the word, the value if there is one, and for people what it means."""
    click.echo(str(answer.word))
    if answer.value is not None:
        text = json.dumps(answer.value, ensure_ascii=False)
        click.echo(_ODD.sub(lambda match: f"\\u{ord(match[0]):04x}", text))
    if answer.note:
        output.say(output.safe(answer.note))
