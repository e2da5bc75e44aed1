"""What applying a batch would do, from files, ledger and rules, without writing anything (C9, C10).

The same function serves preview and confirm: what it read and what it would write are the parts of the
proposal that a token binds, so a confirm that derives the same proposal does what the preview showed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from muniment import approval, authority, targets
from muniment.approval import Proposal
from muniment.authority import Standing
from muniment.errors import CheckFailed, Problem
from muniment.files import FileChange, read_bytes
from muniment.intake import acts, batches, effects, landed, situation
from muniment.intake.desk import Change, Desk, RowRefused
from muniment.intake.effects import Applied, Context
from muniment.intake.evidence import finding_drafts
from muniment.intake.rows import Action, Decision, Row, verified_by_decision
from muniment.intake.situation import Situation
from muniment.ledger import store
from muniment.ledger.describe import made_by
from muniment.ledger.store import Appended, Ledger
from muniment.workspace import Workspace


@dataclass(frozen=True, slots=True)
class RefusedRow:
    """A decided row that is not applied, and why."""

    row: str
    fingerprint: str
    reason: str
    hint: str = ""


@dataclass(frozen=True, slots=True)
class AppliedRow:
    """A row that is applied, as people and programs see it."""

    row: str
    fingerprint: str
    action: str
    target: str
    verified: str
    paths: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Plan:
    """Everything that applying a batch would do.

    Attributes:
        batch: The batch's id.
        rows: The rows that are applied, in file order.
        refused: Decided rows that are not, with reasons.
        changes: Every file of the commit with its final bytes.
        log: What is done to each file, in words.
        before: Path → a document's bytes now, for showing the difference; None for a new one.
        entry: The id of the ledger's `applied` entry.
        needs_terminal: Whether a row counts only because a person confirms it at a terminal.
        may_be_dirty: Targets whose uncommitted content was itself read into the plan.
        seen: Path → the bytes that the plan was made from; a file that differs when it is written is refused.
        ignored: What is wrong in the triage file and counts as no decision.
        left: Rows that nobody has decided, which stay as they are.
        proposal: What a token binds.
    """

    batch: str
    rows: tuple[AppliedRow, ...]
    refused: tuple[RefusedRow, ...]
    changes: tuple[FileChange, ...]
    log: tuple[Change, ...]
    before: Mapping[str, bytes | None]
    entry: str
    needs_terminal: bool
    may_be_dirty: frozenset[str]
    seen: Mapping[str, bytes | None]
    ignored: tuple[Problem, ...]
    left: tuple[str, ...]
    proposal: Proposal


def derive(ws: Workspace, name: str | None, *, at: str, terminal: bool, include_dirty: Iterable[str]) -> Plan:
    """Work out what applying a batch would do now.

    Args:
        ws: The repository.
        name: The batch's id; None for the one that waits.
        at: The frozen time of new entries, RFC 3339.
        terminal: Whether a person at a terminal confirms, which makes decision lines of a file count.
        include_dirty: Paths whose uncommitted changes the person takes along.

    Raises:
        CheckFailed: No approved row, or every one is refused.
        Refused: The ledger is not whole, or a target has uncommitted changes.
        Unavailable, UsageProblem: There is no such batch, or a file can't be read.
    """
    here = situation.read(ws, name)
    decided, refused, confirming = _decided(here, terminal=terminal)
    desk, applied, more = _effects(decided, Desk(here.reader.load), here.context())
    refused = (*refused, *more)
    if not applied:
        raise _nothing(here, refused)
    recorded = _record(here, applied, desk, at)
    changes = _changes(here, desk, recorded)
    may_be_dirty, seen = frozenset({here.loaded.path, here.ledger.path}), here.seen()
    targets.require_clean(ws, [change.path for change in changes], {*include_dirty, *may_be_dirty})
    return Plan(
        batch=here.batch,
        rows=tuple(_shown(one) for one in applied),
        refused=refused,
        changes=changes,
        log=_log(desk, changes, recorded),
        before={path: desk.found[path] for path in desk.changed()},
        entry=recorded.entries[-1].id,
        needs_terminal=confirming,
        may_be_dirty=may_be_dirty,
        seen={change.path: seen.get(change.path, change.data) for change in changes},
        ignored=here.loaded.problems,
        left=batches.waiting(here.loaded, here.ledger).undecided,
        proposal=_proposal(here, applied, refused, changes),
    )


def _decided(here: Situation, *, terminal: bool) -> tuple[list[Row], tuple[RefusedRow, ...], bool]:
    """The rows whose decisions count and are not applied yet; the others with reasons.

    The third part says whether a row counts only because a person confirms it at a terminal.
    """
    rules = here.rules
    judge = authority.Judge(here.ws, rules, here.loaded.path, here.loaded.data)
    at_terminal = authority.channel_here(rules, at_terminal=terminal) == authority.TERMINAL
    decided: list[Row] = []
    refused: list[RefusedRow] = []
    subjects: dict[str, str] = {}
    confirming = False
    for row in here.loaded.batch.rows:
        if row.decision is None or row.dismissed or _is_applied(here, row, row.decision):
            continue
        standing = judge.standing(row)
        if not standing.counts and standing.confirmable and at_terminal:
            standing = authority.of_channel(rules, authority.TERMINAL, here.ws.actor)
            confirming = True
        stale = _stale(here.ledger, row, subjects)
        if not standing.counts:
            refused.append(RefusedRow(row.row, row.fingerprint, standing.why, standing.settle))
        elif stale is not None:
            refused.append(stale)
        else:
            decided.append(_as_counted(row, row.decision, standing))
            subjects.setdefault(here.ledger.view.canonical(row.fingerprint), row.row)
    return decided, tuple(refused), confirming


def _as_counted(row: Row, decision: Decision, standing: Standing) -> Row:
    """The row with its decision as it will be recorded, and the verification that it implies."""
    counted = replace(
        decision,
        by=standing.by or decision.by,
        channel=standing.channel,
        verified=standing.verified,
    )
    decided = replace(row, decision=counted)
    return replace(decided, verify=verified_by_decision(decided))


def _is_applied(here: Situation, row: Row, decision: Decision) -> bool:
    """Whether just this decision of this row is in force in the ledger."""
    return any(
        entry.data.get("row") == row.row
        and entry.data.get("action") == decision.action.value
        and entry.data.get("reason") == decision.reason
        and (decision.action is Action.DUPLICATE or entry.data.get("target") == decision.target)
        for entry in acts.decisions_of(here.ledger, here.batch)
    )


def _stale(ledger: Ledger, row: Row, subjects: Mapping[str, str]) -> RefusedRow | None:
    """Why a row is refused for what the ledger holds now, or for an earlier row; None when it is fine."""
    shown = {*ledger.view.current(row.fingerprint)}
    if row.alias is not None:
        shown.update(ledger.view.current(row.alias.canonical))
    if set(row.basis) != shown:
        return RefusedRow(
            row.row,
            row.fingerprint,
            "The ledger's decisions on it have changed since this row was shown.",
            "muniment triage refresh, then decide it again",
        )
    earlier = subjects.get(ledger.view.canonical(row.fingerprint))
    duplicate = row.decision is not None and row.decision.action is Action.DUPLICATE
    if earlier is not None and not duplicate:
        return RefusedRow(
            row.row, row.fingerprint, f"Row {earlier} decides the same subject.", "Decide it as a duplicate."
        )
    return None


def _effects(
    decided: Sequence[Row], desk: Desk, context: Context
) -> tuple[Desk, list[Applied], tuple[RefusedRow, ...]]:
    """Each row's effects on top of those before it; a refused row leaves nothing behind."""
    applied: list[Applied] = []
    refused: list[RefusedRow] = []
    for row in decided:
        try:
            one = effects.apply_row(row, desk, context)
        except RowRefused as error:
            refused.append(RefusedRow(row.row, row.fingerprint, error.message, error.hint))
        else:
            desk = one.desk
            applied.append(one)
    return desk, applied, tuple(refused)


