"""The state as values: items, their lifecycle, their numbers, and what of it the plan shows (S12, S13).

Only what the plan needs lives here; cursors, leases and merging belong to the state engine. Unknown
statuses, fields and keys are left alone: they are read past, never written.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from muniment.errors import Problem
from muniment.yaml_io import Yaml

SCHEMA_VERSION = 1
MAX_NUMBER = 2**53
DEFAULT_QUESTION = "Is this a bug, or is it intended?"


class Status(StrEnum):
    """The lifecycle's words; the file may hold others, which stay as they are."""

    INGESTED = "ingested"
    ACKNOWLEDGED = "acknowledged"
    ACK_DEFERRED = "ack_deferred"
    NEEDS_DOWNLOAD = "needs_download"
    NEEDS_ANALYSIS = "needs_analysis"
    MANUAL_STUCK = "manual_stuck"
    ANALYZED = "analyzed"
    IN_PLAN = "in_plan"
    FIX_PENDING = "fix_pending"
    CLOSED = "closed"
    SOURCE_GONE = "source_gone"


SHOWN = frozenset({Status.ANALYZED, Status.IN_PLAN, Status.FIX_PENDING, Status.ACK_DEFERRED})
"""What the plan shows; an analyzed item only when it is actionable."""
ENDED = frozenset({Status.CLOSED, Status.SOURCE_GONE})
"""The only statuses that take an item off the plan."""


@dataclass(frozen=True, slots=True)
class Item:
    """One piece of feedback as the plan needs it.

    Attributes:
        key: `<source>:<id>`, the key in the file.
        source: The source's id.
        native: The id at the source.
        status: The status as written, known or not.
        title: One line; "" without one.
        quote: The quoted text: `quote`, else `body`; "" without either.
        origin: URL at the source; "" without one.
        category: As classified; `unclassified` when nobody did.
        actionable: Whether anybody can do something about it; yes unless the item says no.
        question: What is to be asked about an ambiguous item; "" when it isn't ambiguous.
        sensitive: Whether text of it may be shown nowhere (S17).
        number: Its R-number for life, or None before it first came on the plan.
        line: Its line in the file.
    """

    key: str
    source: str
    native: str
    status: str
    title: str = ""
    quote: str = ""
    origin: str = ""
    category: str = "unclassified"
    actionable: bool = True
    question: str = ""
    sensitive: bool = False
    number: int | None = None
    line: int = 0

    @property
    def shown(self) -> bool:
        """Whether the plan shows it by its status alone."""
        if self.status == Status.ANALYZED:
            return self.actionable
        return self.status in SHOWN

    @property
    def ended(self) -> bool:
        """Whether the state says closed or gone."""
        return self.status in ENDED


@dataclass(frozen=True, slots=True)
class Lease:
    """The lease that stands in the file, as far as a reader judges it (G9)."""

    writer: str
    timestamp: str
    ttl_minutes: float | None


@dataclass(frozen=True, slots=True)
class State:
    """The whole state, in the file's order.

    Attributes:
        items: Key → item, readable ones only.
        damaged: Keys of items whose record can't be read; each has a problem.
        sources: Ids of the sources, in the file's order.
        hidden: Keys of damaged items that say they are sensitive.
        hidden_sources: Sources whose text may be shown nowhere.
        lease: The lease in the file, if there is one.
        schema_version: As written.
    """

    items: Mapping[str, Item] = field(default_factory=dict)
    damaged: frozenset[str] = frozenset()
    sources: tuple[str, ...] = ()
    hidden: frozenset[str] = frozenset()
    hidden_sources: frozenset[str] = frozenset()
    lease: Lease | None = None
    schema_version: int = SCHEMA_VERSION

    def knows(self, key: str) -> bool:
        """Whether this state has an item of that key, readable or not."""
        return key in self.items or key in self.damaged

    def hides(self, key: str) -> bool:
        """Whether the text of the item with this key, known here or not, may be shown nowhere (S17)."""
        if key in self.items:
            return self.items[key].sensitive
        return key in self.hidden or key.partition(":")[0] in self.hidden_sources


def build(
    document: Yaml, path: str, *, sensitive_sources: Collection[str] = ()
) -> tuple[State | None, tuple[Problem, ...]]:
    """The state in a parsed file, and what is wrong with it; None when nothing of it can be trusted.

    Args:
        document: The parsed file.
        path: Its path, for the problems.
        sensitive_sources: Sources that the settings mark sensitive.
    """
    root = document.value
    version = root.get("schema_version") if isinstance(root, dict) else None
    if not isinstance(root, dict) or type(version) is not int:
        words = "is no mapping" if not isinstance(root, dict) else "has no whole-number `schema_version`"
        return None, (Problem(path, document.line("schema_version"), "state-shape", f"The state {words}."),)
    shape = {"items": dict, "sources": dict, "lease": dict, "last_run": dict}
    wrong = [name for name, kind in shape.items() if not isinstance(root.get(name), kind | None)]
    if wrong:
        name = wrong[0]
        return None, (Problem(path, document.line(name), "state-shape", f"`{name}` is no mapping."),)
    sources: Mapping[str, Any] = root.get("sources") or {}
    hidden = set(sensitive_sources) | {name for name, source in sources.items() if is_sensitive(source)}
    items: dict[str, Item] = {}
    problems: list[Problem] = []
    for key, record in (root.get("items") or {}).items():
        fault = _fault(key, record)
        line = document.line("items", key)
        if fault:
            problems.append(Problem(path, line, "state-item", f"The item {key[:80]!r} {fault}."))
        else:
            items[key] = _item(key, record, hidden, line)
    damaged = {key: record for key, record in (root.get("items") or {}).items() if key not in items}
    state = State(
        items,
        frozenset(damaged),
        tuple(sources),
        frozenset(key for key, record in damaged.items() if _hides(record, hidden)),
        frozenset(hidden),
        _lease(root.get("lease")),
        int(version),
    )
    return state, tuple(problems)


