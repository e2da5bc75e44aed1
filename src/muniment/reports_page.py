"""`report.md` from `report.json`: one page that people read, with nothing of the report believed (C4, C14).

Pure. Free text stands in untrusted blocks, short values in code spans; the same report always gives the
same bytes, and they are a fixed point of the usual Markdown formatters.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from muniment.findings import SEVERITIES, Finding, Report
from muniment.quoting import code_text, inline_text, untrusted_block

MAX_SKIPPED = 100
"""Most skipped exchanges listed one by one."""
LIMIT_VALUE = 300
_SHOWN_IDS = 20
_PLACE = re.compile(r"@([A-Z]+)@")


def render(report: Report, template: str) -> str:
    """The whole page; `template` is the shipped `report.md`."""
    values = {
        "BOT": code_text(report.bot),
        "DATE": report.date,
        "KIND": report.kind,
        "FACTS": "\n".join(f"- {line}" for line in _facts(report)),
        "FINDINGS": "\n\n".join(_finding(finding) for finding in in_order(report)) or "None.",
        "SKIPPED": _skipped(report.coverage.get("skipped")),
        "WEEKLY": _weekly(report.weekly),
    }
    text = _PLACE.sub(lambda place: values.get(place[1], place[0]), template)
    return re.sub(r"\n{3,}(?=## |\Z)", "\n\n", text).rstrip("\n") + "\n"


def in_order(report: Report) -> list[Finding]:
    """The findings by severity, then confidence, then as reported."""
    return sorted(
        report.findings, key=lambda finding: (SEVERITIES.index(finding.severity), -finding.confidence)
    )


def _facts(report: Report) -> Iterator[str]:
    coverage = report.coverage
    commit = f", commit {code_text(report.commit)}" if report.commit else ""
    yield f"running version: {code_text(report.version) if report.version else 'not stated'}{commit}"
    yield f"window: {_value(report.since or None)} to {_value(report.until or None)}"
    yield f"spaces: {_value(coverage.get('spaces'))}"
    yield f"exchanges: {_value(coverage.get('exchanges'))}, skipped: {_count(coverage.get('skipped'))}"
    if "suppressed" in coverage:
        yield f"suppressed, rejected before: {_count(coverage['suppressed'])}"
    dropped = coverage.get("dropped")
    there = dropped if isinstance(dropped, Mapping) else {}
    yield (
        f"dropped by the review: {_count(there.get('invalid'))} invalid, "
        f"{_count(there.get('badIds'))} with wrong message ids"
    )
    if report.invalid or report.bad_ids:
        yield f"dropped here: {report.invalid} invalid, {report.bad_ids} with wrong message ids"
    cost = coverage.get("cost_usd")
    yield (
        f"spawns: {_value(coverage.get('spawns'))}, wall clock: {_value(coverage.get('wall_seconds'))} s, "
        f"cost: {_value(cost)}" + (" USD" if cost is not None else "")
    )


def _value(value: object) -> str:
    """A value of the coverage as text; what isn't there is said to be not stated, never taken as 0."""
    if value is None:
        return "not stated"
    if isinstance(value, bool | int | float):
        return json.dumps(value)
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True)
    return code_text(text if len(text) <= LIMIT_VALUE else f"{text[:LIMIT_VALUE]}…")


def _count(value: object) -> str:
    return str(len(value)) if isinstance(value, list | dict) else _value(value)


def _finding(finding: Finding) -> str:
    where = "every space" if finding.scope == "global" else "one space"
    ids = ", ".join(str(one) for one in finding.message_ids[:_SHOWN_IDS])
    left = len(finding.message_ids) - _SHOWN_IDS
    more = f" and {left} more" if left > 0 else ""
    facts = [
        f"- fingerprint: {code_text(finding.fingerprint)}",
        f"- {finding.severity} {finding.kind}, layer {code_text(finding.target_layer)}, {where}",
        f"- confidence: {finding.confidence:.2f}",
        f"- seen in {code_text(finding.space)}, messages: {ids or 'none named'}{more}",
    ]
    if finding.cut:
        facts.append(f"- cut for length: {', '.join(finding.cut)}")
    parts = [
        f"### {inline_text(f'{finding.id}: {finding.title}')}",
        "\n".join(facts),
        "What went wrong:",
        untrusted_block(finding.what_went_wrong),
    ]
    if finding.proposed_improvement.strip():
        parts += ["Proposed improvement:", untrusted_block(finding.proposed_improvement)]
    if finding.excerpt.strip():
        parts += ["What was said:", untrusted_block(finding.excerpt)]
    return "\n\n".join(parts)


def _skipped(skipped: object) -> str:
    if not isinstance(skipped, list) or not skipped:
        return ""
    lines = [f"- {_value(item)}" for item in skipped[:MAX_SKIPPED]]
    if len(skipped) > MAX_SKIPPED:
        lines.append(f"- and {len(skipped) - MAX_SKIPPED} more")
    return "\n\n".join(("## Skipped", "\n".join(lines)))


def _weekly(weekly: Mapping[str, Any] | None) -> str:
    if weekly is None:
        return ""
    lines = [
        f"- sample: {_value(weekly.get('sample'))}",
        f"- recall: {_value(weekly.get('recall'))}",
        f"- precision: {_value(weekly.get('precision'))}",
    ]
    clusters = weekly.get("clusters")
    lines += [f"- cluster: {_value(cluster)}" for cluster in clusters] if isinstance(clusters, list) else []
    return "\n\n".join(("## Weekly synthesis", "\n".join(lines)))
