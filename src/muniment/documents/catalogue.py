"""Find and read a repository's documents, in the working tree or at a commit, without writing anything."""

from __future__ import annotations

import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from muniment.documents import goals
from muniment.documents.catalogue_files import decode, read_file, tree_paths
from muniment.documents.reading import Document, Kind, Statement, read_document
from muniment.documents.stages import MAX_DOCUMENT, Layout, Stage
from muniment.errors import Problem
from muniment.git.repo import Oid
from muniment.workspace import Workspace


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
    ws = ws.at(rev)
    layout = Layout.of(ws.config)
    documents: list[Document] = []
    problems: list[Problem] = []
    files, found = at_commit(ws, layout, ws.commit) if ws.commit else in_tree(ws, layout)
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


def at_commit(ws: Workspace, layout: Layout, commit: Oid) -> Files:
    """The documents' bytes as they are in a commit."""
    entries = {entry.path: entry for entry in ws.repo.entries(commit)}
    chosen = [
        (path, stage, entries[path])
        for path, stage in layout.select(entries)
        if stat.S_ISREG(entries[path].mode)
    ]
    blobs = dict(ws.repo.blobs([entry.oid for _, _, entry in chosen]))
    return [(path, stage, blobs[entry.oid]) for path, stage, entry in chosen], ()


def long_document(document: Document) -> tuple[Problem, ...]:
    """The note that only the beginning of a document counts, when that is so."""
    if not document.truncated:
        return ()
    message = f"It is long; only its first {MAX_DOCUMENT} characters are searched."
    return (Problem(document.path, 0, "document-long", message),)
