"""The parts of a segment: its records, its bytes as we write them, and single entries read (CONTRACT, pure).

`segment.py` reads whole segments, quickly where it can; `layout.py` is the careful way.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from itertools import pairwise
from typing import Any

from muniment.ids import EntryId
from muniment.ledger.canonical import (
    MAX_ENTRY_BYTES,
    StrictReader,
    canonical,
    is_spelled_flat,
    quick_loads,
    spelled,
    value_fault,
)
from muniment.ledger.entries import ID_DIGITS, KINDS, MEMBERS, Entry, digest, is_id, is_time
from muniment.ledger.faults import Fault, Reach, Verdict

SCHEMA = "muniment.ledger/1"
SCHEMA_NUMBER = 1
OPEN = b'{"schema":"muniment.ledger/1","entries":[\n'
ENTRIES = b'"entries":[\n'
CLOSE = b"\n]}\n"
BETWEEN = b"\n,\n"
_ID_MEMBER = len(',"id":""') + ID_DIGITS
_PLAIN = ("actor", "after", "at", "data", "id", "kind", "op")
_BASED = ("actor", "after", "at", "basis", "data", "id", "kind", "op")
_STUB_MEMBERS = MEMBERS - {"actor", "op"}
_HEX = re.compile(r"[0-9a-f]{32}\Z")
_SEALED_FILE = re.compile(r"ledger/[0-9a-f]{16}\.json\Z")
_SEALED_MEMBERS = frozenset({"file", "sha256", "count", "replaces"})
_SHA256 = re.compile(r"[0-9a-f]{64}\Z")


@dataclass(frozen=True, slots=True, order=True)
class Sealed:
    """A sealed segment as the open one lists it.

    Attributes:
        file: `ledger/<first 16 hex of sha256>.json`, relative to the open segment's folder.
        sha256: Of the file's bytes, 64 hex digits: all that its verification needs.
        count: How many entries it holds.
        replaces: Files that it replaces and outranks (an expunge inside a sealed segment), sorted.
        extra: Members this version doesn't know, as canonical JSON of an object; empty when there are none.
    """

    file: str
    sha256: str
    count: int
    replaces: tuple[str, ...] = ()
    extra: bytes = b""


@dataclass(frozen=True, slots=True)
class Segment:
    """What one ledger file holds.

    Attributes:
        entries: In the file's order; each readable entry once.
        lines: 1-based line by entry id, only for files not in our own layout (there: two lines an entry).
        sealed: The list of sealed segments, sorted.
        extra: Top-level members this version doesn't know, by name, as canonical JSON.
        faults: What is wrong with the file alone.
        schema: Its schema number; 0 when there is none.
        first: 1-based line of the first entry, in our own layout.
        laid_out: Whether the bytes are exactly what `render_segment` makes of the content.
    """

    entries: tuple[Entry, ...] = ()
    lines: Mapping[str, int] | None = None
    sealed: tuple[Sealed, ...] = ()
    extra: Mapping[str, bytes] | None = None
    faults: tuple[Fault, ...] = ()
    schema: int = SCHEMA_NUMBER
    first: int = 2
    laid_out: bool = True

    @property
    def newer(self) -> bool:
        """Whether the schema number is higher than this version knows."""
        return self.schema > SCHEMA_NUMBER

    def verdict(self) -> Verdict:
        """The file's own faults as a verdict, before the set is checked."""
        return Verdict(self.faults, schema=self.schema, newer=self.newer)


def render_segment(
    entries: Iterable[Entry], sealed: Iterable[Sealed] = (), extra: Mapping[str, bytes] | None = None
) -> bytes:
    """The bytes of a segment: LF, entries sorted by id, one a line (CONTRACT)."""
    head = [f'"schema":"{SCHEMA}"'.encode()]
    head += [canonical(key) + b":" + raw for key, raw in sorted((extra or {}).items())]
    listed = sorted(set(sealed))
    if listed:
        rows = BETWEEN.join(canonical(_sealed_json(row)) for row in listed)
        head.append(b'"sealed":[\n' + rows + b"\n]")
    body = BETWEEN.join(entry.raw for entry in sorted(entries, key=lambda entry: entry.id))
    return b"{" + b",".join(head) + b',"entries":[\n' + body + CLOSE


