"""`muniment repair`: whatever a merge without the drivers left becomes the semantic merge (G8).

The ledger has its own ways (`ledger.repair`). State and plan are mended here: out of the index's stages while
a merge is under way, out of conflict markers, or, where a merge commit came out clean and wrong, out of its
parents. Nothing is staged or committed, what somebody resolved by hand stays, and a second run changes
nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from muniment import merge_driver
from muniment.errors import Refused, Unavailable
from muniment.files import FileChange
from muniment.git.conflict import conflict_sides
from muniment.git.objects import index_line
from muniment.git.process import fields
from muniment.git.repo import Commit, Oid
from muniment.ledger.conflict import content_lines
from muniment.ledger.repair import repair_ledger
from muniment.ledger.repair_report import Outcome, Repaired, Unresolved, gated
from muniment.ledger.store import read_here
from muniment.merge_driver import Unmergeable, Versions
from muniment.plan.document import read_plan
from muniment.publish import ClearedChange, Door, open_door
from muniment.redact.gate import GateRefused
from muniment.regions import reading_digest
from muniment.state import text
from muniment.state.merge_form import SideError
from muniment.state.merge_heal import heal_text
from muniment.workspace import Workspace

_RESOLVED = "The conflict is resolved: both sides are merged by item."
_LIMIT = 200
"""How many of the newest commits of a file are looked at for a merge that lost something."""
RECENT = 20
"""How many of the newest commits are looked at whatever they changed; `check` looks no further."""


@dataclass(frozen=True, slots=True)
class Mended:
    """What a file should be, and why in one sentence; `data` None: it stays, and `left` says what to do."""

    data: bytes | None = None
    what: str = ""
    sources: tuple[bytes, ...] = ()
    left: tuple[Unresolved, ...] = ()


def repair(ws: Workspace, paths: Sequence[str] = ()) -> Outcome:
    """Mend what `paths` (repository-relative files or folders; none means everything) name.

    Raises:
        Refused: Another Muniment process holds the lock, or a file changed meanwhile.
        Unavailable: A file can't be read or written; nothing was written.
    """
    config = ws.config
    outcomes: list[Outcome] = []
    if _asked(paths, config.ledger_path) or any(_within(path, config.sealed_path) for path in paths):
        outcomes.append(repair_ledger(ws))
    for kind, path in targets(ws):
        if _asked(paths, path):
            outcomes.append(_repair(ws, kind, path))
    known = {config.ledger_path, *(path for _, path in targets(ws))}
    conflicted = frozenset(ws.repo.conflicted()) if paths else frozenset()
    others = [path for path in dict.fromkeys(paths) if path not in known and path in conflicted]
    outcomes += [Outcome(unresolved=(_by_hand(path),)) for path in others]
    return Outcome(
        tuple(one for outcome in outcomes for one in outcome.repaired),
        tuple(one for outcome in outcomes for one in outcome.unresolved),
        tuple(one for outcome in outcomes for one in outcome.written),
    )


def targets(ws: Workspace) -> tuple[tuple[str, str], ...]:
    """Kind and path of the files in this repository that merge by themselves, the ledger apart."""
    pairs = (("state", ws.config.sweep_state_path), ("plan", ws.config.plan_path))
    return tuple((kind, path) for kind, path in pairs if not Path(path).is_absolute())


def _asked(paths: Sequence[str], path: str) -> bool:
    return not paths or any(given == "." or _within(path, given) for given in paths)


def _within(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def _by_hand(
    path: str, words: str = "It has an unfinished merge and is none of Muniment's files."
) -> Unresolved:
    add = f"git add -- {path}"
    return Unresolved(path, 0, "by-hand", f"{words} Resolve it by hand, then: {add}", add)


def _repair(ws: Workspace, kind: str, path: str) -> Outcome:
    with open_door(ws) as door:
        data = read_here(ws, path)
        mended = mend(ws, kind, path, data)
        if mended.data is None or mended.data == data:
            return Outcome(unresolved=mended.left)
        try:
            written = _write(door, FileChange(path, mended.data), data, mended.sources)
        except GateRefused as error:
            return Outcome(unresolved=(gated(path, error), *mended.left))
        return Outcome((Repaired(path, mended.what),), mended.left, written)


def _write(door: Door, change: FileChange, seen: bytes | None, sources: Sequence[bytes]) -> tuple[str, ...]:
    """Write a file whose text is the sides' own: the gate judges what it adds to all of them."""
    assert change.data is not None  # noqa: S101 - nothing is deleted
    old = b"\n".join([seen or b"", *sources])
    cleared = ClearedChange(change.path, door.gate.clear(change.path, change.data, old))
    return door.write((cleared,), operation="repair", seen={change.path: seen})


