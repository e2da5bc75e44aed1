"""Options of the `lease` commands, checked as they are read, and how their answers are printed."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any

import click

from muniment.cli import output
from muniment.cli.options import Invocation
from muniment.cli.state_options import option, writer_option
from muniment.errors import UsageProblem

if TYPE_CHECKING:
    from muniment.lease_answer import Lease, LeaseAnswer
    from muniment.lease_run import Ran


def _positive(_context: click.Context, _parameter: click.Parameter, value: float | None) -> float | None:
    from muniment.state.lease import ttl_seconds  # noqa: PLC0415 - help stays light

    return None if value is None else ttl_seconds(value, "--ttl-minutes")


def _waiting(_context: click.Context, _parameter: click.Parameter, value: float) -> float:
    if not (math.isfinite(value) and value >= 0):
        raise UsageProblem("--wait is a number of seconds, 0 or more.")
    return value


def _name(_context: click.Context, _parameter: click.Parameter, value: str | None) -> str:
    """The name given, or that of the `lease run` around; "" for whoever this worktree's session is of."""
    name = os.environ.get("MUNIMENT_WRITER", "") if value is None else value
    if value is not None and not value.strip():
        raise UsageProblem("--writer needs a name.")
    from muniment.state.batch import require_text  # noqa: PLC0415 - help stays light

    return require_text(name)


ttl_option = click.option(
    "--ttl-minutes",
    "ttl",
    type=float,
    callback=_positive,
    metavar="N",
    help="How long it holds without a write, fractions too; by default the setting sweep_lease_ttl_minutes.",
)
wait_option = click.option(
    "--wait", type=float, default=0.0, callback=_waiting, metavar="SECONDS", help="Wait so long for it."
)
held_option = option(
    "--writer", "Whose it must be; by default MUNIMENT_WRITER, else whoever acquired it here.", _name
)
session_option = click.option(
    "--session", default="", help="The lease's session; by default the one that this worktree acquired."
)
epoch_option = click.option(
    "--epoch", type=click.IntRange(min=1), help="The lease's fencing number, to be checked."
)
__all__ = [
    "broken",
    "epoch_option",
    "held_option",
    "lease_option",
    "seconds",
    "session_option",
    "show",
    "show_run",
    "taken",
    "ttl_option",
    "wait_option",
    "writer_option",
]


def lease_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """`--branch` and `--remote`; the command gets the lease that they name as `lease`."""

    @wraps(function)
    def opened(*args: Any, branch: str | None, remote: str | None, **given: Any) -> Any:
        from muniment.lease_open import open_lease  # noqa: PLC0415 - help stays light

        invocation = click.get_current_context().find_object(Invocation) or Invocation(".")
        return function(*args, lease=open_lease(invocation.writable, branch, remote), **given)

    named = click.option(
        "--branch", metavar="B", help="The shared state branch; by default the setting sweep_shared_branch."
    )
    of = click.option("--remote", metavar="R", help="That branch's remote; by default the clone's main one.")
    command: Callable[..., Any] = named(of(opened))
    return command


def seconds(lease: Lease, ttl: float | None) -> float:
    """The ttl asked for, else that of the settings, in seconds."""
    from muniment.state.lease import ttl_seconds  # noqa: PLC0415 - help stays light

    name = "sweep_lease_ttl_minutes"
    return ttl_seconds(float(lease.ws.config.setting(name)), name) if ttl is None else ttl


def show(answer: LeaseAnswer, *, as_json: bool) -> None:
    """Print an answer, the word first; the next step goes to stderr. Exits with the contract's code."""
    if as_json:
        output.emit_json(answer.json())
    else:
        output.emit([output.safe(f"{answer.status} {answer.head()}".rstrip())])
    if hint := answer.hint():
        output.say(output.safe(hint))
    click.get_current_context().exit(answer.exit_code)


def taken(lease: Lease, writer: str, ttl: float, wait: float, *, asks: bool) -> LeaseAnswer:
    """Acquire; a person at a terminal is asked before a lease that has run out is taken over."""
    from muniment.lease_answer import answer  # noqa: PLC0415 - help stays light

    invocation = click.get_current_context().find_object(Invocation)
    asks = asks and invocation is not None and invocation.interactive()
    found = answer(lease.acquire(writer, ttl, wait=wait, reclaim=not asks), lease.mode, writer)
    if not (asks and found.stale):
        return found
    output.say(output.safe(f"The lease on {lease.place} has run out: {found.head()}."))
    if not click.confirm("Take it over?", err=True):
        return found
    return answer(lease.acquire(writer, ttl), lease.mode, writer)


def broken(lease: Lease, reason: str, *, preview: bool, terminal: bool, as_json: bool) -> None:
    """Show the lease that would end; then print a token for it, or ask and end it."""
    from muniment import lease_break  # noqa: PLC0415 - help stays light

    seen, found = lease_break.look(lease, reason, terminal=terminal)
    if not lease_break.breakable(seen):
        show(found, as_json=as_json)
    if not preview:
        output.say(output.safe(f"The lease on {lease.place}: {found.head()}."))
        if not click.confirm("End it? Its holder's next write is refused.", err=True):
            show(found, as_json=False)
        show(lease_break.now(lease, seen, reason), as_json=False)
    token = lease_break.issue(lease, seen, reason, terminal=terminal).token
    if as_json:
        output.emit_json({**found.json(), "token": token})
    else:
        output.emit([output.safe(f"{found.status} {found.head()}"), f"token: {token}"])


def show_run(done: Ran, *, as_json: bool) -> None:
    """Say how a command under the lease ended; its own output stays alone on stdout. Exits with its code."""
    if done.why:
        output.say(output.safe(done.why))
    if done.taken is not None and done.ended is None:
        show(done.taken, as_json=as_json)
    last = done.ended or done.taken
    if as_json and last is not None and done.taken is not None:
        told = {**done.taken.json(), "status": str(last.status), "exit_code": done.exit_code}
        output.emit_json(told if last.holder is None else {**told, "holder": last.holder})
    elif as_json:
        output.emit_json({"error": {"code": "no-command", "message": done.why, "hint": ""}})
    elif last is not None and last.exit_code:
        output.say(output.safe(f"{last.status} {last.head()}"))
    click.get_current_context().exit(done.exit_code)
