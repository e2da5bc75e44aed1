"""The rows of a triage batch: what was verified, related, proposed and decided for each finding (C8, C9).

Frozen records only; the Markdown file that people edit is rendered and read by `triage_file.py`, and
`batches.py` loads a batch (the file, its reports, and what the ledger says was applied).

How the parts of a row work together:

- An unverified row proposes no work: its `proposed` is `needs-owner`, and `if_real` holds what Muniment would
  propose once it is verified. To approve such a row is also to verify it, so what is approved is `if_real`;
  `approved(row)` says which. `verified_by_decision` gives the verification that a decision implies.
- A `duplicate`'s target is a ledger subject (a fingerprint), not a path: the finding's own when the ledger
  holds it already, another one when `alias` recognised it. Applying the latter records the alias entry.
- `Decision.channel` and `.verified` as read from the file are claims, `file` and `claimed`, unless a private
  record of this clone (`records.py`) holds exactly this decision; `authority.py` judges what counts.
- Nothing enters the ledger at intake. A batch's `finding` entries, of every row and of `Batch.suppressed`,
  decided or not, are written by `apply` in the batch's commit (`evidence.finding_drafts`) with a stable
  `op`, so that a second apply adds none of them twice. Recurrence counts those entries, and the copies of
  reports that are not in the ledger yet.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
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
    """What Muniment proposes.

    Attributes:
        target: PATH or PATH:LINE; a ledger subject for `duplicate`; a commit's id where landed work has
            no document; empty where the action needs none.
        check: For `revisit`, whether the fix is active is unknown: a pending line instead of a bug (C10).
    """

    action: Action
    target: str
    reason: str
    check: bool = False


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
class Alias:
    """Another fingerprint that a finding was recognised under (C11); scores in parts per thousand."""

    canonical: Fingerprint
    score_pm: int
    threshold_pm: int


@dataclass(frozen=True, slots=True)
class Suppressed:
    """A finding that got no row: rejected before, and nothing new about it (C10)."""

    report: str
    finding: str
    fingerprint: Fingerprint
    reason: str


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
        digest: Over the row as it is shown, all but `edits`, `dismissed` and `decision`; a decision line for
            another digest counts as none.
        if_real: For an unverified row, what is proposed once it is verified as real.
        alias: The ledger subject or earlier row that reports the same problem under another slug (C11).
        line: Where the row starts in its triage file, 1-based; 0 when its section is missing.
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
    if_real: Proposal | None = None
    alias: Alias | None = None
    line: int = 0


@dataclass(frozen=True, slots=True)
class Batch:
    """One triage batch: its id, the reports it covers, and its rows in file order."""

    batch: str
    reports: tuple[str, ...]
    rows: tuple[Row, ...]
    created: str = ""
    suppressed: tuple[Suppressed, ...] = ()

    def row(self, name: str) -> Row | None:
        """The row with that id, or None."""
        return next((row for row in self.rows if row.row == name), None)


TRUST: Mapping[str, str] = {
    "terminal": "terminal",
    "branch": "file, committed upstream by an owner",
    "signature": "file, signed by an owner",
    "none": "flag (unsigned)",
    "claimed": "claimed (does not count)",
}
"""What a decision's `verified` says, for people: not to be mixed up with a finding's `verified: real`."""


def trust(verified: str) -> str:
    """What an approval rests on, in words (C9); the JSON keeps the word of `verified`."""
    return f"approval: {TRUST.get(verified, verified)}"


def approved(row: Row) -> Proposal | None:
    """What approving a row decides: its proposal, or `if_real` while nobody verified it."""
    return row.if_real if row.verify is None and row.if_real else row.proposed


def verified_by_decision(row: Row) -> Verification | None:
    """The row's verification, or the one that its decision implies (CONTRACT: a person's decision verifies).

    Rejecting an unverified claim says that it isn't real; anything else says that it is.
    """
    if row.verify is not None or row.decision is None:
        return row.verify
    real = row.decision.action is not Action.REJECT
    return Verification(
        Verdict.REAL if real else Verdict.NOT_REAL,
        f"Implied by the decision: {row.decision.action.value}.",
        row.decision.by,
        str(row.finding.get("kind", "")),
        str(row.finding.get("scope", "")),
        str(row.finding.get("target_layer", "")),
    )


def row_digest(batch: str, row: Row) -> str:
    """Sixteen hex digits over a row as it is shown to whoever decides (C9)."""
    shown = {
        "batch": batch,
        "row": row.row,
        "fingerprint": row.fingerprint,
        "finding": dict(row.finding),
        "report": row.report,
        "also": [list(pair) for pair in row.also],
        "verify": _plain(row.verify),
        "related": [_plain(line) for line in row.related],
        "proposed": _plain(row.proposed),
        "if_real": _plain(row.if_real),
        "alias": _plain(row.alias),
        "value": dict(row.value or {}),
        "basis": sorted(row.basis),
    }
    text = json.dumps(shown, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("ascii")).hexdigest()[:16]


def _plain(record: object) -> dict[str, Any] | None:
    if record is None:
        return None
    values = asdict(record)  # type: ignore[call-overload]  # a record, of whatever kind
    return {key: value.value if isinstance(value, Enum) else value for key, value in values.items()}
