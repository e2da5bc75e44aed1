"""What Muniment asks of a git repository: one Protocol, two implementations, plain records.

Reads never write, never fetch (not even lazily in a partial clone), and ignore replace refs and
grafts (G15, G17). A missing object is `MissingObject`, never an empty answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from muniment.git.oid import MissingObject, Oid

if TYPE_CHECKING:
    from muniment.git.process import Git

__all__ = [
    "EXECUTABLE_MODE",
    "FILE_MODE",
    "GITLINK_MODE",
    "LINK_MODE",
    "Commit",
    "Head",
    "MissingObject",
    "Oid",
    "Operation",
    "Repository",
    "Signature",
    "StagedChange",
    "TreeEntry",
]

FILE_MODE = 0o100644
EXECUTABLE_MODE = 0o100755
LINK_MODE = 0o120000
GITLINK_MODE = 0o160000


class Operation(Enum):
    """What git is in the middle of, by the words git itself uses."""

    NONE = ""
    MERGE = "merge"
    REBASE = "rebase"
    CHERRY_PICK = "cherry-pick"
    REVERT = "revert"
    BISECT = "bisect"
    AM = "am"


@dataclass(frozen=True, slots=True)
class Head:
    """Where HEAD points: `ref` is None when detached, `commit` is None on an unborn branch."""

    ref: str | None
    commit: Oid | None

    @property
    def branch(self) -> str | None:
        """The branch's short name, or None when detached."""
        return self.ref.removeprefix("refs/heads/") if self.ref else None


@dataclass(frozen=True, slots=True)
class TreeEntry:
    """One file in a tree or in the index; `path` is `/`-separated, decoded with surrogateescape."""

    path: str
    mode: int
    oid: Oid


@dataclass(frozen=True, slots=True)
class Signature:
    """Who and when; `when` is seconds since the epoch, `offset` the zone in minutes."""

    name: str
    email: str
    when: int
    offset: int = 0


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit's own facts; `message` is the whole text, decoded as UTF-8 with replacement."""

    oid: Oid
    tree: Oid
    parents: tuple[Oid, ...]
    author: Signature
    committer: Signature
    message: str

    @property
    def subject(self) -> str:
        """The first line of the message."""
        return self.message.split("\n", 1)[0]


@dataclass(frozen=True, slots=True)
class StagedChange:
    """One path at which the index differs from HEAD; `old` or `new` is None for an addition or removal.

    An unmerged path has the status `U` and neither side.
    """

    path: str
    status: str
    old: TreeEntry | None
    new: TreeEntry | None


