"""What the working tree and the index hold against HEAD; read only, through git's clean filters."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping, Sequence
from pathlib import Path

from muniment.errors import Unavailable
from muniment.git.objects import blob_oid
from muniment.git.process import fields
from muniment.git.repo import LINK_MODE, Oid, Repository, StagedChange, TreeEntry

_TEXT_ATTRIBUTES = ("text", "crlf", "eol", "filter", "ident", "working-tree-encoding")
_PLAIN = frozenset({"unspecified", "unset"})


def staged_change(head: str, path: str) -> StagedChange:
    """One record of `git diff --cached --raw -z --no-abbrev`."""
    old_mode, new_mode, old, new, status = head[1:].split(" ")
    if status == "U":
        return StagedChange(path, "U", None, None)
    return StagedChange(path, status, _side(path, old_mode, old), _side(path, new_mode, new))


def _side(path: str, mode: str, oid: str) -> TreeEntry | None:
    return TreeEntry(path, int(mode, 8), Oid(oid)) if int(mode, 8) else None


def read_worktree(path: Path) -> tuple[int, bytes] | None:
    """A working-tree file's (mode, bytes), a link's target for a link; None when there is nothing.

    Unlike git's status this never trusts cached file times or `assume-unchanged`.

    Raises:
        Unavailable: Unreadable, or neither a file nor a link.
    """
    try:
        info = path.lstat()
        if stat.S_ISLNK(info.st_mode):
            return LINK_MODE, os.fsencode(path.readlink())
        if not stat.S_ISREG(info.st_mode):
            raise Unavailable(f"{path} is not a regular file.")
        return stat.S_IMODE(info.st_mode), path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise Unavailable(f"{path} can't be read: {error.strerror}.") from error


def dirty(repo: Repository, paths: Sequence[str]) -> Mapping[str, str]:
    """Those of `paths` whose index or working-tree content differs from HEAD → why, in words."""
    head = repo.head().commit
    index = repo.index_entries(paths)
    unmerged = frozenset(repo.conflicted())
    found: dict[str, str] = {}
    for path in paths:
        why = (
            "has unresolved conflicts"
            if path in unmerged
            else _why(repo, path, repo.entry(head, path) if head else None, index.get(path))
        )
        if why:
            found[path] = why
    return found


def _why(repo: Repository, path: str, committed: TreeEntry | None, staged: TreeEntry | None) -> str:
    """Why one path is dirty, or the empty text."""
    target = repo.root / path
    if target.is_dir() and not target.is_symlink():
        return "is a folder"
    if committed != staged:
        if staged is None:
            return "is staged for removal"
        return "has staged changes" if committed else "is staged but not committed"
    found = read_worktree(target)
    if committed is None:
        return "is untracked" if found else ""
    if found is None:
        return "is deleted in the working tree"
    return "" if _same(repo, committed, *found) else "is modified in the working tree"


def _same(repo: Repository, committed: TreeEntry, mode: int, data: bytes) -> bool:
    """Whether a working-tree file holds what is committed, as it is or through the clean filters."""
    if (mode == LINK_MODE) != (committed.mode == LINK_MODE):
        return False
    if blob_oid(data, repo.object_format) == committed.oid:
        return True
    return mode != LINK_MODE and repo.clean(committed.path, data) == committed.oid


def keeps_line_endings(repo: Repository, path: str, data: bytes) -> bool:
    """Whether git would store `data`'s CRLF as they are because the file is committed with CRLF.

    `git add` leaves line endings alone under `core.autocrlf` or `text=auto` when the blob in the index
    has CRLF ("safer autocrlf"), while `git hash-object` doesn't look at the index; this closes that gap.
    Source: git's `convert.c`, `has_crlf_in_index`.
    """
    if b"\r\n" not in data:
        return False
    entry = repo.index_entries((path,)).get(path)
    if entry is None or entry.mode == LINK_MODE:
        return False
    committed = repo.blob(entry.oid)
    if b"\r\n" not in committed or b"\0" in committed[:8000]:
        return False
    values = attributes(repo, path)
    automatic = values["text"] == "auto" or (values["text"] == "unspecified" and values["crlf"] in _PLAIN)
    others = ("filter", "ident", "working-tree-encoding")
    return automatic and all(values[name] in _PLAIN for name in others)


def attributes(repo: Repository, path: str) -> Mapping[str, str]:
    """The git attributes that decide how a file's text is converted."""
    listed = fields(repo.git.out("check-attr", "-z", *_TEXT_ATTRIBUTES, "--", path))
    return dict(zip(listed[1::3], listed[2::3], strict=True))
