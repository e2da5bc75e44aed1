"""The engine's operations as pure functions: what stands, what is asked → a status word and edits (S12, S20).

One function for each operation. None knows where the state is kept: a `View` answers what stands there, an
`Edit` says what is to change, and the same functions serve one file and the state branch. The lease is a
matter of its own (`claim.py`, for the one inside the file): nothing here looks at it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final, Protocol

from muniment.errors import UsageProblem
from muniment.state import cursor, spelling
from muniment.state.evidence import missing
from muniment.state.model import SCHEMA_VERSION, Status, is_sensitive

OUTCOMES = ("completed", "aborted-locked", "partial", "failed")
HIDDEN_FIELDS = ("body", "quote")
"""What a sensitive item never stores (S17)."""


class Word(StrEnum):
    """Every status word of the protocol."""

    OK = "OK"
    NO_STATE = "NO-STATE"
    CORRUPT = "CORRUPT"
    ERROR = "ERROR"
    REFUSED = "REFUSED"
    LOCKED = "LOCKED"
    LEASE_LOST = "LEASE-LOST"
    STALE_RECLAIMED = "STALE-RECLAIMED"
    OFFLINE = "OFFLINE"
    REJECTED_POLICY = "REJECTED-POLICY"
    REMOTE_REWOUND = "REMOTE-REWOUND"
    UNKNOWN = "UNKNOWN"


class _Remove:
    """The mark for a field that goes."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "REMOVE"


REMOVE: Final = _Remove()
"""As a field's value in an `Edit`: the field goes."""


@dataclass(frozen=True, slots=True)
class Edit:
    """Fields to set in one mapping, every other field of it staying as it is.

    Attributes:
        section: `items`, `sources`, or "" for the top level.
        key: The item's key or the source's id; at the top level the mapping's name (`lease`, `last_run`), or
            "" for fields of the top level itself.
        fields: Name → new JSON value, or `REMOVE`. A missing mapping is created.
        new: Whether the mapping isn't there yet.
    """

    section: str
    key: str
    fields: Mapping[str, Any]
    new: bool = False


@dataclass(frozen=True, slots=True)
class Answer:
    """What an operation answers: the word, the JSON value of line 2, the edits, and a sentence for people."""

    word: Word
    value: Any = None
    edits: tuple[Edit, ...] = ()
    note: str = ""


class View(Protocol):
    """What stands in the state, wherever it is kept. Values are plain JSON values."""

    @property
    def exists(self) -> bool:
        """Whether there is a state at all."""

    def item(self, key: str) -> Mapping[str, Any] | None:
        """One item's fields, or None when there is no such item; raises `Unplaceable` for a broken one."""

    def source(self, source: str) -> Mapping[str, Any] | None:
        """One source's fields, or None; raises `Unplaceable` for a broken one."""

    def top(self, name: str) -> Any:
        """A top-level value (`lease`, `last_run`, `lease_epoch`, `conflicts`, …), or None."""


class Unplaceable(Exception):
    """A record that is there but is no mapping: nothing can be set in it. Answered with `ERROR`."""

    def __init__(self, message: str, line: int = 0) -> None:
        super().__init__(message)
        self.message = message
        self.line = line


def item_key(source: str, native: str) -> str:
    """The key of an item; raises `UsageProblem` for a source or an id that no key can be made of."""
    if not source or not native:
        raise UsageProblem("An item needs a source and an id; one of them is empty.")
    if ":" in source:
        raise UsageProblem(
            f"The source {source!r} holds a colon, which ends the source in <source>:<id>.",
            "Name the source without a colon; the id may hold any.",
        )
    return f"{source}:{native}"


def require_item(source: str, native: str, fields: Mapping[str, Any]) -> str:
    """The key of an item that is to be set; raises `UsageProblem` where key and fields don't go together."""
    key = item_key(source, native)
    for name, own in (("id", native), ("source", source)):
        if name in fields and scalar_text(fields[name]) != own:
            raise UsageProblem(f"The item is {key!r}, but its fields say that its {name} is another.")
    if "status" in fields and not (isinstance(fields["status"], str) and fields["status"].strip()):
        raise UsageProblem("An item's status is a word; any word will do, but it must be one.")
    long = max((len(spelling.key(name)) for name in (key, *fields)), default=0)
    if long > spelling.MAX_KEY:
        raise UsageProblem(
            f"A key of {long} characters is too long: YAML takes {spelling.MAX_KEY} on a line."
        )
    return key


