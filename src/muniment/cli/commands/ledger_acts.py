"""`muniment ledger expunge` and `seal`: the two acts that rewrite what is recorded, each losing no entry."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from muniment.cli import output
from muniment.cli.options import Invocation, json_option, pass_invocation
from muniment.errors import UsageProblem

if TYPE_CHECKING:
    from muniment.approval import Token
    from muniment.ledger.expunge import Expunged, Plan

_HISTORY = (
    "Git history, other clones and forks still hold the old text: docs/design/ledger.md says how to purge it."
)


@click.command()
@click.argument("identity", metavar="ID")
@click.option("--reason", required=True, metavar="R", help="Why; recorded, so don't repeat the text here.")
@click.option("--preview", is_flag=True, help="Show what would change and print a token.")
@click.option("--confirm", "token", default=None, metavar="TOKEN", help="Do what the preview showed.")
@click.option("--yes", is_flag=True, help="Do it without a preview.")
@json_option
@pass_invocation
def expunge(  # noqa: PLR0917 - click passes options by name
    invocation: Invocation,
    identity: str,
    reason: str,
    preview: bool,
    token: str | None,
    yes: bool,
    as_json: bool,
) -> None:
    """Take an entry's body away for good, in one commit; its id, time, kind and links stay."""
    from muniment.ledger import expunge as acts  # noqa: PLC0415 - help stays light

    if sum((preview, token is not None, yes)) > 1:
        raise UsageProblem("--preview, --confirm and --yes exclude each other.")
    ws, terminal = invocation.writable, invocation.interactive()
    if token is not None:
        _emit_done(acts.confirm(ws, identity, reason, token, terminal=terminal), as_json=as_json)
    elif yes:
        _emit_done(acts.now(ws, identity, reason, terminal=terminal), as_json=as_json)
    else:
        if not preview and (as_json or not terminal):
            raise UsageProblem("Nobody can be asked here.", "Use --preview and --confirm TOKEN, or --yes.")
        made, minted = acts.preview(ws, identity, reason, terminal=terminal)
        _emit_preview(made, minted, as_json=as_json)
        if not preview and click.confirm("Expunge it?", err=True):
            _emit_done(acts.confirm(ws, identity, reason, minted.token, terminal=terminal), as_json=False)


def _emit_preview(made: Plan, token: Token, *, as_json: bool) -> None:
    changes = [
        {"path": change.path, "what": "removed" if change.data is None else "rewritten"}
        for change in made.changes
    ]
    if as_json:
        output.emit_json({"token": token.token, "entry": made.target.id, "changes": changes})
        return
    lines = [f"Entry {made.target.id} ({output.safe(made.target.kind)}, {made.target.at}) loses its body:"]
    lines += [f"  {output.style(output.safe(item['path']), 'path')}  {item['what']}" for item in changes]
    output.emit([*lines, f"token: {token.token}"])


def _emit_done(done: Expunged, *, as_json: bool) -> None:
    if as_json:
        output.emit_json({"expunged": done.target, "entry": done.entry, "commit": done.commit})
        return
    how = f"in commit {done.commit.short}" if done.commit else "already; nothing was changed"
    output.emit([f"Expunged {done.target} {how}."])
    output.say(_HISTORY)


@click.command()
@click.option(
    "--over",
    type=click.IntRange(min=0),
    default=None,
    metavar="BYTES",
    help="Seal when the open segment is larger than this (default 4194304); 0 seals everything now.",
)
@json_option
@pass_invocation
def seal(invocation: Invocation, over: int | None, as_json: bool) -> None:
    """Move the oldest entries into a sealed file once the open one has grown; commits nothing."""
    from muniment.ledger import seal as sealing  # noqa: PLC0415 - help stays light

    limit = sealing.DEFAULT_BYTES if over is None else over
    done = sealing.seal(invocation.writable, over=limit)
    if as_json:
        row = done.sealed
        sealed = {"file": row.file, "sha256": row.sha256, "count": row.count} if row else None
        output.emit_json({"sealed": sealed, "path": done.path, "size": done.size, "left": done.left})
    elif done.sealed is None:
        output.emit([f"Nothing to seal: the open segment has {done.size:,} bytes; it is due over {limit:,}."])
    else:
        output.emit([f"Sealed {done.sealed.count:,} entries into {done.path}; {done.left:,} stay open."])
