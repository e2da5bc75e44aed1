"""The rules a set of entries has to keep, one function each (G6, G7, pure).

Every rule takes the whole set and returns faults; `check` runs them all. Digests and shapes were checked
when the bytes were read (`segment.py`); here it is about what entries say of each other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from muniment.ledger.entries import ROOM_KINDS, Entry, is_id, links, stub_digest, time_key
from muniment.ledger.faults import Fault, Reach
from muniment.ledger.order import cyclic
from muniment.ledger.segment import BODIES, body_fault
from muniment.ledger.withdrawn import withdrawn

Entries = Mapping[str, Entry]
ByKind = Mapping[str, list[Entry]]

_LINKS: Mapping[str, tuple[tuple[str, frozenset[str]], ...]] = {
    "decision": (("findings", frozenset({"finding"})),),
    "undo": (("undoes", frozenset({"applied", "undo"})),),
    "applied": (("entries", frozenset()),),
    "expunge": (("expunges", frozenset()),),
}
"""Kind → (field of `data`, kinds it may name; empty: any)."""
_ROOM_LINKS = ("candidate", "request", "parent", "on", "round")


def check(entries: Entries) -> tuple[Fault, ...]:
    """Every fault of the set, ordered by rule and then by entry id."""
    kinds: dict[str, list[Entry]] = {}
    for entry in entries.values():
        kinds.setdefault(entry.kind, []).append(entry)
    faults: list[Fault] = []
    for rule in RULES:
        faults += sorted(rule(entries, kinds), key=lambda fault: (fault.entry, fault.message))
    return tuple(faults)


def check_added(entries: Entries, added: Iterable[Entry]) -> tuple[Fault, ...]:
    """What entries about to be added would make wrong, by the rules on bodies and on what they name.

    `entries` is the set with them in it. An expunge entry's stub is its writer's business, and cycles of
    aliases have a rule of their own (`alias_cycles`).
    """
    kinds: dict[str, list[Entry]] = {}
    for entry in added:
        kinds.setdefault(entry.kind, []).append(entry)
    rules = (bodies, basis, body_links, rooms)
    return tuple(fault for rule in rules for fault in rule(entries, kinds))


def named(kind: str, data: Mapping[str, object]) -> frozenset[str]:
    """The ids of the entries that a body of this kind names and the rules look at."""
    fields = [field for field, _ in _LINKS.get(kind, ())]
    if kind in ROOM_KINDS:
        fields += _ROOM_LINKS
    found: set[str] = set()
    for field in fields:
        value = data.get(field)
        found.update(str(item) for item in (value if isinstance(value, list) else [value]) if is_id(item))
    return frozenset(found)


def parents(entries: Entries, kinds: ByKind) -> Iterator[Fault]:  # noqa: ARG001 - every rule has one shape
    """Every parent is there; an absent one makes the set incomplete, which is not the same as broken.

    A time before a parent's is noted: times are for display and ties only.
    """
    get = entries.get
    for entry in entries.values():
        at = entry.at
        for parent in entry.after:
            found = get(parent)
            if found is None:
                yield _absent(entry, parent, "comes after")
            elif found.at > at and time_key(found.at) > time_key(at):
                message = f"Entry {entry.id.short} has a time before {parent.short}, which it comes after."
                yield Fault("clock", message, Reach.NOTE, entry.id, fix="")


def basis(entries: Entries, kinds: ByKind) -> Iterator[Fault]:
    """A decision's basis names decisions that are there."""
    for entry in kinds.get("decision", ()):
        for shown in entry.basis:
            if shown not in entries:
                yield _absent(entry, shown, "was decided in view of")
            elif entries[shown].kind != "decision":
                yield _link(entry, f"names {shown.short} as its basis, which is no decision")


def body_links(entries: Entries, kinds: ByKind) -> Iterator[Fault]:
    """A decision names existing findings, an undo an application or another undo, and so on."""
    for kind, fields in _LINKS.items():
        for entry in kinds.get(kind, ()):
            for field, allowed in fields:
                for target in links(entry, field):
                    found = entries.get(target)
                    if found is None:
                        yield _absent(entry, target, f"names in `{field}`")
                    elif allowed and found.kind not in allowed:
                        wanted = " or ".join(sorted(allowed))
                        yield _link(entry, f"names {target.short} in `{field}`, which is no {wanted}")


def aliases(entries: Entries, kinds: ByKind) -> Iterator[Fault]:
    """Aliases form no cycle; withdrawn ones don't count."""
    listed = kinds.get("alias", ())
    if not listed:
        return
    gone = withdrawn(entries)
    edges: dict[str, dict[str, Entry]] = {}
    for entry in listed:
        name, canonical = entry.data.get("alias"), entry.data.get("canonical")
        if entry.id not in gone and isinstance(name, str) and isinstance(canonical, str):
            edges.setdefault(name, {})[canonical] = entry
    acyclic = _names_without_cycle(edges)
    for name, targets in edges.items():
        for canonical, entry in targets.items():
            if name not in acyclic and canonical not in acyclic and canonical in edges:
                message = f"The alias {entry.id.short} leads into a cycle of aliases."
                yield Fault("alias-cycle", message, entry=entry.id, fix="muniment undo")


