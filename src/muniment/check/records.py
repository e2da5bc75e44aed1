"""Rules about records: the ledger as a set and against history, reports, triage files, the state."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Iterator

from muniment.check.context import Context
from muniment.check.findings import Finding, Note, Unknown
from muniment.check.paths import Kind
from muniment.errors import MunimentError, Problem
from muniment.git.repo import Oid

_LEDGER = (Kind.LEDGER, Kind.SEALED)


def ledger(context: Context) -> Iterator[Finding]:
    """The ledger is whole: schema, ids, links, aliases, expunged bodies; checked as a set (G7)."""
    if not context.wants_any(*_LEDGER):
        return
    from muniment.ledger.faults import Reach  # noqa: PLC0415 - a commit without a ledger needs none of it

    verdict = context.ledger.verdict
    path = context.ws.config.ledger_path
    if verdict.newer:
        why = f"{path} has schema {verdict.schema}, newer than this Muniment knows."
        yield Unknown("ledger", why, "pip install --upgrade muniment")
    for fault in verdict.faults:
        if fault.reach is Reach.NOTE:
            yield Note(fault.path or path, fault.line, fault.rule, fault.message)
        else:
            yield fault.at(path).problem()


def ledger_layout(context: Context) -> Iterator[Finding]:
    """The ledger has Muniment's own layout: one entry a line, sorted by id, so that merges stay small."""
    if not context.wants_any(*_LEDGER):
        return
    for placed in context.ledger.segments:
        segment = placed.segment
        if placed.record is None and not segment.laid_out and not segment.faults and not segment.newer:
            message = "Its layout isn't Muniment's: one entry a line, sorted by id."
            yield Problem(placed.path, 0, "layout", message, "muniment check --fix")


def ledger_history(context: Context) -> Iterator[Finding]:
    """Nothing that was ever recorded is missing: append-only against the base and everything since (G6)."""
    if context.scope.tip is None:
        return
    if not context.wants_any(*_LEDGER):
        if context.scope.changed is None:  # no ledger here: one that HEAD's history had is still missed
            yield from _own_history(context, context.scope.tip)
        return
    from muniment.ledger.history import CutOff, removed  # noqa: PLC0415 - as above
    from muniment.ledger.store import Ledger  # noqa: PLC0415 - as above

    path = context.ws.config.ledger_path
    data = context.record(path)
    if data is None and context.base is not None and path in context.base.entries:
        message = "The ledger is gone, and with it every decision it recorded."
        yield Problem(path, 0, "missing", message, f"git checkout HEAD -- {shlex.quote(path)}")
        return
    held = Ledger(path, context.ledger, data)
    told: set[str] = set()
    cut: set[str] = set()
    for against, tip in dict.fromkeys(_histories(context, context.scope.tip)):
        try:
            for fault in removed(context.ws, held, against, tip):
                told.add(fault.entry)
                yield fault.problem()
        except CutOff as error:
            cut.add(error.settle)
            yield Unknown("removed", error.message, error.settle)
    for found in _own_history(context, context.scope.tip, told):
        if not (isinstance(found, Unknown) and found.settle in cut):
            yield found


def _own_history(context: Context, tip: Oid, told: Collection[str] = ()) -> Iterator[Finding]:
    """Entries that commits of HEAD's own history hold, however far the upstream is; a range names its own."""
    if context.scope.mode == "range":
        return
    from muniment.ledger import past  # noqa: PLC0415 - as above

    found = past.search(context.ws, tip=tip, limit=None)
    if found.unknown and context.kinds:
        settle = "git fetch --unshallow" if context.ws.repo.is_shallow() else "git fetch --refetch"
        yield Unknown("removed", found.unknown, settle)
    if not found.lost:
        return
    for fault in past.lost(found, context.ledger.entries, context.ws.config.ledger_path):
        if fault.entry not in told:
            yield fault.problem()


def _histories(context: Context, tip: Oid) -> Iterator[tuple[str, Oid]]:
    """Start and end of each stretch of history that the ledger must hold.

    From the range's start, or the upstream default branch, else HEAD itself; and during a merge also from
    where the other side left.
    """
    if context.scope.mode == "range":
        yield context.scope.named[0], tip
        return
    yield context.upstream.ref or str(tip), tip  # that nothing decides it is said by the rule `upstream`
    merging = context.ws.repo.resolve("MERGE_HEAD")
    if merging:
        yield str(tip), merging


def reports(context: Context) -> Iterator[Finding]:
    """Every report follows the closed schema; what intake dropped of one is a note."""
    found = tuple(context.paths(Kind.REPORT))
    if not found:
        return
    from muniment.findings import parse_report  # noqa: PLC0415 - only where there are reports

    for path in found:
        _, problems = parse_report(context.read(path), path, context.ws.config.target_layers)
        for problem in problems:
            if problem.rule == "report":
                yield problem
            elif problem.rule != "cut":
                yield Note(path, problem.line, problem.rule, f"{problem.message} Intake drops such findings.")


def triage(context: Context) -> Iterator[Finding]:
    """Every triage file can be read: rows, decisions in fixed lines, one decision a row (C9)."""
    for path in context.paths(Kind.TRIAGE):
        text = context.text(path)
        unfinished = any(rule == "conflict-markers" for _, rule, _, _ in context.faults(path))
        if text is not None and not unfinished:
            yield from _triage_problems(context, path, text)


def _triage_problems(context: Context, path: str, text: str) -> Iterator[Finding]:
    """With the reports beside it where they are on disk; else what the file shows by itself."""
    from muniment.intake import batches, triage_file, triage_rows  # noqa: PLC0415 - only with triage files

    if context.scope.mode in {"all", "paths"}:
        try:
            yield from batches.read(context.ws, path, text.encode()).problems
        except MunimentError as error:
            yield Problem(path, 0, "triage", error.message, error.hint)
        return
    file, problems = triage_file.parse(text, path)
    yield from problems
    yield from triage_rows.read_rows(file, path).problems