def _sealed_json(row: Sealed) -> dict[str, Any]:
    known = {"file": row.file, "sha256": row.sha256, "count": row.count, "replaces": list(row.replaces)}
    return {**quick_loads(row.extra), **known} if row.extra else known


def quick_entry(raw: bytes) -> Entry | None:
    """The entry whose canonical JSON is exactly `raw` and whose id is right; None means "look closer".

    The hot spot of every reading: for entries with the usual members and flat data, nothing is done twice.
    """
    try:
        document = quick_loads(raw)
        keys = tuple(document)
        basis: Any = ()
        if keys == _PLAIN:
            actor, after, at, data, identity, kind, op = document.values()
        elif keys == _BASED:
            actor, after, at, basis, data, identity, kind, op = document.values()
        else:
            return None
        place = raw.rfind(b',"id":"')
        if sha256(raw[:place] + raw[place + _ID_MEMBER :]).hexdigest()[:ID_DIGITS] != identity:
            return None
    except (ValueError, TypeError):
        return None
    if (
        type(data) is dict
        and str is type(kind) is type(op) is type(actor) is type(at)
        and kind
        and is_time(at)
        and len(raw) <= MAX_ENTRY_BYTES
        and _sorted_ids(after)
        and (keys[3] != "basis" or _sorted_ids(basis))
        and is_spelled_flat(document, data, raw)
    ):
        parents, shown = tuple(map(EntryId, after)), tuple(map(EntryId, basis))
        return Entry(EntryId(identity), kind, at, actor, parents, op, data, shown, raw)
    return None


def careful_entry(raw: bytes) -> Entry | None:
    """The entry that a piece of JSON is by itself, whatever its spelling; None when it is none."""
    reader = StrictReader()
    try:
        text = raw.decode()
        document, end = reader.value_at(text, 0)
    except ValueError:
        return None
    return None if reader.faults or end != len(text) else read_entry(document)[0]


def _sorted_ids(value: Any) -> bool:
    if type(value) is not list:
        return False
    if len(value) == 1:
        return type(value[0]) is str and _HEX.match(value[0]) is not None
    shaped = all(type(item) is str and _HEX.match(item) for item in value)
    return shaped and all(one < other for one, other in pairwise(value))


def read_entry(document: Any) -> tuple[Entry | None, tuple[Fault, ...]]:
    """An entry from a strictly read JSON value, whatever its spelling was, and what is wrong with it.

    A fault of the digest or of a member leaves no entry: nothing in it can be believed.
    """
    if not isinstance(document, dict):
        return None, (Fault("schema", "An entry is not a JSON object."),)
    named = document.get("id")
    identity = named if isinstance(named, str) and _HEX.match(named) else ""
    message = value_fault(document)
    if message:
        return None, (Fault("value", message, entry=identity),)
    message = _member_fault(document)
    if message:
        return None, (Fault("schema", message, entry=identity),)
    raw = spelled(document)
    if len(raw) > MAX_ENTRY_BYTES:
        message = f"The entry has {len(raw)} bytes; at most {MAX_ENTRY_BYTES} (64 KiB) are allowed."
        return None, (Fault("value", message, entry=identity),)
    stubbed = document.get("expunged") is True
    if not stubbed:
        made = digest(spelled({key: value for key, value in document.items() if key != "id"}))
        if made != identity:
            message = f"Entry {identity[:12]} was edited: its content has the id {made.short}."
            return None, (Fault("id", message, entry=identity),)
    return _entry_of(document, raw, stubbed=stubbed), ()


def _entry_of(document: dict[str, Any], raw: bytes, *, stubbed: bool) -> Entry:
    return Entry(
        id=EntryId(document["id"]),
        kind=document["kind"],
        at=document["at"],
        actor=document.get("actor", ""),
        after=tuple(EntryId(item) for item in document["after"]),
        op=document.get("op", ""),
        data=document.get("data", {}),
        basis=tuple(EntryId(item) for item in document.get("basis", ())),
        raw=raw,
        expunged=stubbed,
        unknown=tuple(sorted(document.keys() - MEMBERS)),
    )


