"""What apply and undo share: an entry's commit, an act that is done already, what every token binds."""

from __future__ import annotations

from muniment import approval
from muniment.approval import Token
from muniment.authority import Rules
from muniment.git.repo import Oid
from muniment.ledger import store
from muniment.workspace import Workspace

MAX_WALK = 10_000
"""How many commits that touched the ledger are looked at for the one that an entry came with."""


def common_parts(ws: Workspace, rules: Rules) -> dict[str, str]:
    """Branch name, settings, rules and acting name: what every proposal depends on."""
    head = ws.repo.head()
    settings = [[setting.key, setting.value, setting.source] for setting in ws.config.settings]
    ruling = [
        rules.ref,
        rules.owners,
        sorted(rules.actors.items()),
        rules.require_verified,
        rules.require_signed,
    ]
    return {
        "branch": head.ref or "detached HEAD",
        "settings": approval.digest_of(settings),
        "approval rules": approval.digest_of(ruling),
        "acting name": approval.digest(ws.actor.encode("utf-8", "surrogateescape")),
    }


def finished(ws: Workspace, token: Token | None, kind: str) -> str | None:
    """The commit of an unspent token's act that is done already: a run was killed before it could say so.

    The token's options name the ledger entry that its act writes; the entry's id covers everything in it,
    so finding it committed on this branch is finding the act done.
    """
    if token is None or token.kind != kind or token.used:
        return None
    head = ws.repo.head().commit
    entry = token.options.get("entry", "")
    if head is None or not entry:
        return None
    data = store.read_at(ws, head, ws.config.ledger_path)
    if data is None or entry.encode("ascii") not in data:
        return None
    return commit_of(ws, entry)


def commit_of(ws: Workspace, entry: str) -> str | None:
    """The oldest commit of HEAD's history whose ledger names an entry, following first parents."""
    head = ws.repo.head().commit
    path, name, found = ws.config.ledger_path, entry.encode("ascii"), None
    if head is None:
        return None
    for commit in ws.repo.commits([head], paths=[path], limit=MAX_WALK, first_parent=True):
        if name not in (store.read_at(ws, commit.oid, path) or b""):
            break
        found = commit.oid
    return found


def entries_made(ws: Workspace, commit: Oid, path: str) -> tuple[str, ...]:
    """Ids of the entries that a commit brought: in its ledger and in none of its parents'."""
    made = store.load(ws, commit).whole.entries.keys() if store.read_at(ws, commit, path) else ()
    older: set[str] = set()
    for parent in ws.repo.commit(commit).parents:
        if store.read_at(ws, parent, path):
            older |= set(store.load(ws, parent).whole.entries)
    return tuple(identity for identity in made if identity not in older)


def plain(text: str) -> str:
    """Text of others in one line of a commit message, control characters shown as `?`."""
    return "".join(char if char.isprintable() else "?" for char in text)
