"""What of a batch still waits, and for what: one answer for triage, apply, undo and status (pure)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from muniment.intake import acts

if TYPE_CHECKING:
    from muniment.authority import Standing
    from muniment.intake.rows import Row
    from muniment.ledger.store import Ledger


@dataclass(frozen=True, slots=True)
class Waiting:
    """The rows of a batch that are neither in force nor dismissed, by what each waits for.

    Attributes:
        undecided: Nobody has decided them; a finding whose row can't be read is named `(ID)`.
        unconfirmed: The triage file decides them, but the decision doesn't count here yet (C9).
        decided: Decided, and not applied yet.
        undone: Applied once, undone since, and still decided in the triage file.
    """

    undecided: tuple[str, ...] = ()
    unconfirmed: tuple[str, ...] = ()
    decided: tuple[str, ...] = ()
    undone: tuple[str, ...] = ()

    @property
    def to_decide(self) -> tuple[str, ...]:
        """What `muniment triage` asks about."""
        return (*self.undecided, *self.unconfirmed)

    @property
    def to_apply(self) -> tuple[str, ...]:
        """What `muniment apply` would take."""
        return (*self.decided, *self.undone)

    @property
    def names(self) -> tuple[str, ...]:
        """Everything that waits."""
        return (*self.to_decide, *self.to_apply)

    def counts(self) -> Mapping[str, int]:
        """How many rows wait for what."""
        return {
            "undecided": len(self.undecided),
            "unconfirmed": len(self.unconfirmed),
            "decided": len(self.decided),
            "undone": len(self.undone),
        }


NOTHING = Waiting()
"""What waits in a batch that is done."""


def waiting(
    ledger: Ledger,
    batch: str,
    rows: Iterable[Row],
    *,
    missing: Iterable[str] = (),
    standings: Mapping[str, Standing] | None = None,
) -> Waiting:
    """Sort the rows of a batch by what they wait for.

    Args:
        ledger: What was applied, and what was undone since.
        batch: The batch's id.
        rows: Its rows.
        missing: Ids of findings that have no row.
        standings: How decisions count here, by row; without, or for a row without, a decision counts.
    """
    applied = {str(entry.data.get("row")) for entry in acts.decisions_of(ledger, batch)}
    undone = _undone(ledger, batch)
    found: dict[str, list[str]] = {"undecided": [], "unconfirmed": [], "decided": [], "undone": []}
    for row in rows:
        if row.row in applied or row.dismissed:
            continue
        standing = (standings or {}).get(row.row)
        if row.decision is None:
            word = "undecided"
        elif standing is not None and not standing.counts:
            word = "unconfirmed"
        else:
            word = "undone" if row.row in undone else "decided"
        found[word].append(row.row)
    found["undecided"] += [f"({one})" for one in missing]
    return Waiting(*(tuple(found[word]) for word in ("undecided", "unconfirmed", "decided", "undone")))


def _undone(ledger: Ledger, batch: str) -> frozenset[str]:
    """The rows of a batch that a decision was recorded for which an undo took back."""
    gone = ledger.view.withdrawn
    return frozenset(
        str(entry.data.get("row"))
        for entry in ledger.entries
        if entry.kind == "decision" and entry.id in gone and entry.data.get("batch") == batch
    )


def said(found: Waiting) -> str:
    """What waits, in words: `2 rows undecided, 1 decided and not applied`; empty when nothing does."""
    parts = (
        (len(found.undecided), "undecided"),
        (len(found.unconfirmed), "decided in the file, not confirmed"),
        (len(found.decided), "decided, not applied"),
        (len(found.undone), "undone, still decided"),
    )
    told = [f"{count} {word}" for count, word in parts if count]
    return ", ".join(told)


def steps(found: Waiting, batch: str = "") -> Iterator[tuple[str, str]]:
    """The commands that go on with a batch, and why; `batch` is named if they wouldn't choose it."""
    option = f" --batch {batch}" if batch else ""
    if found.to_decide:
        yield f"muniment triage{option}", f"{_rows(len(found.to_decide))} for a decision"
    if found.to_apply:
        undone = len(found.undone)
        why = f"{_rows(len(found.to_apply))} to be applied"
        if undone == len(found.to_apply):
            why += ": undone, and still decided"
        elif undone:
            why += f", {undone} of them undone and still decided"
        yield f"muniment apply{option}", why
    if found.undone and not found.to_decide:
        yield f"muniment triage{option}", "decide otherwise what was undone"


def _rows(count: int) -> str:
    return "1 row waits" if count == 1 else f"{count} rows wait"