def upsert_item(
    view: View, source: str, native: str, fields: Mapping[str, Any], *, hidden: Collection[str] = ()
) -> Answer:
    """Set the given fields of an item, creating it if it isn't there; all its other fields stay.

    Setting a field clears its record in the item's `conflicts`. An item that is sensitive afterwards, by its
    own word or its source's, keeps neither body nor quote (S17).

    Args:
        view: What stands.
        source: The source's id, without a colon.
        native: The item's id at the source.
        fields: Field → JSON value.
        hidden: Sources that settings outside the state mark sensitive.

    Raises:
        UsageProblem: The item can't have that key, or a field contradicts it.
        Unplaceable: The record that stands there is no mapping.
    """
    key = require_item(source, native, fields)
    old = view.item(key)
    given = {name: value for name, value in fields.items() if name not in {"id", "source"}}
    if old is None:
        given = {"id": native, "source": source, "status": str(Status.INGESTED)} | given
    changes = given | settled(old or {}, given)
    after = {name: value for name, value in {**(old or {}), **changes}.items() if value is not REMOVE}
    if is_sensitive(after) or source in hidden or is_sensitive(view.source(source)):
        changes = _scrubbed(old or {}, changes)
    return Answer(Word.OK, edits=(Edit("items", key, changes, new=old is None), *ensure_version(view)))


def scrub(key: str, item: Mapping[str, Any]) -> Edit | None:
    """What takes the hidden text out of an item that is known to be sensitive; None when there is none."""
    changes = _scrubbed(item, {})
    return Edit("items", key, changes) if changes else None


def cursor_get(view: View, source: str) -> Answer:
    """The source's cursor as it stands, null without one or without a state."""
    record = view.source(source) if view.exists else None
    return Answer(Word.OK, {"cursor": None if record is None else record.get("cursor")})


def cursor_advance(view: View, source: str, to: str, past_item: str) -> Answer:
    """Move a source's cursor forward, once the item that it passes is in the state (S4, G10).

    Args:
        view: What stands.
        source: The source's id.
        to: The new cursor, kept as text.
        past_item: The item's id at the source, or its key.

    Raises:
        UsageProblem: Source, item or cursor is empty or can't be one.
        Unplaceable: The source's record is no mapping, or its cursor no single value.
    """
    key = require_cursor(source, past_item, to)
    if not any(_belongs(view, candidate, source) for candidate in (key, past_item)):
        return Answer(
            Word.REFUSED,
            note=f"{source} has no item {past_item!r} in the state; the cursor stays where it is.",
        )
    record = view.source(source)
    standing = (record or {}).get("cursor")
    if isinstance(standing, list | dict):
        raise Unplaceable(f"The cursor of {source} is no single value.")
    if standing is not None and cursor.compare(scalar_text(standing), to) > 0:
        return Answer(
            Word.REFUSED, note=f"The cursor of {source} would go back from {scalar_text(standing)!r}."
        )
    if standing == to:
        return Answer(Word.OK)
    changes = {"cursor": to} | settled(record or {}, {"cursor": to})
    return Answer(Word.OK, edits=(Edit("sources", source, changes, new=record is None),))


def require_cursor(source: str, past_item: str, to: str) -> str:
    """The key of the item that a cursor passes; raises `UsageProblem` where one of the words can't be one."""
    if not to.strip():
        raise UsageProblem("A cursor can't be empty.")
    return item_key(source, past_item)


def require_outcome(outcome: str) -> None:
    """Raise `UsageProblem` unless a word is one of `OUTCOMES`."""
    if outcome not in OUTCOMES:
        raise UsageProblem(f"{outcome!r} is no outcome of a run.", f"One of: {', '.join(OUTCOMES)}.")


