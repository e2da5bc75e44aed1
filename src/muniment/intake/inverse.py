"""The inverse three-way patch of what an act did to documents, or the places where it can't be made (G14).

An act (an `applied` or an `undo` entry) lists each document with its blob before and after. The inverse
merges by lines: base is the text after the act, ours is what stands there now, theirs the text before.
"""

from __future__ import annotations

import posixpath
from collections.abc import Sequence
from dataclasses import dataclass

from muniment import targets, threeway
from muniment.errors import MunimentError, Problem, Refused
from muniment.files import read_bytes
from muniment.git.repo import Oid
from muniment.intake.acts import Effect
from muniment.intake.desk import Change
from muniment.workspace import Workspace


def documents(
    ws: Workspace, effects: Sequence[Effect]
) -> tuple[dict[str, bytes | None], dict[str, bytes | None], list[Change]]:
    """Each document as it is now and as it will be, and what is done to it; or `Refused` with the hunks."""
    before: dict[str, bytes | None] = {}
    after: dict[str, bytes | None] = {}
    log: list[Change] = []
    problems: list[Problem] = []
    for effect in effects:
        path = effect.path
        targets.require_plain(ws, (path,))
        place = ws.path(path)
        now_there = read_bytes(place) if place.exists() else None
        before[path] = now_there
        merged = _inverse(ws, effect, now_there)
        if isinstance(merged, list):
            problems += merged
        elif merged.data != now_there:
            after[path] = merged.data
            log.append(Change(path, _what(now_there, merged.data)))
    if problems:
        raise _overlapping(ws, problems)
    return before, after, log


def _overlapping(ws: Workspace, problems: Sequence[Problem]) -> Refused:
    """The refusal: which places, listed one by one, and the way on that fits where the edits are."""
    paths = tuple(dict.fromkeys(problem.path for problem in problems))
    dirty = [path for path in paths if path in ws.repo.dirty(paths)]
    hint = (
        f"These edits are not committed. Look at them (git diff -- {dirty[0]}) and take them out; or take "
        "out by hand what the batch did there."
        if dirty
        else "Undo what edited them first, or take out by hand what the batch did there. Who edited it: "
        f"git log -1 -- {paths[0]}"
    )
    return Refused(
        f"Later edits overlap with what would be undone: {problems[0]} Nothing was written.",
        hint,
        code="overlap",
        problems=tuple(problems),
    )


@dataclass(frozen=True, slots=True)
class _Result:
    data: bytes | None


def _inverse(ws: Workspace, effect: Effect, present: bytes | None) -> _Result | list[Problem]:
    """The document with the batch's change taken out, or the places where that can't be done."""
    path = effect.path
    try:
        base, back = (_as_here(ws, path, blob, present) for blob in (effect.new, effect.old))
    except MunimentError as error:
        return [_overlap(path, 0, f"The text before the batch isn't in this clone: {error}")]
    if present == base or (present == back and present is not None):
        return _Result(back)
    if present is None:
        return _gone(ws, effect, back)
    if base is None:
        return [_overlap(path, 1, "The batch's undo removed it, and a file of that name was made since.")]
    return _merged(path, base, present, back)


def _merged(path: str, base: bytes, present: bytes, back: bytes | None) -> _Result | list[Problem]:
    """The three-way patch of a document that was edited since, or its overlaps."""
    if back is None:
        edits = threeway.edits(threeway.split(base), threeway.split(present))
        lines = [edit.start + 1 for edit in edits]
        return [_overlap(path, line, "It was edited after the batch created it.") for line in lines]
    merged = threeway.merge(base, present, back)
    if merged.data is not None:
        return _Result(merged.data)
    return [
        _overlap(path, hunk.first, f"{_lines(hunk.first, hunk.last)} edited after the batch.")
        for hunk in merged.hunks
    ]


def _as_here(ws: Workspace, path: str, blob: Oid | None, present: bytes | None) -> bytes | None:
    """A blob's bytes through git's filters, but with the line endings that the file has here."""
    if blob is None:
        return None
    data, here = ws.repo.blob(blob), ws.repo.smudge(path, blob)
    filtered = _unified(here) != _unified(data)  # by a filter program; line endings are the file's own matter
    converted = present is None or filtered or (b"\r\n" in data) != (b"\r\n" in present)
    return here if converted else data


def _unified(data: bytes) -> bytes:
    return data.replace(b"\r\n", b"\n")


def _gone(ws: Workspace, effect: Effect, back: bytes | None) -> _Result | list[Problem]:
    """A document that the batch touched is not there any more: moved, or deleted.

    A move is known by the file's name or by its unchanged text, among the documents that HEAD holds.
    """
    path = effect.path
    head = ws.repo.head().commit
    name = posixpath.basename(path)
    root = ws.config.docs_root
    twins = (
        []
        if head is None
        else [
            entry.path
            for entry in ws.repo.entries(head, root)
            if entry.path != path and (posixpath.basename(entry.path) == name or entry.oid == effect.new)
        ]
    )
    if twins:
        return [_overlap(path, 0, f"It was moved after the batch, it seems to {twins[0]}.")]
    if back is None:
        return _Result(None)  # created by the batch and deleted since: what undo would do is done
    return [_overlap(path, 0, "It was deleted after the batch.")]


def _overlap(path: str, line: int, message: str) -> Problem:
    return Problem(path, line, "undo-overlap", message)


def _lines(first: int, last: int) -> str:
    return f"Line {first} was" if first == last else f"Lines {first}-{last} were"


def _what(now_there: bytes | None, then: bytes | None) -> str:
    if then is None:
        return "deleted, as the batch created it"
    if now_there is None:
        return "created again"
    return "what the batch changed is taken back"