def mend(ws: Workspace, kind: str, path: str, data: bytes | None) -> Mended:
    """What the file at `path`, holding `data`, should hold; reads only."""
    try:
        found = stages(ws, path)
        if found:
            return _from_stages(ws, kind, path, data, found)
        sides = conflict_sides(data) if data is not None else None
        if sides is not None:
            return _from_markers(ws, kind, path, sides)
        return _from_history(ws, kind, path, data)
    except Unmergeable as error:
        problem = error.problems[0]
        return Mended(left=(Unresolved(path, problem.line, problem.rule, problem.message, error.hint),))


def stages(ws: Workspace, path: str) -> dict[int, Oid]:
    """The index's stages of an unmerged path; {} when it isn't unmerged."""
    listed = map(index_line, fields(ws.repo.git.out("ls-files", "-u", "-z", "--", path)))
    return {stage: entry.oid for stage, entry in listed if entry.path == path}


def _from_stages(ws: Workspace, kind: str, path: str, data: bytes | None, found: dict[int, Oid]) -> Mended:
    """A merge under way: the sides lie in the index."""
    held = {stage: ws.repo.smudge(path, oid) for stage, oid in found.items()}
    if 2 not in held or 3 not in held:  # noqa: PLR2004 - git's numbers of the two sides
        return Mended(left=(_by_hand(path, "It was deleted on one side and changed on the other."),))
    versions = Versions(path, held.get(1), held[2], held[3])
    if not merge_driver.is_ours(kind, versions):
        return Mended(left=(_by_hand(path),))
    sides = conflict_sides(data) if data is not None else None
    lines = frozenset().union(*map(content_lines, held.values()))
    if data is not None and not content_lines(data) <= lines and data not in held.values():
        if sides is None:
            return Mended()  # somebody's resolution, or what an earlier run wrote
        versions = Versions(path, held.get(1), sides[0], sides[1])  # edited by hand around the markers
    elif data is not None and sides is None and data not in held.values() and _holds(kind, versions, data):
        return Mended()
    return Mended(merge_driver.merge(kind, versions).data, _RESOLVED, tuple(held.values()))


def _holds(kind: str, versions: Versions, data: bytes) -> bool:
    """Whether an unmarked file is a resolution: readable, and nothing of either side is lost in it."""
    try:
        if kind == "plan":
            return read_plan(data.decode(), "")[0] is not None
        return heal_text(*_texts(versions), data.decode(), data.decode()) is None
    except (SideError, UnicodeDecodeError):
        return False


def _texts(versions: Versions) -> tuple[str | None, str, str]:
    base = None if versions.base is None else versions.base.decode()
    return base, versions.ours.decode(), versions.theirs.decode()


def _from_markers(ws: Workspace, kind: str, path: str, sides: tuple[bytes, bytes, bytes | None]) -> Mended:
    """Markers that were staged or committed: the sides are what stands around them."""
    ours, theirs, base = sides
    if base is None:
        base = next((one.base for _, one, _ in merges(ws, path) if one.base is not None), None)
    versions = Versions(path, base, ours, theirs)
    if not merge_driver.is_ours(kind, versions):
        return Mended(left=(_by_hand(path),))
    return Mended(merge_driver.merge(kind, versions).data, _RESOLVED, (ours, theirs))


