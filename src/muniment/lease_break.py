"""Breaking a lease: a person's decision to end one that somebody else holds, or that can't be read (G9, C9).

What is broken is the lease that the person was shown, by epoch and session: one that was taken anew meanwhile
is left alone.
"""

from __future__ import annotations

from muniment import approval, authority, tokens
from muniment.approval import Proposal, Token
from muniment.errors import Refused, UsageProblem
from muniment.lease_answer import Lease, LeaseAnswer, answer
from muniment.state.requests import Result, Status

KIND = "lease-break"
_SHOWN = frozenset({Status.OK, Status.LOCKED, Status.REMOTE_REWOUND})


def look(lease: Lease, reason: str, *, terminal: bool) -> tuple[Result, LeaseAnswer]:
    """What a break would end.

    Args:
        lease: The lease.
        reason: Why, in the person's words; recorded.
        terminal: Whether a person answers at a terminal.

    Raises:
        UsageProblem: There is no reason.
        Refused: Nobody here may decide this (C9).
    """
    if not reason.strip():
        raise UsageProblem("A break needs a reason.", "Add --reason: the next holder reads it.")
    rules = authority.rules(lease.ws)
    channel = authority.channel_here(rules, at_terminal=terminal)
    authority.require(rules, channel, lease.ws.actor, "The break")
    seen = lease.status()
    return seen, answer(seen, lease.mode)


def breakable(seen: Result) -> bool:
    """Whether there is anything to end."""
    face = seen.memory.face
    return seen.status in _SHOWN and (face.record is not None or face.unreadable)


def now(lease: Lease, seen: Result, reason: str) -> LeaseAnswer:
    """End the lease that was seen."""
    ended = lease.end(reason, _ttl(lease), only=seen.memory.face.sign[:2])
    return answer(ended, lease.mode)


def issue(lease: Lease, seen: Result, reason: str, *, terminal: bool) -> Token:
    """A token that allows to end exactly the lease that was seen, for 24 hours in this clone."""
    return tokens.issue(lease.ws, _proposal(lease, seen, reason), terminal=terminal)


def confirm(lease: Lease, reason: str, word: str, *, terminal: bool) -> LeaseAnswer:
    """End what a preview showed.

    Raises:
        Refused: The token is unknown, used, expired, or for a lease or reason that isn't this one; or as
            `look` does.
    """
    again = "muniment lease break --reason … --preview"
    token = tokens.require(lease.ws, word, KIND, again)
    seen, _ = look(lease, reason, terminal=terminal)
    if seen.status in _SHOWN:
        said = approval.matches(token, _proposal(lease, seen, reason))
        if not said.good:
            raise tokens.refusal(said, again)
    if not breakable(seen):
        return answer(seen, lease.mode)
    done = now(lease, seen, reason)
    if done.status is Status.OK:
        tokens.spend(lease.ws, token, done.commit or approval.ACTED)
    return done


def nobody_asked() -> Refused:
    """The refusal where no person can answer."""
    return Refused(
        "A lease is broken by a person: nobody can be asked here. Nothing was written.",
        "Run it at a terminal; or show a person what --preview prints, and hand its token to --confirm.",
        code="needs-person",
    )


def _proposal(lease: Lease, seen: Result, reason: str) -> Proposal:
    face = seen.memory.face
    parts = {
        "lease": approval.digest_of([*face.sign[:2], face.unreadable]),
        "reason": approval.digest_of(reason),
    }
    return Proposal(KIND, f"{lease.mode}: {lease.place}", parts)


def _ttl(lease: Lease) -> float:
    return float(lease.ws.config.setting("sweep_lease_ttl_minutes")) * 60
