"""A `Repository` by the git program: every kind git can open, and cheap where few answers are needed.

Single objects come from one long-running `git cat-file --batch`; listings cost one process each.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import cached_property, partial
from itertools import islice
from pathlib import Path

from muniment.git import discovery, worktree
from muniment.git.objects import (
    EMPTY_TREE,
    TREE_MODE,
    edit_tree,
    format_commit,
    index_line,
    null_oid,
    parse_commit,
    parse_tree,
    tree_line,
)
from muniment.git.place import Place, hook_index
from muniment.git.process import NO_FETCH, Git, ObjectReader, decode, encode, existing_folder, failed, fields
from muniment.git.repo import (
    Commit,
    Head,
    MissingObject,
    Oid,
    Operation,
    Signature,
    StagedChange,
    TreeEntry,
)
from muniment.git.settings import Settings, default_ref, under_way

DURABLE = ("-c", "core.fsync=committed,loose-object,index,reference")
"""git leaves loose objects to the system's cache by default; what we commit must survive a power cut (G4)."""
QUIET = ("-c", f"core.hooksPath={os.devnull}", "-c", "core.fsmonitor=false")
"""For plumbing on private files: no `post-index-change` hook, no monitor daemon."""
_MANY_PATHS = 400
"""Above this many paths a command lists everything and we filter, rather than overflow the argument list."""


def discover(directory: Path, environ: Mapping[str, str]) -> ProgramRepository:
    """Open the repository whose working tree holds `directory`.

    `GIT_DIR` and its kin are ignored: what a command acts on is decided by where it runs, or by `-C`.

    Raises:
        UsageProblem: The folder is missing, in no repository, inside a git folder, in a bare repository,
            or in one that git refuses because of its owner (`safe.directory`).
    """
    git = Git(existing_folder(directory), environ)
    place, settings = discovery.find(directory, git) or (discovery.ask(git), None)
    place = replace(place, hook_index=hook_index(place.root, place.git_dir, environ))
    opened = ProgramRepository(Git(place.root, environ), place)
    if settings is not None:
        opened.__dict__["settings"] = settings  # read already
    return opened


