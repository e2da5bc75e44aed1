"""Blob ids remembered by stat data: trusted only where nothing can have changed unseen."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from muniment.check.context import Context, Scope
from muniment.check.paths import Owned
from muniment.check.snapshot import WorkingTree
from muniment.check.stamps import QUIET_SECONDS, Stamps, stamp
from muniment.git.objects import blob_oid
from muniment.git.repo import Oid
from muniment.workspace import open_workspace
from tests.support.checking import check, places, rules
from tests.support.repo import Repo

DOCUMENT = "docs/bugs/a.md"
FINE = "[b](b.md)\n"
BAD = "[c](c.md)\n"
"""As long as `FINE`, and its target isn't there."""
CACHE = ".git/muniment/cache/stamps-main.json"


def later(repo: Repo) -> None:
    """Let the cache stand as if it were written long after every file: nobody waits a minute in a test."""
    far = time.time() + 10 * QUIET_SECONDS
    os.utime(repo.path / CACHE, (far, far))


def warmed(repo: Repo) -> None:
    """A repository whose documents are all remembered by their stat data."""
    repo.write(DOCUMENT, FINE)
    repo.write("docs/bugs/b.md", "# B\n")
    repo.commit("Documents")
    for _ in range(2):
        assert rules(check(repo)) == []
        later(repo)
    assert set(json.loads(repo.read(CACHE))[1]) == {DOCUMENT, "docs/bugs/b.md"}


def context(repo: Repo) -> Context:
    ws = open_workspace(repo.path)
    owned = Owned.of(ws.config)
    tip = ws.repo.head().commit
    return Context(ws, Scope("all", "", tip=tip, base=tip), WorkingTree(ws.root, owned), owned)


def test_stamps__unchanged_files_are_not_read(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    warmed(repo)

    def read(target: str) -> bytes:
        raise AssertionError(target)

    monkeypatch.setattr("muniment.check.snapshot._read", read)
    assert rules(check(repo)) == []


def swap(path: Path) -> None:
    """Other bytes of the same length, with the old modification time."""
    before = path.stat()
    path.write_text(BAD)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    after = path.stat()
    assert (after.st_mtime_ns, after.st_size, after.st_ino) == (
        before.st_mtime_ns,
        before.st_size,
        before.st_ino,
    )


def replaced(path: Path) -> None:
    """Another file moved to its place, as editors do, as old as the first."""
    before = path.stat()
    other = path.with_name("other")
    other.write_text(BAD)
    os.utime(other, ns=(before.st_atime_ns, before.st_mtime_ns))
    other.replace(path)


@pytest.mark.parametrize("change", [lambda path: path.write_text(BAD * 2), swap, replaced])
def test_stamps__every_change_is_seen(repo: Repo, change: Callable[[Path], None]) -> None:
    warmed(repo)
    change(repo.path / DOCUMENT)
    assert places(check(repo))[0] == (DOCUMENT, 1, "doc-link")
    later(repo)
    assert places(check(repo))[0] == (DOCUMENT, 1, "doc-link")


def test_stamps__what_changes_right_after_it_was_read_is_never_remembered(repo: Repo) -> None:
    repo.write(DOCUMENT, FINE)
    for _ in range(3):
        check(repo)
        assert json.loads(repo.read(CACHE))[1] == {}  # too young, whatever is asked how often


def test_stamps__quiet_means_by_the_cache_as_it_was_loaded(tmp_path: Path) -> None:
    cache, file = tmp_path / "cache", tmp_path / "file"
    file.write_bytes(b"x")
    info = file.stat()
    changed = max(info.st_mtime_ns, info.st_ctime_ns)
    for since, remembered in ((0, False), (QUIET_SECONDS * 10**9 - 1, False), (QUIET_SECONDS * 10**9, True)):
        cache.write_text("[1,{}]")
        os.utime(cache, ns=(changed + since, changed + since))
        stamps = Stamps(cache)
        stamps.note("file", info, Oid("1" * 40))
        stamps.save(whole=True)
        assert (Stamps(cache).oid("file", info) == "1" * 40) is remembered
    for name in ("st_mtime_ns", "st_ctime_ns", "st_size", "st_ino", "st_dev"):
        other = _With(info, name)
        assert Stamps(cache).oid("file", other) is None, name  # type: ignore[arg-type]


class _With:
    """Stat data that differ in one field."""

    def __init__(self, info: os.stat_result, name: str) -> None:
        for field in ("st_mtime_ns", "st_ctime_ns", "st_size", "st_ino", "st_dev"):
            setattr(self, field, getattr(info, field) + (field == name))


@pytest.mark.parametrize("damage", [b"", b"{", b"[]", b"[1,[]]", b'[1,{"a":[1]}]', b"[9,{}]", b"\xff"])
def test_stamps__a_damaged_cache_is_none(repo: Repo, damage: bytes) -> None:
    warmed(repo)
    (repo.path / CACHE).write_bytes(damage)
    (repo.path / DOCUMENT).write_text(BAD)
    assert places(check(repo)) == [(DOCUMENT, 1, "doc-link")]
    later(repo)
    assert places(check(repo)) == [(DOCUMENT, 1, "doc-link")]


def test_stamps__a_file_that_changes_during_the_run_lends_its_facts_to_its_own_bytes_only(repo: Repo) -> None:
    warmed(repo)
    (repo.path / ".git/muniment/cache/check.json").unlink()
    running = context(repo)
    old = blob_oid(FINE.encode(), "sha1")
    assert running.oid(DOCUMENT) == old  # by its stat data, which were taken before …
    (repo.path / DOCUMENT).write_text(BAD)  # … this
    assert running.documents[DOCUMENT].targets == ("c.md",)
    assert running.facts.known(DOCUMENT, old) is None
    assert running.blob(DOCUMENT, old) is None


def test_stamps__a_linked_worktree_has_its_own(repo: Repo, tmp_path: Path) -> None:
    warmed(repo)
    repo.git("worktree", "add", "-q", "-b", "side", str(tmp_path / "side"))
    side = Repo(tmp_path / "side")
    side.write(DOCUMENT, BAD)
    assert places(check(side)) == [(DOCUMENT, 1, "doc-link")]
    assert rules(check(repo)) == []
    assert len(list((repo.path / ".git/muniment/cache").glob("stamps-*.json"))) == 2


def test_stamps__a_change_of_permission_is_no_longer_the_same_file(repo: Repo) -> None:
    warmed(repo)
    path = repo.path / DOCUMENT
    before = stamp(path.stat())
    path.chmod(0o600 if path.stat().st_mode & 0o777 != 0o600 else 0o644)
    assert stamp(path.stat()) != before
