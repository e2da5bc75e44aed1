"""How triage looks in a terminal: one row, a whole batch, what an act changed (C8, C14)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from muniment.cli.output import emit, emit_json, problem_lines, safe, say, short_hashes, style
from muniment.intake.rows import Proposal, Row, Verdict, trust
from muniment.intake.shown import batch_json, row_json

if TYPE_CHECKING:
    from muniment.authority import Standing
    from muniment.intake.batches import Seen
    from muniment.intake.triage import Done

VERDICTS = {Verdict.REAL: "good", Verdict.NOT_REAL: "bad", Verdict.UNSURE: "warn"}
LIMIT_QUOTE = 12
"""Most lines of a quotation shown; the file has them all."""


def show(seen: Seen, *, as_json: bool) -> None:
    """Print a whole batch."""
    if as_json:
        emit_json(batch_json(seen.loaded, seen.applied, seen.standings))
        return
    emit(_batch_lines(seen))
    for line in problem_lines(seen.loaded.problems):
        say(line)


def report(done: Done, *, as_json: bool) -> None:
    """Print what an act changed."""
    for note in done.notes:
        say(f"note: {safe(note)}")
    rows = [row for row in done.loaded.batch.rows if row.row in done.rows]
    if as_json:
        emit_json(
            {
                "batch": done.loaded.batch.batch,
                "triage": done.loaded.path,
                "rows": [row_json(row) for row in rows],
                "notes": list(done.notes),
            }
        )
        return
    emit(short(row) for row in rows)
    if not rows:
        say("Nothing changed.")


def short(row: Row) -> str:
    """One row with what it is now, on one line."""
    state = _state(row)
    return f"row {row.row}: {row.fingerprint}: {state}"


def _state(row: Row) -> str:
    if row.dismissed:
        return "dismissed"
    if row.decision:
        target = f" → {safe(short_hashes(row.decision.target))}" if row.decision.target else ""
        return f"{style(row.decision.action.value, 'strong')}{target} ({trust(row.decision.verified)})"
    return f"proposed {_proposal(row.proposed)}" if row.proposed else "undecided"


def _batch_lines(seen: Seen) -> Iterator[str]:
    loaded = seen.loaded
    yield f"Batch {style(loaded.batch.batch, 'strong')}, {style(safe(loaded.path), 'path')}"
    for row in loaded.batch.rows:
        yield ""
        yield from row_lines(row, applied=row.row in seen.applied, standing=seen.standings.get(row.row))
    if loaded.batch.suppressed:
        yield ""
        yield f"Suppressed, rejected before and nothing new: {len(loaded.batch.suppressed)}"


def row_lines(row: Row, *, applied: bool = False, standing: Standing | None = None) -> Iterator[str]:
    """One row for a terminal, without quotations."""
    mark = style(" (applied)", "good") if applied else ""
    yield f"{style(f'Row {row.row}', 'strong')}  {row.fingerprint}{mark}"
    value = row.value or {}
    points = (f"{key} {_point(point)}" for key, point in value.items() if point not in ("", []))
    yield f"  {safe(' · '.join(points))}"
    yield f"  verified: {_verified(row)}"
    for line in row.related:
        where = f"{line.path}:{line.line}" if line.line else line.path or line.commit[:10]
        words = f"{line.verdict} · {line.status} · {line.stage}"
        yield f"  {style(words, 'dim')}  {style(safe(where), 'path')}  {safe(line.title)}"
    if row.proposed:
        yield f"  proposed: {_proposal(row.proposed)}"
    if row.if_real:
        yield f"  if it is real: {_proposal(row.if_real)}"
    if row.dismissed or row.decision:
        yield f"  decision: {_state(row)}"
        if row.decision and row.decision.reason:
            yield f"    {safe(row.decision.reason)}"
    if standing is not None and not standing.counts and not applied:
        why = f"{safe(standing.why)} {safe(standing.settle)}".rstrip()
        yield f"    {style('does not count yet:', 'warn')} {why}"


def quote_lines(row: Row) -> Iterator[str]:
    """What the judge claims and what was said, as quotations that can do nothing to a terminal."""
    parts = (
        ("the judge's claim", row.finding["what_went_wrong"]),
        ("its proposal", row.finding["proposed_improvement"]),
        (f"said in {row.finding['space']}", row.finding["excerpt"]),
    )
    for title, text in parts:
        if not str(text).strip():
            continue
        yield f"  {style(safe(str(title)), 'dim')}"
        lines = safe(str(text), lines=True).splitlines()
        for line in lines[:LIMIT_QUOTE]:
            yield f"  {style('│', 'dim')} {line}"
        if len(lines) > LIMIT_QUOTE:
            yield f"  {style(f'│ … {len(lines) - LIMIT_QUOTE} more lines in the triage file', 'dim')}"


def _point(point: object) -> str:
    return ", ".join(str(one) for one in point) if isinstance(point, list) else str(point)


def _verified(row: Row) -> str:
    if row.verify is None:
        return style("not yet", "warn")
    word = style(row.verify.verdict.value, VERDICTS[row.verify.verdict])
    return f"{word} by {safe(row.verify.by)}: {safe(row.verify.reason)}"


def _proposal(proposal: Proposal) -> str:
    target = f" → {style(safe(short_hashes(proposal.target)), 'path')}" if proposal.target else ""
    check = " as a pending check" if proposal.check else ""
    return f"{style(proposal.action.value, 'strong')}{check}{target}  {safe(short_hashes(proposal.reason))}"
