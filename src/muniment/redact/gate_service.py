"""The stories behind `muniment redact` and `muniment gate`: files, JSONL batches, ranges of commits (G12)."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path

from muniment.errors import CheckFailed, MunimentError, Unavailable, UsageProblem
from muniment.files import read_bytes
from muniment.git.repo import Commit, Oid
from muniment.redact.gate import Gate, GateProblem, gate_for
from muniment.redact.names import KnownNames
from muniment.redact.scrub import Redaction, redact
from muniment.workspace import Workspace

_BATCH_NAMES = 64
"""How many different name lists a batch keeps ready."""


def load_names(path: str | None) -> KnownNames:
    """The names file given with `--known`, or no names.

    Raises:
        Unavailable: The file can't be read.
        UsageProblem: It is not UTF-8, or a line is unusable.
    """
    if path is None:
        return KnownNames.empty()
    try:
        return KnownNames.parse(read_bytes(Path(path)).decode("utf-8"), path)
    except UnicodeDecodeError as error:
        raise UsageProblem(f"{path} is not UTF-8.", "Save the names file as UTF-8.") from error


def redact_bytes(data: bytes, name: str, known: KnownNames) -> Redaction:
    """A file's redacted text.

    Raises:
        CheckFailed: An undecodable byte; nothing is printed, since part of the text can't be judged.
    """
    try:
        return redact(data.decode("utf-8"), known)
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise CheckFailed(f"{name}:{line}: a byte is not UTF-8, so the text can't be redacted.") from error


# --- batch ------------------------------------------------------------------------------------------


def batch(lines: Iterable[bytes]) -> Iterator[str]:
    """One JSON line out for each one in; a line that can't be judged is refused, never skipped (G18)."""
    for number, line in enumerate(lines, 1):
        if line.strip():
            yield json.dumps(_batch_item(line, number), ensure_ascii=False)


def _batch_item(line: bytes, number: int) -> dict[str, object]:
    identity: object = None
    try:
        item = json.loads(line)
        identity = item.get("id")
        text = item["text"]
        known = _known(tuple(item.get("known_names") or ()))
        if not isinstance(text, str):
            return _refused(identity, f"line {number}: text must be a string")
        return _verdicts(identity, text, known)
    except MunimentError as error:
        return _refused(identity, error.message)
    except Exception:  # noqa: BLE001 - whatever fails in judging refuses
        return _refused(identity, f"line {number}: it must be an object with id, text and known_names")


def _verdicts(identity: object, text: str, known: KnownNames) -> dict[str, object]:
    gate = Gate(known)
    redacted = redact(text, known).text
    text.encode()  # a lone surrogate can't be written: refuse
    return {
        "id": identity,
        "redacted": redacted,
        "gate": _verdict(gate, redacted),
        "gate_raw": _verdict(gate, text),
    }


def _verdict(gate: Gate, text: str) -> str:
    return "refuse" if gate.inspect_text(text, "text") else "pass"


def _refused(identity: object, why: str) -> dict[str, object]:
    return {"id": identity, "redacted": "", "gate": "refuse", "gate_raw": "refuse", "error": why}


@lru_cache(maxsize=_BATCH_NAMES)
def _known(names: tuple[str, ...]) -> KnownNames:
    return KnownNames.of(names)


# --- gate -------------------------------------------------------------------------------------------


def gate_paths(paths: Iterable[str], gate: Gate) -> tuple[GateProblem, ...]:
    """Everything refusable in whole files, folders included; needs no repository.

    Raises:
        Unavailable: A path is missing or unreadable.
    """
    problems: list[GateProblem] = []
    for path in paths:
        for name in _files(path):
            problems += gate.inspect(name, read_bytes(Path(name)), None)
    return tuple(problems)


def _files(path: str) -> Iterator[str]:
    if not Path(path).is_dir():
        yield path
        return
    for folder, folders, names in os.walk(path, onerror=_unreadable):
        folders[:] = sorted(name for name in folders if name != ".git")
        yield from (str(Path(folder) / name) for name in sorted(names) if (Path(folder) / name).is_file())


def _unreadable(error: OSError) -> None:
    raise Unavailable(f"{error.filename} can't be read: {error.strerror}.") from error


def gate_range(ws: Workspace, revisions: str, known: KnownNames) -> tuple[GateProblem, ...]:
    """Everything refusable that the commits of A..B add: files, paths and messages, commit by commit.

    What one commit adds and a later one removes still leaves with the history, so each commit is judged
    against its own parents.

    Raises:
        UsageProblem: Not a range, or a revision that names nothing here.
    """
    first, dots, last = revisions.partition("..")
    if not dots or last.startswith("."):
        raise UsageProblem(f"{revisions!r} is not a range.", "Write A..B, for example origin/main..HEAD.")
    hide, tip = _resolved(ws, first or "HEAD"), _resolved(ws, last or "HEAD")
    gate = gate_for(ws, known)
    problems: list[GateProblem] = []
    for commit in ws.repo.commits([tip], hide=[hide]):
        problems += gate.inspect_text(commit.message, "commit message")
        problems += _gate_commit(ws, gate, commit)
    return tuple(problems)


def _resolved(ws: Workspace, revision: str) -> Oid:
    commit = ws.repo.resolve(revision)
    if commit is None:
        raise UsageProblem(f"{revision!r} names no commit here.", "Fetch it, or check its spelling.")
    return commit


def _gate_commit(ws: Workspace, gate: Gate, commit: Commit) -> Iterator[GateProblem]:
    """What a commit adds to every one of its parents (a merge adds what none of them has)."""
    parents = commit.parents
    paths = set(ws.repo.diff_paths(parents[0] if parents else None, commit.oid))
    for parent in parents[1:]:
        paths &= set(ws.repo.diff_paths(parent, commit.oid))
    for path in sorted(paths):
        entry = ws.repo.entry(commit.oid, path)
        if entry is None:
            continue
        data = ws.repo.blob(entry.oid)
        yield from gate.inspect(path, data, _before(ws, parents, path))


def _before(ws: Workspace, parents: tuple[Oid, ...], path: str) -> bytes | None:
    """The parents' bytes at `path`, joined for a merge, or None where no parent has the file."""
    entries = [entry for parent in parents if (entry := ws.repo.entry(parent, path))]
    return b"\n".join(ws.repo.blob(entry.oid) for entry in entries) if entries else None
