"""Verification, also against history: nothing that was ever recorded since REV may be missing (G6, G17)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from muniment import config as configuration
from muniment.errors import Unavailable
from muniment.git.repo import Commit, MissingObject, Oid
from muniment.ids import EntryId
from muniment.ledger.assembly import sealed_path
from muniment.ledger.faults import REPAIR, Fault, Reach
from muniment.ledger.splice import ids_beyond
from muniment.ledger.store import Ledger, load, resolve
from muniment.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Verified:
    """What verification found.

    Attributes:
        ok: True: whole. False: a problem. None: it can't be told here.
        problems: The faults that make it fail.
        notes: Faults that are only worth saying.
        expunged: Ids of entries whose body was removed.
        count: How many entries the ledger holds.
        unknown: Why it can't be told; else empty.
        settle: The command that would settle it.
    """

    ok: bool | None
    problems: tuple[Fault, ...]
    notes: tuple[Fault, ...]
    expunged: tuple[str, ...]
    count: int
    unknown: str = ""
    settle: str = ""


class CutOff(Exception):
    """History ends in this clone before the question is settled; `settle` is the command that goes on."""

    def __init__(self, message: str, settle: str) -> None:
        super().__init__(message)
        self.message = message
        self.settle = settle


def verify(ws: Workspace, *, against: str | None = None, rev: str | None = None) -> Verified:
    """Check the ledger of the working tree, or of `rev`, and with `against` also what history says.

    Raises:
        Unavailable: `rev` can't be read.
    """
    ledger = load(ws, rev)
    verdict = ledger.verdict
    faults = list(verdict.problems)
    unknown, settle, ok = "", "", verdict.ok
    if against is not None:
        try:
            lost = list(removed(ws, ledger, against))
            faults += lost
            ok = False if lost else ok
        except CutOff as error:
            ok, unknown, settle = None, error.message, error.settle
    if ok is None and not unknown:
        unknown = f"The ledger has schema {verdict.schema}; this Muniment can't judge all of its rules."
        settle = "pip install --upgrade muniment"
    return Verified(
        ok=ok,
        problems=tuple(faults),
        notes=verdict.notes,
        expunged=verdict.expunged,
        count=len(ledger.whole.entries),
        unknown=unknown,
        settle=settle,
    )


def removed(ws: Workspace, ledger: Ledger, against: str, tip: Oid | None = None) -> Iterator[Fault]:
    """A fault for every entry of history since `against` that the ledger lacks.

    History is the merge base of `against` and `tip` (HEAD when none is given; `check` gives a range's end or
    a merge's other side), and every commit from there to it that touched the ledger, wherever that
    commit's settings put it. A stub, or an entry in another segment, is there.

    Raises:
        CutOff: `against`, or a commit or blob in between, can't be read in this clone.
    """
    present = ledger.whole.entries
    lines = frozenset(entry.raw for entry in present.values())
    told: set[str] = set()
    read: set[Oid] = set()
    with _readable():
        base, head = _span(ws, against, tip)
        paths = _paths(ws, ledger.path, base, head)
        for commit in _commits(ws, base, head, paths):
            for path, oid in _blobs(ws, paths, commit):
                if oid in read:
                    continue
                read.add(oid)
                for identity in ids_beyond(ws.repo.blob(oid), path, lines):
                    if identity not in present and identity not in told:
                        told.add(identity)
                        yield _lost(identity, commit, ledger.path)


def _lost(identity: EntryId, commit: Oid, path: str) -> Fault:
    message = f"Entry {identity.short} is in commit {commit.short} and not here any more."
    return Fault("removed", message, Reach.BROKEN, identity, path, fix=REPAIR, absent=identity)


@contextmanager
def _readable() -> Iterator[None]:
    """Turn what this clone lacks into `CutOff`, with the command that would bring it."""
    try:
        yield
    except MissingObject as error:
        raise CutOff(error.message, error.hint or "git fetch --refetch") from error
    except Unavailable as error:
        raise CutOff(error.message, error.hint or "git fetch") from error


def _span(ws: Workspace, against: str, tip: Oid | None) -> tuple[Oid, Oid]:
    """The merge base of `against` and `tip` (HEAD when none is given), and that end."""
    other = resolve(ws, against)
    head = tip or ws.repo.head().commit
    if head is None:
        raise CutOff("HEAD has no commit yet.", "git commit")
    base = ws.repo.merge_base(other, head)
    if base is None:
        cut = ws.repo.is_shallow()
        raise CutOff(
            f"{against!r} and HEAD have no common commit{' in this shallow clone' if cut else ''}.",
            "git fetch --unshallow" if cut else "git fetch --all",
        )
    return base, head


def _paths(ws: Workspace, here: str, base: Oid, head: Oid) -> tuple[str, ...]:
    """Where the ledger lies now, and wherever the settings of a commit in between put it."""
    found = {here}
    seen: set[Oid | None] = set()
    changes = ws.repo.commits([head], hide=[base], paths=(configuration.COMMITTED,))
    for commit in (base, *(commit.oid for commit in changes)):
        entry = ws.repo.entry(commit, configuration.COMMITTED)
        settings = entry.oid if entry else None
        if settings not in seen:
            seen.add(settings)
            found.add(configuration.load_at(ws.repo, commit)[0].ledger_path)
    return tuple(sorted(found))


def _commits(ws: Workspace, base: Oid, head: Oid, paths: tuple[str, ...]) -> Iterator[Oid]:
    """The merge base, then every commit from there to HEAD that touched one of these ledgers."""
    yield base
    shallow = ws.repo.is_shallow()
    touched = (*paths, *(sealed_path(path, "ledger") for path in paths))
    for commit in ws.repo.commits([head], hide=[base], paths=() if shallow else touched):
        if shallow and _is_edge(ws, commit):
            raise CutOff("History is cut off in this shallow clone.", "git fetch --unshallow")
        yield commit.oid


def _is_edge(ws: Workspace, commit: Commit) -> bool:
    """Whether a commit's parents are not in this shallow clone; a true root can't be told from that."""
    try:
        return not [ws.repo.commit(parent) for parent in commit.parents]
    except MissingObject:
        return True


def _blobs(ws: Workspace, paths: tuple[str, ...], commit: Oid) -> Iterator[tuple[str, Oid]]:
    """The ledgers' files at a commit: the open segments and everything in the folders of sealed ones."""
    for path in paths:
        opened = ws.repo.entry(commit, path)
        if opened is not None:
            yield path, opened.oid
        for entry in ws.repo.entries(commit, sealed_path(path, "ledger")):
            if entry.path.endswith(".json"):
                yield entry.path, entry.oid