def _member_fault(document: dict[str, Any]) -> str:
    stubbed = document.get("expunged") is True
    for key in ("id", "kind", "at") if stubbed else ("id", "kind", "at", "actor", "op"):
        if not isinstance(document.get(key), str):
            return f"An entry's `{key}` is missing or not a string."
    rules = (
        (stubbed or "expunged" not in document, "`expunged` is true in a stub and absent elsewhere"),
        (_HEX.match(document["id"]), "`id` is not 32 lower-case hex digits"),
        (document["kind"], "`kind` is empty"),
        (is_time(document["at"]), "`at` is not an RFC 3339 time"),
        (_sorted_ids(document.get("after")), "`after` is missing or not a sorted list of entry ids"),
        (_sorted_ids(document.get("basis", [])), "`basis` is not a sorted list of entry ids"),
        (isinstance(document.get("data", {} if stubbed else None), dict), "`data` is no object"),
        (not stubbed or document.keys() <= _STUB_MEMBERS, "stub holds more than id, time, kind and links"),
    )
    broken = [message for kept, message in rules if not kept]
    return f"An entry's {broken[0]}." if broken else ""


def read_sealed(value: Any) -> tuple[tuple[Sealed, ...], tuple[Fault, ...]]:
    """The list of sealed segments from its JSON value, sorted, and what is wrong with it."""
    if not isinstance(value, list):
        return (), (Fault("sealed", "The member `sealed` is not a list."),)
    found: set[Sealed] = set()
    faults: list[Fault] = []
    for item in value:
        row = _sealed_row(item)
        if row is None:
            faults.append(
                Fault(
                    "sealed",
                    "A sealed segment is listed without a file `ledger/<first 16 hex of sha256>.json`, that "
                    "sha256, a count and what it replaces.",
                )
            )
        else:
            found.add(row)
    return tuple(sorted(found)), tuple(faults)


def _sealed_row(item: Any) -> Sealed | None:
    if not isinstance(item, dict):
        return None
    file, sha, count = item.get("file"), item.get("sha256"), item.get("count")
    replaces = item.get("replaces") or []
    named = [replaces] if isinstance(replaces, str) else replaces
    if (
        isinstance(file, str)
        and isinstance(sha, str)
        and type(count) is int
        and _SEALED_FILE.match(file)
        and _SHA256.match(sha)
        and file == f"ledger/{sha[:16]}.json"
        and isinstance(named, list)
        and all(isinstance(name, str) and _SEALED_FILE.match(name) for name in named)
    ):
        more = {key: value for key, value in item.items() if key not in _SEALED_MEMBERS}
        if not value_fault(more):
            return Sealed(file, sha, count, tuple(sorted(set(named))), spelled(more) if more else b"")
    return None


def is_known(entry: Entry) -> bool:
    """Whether this version understands the entry's kind and top-level members."""
    return entry.kind in KINDS and not entry.unknown


def _all_ids(value: Any) -> bool:
    return isinstance(value, list) and all(map(is_id, value))


def _is_name(value: Any) -> bool:
    return isinstance(value, str) and value != ""


def _is_text_or_absent(value: Any) -> bool:
    return value is None or isinstance(value, str)


BODIES: Mapping[str, tuple[tuple[str, Callable[[Any], bool], str], ...]] = {
    "decision": (
        ("subject", _is_name, "missing or not a name"),
        ("action", _is_name, "missing or not a word"),
        ("findings", lambda value: value is None or _all_ids(value), "not a list of entry ids"),
    ),
    "alias": (
        ("alias", _is_name, "missing or not a name"),
        ("canonical", _is_name, "missing or not a name"),
    ),
    "undo": (("undoes", is_id, "missing or not an entry id"),),
    "expunge": (("expunges", is_id, "missing or not an entry id"),),
    "applied": (("entries", _all_ids, "missing or not a list of entry ids"),),
    "finding": (("subject", _is_text_or_absent, "not a name"),),
    "note": (("subject", _is_text_or_absent, "not a name"),),
}
"""Kind → what its body must have to be read: field, test, what is wrong otherwise."""


def body_fault(entry: Entry) -> Fault | None:
    """What makes the body of a known kind unreadable: the problem of that entry alone (G7)."""
    if entry.expunged:
        return None
    for key, fits, what in BODIES.get(entry.kind, ()):
        if not fits(entry.data.get(key)):
            message = f"The {entry.kind} {entry.id.short} can't be read: `data.{key}` is {what}."
            return Fault("body", message, Reach.ENTRY, entry.id, fix="")
    return None
