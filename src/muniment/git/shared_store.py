"""A bare repository of Muniment's own beside the user's: a shared branch's objects, fetched and made.

It holds nothing that the remote or a retry wouldn't bring again. The user's index, `HEAD`, refs, `shallow`
and their locks are never touched, nor waited for. Objects are made in this process (loose, as git writes
them), so a commit costs no git process; what is fetched lies loose too, by `fetch.unpackLimit`.

Files appear whole or not at all, but aren't forced to the disk, which would cost more than a push to a near
remote. What a power cut tore is noticed when it is read, and the store is made anew. A commit whose push was
answered is on the remote by then; one whose push wasn't was made under a lease that the boot has ended.

Formats: gitformat-loose(5), gitrepository-layout(5).
"""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

from muniment.errors import Refused
from muniment.files import file_lock
from muniment.git import store_folder
from muniment.git.objects import (
    EMPTY_TREE,
    TREE_MODE,
    edit_tree,
    format_commit,
    parse_commit,
    parse_tree,
)
from muniment.git.oid import MissingObject, Oid
from muniment.git.process import Git, ObjectReader
from muniment.git.repo import FILE_MODE, Commit, Repository, Signature

FETCHED = "refs/muniment/fetched"
"""Where a fetch puts the branch's tip."""
TIP = "refs/muniment/tip"
"""The tip that the next fetch builds on."""
_LEVEL = 1
_TREES = 2000
"""How many parsed trees are remembered."""