class Repository(Protocol):
    """A repository as Muniment sees it; every path is repository-relative with `/`."""

    @property
    def root(self) -> Path:
        """The working tree's top folder (of this worktree); raises `UsageProblem` when bare."""
        ...

    @property
    def git_dir(self) -> Path:
        """This worktree's git folder."""
        ...

    @property
    def common_dir(self) -> Path:
        """The git folder shared by all worktrees of the clone."""
        ...

    @property
    def object_format(self) -> str:
        """`sha1` or `sha256`."""
        ...

    @property
    def git(self) -> Git:
        """The git program bound to this worktree, for what only it can do (hooks, filters, signing)."""
        ...

    def head(self) -> Head:
        """Where HEAD points now."""
        ...

    def operation(self) -> Operation:
        """The merge, rebase, … under way in this worktree."""
        ...

    def is_shallow(self) -> bool:
        """Whether history is cut off."""
        ...

    def is_partial(self) -> bool:
        """Whether a promisor remote holds objects that this clone may lack."""
        ...

    def config(self, key: str) -> str | None:
        """One git config value (last wins), or None."""
        ...

    @property
    def remotes(self) -> tuple[str, ...]:
        """The configured remotes' names, the one that counts first, else sorted; never fetched ones too."""
        ...

    def resolve(self, rev: str) -> Oid | None:
        """The commit a revision names (tags peeled), or None when it names nothing here."""
        ...

    def refs(self, prefix: str) -> Mapping[str, Oid]:
        """Full ref name → commit (tags peeled; refs to other objects left out), for names under `prefix`."""
        ...

    def upstream_default(self, configured: str = "") -> str | None:
        """The remote-tracking default branch's full ref.

        `configured` (a branch name), else the remote's HEAD, else the only one of main/master; None
        when that doesn't decide it or there is no remote (S10).
        """
        ...

    def commit(self, oid: Oid) -> Commit:
        """A commit's facts; raises `MissingObject`."""
        ...

    def commits(
        self,
        tips: Iterable[Oid],
        *,
        hide: Iterable[Oid] = (),
        paths: Iterable[str] = (),
        limit: int | None = None,
        first_parent: bool = False,
    ) -> Iterator[Commit]:
        """Commits reachable from `tips` but not from `hide`, newest first, topologically ordered.

        With `paths`, only those that change one of them (against the first parent).
        """
        ...

    def is_ancestor(self, ancestor: Oid, descendant: Oid) -> bool | None:
        """Whether `ancestor` is reachable from `descendant`; None when history is cut off first (G17)."""
        ...

    def merge_base(self, one: Oid, other: Oid) -> Oid | None:
        """A best common ancestor, or None when there is none in this clone."""
        ...

    def entry(self, commit: Oid, path: str) -> TreeEntry | None:
        """The file (or link) at `path` in a commit's tree, or None."""
        ...

    def entries(self, commit: Oid, prefix: str = "") -> Iterator[TreeEntry]:
        """Every file under the folder `prefix` ("" for all) in a commit's tree, by path."""
        ...

    def blob(self, oid: Oid) -> bytes:
        """A blob's bytes; raises `MissingObject`."""
        ...

    def blobs(self, oids: Iterable[Oid]) -> Iterator[tuple[Oid, bytes]]:
        """Many blobs in one go; raises `MissingObject` at the first absent one."""
        ...

    def diff_paths(self, old: Oid | None, new: Oid) -> tuple[str, ...]:
        """Paths that differ between two commits' trees (None: the empty one), sorted; no rename detection."""
        ...

    def index_entries(self, paths: Iterable[str] | None = None) -> Mapping[str, TreeEntry]:
        """Stage-0 index entries, of all paths or of just these."""
        ...

    def staged(self) -> tuple[StagedChange, ...]:
        """Where the index differs from HEAD, by path, in one process; on an unborn branch all is added.

        Inside a hook this is the index that the running `git commit` prepared (G16).
        """
        ...

    def conflicted(self) -> tuple[str, ...]:
        """Paths with unmerged index entries, sorted."""
        ...

    def dirty(self, paths: Iterable[str]) -> Mapping[str, str]:
        """Those of `paths` whose index or working-tree content differs from HEAD → why, in words.

        Compared through git's clean filters; an untracked existing file is dirty ("untracked").
        """
        ...

    def is_ignored(self, path: str) -> bool:
        """Whether git ignores `path`."""
        ...

    def clean(self, path: str, data: bytes, *, write: bool = False) -> Oid:
        """The blob id of `data` stored at `path` through git's clean filters (G2); `write` stores it."""
        ...

    def smudge(self, path: str, oid: Oid) -> bytes:
        """A blob's bytes as a checkout would write them at `path`."""
        ...

    def write_blob(self, data: bytes) -> Oid:
        """Store bytes as they are."""
        ...

    def write_tree(self, base: Oid | None, changes: Mapping[str, tuple[Oid, int] | None]) -> Oid:
        """A tree like commit `base`'s (None: empty) with files set or (None) removed; no index involved."""
        ...

    def write_commit(
        self, tree: Oid, parents: Iterable[Oid], message: str, author: Signature, committer: Signature
    ) -> Oid:
        """Store a commit; moves no ref."""
        ...

    def update_ref(self, ref: str, new: Oid, expected: Oid | None, reason: str) -> bool:
        """Move a ref by compare-and-set (`expected` None: must not exist); False when it had moved."""
        ...
