"""Replacing one cleared file without a journal: a single rename is atomic by itself (G4).

For files that are large and written often (`ledger add`): a journal would copy the old and the new bytes
once more, and nothing could be half done that it would have to mend.
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


def replace_one(ws: Workspace, cleared: Cleared, present: Present) -> Oid:
    """Give an existing file its cleared new bytes; returns their blob id. Call it inside `open_door`.

    Raises:
        Refused: The file was changed since it was read, or can't be a target; it is left as it is.
        Unavailable: It can't be written; the old file stays.
    """
    if not isinstance(cleared, Cleared):
        raise TypeError("only what the gate has cleared is written")
    targets.require_plain(ws, (cleared.path,))
    target = ws.path(cleared.path)
    sweep_temporary(target)
    now = target.stat()
    if (now.st_mtime_ns, now.st_size, now.st_ino) != (
        present.stat.st_mtime_ns,
        present.stat.st_size,
        present.stat.st_ino,
    ):
        raise Refused(
            f"{cleared.path} was changed by someone else just now; it is left as it is.",
            "Look at it, then run the command again.",
            code="changed-meanwhile",
        )
    oid = blob_oid(cleared.data, ws.repo.object_format)
    written = targets.Written(ws)
    before = present.blob or blob_oid(present.data, ws.repo.object_format)
    if written.knows(cleared.path, before) or cleared.path not in ws.repo.dirty((cleared.path,)):
        written.remember_blob(cleared.path, oid)
    atomic_write(target, cleared.data)
    return oid
