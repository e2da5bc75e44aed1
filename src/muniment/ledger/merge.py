"""Merging ledgers as sets of entries: commutative, associative, idempotent (G6, G8, pure).

`merge` joins two ledgers; `merge_three` is what a merge driver needs: ours, theirs minus base, and the
ancestors that those need. Nothing is ever dropped from ours.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from muniment.ledger.assembly import union
from muniment.ledger.entries import Entry, links, stub
from muniment.ledger.order import ancestors
from muniment.ledger.segment import SCHEMA_NUMBER, Sealed, Segment, render_segment


@dataclass(frozen=True, slots=True)
class Content:
    """What a ledger file holds, as sets.

    Attributes:
        entries: By id.
        sealed: Records of sealed segments.
        extra: Unknown top-level members by name, as canonical JSON.
    """

    entries: Mapping[str, Entry] = field(default_factory=dict)
    sealed: frozenset[Sealed] = frozenset()
    extra: Mapping[str, bytes] = field(default_factory=dict)

    def render(self) -> bytes:
        """The bytes of this content as an open segment."""
        return render_segment(self.entries.values(), self.sealed, self.extra)


def content(segment: Segment) -> Content:
    """A segment's content; raises `ValueError` for one of another schema, which this version can't merge."""
    if segment.schema != SCHEMA_NUMBER:
        raise ValueError(segment.schema)
    entries = union([segment.entries])
    return Content(entries, frozenset(segment.sealed), dict(segment.extra or {}))


def merge(one: Content, other: Content) -> Content:
    """Everything of both. An expunged form wins, and an expunge entry takes its body wherever it still is.

    Of two values of an unknown top-level member the greater by its bytes stays, whichever side it is on.
    """
    entries = _expunged(union([one.entries.values(), other.entries.values()]))
    extra = {
        key: max(one.extra.get(key, b""), other.extra.get(key, b"")) for key in {*one.extra, *other.extra}
    }
    return Content(entries, one.sealed | other.sealed, extra)


def merge_three(base: Content, ours: Content, theirs: Content) -> Content:
    """Ours, plus what theirs has and base lacks, plus the ancestors of that as far as theirs has them."""
    new = {identity for identity in theirs.entries if identity not in base.entries}
    changed = {
        identity for identity, entry in theirs.entries.items() if entry.expunged and identity in ours.entries
    }
    wanted = ancestors(theirs.entries, _with_named(theirs.entries, new)) | changed
    picked = {identity: entry for identity, entry in theirs.entries.items() if identity in wanted}
    extra = {key: raw for key, raw in theirs.extra.items() if base.extra.get(key) != raw}
    return merge(ours, Content(picked, theirs.sealed - base.sealed, extra))


def _with_named(entries: Mapping[str, Entry], roots: Iterable[str]) -> frozenset[str]:
    """The ids and what those entries name in their bodies or as their basis, present here."""
    found = set(roots)
    for identity in tuple(found):
        entry = entries[identity]
        named = [*entry.basis]
        for name in ("findings", "undoes", "entries", "expunges"):
            named += links(entry, name)
        found.update(target for target in named if target in entries)
    return frozenset(found)


def _expunged(entries: dict[str, Entry]) -> dict[str, Entry]:
    named = {
        target for entry in entries.values() if entry.kind == "expunge" for target in links(entry, "expunges")
    }
    for target in named & entries.keys():
        entries[target] = stub(entries[target])
    return entries
