"""Ledger entries: the record, minting, the stub that replaces an expunged body (G6, pure).

An entry's id is the digest of its canonical JSON without the id, so an entry can't be edited without
becoming another entry, and entries of any clone can be put in one set.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any, NamedTuple

from muniment.errors import UsageProblem
from muniment.ids import EntryId
from muniment.ledger.canonical import MAX_ENTRY_BYTES, NotCanonical, canonical

__all__ = ["Entry", "canonical", "digest", "links", "mint", "stub", "stub_digest", "subjects", "time_key"]

ID_DIGITS = 32
MEMBERS = frozenset({"actor", "after", "at", "basis", "data", "expunged", "id", "kind", "op"})
ROOM_KINDS = frozenset(
    {"room", "candidate", "request", "resolution", "round", "selection", "room-state", "prune"}
)
KINDS = frozenset({"finding", "decision", "alias", "applied", "undo", "expunge", "note"}) | ROOM_KINDS
APPLIED_OPERATION = "applied:"
"""How the operation key of an `applied` entry begins that an apply wrote; `ledger add` refuses such keys."""
_APPROVED = frozenset({"reason", "by", "channel", "verified", "batch", "row", "email", "signed_by"})
DECIDING_FIELDS: Mapping[str, frozenset[str]] = {
    "decision": _APPROVED
    | {
        "subject",
        "action",
        "proposed",
        "target",
        "findings",
        "finding",
        "verify",
        "value",
        "related",
        "title",
    },
    "alias": _APPROVED | {"alias", "subject", "canonical", "score_pm"},
    "undo": _APPROVED | {"undoes", "commit", "changes"},
}
"""The fields of `data` this version understands in kinds that decide; another one makes subjects unknown."""
LINK_FIELDS: Mapping[str, tuple[str, ...]] = {
    "decision": ("findings",),
    "applied": ("entries",),
    "undo": ("undoes",),
    "expunge": ("expunges", "stub"),
}
"""Fields of `data` that link to entries: a stub keeps them."""
_AT = re.compile(
    r"\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])T(?:[01]\d|2[0-3]):[0-5]\d:(?:[0-5]\d|60)"
    r"(?:\.\d{1,9})?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)\Z"
)
_HEX = re.compile(r"[0-9a-f]{32}\Z")
_PLAIN_AT = len("2026-01-31T04:00:00Z")


class Entry(NamedTuple):
    """One entry of the ledger; equal ids mean equal entries, but for the stub of an expunged one.

    Attributes:
        id: Digest of the canonical JSON without `id`.
        kind: What it records; unknown kinds are kept and make what they name read `unknown`.
        at: RFC 3339, UTC; for display and ties only, never before any of `after`.
        actor: Who wrote it: a claim, never an authority. Empty in a stub.
        after: The heads the writer saw, sorted.
        op: Stable operation key: a retry carries the same one. Empty in a stub.
        data: The body by kind. A stub keeps links alone.
        basis: The subject's current decisions as the approver saw them (decisions only).
        raw: Its canonical JSON, id included, byte for byte as in the file.
        expunged: Whether this is a stub whose body was removed.
        unknown: Top-level members that this version doesn't know, sorted.
    """

    id: EntryId
    kind: str
    at: str
    actor: str
    after: tuple[EntryId, ...]
    op: str
    data: Mapping[str, Any]
    basis: tuple[EntryId, ...]
    raw: bytes
    expunged: bool = False
    unknown: tuple[str, ...] = ()


def digest(unidentified: bytes) -> EntryId:
    """The id of an entry, given its canonical JSON without the member `id`."""
    return EntryId(hashlib.sha256(unidentified).hexdigest()[:ID_DIGITS])


def mint(
    *,
    kind: str,
    data: Mapping[str, Any],
    at: str,
    actor: str,
    after: Iterable[str],
    op: str,
    basis: Iterable[str] | None = None,
) -> Entry:
    """Make an entry and its id; decisions get `basis` even when it is empty.

    Raises:
        NotCanonical: A value that canonical JSON can't hold, or more than 64 KiB.
        UsageProblem: An empty or overlong kind, a malformed time.
    """
    if not kind or len(kind) > 64 or not kind.isprintable():  # noqa: PLR2004 - said in the message
        raise UsageProblem("An entry's kind is 1 to 64 printable characters.")
    if not is_time(at):
        raise UsageProblem(f"{at!r} is not an RFC 3339 time.")
    parents = tuple(sorted({EntryId(parent) for parent in after}))
    members: dict[str, Any] = {
        "kind": kind,
        "at": at,
        "actor": actor,
        "after": list(parents),
        "op": op,
        "data": dict(data),
    }
    shown: tuple[EntryId, ...] = ()
    if kind == "decision" or basis is not None:
        shown = tuple(sorted({EntryId(entry) for entry in basis or ()}))
        members["basis"] = list(shown)
    made = digest(canonical(members))
    raw = canonical({**members, "id": made})
    if len(raw) > MAX_ENTRY_BYTES:
        raise NotCanonical(f"The entry has {len(raw)} bytes; at most {MAX_ENTRY_BYTES} (64 KiB) are kept.")
    return Entry(made, kind, at, actor, parents, op, members["data"], shown, raw)


def is_time(text: str) -> bool:
    """Whether `text` is an RFC 3339 time."""
    return bool(_AT.match(text))


def time_key(at: str) -> str:
    """A string that orders as the instants do; `at` must be an RFC 3339 time."""
    if len(at) == _PLAIN_AT and at[-1] == "Z":
        return at[:-1]
    if at[-1] != "Z":
        try:
            moment = datetime.fromisoformat(at).astimezone(UTC)
        except (ValueError, OverflowError):
            return at[:19]
        at = moment.strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    whole, _, fraction = at[:-1].partition(".")
    fraction = fraction.rstrip("0")
    return f"{whole}.{fraction}" if fraction else whole


def stub(entry: Entry) -> Entry:
    """The expunged form of an entry: id, time, kind and links stay; body, actor and op go.

    A pure function of the entry, so every clone makes the same stub. Its id can't be derived from it any
    more; the expunge entry holds `stub_digest` instead, and that entry's own id covers the digest.
    """
    if entry.expunged:
        return entry
    kept = {key: entry.data[key] for key in LINK_FIELDS.get(entry.kind, ()) if key in entry.data}
    members: dict[str, Any] = {
        "after": list(entry.after),
        "at": entry.at,
        "expunged": True,
        "id": entry.id,
        "kind": entry.kind,
    }
    if entry.basis:
        members["basis"] = list(entry.basis)
    if kept:
        members["data"] = kept
    return entry._replace(actor="", op="", data=kept, raw=canonical(members), expunged=True, unknown=())


def stub_digest(stubbed: Entry) -> str:
    """32 hex digits over a stub's canonical JSON: what its expunge entry records to vouch for it."""
    return hashlib.sha256(stubbed.raw).hexdigest()[:ID_DIGITS]


def links(entry: Entry, field: str) -> tuple[EntryId, ...]:
    """The entry ids that a field of `data` names, whether it holds one or a list; others are left out."""
    value = entry.data.get(field)
    values = value if isinstance(value, list) else [value]
    return tuple(EntryId(item) for item in values if isinstance(item, str) and _HEX.match(item))


def is_id(value: Any) -> bool:
    """Whether a value is shaped as an entry id."""
    return isinstance(value, str) and bool(_HEX.match(value))


def subjects(entry: Entry) -> tuple[str, ...]:
    """The subjects that an entry's body names by a known field, without repetition."""
    names = (entry.data.get(key) for key in ("subject", "fingerprint", "alias", "canonical"))
    return tuple(dict.fromkeys(name for name in names if isinstance(name, str) and name))
