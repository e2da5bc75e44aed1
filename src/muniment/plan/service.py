"""`plan reconcile` with its effects: under the clone's lock, through the one door, committing nothing."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from muniment import publish, regions
from muniment.errors import MunimentError, Problem, Refused
from muniment.files import FileChange, atomic_write, read_bytes
from muniment.git.repo import MissingObject
from muniment.lease_local import LocalLease
from muniment.plan.document import ITEMS
from muniment.plan.reconcile import Effects, Reconciled, normal_body, reconcile_plan
from muniment.plan.rotate import dated_sibling
from muniment.state import store
from muniment.state.evidence import missing
from muniment.state.model import Status
from muniment.workspace import Workspace

MAX_HISTORY = 1_000
"""How many commits that touched the plan are searched for its last rendering."""
_NAMED = 5
"""How many closed items without evidence are named."""
_REMEMBERED = 64
_CONFLICT = ("<<<<<<< ", ">>>>>>> ", "||||||| ")


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a reconcile did.

    Attributes:
        path: The plan's path.
        rotated_to: Where a plan that wasn't ours any more went, or None.
        result: What was decided.
        written: Paths whose bytes changed.
        problems: Items of the state that can't be read.
        notes: Closed items that nothing shows to be fixed, and what to do about each kind (S11).
    """

    path: str
    rotated_to: str | None
    result: Reconciled
    written: tuple[str, ...]
    problems: tuple[Problem, ...]
    notes: tuple[str, ...] = ()

    def json(self) -> dict[str, object]:
        """The contract's document, with the names behind its counts."""
        result = self.result
        return {
            "path": self.path,
            "rotated_to": self.rotated_to,
            "salvaged": len(result.salvaged),
            "open": result.open,
            "added": len(result.added),
            "drained": len(result.drained),
            "foreign": len(result.foreign),
            "written": list(self.written),
            "items": {
                "added": list(result.added),
                "drained": list(result.drained),
                "foreign": list(result.foreign),
            },
            "salvaged_text": list(result.salvaged),
            "warnings": [*result.warnings, *map(str, self.problems)],
            "notes": list(self.notes),
        }


def reconcile(ws: Workspace, writer: str = "") -> Outcome:
    """Bring plan and state file of the working tree in step; a no-op writes nothing.

    It holds the clone's lease while it runs: by the lock alone, so that a killed run blocks nobody (G9).

    Args:
        ws: The repository.
        writer: Who works; the lease that this worktree holds under that name is no obstacle.

    Raises:
        Refused: The state is broken, the clone or the state is held by another's lease, the plan holds
            conflict markers or is a link, or another process holds the clone's lock.
        Unavailable: There is no state.
        CheckFailed: The gate refuses what would be written.
    """
    with LocalLease(ws).during(writer), publish.open_door(ws) as door:
        file = store.load(ws)
        store.require_free(file.state.lease, ws.now(), file.path, writer)
        path = ws.config.plan_path
        old = _plan_bytes(ws, path)
        today = ws.now().strftime("%Y-%m-%d")
        result = _decide(ws, file, path, old, today)
        rotated = _sibling(ws, path, today) if result.rotate else None
        changes = [FileChange(path, result.text.encode("utf-8"))] if _differs(result, old) else []
        edited = file.with_fields(result.fields)
        changes += [edited] if edited else []
        cleared = door.clear(changes)
        if rotated is not None and old is not None:
            # The user's own bytes only change their name: nothing is added that the gate would judge.
            cleared += (publish.ClearedChange(rotated, door.gate.clear(rotated, old, old)),)
        seen = {path: old, file.path: file.text.encode("utf-8"), **({rotated: None} if rotated else {})}
        written = door.write(cleared, seen=seen) if cleared else ()
    if path in written:
        _remember(ws, result)
    return Outcome(path, rotated, result, written, file.problems, tuple(_unproven(file)))


def _unproven(file: store.StateFile) -> Iterator[str]:
    """Closed items without their evidence: they leave the plan, as the state says, but not in silence."""
    records = file.document.value.get("items") or {}
    found = [
        (key, missing(record))
        for key, record in records.items()
        if isinstance(record, Mapping) and record.get("status") == Status.CLOSED and missing(record)
    ]
    for key, wrong in found[:_NAMED]:
        yield f"{str(key)[:80]} is closed without {', '.join(wrong)}: nothing shows that it is fixed."
    if len(found) > _NAMED:
        yield f"So are {len(found) - _NAMED} more; `muniment check` names them all."
    if found:
        yield (
            "Where the fix isn't verified yet, set the status fix_pending. Where it was declined, set "
            "analyzed and `actionable: false`: it stays off the plan, and claims no fix."
        )


def _differs(result: Reconciled, old: bytes | None) -> bool:
    """Whether the plan's file is to be written."""
    return old is None or result.text.encode("utf-8") != old


