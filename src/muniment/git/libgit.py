"""A `Repository` that answers by pygit2 where that pays, else by the git program; pygit2's only user.

Measured (`docs/design/publish.md`): importing pygit2 costs as much CPU time as fifteen git processes, and
one `git cat-file --batch` reads blobs faster than pygit2 does. So blobs and settings stay with the program;
questions that cost the program a process each (ancestry, differences, walks, trees, writes) move to pygit2
once a command has asked `PATIENCE` of them. What pygit2 can't open or answer stays with the program:
SHA-256 and reftable repositories, grafts, shallow history.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from muniment.git.objects import EMPTY_TREE, TREE_MODE, parse_commit, parse_tree
from muniment.git.place import Place
from muniment.git.process import Git, decode
from muniment.git.program import ProgramRepository
from muniment.git.repo import Commit, Oid, TreeEntry

if TYPE_CHECKING:
    from pygit2 import Repository as Library
    from pygit2 import Walker

PATIENCE = 15
"""Questions answered by a git process each before pygit2 is imported."""


class LibgitRepository(ProgramRepository):
    """One worktree of a repository; see `Repository` and the module's docstring."""

    def __init__(self, git: Git, place: Place, *, patience: int = PATIENCE) -> None:
        super().__init__(git, place)
        self._patience = patience

    def _ask(self) -> Library | None:
        """The library, once enough has been asked and if it can open this repository."""
        if self._patience > 0:
            self._patience -= 1
            return None
        return self._library

    def _ask_history(self) -> Library | None:
        """The library, for questions about history: not where history is cut off."""
        return None if self.is_shallow() else self._ask()

    @cached_property
    def _library(self) -> Library | None:
        if (self.common_dir / "info" / "grafts").exists():  # the library would honour them (G17)
            return None
        return open_library(self.root)

    # History

    def commits(
        self,
        tips: Iterable[Oid],
        *,
        hide: Iterable[Oid] = (),
        paths: Iterable[str] = (),
        limit: int | None = None,
        first_parent: bool = False,
    ) -> Iterator[Commit]:
        """Commits reachable from `tips` but not from `hide`, newest first, topologically ordered."""
        starts, hidden, wanted = tuple(tips), tuple(hide), tuple(paths)
        library = self._ask_history()
        if library is None or not all(one in library for one in (*starts, *hidden)):
            return super().commits(starts, hide=hidden, paths=wanted, limit=limit, first_parent=first_parent)
        walker = _walker(library, starts, hidden, first_parent=first_parent)
        found = (parse_commit(Oid(str(one.id)), library.read(one.id)[1]) for one in walker)
        if wanted:
            found = (one for one in found if self._touches(one, wanted))
        return found if limit is None else islice(found, limit)

    def _touches(self, commit: Commit, paths: Iterable[str]) -> bool:
        """Whether a commit differs from its first parent (or the empty tree) at one of `paths`."""
        before = self.commit(commit.parents[0]).tree if commit.parents else EMPTY_TREE[self.object_format]
        return any(self._at(before, path) != self._at(commit.tree, path) for path in paths)

    def is_ancestor(self, ancestor: Oid, descendant: Oid) -> bool | None:
        """Whether `ancestor` is reachable from `descendant`; None when that can't be known (G17)."""
        library = self._ask_history()
        if library is None or ancestor not in library or descendant not in library:
            return super().is_ancestor(ancestor, descendant)
        return ancestor == descendant or library.descendant_of(descendant, ancestor)

    def merge_base(self, one: Oid, other: Oid) -> Oid | None:
        """A best common ancestor, or None when there is none in this clone."""
        library = self._ask_history()
        if library is None or one not in library or other not in library:
            return super().merge_base(one, other)
        base = library.merge_base(one, other)
        return None if base is None else Oid(str(base))

    # Trees

    def entries(self, commit: Oid, prefix: str = "") -> Iterator[TreeEntry]:
        """Every file under the folder `prefix` ("" for all) in a commit's tree, by path."""
        library = self._ask()
        if library is None or commit not in library:
            return super().entries(commit, prefix)
        folder = prefix.strip("/")
        found = (
            self._at(self.commit(commit).tree, folder) if folder else (TREE_MODE, self.commit(commit).tree)
        )
        if found is None or found[0] != TREE_MODE:
            return iter(())
        return self._walk(library, found[1], f"{folder}/" if folder else "")

    def _walk(self, library: Library, tree: Oid, prefix: str) -> Iterator[TreeEntry]:
        data = library.read(tree)[1] if tree in library else self._tree(tree)
        for name, mode, oid in parse_tree(data, self.object_format):
            if mode == TREE_MODE:
                yield from self._walk(library, oid, f"{prefix}{name}/")
            else:
                yield TreeEntry(prefix + name, mode, oid)

    def diff_paths(self, old: Oid | None, new: Oid) -> tuple[str, ...]:
        """Paths that differ between two commits' trees (None: the empty tree), sorted."""
        library = self._ask()
        if library is None or new not in library or (old is not None and old not in library):
            return super().diff_paths(old, new)
        found = differing(library, self.commit(old).tree if old else None, self.commit(new).tree)
        return super().diff_paths(old, new) if found is None else found

    # Objects made by us

    def _stored(self, kind: str, data: bytes, *how: str | bytes, write: bool = True) -> Oid:
        plain = write and all(option == "--no-filters" for option in how)
        library = self._ask() if plain else None
        return (
            super()._stored(kind, data, *how, write=write) if library is None else store(library, kind, data)
        )


