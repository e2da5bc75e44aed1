"""`check --fix`: mend what is machine-owned and has one right form, through the one door; say what was done.

Safe means: the content stays what it is (ledger layout, line endings), or it is a view that can be made anew
(the plan's machine-owned region), or an interrupted step is finished or put back. A person's text is never
touched. The working tree is mended; the index is not, so staged files are to be staged again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from muniment import publish
from muniment.check import files
from muniment.check import plan as rules
from muniment.check.context import Context, Scope
from muniment.check.findings import Note, Outcome
from muniment.check.paths import Owned
from muniment.check.run import check, scope_of
from muniment.check.snapshot import WorkingTree
from muniment.errors import CheckFailed, MunimentError, Problem, UsageProblem
from muniment.files import FileChange
from muniment.plan import service
from muniment.workspace import Workspace

Done = tuple[str, str]


def mend(ws: Workspace, paths: Sequence[str], revisions: str | None, *, staged: bool) -> Outcome:
    """Mend what is safe in the working tree, then check what was asked for.

    Raises:
        UsageProblem: With a range, or with settings that are wrong: what would be written is then a guess.
        Refused: Another Muniment process holds the lock.
    """
    if revisions is not None:
        raise UsageProblem(
            "--fix mends the working tree, and a range is commits.", "Run `muniment check --fix` by itself."
        )
    ws.require_config()
    done: list[Done] = []
    notes: list[Note] = []
    scope = scope_of(ws, paths, staged=staged)
    _mend_files(ws, scope, done, notes)
    _mend_plan(ws, scope, done, notes)
    if staged:
        again = "It was mended in the working tree; stage it again: git add"
        notes += [Note(path, 0, "stage-again", again) for path, _ in done if path != "."]
    outcome = check(ws, paths, revisions, staged=staged)
    return replace(outcome, fixed=tuple(done), notes=tuple(sorted({*outcome.notes, *notes})))


def _mend_files(ws: Workspace, scope: Scope, done: list[Done], notes: list[Note]) -> None:
    with publish.open_door(ws) as door:
        if door.recovered:
            done.append(
                (".", f"an interrupted step ({door.recovered.operation}) is {door.recovered.outcome}")
            )
        context = _context(ws, scope)
        for change, what in (*_ledger(context), *_line_endings(context)):
            try:
                seen = {change.path: context.snapshot.read(change.path)}
                if door.write(door.clear([change]), operation="check --fix", seen=seen):
                    done.append((change.path, what))
            except CheckFailed as error:
                notes.append(_refused(change.path, error))


def _mend_plan(ws: Workspace, scope: Scope, done: list[Done], notes: list[Note]) -> None:
    """Reconcile the plan when it is only out of date: nobody's words in it would move."""
    context = _context(ws, scope)
    said = {one.rule for one in (*rules.plan(context), *files.texts(context)) if isinstance(one, Problem)}
    if "plan" not in said or said - {"plan"}:
        return
    try:
        outcome = service.reconcile(ws)
    except MunimentError as error:
        notes.append(_refused(ws.config.plan_path, error))
    else:
        done += [(path, "reconciled with the state") for path in outcome.written]


def _refused(path: str, error: MunimentError) -> Note:
    return Note(path, 0, "not-mended", f"It was not mended: {error.message}")


def _context(ws: Workspace, scope: Scope) -> Context:
    owned = Owned.of(ws.config)
    return Context(ws, scope, WorkingTree(ws.root, owned), owned)


def _ledger(context: Context) -> Iterator[tuple[FileChange, str]]:
    """The open segment in its own layout, when nothing but the layout is wrong with it."""
    from muniment.ledger.segment import render_segment  # noqa: PLC0415 - only when there is a ledger

    path = context.ws.config.ledger_path
    data = context.snapshot.read(path)
    if data is None or not context.scope.wants(path):
        return
    segment = context.ledger.segments[0].segment
    if segment.laid_out or segment.faults or segment.newer:
        return
    mended = render_segment(segment.entries, segment.sealed, segment.extra)
    if mended != data:
        yield FileChange(path, mended), "written in Muniment's layout, one entry a line, sorted by id"


def _line_endings(context: Context) -> Iterator[tuple[FileChange, str]]:
    """The state with LF line endings; the ledger gets them with its layout."""
    path = context.ws.config.sweep_state_path
    data = context.snapshot.read(path)
    if data is not None and context.scope.wants(path) and b"\r\n" in data:
        yield FileChange(path, data.replace(b"\r\n", b"\n")), "given LF line endings"
