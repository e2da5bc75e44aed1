"""The ledger of a workspace: load it as it stands or at a revision, and append to it (G1, G6, G7).

Nothing here writes: `append` returns the bytes, and `publish.py` is the door they leave through. Callers
load and append under the door's lock.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any

from muniment import config as configuration
from muniment.errors import Problem, Refused, Unavailable, UsageProblem
from muniment.files import FileChange, read_bytes
from muniment.git.repo import Oid
from muniment.ids import EntryId
from muniment.ledger import past
from muniment.ledger.assembly import Whole, assemble, with_entries
from muniment.ledger.entries import Entry, mint, time_key
from muniment.ledger.faults import REPAIR, Fault, Reach, Verdict
from muniment.ledger.integrity import alias_cycles, check_added
from muniment.ledger.misread import UPGRADE
from muniment.ledger.order import heads, ordered
from muniment.ledger.segment import Sealed, render_segment
from muniment.ledger.splice import ids_beyond, splice
from muniment.ledger.status import View, fold
from muniment.workspace import Workspace, parse_instant

A_DAY = timedelta(days=1)
A_YEAR = timedelta(days=366)
_UNWRITTEN = "Nothing was written."


@dataclass(frozen=True, slots=True)
class Draft:
    """An entry to be written.

    Attributes:
        kind: Its kind.
        data: Its body.
        op: Its operation key; "" for a random one. A draft whose operation is recorded already with equal
            data adds nothing, so that a retry is the same operation.
        basis: For decisions, the current decisions as shown to whoever approved; None for those current now.
        at: RFC 3339; None for now. Never earlier than what the entry comes after.
        actor: None for the workspace's actor.
    """

    kind: str
    data: Mapping[str, Any]
    op: str = ""
    basis: tuple[str, ...] | None = None
    at: str | None = None
    actor: str | None = None


@dataclass(frozen=True, slots=True)
class Appended:
    """What an append makes.

    Attributes:
        entries: One per draft, in order: new ones, or the recorded ones of the same operation.
        changes: The files to write; empty when nothing is new.
        ledger: The ledger as it will be.
        notes: What a person should know, such as a clock that jumped.
    """

    entries: tuple[Entry, ...]
    changes: tuple[FileChange, ...]
    ledger: Ledger
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Ledger:
    """The ledger of a working tree, or of a commit.

    Attributes:
        path: The open segment's repository-relative path.
        whole: Its segments, entries and verdict.
        data: The open segment's bytes; None when there is no ledger yet.
        commit: The commit it was read from; None for the working tree.
        known_heads: The heads, where `whole` holds only the part that a quick append needs.
    """

    path: str
    whole: Whole
    data: bytes | None = None
    commit: Oid | None = None
    known_heads: tuple[EntryId, ...] | None = None

    @property
    def verdict(self) -> Verdict:
        """What the checks say about the set."""
        return self.whole.verdict

    @property
    def problems(self) -> tuple[Problem, ...]:
        """Everything that makes a check fail, with file and line."""
        return tuple(fault.problem() for fault in self.verdict.problems)

    @property
    def sealed(self) -> tuple[Sealed, ...]:
        """The list of sealed segments as the open one has it."""
        return self.whole.segments[0].segment.sealed

    @cached_property
    def entries(self) -> tuple[Entry, ...]:
        """Every entry, in derived order."""
        return ordered(self.whole.entries.values())

    @cached_property
    def heads(self) -> tuple[EntryId, ...]:
        """What the next entry comes after."""
        if self.known_heads is not None:
            return self.known_heads
        return heads(self.whole.entries.values())

    @cached_property
    def view(self) -> View:
        """What the entries say; every subject reads `unknown` when the set can't be believed (G7)."""
        distrust = ""
        if self.verdict.newer:
            distrust = f"The ledger has the newer schema {self.verdict.schema}. {UPGRADE}"
        elif self.verdict.broken:
            fault = next((str(one) for one in self.problems), "the ledger is broken")
            distrust = f"It can't be told: {fault} Run `{REPAIR}`."
        return fold(self.whole.entries.values(), distrust=distrust)

    def require_whole(self, *, mending: bool = False) -> None:
        """Refuse to build on a set that can't be believed.

        `mending` lets an undo through when the only thing wrong is a cycle of aliases, which nothing but an
        undo can end.

        Raises:
            Refused: It is broken, incomplete, or of a newer schema; names entry, rule and `repair`.
        """
        if self.verdict.newer:
            raise Refused(
                f"{self.path} has schema {self.verdict.schema}, newer than this Muniment knows.",
                "It is read-only here: upgrade Muniment. Nothing was written.",
                code="newer-schema",
            )
        faults = self.verdict.reaching(Reach.BROKEN, Reach.INCOMPLETE)
        if mending:
            faults = tuple(fault for fault in faults if fault.rule != "alias-cycle")
        if faults:
            raise _refusal(faults)


