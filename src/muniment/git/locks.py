"""The locks git takes to move a branch, and those among them that a killed git of ours left behind.

Another process's lock is never deleted (G16). A lock is known as ours when all of this holds: none was
there when we noted the commit we were about to publish; this one appeared after that; it holds that commit's
id, or the beginning of it (nothing at all: `HEAD.lock` stays empty); and it has not been touched for a while.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from muniment.errors import Refused
from muniment.git.repo import Oid, Repository

WAIT_SECONDS = 1.0
"""How long another process may hold a lock before we refuse, and how long one of ours must lie still."""
PAUSE = 0.05
"""Between two looks at a lock, in seconds."""


def ref_locks(repo: Repository, ref: str) -> tuple[Path, ...]:
    """The lock files that `git update-ref REF` takes on the branch HEAD points to."""
    if repo.config("extensions.refstorage") == "reftable":
        return tuple(folder / "reftable" / "tables.list.lock" for folder in {repo.common_dir, repo.git_dir})
    return repo.common_dir / f"{ref}.lock", repo.git_dir / "HEAD.lock"


def wait_until_free(*locks: Path) -> None:
    """Wait a bounded time until none of these lock files is there.

    Raises:
        Refused: One still is.
    """
    found = _first_left(lambda: next((lock for lock in locks if lock.exists()), None))
    if found is not None:
        raise locked(found)


def _first_left(look: Callable[[], Path | None]) -> Path | None:
    deadline = time.monotonic() + WAIT_SECONDS
    while (found := look()) is not None and time.monotonic() < deadline:
        time.sleep(PAUSE)
    return found


def locked(lock: Path) -> Refused:
    """The refusal for a lock that another process holds."""
    return Refused(
        f"Another git process holds {lock}; nothing was changed.",
        "Wait for it to end. If none is running, a git process was killed: delete that file, then try again.",
        code="locked",
    )


def drop_own(repo: Repository, ref: str, commit: Oid, since_ns: int) -> None:
    """Delete the ref locks that a killed git left while it published `commit`; see the module's docstring.

    `since_ns` is when the commit was noted, by the file system's clock (nanoseconds).
    """
    for lock in ref_locks(repo, ref):
        before = _sign(lock, commit, since_ns)
        if before is None:
            continue
        deadline = time.monotonic() + WAIT_SECONDS
        while _sign(lock, commit, since_ns) == before and time.monotonic() < deadline:
            time.sleep(PAUSE)
        if _sign(lock, commit, since_ns) == before:
            lock.unlink(missing_ok=True)


def _sign(lock: Path, commit: Oid, since_ns: int) -> tuple[int, int, int] | None:
    """What tells one lock file from another, or None when this is none that we can have left."""
    try:
        info = lock.lstat()
        content = lock.read_bytes() if info.st_size <= len(commit) + 1 else None
    except FileNotFoundError:
        return None
    if (
        content is None
        or info.st_ctime_ns < since_ns
        or not f"{commit}\n".encode("ascii").startswith(content)
    ):
        return None
    return info.st_ino, info.st_ctime_ns, info.st_size