def _plan_bytes(ws: Workspace, path: str) -> bytes | None:
    """The plan as it stands, or None; raises `Refused` for what can't be moved aside untouched."""
    file = ws.path(path)
    if file.is_symlink():
        raise Refused(
            f"The plan {path} is a symbolic link; it is neither followed nor replaced.",
            "Put a file there, or name the real path in `plan_path`. Nothing was written.",
        )
    if file.exists() and not (file.is_file() or file.is_dir()):
        raise Refused(
            f"The plan {path} is no plain file; it is neither read nor replaced.",
            "Put a file there, or name another path in `plan_path`. Nothing was written.",
        )
    return read_bytes(file) if file.exists() else None


def _decide(ws: Workspace, file: store.StateFile, path: str, old: bytes | None, today: str) -> Reconciled:
    """The pure part, fed with the plan's text; bytes that aren't UTF-8 make the plan no plan of ours."""
    text: str | None
    undecodable: tuple[Problem, ...] = ()
    try:
        text = None if old is None else old.decode("utf-8")
    except UnicodeDecodeError:
        text = None
        undecodable = (Problem(path, 0, "plan-unreadable", "The plan is not UTF-8."),)
    if text is not None:
        _refuse_conflict(text, path)
    effects = Effects(lambda digest: _last_rendering(ws, path, digest), lambda body: _digest(ws, body))
    result = reconcile_plan(text, file.state, path=path, today=today, effects=effects)
    if undecodable:
        return replace(result, rotate=True, reasons=undecodable)
    return result


def _refuse_conflict(text: str, path: str) -> None:
    """Raise `Refused` for a plan that still holds a merge's conflict markers (G8)."""
    if not any(marker in text for marker in _CONFLICT):
        return
    for number, line in enumerate(text.split("\n"), 1):
        if line.startswith(_CONFLICT):
            problem = Problem(path, number, "conflict-marker", "The plan holds a git conflict marker.")
            raise Refused(str(problem), "Resolve the merge first; nothing was written.", problems=(problem,))


def _sibling(ws: Workspace, path: str, today: str) -> str:
    """A name for the old plan that nothing has, in the working tree or in HEAD."""
    head = ws.repo.head().commit

    def taken(candidate: str) -> bool:
        target = ws.root.joinpath(*candidate.split("/"))
        if target.exists() or target.is_symlink():
            return True
        return head is not None and ws.repo.entry(head, candidate) is not None

    return dated_sibling(path, today, taken)


def _last_rendering(ws: Workspace, path: str, digest: str) -> str | None:
    """The region's body in the newest committed plan that carries this digest and reads as it says.

    A body that was edited by hand and then committed carries the digest too, but doesn't read so.
    """
    head = ws.repo.head().commit
    if head is None:
        return None
    seen: set[str] = set()
    try:
        commits = [head, *(commit.oid for commit in ws.repo.commits([head], paths=[path], limit=MAX_HISTORY))]
        for commit in commits:
            entry = ws.repo.entry(commit, path)
            if entry is None or entry.oid in seen:
                continue
            seen.add(entry.oid)
            body = _carries(ws.repo.blob(entry.oid), path, digest)
            if body is not None and regions.reading_digest(normal_body(body)) == digest:
                return body
    except MissingObject:
        return None
    return None


def _carries(blob: bytes, path: str, digest: str) -> str | None:
    """The body of a blob's region when its end marker carries `digest`."""
    if f"sha256={digest}".encode() not in blob:
        return None
    found, _ = regions.find(blob.decode("utf-8", "replace"), path, {ITEMS})
    return next((region.body for region in found if region.digest == digest), None)


def _digest(ws: Workspace, body: str) -> str:
    """A body's reading digest: remembered if Muniment wrote these very bytes, else read."""
    key = hashlib.sha256(body.encode("utf-8", "surrogatepass")).hexdigest()
    for line in _remembered(ws):
        if line.startswith(key):
            return line[len(key) + 1 :]
    return regions.reading_digest(body)


def _remember(ws: Workspace, result: Reconciled) -> None:
    """Note the digest of the body just written, so that the next run need not parse it; never a must."""
    key = hashlib.sha256(result.body.encode("utf-8", "surrogatepass")).hexdigest()
    lines = [f"{key} {result.digest}", *_remembered(ws)][:_REMEMBERED]
    with suppress(MunimentError):
        atomic_write(_cache(ws), ("\n".join(dict.fromkeys(lines)) + "\n").encode(), mode=0o600)


def _remembered(ws: Workspace) -> list[str]:
    """What earlier runs noted; a damaged or absent note is none."""
    file = _cache(ws)
    if not file.is_file():
        return []
    lines = read_bytes(file, limit=1 << 20).decode("ascii", "replace").split("\n")
    return [line for line in lines if len(line) == 64 + 1 + 16]


def _cache(ws: Workspace) -> Path:
    """Where digests of written bodies are noted."""
    return ws.private / "cache" / "readings"
