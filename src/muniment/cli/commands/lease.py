"""`muniment lease`: who may write, in one clone or among all that share a branch (G9)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from muniment.cli.lease_options import (
    epoch_option,
    held_option,
    lease_option,
    seconds,
    session_option,
    show,
    ttl_option,
    wait_option,
    writer_option,
)
from muniment.cli.options import json_option

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
    from muniment.lease_answer import answer  # noqa: PLC0415 - help stays light

    result = lease.acquire(writer, seconds(lease, ttl), wait=wait)
    show(answer(result, lease.mode, writer), as_json=as_json)


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
