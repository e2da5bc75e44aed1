"""`muniment repair` for the ledger: whatever a merge or a hand did to it becomes the semantic merge (G6, G8).

Reads the file in any state, the sides of a conflict, HEAD's own history and, where something is still named
and absent, any object of this clone. Loses nothing: the result is read again before it is written, must
hold every entry that was readable before, and must verify better. Commits and stages nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256

from muniment.errors import Refused
from muniment.files import FileChange
from muniment.git.repo import Oid
from muniment.ledger.assembly import Whole, assemble, in_force, sealed_path
from muniment.ledger.conflict import Reading, Stray, content_lines, read
from muniment.ledger.entries import Entry
from muniment.ledger.mend import closed, joined, unvouched
from muniment.ledger.merge import Content
from muniment.ledger.misread import UPGRADE
from muniment.ledger.repair_report import Outcome, Repaired, Unresolved, count, gated, left, names, way_out
from muniment.ledger.repair_sources import Archive, any_object, own_history, stages
from muniment.ledger.seal import clear, sealed_segment
from muniment.ledger.segment import BETWEEN, CLOSE, Sealed, parse_segment, render_segment
from muniment.ledger.store import Ledger, read_here
from muniment.publish import open_door
from muniment.redact.gate import GateRefused
from muniment.workspace import Workspace

_FILE_RULES = frozenset(
    {"json", "encoding", "conflict-markers", "duplicate-key", "schema", "value", "id", "repeated", "sealed"}
)


@dataclass(slots=True)
class _Case:
    """One ledger under repair.

    Attributes:
        ws: The workspace.
        path: The open segment's path.
        data: Its bytes as they stand; None when there is no file.
        reading: All that they hold.
        archive: What git holds.
        content: The open segment's content once the sides are joined.
        held: Ids that were readable before; none may get lost.
        sealed: Bytes of sealed segments by path, as they will stand; None removes one.
        segments: The sealed segments that count and their entries' ids.
        strays: What can't be made out and stays where it is.
        back: Entries of HEAD's own history that were not here any more.
        newer: Whether a newer Muniment wrote the file, a side of it, or HEAD's.
        done: What was mended.
    """

    ws: Workspace
    path: str
    data: bytes | None
    reading: Reading
    archive: Archive
    content: Content = field(default_factory=Content)
    held: frozenset[str] = frozenset()
    sealed: dict[str, bytes | None] = field(default_factory=dict)
    segments: dict[Sealed, frozenset[str]] = field(default_factory=dict)
    strays: list[Stray] = field(default_factory=list)
    done: list[Repaired] = field(default_factory=list)
    back: frozenset[str] = frozenset()
    newer: bool = False

    def say(self, what: str, path: str = "") -> None:
        self.done.append(Repaired(path or self.path, what))

    def file(self, path: str) -> bytes | None:
        """A sealed segment's bytes, as repair leaves them."""
        return self.sealed[path] if path in self.sealed else read_here(self.ws, path)


def repair_ledger(ws: Workspace) -> Outcome:
    """Mend the ledger of the working tree, as far as what this clone holds allows.

    Raises:
        Refused: Another Muniment process holds the lock, or the file changed meanwhile.
        Unavailable: A file can't be read or written; nothing was written.
    """
    with open_door(ws) as door:
        path = ws.config.ledger_path
        data = read_here(ws, path)
        case = _Case(ws, path, data, read(data, path) if data is not None else Reading(), Archive(ws))
        _gather(case)
        blocked = _blocked(case)
        if blocked is not None:
            return Outcome((), (blocked,))
        if data is None and not case.archive.ids and not case.content.entries:
            return Outcome()
        ids = _members(case)
        _records(case, ids)
        new = _render(case, ids)
        if new is None:
            return Outcome((), tuple(_stuck(case)))
        before = assemble(data, path, lambda file: read_here(ws, file))
        after = assemble(new, path, case.file)
        _require_nothing_lost(case, ids, after)
        changes = _changes(case, new)
        if not changes or not _better(case, before, after, ids):
            return Outcome((), tuple(left(case.archive, path, before)))
        ledger = Ledger(path, before, data)
        try:
            cleared = clear(ws, door, ledger, changes)
        except GateRefused as error:
            return Outcome((), (gated(path, error), *left(case.archive, path, before)))
        written = door.write(cleared, operation="repair", seen={path: data})
        return Outcome(tuple(case.done), tuple(left(case.archive, path, after)), written)


