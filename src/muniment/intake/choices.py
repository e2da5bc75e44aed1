"""What a command gives as a decision, with its target looked up (C9)."""

from __future__ import annotations

from dataclasses import dataclass, replace

from muniment import targets
from muniment.errors import UsageProblem
from muniment.intake.batches import Loaded
from muniment.intake.decided_targets import path_of
from muniment.intake.rows import Action, Row, approved
from muniment.intake.triage_file import APPROVE
from muniment.ledger.store import Ledger
from muniment.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Choice:
    """A decision to record: `word` is `approve`, `dismiss` or an action's word."""

    word: str
    target: str = ""
    reason: str = ""
    layer: str = ""
    text: str = ""


def resolved(ws: Workspace, loaded: Loaded, ledger: Ledger, row: Row, choice: Choice) -> Choice:
    """The choice with its target as given: a row's id or a fingerprint for a duplicate, else a file here.

    Raises:
        UsageProblem: It names nothing that there is.
    """
    target = choice.target.strip()
    if not target:
        return choice
    proposal = approved(row)
    word = proposal.action.value if choice.word == APPROVE and proposal else choice.word
    if word == Action.DUPLICATE.value:
        named = loaded.batch.row(target)
        if named is not None:
            if named.row == row.row:
                raise UsageProblem(f"Row {row.row} can't be a duplicate of itself.")
            return replace(choice, target=named.fingerprint)
        if ledger.view.subject(target).status != "unseen":
            return replace(choice, target=target)
    path = path_of(target)
    if not _is_folder(ws, path):
        targets.require_target(ws, path)
    if ws.repo.resolve(target) is not None and not ws.path(path).exists():
        return choice  # landed work that has no document: a commit
    if not ws.path(path).is_file():
        raise UsageProblem(f"There is no file {path[:200]!r} here.", "Give PATH or PATH:LINE of a document.")
    return choice


def _is_folder(ws: Workspace, path: str) -> bool:
    try:
        return ws.path(path).is_dir()
    except (OSError, ValueError):  # a name that no file can have
        return False


def require_layer(ws: Workspace, layer: str) -> None:
    """Raise `UsageProblem` for a layer that the settings don't know."""
    if layer and layer not in ws.config.target_layers:
        known = ", ".join(ws.config.target_layers)
        raise UsageProblem(f"{layer[:60]!r} is no target layer.", f"Known: {known}.")