def _refusal(faults: Sequence[Fault]) -> Refused:
    first = next((fault for fault in faults if fault.reach is Reach.BROKEN), faults[0])
    word = "broken" if first.reach is Reach.BROKEN else "incomplete"
    return Refused(
        f"The ledger is {word} ({first.rule}): {first.problem()}",
        f"Run `{first.fix or REPAIR}`; nothing was written.",
        code=f"{word}-ledger",
        problems=tuple(fault.problem() for fault in faults),
    )


def load(ws: Workspace, rev: str | None = None) -> Ledger:
    """The ledger of the working tree, or of a commit without a checkout (G1).

    Faults come back in `verdict`; an absent file is an empty, whole ledger.

    Raises:
        Unavailable: `rev` names nothing in this clone, an object is missing, or a file can't be read.
        UsageProblem: A file is larger than can be read, or lies outside the repository.
    """
    rev = rev or ws.commit
    with _no_garbage_collection():
        return _load_at(ws, rev) if rev is not None else _load_here(ws)


def _load_here(ws: Workspace) -> Ledger:
    path = ws.config.ledger_path
    data = read_here(ws, path)
    whole = assemble(data, path, lambda file: read_here(ws, file))
    if data is None and committed_blob(ws, path):
        message = "HEAD has a ledger and the working tree doesn't: it was deleted, or isn't checked out."
        fault = Fault("missing", message, path=path, fix=f"git checkout HEAD -- {path}")
        whole = replace(whole, verdict=whole.verdict.plus([fault]))
    return Ledger(path, whole, data)


def _load_at(ws: Workspace, rev: str) -> Ledger:
    path = ws.config.ledger_path
    commit = resolve(ws, rev)
    if ws.repo.entry(commit, path) is None:
        path = configuration.load_at(ws.repo, commit)[0].ledger_path
    data = read_at(ws, commit, path)
    return Ledger(path, assemble(data, path, lambda file: read_at(ws, commit, file)), data, commit)


def resolve(ws: Workspace, rev: str) -> Oid:
    """The commit that `rev` names; raises `Unavailable` when it names nothing in this clone."""
    commit = ws.repo.resolve(rev)
    if commit is None:
        raise Unavailable(f"{rev!r} names no commit in this clone.", "git fetch origin")
    return commit


def read_at(ws: Workspace, commit: Oid, path: str) -> bytes | None:
    """A file's bytes at a commit, or None; raises `MissingObject` when this clone lacks them."""
    entry = ws.repo.entry(commit, path)
    return None if entry is None else ws.repo.blob(entry.oid)


def committed_blob(ws: Workspace, path: str) -> Oid | None:
    """The blob id that HEAD has at `path`, or None."""
    head = ws.repo.head().commit
    entry = ws.repo.entry(head, path) if head else None
    return entry.oid if entry else None


def read_here(ws: Workspace, path: str) -> bytes | None:
    """A file's bytes in the working tree, or None; raises as `files.read_bytes` does."""
    target = ws.path(path)
    if not target.exists() and not target.is_symlink():
        return None
    if target.exists() and not target.is_file():
        raise Unavailable(f"{path} is not a regular file.", "Move it away, or choose another docs_root.")
    return read_bytes(target)


def append(ws: Workspace, ledger: Ledger, drafts: Sequence[Draft]) -> Appended:
    """Mint entries after the ledger's heads, one after the other, and make the open segment's bytes.

    Raises:
        Refused: The ledger is not whole, or a decision's basis is not what is current now.
        UsageProblem: A body that its kind can't have, that names what isn't there, or an alias that would
            close a cycle.
        NotCanonical: A body that canonical JSON can't hold, or that is too large.
    """
    ledger.require_whole(mending=all(draft.kind == "undo" for draft in drafts))
    if ledger.known_heads is None:
        _require_history(ws, ledger)
        _require_nothing_lost(ws, ledger)
    made: list[Entry] = []
    added: list[Entry] = []
    for draft in drafts:
        entry = _recorded(ledger.view, added, draft)
        if entry is None:
            _require_basis(ledger.view, draft)
            entry = _mint(ws, ledger, added, draft)
            added.append(entry)
        made.append(entry)
    if not added:
        return Appended(tuple(made), (), ledger)
    after = Ledger(ledger.path, with_entries(ledger.whole, added), None, None, (added[-1].id,))
    _require_no_cycle(after, added)
    _require_sound(after, added)
    opened = ledger.whole.segments[0].segment
    if ledger.data is not None and opened.laid_out and not opened.faults:
        data = splice(ledger.data, added)
    else:
        segment = after.whole.segments[0].segment
        data = render_segment(segment.entries, segment.sealed, segment.extra)
    return Appended(
        tuple(made),
        (FileChange(ledger.path, data),),
        replace(after, data=data),
        _clock_note(ws.now(), added[0], after.whole.entries),
    )