def _from_history(ws: Workspace, kind: str, path: str, data: bytes | None) -> Mended:
    """Merge commits whose result isn't what their parents should have given; the newest first."""
    if data is None:
        return Mended()
    for _, versions, result in merges(ws, path):
        healed = lost(kind, versions, result, data)
        if healed is not None and healed != data:
            what = "What a merge by lines had lost or mixed up is put back from the merged versions."
            return Mended(healed, what, (versions.ours, versions.theirs))
    return _unreadable(path, data) if kind == "state" else Mended()


def _unreadable(path: str, data: bytes) -> Mended:
    """A state that no merge explains and nobody can read is left to a person, by name."""
    try:
        text.read(data)
    except text.Corrupt as error:
        fix = f"git log -- {path}, then git restore --source=REV -- {path}"
        words = f"It can't be read, and no merge explains that: {error.message}"
        return Mended(left=(Unresolved(path, error.line, "state-shape", words, fix),))
    return Mended()


def lost(kind: str, versions: Versions, result: bytes, now: bytes) -> bytes | None:
    """The file as it should stand after a merge that lost something; None when that lost nothing.

    Args:
        kind: `state` or `plan`.
        versions: The merge's sides.
        result: What the merge made of them.
        now: What stands now.
    """
    if not merge_driver.is_ours(kind, versions):
        return None
    try:
        if kind == "state":
            healed = heal_text(*_texts(versions), result.decode(), now.decode())
            return None if healed is None else healed.encode()
        if now != result or _sound(result.decode()):
            return None
        return merge_driver.merge(kind, versions).data
    except (SideError, Unmergeable, UnicodeDecodeError):
        return None


def _sound(text: str) -> bool:
    """Whether a plan can be read, and its list is as Muniment wrote it."""
    plan, _ = read_plan(text, "")
    if plan is None:
        return False
    body = plan.items.body.strip("\n")
    return not body or not plan.items.digest or reading_digest(body) == plan.items.digest


def merges(
    ws: Workspace, path: str, *, limit: int = _LIMIT, commits: Sequence[Commit] | None = None
) -> Iterator[tuple[Commit, Versions, bytes]]:
    """Merge commits of HEAD's history that had to merge a file: its versions in them, and their result.

    A merge of more than two heads counts as its last step. What this clone lacks is passed over.
    """
    head = ws.repo.head().commit
    listed = commits if commits is not None else _listed(ws, head, path, limit)
    for commit in listed:
        if len(commit.parents) < 2:  # noqa: PLR2004 - no merge
            continue
        try:
            blobs = [_blob(ws, one, path) for one in (commit.oid, *commit.parents)]
            one, other = commit.parents[0], commit.parents[-1]
            start = ws.repo.merge_base(one, other)
            base = _blob(ws, start, path) if start else None
        except Unavailable:
            continue
        result, ours, theirs = blobs[0], blobs[1], blobs[-1]
        if result is None or ours is None or theirs is None or base in {ours, theirs} or ours == theirs:
            continue
        yield commit, Versions(path, base, ours, theirs), result


def _listed(ws: Workspace, head: Oid | None, path: str, limit: int) -> Iterator[Commit]:
    tips = [head] if head else []
    try:
        newest = tuple(ws.repo.commits(tips, limit=RECENT))  # a merge that took a side whole changed no path
        yield from newest
        known = {commit.oid for commit in newest}
        yield from (one for one in ws.repo.commits(tips, paths=[path], limit=limit) if one.oid not in known)
    except (Unavailable, Refused):  # history is cut off: what is here has been looked at
        return


def _blob(ws: Workspace, commit: Oid, path: str) -> bytes | None:
    entry = ws.repo.entry(commit, path)
    return None if entry is None else ws.repo.smudge(path, entry.oid)
