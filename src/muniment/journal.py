"""Several files changed as one step: what was, what shall be, and the way back (G4).

A journal is a folder under the clone's common git folder, one per worktree. It counts once `intent.json`
is there, which is written last and by rename; it names every file with its old and new bytes. It is gone
once the step is over. What is found there by the next run was left by a kill; see `docs/design/publish.md`.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from muniment.errors import Refused
from muniment.files import atomic_write, sync_folder
from muniment.git.objects import blob_oid
from muniment.git.place import worktree_name
from muniment.git.repo import LINK_MODE, Oid, Repository
from muniment.git.worktree import read_worktree

SCHEMA = "muniment.journal/1"
_TEMPORARY = r"\.[0-9a-f]{12}\.tmp\Z"


@dataclass(frozen=True, slots=True)
class Side:
    """One file's content before or after: permission bits (None: no file) and where its bytes are.

    Attributes:
        mode: Permission bits, or None when there is no such file.
        digest: SHA-256 of the bytes, in hex; empty when there is no file.
        blob: The committed blob that holds just these bytes; empty when they are in the payload.
        start: Offset in the payload file.
        size: Length in bytes.
    """

    mode: int | None
    digest: str = ""
    blob: str = ""
    start: int = 0
    size: int = 0


@dataclass(frozen=True, slots=True)
class Step:
    """One file's change; `path` is repository-relative."""

    path: str
    old: Side
    new: Side


@dataclass(frozen=True, slots=True)
class Intent:
    """What a journal is for.

    Attributes:
        kind: `write` (files only) or `commit`.
        operation: The caller's stable key, by which a retry is known as the same operation.
        ref: The branch to move; empty for `write`.
        parent: The commit it stood at; empty on an unborn branch and for `write`.
        steps: The files, in writing order.
        folders: Folders that the step makes, outermost first.
    """

    kind: str
    operation: str
    ref: str
    parent: str
    steps: tuple[Step, ...]
    folders: tuple[str, ...]

    @property
    def paths(self) -> tuple[str, ...]:
        """The files' paths."""
        return tuple(step.path for step in self.steps)


@dataclass(frozen=True, slots=True)
class Wanted:
    """A file's current and intended content: (permission bits, bytes), None for no file.

    `blob` is the committed blob holding the current bytes, when one does.
    """

    path: str
    now: tuple[int, bytes] | None
    then: tuple[int, bytes] | None
    blob: str = ""


class Journal:
    """The journal of one worktree; open from `begin` until `finish`."""

    def __init__(self, repo: Repository, private: Path) -> None:
        self._repo = repo
        self.folder = private / "journal" / worktree_name(repo.git_dir, repo.common_dir)
        self._intent = self.folder / "intent.json"
        self._commit = self.folder / "commit"
        self._payload = self.folder / "payload"
        self._dirty = self.folder / "dirty.json"

    @property
    def index(self) -> Path:
        """The private index that the commit is built from."""
        return self.folder / "index"

    @property
    def prepared(self) -> Path:
        """The finished new index of the user."""
        return self.folder / "index.new"

    @property
    def message(self) -> Path:
        """The commit message as hooks receive it."""
        return self.folder / "COMMIT_EDITMSG"

    @property
    def alive(self) -> Path:
        """A lock that this run and every git and hook it starts hold; free once all of them have ended."""
        return self.folder / "alive"

    def is_open(self) -> bool:
        """Whether an earlier run was killed in the middle of a step."""
        return self._intent.exists()

    def begin(
        self, wanted: Iterable[Wanted], *, kind: str, operation: str, ref: str = "", parent: str = ""
    ) -> Intent:
        """Record durably what is about to happen; nothing else has been touched yet."""
        self.discard()
        self.folder.mkdir(parents=True, exist_ok=True)
        payload: list[bytes] = []
        files = tuple(wanted)
        steps = tuple(_step(file, payload, self._repo.object_format) for file in files)
        atomic_write(self._payload, b"".join(payload), mode=0o600)
        made = self._new_folders(file.path for file in files if file.then is not None)
        intent = Intent(kind, operation, ref, parent, steps, made)
        text = json.dumps({"schema": SCHEMA, **asdict(intent)}, indent=1)
        atomic_write(self._intent, text.encode("ascii"), mode=0o600)
        return intent

    def _new_folders(self, paths: Iterable[str]) -> tuple[str, ...]:
        found: set[str] = set()
        for path in paths:
            parts = path.split("/")[:-1]
            found |= {
                folder
                for folder in ("/".join(parts[: length + 1]) for length in range(len(parts)))
                if not (self._repo.root / folder).exists()
            }
        return tuple(sorted(found))

    def load(self) -> Intent:
        """The intent of an open journal.

        Raises:
            Refused: It can't be read; it is left for a person to look at.
        """
        try:
            return _intent(json.loads(self._intent.read_bytes()))
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise Refused(
                f"The journal {self._intent} can't be read.",
                "It may come from another version of Muniment: finish with that one, or move it away.",
                code="journal-unreadable",
            ) from error

    def note_commit(self, commit: Oid) -> None:
        """Record the commit about to be published, before the branch moves."""
        atomic_write(self._commit, commit.encode("ascii"), mode=0o600)

    def noted_at(self) -> int:
        """When the commit was noted, by the file system's clock (nanoseconds)."""
        return self._commit.stat().st_mtime_ns

    def noted_commit(self) -> Oid | None:
        """The commit recorded by `note_commit`, if the step came that far."""
        try:
            return Oid(self._commit.read_text("ascii"))
        except FileNotFoundError:
            return None

    def note_dirty(self, paths: Iterable[str]) -> None:
        """Record which paths had uncommitted changes before the repository's hooks ran."""
        atomic_write(self._dirty, json.dumps(sorted(paths)).encode("ascii"), mode=0o600)

    def noted_dirty(self) -> frozenset[str] | None:
        """The paths recorded by `note_dirty`; None when no hook has run."""
        try:
            return frozenset(json.loads(self._dirty.read_bytes()))
        except FileNotFoundError:
            return None

    def write_forward(self, intent: Intent) -> None:
        """Give every file its new content; a file that is neither old nor new stops it.

        Raises:
            Refused: A file was changed since it was read; it is left as it is.
        """
        for folder in intent.folders:
            (self._repo.root / folder).mkdir(exist_ok=True)
            sync_folder((self._repo.root / folder).parent)
        for step in intent.steps:
            now = current(self._repo.root, step.path)
            if now == step.new.digest:
                continue
            if now != step.old.digest:
                raise changed_meanwhile(step.path)
            self._put(step.path, step.new)

    def write_back(self, intent: Intent, ours: Mapping[str, frozenset[str]] | None = None) -> tuple[str, ...]:
        """Give every file its exact old content; returns the paths left alone.

        A file is put back only when it holds what was about to be written, or (`ours`: path → digests)
        what a hook made of it. Anything else is a person's edit and stays.
        """
        left = []
        for step in intent.steps:
            sweep_temporary(self._repo.root / step.path)
            now = current(self._repo.root, step.path)
            if now == step.old.digest:
                continue
            if now == step.new.digest or now in (ours or {}).get(step.path, ()):
                self._put(step.path, step.old)
            else:
                left.append(step.path)
        for folder in reversed(intent.folders):
            _remove_if_empty(self._repo.root / folder)
        return tuple(left)

    def _put(self, path: str, side: Side) -> None:
        target = self._repo.root / path
        if side.mode is None:
            target.unlink(missing_ok=True)
            if target.parent.is_dir():
                sync_folder(target.parent)
            return
        atomic_write(target, self._bytes(side), mode=side.mode)

    def _bytes(self, side: Side) -> bytes:
        if side.blob:
            data = self._repo.blob(Oid(side.blob))
        else:
            with self._payload.open("rb") as stream:
                stream.seek(side.start)
                data = stream.read(side.size)
        if hashlib.sha256(data).hexdigest() != side.digest:
            raise Refused(
                f"The journal in {self.folder} is damaged; no file was changed by it.",
                code="journal-unreadable",
            )
        return data

    def finish(self) -> None:
        """The step is over: first what makes the journal count goes, then the rest."""
        self._intent.unlink(missing_ok=True)
        if self.folder.exists():
            sync_folder(self.folder)
        self.discard()

    def discard(self) -> None:
        """Drop what a kill before `begin` was done, or during `finish`, left behind."""
        if not self.is_open() and self.folder.exists():
            for file in (self._commit, self._dirty):
                file.unlink(missing_ok=True)
            shutil.rmtree(self.folder, ignore_errors=True)  # what stays no longer counts


