"""Which files may be written: plain files of this repository, without a person's uncommitted work (G5).

What Muniment wrote but didn't commit (`ledger add`, `intake`) is remembered by blob id under the git folder,
so that a later commit can tell it from a person's edit without asking.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from pathlib import Path

from muniment.errors import Refused, UsageProblem
from muniment.files import atomic_write
from muniment.git.objects import blob_oid
from muniment.git.place import worktree_name
from muniment.git.repo import GITLINK_MODE, Operation, Repository
from muniment.git.worktree import read_worktree
from muniment.workspace import Workspace

LEFTOVERS = "leftovers"
"""The kind of record for what hooks left behind."""
_SHOWN = 200
"""Most characters of a path in an error."""
_REMEMBERED = 50
"""Blob ids kept per path: enough for what a person may have staged between two commits."""


def require_target(ws: Workspace, path: str) -> None:
    """Refuse a document that can't be written: at the time of a decision, and again when it is applied.

    Raises:
        UsageProblem: The path leaves the repository, or is no name that fits in a line.
        Refused: As `require_plain`.
    """
    shown = repr(path) if len(path) <= _SHOWN else f"{path[:_SHOWN]!r}…"
    if any(unicodedata.category(char) in {"Cc", "Zl", "Zp"} for char in path):
        raise UsageProblem(
            f"{shown} holds a line break or another control character, so it can't be a target.",
            "Rename the file (git mv), or choose another target.",
        )
    try:
        require_plain(ws, (path,))
    except (OSError, ValueError) as error:
        raise UsageProblem(
            f"{shown} can't be a target: {getattr(error, 'strerror', None) or error}.",
            "Choose another target.",
        ) from error


def require_plain(ws: Workspace, paths: Iterable[str]) -> None:
    """Refuse targets that are, or lie behind, a symbolic link, a submodule or another repository.

    Raises:
        UsageProblem: A path leaves the repository.
        Refused: A link, a submodule, or a folder in the way.
    """
    checked: set[Path] = set()
    for path in paths:
        target = ws.path(path)
        if target.is_symlink():
            raise Refused(
                f"{path} is a symbolic link.", "Replace it by a file, or name the file it leads to."
            )
        if target.is_dir():
            raise Refused(f"{path} is a folder.", "Move it away, or choose another path.")
        for folder in target.parents:
            if folder == ws.root or folder in checked:
                break
            checked.add(folder)
            _require_plain_folder(ws, folder, path)


def _require_plain_folder(ws: Workspace, folder: Path, path: str) -> None:
    shown = folder.relative_to(ws.root).as_posix()
    if folder.is_symlink():
        real, root = folder.resolve(), ws.root.resolve()
        named = real.relative_to(root).as_posix() if real.is_relative_to(root) else str(real)
        raise Refused(
            f"{path} lies behind the symbolic link {shown}, and git doesn't follow those.",
            f"Name the real folder instead: {named}",
        )
    if folder.exists() and not folder.is_dir():
        raise Refused(f"{shown} is a file, so {path} can't be written.")
    entry = (
        ws.repo.index_entries((shown,)).get(shown)
        if (folder / ".git").exists() or not folder.exists()
        else None
    )
    if (folder / ".git").exists() or (entry is not None and entry.mode == GITLINK_MODE):
        raise Refused(
            f"{path} lies in the submodule or nested repository {shown}.",
            f"Run muniment inside {shown}, or choose another path.",
        )


def require_quiet(repo: Repository) -> None:
    """Refuse to commit in the middle of a merge, rebase or the like, or with unresolved conflicts."""
    operation = repo.operation()
    if operation is not Operation.NONE:
        word = operation.value
        finish = "git bisect reset" if operation is Operation.BISECT else f"git {word} --continue, or --abort"
        raise Refused(
            f"A {word} is under way, so nothing was written.",
            f"Finish it first ({finish}), then run the command again.",
            code="operation-under-way",
        )
    if unmerged := repo.conflicted():
        raise Refused(
            f"{unmerged[0]} has unresolved conflicts, so nothing was written.",
            "Resolve them and `git add` the file, then run the command again.",
            code="conflicts",
        )


def require_clean(ws: Workspace, paths: Collection[str], allowed: Collection[str]) -> None:
    """Refuse targets holding uncommitted changes that Muniment didn't make.

    Raises:
        Refused: Names each such file and why.
    """
    dirty = ws.repo.dirty([path for path in paths if path not in allowed])
    theirs = {path: why for path, why in dirty.items() if not Written(ws).covers(path)}
    if theirs:
        listed = "; ".join(f"{path} {why}" for path, why in theirs.items())
        raise Refused(
            f"Uncommitted changes would be overwritten or swept along: {listed}. Nothing was written.",
            f"Commit or undo them, or take them along knowingly: --include-dirty {next(iter(theirs))}",
            code="dirty-target",
        )


def require_not_ignored(repo: Repository, paths: Iterable[str]) -> None:
    """Refuse to commit a new file that the repository's ignore rules keep out."""
    for path in paths:
        if repo.is_ignored(path):
            raise Refused(
                f"{path} is ignored by git, so it can't be committed.",
                f"See which rule says so: git check-ignore -v {path}",
                code="ignored-target",
            )