def is_sensitive(record: object) -> bool:
    """Whether an item or a source says that its text may be shown nowhere.

    Any value but false, null and empty ones counts: `sensitive: yes` is a text in YAML 1.2, and whoever
    wrote it did not mean no.
    """
    return isinstance(record, Mapping) and bool(record.get("sensitive"))


def _hides(record: object, hidden: Collection[str]) -> bool:
    """The same for an item, whose own `source` counts too where the key names another."""
    return is_sensitive(record) or (isinstance(record, Mapping) and _text(record.get("source")) in hidden)


def _fault(key: str, record: object) -> str:
    """Why an item's record can't be used, or ""."""
    source, colon, native = key.partition(":")
    if not (source and colon and native):
        return "has no key of the form <source>:<id>"
    if not isinstance(record, dict):
        return "is no mapping"
    if not isinstance(record.get("status"), str):
        return "has no status"
    number = record.get("r")
    if number is not None and (type(number) is not int or not 0 < number <= MAX_NUMBER):
        return "has an `r` that is no positive whole number"
    return ""


def _item(key: str, record: Mapping[str, Any], hidden: Collection[str], line: int) -> Item:
    """One readable record."""
    source, _, native = key.partition(":")
    question = _text(record.get("question"))
    question = question if question.strip() else DEFAULT_QUESTION
    return Item(
        key=key,
        source=source,
        native=native,
        status=record["status"],
        title=_text(record.get("title")),
        quote=_text(record.get("quote")) or _text(record.get("body")),
        origin=_text(record.get("origin")),
        category=_text(record.get("category")).strip() or "unclassified",
        actionable=record.get("actionable") is not False,
        question=question if record.get("ambiguous") is True else "",
        sensitive=_hides(record, hidden) or source in hidden,
        number=record.get("r"),
        line=line,
    )


def _text(value: object) -> str:
    """A field's text; other scalars as JSON writes them, collections as nothing."""
    if value is None or isinstance(value, dict | list):
        return ""
    return value if isinstance(value, str) else json.dumps(value)


def _lease(value: object) -> Lease | None:
    """The lease record, unreadable parts as "" or None."""
    if not isinstance(value, dict) or not value:
        return None
    ttl = value.get("ttl_minutes")
    minutes = float(ttl) if isinstance(ttl, int | float) and not isinstance(ttl, bool) else None
    return Lease(_text(value.get("writer")), _text(value.get("timestamp")), minutes)


@dataclass(frozen=True, slots=True)
class Numbering:
    """Who has which number, and what was decided about it.

    Attributes:
        numbers: Key → number, of every item that has one now.
        notes: One sentence for each collision.
    """

    numbers: Mapping[str, int]
    notes: tuple[str, ...] = ()


def number_items(items: Iterable[Item], wanted: Collection[str], on_plan: Mapping[str, int]) -> Numbering:
    """Give every item in `wanted` its R-number (S13).

    A number is kept for life, closed items included. Of several items with one number the one with the
    smaller key keeps it. An item without a number whose line stands on the plan gets that line's number
    when it is free; any other gets one more than the greatest in the state or on the plan.

    Args:
        items: All items, in the file's order.
        wanted: Keys that need a number.
        on_plan: Key → number of each line on the plan, foreign ones included.
    """
    numbers: dict[str, int] = {}
    holder: dict[int, str] = {}
    notes: list[str] = []
    held = list(items)
    for item in sorted((item for item in held if item.number is not None), key=lambda item: item.key):
        number = item.number or 0
        if number in holder:
            notes.append(f"{holder[number]} keeps R{number}; {item.key} gets a new number.")
        else:
            holder[number] = item.key
            numbers[item.key] = number
    claimed = {number: key for key, number in sorted(on_plan.items(), reverse=True)}
    collided = {item.key for item in held if item.number is not None} - numbers.keys()
    unused = _unused({*holder, *on_plan.values()})
    for item in held:
        if item.key in numbers or not (item.key in wanted or item.key in collided):
            continue
        number = on_plan.get(item.key, 0)
        taken = number in holder or claimed.get(number) != item.key
        if item.key in collided or taken or not 0 < number <= MAX_NUMBER:
            number = next(unused)
        numbers[item.key] = number
        holder[number] = item.key
    return Numbering(numbers, tuple(notes))


def _unused(used: Collection[int]) -> Iterator[int]:
    """Numbers for new items: above the greatest in use; when the limit is reached, those that are free.

    A number beyond the limit (a plan may hold any digits) is nobody's: the state couldn't store the next one.
    """
    greatest = max((number for number in used if number <= MAX_NUMBER), default=0)
    yield from range(greatest + 1, MAX_NUMBER + 1)
    yield from (number for number in range(1, greatest) if number not in used)


def hide(item: Item) -> Item:
    """A sensitive item as it may be shown: a neutral title, no text (S17); any other as it is."""
    if not item.sensitive:
        return item
    question = item.question and DEFAULT_QUESTION
    return replace(item, title=f"Sensitive item {item.native} of {item.source}", quote="", question=question)


def open_digest(items: Iterable[Item]) -> str:
    """16 hex digits over what the plan shows of these items, whatever their order.

    Hidden text is no part of it: a digest of a short text gives the text away.
    """
    rows = sorted(
        [
            shown.key,
            shown.number,
            shown.title,
            shown.quote,
            shown.origin,
            shown.category,
            shown.status,
            shown.question,
        ]
        for shown in map(hide, items)
    )
    canonical = json.dumps(rows, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(canonical.encode("utf-8", "surrogatepass")).hexdigest()[:16]