def _gather(case: _Case) -> None:
    """Read the conflict's sides and HEAD's history, and join what the file and the sides hold."""
    archive = case.archive
    archive.forms.take(case.reading)
    own_history(case.ws, archive)
    sides = stages(case.ws, case.path)
    if sides is not None:
        for side in sides[0]:
            archive.forms.take(side)
        _drop_copies(case, sides[1])
    case.content, case.held = joined(case.reading, sides[0] if sides else None)
    if not case.reading.headed:
        for version in reversed(archive.tips):
            case.content = replace(case.content, extra={**version.extra, **case.content.extra})
    case.newer = any(one.newer for one in (case.reading, *archive.tips, *(sides[0] if sides else ())))
    put = case.content.entries.keys() - case.reading.ids
    if case.reading.marked:
        case.say("The conflict is resolved: the entries of both sides are joined.")
    elif put:
        case.say(f"{count(put)} of the conflict's sides put back: {names(put)}.")


def _drop_copies(case: _Case, blobs: Iterable[Oid]) -> None:
    """A marked file whose every line is one of a side's holds nothing of its own: git wrote it."""
    lines: set[bytes] = set()
    for oid in blobs:
        lines |= content_lines(case.ws.repo.blob(oid))
    if case.reading.marked and case.data is not None and content_lines(case.data) <= lines:
        case.reading.strays = []


def _blocked(case: _Case) -> Unresolved | None:
    """Why this file can't be touched at all; None when it can."""
    if case.newer:
        message = f"It has a newer schema than this Muniment knows, so it is read-only here. {UPGRADE}"
        return Unresolved(case.path, 0, "newer-schema", message, "pip install --upgrade muniment")
    if not case.reading.schema:
        message = (
            'Its `schema` is not "muniment.ledger/1": it is no ledger of Muniment and was left untouched.'
        )
        return Unresolved(case.path, 1, "schema", message, f"git checkout HEAD -- {case.path}")
    return None


def _members(case: _Case) -> frozenset[str]:
    """The ids of the mended ledger; says what was added and why."""
    archive, forms = case.archive, case.archive.forms
    here = set(case.content.entries)
    for row in in_force(case.content.sealed)[0]:
        here |= _sealed_ids(case, row)
    case.held |= frozenset(here) - frozenset(case.content.entries)
    own = frozenset(here | archive.ids)
    back = own - here
    ids, absent = closed(own, forms)
    if absent or unvouched(ids, forms) or _missing_files(case):
        any_object(case.ws, archive)
        ids, _ = closed(own, forms)
    told = [one for one in case.reading.strays if _told(case, one, ids)]
    case.strays = [one for one in case.reading.strays if one not in told]
    edited = {one.entry for one in told if one.entry in ids}
    if edited:
        case.say(f"{count(edited)} had been edited or damaged; put back as recorded: {names(edited)}.")
    case.back = back - edited
    if needed := ids - own - edited:
        case.say(f"{count(needed)} that others name added from this clone's objects: {names(needed)}.")
    return ids


def _told(case: _Case, stray: Stray, ids: frozenset[str]) -> bool:
    """Whether the mended ledger holds, as recorded, what a damaged piece was."""
    forms = case.archive.forms
    if stray.entry in ids and stray.is_told_by(forms.any_form(stray.entry)):
        return True
    return any(stray.is_told_by(forms.bodies[one]) for one in ids if one in forms.bodies)


def _sealed_ids(case: _Case, row: Sealed) -> frozenset[str]:
    """The ids of a sealed segment as it stands on disk, its entries learnt."""
    data = read_here(case.ws, sealed_path(case.path, row.file))
    if data is None:
        return frozenset()
    reading = read(data, "")
    case.archive.forms.take(reading)
    return reading.ids


def _missing_files(case: _Case) -> bool:
    return any(
        case.archive.sealed_bytes(row) is None and not _intact(case, row)
        for row in in_force(case.content.sealed)[0]
    )


def _intact(case: _Case, row: Sealed) -> bool:
    data = read_here(case.ws, sealed_path(case.path, row.file))
    return data is not None and sha256(data).hexdigest() == row.sha256


def _records(case: _Case, ids: frozenset[str]) -> None:
    """Settle the list of sealed segments: restored, listed again, or replaced where a body must go."""
    records = set(case.content.sealed) | _listed_again(case, ids)
    for row in in_force(records)[0]:
        where = sealed_path(case.path, row.file)
        if not _intact(case, row):
            found = case.archive.sealed_bytes(row)
            if found is not None:
                case.sealed[where] = found
                case.say("The sealed segment is restored from history, by its SHA-256.", where)
        data = case.file(where)
        entries = parse_segment(data, where).entries if data is not None else ()
        if data is not None and sha256(data).hexdigest() == row.sha256:
            fresh = _without_bodies(case, row, entries, ids)
            if fresh is not None:
                records.discard(row)
                records.add(fresh)
                row = fresh  # noqa: PLW2901 - the segment that takes its place
        case.segments[row] = frozenset(entry.id for entry in entries)
    case.content = Content(case.content.entries, frozenset(records), case.content.extra)
    back = case.back - frozenset().union(*case.segments.values())
    if back:
        case.say(f"{count(back)} of HEAD's own history put back: {names(back)}.")


