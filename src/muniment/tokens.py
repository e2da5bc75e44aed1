"""Where this clone keeps its approval tokens: one private file each, under the common git folder (C9).

A token is spent under the clone's lock, right after its commit; what a kill leaves between the two is
found again through the journal's operation key, so a token leads to one commit at most.
"""

from __future__ import annotations

import re
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path

from muniment import approval
from muniment.approval import Answer, Finding, Proposal, Token
from muniment.errors import MunimentError, Refused
from muniment.files import atomic_write, read_bytes
from muniment.workspace import Workspace

_NAME = re.compile(r"[0-9a-f]{32}\Z")
_MAX_BYTES = 4 * 1024 * 1024
_KEEP = timedelta(days=7)
"""How long a spent or expired token's file is kept, so that handing it in again is told apart from a typo."""


def issue(
    ws: Workspace,
    proposal: Proposal,
    *,
    at: datetime | None = None,
    options: dict[str, str] | None = None,
    terminal: bool = False,
) -> Token:
    """Mint a token for a proposal and keep it; old ones are cleared away.

    `at` is the time that the proposal was derived with, where it holds one; None for now.
    """
    token = approval.mint(
        proposal,
        secret=ws.token_hex(approval.TOKEN_BYTES),
        at=at or ws.now(),
        actor=ws.actor,
        options=options,
        terminal=terminal,
    )
    _clear_old(ws)
    _keep(ws, token)
    return token


def find(ws: Workspace, word: str) -> Token | None:
    """The token kept under that word in this clone, or None."""
    if not _NAME.match(word):
        return None
    try:
        token = approval.decode(read_bytes(_path(ws, word), limit=_MAX_BYTES))
    except MunimentError:
        return None
    return token if token and token.token == word else None


def require(ws: Workspace, word: str, kind: str, again: str) -> Token:
    """The token, once it may be tried.

    Args:
        ws: The repository.
        word: What the person handed in.
        kind: The command's own kind of token.
        again: The command that makes a fresh token, for the hint.

    Raises:
        Refused: Unknown here, made by another command, used, or expired.
    """
    token = find(ws, word)
    answer = approval.usable(token, kind, ws.now())
    if not answer.good or token is None:
        raise refusal(answer, again)
    return token


def refusal(answer: Answer, again: str) -> Refused:
    """The error for a token that does not hold; nothing was written."""
    code = "used-token" if answer.finding is Finding.USED else "stale-token"
    if answer.finding in {Finding.UNKNOWN, Finding.OTHER_KIND}:
        code = "unknown-token"
    return Refused(f"{answer.message} Nothing was written.", f"Preview again: {again}", code=code)


def gone(error: MunimentError, again: str) -> Refused:
    """The error for a proposal that can't even be derived any more: something it needs has changed."""
    return Refused(
        f"Changed since the preview: {error.message} Nothing was written.",
        f"Preview again: {again}",
        code="stale-token",
        problems=error.problems,
    )


def spend(ws: Workspace, token: Token, commit: str | None) -> None:
    """Mark a token as used; call it under the clone's lock, after the commit."""
    _keep(ws, approval.used(token, commit))


def _path(ws: Workspace, word: str) -> Path:
    return ws.private / "tokens" / f"{word}.json"


def _keep(ws: Workspace, token: Token) -> None:
    atomic_write(_path(ws, token.token), approval.encode(token), mode=0o600)


def _clear_old(ws: Workspace) -> None:
    folder = ws.private / "tokens"
    if not folder.is_dir():
        return
    for path in folder.glob("*.json"):
        token = find(ws, path.stem)
        if token is not None and ws.now() - token.expires > _KEEP:
            with suppress(OSError):
                path.unlink()
