"""What a decision may point to: checked when it is made or read, and again when it is applied (C9, G5)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from muniment import targets
from muniment.errors import MunimentError, Problem
from muniment.intake.rows import Action, Decision, Row
from muniment.workspace import Workspace

_DOCUMENT = frozenset({Action.ATTACH, Action.KNOWN_LIMITATION})
_LANDED = frozenset({Action.FIXED_NOT_DEPLOYED, Action.REVISIT})
"""Actions whose target is a document, or a commit where landed work has none."""


def path_of(target: str) -> str:
    """The path of PATH or PATH:LINE."""
    path, _, line = target.rpartition(":")
    return path if path and line.isascii() and line.isdigit() else target


def require(ws: Workspace, decision: Decision | None) -> None:
    """Refuse a decision whose target is no plain document of this repository; raises as `require_target`."""
    if decision is not None and decision.target and decision.action in _DOCUMENT | _LANDED:
        targets.require_target(ws, path_of(decision.target))


def faults(ws: Workspace, path: str, rows: Iterable[Row]) -> Iterator[Problem]:
    """The decisions of a triage file that point where nothing can be written: `apply` would refuse them.

    At another commit there are no links and folders to look at.
    """
    for row in rows if ws.commit is None else ():
        try:
            require(ws, row.decision)
        except MunimentError as error:
            said = f"Row {row.row}: {error.message} Its decision would be refused."
            yield Problem(path, row.line, "triage-target", said, error.hint)
