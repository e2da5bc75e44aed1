"""The rows of a triage batch: what was verified, related, proposed and decided for each finding (C8, C9).

Frozen records only; the Markdown file that people edit is rendered and read by `triage_file.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

from muniment.ids import EntryId, Fingerprint


class Action(Enum):
    """What is done with a finding (C8); the value is the word in files and flags."""

    REJECT = "reject"
    KNOWN_LIMITATION = "known-limitation"
    DUPLICATE = "duplicate"
    ATTACH = "attach"
    FIXED_NOT_DEPLOYED = "fixed-not-deployed"
    REVISIT = "revisit"
    NEW = "new"
    NEEDS_OWNER = "needs-owner"


class Verdict(Enum):
    """Whether a finding is real, as somebody verified it (C8)."""

    REAL = "real"
    NOT_REAL = "not-real"
    UNSURE = "unsure"


@dataclass(frozen=True, slots=True)
class Verification:
    """A verification and the kind, scope and layer re-derived with it."""

    verdict: Verdict
    reason: str
    by: str
    kind: str = ""
    scope: str = ""
    target_layer: str = ""


@dataclass(frozen=True, slots=True)
class RelatedLine:
    """One related place as a row shows it; `commit` is the commit that landed it, where known."""

    path: str
    line: int
    stage: str
    verdict: str
    title: str = ""
    type: str = "doc"
    status: str = ""
    commit: str = ""


@dataclass(frozen=True, slots=True)
class Proposal:
    """What Muniment proposes; `target` is PATH or PATH:LINE, empty where the action needs none."""

    action: Action
    target: str
    reason: str


@dataclass(frozen=True, slots=True)
class Decision:
    """What a person decided, through which channel, and how far that is verified (C9).

    Attributes:
        channel: `terminal`, `file` or `flag`.
        verified: `terminal`, `branch`, `signature`, `none`, or `claimed` (shown, counts for nothing).
    """

    action: Action
    target: str
    reason: str
    by: str
    channel: str
    verified: str


@dataclass(frozen=True, slots=True)
class Row:
    """One finding of a batch.

    Attributes:
        row: The row's id within the batch, stable for life (`1`, `2`, …).
        finding: The finding as in its report, plus the report it came from.
        also: Further (report path, finding id) pairs that the row stands for.
        value: The value points shown: severity, recurrence, who, breadth, cost of the layer, roadmap fit.
        basis: Ids of the subject's current decisions as shown to whoever decides (G6).
        edits: Text or layer changes that the person made (C9 edit).
        dismissed: Left undecided on purpose; suppresses nothing.
        digest: Over everything above but the decision; a decision line for another digest counts as none.
    """

    row: str
    fingerprint: Fingerprint
    finding: Mapping[str, Any]
    report: str
    also: tuple[tuple[str, str], ...] = ()
    verify: Verification | None = None
    related: tuple[RelatedLine, ...] = ()
    proposed: Proposal | None = None
    value: Mapping[str, Any] | None = None
    basis: tuple[EntryId, ...] = ()
    edits: Mapping[str, str] | None = None
    dismissed: bool = False
    decision: Decision | None = None
    digest: str = ""


@dataclass(frozen=True, slots=True)
class Batch:
    """One triage batch: its id, the reports it covers, and its rows in file order."""

    batch: str
    reports: tuple[str, ...]
    rows: tuple[Row, ...]
    created: str = ""
