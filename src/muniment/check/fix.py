"""`check --fix`: mend what is machine-owned and has one right form, through the one door; say what was done.

Safe means: the content stays what it is (ledger layout, line endings), or it is a view that can be made anew
(the plan's machine-owned region), or an interrupted step is finished or put back. A person's text is never
touched. The working tree is mended; the index is not, so staged files are to be staged again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from muniment import publish
from muniment.check.context import Context, Scope
from muniment.check.findings import Note, Outcome
from muniment.check.paths import Owned
from muniment.check.run import check
from muniment.check.snapshot import WorkingTree
from muniment.errors import UsageProblem
from muniment.files import FileChange
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
    done = tuple(_mended(ws))
    outcome = check(ws, paths, revisions, staged=staged)
    restage = tuple(
        Note(path, 0, "stage-again", "It was mended in the working tree; stage it again: git add")
        for path, _ in done
        if staged and path != "."
    )
    return replace(outcome, fixed=done, notes=tuple(sorted({*outcome.notes, *restage})))


def _mended(ws: Workspace) -> Iterator[Done]:
    with publish.open_door(ws) as door:
        if door.recovered:
            yield ".", f"an interrupted step ({door.recovered.operation}) was {door.recovered.outcome}"
        head = ws.repo.head().commit
        owned = Owned.of(ws.config)
        scope = Scope("all", "the working tree", tip=head, base=head)
        context = Context(ws, scope, WorkingTree(ws.root, owned), owned)
        changes = [*_ledger(context), *_line_endings(context)]
        written = door.write(door.clear(change for change, _ in changes), operation="check --fix")
        yield from ((change.path, what) for change, what in changes if change.path in written)


def _ledger(context: Context) -> Iterator[tuple[FileChange, str]]:
    """The open segment in its own layout, when nothing but the layout is wrong with it."""
    from muniment.ledger.segment import render_segment  # noqa: PLC0415 - only when there is a ledger

    path = context.ws.config.ledger_path
    data = context.snapshot.read(path)
    if data is None:
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
    if data is not None and b"\r\n" in data:
        yield FileChange(path, data.replace(b"\r\n", b"\n")), "given LF line endings"