def run_record(view: View, writer: str, outcome: str, counts: Mapping[str, Any], timestamp: str) -> Answer:
    """Record how a run ended; needs no lease, makes the state if there is none (S16).

    Raises:
        UsageProblem: The outcome is none of `OUTCOMES`, or there is no writer.
    """
    require_outcome(outcome)
    if not writer:
        raise UsageProblem("A run record needs a writer.")
    fields = {"timestamp": timestamp, "outcome": outcome, "writer": writer, "counts": dict(counts)}
    old = view.top("last_run") if view.exists else None
    top = settled({"conflicts": view.top("conflicts") if view.exists else None}, {"last_run": fields})
    edits = [*ensure_version(view), Edit("", "last_run", fields, new=not old)]
    return Answer(Word.OK, edits=(*edits, *([Edit("", "", top)] if top else [])))


def validate(
    view: View, items: Iterable[tuple[str, Mapping[str, Any]]], hidden: Collection[str] = ()
) -> Answer:
    """Take back what claims more than its evidence, and text that may not be stored (S11, S17).

    A closed item without a usable `fix_ref`, `verified_merge_sha` and `verified_at` returns to `fix_pending`:
    nothing shows that it is fixed. Needs no lease.

    Args:
        view: What stands.
        items: Every readable item with its key.
        hidden: Sources that settings outside the state mark sensitive.
    """
    downgraded: list[str] = []
    edits: list[Edit] = []
    for key, item in items:
        changes: dict[str, Any] = {}
        if item.get("status") == Status.CLOSED and missing(item):
            downgraded.append(key)
            changes = {"status": str(Status.FIX_PENDING)}
            changes |= settled(item, changes)
        if hides(view, key, item, hidden):
            changes = _scrubbed(item, changes)
        if changes:
            edits.append(Edit("items", key, changes))
    return Answer(Word.OK, {"downgraded": sorted(downgraded)}, tuple(edits))


def hides(view: View, key: str, item: Mapping[str, Any], hidden: Collection[str] = ()) -> bool:
    """Whether an item's text may be stored nowhere: by its own word, or by the word of its source."""
    sources = {key.partition(":")[0], scalar_text(item.get("source"))} - {""}
    return is_sensitive(item) or any(name in hidden or _source_hides(view, name) for name in sources)


def _source_hides(view: View, source: str) -> bool:
    try:
        return is_sensitive(view.source(source))
    except Unplaceable:
        return False


def ensure_version(view: View) -> tuple[Edit, ...]:
    """The edit that begins a state, where there is none."""
    return () if view.exists else (Edit("", "", {"schema_version": SCHEMA_VERSION}, new=True),)


def _belongs(view: View, key: str, source: str) -> bool:
    """Whether the state has an item of this key, and it is this source's."""
    if not key.startswith(f"{source}:"):
        return False
    item = view.item(key)
    return item is not None and (scalar_text(item.get("source")) or source) == source


def settled(record: Mapping[str, Any], fields: Mapping[str, Any]) -> dict[str, Any]:
    """The change to a record's `conflicts` once these fields are written (G8); {} when there is none.

    A record `a/b` is about a place inside the field `a` (RFC 6901), which writing `a` settles too.
    """
    conflicts = record.get("conflicts")
    if not isinstance(conflicts, list) or "conflicts" in fields:
        return {}
    written = {name.replace("~", "~0").replace("/", "~1") for name in fields} | set(fields)
    left = [one for one in conflicts if _conflict_field(one) not in written]
    if len(left) == len(conflicts):
        return {}
    return {"conflicts": left or REMOVE}


def _conflict_field(conflict: object) -> str:
    """The field of its record that a conflict is about, or ""."""
    name = conflict.get("field") if isinstance(conflict, Mapping) else None
    return name.split("/")[0] if isinstance(name, str) else ""


def _scrubbed(old: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Changes that leave no hidden text behind, neither in its fields nor in the conflicts about them."""
    kept = {name: value for name, value in changes.items() if name not in HIDDEN_FIELDS}
    kept |= {name: REMOVE for name in HIDDEN_FIELDS if name in old}
    conflicts = kept.get("conflicts", old.get("conflicts"))
    if isinstance(conflicts, list):
        left = [one for one in conflicts if _conflict_field(one) not in HIDDEN_FIELDS]
        if len(left) != len(conflicts):
            kept["conflicts"] = left or REMOVE
            if not left and "conflicts" not in old:
                del kept["conflicts"]
    return kept


def scalar_text(value: object) -> str:
    """A scalar as the text that it stands for; "" for anything else."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, str | int | float) else ""
