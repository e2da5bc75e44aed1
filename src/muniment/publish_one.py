"""Changing one place of one file without a journal: a single rename is atomic by itself (G4, G12).

For a file that is large and written often (`ledger add`): a journal would copy the old and the new bytes once
more, though nothing could be half done that it would have to mend. For the same reason the gate is shown the
changed place with its surroundings instead of the whole file; that the rest is as it was is checked here.
"""

from __future__ import annotations

from dataclasses import dataclass
from os import stat_result

from muniment import targets
from muniment.errors import Refused
from muniment.files import atomic_write
from muniment.git.objects import blob_oid
from muniment.git.repo import Oid
from muniment.journal import sweep_temporary
from muniment.redact.gate import Cleared
from muniment.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Present:
    """A file as read under the lock: its bytes, what `stat` said before, its blob id when known."""

    data: bytes
    stat: stat_result
    blob: str = ""


@dataclass(frozen=True, slots=True)
class Part:
    """A place of a present file, `start` to `stop` in bytes, and the cleared bytes that it gets."""

    start: int
    stop: int
    cleared: Cleared


def replace_part(ws: Workspace, present: Present, part: Part, data: bytes) -> Oid:
    """Give a file new bytes that differ from the present ones in one cleared place; returns their blob id.

    Call it inside `open_door`, with `data` the whole new content.

    Raises:
        Refused: The file was changed since it was read, or can't be a target; it is left as it is.
        Unavailable: It can't be written; the old file stays.
        ValueError: `data` differs from the present bytes elsewhere; nothing was written.
    """
    if not isinstance(part.cleared, Cleared):
        raise TypeError("only what the gate has cleared is written")
    path = part.cleared.path
    _require_only_there(present.data, part, data)
    targets.require_plain(ws, (path,))
    target = ws.path(path)
    sweep_temporary(target)
    now = target.stat()
    before = present.stat
    if (now.st_mtime_ns, now.st_size, now.st_ino) != (before.st_mtime_ns, before.st_size, before.st_ino):
        raise Refused(
            f"{path} was changed by someone else just now; it is left as it is.",
            "Look at it, then run the command again.",
            code="changed-meanwhile",
        )
    oid = blob_oid(data, ws.repo.object_format)
    written = targets.Written(ws)
    old = present.blob or blob_oid(present.data, ws.repo.object_format)
    if written.knows(path, old) or path not in ws.repo.dirty((path,)):
        written.remember_blob(path, oid)
    atomic_write(target, data)
    return oid


def _require_only_there(old: bytes, part: Part, new: bytes) -> None:
    after = part.start + len(part.cleared.data)
    if not (
        len(new) - after == len(old) - part.stop
        and new[: part.start] == old[: part.start]
        and new[part.start : after] == part.cleared.data
        and new[after:] == old[part.stop :]
    ):
        raise ValueError("the file would change outside the cleared place")
