"""`status`: what is open, waiting or broken here, each part by itself so that one hides no other (G18)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TypeVar

from muniment import hooks, publish
from muniment.check.reading import read_state
from muniment.documents.reading import Kind, read_document
from muniment.documents.stages import Stage, Standing
from muniment.errors import MunimentError, Problem
from muniment.intake import batches, waiting
from muniment.ledger import store
from muniment.state.store import sensitive_sources
from muniment.workspace import Workspace

T = TypeVar("T")

_BATCHES_NAMED = 3
"""Of how many waiting batches the next steps are named, newest first."""
_LIMIT = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class LedgerStatus:
    """The ledger: how many entries, whether it is whole (None: can't be told), the first problem, its fix."""

    entries: int = 0
    ok: bool | None = True
    problem: str = ""
    fix: str = ""


@dataclass(frozen=True, slots=True)
class Status:
    """What stands in this repository.

    Attributes:
        branch: The branch, or "" when HEAD is detached, or a commit is looked at.
        operation: What git is in the middle of now, or "".
        settings: Problems of the settings files.
        ledger: The ledger.
        batches: Triage batches, oldest first.
        plan: Path of the rolling plan and how many items the state says are open; None without a state.
        pending: Fixes that wait for proof.
        interrupted: Whether a killed run left something half done; None when a commit is looked at.
        hooks: Whether a commit here runs the check; None when a commit is looked at.
        faults: What could not be read, and why.
        commit: The commit that is looked at; empty for the working tree.
    """

    branch: str
    operation: str
    settings: tuple[Problem, ...] = ()
    ledger: LedgerStatus = field(default_factory=LedgerStatus)
    batches: tuple[batches.Overview, ...] = ()
    plan: tuple[str, int] | None = None
    pending: int = 0
    interrupted: bool | None = False
    hooks: bool | None = False
    faults: tuple[str, ...] = ()
    commit: str = ""

    @property
    def waiting(self) -> int:
        """Rows that wait for a decision or for being applied, over all batches."""
        return sum(batch.waiting for batch in self.batches)


def status(ws: Workspace) -> Status:
    """Look at everything; what can't be read is said in `faults`.

    As of a commit (`ws.commit`) the clone's own standing (branch, operation, hooks) isn't asked.
    """
    now = ws.commit is None
    faults: list[str] = []

    def ask(question: Callable[[Workspace], T], otherwise: T) -> T:
        try:
            return question(ws)
        except MunimentError as error:
            faults.append(error.message)
            return otherwise

    return Status(
        branch=(ws.repo.head().branch or "") if now else "",
        operation=ws.repo.operation().value if now else "",
        settings=ws.config_problems,
        ledger=ask(_ledger, LedgerStatus(ok=None)),
        batches=ask(batches.overview, ()),
        plan=ask(_plan, None),
        pending=ask(_pending, 0),
        interrupted=ask(publish.open_journal, otherwise=False) if now else None,
        hooks=ask(lambda given: hooks.read(given).installed, otherwise=False) if now else None,
        faults=tuple(dict.fromkeys(faults)),
        commit=ws.commit or "",
    )


def next_steps(found: Status) -> Iterator[tuple[str, str]]:
    """Commands that are worth running now, and why; none about a commit."""
    if found.commit:
        return
    if found.interrupted:
        yield "muniment check --fix", "finish or put back what an interrupted run left"
    if found.settings:
        yield "muniment config show", "the settings have problems"
    if found.ledger.ok is False:
        mends = found.ledger.fix.startswith("muniment ")
        yield found.ledger.fix if mends else "muniment check", "the ledger has a problem"
    waits = [batch for batch in found.batches if batch.waiting]
    for batch in reversed(waits[-_BATCHES_NAMED:]):
        yield from waiting.steps(batch.waits, batch.batch if batch is not waits[-1] else "")
    if not found.hooks:
        yield "muniment hooks install", "check what Muniment owns before each commit"


def _ledger(ws: Workspace) -> LedgerStatus:
    ledger = store.load(ws)
    problems = ledger.problems
    first = problems[0] if problems else None
    count, ok = len(ledger.whole.entries), ledger.verdict.ok
    return LedgerStatus(count, ok, str(first), first.fix) if first else LedgerStatus(count, ok)


def _plan(ws: Workspace) -> tuple[str, int] | None:
    path = ws.config.sweep_state_path
    reading = read_state(ws.read(path, limit=_LIMIT), path, sensitive_sources(ws))
    if reading.state is None:
        return None
    return ws.config.plan_path, sum(item.shown for item in reading.state.items.values())


def _pending(ws: Workspace) -> int:
    path = ws.config.pending_path
    text = (ws.read(path, limit=_LIMIT) or b"").decode("utf-8", "replace")
    page = read_document(path, Stage.PENDING, text)
    return sum(
        statement.kind is Kind.PENDING and statement.standing is Standing.PENDING
        for statement in page.statements
    )