def changed_meanwhile(path: str) -> Refused:
    """The refusal for a file that a person, or another program, changed since it was read."""
    return Refused(
        f"{path} was changed by someone else just now; it is left as it is.",
        "Look at it, then run the command again.",
        code="changed-meanwhile",
    )


def _intent(raw: dict[str, Any]) -> Intent:
    """An intent from its JSON; raises `ValueError`, `KeyError` or `TypeError` for anything else."""
    if raw.pop("schema") != SCHEMA:
        raise ValueError(raw)
    steps = tuple(Step(one["path"], Side(**one["old"]), Side(**one["new"])) for one in raw["steps"])
    return Intent(**{**raw, "steps": steps, "folders": tuple(raw["folders"])})


def _step(file: Wanted, payload: list[bytes], object_format: str) -> Step:
    """One file's step; bytes that no blob holds are added to the payload, once."""
    old = _side(file.now, payload, file.blob if _is_blob(file, object_format) else "")
    return Step(file.path, old, old if file.then == file.now else _side(file.then, payload))


def _is_blob(file: Wanted, object_format: str) -> bool:
    return bool(file.blob) and file.now is not None and blob_oid(file.now[1], object_format) == file.blob


def _side(found: tuple[int, bytes] | None, payload: list[bytes], blob: str = "") -> Side:
    if found is None:
        return Side(None)
    mode, data = found
    digest = hashlib.sha256(data).hexdigest()
    if blob:
        return Side(mode, digest, blob=blob)
    start = sum(map(len, payload))
    payload.append(data)
    return Side(mode, digest, start=start, size=len(data))


def current(root: Path, path: str) -> str:
    """The digest of a file's bytes as they are now; empty for no file, a word for what is no plain file."""
    if (root / path).is_dir():
        return "folder"
    found = read_worktree(root / path)
    if found is not None and found[0] == LINK_MODE:
        return "link"
    return "" if found is None else hashlib.sha256(found[1]).hexdigest()


def sweep_temporary(target: Path) -> None:
    """Remove temporary files that a kill in the middle of writing `target` left beside it."""
    pattern = re.compile(re.escape(f".{target.name[:100]}") + _TEMPORARY)
    if not target.parent.is_dir():
        return
    for other in target.parent.iterdir():
        if pattern.match(other.name) and other.is_file() and not other.is_symlink():
            other.unlink()


def _remove_if_empty(folder: Path) -> None:
    try:
        folder.rmdir()
    except OSError:
        return
    sync_folder(folder.parent)