def _listed_again(case: _Case, ids: frozenset[str]) -> set[Sealed]:
    """Records of HEAD's history whose segments hold entries that nothing else here holds any more."""
    lost = set(ids) - case.held - set(case.content.entries)
    known = in_force({*case.archive.rows, *case.content.sealed})[0]
    again: set[Sealed] = set()
    for row in known:
        data = None if row in case.content.sealed or not lost else case.archive.sealed_bytes(row)
        if data is None:
            continue
        inside = {entry.id for entry in parse_segment(data, "").entries}
        if inside & lost and inside <= ids:
            again.add(row)
            lost -= inside
    return again


def _without_bodies(case: _Case, row: Sealed, entries: Sequence[Entry], ids: frozenset[str]) -> Sealed | None:
    """The segment that replaces one holding a body that an expunge entry took; None when it holds none."""
    forms = case.archive.forms
    stand = [forms.choose(entry.id, ids) for entry in entries]
    if all(one.expunged == entry.expunged for one, entry in zip(stand, entries, strict=True)):
        return None
    made, data = sealed_segment(stand, [row.file, *row.replaces])
    case.sealed[sealed_path(case.path, made.file)] = data
    case.sealed[sealed_path(case.path, row.file)] = None
    case.say("Expunged bodies are out of the sealed segment again.", sealed_path(case.path, made.file))
    return made


def _render(case: _Case, ids: frozenset[str]) -> bytes | None:
    """The open segment's new bytes; None when a piece of the file could be neither read nor kept."""
    if any(not one.is_object for one in case.strays):
        return None
    inside: frozenset[str] = frozenset().union(*case.segments.values())
    opened = frozenset(case.content.entries) | (ids - inside)
    entries = [case.archive.forms.choose(one, ids) for one in opened]
    data = render_segment(entries, case.content.sealed, case.content.extra)
    if not case.strays:
        return data
    start = len(data) - len(CLOSE) - len(BETWEEN.join(entry.raw for entry in entries))
    lines: list[tuple[str, bytes]] = [(entry.id, entry.raw) for entry in entries]
    lines += dict.fromkeys((one.entry, one.raw) for one in case.strays)
    return data[:start] + BETWEEN.join(raw for _, raw in sorted(lines)) + CLOSE


def _stuck(case: _Case) -> Iterable[Unresolved]:
    for one in case.strays:
        what = "" if one.is_object else " It can't be kept in a mended file, so nothing was written."
        rule = "id" if one.entry else "json"
        yield Unresolved(case.path, one.line, rule, f"{one.message}{what} {way_out(one.line)}")


def _require_nothing_lost(case: _Case, ids: frozenset[str], after: Whole) -> None:
    lost = (ids | case.held) - after.entries.keys()
    if lost:
        raise Refused(
            f"Repairing {case.path} would lose {count(lost)} ({names(lost)}).",
            "Nothing was written; this is a bug in Muniment: please report it.",
            code="shrinking-ledger",
        )


def _better(case: _Case, before: Whole, after: Whole, ids: frozenset[str]) -> bool:
    """Whether the result verifies better: first the files and lost entries, then what entries say."""
    was, now = _score(before, ids), _score(after, ids)
    if was == now and case.data is not None:
        segment = before.segments[0].segment
        if not segment.laid_out and not case.done:
            case.say("It is written in Muniment's layout again: one entry a line, sorted by id.")
        return not segment.laid_out or bool(case.done)
    if not case.done:
        rules = sorted({fault.rule for fault in before.verdict.problems if fault.rule in _FILE_RULES})
        case.say(f"It is whole again ({', '.join(rules) or 'layout'}); no entry was changed.")
    return now < was


def _score(whole: Whole, ids: frozenset[str]) -> tuple[int, int]:
    files = [fault for fault in whole.verdict.problems if fault.rule in _FILE_RULES]
    lost = len(ids - whole.entries.keys())
    return len(files) + lost, len(whole.verdict.problems) - len(files)


def _changes(case: _Case, new: bytes) -> tuple[FileChange, ...]:
    changes = [] if new == case.data else [FileChange(case.path, new)]
    for path, data in sorted(case.sealed.items()):
        if data != read_here(case.ws, path):
            changes.append(FileChange(path, data))
    return tuple(changes)
