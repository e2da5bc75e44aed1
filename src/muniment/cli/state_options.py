"""Options of the `state` commands, checked as they are read, and how their answers are printed."""

from __future__ import annotations

import json
import os
import re
import secrets
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from muniment.cli import output
from muniment.cli.options import Function, Invocation
from muniment.errors import UsageProblem

if TYPE_CHECKING:
    from muniment.state.engine import StateFile
    from muniment.state.operations import Answer

_ODD = re.compile("[\x7f-\x9f\u2028\u2029\ud800-\udfff]")
"""Characters that would end the line for some readers, or that UTF-8 can't hold."""


def place_option(function: Function) -> Function:
    """Where the state is; the command gets the opened state as `place`."""
    option = click.option(
        "--state", "place", metavar="FILE", required=True, callback=_open, help="The state file; any path."
    )
    return option(function)


def _open(context: click.Context, _parameter: click.Parameter, path: str) -> StateFile:
    from muniment.state.engine import StateFile  # noqa: PLC0415 - help stays light

    if not path or "\0" in path:
        raise UsageProblem("--state needs the path of a file.")
    invocation = context.find_object(Invocation)
    return StateFile((invocation.directory if invocation else Path()) / path)


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


writer_option = option("--writer", "Who writes; by default MUNIMENT_WRITER, else a unique name.", _writer)
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
