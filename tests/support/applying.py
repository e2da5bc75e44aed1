"""Scenarios for the kill tests: confirm the token that lies in the git folder, as a person would again."""

from __future__ import annotations

from pathlib import Path

from muniment.errors import Refused
from muniment.intake import apply, undo
from muniment.workspace import open_workspace

PLACE = ".git/the-token"


def apply_once(folder: str) -> None:
    _once(folder, apply.confirm)


def undo_once(folder: str) -> None:
    _once(folder, undo.confirm)


def _once(folder: str, confirm: object) -> None:
    """Confirm; a run killed after its last step answers the second time that the token has been used."""
    assert callable(confirm)
    try:
        confirm(open_workspace(Path(folder)), (Path(folder) / PLACE).read_text(), terminal=False)
    except Refused as refused:
        if refused.code != "used-token":
            raise
