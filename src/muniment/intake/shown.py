"""Rows and batches as JSON values, in the contract's keys (CONTRACT, "Reports, intake, triage, apply")."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from muniment.authority import Standing
from muniment.intake.batches import Loaded
from muniment.intake.rows import Decision, Proposal, Row, Verification


def row_json(row: Row, *, applied: bool = False, standing: Standing | None = None) -> dict[str, Any]:
    """One row; `decision.counts` and `decision.why` say whether it would be applied here, when judged."""
    decision = _decision(row.decision)
    if decision is not None and standing is not None:
        decision |= {"counts": standing.counts, "why": standing.why}
    return {
        "row": row.row,
        "fingerprint": str(row.fingerprint),
        "finding": dict(row.finding),
        "verify": _verify(row.verify),
        "related": [
            {
                "path": line.path,
                "line": line.line,
                "stage": line.stage,
                "verdict": line.verdict,
                "title": line.title,
                "type": line.type,
                "status": line.status,
                "commit": line.commit,
            }
            for line in row.related
        ],
        "proposed": _proposal(row.proposed),
        "decision": decision,
        "value": dict(row.value or {}),
        "digest": row.digest,
        "if_real": _proposal(row.if_real),
        "alias": None
        if row.alias is None
        else {
            "canonical": str(row.alias.canonical),
            "score": row.alias.score_pm / 1000,
            "threshold": row.alias.threshold_pm / 1000,
        },
        "report": row.report,
        "also": [{"report": report, "finding": native} for report, native in row.also],
        "basis": list(row.basis),
        "edits": dict(row.edits or {}),
        "dismissed": row.dismissed,
        "applied": applied,
    }


def batch_json(
    loaded: Loaded, applied: Collection[str], standings: Mapping[str, Standing] | None = None
) -> dict[str, Any]:
    """A whole batch, as `triage show --json` prints it."""
    judged = standings or {}
    return {
        "batch": loaded.batch.batch,
        "triage": loaded.path,
        "created": loaded.batch.created,
        "reports": list(loaded.batch.reports),
        "rows": [
            row_json(row, applied=row.row in applied, standing=judged.get(row.row))
            for row in loaded.batch.rows
        ],
        "suppressed": [
            {
                "fingerprint": str(item.fingerprint),
                "report": item.report,
                "finding": item.finding,
                "reason": item.reason,
            }
            for item in loaded.batch.suppressed
        ],
        "problems": [
            {
                "path": problem.path,
                "line": problem.line,
                "rule": problem.rule,
                "message": problem.message,
                "fix": problem.fix,
            }
            for problem in loaded.problems
        ],
    }


def _verify(verify: Verification | None) -> dict[str, str] | None:
    if verify is None:
        return None
    return {
        "verdict": verify.verdict.value,
        "reason": verify.reason,
        "by": verify.by,
        "kind": verify.kind,
        "scope": verify.scope,
        "target_layer": verify.target_layer,
    }


def _proposal(proposal: Proposal | None) -> dict[str, Any] | None:
    if proposal is None:
        return None
    return {
        "action": proposal.action.value,
        "target": proposal.target,
        "reason": proposal.reason,
        "check": proposal.check,
    }


def _decision(decision: Decision | None) -> dict[str, Any] | None:
    if decision is None:
        return None
    return {
        "action": decision.action.value,
        "target": decision.target,
        "reason": decision.reason,
        "by": decision.by,
        "channel": decision.channel,
        "verified": decision.verified,
    }
