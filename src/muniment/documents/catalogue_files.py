"""Which files are documents' files, and their bytes and text; nothing is parsed here.

A file that can't be read is named with its reason and never hides the others (G18). Symbolic links aren't
followed: what they name is either a document of its own or lies outside the repository.
"""

from __future__ import annotations

import stat

from muniment.documents.stages import LOCAL_INSTRUCTIONS, MAX_DOCUMENT, ROOT_INSTRUCTIONS, Layout
from muniment.errors import MunimentError, Problem
from muniment.files import read_bytes
from muniment.git import listing
from muniment.workspace import Workspace

MAX_FILE = 64 * 1024 * 1024
"""Largest document opened, in bytes; a larger file is named as skipped."""
_BINARY_PROBE = 8000


def tree_paths(ws: Workspace, layout: Layout) -> frozenset[str]:
    """Every path of `ws.commit`; else every tracked one, and under `docs_root` untracked ones not ignored.

    The local instruction files of `LOCAL_INSTRUCTIONS` and files named by `relate_paths` count although git
    may ignore them.
    """
    if ws.commit is not None:
        return frozenset(entry.path for entry in ws.repo.entries(ws.commit))
    places = (layout.docs_root, layout.reviews, layout.goals, *ROOT_INSTRUCTIONS, *layout.extra)
    paths = listing.tracked(ws.repo) | listing.untracked(ws.repo, places)
    own = (path for path in (*LOCAL_INSTRUCTIONS, *layout.extra) if (ws.root / path).is_file())
    return paths | frozenset(own)


def read_file(ws: Workspace, path: str) -> bytes | Problem | None:
    """A document's bytes; None when absent, or a link of a commit; a problem when it can't be read."""
    target = ws.root / path
    try:
        if ws.commit is not None:
            return ws.read(path, limit=MAX_FILE)
        mode = target.lstat().st_mode
        if stat.S_ISLNK(mode):
            return _link(ws, path)
        ws.path(path)
        return read_bytes(target, limit=MAX_FILE)
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        return Problem(path, 0, "document-unreadable", f"It can't be read: {type(error).__name__}.")
    except MunimentError as error:
        return Problem(path, 0, "document-unreadable", f"It can't be read: {error.message}")


def _link(ws: Workspace, path: str) -> Problem | None:
    """Nothing for a link to a file inside the repository, which is read in its own place or not at all."""
    target = (ws.root / path).resolve()
    if target.is_file() and target.is_relative_to(ws.root.resolve()):
        return None
    return Problem(path, 0, "document-link", "It is a symbolic link that leads outside, and isn't followed.")


def decode(path: str, data: bytes) -> tuple[str | None, tuple[Problem, ...]]:
    """A document's text: UTF-8, or by its byte-order mark, else Windows-1252 and said so; None if binary."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data[: 2 * MAX_DOCUMENT].decode("utf-16", "replace"), ()
    if b"\0" in data[:_BINARY_PROBE]:
        return None, (Problem(path, 0, "document-binary", "It holds binary data and isn't read."),)
    try:
        return data.decode("utf-8-sig"), ()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        message = "It is not UTF-8; it was read as Windows-1252."
        return data.decode("cp1252", "replace"), (Problem(path, line, "document-encoding", message),)
