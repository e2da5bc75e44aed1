"""What the file shelves hold: documents in two parts, and records (the ledger and earlier reports)."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from typing import TYPE_CHECKING

from muniment.documents.catalogue_files import decode
from muniment.documents.stages import Layout, Stage
from muniment.errors import MunimentError, Problem
from muniment.relate.index_files import Item, Kind, Reading
from muniment.workspace import Workspace

if TYPE_CHECKING:
    from muniment.relate.passages import SubjectText

_ENTRY_ID = re.compile(rb'"id"[ \t\r\n]*:[ \t\r\n]*"([0-9a-f]{32})"')


def documents(layout: Layout, paths: Iterable[str]) -> Kind:
    """Staged documents, statements, and other texts: unlike lengths and aims make separate parts.

    Marked-up texts outside `docs_root` (a README, a manual) are searched for reference; what they leave out
    of scope counts only at the repository's top, since deeper ones are often examples or someone else's.
    """
    chosen = ((path, layout.search_stage_of(path)) for path in sorted(paths))
    stages = {path: stage for path, stage in chosen if stage is not None}

    def read(path: str, data: bytes) -> Reading:
        from muniment.documents.catalogue import long_document  # noqa: PLC0415 - nothing changed: no reader
        from muniment.documents.reading import read_document  # noqa: PLC0415 - the same
        from muniment.relate import passages  # noqa: PLC0415 - the same

        text, problems = decode(path, data)
        if text is None:
            return ((), (), ()), problems
        document = read_document(path, stages[path], text)
        own = layout.stage_of(path) is not None or "/" not in path
        statements = tuple(passages.of_statements(document)) if own else ()
        whole = tuple(passages.of_document(document))
        staged, other = ((), whole) if document.stage is Stage.REFERENCE else (whole, ())
        return (staged, statements, other), (*problems, *long_document(document))

    return Kind([Item(path) for path in stages], read, repr(layout), parts=3)


def records(ws: Workspace, layout: Layout, paths: Collection[str]) -> Kind:
    """The ledger's subjects, and the findings of every earlier report."""
    ledger = ws.config.ledger_path
    sealed = f"{ws.config.sealed_path}/"
    triage = f"{ws.config.triage_path}/"
    below = sorted(path for path in paths if path.startswith(f"{layout.reviews}/") and path.endswith(".json"))
    segments = tuple(path for path in below if path.startswith(sealed))
    reports = [path for path in below if path != ledger and not path.startswith((sealed, triage))]
    items = [Item(path) for path in reports]
    if (ledger in paths) if ws.commit else (ws.root / ledger).exists():
        items.insert(0, Item(ledger, segments))

    def read(path: str, data: bytes) -> Reading:
        from muniment.relate import passages  # noqa: PLC0415 - nothing changed: no reader

        if path != ledger:
            return (tuple(passages.of_report(data, path)),), ()
        try:
            return (tuple(passages.of_subject(subject) for subject in subjects(ws)),), ()
        except MunimentError as error:
            return ((),), (Problem(path, 0, "relate-ledger", f"It can't be searched: {error.message}"),)

    return Kind(items, read, repr(layout), parts=1)


def subjects(ws: Workspace) -> Iterator[SubjectText]:
    """What the ledger says about each canonical subject that still says something."""
    from muniment.ledger import store  # noqa: PLC0415 - an unchanged ledger isn't read
    from muniment.relate.passages import SubjectText  # noqa: PLC0415 - the same

    ledger = store.load(ws)
    view = ledger.view
    lines = {found[1].decode(): line for found, line in _numbered(ledger.data or b"")}
    for name in view.names():
        if view.canonical(name) != name:
            continue
        subject = view.subject(name)
        if subject.status == "unseen":
            continue
        newest = (*subject.decisions, *(entry.id for entry in reversed(subject.findings)))
        decided = [entry for entry in subject.settled if entry.data.get("reason")]
        yield SubjectText(
            fingerprint=name,
            names=(name, *subject.aliases),
            titles=tuple(
                dict.fromkeys(
                    str(entry.data["title"])
                    for entry in reversed(subject.findings)
                    if entry.data.get("title")
                )
            ),
            reasons=tuple(str(entry.data["reason"]) for entry in decided),
            status=subject.status,
            decided=bool(subject.decisions),
            path=ledger.path,
            line=next((lines[one] for one in newest if one in lines), 0),
        )


def _numbered(data: bytes) -> Iterator[tuple[re.Match[bytes], int]]:
    """Every entry id in a segment's bytes, with its 1-based line."""
    line, at = 1, 0
    for match in _ENTRY_ID.finditer(data):
        line += data.count(b"\n", at, match.start())
        at = match.start()
        yield match, line