class ProgramRepository:
    """One worktree of a repository, read and written by the git program; see `Repository`."""

    def __init__(self, git: Git, place: Place) -> None:
        self.git = git
        self.place = place
        self.root = place.root
        self.git_dir = place.git_dir
        self.common_dir = place.common_dir
        self.object_format = place.object_format

    @cached_property
    def _reader(self) -> ObjectReader:
        return ObjectReader(self.git)

    @cached_property
    def settings(self) -> Settings:
        """Every git setting in force, read once."""
        return Settings.parse(self.git.run("config", "--list", "-z").out)

    # What the repository is, and where it stands

    def head(self) -> Head:
        """Where HEAD points now."""
        return Head(self._head_ref(), self.resolve("HEAD"))

    def _head_ref(self) -> str | None:
        """The branch that HEAD names: from its file where that says so (gitrepository-layout(5))."""
        file = self.git_dir / "HEAD"
        with suppress(OSError):
            found = "" if file.is_symlink() else decode(file.read_bytes())
            ref = found.removeprefix("ref: ").strip()
            plain = found.startswith("ref: refs/heads/") and ref != "refs/heads/.invalid"  # as for reftables
            if plain and not self._is_symbolic(ref):
                return ref
        return decode(self.git.run("symbolic-ref", "-q", "HEAD").out).strip() or None

    def _is_symbolic(self, ref: str) -> bool:
        """Whether a branch is only another name for one."""
        try:
            return (self.common_dir / ref).read_bytes().startswith(b"ref:")
        except FileNotFoundError:
            return False

    def operation(self) -> Operation:
        """The merge, rebase, … under way in this worktree."""
        return under_way(self.git_dir, self.resolve if self.config("extensions.refstorage") else None)

    def is_shallow(self) -> bool:
        """Whether history is cut off."""
        return (self.common_dir / "shallow").exists()

    def is_partial(self) -> bool:
        """Whether a promisor remote holds objects that this clone may lack."""
        return self.settings.is_partial

    def config(self, key: str) -> str | None:
        """One git config value (last wins), or None."""
        return self.settings.get(key)

    # Revisions and history

    @property
    def remotes(self) -> tuple[str, ...]:
        """The configured remotes' names, the one that counts first, else sorted; never fetched ones too."""
        main = self.settings.main_remote
        return tuple(sorted(self.settings.remotes, key=lambda name: (name != main, name)))

    def resolve(self, rev: str) -> Oid | None:
        """The commit a revision names (tags peeled), or None when it names nothing here."""
        if not rev or rev.startswith("-") or "\0" in rev or "\n" in rev:
            return None
        if len(rev) == len(null_oid(self.object_format)) and not rev.strip("0123456789abcdef"):
            return self._peeled(Oid(rev))
        done = self.git.run("rev-parse", "--verify", "--quiet", "--end-of-options", rev + "^{commit}")
        return Oid(decode(done.out).strip()) if done.code == 0 else None

    def _peeled(self, oid: Oid) -> Oid | None:
        """The commit behind a full id, without a process of its own; None when it isn't here or isn't one."""
        found = self._reader.get(oid)
        while found is not None and found[0] == "tag":
            oid = Oid(found[1].partition(b"\n")[0].removeprefix(b"object ").decode("ascii"))
            found = self._reader.get(oid)
        return oid if found is not None and found[0] == "commit" else None

    def refs(self, prefix: str) -> Mapping[str, Oid]:
        """Full ref name → commit, for names under `prefix`."""
        form = "%(refname)%00%(objecttype)%00%(objectname)%00%(*objecttype)%00%(*objectname)"
        found: dict[str, Oid] = {}
        for line in decode(self.git.out("for-each-ref", f"--format={form}", prefix)).splitlines():
            name, kind, oid, peeled_kind, peeled = line.split("\0")
            if kind == "commit":
                found[name] = Oid(oid)
            elif peeled_kind == "commit":
                found[name] = Oid(peeled)
            elif peeled_kind == "tag" and (deep := self.resolve(name)):
                found[name] = deep
        return found

    def upstream_default(self, configured: str = "") -> str | None:
        """The remote-tracking default branch's full ref, or None when nothing decides it (S10)."""
        remote = self.settings.main_remote
        if remote is None:
            return None
        under = f"refs/remotes/{remote}/"
        done = self.git.run("symbolic-ref", "-q", under + "HEAD")
        return default_ref(self.refs(under), under, configured, decode(done.out).strip())

    def commit(self, oid: Oid) -> Commit:
        """A commit's facts; raises `MissingObject`."""
        return parse_commit(oid, self._object(oid, "commit"))

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
        wanted = tuple(paths)
        arguments = ["rev-list", "--date-order", "--stdin"]
        arguments += ["--first-parent"] if first_parent else []
        if wanted:  # git's own pruning would drop merges that differ from their first parent only
            arguments += ["--full-history", "--show-pulls"]
        elif limit is not None:
            arguments.append(f"--max-count={limit}")
        asked = [*tips, *(f"^{oid}" for oid in hide), *(["--", *wanted] if wanted else [])]
        if not asked or asked[0].startswith(("^", "-")):
            return
        listed = self.git.out(*arguments, stdin=encode("\n".join(asked) + "\n")).decode("ascii").split()
        found = (parse_commit(oid, data) for oid, data in self._objects(map(Oid, listed), "commit"))
        if wanted:
            found = (one for one in found if len(one.parents) < 2 or self._changes(one, wanted))  # noqa: PLR2004 - a merge
        yield from found if limit is None else islice(found, limit)

    def _changes(self, commit: Commit, paths: Iterable[str]) -> bool:
        """Whether a merge differs from its first parent at one of `paths` (a file or a folder)."""
        before = self.commit(commit.parents[0]).tree
        return any(self._at(before, path) != self._at(commit.tree, path) for path in paths)

    def is_ancestor(self, ancestor: Oid, descendant: Oid) -> bool | None:
        """Whether `ancestor` is reachable from `descendant`; None when history is cut off first (G17)."""
        done = self.git.run("merge-base", "--is-ancestor", ancestor, descendant)
        if done.code == 0:
            return True
        if done.code != 1:
            return None  # one of the two isn't in this clone
        return None if self._reaches_the_cut(descendant) else False

    def _reaches_the_cut(self, tip: Oid) -> bool:
        """Whether the history of `tip` runs into the boundary of a shallow clone."""
        if not self.is_shallow():
            return False
        cut = set((self.common_dir / "shallow").read_text("ascii").split())
        return not cut.isdisjoint(self.git.out("rev-list", tip).decode("ascii").split())

    def merge_base(self, one: Oid, other: Oid) -> Oid | None:
        """A best common ancestor, or None when there is none in this clone."""
        done = self.git.run("merge-base", one, other)
        return Oid(decode(done.out).strip()) if done.code == 0 else None

    # Trees and blobs

    def entry(self, commit: Oid, path: str) -> TreeEntry | None:
        """The file (or link) at `path` in a commit's tree, or None."""
        found = self._at(self.commit(commit).tree, path)
        return TreeEntry(path, *found) if found and found[0] != TREE_MODE else None

    def _at(self, tree: Oid, path: str) -> tuple[int, Oid] | None:
        """Mode and id of what a tree holds at `path`, folders included; raises `MissingObject`."""
        mode, oid = TREE_MODE, tree
        for name in path.split("/"):
            if mode != TREE_MODE:
                return None
            found = self._listing(oid).get(name)
            if found is None:
                return None
            mode, oid = found
        return mode, oid

    def _listing(self, tree: Oid) -> Mapping[str, tuple[int, Oid]]:
        return {name: (mode, oid) for name, mode, oid in parse_tree(self._tree(tree), self.object_format)}

    def _tree(self, oid: Oid) -> bytes:
        return b"" if oid == EMPTY_TREE[self.object_format] else self._object(oid, "tree")

    def entries(self, commit: Oid, prefix: str = "") -> Iterator[TreeEntry]:
        """Every file under the folder `prefix` ("" for all) in a commit's tree, by path."""
        folder = prefix.strip("/")
        asked = ("--", folder + "/") if folder else ()
        listed = fields(self.git.out("ls-tree", "-r", "-z", "--full-tree", commit, *asked))
        return map(tree_line, listed)

    def blob(self, oid: Oid) -> bytes:
        """A blob's bytes; raises `MissingObject`."""
        return self._object(oid, "blob")

    def blobs(self, oids: Iterable[Oid]) -> Iterator[tuple[Oid, bytes]]:
        """Many blobs in one go; raises `MissingObject` at the first absent one."""
        return self._objects(oids, "blob")

    def _object(self, oid: Oid, kind: str) -> bytes:
        return next(self._objects((oid,), kind))[1]

    def _objects(self, oids: Iterable[Oid], kind: str) -> Iterator[tuple[Oid, bytes]]:
        for oid, found in self._reader.get_many(oids):
            if found is None or found[0] != kind:
                raise missing(oid, kind, partial=self.is_partial())
            yield oid, found[1]

    def diff_paths(self, old: Oid | None, new: Oid) -> tuple[str, ...]:
        """Paths that differ between two commits' trees (None: the empty tree), sorted."""
        before = EMPTY_TREE[self.object_format] if old is None else old
        options = ("-r", "-z", "--name-only", "--no-renames")
        out = self.git.out("diff-tree", *options, before, f"{new}^{{tree}}")
        return tuple(sorted(fields(out)))

    # Index and working tree

    @property
    def _index(self) -> Mapping[str, str]:
        return {"GIT_INDEX_FILE": str(self.place.hook_index)} if self.place.hook_index else {}

    def index_entries(self, paths: Iterable[str] | None = None) -> Mapping[str, TreeEntry]:
        """Stage-0 index entries, of all paths or of just these."""
        wanted = None if paths is None else frozenset(paths)
        asked = () if wanted is None or len(wanted) > _MANY_PATHS else ("--", *sorted(wanted))
        if wanted is not None and not wanted:
            return {}
        listed = map(index_line, fields(self.git.out("ls-files", "-s", "-z", *asked, env=self._index)))
        return {
            entry.path: entry
            for stage, entry in listed
            if stage == 0 and (wanted is None or entry.path in wanted)
        }

    def staged(self) -> tuple[StagedChange, ...]:
        """Where the index differs from HEAD, by path, in one process."""
        plain = ("-c", "diff.relative=false", "-c", "diff.ignoreSubmodules=none")
        options = ("--cached", "--raw", "-z", "--no-abbrev", "--no-renames", "--no-ext-diff")
        listed = iter(fields(self.git.out("diff", *options, env=self._index, options=plain)))
        return tuple(sorted(map(worktree.staged_change, listed, listed), key=lambda one: one.path))

    def conflicted(self) -> tuple[str, ...]:
        """Paths with unmerged index entries, sorted."""
        listed = fields(self.git.out("ls-files", "-u", "-z", env=self._index))
        return tuple(sorted({index_line(record)[1].path for record in listed}))

    def dirty(self, paths: Iterable[str]) -> Mapping[str, str]:
        """Those of `paths` whose index or working-tree content differs from HEAD → why, in words."""
        return worktree.dirty(self, tuple(paths))

    def is_ignored(self, path: str) -> bool:
        """Whether git ignores `path`."""
        arguments = ("check-ignore", "-q", "-z", "--stdin")
        # This command knows no literal pathspecs; `./` keeps a leading `:` from being magic.
        env = {"GIT_LITERAL_PATHSPECS": "0"}
        done = self.git.run(*arguments, stdin=b"./" + encode(path) + b"\0", env=env)
        if done.code not in {0, 1}:
            raise failed(arguments, done)
        return done.code == 0

    def clean(self, path: str, data: bytes, *, write: bool = False) -> Oid:
        """The blob id of `data` stored at `path` through git's clean filters (G2)."""
        raw = worktree.keeps_line_endings(self, path, data)
        how = ("--no-filters",) if raw else (b"--path=" + encode(path),)
        return self._stored("blob", data, *how, write=write)

    def smudge(self, path: str, oid: Oid) -> bytes:
        """A blob's bytes as a checkout would write them at `path`."""
        self.blob(oid)  # git would end with a less clear error
        how = ("cat-file", "--filters", b"--path=" + encode(path), oid)
        return self.git.out(*how, env=NO_FETCH, acting=True)

    # Objects and refs made by us

    def write_blob(self, data: bytes) -> Oid:
        """Store bytes as they are."""
        return self._stored("blob", data, "--no-filters")

    def write_tree(self, base: Oid | None, changes: Mapping[str, tuple[Oid, int] | None]) -> Oid:
        """A tree like commit `base`'s (None: empty) with files set or removed; no index involved."""
        tree = None if base is None else self.commit(base).tree
        store = partial(self._stored, "tree")
        return edit_tree(tree, changes, self._tree, store, self.object_format)

    def write_commit(
        self, tree: Oid, parents: Iterable[Oid], message: str, author: Signature, committer: Signature
    ) -> Oid:
        """Store a commit; moves no ref."""
        return self._stored("commit", format_commit(tree, parents, message, author, committer))

    def _stored(self, kind: str, data: bytes, *how: str | bytes, write: bool = True) -> Oid:
        arguments = ("hash-object", "-t", kind, "--stdin", *(("-w",) if write else ()), *how)
        out = self.git.out(*arguments, stdin=data, acting=True, options=DURABLE)
        return Oid(out.decode("ascii").strip())

    def update_ref(self, ref: str, new: Oid, expected: Oid | None, reason: str) -> bool:
        """Move a ref by compare-and-set (`expected` None: must not exist); False when it had moved."""
        before = expected or null_oid(self.object_format)
        arguments = ("update-ref", "-m", reason.replace("\n", " "), ref, new, before)
        done = self.git.run(*arguments, acting=True, options=DURABLE)
        if done.code == 0:
            return True
        if done.code < 0 or self.resolve(ref) == expected:
            raise failed(arguments, done)
        return False


def missing(oid: Oid, kind: str, *, partial: bool) -> MissingObject:
    """The error for an object that this clone doesn't hold, with the command that would settle it (G17)."""
    hint = f"git fetch origin {oid}" if partial else "git fsck, then git fetch --refetch from a whole clone"
    return MissingObject(f"The {kind} {oid.short} is not in this clone.", f"To get it: {hint}.")