def _record(here: Situation, applied: Sequence[Applied], desk: Desk, at: str) -> Appended:
    """The ledger with the batch's findings and decisions, and an `applied` entry that lists them, last.

    Duplicates come last of the decisions, so that they follow what the batch's other rows decide.
    """
    ordered = sorted(applied, key=lambda one: one.decision.action is Action.DUPLICATE)
    drafts = [
        *finding_drafts(here.loaded.batch, here.reports),
        *(draft for one in ordered for draft in one.drafts),
    ]
    appended = store.append(here.ws, here.ledger, [replace(draft, at=at) for draft in drafts])
    fresh = [entry.id for entry in appended.entries if entry.id not in here.ledger.whole.entries]
    changes = [
        {"path": path, "old": _blob(here.ws, path, desk.found[path]), "new": _blob(here.ws, path, new)}
        for path, new in desk.changed().items()
    ]
    return acts.record(here.ws, appended.ledger, here.batch, entries=fresh, changes=changes, at=at)


def _blob(ws: Workspace, path: str, data: bytes | None) -> str | None:
    return None if data is None else ws.repo.clean(path, data)


def _changes(here: Situation, desk: Desk, recorded: Appended) -> tuple[FileChange, ...]:
    """Every file of the commit: documents, the ledger, the batch's reports and its triage file."""
    files = dict(desk.changed())
    for report in here.loaded.batch.reports:
        for path in (report, f"{report.removesuffix('.json')}.md"):
            place = here.ws.path(path)
            if path not in files and place.is_file():
                files[path] = read_bytes(place)
    files[here.loaded.path] = here.loaded.data
    files |= {change.path: change.data for change in recorded.changes if change.data is not None}
    return tuple(FileChange(path, data) for path, data in sorted(files.items()))


