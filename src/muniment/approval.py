"""Propose → approve → apply, once for every use: what a preview's token binds, and when it still holds (C9).

A `Proposal` names everything that a change depends on and everything that it would make, part by part.
A preview mints a token over it; a confirm derives the proposal anew and compares. The token holds the
parts' digests, so that a refusal can name what differs, and the time that was frozen at the preview, so
that deriving anew gives the same bytes. Nothing here reads a clock, a disk or a repository.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from enum import Enum

LIFETIME = timedelta(hours=24)
"""How long a token works, from its preview."""
SKEW = timedelta(minutes=5)
"""How far a token's time may lie ahead of the clock before the clock counts as set back."""
TOKEN_BYTES = 16
"""Randomness in a token; it is also its file's name, as hex digits."""
ABSENT = "absent"
"""The value of a part for a file that does not exist."""
SCHEMA = "muniment.token/1"
ACTED = "acted"
"""What a token was used for when that made no commit."""
MAX_NAMED = 8


def digest(data: bytes) -> str:
    """The digest of a part that is bytes: 64 hex digits of SHA-256."""
    return hashlib.sha256(data).hexdigest()


def digest_of(value: object) -> str:
    """The digest of a part that is a JSON value: over its JSON with sorted keys."""
    text = json.dumps(value, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return digest(text.encode("ascii"))


def file_part(data: bytes | None) -> str:
    """The value of a part for a file's bytes; None for an absent file."""
    return ABSENT if data is None else digest(data)


@dataclass(frozen=True, slots=True)
class Proposal:
    """What a preview shows and a confirm must find again.

    Attributes:
        kind: Which command's proposal it is: `apply`, `undo`, `expunge`, `seal`.
        subject: What it is about, for messages: a batch, an entry's id.
        parts: Part name → digest or plain word. Names are for people: `branch`, `settings`,
            `row 3`, `file docs/bugs/x.md`, `result docs/bugs/x.md`.
    """

    kind: str
    subject: str
    parts: Mapping[str, str]

    @property
    def digest(self) -> str:
        """Over kind, subject and all parts: 64 hex digits."""
        return digest_of([self.kind, self.subject, dict(self.parts)])


@dataclass(frozen=True, slots=True)
class Token:
    """A minted token, as it is kept privately in this clone.

    Attributes:
        token: The word that a person or program hands back; hex digits.
        kind: The proposal's kind; a token works for no other.
        subject: The proposal's subject.
        parts: The proposal's parts when it was previewed.
        at: When it was previewed, UTC; the time that entries and documents get.
        actor: The acting name at the preview.
        options: What the preview was asked for and the confirm repeats, such as a row list.
        terminal: Whether the preview counted lines that only a person at a terminal can confirm.
        used: The commit it led to, `nothing` when nothing changed, or `ACTED`; empty while unused.
    """

    token: str
    kind: str
    subject: str
    parts: Mapping[str, str]
    at: datetime
    actor: str
    options: Mapping[str, str]
    terminal: bool = False
    used: str = ""

    @property
    def operation(self) -> str:
        """The stable key of the act that this token allows, for the journal."""
        return f"{self.kind}:{self.token}"

    @property
    def expires(self) -> datetime:
        """When it stops working."""
        return self.at + LIFETIME


class Finding(Enum):
    """Whether a token may be acted on, and if not, why."""

    GOOD = "good"
    UNKNOWN = "unknown"
    OTHER_KIND = "other-kind"
    USED = "used"
    EXPIRED = "expired"
    DIFFERS = "differs"


@dataclass(frozen=True, slots=True)
class Answer:
    """The outcome of checking a token; `differs` names the parts that changed since the preview."""

    finding: Finding
    message: str = ""
    differs: tuple[str, ...] = ()

    @property
    def good(self) -> bool:
        """Whether the act may go ahead."""
        return self.finding is Finding.GOOD


def mint(
    proposal: Proposal,
    *,
    secret: str,
    at: datetime,
    actor: str,
    options: Mapping[str, str] | None = None,
    terminal: bool = False,
) -> Token:
    """A token for a proposal; `secret` is fresh randomness as hex digits (`TOKEN_BYTES` bytes)."""
    return Token(
        token=secret,
        kind=proposal.kind,
        subject=proposal.subject,
        parts=dict(proposal.parts),
        at=at.astimezone(UTC).replace(microsecond=0),
        actor=actor,
        options=dict(options or {}),
        terminal=terminal,
    )


def usable(token: Token | None, kind: str, now: datetime) -> Answer:
    """Whether a token may be tried at all: known here, of this kind, unused, not expired.

    Checked before anything is derived again; `matches` is the other half.
    """
    if token is None:
        return Answer(Finding.UNKNOWN, "This token is unknown in this clone.")
    if token.kind != kind:
        return Answer(
            Finding.OTHER_KIND, f"This token was made by `{token.kind}` and works for nothing else."
        )
    if token.used:
        made = {"nothing": "changed nothing", ACTED: "was acted on"}
        done = made.get(token.used, f"made commit {token.used[:10]}")
        return Answer(Finding.USED, f"This token has been used; it {done}.")
    if now >= token.expires:
        return Answer(Finding.EXPIRED, "This token has expired; tokens work for 24 hours.")
    if token.at - now > SKEW:
        return Answer(Finding.EXPIRED, "This token is from the future; this machine's clock was set back.")
    return Answer(Finding.GOOD)


def matches(token: Token, proposal: Proposal) -> Answer:
    """Whether what was derived anew is what the preview showed."""
    names = sorted({*token.parts, *proposal.parts})
    differs = tuple(name for name in names if token.parts.get(name) != proposal.parts.get(name))
    if token.kind == proposal.kind and token.subject == proposal.subject and not differs:
        return Answer(Finding.GOOD)
    if not differs:
        return Answer(Finding.DIFFERS, f"This token is for {token.subject}, not for {proposal.subject}.")
    # A changed input changes the results too; the inputs are what a person can look at.
    causes = [name for name in differs if not name.startswith("result ")] or list(differs)
    more = f" and {len(causes) - MAX_NAMED} more" if len(causes) > MAX_NAMED else ""
    named = ", ".join(causes[:MAX_NAMED])
    return Answer(Finding.DIFFERS, f"Changed since the preview: {named}{more}.", differs)


def used(token: Token, commit: str | None) -> Token:
    """The same token, spent."""
    return replace(token, used=commit or "nothing")


def encode(token: Token) -> bytes:
    """A token as it is kept on disk."""
    document = {
        "schema": SCHEMA,
        "token": token.token,
        "kind": token.kind,
        "subject": token.subject,
        "parts": dict(token.parts),
        "at": token.at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "actor": token.actor,
        "options": dict(token.options),
        "terminal": token.terminal,
        "used": token.used,
    }
    return json.dumps(document, ensure_ascii=True, sort_keys=True, indent=1).encode("ascii")


def decode(data: bytes) -> Token | None:
    """Read a kept token; None for anything that `encode` did not write: such a token allows nothing."""
    try:
        found = json.loads(data)
        if found["schema"] != SCHEMA:
            return None
        at = datetime.strptime(found["at"], "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC)
        texts = (found["token"], found["kind"], found["subject"], found["actor"], found["used"])
        if not all(isinstance(text, str) for text in texts) or not isinstance(found["terminal"], bool):
            return None
        return Token(
            token=found["token"],
            kind=found["kind"],
            subject=found["subject"],
            parts=_texts(found["parts"].items()),
            at=at,
            actor=found["actor"],
            options=_texts(found["options"].items()),
            terminal=found["terminal"],
            used=found["used"],
        )
    except (ValueError, KeyError, TypeError, AttributeError):
        return None


def _texts(items: Iterable[tuple[object, object]]) -> dict[str, str]:
    found: dict[str, str] = {}
    for key, value in items:
        if not isinstance(key, str) or not isinstance(value, str):
            raise TypeError(key)
        found[key] = value
    return found
