"""A subject as the ledger knows it: the words for its status, and the record (pure)."""

from __future__ import annotations

from dataclasses import dataclass

from muniment.ids import EntryId
from muniment.ledger.entries import Entry

UNSEEN = "unseen"
OPEN = "open"
CONTESTED = "contested"
UNKNOWN = "unknown"
DUPLICATE = "duplicate"
SUPPRESSING = frozenset({"reject", "known-limitation"})


@dataclass(frozen=True, slots=True)
class Subject:
    """One subject as the ledger knows it.

    Attributes:
        subject: The name asked for.
        canonical: The name its decisions are kept under: itself, or what it is an alias of.
        status: `unseen`, `open`, an action word, `contested` or `unknown`.
        decisions: Ids of its current decisions, sorted: the basis of the next one.
        aliases: The other names of the canonical subject, sorted.
        seen: In how many reports it was found, under any of its names.
        findings: Its live findings, under any of its names, oldest first.
        settled: The decisions that give the status (a duplicate follows an earlier one), oldest first.
        hint: Why it reads `contested` or `unknown`, and what to do; else empty.
    """

    subject: str
    canonical: str
    status: str
    decisions: tuple[EntryId, ...] = ()
    aliases: tuple[str, ...] = ()
    seen: int = 0
    findings: tuple[Entry, ...] = ()
    settled: tuple[Entry, ...] = ()
    hint: str = ""

    @property
    def suppressed(self) -> bool:
        """Whether a decision keeps it out of view (C10); new evidence is the caller's question."""
        return self.status in SUPPRESSING
