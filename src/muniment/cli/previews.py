"""How previews look and how they are confirmed, the same for every command that works by token."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from muniment.cli import output
from muniment.errors import UsageProblem
from muniment.intake.rows import trust

if TYPE_CHECKING:
    from muniment.approval import Token
    from muniment.files import FileChange
    from muniment.intake.derive import AppliedRow
    from muniment.intake.desk import Change
    from muniment.workspace import Workspace

DIFF_LINES = 400
"""How many lines of one document's difference are shown; the rest is counted and said."""


def one_of(*, show: bool, word: str | None, given: bool, yes: bool = False) -> None:
    """Refuse options that exclude each other: a token already says what is to be done."""
    if word is not None and (show or given):
        raise UsageProblem("--confirm takes the token and nothing else.", "The preview fixed the rest.")
    if show and yes:
        raise UsageProblem("--preview and --yes exclude each other.")


def require_asking(*, show: bool, person: bool, as_json: bool, command: str) -> None:
    """Refuse the bare form where nobody can be asked, or where a program reads the answer."""
    also = ", or --yes" if command == "undo" else ""
    hint = f"Use `muniment {command} --preview`, then `muniment {command} --confirm TOKEN`{also}."
    if not show and not person:
        raise UsageProblem("There is no terminal to ask at.", hint)
    if not show and as_json:
        raise UsageProblem("--json needs --preview or --confirm.", hint)


def ask(question: str, otherwise: str) -> bool:
    """Ask a person a question to be answered yes or no; what isn't done on a no, `otherwise` says.

    Raises:
        click.Abort: They interrupted it, which is no answer; it carries `otherwise`.
    """
    try:
        agreed = click.confirm(question, err=True)
    except click.Abort as error:
        output.say("")
        raise click.Abort(otherwise) from error
    if not agreed:
        output.say(otherwise)
    return agreed


def ask_if_needed(workspace: Workspace, word: str, *, person: bool) -> bool:
    """Ask again for a token that counts lines of a file which only a person's word makes count."""
    from muniment import tokens  # noqa: PLC0415 - help stays light

    token = tokens.find(workspace, word)
    if token is None or not token.terminal or token.used or not person:
        return True
    return ask(
        "Decisions in the triage file count once you confirm them. Do they stand?",
        "Nothing was applied, and the token can still be used. To decide otherwise: muniment triage",
    )


def not_done(token: Token, command: str, what: str) -> str:
    """What to tell a person who doesn't want what was just shown."""
    return (
        f"{what}; nothing was changed. For a fresh preview: muniment {command}\n"
        f"To do later what was shown here (until {_until(token)}):\n"
        f"  muniment {command} --confirm {token.token}"
    )


def document(token: Token, log: Iterable[Change], body: Mapping[str, Any]) -> dict[str, Any]:
    """A preview as programs read it."""
    return {
        "token": token.token,
        "expires": token.expires.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "changes": [{"path": change.path, "what": change.what} for change in log],
        **body,
    }


def say_token(token: Token, command: str) -> None:
    """Tell a person the token, below what it stands for."""
    output.emit([f"token {output.style(token.token, 'strong')}"])
    output.say(f"Do it with: muniment {command} --confirm {token.token} (once, until {_until(token)})")


def _until(token: Token) -> str:
    return f"{token.expires:%Y-%m-%d %H:%M} UTC"


def row_json(row: AppliedRow) -> dict[str, Any]:
    """A row that is applied, as programs read it."""
    return {
        "row": row.row,
        "fingerprint": row.fingerprint,
        "action": row.action,
        "target": row.target,
        "verified": row.verified,
        "paths": list(row.paths),
    }


def row_line(row: AppliedRow) -> str:
    """A row that is applied, as people read it."""
    where = ", ".join(row.paths) or output.short_hashes(row.target)
    arrow = f" → {output.style(output.safe(where), 'path')}" if where else ""
    checked = output.style(f"[{trust(row.verified)}]", "dim")
    return f"  row {output.safe(row.row)}: {row.action} {row.fingerprint}{arrow} {checked}"


def change_lines(
    log: Iterable[Change], before: Mapping[str, bytes | None], changes: Sequence[FileChange]
) -> Iterator[str]:
    """Each file with what is done to it, and each document's difference line by line."""
    after = {change.path: change.data for change in changes}
    listed: dict[str, list[str]] = {}
    for change in log:
        listed.setdefault(change.path, []).append(change.what)
    for path, what in listed.items():
        yield f"{output.style(output.safe(path), 'path')}: {output.safe('; '.join(what))}"
        if path in before and path in after:
            yield from _difference(before[path], after[path])


def _difference(old: bytes | None, new: bytes | None) -> Iterator[str]:
    before, after = ((data or b"").decode("utf-8", "replace").splitlines() for data in (old, new))
    found = list(difflib.unified_diff(before, after, n=2, lineterm=""))[2:]
    for line in found[:DIFF_LINES]:
        name = {"+": "good", "-": "bad", "@": "dim"}.get(line[:1])
        shown = output.safe(line)
        yield f"    {output.style(shown, name) if name else shown}"
    if len(found) > DIFF_LINES:
        yield f"    … and {len(found) - DIFF_LINES} more lines."
