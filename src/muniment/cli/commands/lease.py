"""`muniment lease`: who may write, in one clone or among all that share a branch (G9)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from muniment.cli import output
from muniment.cli.lease_options import (
    broken,
    epoch_option,
    held_option,
    lease_option,
    seconds,
    session_option,
    show,
    show_run,
    taken,
    ttl_option,
    wait_option,
    writer_option,
)
from muniment.cli.options import Invocation, json_option, pass_invocation
from muniment.errors import UsageProblem

if TYPE_CHECKING:
    from muniment.lease_answer import Lease


@click.group()
def lease() -> None:
    """Take, keep and give back the lease: one writer at a time.

    With a branch (--branch, or the setting sweep_shared_branch) it is held on the remote, and nobody holds
    it before the remote has accepted it; without one it is held in this clone, whatever the worktree. The
    first word says how it went: OK, STALE-RECLAIMED and FREE exit 0; LOCKED, LEASE-LOST and REMOTE-REWOUND
    exit 3; OFFLINE, REJECTED-POLICY and UNKNOWN exit 4. How to work with it: docs/lease.md.
    """


@lease.command()
@lease_option
@writer_option
@ttl_option
@wait_option
@json_option
def acquire(lease: Lease, *, writer: str, ttl: float | None, wait: float, as_json: bool) -> None:
    """Take the lease for this worktree, or keep it when the same writer holds it here."""
    show(taken(lease, writer, seconds(lease, ttl), wait, asks=not as_json), as_json=as_json)


@lease.command()
@lease_option
@held_option
@session_option
@epoch_option
@ttl_option
@json_option
def renew(
    lease: Lease, *, writer: str, session: str, epoch: int | None, ttl: float | None, as_json: bool
) -> None:
    """Stamp the lease that this worktree holds once more."""
    from muniment.lease_open import renew as stamp  # noqa: PLC0415 - help stays light

    show(stamp(lease, writer, session, epoch or 0, ttl), as_json=as_json)


@lease.command()
@lease_option
@held_option
@session_option
@epoch_option
@json_option
def release(lease: Lease, *, writer: str, session: str, epoch: int | None, as_json: bool) -> None:
    """Give the lease back that this worktree holds; FREE when nobody holds any."""
    from muniment.lease_open import release as give_back  # noqa: PLC0415 - help stays light

    show(give_back(lease, writer, session, epoch or 0), as_json=as_json)


@lease.command()
@lease_option
@held_option
@json_option
def status(lease: Lease, *, writer: str, as_json: bool) -> None:
    """Say who holds it: OK for this worktree, LOCKED for another, FREE for nobody."""
    from muniment.lease_answer import answer  # noqa: PLC0415 - help stays light

    show(answer(lease.status(), lease.mode, writer), as_json=as_json)


@lease.command("break")
@lease_option
@click.option("--reason", required=True, metavar="TEXT", help="Why; recorded.")
@click.option("--preview", is_flag=True, help="Show which lease would end, and print a token.")
@click.option("--confirm", "token", default=None, metavar="TOKEN", help="End what the preview showed.")
@json_option
@pass_invocation
def break_(
    invocation: Invocation, *, lease: Lease, reason: str, preview: bool, token: str | None, as_json: bool
) -> None:
    """End somebody's lease, one that can't be read too; a person decides, at a terminal."""
    from muniment import lease_break  # noqa: PLC0415 - help stays light

    terminal = invocation.interactive()
    if preview and token is not None:
        raise UsageProblem("--preview and --confirm exclude each other.")
    if token is not None:
        show(lease_break.confirm(lease, reason, token, terminal=terminal), as_json=as_json)
    elif preview or (terminal and not as_json):
        broken(lease, reason, preview=preview, terminal=terminal, as_json=as_json)
    else:
        raise lease_break.nobody_asked()


@lease.command(context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@click.argument("command", metavar="-- CMD…", nargs=-1, required=True, type=click.UNPROCESSED)
@lease_option
@writer_option
@ttl_option
@wait_option
@json_option
@pass_invocation
def run(
    invocation: Invocation,
    *,
    lease: Lease,
    command: tuple[str, ...],
    writer: str,
    ttl: float | None,
    wait: float,
    as_json: bool,
) -> None:
    """Hold the lease while CMD runs, and exit with its code; it is stopped when the lease is lost.

    CMD gets MUNIMENT_WRITER, MUNIMENT_LEASE_SESSION and MUNIMENT_LEASE_EPOCH, and runs in the folder of -C.
    It isn't started when the lease can't be got. With --json its output goes to stderr.
    """
    from muniment.lease_run import run as run_under  # noqa: PLC0415 - help stays light

    out = output.stderr_number() if as_json else None
    done = run_under(lease, command, writer=writer, ttl=seconds(lease, ttl), wait=wait,
                     folder=invocation.directory, stdout=out)  # fmt: skip
    show_run(done, as_json=as_json)
