"""`apply`: preview a triaged batch, then do exactly that in one commit (C9, C10, G4, G5).

A token acts once. Under the clone's lock a confirm derives the whole plan again and refuses when anything
differs; a run that was killed is finished or rolled back by the door first, and if the act was done then,
the same token answers with its commit instead of acting again.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass

from muniment import approval, authority, publish, tokens
from muniment.approval import Token
from muniment.errors import CheckFailed, Refused, UsageProblem
from muniment.intake import landed
from muniment.intake.derive import AppliedRow, Plan, RefusedRow, derive
from muniment.workspace import Workspace, rfc3339

KIND = "apply"
AGAIN = "muniment apply --preview"


@dataclass(frozen=True, slots=True)
class Previewed:
    """A preview: the plan and the token for it."""

    plan: Plan
    token: Token


@dataclass(frozen=True, slots=True)
class Done:
    """What an apply did: its commit, each decided row with what became of it, and the undecided ones."""

    commit: str
    batch: str
    applied: tuple[AppliedRow, ...]
    refused: tuple[RefusedRow, ...]
    left: tuple[str, ...] = ()


def preview(
    ws: Workspace, batch: str | None, *, terminal: bool, include_dirty: Iterable[str] = ()
) -> Previewed:
    """Work out what applying a batch would do and mint a token for it; nothing of the repository changes.

    Args:
        ws: The repository.
        batch: The batch's id; None for the one that waits.
        terminal: Whether a person at a terminal asks; decision lines of a file then count, once confirmed.
        include_dirty: Paths whose uncommitted changes the person takes along.

    Raises:
        CheckFailed: No approved row, every one is refused, or the gate refuses what would be written.
        Refused: The ledger is not whole, or a target has uncommitted changes.
    """
    dirty, at = tuple(include_dirty), ws.now()
    with publish.open_door(ws) as door:
        plan = derive(ws, batch, at=rfc3339(at), terminal=terminal, include_dirty=dirty)
        door.clear(plan.changes)
    options = {
        "batch": plan.batch,
        "entry": plan.entry,
        "include_dirty": json.dumps(dirty),
        "applied": json.dumps([asdict(row) for row in plan.rows]),
        "refused": json.dumps([asdict(row) for row in plan.refused]),
        "left": json.dumps(plan.left),
    }
    return Previewed(
        plan, tokens.issue(ws, plan.proposal, at=at, options=options, terminal=plan.needs_terminal)
    )


def confirm(ws: Workspace, word: str, *, terminal: bool) -> Done:
    """Do what a preview showed, once, and only if it would still be the same.

    Raises:
        Refused: The token is unknown, used or expired, something it binds has changed, or git is in no
            state to commit. Nothing was written.
    """
    with publish.open_door(ws) as door:
        token = tokens.find(ws, word)
        commit = landed.finished(ws, token, KIND)
        if token is None or commit is None:
            token = tokens.require(ws, word, KIND, AGAIN)
            _require_terminal(ws, token, terminal=terminal)
            commit = _act(ws, door, token)
        tokens.spend(ws, token, commit)
    return _done(token, commit)


def _act(ws: Workspace, door: publish.Door, token: Token) -> str:
    options = token.options
    dirty = frozenset(json.loads(options["include_dirty"]))
    try:
        plan = derive(
            ws, options["batch"], at=rfc3339(token.at), terminal=token.terminal, include_dirty=dirty
        )
    except (CheckFailed, UsageProblem) as error:
        raise tokens.gone(error, AGAIN) from error
    answer = approval.matches(token, plan.proposal)
    if not answer.good:
        raise tokens.refusal(answer, AGAIN)
    _keep_dirty(ws, plan, dirty)
    published = door.commit(
        door.clear(plan.changes),
        message(plan),
        operation=token.operation,
        include_dirty=dirty,
        may_be_dirty=plan.may_be_dirty,
        seen=plan.seen,
    )
    return published.commit or "nothing"


def _keep_dirty(ws: Workspace, plan: Plan, dirty: frozenset[str]) -> None:
    """Store the text before the batch of documents that were dirty: no commit holds it, and undo needs it."""
    for path in dirty & plan.before.keys():
        data = plan.before[path]
        if data is not None:
            ws.repo.clean(path, data, write=True)


def _require_terminal(ws: Workspace, token: Token, *, terminal: bool) -> None:
    here = authority.channel_here(authority.rules(ws), at_terminal=terminal)
    if token.terminal and here != authority.TERMINAL:
        raise Refused(
            "This token counts decision lines that a person confirms at a terminal. Nothing was written.",
            "Confirm it at a terminal.",
            code="no-authority",
        )


def _done(token: Token, commit: str) -> Done:
    applied = tuple(
        AppliedRow(**{**row, "paths": tuple(row["paths"])}) for row in json.loads(token.options["applied"])
    )
    refused = tuple(RefusedRow(**row) for row in json.loads(token.options["refused"]))
    left = tuple(json.loads(token.options.get("left", "[]")))
    return Done(commit, token.options["batch"], applied, refused, left)


def message(plan: Plan) -> str:
    """The commit message: the batch, and one line a row."""
    count = len(plan.rows)
    decisions = "1 decision" if count == 1 else f"{count} decisions"
    lines = [f"Apply triage batch {landed.plain(plan.batch)}: {decisions}", ""]
    for row in plan.rows:
        where = ", ".join(row.paths) or row.target
        arrow = f" -> {landed.plain(where)}" if where else ""
        lines.append(f"- row {row.row}: {row.action} {row.fingerprint}{arrow}")
    return "\n".join(lines)