def _require_history(ws: Workspace, ledger: Ledger) -> None:
    """Refuse to go on from a ledger that lacks what HEAD's own history recorded (G6)."""
    faults = past.lost(past.search(ws), ledger.whole.entries, ledger.path)
    if faults:
        raise Refused(
            f"{len(faults)} of the ledger's entries got lost: {faults[0].message}",
            f"Run `{REPAIR}`, which puts them back; {_UNWRITTEN[0].lower()}{_UNWRITTEN[1:]}",
            code="removed",
            problems=tuple(fault.problem() for fault in faults),
        )


def _require_nothing_lost(ws: Workspace, ledger: Ledger) -> None:
    """Refuse to write on a file that lacks an entry of HEAD's: committing it would shrink the set (G6)."""
    blob = committed_blob(ws, ledger.path)
    if blob is None:
        return
    data = ws.repo.blob(blob)
    if data == ledger.data:
        return
    present = ledger.whole.entries
    lines = frozenset(entry.raw for entry in present.values())
    lost = next((one for one in ids_beyond(data, ledger.path, lines) if one not in present), None)
    if lost is not None:
        raise Refused(
            f"Entry {lost.short} is in HEAD's ledger and not in {ledger.path}: going on would lose it.",
            f"Run `{REPAIR}`, or see `muniment ledger verify --against HEAD`; nothing was written.",
            code="shrinking-ledger",
        )


def _recorded(view: View, added: Sequence[Entry], draft: Draft) -> Entry | None:
    """The live entry of the same operation with equal data: a retry adds nothing."""
    if not draft.op:
        return None
    for entry in (*view.by_operation.get(draft.op, ()), *added):
        if (entry.op, entry.kind, entry.data) == (draft.op, draft.kind, draft.data):
            return entry
    return None


def _require_basis(view: View, draft: Draft) -> None:
    subject = draft.data.get("subject")
    if draft.kind != "decision" or draft.basis is None or not isinstance(subject, str):
        return
    if tuple(sorted(set(draft.basis))) != view.current(subject):
        raise Refused(
            f"The decisions on {subject} have changed since this one was approved.",
            "Look at it again: muniment ledger status; nothing was written.",
            code="stale-basis",
        )


def _mint(ws: Workspace, ledger: Ledger, added: Sequence[Entry], draft: Draft) -> Entry:
    subject = draft.data.get("subject")
    basis = draft.basis
    if draft.kind == "decision" and basis is None and isinstance(subject, str):
        basis = ledger.view.with_entries(subject, added).current(subject)
    parents = added[-1:] or [ledger.whole.entries[head] for head in ledger.heads]
    at = max([draft.at or ws.timestamp(), *(parent.at for parent in parents)], key=time_key)
    return mint(
        kind=draft.kind,
        data=draft.data,
        at=at,
        actor=ws.actor if draft.actor is None else draft.actor,
        after=[parent.id for parent in parents],
        op=draft.op or ws.token_hex(16),
        basis=basis,
    )


def _clock_note(now: datetime, entry: Entry, entries: Mapping[str, Entry]) -> tuple[str, ...]:
    newest = max((parse_instant(entries[one].at) for one in entry.after if one in entries), default=None)
    if newest and parse_instant(entry.at) - newest > A_YEAR:
        note = f"The new entry's time, {entry.at}, is more than a year after the ledger's newest one: "
        return (note + "check this machine's clock.",)
    if parse_instant(entry.at) - now <= A_DAY:
        return ()
    note = (
        f"The ledger's newest entry is from {entry.at}, more than a day ahead of this machine's clock; "
        "the new entry got that time too. Check the clocks."
    )
    return (note,)


def _require_no_cycle(ledger: Ledger, added: Sequence[Entry]) -> None:
    if any(entry.kind in {"alias", "undo"} for entry in added):
        for fault in alias_cycles(ledger.whole.entries):
            raise UsageProblem(
                f"`data.alias` and `data.canonical` would close a cycle of aliases: {fault.message}",
                _UNWRITTEN,
                code=fault.rule,
            )


def _require_sound(ledger: Ledger, added: Sequence[Entry]) -> None:
    """Refuse what would be wrong for ever: nothing is ever taken out of a ledger (G6, G7)."""
    for fault in check_added(ledger.whole.entries, added):
        raise UsageProblem(
            f"That entry would make the ledger fail its checks ({fault.rule}): {fault.message}",
            f"{_UNWRITTEN} See docs/formats/ledger.md for what the body of each kind holds.",
            code=fault.rule,
        )


@contextmanager
def _no_garbage_collection() -> Iterator[None]:
    """Reading makes many small objects and no cycles: collecting in between only costs time."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()