def alias_cycles(entries: Entries) -> tuple[Fault, ...]:
    """The faults of the alias rule alone, for a writer about to add an alias."""
    return tuple(aliases(entries, {"alias": [entry for entry in entries.values() if entry.kind == "alias"]}))


def _names_without_cycle(edges: Mapping[str, Mapping[str, Entry]]) -> frozenset[str]:
    """Names from which no cycle can be reached, peeled from the canonical ends."""
    pointing: dict[str, set[str]] = {}
    left = {name: len(targets) for name, targets in edges.items()}
    for name, targets in edges.items():
        for canonical in targets:
            pointing.setdefault(canonical, set()).add(name)
    stack = [name for name in pointing if name not in edges]
    peeled: set[str] = set(stack)
    while stack:
        for name in pointing.get(stack.pop(), ()):
            left[name] -= 1
            if not left[name]:
                peeled.add(name)
                stack.append(name)
    return frozenset(peeled)


def expunged(entries: Entries, kinds: ByKind) -> Iterator[Fault]:
    """A stub has the expunge entry that vouches for it, and an expunge entry leaves no body."""
    vouched: dict[str, set[str]] = {}
    for entry in kinds.get("expunge", ()):
        proof = entry.data.get("stub")
        for target in links(entry, "expunges"):
            vouched.setdefault(target, set()).add(proof if isinstance(proof, str) else "")
    for entry in entries.values():
        if entry.expunged:
            proofs = vouched.get(entry.id, set())
            if not proofs:
                message = f"The body of {entry.id.short} is gone, and no expunge entry names it."
                yield Fault("expunge", message, entry=entry.id)
            elif stub_digest(entry) not in proofs:
                message = (
                    f"The stub of {entry.id.short} was edited: no expunge entry vouches for its content."
                )
                yield Fault("expunge", message, entry=entry.id)
    for gone in vouched:
        found = entries.get(gone)
        if found is not None and not found.expunged:
            message = f"The body of {gone[:12]} is back although an expunge entry names it."
            yield Fault("expunge", message, entry=gone)


def bodies(entries: Entries, kinds: ByKind) -> Iterator[Fault]:  # noqa: ARG001 - every rule has one shape
    """A body of a known kind can be read; a damaged one is the problem of its entry alone."""
    for kind in BODIES.keys() & kinds.keys():
        for entry in kinds[kind]:
            fault = body_fault(entry)
            if fault:
                yield fault


def rooms(entries: Entries, kinds: ByKind) -> Iterator[Fault]:
    """In a room, entries name entries of their own room, and a resolution a request of its own candidate."""
    for kind in sorted(ROOM_KINDS & kinds.keys()):
        for entry in kinds[kind]:
            room = entry.data.get("room")
            name = room if isinstance(room, str) else ""
            for field in _ROOM_LINKS:
                for target in links(entry, field):
                    found = entries.get(target)
                    message = _room_message(entry, field, found)
                    if message:
                        yield Fault("room-link", message, Reach.ROOM, entry.id, room=name)


def _room_message(entry: Entry, field: str, found: Entry | None) -> str:
    resolves = entry.kind == "resolution" and field == "request"
    what = ""
    if found is None:  # candidates may be named by other means than an entry id
        what = "a request that isn't there" if resolves else ""
    elif found.expunged or entry.expunged:
        what = ""
    elif found.data.get("room") != entry.data.get("room"):
        what = "an entry of another room"
    elif resolves and found.kind != "request":
        what = f"a {found.kind}, not a request"
    elif resolves and found.data.get("candidate") != entry.data.get("candidate"):
        what = "a request of another candidate"
    return f"The {entry.kind} {entry.id.short} names {what} in `{field}`." if what else ""


def cycles(entries: Entries, kinds: ByKind) -> Iterator[Fault]:  # noqa: ARG001 - every rule has one shape
    """No entry comes after itself: impossible for digests, so a cycle runs through a forged stub."""
    stubs = sorted(entry.id for entry in entries.values() if entry.expunged)
    tangled = cyclic(entries) if stubs else frozenset()
    for identity in stubs:
        if identity in tangled:
            message = f"The stub {identity[:12]} comes after itself, or after one that does."
            yield Fault("cycle", message, entry=identity)


def _absent(entry: Entry, target: str, how: str) -> Fault:
    message = f"Entry {entry.id.short} {how} {target[:12]}, which isn't here."
    return Fault("incomplete", message, Reach.INCOMPLETE, entry.id, absent=target)


def _link(entry: Entry, what: str) -> Fault:
    return Fault("link", f"The {entry.kind} {entry.id.short} {what}.", entry=entry.id)


RULES: tuple[Callable[[Entries, ByKind], Iterable[Fault]], ...] = (
    parents,
    basis,
    body_links,
    aliases,
    expunged,
    bodies,
    rooms,
    cycles,
)
"""Every rule, in the order their faults are reported."""