class Written:
    """What Muniment wrote into this worktree and didn't commit yet, by path and blob id.

    With another `kind`, what the repository's hooks left behind (`leftovers`): kept apart, since a file that
    a person edited while a hook ran may be among it.
    """

    def __init__(self, ws: Workspace, kind: str = "written") -> None:
        repo = ws.repo
        self._repo = repo
        self._file = ws.private / kind / f"{worktree_name(repo.git_dir, repo.common_dir)}.json"

    def _load(self) -> dict[str, list[str]]:
        """The record; an absent or damaged one is empty, which only makes Muniment ask more often."""
        with suppress(OSError, ValueError):
            found = json.loads(self._file.read_bytes())
            if isinstance(found, dict):
                return {path: oids for path, oids in found.items() if isinstance(oids, list)}
        return {}

    def covers(self, path: str) -> bool:
        """Whether what the index and the working tree hold at `path` is HEAD's or was written by Muniment."""
        known = set(self._load().get(path, ()))
        found = read_worktree(self._repo.root / path)
        if not known or found is None or blob_oid(found[1], self._repo.object_format) not in known:
            return False
        staged = self._repo.index_entries((path,)).get(path)
        head = self._repo.head().commit
        committed = self._repo.entry(head, path) if head else None
        if staged is None or staged.oid in known:
            return True
        if committed is None:  # `git add -N` stages the name alone, as an empty file
            return staged.oid == blob_oid(b"", self._repo.object_format)
        return staged.oid == committed.oid

    def holds(self, path: str, data: bytes) -> bool:
        """Whether exactly these bytes were written at `path` by Muniment."""
        return blob_oid(data, self._repo.object_format) in self._load().get(path, ())

    def knows(self, path: str, oid: str) -> bool:
        """Whether the blob with this id was written at `path` by Muniment."""
        return oid in self._load().get(path, ())

    def remember_blob(self, path: str, oid: str) -> None:
        """Add one file's blob id, for a caller that has it already."""
        record = self._load()
        record[path] = [*(one for one in record.get(path, ()) if one != oid), oid][-_REMEMBERED:]
        self._save(record)

    def unchanged(self, paths: Iterable[str]) -> frozenset[str]:
        """Those of `paths` that hold just what was remembered for them."""
        record = self._load()
        found = {path: read_worktree(self._repo.root / path) for path in paths if path in record}
        return frozenset(
            path
            for path, file in found.items()
            if file is not None and blob_oid(file[1], self._repo.object_format) in record[path]
        )

    def remember(self, files: Mapping[str, bytes | None]) -> None:
        """Add what is about to be written, or what a hook left behind."""
        record = self._load()
        for path, data in files.items():
            if data is None:
                record.pop(path, None)
            else:
                oid = blob_oid(data, self._repo.object_format)
                record[path] = [*(one for one in record.get(path, ()) if one != oid), oid][-_REMEMBERED:]
        self._save(record)

    def forget(self, paths: Iterable[str]) -> None:
        """Drop paths that are committed now."""
        record = self._load()
        gone = [path for path in paths if record.pop(path, None) is not None]
        if gone:
            self._save(record)

    def _save(self, record: Mapping[str, list[str]]) -> None:
        atomic_write(self._file, json.dumps(record, sort_keys=True).encode("ascii"), mode=0o600)


def current_bytes(ws: Workspace, path: str) -> tuple[int, bytes] | None:
    """A target's (permission bits, bytes) as they are now; None when there is no file."""
    return read_worktree(ws.root / path)


def refuse_outside(path: str) -> UsageProblem:
    """The error for a change whose cleared path isn't the path to be written."""
    return UsageProblem(f"{path!r} was cleared under another name.")
