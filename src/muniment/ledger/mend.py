"""Deciding what a mended ledger holds: which entries, and which form of each (G6, G8, pure).

Three sources, each with its own right to be in: what the file and the merge's sides hold; what HEAD's own
history holds, all of it; and what any object of the clone holds, only as far as something names it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from muniment.ledger.conflict import Reading
from muniment.ledger.entries import Entry, links, stub, stub_digest
from muniment.ledger.merge import Content, merge, merge_three

_NAMED: Mapping[str, str] = {
    "decision": "findings",
    "applied": "entries",
    "undo": "undoes",
    "expunge": "expunges",
}
"""Kind → the field of `data` whose absence makes a set incomplete (`integrity.body_links`)."""


def _bytes(entry: Entry) -> bytes:
    return entry.raw


@dataclass(slots=True)
class Forms:
    """Every form of every entry that was read anywhere.

    Attributes:
        bodies: In full, by id: one form only, since the id is its digest.
        stubs: By id, then by bytes.
        expungers: Id → the expunge entries that name it.
    """

    bodies: dict[str, Entry] = field(default_factory=dict)
    stubs: dict[str, dict[bytes, Entry]] = field(default_factory=dict)
    expungers: dict[str, set[str]] = field(default_factory=dict)

    def take(self, reading: Reading) -> None:
        """Learn what a file holds."""
        self.learn(reading.bodies.values())
        for identity, found in reading.stubs.items():
            self.stubs.setdefault(identity, {}).update(found)

    def learn(self, entries: Iterable[Entry]) -> None:
        """Learn entries."""
        for entry in entries:
            if entry.expunged:
                self.stubs.setdefault(entry.id, {})[entry.raw] = entry
                continue
            self.bodies[entry.id] = entry
            if entry.kind == "expunge":
                for target in links(entry, "expunges"):
                    self.expungers.setdefault(target, set()).add(entry.id)

    def has(self, identity: str) -> bool:
        """Whether any form is known."""
        return identity in self.bodies or identity in self.stubs

    def any_form(self, identity: str) -> Entry:
        """Some form: all of them have the same links."""
        found = self.bodies.get(identity)
        return found if found is not None else min(self.stubs[identity].values(), key=_bytes)

    def proofs(self, identity: str, among: Collection[str]) -> frozenset[str]:
        """The stub digests that the expunge entries `among` those vouch for."""
        entries = (self.bodies[one] for one in self.expungers.get(identity, ()) if one in among)
        return frozenset(str(entry.data.get("stub")) for entry in entries)

    def vouched(self, identity: str, proofs: Collection[str]) -> Entry | None:
        """The stub that one of these digests vouches for, or None."""
        body = self.bodies.get(identity)
        made = [stub(body)] if body is not None else []
        known = (*made, *self.stubs.get(identity, {}).values())
        return min((one for one in known if stub_digest(one) in proofs), default=None, key=_bytes)

    def choose(self, identity: str, among: Collection[str]) -> Entry:
        """The form that stands in the set `among`: a stub that is vouched for, else the body, else a stub."""
        vouched = self.vouched(identity, self.proofs(identity, among))
        return vouched if vouched is not None else self.any_form(identity)


def joined(
    reading: Reading, stages: tuple[Reading, Reading, Reading] | None
) -> tuple[Content, frozenset[str]]:
    """What the file and the three sides of its conflict amount to, and the ids that must not get lost.

    In a marked file, what only the other side and the base hold is git's copy, and the three-way merge says
    whether it belongs; without markers it is what a person or `repair` put there.
    """
    if stages is None:
        return reading.content(), reading.ids
    base, ours, theirs = (one.content() for one in stages)
    merged = merge_three(base, ours, theirs)
    held = reading.content()
    if reading.marked:
        copied = base.entries.keys() | theirs.entries.keys()
        entries = {identity: one for identity, one in held.entries.items() if identity not in copied}
        held = Content(entries, held.sealed - base.sealed - theirs.sealed)
    result = merge(merged, held)
    return result, frozenset(held.entries)


def named_by(entry: Entry) -> tuple[str, ...]:
    """The ids without which a set that holds this entry is incomplete."""
    field_name = _NAMED.get(entry.kind)
    return (*entry.after, *entry.basis, *(links(entry, field_name) if field_name else ()))


def closed(ids: Collection[str], forms: Forms) -> tuple[frozenset[str], frozenset[str]]:
    """`ids` with everything they need, as far as it is known, and what is needed and known nowhere.

    An entry that comes in as needed and was expunged somewhere comes as its stub, with the expunge entry; and
    a stub that nothing here vouches for brings the expunge entry that does.
    """
    found = set(ids)
    absent: set[str] = set()
    stack = list(found)
    while stack:
        identity = stack.pop()
        wanted = set(named_by(forms.any_form(identity)))
        if identity not in ids or identity not in forms.bodies:
            wanted |= _expunger(identity, forms)
        for one in wanted - found:
            if forms.has(one):
                found.add(one)
                stack.append(one)
            else:
                absent.add(one)
    return frozenset(found), frozenset(absent)


def _expunger(identity: str, forms: Forms) -> set[str]:
    listed = forms.expungers.get(identity, set())
    return {one for one in listed if forms.vouched(identity, forms.proofs(identity, {one})) is not None}


def unvouched(ids: Collection[str], forms: Forms) -> frozenset[str]:
    """The ids of stubs without a body that no expunge entry among `ids` vouches for."""
    return frozenset(
        one for one in ids if one not in forms.bodies and forms.vouched(one, forms.proofs(one, ids)) is None
    )
