"""Status by folding: what the entries say about a subject, derived on every read (G6, C10, C11; pure).

Nothing here is stored. The fold depends on the set of entries alone, never on the order they come in.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property

from muniment.ids import EntryId
from muniment.ledger.canonical import quick_loads
from muniment.ledger.entries import DECIDING_FIELDS, Entry, links, subjects, time_key
from muniment.ledger.misread import misreading, strings
from muniment.ledger.order import absent, ancestors, descendants
from muniment.ledger.segment import is_known
from muniment.ledger.subject import CONTESTED, DUPLICATE, OPEN, UNKNOWN, UNSEEN, Subject
from muniment.ledger.withdrawn import Operations, operations, withdrawn

__all__ = ["CONTESTED", "DUPLICATE", "OPEN", "UNKNOWN", "UNSEEN", "Subject", "View", "fold"]

FRAME = ("alias", "undo", "applied")
"""Kinds that bear on which decisions are current, whatever the subject."""

Verdict = tuple[str, str]
"""What a decision comes to: action and target."""


def fold(entries: Iterable[Entry], *, distrust: str = "") -> View:
    """Fold a set of entries; ids must be unique, the order doesn't matter.

    `distrust` is a reason to answer `unknown` for every subject: a broken set, a newer schema.
    """
    return View({entry.id: entry for entry in entries}, distrust)


class View:
    """What a set of entries says; every part is derived when first asked for."""

    def __init__(self, entries: Mapping[str, Entry], distrust: str = "") -> None:
        self.entries = entries
        self.distrust = distrust

    @cached_property
    def withdrawn(self) -> frozenset[str]:
        """Ids of entries that an undo makes fold as absent."""
        return withdrawn(self.entries)

    @cached_property
    def _operations(self) -> Operations:
        gone = self.withdrawn
        return operations(entry for entry in self.entries.values() if entry.id not in gone)

    @cached_property
    def by_operation(self) -> Mapping[str, tuple[Entry, ...]]:
        """Operation key → the live entries that carry it."""
        found: dict[str, tuple[Entry, ...]] = {}
        for group in self.live.values():
            for entry in group:
                found[entry.op] = (*found.get(entry.op, ()), entry)
        return found

    @cached_property
    def live(self) -> Mapping[str, tuple[Entry, ...]]:
        """Kind → the entries that count: not withdrawn, each operation once, expunged bodies left out."""
        gone, folded = self.withdrawn, self._operations.stands_for
        kinds: dict[str, list[Entry]] = {}
        for entry in self.entries.values():
            if entry.id not in gone and entry.id not in folded and not entry.expunged:
                kinds.setdefault(entry.kind, []).append(entry)
        return {kind: tuple(group) for kind, group in kinds.items()}

    @cached_property
    def _by_name(self) -> Mapping[str, Mapping[str, tuple[Entry, ...]]]:
        """Kind → subject → live findings or decisions on exactly that name, oldest first."""
        made: dict[str, dict[str, list[Entry]]] = {"finding": {}, "decision": {}}
        for kind, names in made.items():
            for entry in self.live.get(kind, ()):
                name = entry.data.get("subject")
                if name is None and kind == "finding":
                    name = entry.data.get("fingerprint")
                if isinstance(name, str):
                    names.setdefault(name, []).append(entry)
        return {
            kind: {name: tuple(sorted(group, key=_age)) for name, group in names.items()}
            for kind, names in made.items()
        }

    @cached_property
    def _canonicals(self) -> Mapping[str, frozenset[str]]:
        """Alias → the names it is said to stand for; more than one is a contradiction."""
        found: dict[str, set[str]] = {}
        for entry in self.live.get("alias", ()):
            name, canonical = entry.data.get("alias"), entry.data.get("canonical")
            if isinstance(name, str) and isinstance(canonical, str) and name != canonical:
                found.setdefault(name, set()).add(canonical)
        return {name: frozenset(canonicals) for name, canonicals in found.items()}

    @cached_property
    def _aliases(self) -> Mapping[str, tuple[str, ...]]:
        found: dict[str, set[str]] = {}
        for name in self._canonicals:
            root = self.canonical(name)
            if root != name:
                found.setdefault(root, set()).add(name)
        return {name: tuple(sorted(others)) for name, others in found.items()}

    @cached_property
    def _clashing(self) -> Mapping[str, tuple[tuple[Entry, ...], ...]]:
        """Subject → groups of entries of one operation that contradict each other."""
        found: dict[str, list[tuple[Entry, ...]]] = {}
        for group in self._operations.clashing:
            for name in dict.fromkeys(name for entry in group for name in subjects(entry)):
                found.setdefault(name, []).append(group)
        return {name: tuple(groups) for name, groups in found.items()}

    @cached_property
    def _misread(self) -> Mapping[str, str]:
        """Name → why it reads `unknown`: an unknown kind or field names it, or its body is damaged."""
        gone, found = self.withdrawn, dict[str, str]()
        for entry in sorted(self.entries.values(), key=lambda entry: entry.id):
            if entry.id in gone or entry.expunged:
                continue
            reason = misreading(entry)
            if reason:
                for name in self._named(entry):
                    found.setdefault(name, reason)
        return found

    def _named(self, entry: Entry) -> Iterator[str]:
        """Every name that an entry which can't be understood may be about."""
        yield from subjects(entry)
        if entry.kind == "undo":
            for reached in self._reach([entry]):
                yield from subjects(self.entries[reached])
        if not is_known(entry):
            yield from strings(quick_loads(entry.raw))
        for field in entry.data.keys() - DECIDING_FIELDS.get(entry.kind, entry.data.keys()):
            yield from strings(entry.data[field])

    def _reach(self, start: Iterable[Entry]) -> frozenset[str]:
        """The ids of entries that undos and applications reach, the start included."""
        found = {entry.id for entry in start}
        stack = list(start)
        while stack:
            entry = stack.pop()
            field = {"undo": "undoes", "applied": "entries"}.get(entry.kind, "")
            for target in links(entry, field):
                if target in self.entries and target not in found:
                    found.add(target)
                    stack.append(self.entries[target])
        return frozenset(found)

    @cached_property
    def _tainted(self) -> frozenset[str]:
        """Ids of entries that come after an absent one, and of what a tainted undo reaches."""
        missing = set(absent(self.entries))
        missing.update(
            entry.id
            for entry in self.entries.values()
            if any(shown not in self.entries for shown in entry.basis)
            or any(target not in self.entries for target in links(entry, "undoes"))
        )
        if not missing:
            return frozenset()
        after = descendants(self.entries, missing)
        return self._reach([entry for entry in self.entries.values() if entry.id in after])

    def canonical(self, subject: str) -> str:
        """The name that `subject` is an alias of, followed to the end; itself when it is none."""
        seen = {subject}
        while len(self._canonicals.get(subject, ())) == 1:
            (following,) = self._canonicals[subject]
            if following in seen:
                return min(seen)  # a cycle: the set is broken, and nothing is read from it
            seen.add(following)
            subject = following
        return subject

    def names(self) -> Iterator[str]:
        """Every subject that the ledger knows by name, sorted, aliases included."""
        known = {*self._by_name["finding"], *self._by_name["decision"], *self._canonicals}
        known.update(name for names in self._canonicals.values() for name in names)
        return iter(sorted(known))

    def subject(self, name: str) -> Subject:
        """What the ledger says about a subject."""
        canonical = self.canonical(name)
        aliases = self._aliases.get(canonical, ())
        group = (canonical, *aliases)
        findings = sorted(
            (entry for one in group for entry in self._by_name["finding"].get(one, ())), key=_age
        )
        current = self._current(canonical, aliases)
        settled, verdicts = self._settle(current)
        status, hint = self._status(name, group, findings, current, verdicts)
        return Subject(
            subject=name,
            canonical=canonical,
            status=status,
            decisions=tuple(sorted(entry.id for entry in current)),
            aliases=aliases,
            seen=len({str(entry.data.get("report") or entry.op or entry.id) for entry in findings}),
            findings=tuple(findings),
            settled=settled,
            hint=hint,
        )

    def current(self, name: str) -> tuple[EntryId, ...]:
        """The ids of a subject's current decisions, sorted: the basis for deciding it again."""
        canonical = self.canonical(name)
        return tuple(sorted(entry.id for entry in self._current(canonical, self._aliases.get(canonical, ()))))

    def with_entries(self, name: str, added: Iterable[Entry]) -> View:
        """A view that answers `current` for one subject as if entries had been added, without the rest."""
        new: dict[str, Entry] = {
            entry.id: entry for entry in added if entry.kind == "decision" or entry.kind in FRAME
        }
        if not new:
            return self
        kept = dict(self._frame)
        frame = View(kept | new)
        canonical = frame.canonical(name)
        for one in (canonical, *frame.names_of(canonical)):
            kept.update((entry.id, entry) for entry in self._by_name["decision"].get(one, ()))
        return View(kept | new)

    @cached_property
    def _frame(self) -> Mapping[str, Entry]:
        return {entry.id: entry for entry in self.entries.values() if entry.kind in FRAME}

    def names_of(self, canonical: str) -> tuple[str, ...]:
        """The aliases of a canonical subject, sorted."""
        return self._aliases.get(canonical, ())

    def _line(self, canonical: str, aliases: tuple[str, ...]) -> tuple[Entry, ...]:
        """The decisions that count for a canonical subject.

        Its own, and those on an alias that were made in view of one of them (C11: an alias follows the
        canonical decision). Only a subject never decided under its own name takes what its aliases have.
        """
        decided = self._by_name["decision"]
        own = list(decided.get(canonical, ()))
        others = [entry for name in aliases for entry in decided.get(name, ())]
        if not own:
            real = [entry for entry in others if entry.data.get("action") != DUPLICATE]
            return tuple(real or others)
        names = {entry.id for entry in own}
        added = True
        while added:
            joined = [entry for entry in others if entry.id not in names and names & set(self._basis(entry))]
            names.update(entry.id for entry in joined)
            own += joined
            added = bool(joined)
        return tuple(own)

    def _basis(self, entry: Entry) -> tuple[EntryId, ...]:
        folded = self._operations.stands_for
        return tuple(folded.get(shown, shown) for shown in entry.basis)

    def _current(self, canonical: str, aliases: tuple[str, ...]) -> tuple[Entry, ...]:
        """The decisions that no later one names; one of the same operation can't settle its own clash."""
        line = self._line(canonical, aliases)
        operation = {entry.id: entry.op for entry in line}
        named = {
            shown
            for entry in line
            for shown in self._basis(entry)
            if not entry.op or operation.get(shown) != entry.op
        }
        return tuple(sorted((entry for entry in line if entry.id not in named), key=_age))

    def _settle(self, current: Iterable[Entry]) -> tuple[tuple[Entry, ...], frozenset[Verdict]]:
        """The decisions behind the current ones, and what they come to: a duplicate follows its basis."""
        found: dict[str, Entry] = {}
        stack, seen = list(current), set[str]()
        while stack:
            entry = stack.pop()
            if entry.id in seen:
                continue
            seen.add(entry.id)
            followed = self._followed(entry)
            stack += followed
            if not followed:
                found[entry.id] = entry
        settled = tuple(sorted(found.values(), key=_age))
        return settled, frozenset(_verdict(entry) for entry in settled)

    def _followed(self, entry: Entry) -> list[Entry]:
        if entry.data.get("action") != DUPLICATE:
            return []
        shown = (self.entries.get(identity) for identity in self._basis(entry))
        return [
            found
            for found in shown
            if found is not None
            and found.id not in self.withdrawn
            and found.kind == "decision"
            and not found.expunged
        ]

    def _status(
        self,
        name: str,
        group: tuple[str, ...],
        findings: list[Entry],
        current: tuple[Entry, ...],
        verdicts: frozenset[Verdict],
    ) -> tuple[str, str]:
        hint = self._unknown(name, group)
        if hint:
            return UNKNOWN, hint
        hint = self._contested(name, group, current, verdicts)
        if hint:
            return CONTESTED, hint
        if verdicts:
            (verdict,) = verdicts
            if (
                verdict[0] != DUPLICATE
                or not findings
                or any(not self._is_alias_of(e, group) for e in current)
            ):
                return verdict[0], ""
        return (OPEN if findings else UNSEEN), ""

    @staticmethod
    def _is_alias_of(entry: Entry, group: tuple[str, ...]) -> bool:
        return entry.data.get("subject") in group[1:]

    def _unknown(self, name: str, group: tuple[str, ...]) -> str:
        if self.distrust:
            return self.distrust
        for one in dict.fromkeys((name, *group)):
            if one in self._misread:
                return self._misread[one]
        if self._tainted:
            chain = [
                entry
                for one in group
                for kind in ("finding", "decision")
                for entry in self._by_name[kind].get(one, ())
            ]
            chain += [entry for entry in self.live.get("alias", ()) if set(subjects(entry)) & {name, *group}]
            if not chain or any(entry.id in self._tainted for entry in chain):
                return "An entry that its history names isn't here; run `muniment repair`."
        return ""

    def _contested(
        self, name: str, group: tuple[str, ...], current: tuple[Entry, ...], verdicts: frozenset[Verdict]
    ) -> str:
        if len(self._canonicals.get(name, ())) > 1 or len(self._canonicals.get(group[0], ())) > 1:
            return "It is recorded as an alias of several subjects; undo all but one."
        if len(verdicts) > 1:
            return "Decisions made apart contradict each other; decide it again in view of both."
        standing = {entry.id for entry in current}
        for one in group:
            for clash in self._clashing.get(one, ()):
                if len(standing & {entry.id for entry in clash}) > 1 or self._unsettled(clash, current):
                    return "One operation was recorded with different data; decide it in view of both."
        return ""

    def _unsettled(self, clash: tuple[Entry, ...], current: tuple[Entry, ...]) -> bool:
        """Whether a clash of entries other than decisions precedes no current decision as a whole."""
        if any(entry.kind == "decision" for entry in clash):
            return False
        clashing = {entry.id for entry in clash}
        return not any(clashing <= ancestors(self.entries, [entry.id]) for entry in current)


def _age(entry: Entry) -> tuple[str, str]:
    return time_key(entry.at), entry.id


def _verdict(entry: Entry) -> Verdict:
    target = entry.data.get("target")
    return str(entry.data.get("action")), target if isinstance(target, str) else ""
