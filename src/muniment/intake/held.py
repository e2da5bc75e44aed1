"""Decisions that a weaker channel may not replace without being told to (C9).

A person's decision outranks a flag's: one made at a terminal, one that an owner committed, and one that
somebody typed into the file (it counts for nothing yet, but it is a person's edit). A flag outranks nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

from muniment import authority
from muniment.authority import FLAG, TERMINAL, Standing
from muniment.errors import Refused
from muniment.intake import records
from muniment.intake.batches import Loaded
from muniment.intake.records import Record
from muniment.intake.rows import Row
from muniment.workspace import Workspace

REPLACE = "--replace"
"""The option by which a flag replaces a person's decision knowingly."""


def is_same(row: Row, decided: Row, *, any_reason: bool) -> bool:
    """Whether a new decision says what the row's own says already; `any_reason`: it gave none of its own."""
    old, new = row.decision, decided.decision
    if old is None or new is None:
        return row.dismissed and decided.dismissed
    alike = (old.action, old.target, row.edits or {}) == (new.action, new.target, decided.edits or {})
    return alike and (any_reason or old.reason == new.reason)


@dataclass
class Holders:
    """Who holds the decisions of one triage file, looked at only when one would be replaced.

    Attributes:
        loaded: The batch as it stands, before the act.
    """

    ws: Workspace
    loaded: Loaded

    @cached_property
    def _judge(self) -> Callable[[Row], Standing]:
        rules = authority.rules(self.ws)
        return authority.Judge(self.ws, rules, self.loaded.path, self.loaded.data).standing

    @cached_property
    def _records(self) -> Mapping[str, Record]:
        return records.load(self.ws, self.loaded.batch.batch)

    def said(self, row: Row) -> str:
        """Who decided a row how and when, in words, if a flag may not replace that; else empty."""
        if row.decision is None:
            return self._dismissed(row) if row.dismissed else ""
        standing = self._judge(row)
        if standing.channel == FLAG:
            return ""
        what = row.decision.action.value
        if row.decision.target:
            what += f" → {row.decision.target}"
        by = standing.by or row.decision.by
        if standing.channel == TERMINAL:
            return f"{what}, decided at a terminal{_by(by)}{self._when(row)}"
        if standing.counts:
            where = f" (commit {standing.commit}, {standing.at})" if standing.commit else ""
            return f"{what}, decided in the file{_by(by)} and committed upstream{where}"
        return f"{what}, written into the file{_by(by)} ({self.loaded.path}:{row.line})"

    def stands(self, row: Row) -> bool:
        """Whether a person's decision is there that counts by itself, so that a flag adds nothing to it."""
        if row.decision is None:
            return bool(self.said(row))
        standing = self._judge(row)
        return standing.counts and standing.channel != FLAG

    def _dismissed(self, row: Row) -> str:
        record = self._records.get(row.row)
        known = record is not None and record.reading == records.reading(row)
        if record is not None and known:
            by = f"dismissed at a terminal{_by(record.by)}{self._when(row)}"
            return "" if record.channel == FLAG else by
        return f"dismissed in the file ({self.loaded.path}:{row.line})"

    def _when(self, row: Row) -> str:
        record = self._records.get(row.row)
        return f" on {record.at}" if record else ""

    def require_replaceable(self, row: Row, channel: str, *, replacing: bool) -> str:
        """A note about what is replaced, empty when that is nothing of a person's.

        Raises:
            Refused: A flag would replace a person's decision, and nobody said `--replace`.
        """
        said = "" if channel == TERMINAL else self.said(row)
        if said and not replacing:
            raise Refused(
                f"Row {row.row} is decided already: {said}. A flag doesn't replace a person's decision; "
                "nothing was written.",
                f"To replace it knowingly, add {REPLACE}; or decide at a terminal: muniment triage",
                code="decided-by-a-person",
            )
        return f"Row {row.row}: replaced what was {said}." if said else ""


def _by(name: str) -> str:
    return f" by {name}" if name else ""
