"""Find and read a repository's documents, in the working tree or at a commit, without writing anything.

A file that can't be read is named with its reason and never hides the others (G18). Symbolic links aren't
followed: what they name is either a document of its own or lies outside the repository.
"""

from __future__ import annotations

import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from muniment.documents import goals
from muniment.documents.reading import Document, Kind, Statement, read_document
from muniment.documents.sections import MAX_DOCUMENT
from muniment.documents.stages import LOCAL_INSTRUCTIONS, ROOT_INSTRUCTIONS, Layout, Stage
from muniment.errors import MunimentError, Problem, UsageProblem
from muniment.files import read_bytes
from muniment.git import listing
from muniment.workspace import Workspace

MAX_FILE = 64 * 1024 * 1024
"""Largest document opened, in bytes; a larger file is named as skipped."""
_BINARY_PROBE = 8000


@dataclass(frozen=True, slots=True)
class Catalogue:
    """Every document of a working tree or commit, by path."""

    documents: tuple[Document, ...]
    layout: Layout

    def document(self, path: str) -> Document | None:
        """The document at a path."""
        return next((document for document in self.documents if document.path == path), None)

    def of_stage(self, stage: Stage) -> tuple[Document, ...]:
        """The documents of one stage."""
        return tuple(document for document in self.documents if document.stage is stage)

    def statements(self, *kinds: Kind) -> Iterator[tuple[Document, Statement]]:
        """The statements of the given kinds (all when none is given), by path and line."""
        for document in self.documents:
            for statement in document.statements:
                if not kinds or statement.kind in kinds:
                    yield document, statement


def load(ws: Workspace, rev: str | None = None) -> tuple[Catalogue, tuple[Problem, ...]]:
    """Read every document, and collect the problems of files, goals and roadmaps.

    Raises:
        UsageProblem: `rev` names no commit here.
        MissingObject: The commit's tree is absent from this clone.
    """
    layout = Layout.of(ws.config)
    documents: list[Document] = []
    problems: list[Problem] = []
    files, found = at_commit(ws, layout, rev) if rev else in_tree(ws, layout)
    problems += found
    for path, stage, data in files:
        text, found = decode(path, data)
        problems += found
        if text is not None:
            document = read_document(path, stage, text)
            documents.append(document)
            problems += long_document(document)
    problems += goals.check(documents, layout)
    return Catalogue(tuple(documents), layout), tuple(problems)


Files = tuple[Iterable[tuple[str, Stage, bytes]], tuple[Problem, ...]]


def in_tree(ws: Workspace, layout: Layout) -> Files:
    """The documents' bytes as they are in the working tree, and the files that can't be read."""
    found: list[tuple[str, Stage, bytes]] = []
    problems: list[Problem] = []
    for path, stage in layout.select(tree_paths(ws, layout)):
        data = read_file(ws, path)
        if isinstance(data, bytes):
            found.append((path, stage, data))
        elif data is not None:
            problems.append(data)
    return found, tuple(problems)


def at_commit(ws: Workspace, layout: Layout, rev: str) -> Files:
    """The documents' bytes as they are in a commit."""
    commit = ws.repo.resolve(rev)
    if commit is None:
        raise UsageProblem(f"{rev!r} names no commit in this clone.", "Fetch it, or give another revision.")
    entries = {entry.path: entry for entry in ws.repo.entries(commit)}
    chosen = [
        (path, stage, entries[path])
        for path, stage in layout.select(entries)
        if stat.S_ISREG(entries[path].mode)
    ]
    blobs = dict(ws.repo.blobs([entry.oid for _, _, entry in chosen]))
    return [(path, stage, blobs[entry.oid]) for path, stage, entry in chosen], ()


def tree_paths(ws: Workspace, layout: Layout) -> frozenset[str]:
    """Every tracked path, and under `docs_root` every untracked one that git doesn't ignore.

    The local instruction files of `LOCAL_INSTRUCTIONS` and files named by `relate_paths` count although git
    may ignore them.
    """
    places = (layout.docs_root, layout.reviews, layout.goals, *ROOT_INSTRUCTIONS, *layout.extra)
    paths = listing.tracked(ws.repo) | listing.untracked(ws.repo, places)
    own = (path for path in (*LOCAL_INSTRUCTIONS, *layout.extra) if (ws.root / path).is_file())
    return paths | frozenset(own)


def read_file(ws: Workspace, path: str) -> bytes | Problem | None:
    """A document's bytes; None when it is gone from the working tree; a problem when it can't be read."""
    target = ws.root / path
    try:
        mode = target.lstat().st_mode
        if stat.S_ISLNK(mode):
            return Problem(path, 0, "document-link", "It is a symbolic link and isn't followed.")
        ws.path(path)
        return read_bytes(target, limit=MAX_FILE)
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        return Problem(path, 0, "document-unreadable", f"It can't be read: {type(error).__name__}.")
    except MunimentError as error:
        return Problem(path, 0, "document-unreadable", f"It can't be read: {error.message}")


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


def long_document(document: Document) -> tuple[Problem, ...]:
    """The note that only the beginning of a document counts, when that is so."""
    if not document.truncated:
        return ()
    message = f"It is long; only its first {MAX_DOCUMENT} characters are searched."
    return (Problem(document.path, 0, "document-long", message),)
