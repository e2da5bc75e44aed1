"""What HEAD's own history recorded and HEAD's ledger no longer has: a hand-made revert, a lost file (G6).

The answer depends on HEAD alone, so it is remembered under the common git folder and carried on from the
last HEAD: only commits since then that touched the ledger are read. Deleting that file costs time only.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from posixpath import dirname, join
from typing import TYPE_CHECKING

from muniment import config as configuration
from muniment.errors import MunimentError, Unavailable
from muniment.files import atomic_write, read_bytes
from muniment.git.repo import Oid
from muniment.workspace import Workspace

if TYPE_CHECKING:
    from muniment.ledger.faults import Fault

# What reads a ledger is imported only where history has to be read: mostly the remembered answer is enough.

VERSION = 1
WRITER_BYTES = 256 * 1024 * 1024
"""How much of old versions a writer reads, newest first; `check` reads them all."""
_MAX_CACHE = 16 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Past:
    """What history holds beyond HEAD's ledger.

    Attributes:
        head: The commit it is about; None before the first one.
        paths: Where the ledger lay in that history, sorted.
        lost: Entry id → a commit that holds it, for entries that HEAD's ledger lacks.
        complete: Whether all of history was read.
        unknown: Why history can't be read to its end here; else empty.
    """

    head: Oid | None = None
    paths: tuple[str, ...] = ()
    lost: Mapping[str, str] = field(default_factory=dict)
    complete: bool = True
    unknown: str = ""


def lost(past: Past, present: Mapping[str, object], path: str) -> tuple[Fault, ...]:
    """A fault for each entry of history that is neither in HEAD's ledger nor in `present`."""
    from muniment.ledger.faults import REPAIR, Fault, Reach  # noqa: PLC0415 - see above

    return tuple(
        Fault(
            "removed",
            f"Entry {identity[:12]} is in commit {commit[:10]} of HEAD's own history and not here any more.",
            Reach.BROKEN,
            identity,
            path,
            fix=REPAIR,
            absent=identity,
        )
        for identity, commit in sorted(past.lost.items())
        if identity not in present
    )


def search(ws: Workspace, *, tip: Oid | None = None, limit: int | None = WRITER_BYTES) -> Past:
    """Read HEAD's history (or `tip`'s) as far as it isn't known yet; at most about `limit` bytes of it.

    What this clone lacks is told in `unknown`, never raised.
    """
    head = tip or ws.repo.head().commit
    if head is None:
        return Past()
    known = _recall(ws)
    if known and known.head == head and (known.complete or limit is not None):
        return known
    if known and not known.complete and limit is None:
        known = None
    try:
        if known and (known.head is None or not ws.repo.is_ancestor(known.head, head)):
            known = None
        paths = _paths(ws, head, known)
        if known and paths != known.paths:
            known = None
        found = _read(ws, head, paths, known, limit)
    except Unavailable as error:
        return Past(head, unknown=error.message)
    if not found.unknown:
        _remember(ws, found)
    return found


def _read(ws: Workspace, head: Oid, paths: tuple[str, ...], known: Past | None, limit: int | None) -> Past:
    """Compare every version since `known` with HEAD's; older finds are carried over."""
    here = dict(_files(ws, paths, head))
    lines = frozenset(line for oid in here for line in _lines(ws.repo.blob(oid)))
    beyond: dict[str, str] = dict(known.lost) if known else {}
    done = set(here)
    left, unknown, complete = limit, "", known.complete if known else True
    try:
        for commit in _commits(ws, head, paths, known):
            for oid, path in _files(ws, paths, commit):
                if oid in done:
                    continue
                done.add(oid)
                data = ws.repo.blob(oid)
                for identity in _ids_beyond(data, path, lines):
                    beyond.setdefault(identity, commit)
                left = None if left is None else left - len(data)
            if left is not None and left < 0:
                complete = False
                break
    except Unavailable as error:
        unknown = error.message
    if beyond:
        held = {one for oid, path in here.items() for one in _ids_beyond(ws.repo.blob(oid), path, ())}
        beyond = {identity: commit for identity, commit in beyond.items() if identity not in held}
    return Past(head, paths, beyond, complete and not unknown, unknown)


def _commits(ws: Workspace, head: Oid, paths: tuple[str, ...], known: Past | None) -> Iterator[Oid]:
    """Commits that touched the ledger, newest first, and at last the one where the known part ends."""
    hide = [known.head] if known and known.head else []
    touched = (*paths, *map(_sealed_folder, paths))
    for commit in ws.repo.commits([head], hide=hide, paths=touched):
        yield commit.oid
    yield from hide
    if not hide and ws.repo.is_shallow():
        raise Unavailable("History is cut off in this shallow clone.", "git fetch --unshallow")


def _files(ws: Workspace, paths: tuple[str, ...], commit: Oid) -> Iterator[tuple[Oid, str]]:
    for path in paths:
        opened = ws.repo.entry(commit, path)
        if opened is not None:
            yield opened.oid, path
        for entry in ws.repo.entries(commit, _sealed_folder(path)):
            if entry.path.endswith(".json"):
                yield entry.oid, entry.path


def _sealed_folder(path: str) -> str:
    """Where the sealed segments of the ledger at `path` lie: beside it, as `assembly.sealed_path` has it."""
    return join(dirname(path), "ledger")


def _ids_beyond(data: bytes, path: str, lines: Collection[bytes]) -> Iterable[str]:
    from muniment.ledger.splice import ids_beyond  # noqa: PLC0415 - see above

    return ids_beyond(data, path, lines)


def _lines(data: bytes) -> list[bytes]:
    from muniment.ledger.segment import BETWEEN, CLOSE, ENTRIES  # noqa: PLC0415 - see above

    start = data.find(ENTRIES) + len(ENTRIES)
    return data[start : -len(CLOSE)].split(BETWEEN) if start >= len(ENTRIES) else []


def _paths(ws: Workspace, head: Oid, known: Past | None) -> tuple[str, ...]:
    """Every place that the settings of these commits gave the ledger."""
    found = {ws.config.ledger_path, configuration.Config().ledger_path, *(known.paths if known else ())}
    hide = [known.head] if known and known.head else []
    for commit in ws.repo.commits([head], hide=hide, paths=(configuration.COMMITTED,)):
        found.add(configuration.load_at(ws.repo, commit.oid)[0].ledger_path)
    return tuple(sorted(found))


def _recall(ws: Workspace) -> Past | None:
    path = ws.private / "cache" / "ledger-past.json"
    if not path.exists():
        return None
    try:
        found = json.loads(read_bytes(path, limit=_MAX_CACHE))
        if found["version"] != VERSION:
            return None
        return Past(Oid(found["head"]), tuple(found["paths"]), dict(found["lost"]), bool(found["complete"]))
    except (MunimentError, ValueError, KeyError, TypeError):
        return None


def _remember(ws: Workspace, past: Past) -> None:
    document = {
        "version": VERSION,
        "head": past.head,
        "paths": list(past.paths),
        "lost": dict(past.lost),
        "complete": past.complete,
    }
    with suppress(OSError, MunimentError):  # a cache that can't be kept costs time only
        data = json.dumps(document, ensure_ascii=True).encode("ascii")
        atomic_write(ws.private / "cache" / "ledger-past.json", data, mode=0o600)
