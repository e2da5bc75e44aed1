"""What can be wrong with a ledger, and how far each fault reaches (G7, pure)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import Enum

from muniment.errors import Problem

REPAIR = "muniment repair"


class Reach(Enum):
    """How far a fault reaches."""

    BROKEN = "broken"
    """The whole file: statuses read `unknown`, writers refuse."""
    INCOMPLETE = "incomplete"
    """An entry that others name is absent: writers refuse, subjects with a whole chain keep their status."""
    ROOM = "room"
    """One room: only that room stops."""
    ENTRY = "entry"
    """One entry's body: the subjects it names read `unknown`; writers go on."""
    NOTE = "note"
    """Worth saying; changes no verdict."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault of a ledger.

    Attributes:
        rule: Stable kebab-case name.
        message: One sentence; holds ids, kinds and counts, never text out of a body.
        reach: How far it reaches.
        entry: The entry's id, or "" where no entry is at fault.
        path: The segment's repository-relative path, or "" when not known yet.
        line: 1-based line in it, 0 when unknown.
        fix: The command that helps.
        room: The room at fault, for `Reach.ROOM`.
        absent: The absent entry's id, for `Reach.INCOMPLETE`.
    """

    rule: str
    message: str
    reach: Reach = Reach.BROKEN
    entry: str = ""
    path: str = ""
    line: int = 0
    fix: str = REPAIR
    room: str = ""
    absent: str = ""

    def at(self, path: str, line: int = 0) -> Fault:
        """The same fault with its place filled in where it had none."""
        return replace(self, path=self.path or path, line=self.line or line)

    def problem(self) -> Problem:
        """The fault as every command prints problems."""
        return Problem(self.path, self.line, self.rule, self.message, self.fix)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the checks say about a set of entries.

    Attributes:
        faults: Everything found, notes included, in the order of the checks.
        expunged: Ids whose body was removed, sorted.
        schema: The file's schema number.
        newer: Whether that number is higher than this version knows: the file is read-only.
    """

    faults: tuple[Fault, ...] = ()
    expunged: tuple[str, ...] = ()
    schema: int = 1
    newer: bool = False

    def reaching(self, *reaches: Reach) -> tuple[Fault, ...]:
        """The faults of these reaches."""
        return tuple(fault for fault in self.faults if fault.reach in reaches)

    @property
    def broken(self) -> bool:
        """Whether nothing may be read from the set."""
        return any(fault.reach is Reach.BROKEN for fault in self.faults)

    @property
    def incomplete(self) -> bool:
        """Whether an entry that others name is absent."""
        return any(fault.reach is Reach.INCOMPLETE for fault in self.faults)

    @property
    def problems(self) -> tuple[Fault, ...]:
        """The faults that make a check fail: all but notes."""
        return tuple(fault for fault in self.faults if fault.reach is not Reach.NOTE)

    @property
    def notes(self) -> tuple[Fault, ...]:
        """The faults that are only worth saying."""
        return self.reaching(Reach.NOTE)

    @property
    def ok(self) -> bool | None:
        """True: whole. False: a problem. None: a newer schema, whose rules this version can't judge."""
        if self.newer:
            return None
        return not self.problems

    def plus(self, faults: Iterable[Fault]) -> Verdict:
        """The verdict with more faults."""
        return replace(self, faults=(*self.faults, *faults))
