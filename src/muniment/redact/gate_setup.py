"""What a repository lets its gate pass, and the names it knows; authority is read from the default branch."""

from __future__ import annotations

from pathlib import Path

from muniment.authority_upstream import authority_commit
from muniment.config import ALLOW_LIST, load_at
from muniment.files import read_bytes
from muniment.git.repo import MissingObject
from muniment.redact.exempt import Identities, parse_allow_list
from muniment.redact.names import KnownNames
from muniment.workspace import Workspace

_HISTORY = 2000
"""How many of the newest commits are read for trailer identities."""


def allowed(ws: Workspace) -> tuple[frozenset[str], Identities]:
    """The reviewed values and the identities, as on the upstream default branch (HEAD without a remote)."""
    commit = authority_commit(ws)
    allow: frozenset[str] = frozenset()
    handles: set[str] = set()
    people: set[tuple[str, str]] = set()
    if commit is not None:
        entry = ws.repo.entry(commit, ALLOW_LIST)
        if entry is not None:
            allow = parse_allow_list(ws.repo.blob(entry.oid).decode("utf-8", "replace"))
        actors = load_at(ws.repo, commit)[0].actors
        handles |= set(actors.values())
        people |= {(handle, address) for address, handle in actors.items()}
    name, address = ws.repo.config("user.name"), ws.repo.config("user.email")
    if name:
        handles.add(name)
    if name and address:
        people.add((name, address))
    return allow, Identities(frozenset(handles), frozenset(people), _History(ws))


def configured_names(ws: Workspace, known: KnownNames | None) -> KnownNames:
    """The names in the files that `bots` name (local paths), and those of `known`.

    Raises:
        Unavailable: A configured file can't be read.
        UsageProblem: A line of it is unusable.
    """
    texts = []
    for bot in ws.config.bots:
        if bot.known_names:
            path = ws.root / Path(bot.known_names).expanduser()
            texts.append((bot.known_names, read_bytes(path).decode("utf-8")))
    loaded = [KnownNames.parse(text, name) for name, text in dict.fromkeys(texts)]
    return KnownNames.union([*loaded, *([known] if known else [])])


class _History:
    """Author and committer identities of the newest commits, read once, on first use."""

    def __init__(self, ws: Workspace) -> None:
        self._ws = ws
        self._pairs: frozenset[tuple[str, str]] | None = None

    def __call__(self) -> frozenset[tuple[str, str]]:
        if self._pairs is None:
            pairs = set()
            head = self._ws.repo.head().commit
            try:
                for commit in self._ws.repo.commits([head], limit=_HISTORY) if head else ():
                    pairs |= {(who.name, who.email) for who in (commit.author, commit.committer)}
            except MissingObject:
                pass  # a shallow clone knows fewer people; those it doesn't know are not exempt
            self._pairs = frozenset(pairs)
        return self._pairs