class SharedStore:
    """The private objects of one branch of one remote; see the module's docstring.

    Attributes:
        folder: The bare repository.
        object_format: `sha1` or `sha256`, as in the user's repository.
        held: The lock's file descriptor while this process holds it, for children that act under it.
    """

    def __init__(self, folder: Path, object_format: str, git: Git) -> None:
        self.folder = folder
        self.object_format = object_format
        self.held: tuple[int, ...] = ()
        self._git = Git(folder, git.environ)
        self._reader: ObjectReader | None = None
        self._is_made = False
        self._trees: dict[Oid, Mapping[str, tuple[Oid, int]]] = {}

    @classmethod
    def of(cls, repo: Repository, remote: str, url: str, branch: str) -> SharedStore:
        """The store of a clone for one branch of one remote; nothing is created yet."""
        name = f"{remote}\0{url}\0{branch}".encode("utf-8", "surrogatepass")
        folder = repo.common_dir / "muniment" / "shared" / hashlib.sha256(name).hexdigest()[:16]
        return cls(folder, repo.object_format, repo.git)

    # The folder

    @contextmanager
    def lock(self, wait_seconds: float = 10.0) -> Iterator[None]:
        """Hold the store for the block: it is made if absent, and freed of what a killed git left in it.

        git children started meanwhile hold it too, until they end. Within the block it may be taken again.

        Raises:
            Refused: Another process, or a git child of one, held it for `wait_seconds`.
        """
        if self.held:
            yield
            return
        with file_lock(self.folder / "lock", wait_seconds=wait_seconds) as descriptor:
            self._prepare()
            self.held = (descriptor,)
            try:
                yield
            finally:
                self.held = ()

    def _prepare(self) -> None:
        if not self._is_whole():
            self.remake()
        self._is_made = True
        for stale in store_folder.left_behind(self.folder):
            with suppress(OSError):
                stale.unlink()

    def _is_whole(self) -> bool:
        try:
            made = (self.folder / "config").read_text("utf-8") == self._config()
            return (
                made and (self.folder / "HEAD").exists() and not (self.folder / store_folder.DAMAGED).exists()
            )
        except (OSError, UnicodeDecodeError):
            return False

    def _config(self) -> str:
        return store_folder.config(self.object_format)

    def remake(self) -> None:
        """Make the repository anew, for a store that is damaged: no refs, packs, old or torn objects.

        What was made lately stays: another process of this clone may be about to push it. Under the lock.
        """
        store_folder.make(self.folder, self._config(), self.object_format)
        self._reader = None
        self._trees.clear()

    # Refs: plain files, by which a fetch knows what is here

    def ref(self, name: str) -> Oid | None:
        """What one of the store's refs names."""
        try:
            text = (self.folder / name).read_text("ascii").strip()
        except (OSError, UnicodeDecodeError):
            return None
        return Oid(text) if len(text) == len(EMPTY_TREE[self.object_format]) else None

    def drop_ref(self, name: str) -> None:
        """Remove one of the store's refs, if it is there."""
        (self.folder / name).unlink(missing_ok=True)

    def cut(self, tip: Oid) -> None:
        """Let the next fetch build on `tip`, and take its history for cut off right there.

        So neither the negotiation nor the list of cuts grows with the branch. The ref's file tells when.
        """
        if self.ref(TIP) == tip:
            (self.folder / TIP).touch()
            return
        store_folder.put(self.folder / "shallow", f"{tip}\n".encode("ascii"))
        store_folder.put(self.folder / TIP, f"{tip}\n".encode("ascii"))

    def uncut(self) -> None:
        """Let the next fetch bring the whole history."""
        self.drop_ref(TIP)
        (self.folder / "shallow").unlink(missing_ok=True)

    # Objects, read

    def get(self, oid: Oid) -> tuple[str, bytes]:
        """An object's type and content.

        Raises:
            MissingObject: It isn't in the store, or damaged there.
        """
        found = self._loose(oid) or self._packed(oid)
        if found is None:
            raise MissingObject(f"The object {oid.short} of the shared branch is not in this clone.")
        return found

    def has(self, oid: Oid) -> bool:
        """Whether the object can be read."""
        try:
            self.get(oid)
        except MissingObject:
            return False
        return True

    def _path(self, oid: Oid) -> Path:
        return self.folder / "objects" / oid[:2] / oid[2:]

    def _loose(self, oid: Oid) -> tuple[str, bytes] | None:
        if oid == EMPTY_TREE[self.object_format]:
            return "tree", b""
        place = self._path(oid)
        found = store_folder.read_loose(place)
        if found is None and place.exists():  # git would take it for present, and never fetch it again
            with suppress(OSError):
                (self.folder / store_folder.DAMAGED).touch()
        return found

    def _packed(self, oid: Oid) -> tuple[str, bytes] | None:
        packs = self.folder / "objects" / "pack"
        if not any(one.name.endswith(".idx") for one in store_folder.listed(packs)):
            return None
        self._reader = self._reader or ObjectReader(self._git)
        return self._reader.get(oid)

    def _typed(self, oid: Oid, kind: str) -> bytes:
        found, data = self.get(oid)
        if found != kind:
            raise MissingObject(f"The object {oid.short} of the shared branch is a {found}, not a {kind}.")
        return data

    def commit(self, oid: Oid) -> Commit:
        """A commit's facts; raises `MissingObject`."""
        return parse_commit(oid, self._typed(oid, "commit"))

    def blob(self, oid: Oid) -> bytes:
        """A blob's bytes; raises `MissingObject`."""
        return self._typed(oid, "blob")

    def tree(self, oid: Oid) -> Mapping[str, tuple[Oid, int]]:
        """A tree's own entries by name, each with id and mode; raises `MissingObject`."""
        found = self._trees.get(oid)
        if found is None:
            listed = parse_tree(self._typed(oid, "tree"), self.object_format)
            found = {name: (child, mode) for name, mode, child in listed}
            if len(self._trees) >= _TREES:
                self._trees.clear()
            self._trees[oid] = found
        return found

    def _entry(self, commit: Oid, path: str) -> tuple[Oid, int] | None:
        here, mode = self.commit(commit).tree, TREE_MODE
        for name in path.split("/"):
            if mode != TREE_MODE:
                return None
            found = self.tree(here).get(name)
            if found is None:
                return None
            here, mode = found
        return here, mode

    def file(self, commit: Oid, path: str) -> bytes | None:
        """A file's bytes in a commit, or None where there is no plain file."""
        found = self._entry(commit, path)
        return self.blob(found[0]) if found and found[1] in _FILE_MODES else None

    def names(self, commit: Oid, folder: str) -> Mapping[str, bool]:
        """What lies directly in a folder of a commit: name → whether it is a folder."""
        found = self._entry(commit, folder)
        if found is None or found[1] != TREE_MODE:
            return {}
        return {name: mode == TREE_MODE for name, (_, mode) in self.tree(found[0]).items()}

    def files(self, commit: Oid, folder: str = "") -> dict[str, Oid]:
        """Every plain file below a folder ("" for all) in a commit, by its whole path, sorted."""
        start = (self.commit(commit).tree, TREE_MODE) if not folder else self._entry(commit, folder)
        if start is None or start[1] != TREE_MODE:
            return {}
        return dict(sorted(self._below(start[0], f"{folder}/" if folder else "")))

    def _below(self, tree: Oid, prefix: str) -> Iterator[tuple[str, Oid]]:
        for name, (oid, mode) in self.tree(tree).items():
            if mode == TREE_MODE:
                yield from self._below(oid, f"{prefix}{name}/")
            elif mode in _FILE_MODES:
                yield prefix + name, oid

    def ancestry(self, tip: Oid, wanted: Oid) -> bool | None:
        """Whether `wanted` is `tip` or behind it; None when history is cut off before that shows."""
        pending, seen, whole = [tip], {tip}, True
        while pending:
            here = pending.pop()
            if here == wanted:
                return True
            try:
                parents = self.commit(here).parents
            except MissingObject:
                whole = False
                continue
            pending += [parent for parent in parents if parent not in seen]
            seen.update(parents)
        return False if whole else None

    # Objects, made

    def write(self, kind: str, data: bytes) -> Oid:
        """Store an object (`blob`, `tree`, `commit`); one that is there already stays as it is."""
        whole = b"%s %d\0" % (kind.encode("ascii"), len(data)) + data
        oid = Oid(hashlib.new(self.object_format, whole, usedforsecurity=False).hexdigest())
        if not self._is_made:  # else whoever prepares it next would take it for a stranger's
            with self.lock():
                pass
        if self._loose(oid) is not None:
            return oid
        place = self._path(oid)
        place.parent.mkdir(parents=True, exist_ok=True)
        store_folder.put(place, zlib.compress(whole, _LEVEL), 0o444)
        return oid

    def edit(self, base: Oid | None, changes: Mapping[str, bytes | None]) -> Oid:
        """Store a tree like commit `base`'s (None: empty) with files set or (None) removed.

        A file that was there keeps its mode.

        Raises:
            Refused: A file would replace a folder, or a folder a file.
            MissingObject: A tree of `base` isn't in the store.
        """
        sets = {path: self._set(base, path, data) for path, data in changes.items()}
        tree = None if base is None else self.commit(base).tree
        return edit_tree(
            tree, sets, partial(self._typed, kind="tree"), partial(self.write, "tree"), self.object_format
        )

    def _set(self, base: Oid | None, path: str, data: bytes | None) -> tuple[Oid, int] | None:
        if data is None:
            return None
        if any(part in {"", ".", ".."} or part.lower() == ".git" for part in path.split("/")):
            raise Refused(f"{path!r} is no path that git can hold.")
        old = None if base is None else self._entry(base, path)
        return self.write("blob", data), old[1] if old and old[1] in _FILE_MODES else FILE_MODE

    def write_commit(
        self,
        tree: Oid,
        parents: Iterable[Oid],
        message: str,
        author: Signature,
        committer: Signature,
    ) -> Oid:
        """Store a commit; it is on no branch."""
        return self.write("commit", format_commit(tree, parents, message, author, committer))


_FILE_MODES = frozenset({0o100644, 0o100755, 0o100664})
