"""Index files: a private one that a commit is built from, and the user's own, changed in named entries only.

The user's index is replaced as git itself does it, under `index.lock`; the lock is taken by linking the
finished new index to that name, so a lock left by a kill can be told from another process's by its inode.
"""

from __future__ import annotations

import errno
import os
import shutil
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

from muniment.errors import Unavailable
from muniment.files import sync_folder
from muniment.git.locks import PAUSE, WAIT_SECONDS, locked
from muniment.git.objects import index_line, null_oid
from muniment.git.process import NO_FETCH, encode, fields
from muniment.git.program import DURABLE, QUIET
from muniment.git.repo import Oid, Repository, TreeEntry

Entries = Mapping[str, TreeEntry | None]
"""Paths with the entry they get, or None to drop them."""


def user_index(repo: Repository) -> Path:
    """This worktree's own index file."""
    return repo.git_dir / "index"


def lock_file(repo: Repository) -> Path:
    """The lock that every git process takes to change the index."""
    return repo.git_dir / "index.lock"


def private_index(repo: Repository, index: Path, commit: Oid | None, entries: Entries) -> None:
    """Make the file `index` an index of `commit`'s tree (None: empty) with `entries` set.

    It starts as a copy of the user's, for the cached file times: hooks then compare quickly.
    """
    _copy(user_index(repo), index)
    base = ("--reset", commit) if commit else ("--empty",)
    _git(repo, index, "read-tree", *base)
    set_entries(repo, index, entries)
    repo.git.run("update-index", "-q", "--refresh", env=_environment(index), acting=True, options=QUIET)


def set_entries(repo: Repository, index: Path, entries: Entries) -> None:
    """Set or drop exactly these entries of the index file `index`."""
    gone = null_oid(repo.object_format)
    records = [
        b"%o %s 0\t%s\0" % (entry.mode if entry else 0, encode(entry.oid if entry else gone), encode(path))
        for path, entry in entries.items()
    ]
    _git(repo, index, "update-index", "-z", "--index-info", stdin=b"".join(records))


def write_tree(repo: Repository, index: Path) -> Oid:
    """Store the tree that an index file describes."""
    return Oid(_git(repo, index, "write-tree").decode("ascii").strip())


def _environment(index: Path) -> dict[str, str]:
    """For plumbing on a private index file: plain paths, no replacements, nothing fetched."""
    plain = {"GIT_LITERAL_PATHSPECS": "1", "GIT_NO_REPLACE_OBJECTS": "1"}
    return {"GIT_INDEX_FILE": str(index), **plain, **NO_FETCH}


def _git(repo: Repository, index: Path, *arguments: str, stdin: bytes = b"") -> bytes:
    environment = _environment(index)
    return repo.git.out(*arguments, stdin=stdin, env=environment, acting=True, options=(*DURABLE, *QUIET))


def _copy(source: Path, target: Path) -> None:
    """Copy an index with its time: git compares that to file times to see which entries are unsure."""
    target.unlink(missing_ok=True)
    with suppress(FileNotFoundError):
        shutil.copy2(source, target)


def prepare(repo: Repository, prepared: Path, entries: Entries) -> None:
    """Make `prepared` a copy of the user's index in which just these entries differ.

    Raises:
        Unavailable: git changed another entry too; the user's index is untouched.
    """
    _copy(user_index(repo), prepared)
    paths = b"".join(encode(path) + b"\0" for path in entries)
    environment = _environment(prepared)
    options = (*DURABLE, *QUIET)
    # From the working tree first, for the cached file times; then what the commit really holds.
    repo.git.run(
        *("update-index", "--add", "--remove", "-z", "--stdin"),
        stdin=paths,
        env=environment,
        acting=True,
        options=options,
    )
    wanted = {path: entry and (entry.mode, entry.oid) for path, entry in entries.items()}
    made = dict.fromkeys(entries) | {
        entry.path: (entry.mode, entry.oid) for _, entry in _stages(repo, prepared) if entry.path in entries
    }
    if made != wanted:
        set_entries(repo, prepared, entries)
    before, after = _others(repo, user_index(repo), entries), _others(repo, prepared, entries)
    if before != after:
        raise Unavailable("git would change other entries of the index too; nothing was changed.")


def _stages(repo: Repository, index: Path) -> list[tuple[int, TreeEntry]]:
    return [index_line(record) for record in fields(_git(repo, index, "ls-files", "--stage", "-z"))]


def _others(repo: Repository, index: Path, entries: Entries) -> list[tuple[int, TreeEntry]]:
    if not index.exists():
        return []
    return [(stage, entry) for stage, entry in _stages(repo, index) if entry.path not in entries]


def replace(repo: Repository, prepared: Path, entries: Entries, act: Callable[[], None]) -> None:
    """Set `entries` in the user's index and run `act` while its lock is held, just before the new one shows.

    `act` moves the branch: no other git process can commit from the old index in between. If it raises,
    the index stays as it was.

    Raises:
        Refused: The index stayed locked, or kept changing, for the bounded time.
    """
    index, lock = user_index(repo), lock_file(repo)
    deadline = time.monotonic() + WAIT_SECONDS
    while True:
        before = _bytes(index)
        prepare(repo, prepared, entries)
        if _take(prepared, lock):
            if _bytes(index) == before:
                break
            lock.unlink()
        if time.monotonic() >= deadline:
            raise locked(lock)
        time.sleep(PAUSE)
    try:
        act()
    except BaseException:
        lock.unlink()
        raise
    lock.replace(index)
    sync_folder(index.parent)


def _bytes(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None


def _take(prepared: Path, lock: Path) -> bool:
    """Take the lock with the finished index as its content; False when another process holds it."""
    descriptor = os.open(prepared, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    try:
        os.link(prepared, lock)
    except FileExistsError:
        return False
    except OSError as error:
        if error.errno not in {errno.EPERM, errno.ENOTSUP, errno.EXDEV, errno.ENOSYS, errno.EMLINK}:
            raise Unavailable(f"{lock} could not be made: {error.strerror}.") from error
        return _take_by_copy(prepared, lock)
    return True


def _take_by_copy(prepared: Path, lock: Path) -> bool:
    """The same where the file system has no hard links."""
    try:
        with lock.open("xb") as stream:
            stream.write(prepared.read_bytes())
            stream.flush()
            os.fsync(stream.fileno())
    except FileExistsError:
        return False
    return True


def is_ours(repo: Repository, prepared: Path) -> bool:
    """Whether the index lock there is one that we took with `prepared` and were killed holding."""
    lock = lock_file(repo)
    try:
        return lock.samefile(prepared) or (lock.read_bytes() == prepared.read_bytes() != b"")
    except FileNotFoundError:
        return False