def open_library(root: Path) -> Library | None:
    """The library's view of the repository, or None where it can't open it."""
    import pygit2  # noqa: PLC0415 - costs as much as fifteen git processes
    from pygit2.enums import Option  # noqa: PLC0415 - as above

    try:
        library = pygit2.Repository(str(root))
    except (pygit2.GitError, KeyError, ValueError):
        return None
    pygit2.option(Option.ENABLE_FSYNC_GITDIR, True)
    return library


def _walker(library: Library, starts: Iterable[Oid], hidden: Iterable[Oid], *, first_parent: bool) -> Walker:
    from pygit2.enums import SortMode  # noqa: PLC0415 - imported with the library

    walker = library.walk(None, SortMode.TOPOLOGICAL | SortMode.TIME)
    if first_parent:
        walker.simplify_first_parent()
    for oid in starts:
        walker.push(oid)
    for oid in hidden:
        walker.hide(oid)
    return walker


def differing(library: Library, old: Oid | None, new: Oid) -> tuple[str, ...] | None:
    """Paths that differ between two trees, sorted; None when the library lacks one of their objects."""
    import pygit2  # noqa: PLC0415 - imported with the library
    from pygit2.enums import DiffOption  # noqa: PLC0415 - as above

    flags = DiffOption.INCLUDE_TYPECHANGE
    try:
        tree = library[new]
        assert isinstance(tree, pygit2.Tree)  # noqa: S101 - a commit's tree
        before = None if old is None else library[old]
        if before is None:
            diff = tree.diff_to_tree(flags=flags, swap=True)
        else:
            assert isinstance(before, pygit2.Tree)  # noqa: S101 - a commit's tree
            diff = before.diff_to_tree(tree, flags=flags)
        paths = {decode(side.raw_path) for one in diff.deltas for side in (one.old_file, one.new_file)}
    except (pygit2.GitError, KeyError):
        return None
    return tuple(sorted(paths))


def store(library: Library, kind: str, data: bytes) -> Oid:
    """Store one object durably."""
    from pygit2.enums import ObjectType  # noqa: PLC0415 - imported with the library

    kinds = {"blob": ObjectType.BLOB, "tree": ObjectType.TREE, "commit": ObjectType.COMMIT}
    return Oid(str(library.write(kinds[kind], data)))
