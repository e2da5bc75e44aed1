"""A batch's findings as ledger entries, for `apply` to write with the batch's decisions (C10, G6).

Every finding of the batch's reports gets one, decided or not and suppressed ones too, so that recurrence
counts what was seen and not what was decided. The operation key names report and finding: a second
apply of the same batch, on this clone or another, is the same operation.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from muniment.findings import Finding, Report
from muniment.intake.rows import Batch
from muniment.ledger.store import Draft


def finding_drafts(batch: Batch, reports: Mapping[str, Report]) -> tuple[Draft, ...]:
    """One draft per finding of the batch's reports, in the order of the reports and their findings.

    Args:
        batch: The batch.
        reports: Report path → the report; one that can't be read is left out.
    """
    return tuple(
        Draft("finding", finding_data(path, reports[path], finding), op=f"finding:{path}#{finding.id}")
        for path in batch.reports
        if path in reports
        for finding in reports[path].findings
    )


def finding_data(path: str, report: Report, finding: Finding) -> dict[str, Any]:
    """The body of a `finding` entry; fractions are parts per thousand, text stays in the report."""
    return {
        "subject": str(finding.fingerprint),
        "report": path,
        "finding": finding.id,
        "bot": report.bot,
        "version": report.version,
        "commit": report.commit,
        "date": report.date,
        "severity": finding.severity,
        "confidence_pm": round(finding.confidence * 1000),
        "space": finding.space,
        "kind": finding.kind,
        "scope": finding.scope,
        "target_layer": finding.target_layer,
        "title": finding.title,
    }