def _log(desk: Desk, changes: Sequence[FileChange], recorded: Appended) -> tuple[Change, ...]:
    """What the commit does to each file, documents first."""
    count = made_by(recorded.entries[-1], recorded.ledger.whole.entries)
    lines = list(desk.log)
    named = {change.path for change in lines}
    for change in changes:
        if change.path == recorded.ledger.path:
            lines.append(Change(change.path, f"{count} {'entry' if count == 1 else 'entries'} added"))
        elif change.path not in named:
            lines.append(Change(change.path, "committed as it is"))
    return tuple(lines)


def _shown(one: Applied) -> AppliedRow:
    decision = one.decision
    return AppliedRow(
        one.row.row,
        one.row.fingerprint,
        decision.action.value,
        decision.target,
        decision.verified,
        one.paths,
    )


def _proposal(
    here: Situation, applied: Sequence[Applied], refused: Sequence[RefusedRow], changes: Sequence[FileChange]
) -> Proposal:
    parts = landed.common_parts(here.ws, here.rules)
    parts |= {f"file {path}": approval.file_part(data) for path, data in here.seen().items()}
    for one in applied:
        drafts = [[draft.kind, draft.op, dict(draft.data), sorted(draft.basis or ())] for draft in one.drafts]
        parts[f"row {one.row.row}"] = approval.digest_of([one.row.digest, sorted(one.row.basis), drafts])
    parts |= {f"row {one.row}": f"refused: {approval.digest_of(one.reason)}" for one in refused}
    parts |= {f"result {change.path}": approval.file_part(change.data) for change in changes}
    return Proposal("apply", here.batch, parts)


def _nothing(here: Situation, refused: Sequence[RefusedRow]) -> CheckFailed:
    said = here.loaded.problems
    if not refused:
        return CheckFailed(
            f"No row of batch {here.batch} is approved and waiting to be applied.",
            "Decide first: muniment triage, or muniment triage approve ROW",
            code="nothing-approved",
            problems=said,
        )
    problems = (Problem(f"row {one.row}", 0, "refused", one.reason, one.hint) for one in refused)
    return CheckFailed(
        f"No row of batch {here.batch} can be applied: {len(refused)} decided, none counts.",
        refused[0].hint or "See `muniment triage show`.",
        code="all-refused",
        problems=(*problems, *said),
    )
