"""Verification, also against history: nothing that was ever recorded since REV may be missing (G6, G17)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from muniment.errors import MunimentError
from muniment.git.repo import MissingObject, Oid
from muniment.ids import EntryId
from muniment.ledger.assembly import sealed_path
from muniment.ledger.faults import REPAIR, Fault, Reach
from muniment.ledger.segment import BETWEEN, CLOSE, OPEN, parse_segment
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
    if verdict.newer and not faults:
        unknown = ""
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

    History is the merge base of `against` and `tip` (HEAD when none is given), and every commit from there
    to it that touched the ledger. A stub, or an entry moved to another segment, is there.

    Raises:
        CutOff: `against`, or a commit or blob in between, can't be read in this clone.
    """
    present = ledger.whole.entries
    lines = _lines(ledger)
    told: set[str] = set()
    read: set[Oid] = set()
    for commit in _commits(ws, against, tip):
        for path, oid in _blobs(ws, ledger.path, commit):
            if oid in read:
                continue
            read.add(oid)
            for identity in _ids(_blob(ws, oid), path, lines):
                if identity not in present and identity not in told:
                    told.add(identity)
                    yield Fault(
                        "removed",
                        f"Entry {identity[:12]} is in commit {commit.short} and not here any more.",
                        Reach.BROKEN,
                        identity,
                        ledger.path,
                        fix=REPAIR,
                        absent=identity,
                    )


def _lines(ledger: Ledger) -> frozenset[bytes]:
    """The canonical lines of what is here, so that an older file is read only where it differs."""
    return frozenset(entry.raw for entry in ledger.whole.entries.values())


def _ids(data: bytes, path: str, lines: frozenset[bytes]) -> Iterator[EntryId]:
    if data.startswith(OPEN) and data.endswith(CLOSE):
        others = [raw for raw in data[len(OPEN) : -len(CLOSE)].split(BETWEEN) if raw not in lines]
        if not others:
            return
        data = OPEN + BETWEEN.join(others) + CLOSE
    for entry in parse_segment(data, path).entries:
        yield entry.id


def _commits(ws: Workspace, against: str, tip: Oid | None) -> Iterator[Oid]:
    """The merge base, then every commit from there to `tip` (HEAD) that touched the ledger."""
    repo = ws.repo
    try:
        other = resolve(ws, against)
        head = tip or repo.head().commit
        if head is None:
            raise CutOff("HEAD has no commit yet.", "git commit")
        base = repo.merge_base(other, head)
        if base is None:
            cut = repo.is_shallow()
            raise CutOff(
                f"{against!r} and HEAD have no common commit{' in this shallow clone' if cut else ''}.",
                "git fetch --unshallow" if cut else "git fetch --all",
            )
        yield base
        paths = (ws.config.ledger_path, ws.config.sealed_path)
        for commit in repo.commits([head], hide=[base], paths=paths):
            if repo.is_shallow() and repo.is_ancestor(base, commit.oid) is None:
                raise CutOff("History is cut off in this shallow clone.", "git fetch --unshallow")
            yield commit.oid
    except MissingObject as error:
        raise CutOff(error.message, error.hint or "git fetch --refetch") from error
    except MunimentError as error:
        raise CutOff(error.message, error.hint) from error


def _blobs(ws: Workspace, path: str, commit: Oid) -> Iterator[tuple[str, Oid]]:
    """The ledger's files at a commit: the open segment and everything in the folder of sealed ones."""
    try:
        opened = ws.repo.entry(commit, path)
        if opened is not None:
            yield path, opened.oid
        for entry in ws.repo.entries(commit, sealed_path(path, "ledger")):
            if entry.path.endswith(".json"):
                yield entry.path, entry.oid
    except MissingObject as error:
        raise CutOff(error.message, error.hint or "git fetch --refetch") from error


def _blob(ws: Workspace, oid: Oid) -> bytes:
    try:
        return ws.repo.blob(oid)
    except MissingObject as error:
        raise CutOff(error.message, error.hint or "git fetch --refetch") from error
