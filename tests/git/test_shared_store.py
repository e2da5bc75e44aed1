"""Objects made in this process are git's own, in both formats; a kill leaves all of one or none."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from muniment.errors import Refused
from muniment.git.oid import MissingObject, Oid
from muniment.git.repo import Signature
from muniment.git.shared_store import SharedStore
from tests.support.git import by_program
from tests.support.repo import Repo

WHO = Signature("Robin Owner", "robin@example.org", 1_764_000_000, 60)


@pytest.fixture(params=["sha1", "sha256"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> SharedStore:
    repo = Repo.init(tmp_path / "work", f"--object-format={request.param}")
    made = SharedStore.of(by_program(repo.path), "origin", "u", "state")
    with made.lock():
        return made


def git(store: SharedStore, *arguments: str, stdin: bytes = b"") -> bytes:
    command = ["git", f"--git-dir={store.folder}", *arguments]
    return subprocess.run(command, input=stdin, capture_output=True, check=True).stdout


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary())
def test_git_gives_an_object_the_same_name_and_bytes(store: SharedStore, data: bytes) -> None:
    oid = store.write("blob", data)
    assert git(store, "hash-object", "--stdin", stdin=data).decode().strip() == oid
    assert git(store, "cat-file", "blob", oid) == data == store.blob(oid)


def test_trees_and_commits_are_gits_own(store: SharedStore) -> None:
    first_tree = store.edit(None, {"state.yml": b"a\n", "items/0a/x.yml": b"b\n", "items/0a/y.yml": b"c\n"})
    first = store.write_commit(first_tree, [], "One\n", WHO, WHO)
    tree = store.edit(first, {"items/0a/x.yml": None, "items/0a/y.yml": b"d\n", "items.txt": b"e\n"})
    second = store.write_commit(tree, [first], "Two\n\nbody\n", WHO, WHO)
    git(store, "fsck", "--strict", "--no-dangling", second)
    listed = git(store, "ls-tree", "-r", "--name-only", second).decode().split()
    assert listed == ["items.txt", "items/0a/y.yml", "state.yml"]
    assert list(store.files(second, "items")) == ["items/0a/y.yml"]
    assert list(store.files(second)) == listed
    assert store.files(second, "state.yml") == {} == store.files(second, "none")
    assert store.file(second, "items/0a/y.yml") == b"d\n"
    assert store.file(second, "items/0a") is None is store.file(second, "state.yml/x")
    commit = store.commit(second)
    assert (commit.parents, commit.message, commit.author) == ((first,), "Two\n\nbody\n", WHO)
    assert set(store.tree(commit.tree)) == {"items", "items.txt", "state.yml"}


def test_a_file_keeps_its_mode_and_paths_stay_inside(store: SharedStore) -> None:
    blob = store.write("blob", b"#!/bin/sh\n")
    made = git(store, "mktree", stdin=f"100755 blob {blob}\trun\n".encode()).decode().strip()
    base = store.write_commit(Oid(made), [], "One\n", WHO, WHO)
    assert store.tree(store.edit(base, {"run": b"#!/bin/bash\n"}))["run"][1] == 0o100755
    for path in ("../x", "a//b", ".git/config", "a/.GIT/x", "/a"):
        with pytest.raises(Refused):
            store.edit(base, {path: b""})
    with pytest.raises(Refused):
        store.edit(base, {"run/x": b""})


def test_packed_objects_are_read_too(store: SharedStore) -> None:
    tree = store.edit(None, {"state.yml": b"a\n"})
    commit = store.write_commit(tree, [], "One\n", WHO, WHO)
    git(store, "update-ref", "refs/muniment/tip", commit)
    git(store, "repack", "-adq")
    git(store, "prune-packed")
    assert not list((store.folder / "objects").glob("??/*"))
    assert store.file(commit, "state.yml") == b"a\n"
    assert store.ref("refs/muniment/tip") == commit


def test_what_is_absent_or_damaged_is_missing(store: SharedStore) -> None:
    oid = store.write("blob", b"data")
    absent = Oid("1" * len(oid))
    path = store.folder / "objects" / oid[:2] / oid[2:]
    path.chmod(0o644)
    for damage in (b"", b"nonsense", path.read_bytes()[:-3]):
        path.write_bytes(damage)
        assert not store.has(oid)
        assert store.write("blob", b"data") == oid
        assert store.blob(oid) == b"data"
        path.chmod(0o644)
    path.write_bytes(b"")
    assert not store.has(oid)
    with store.lock():  # made anew: git would never fetch again what it takes for present
        assert not path.exists()
    with pytest.raises(MissingObject):
        store.get(absent)
    store.write("blob", b"data")
    with pytest.raises(MissingObject):
        store.commit(oid)
    assert store.ancestry(absent, oid) is None


def test_one_process_holds_it_and_its_children_too(store: SharedStore) -> None:
    with store.lock(), store.lock():
        other = SharedStore(store.folder, store.object_format, store._git)
        with pytest.raises(Refused), other.lock(0):
            pass
        child = subprocess.Popen(["cat"], stdin=subprocess.PIPE, pass_fds=store.held)
    assert store.held == ()
    with pytest.raises(Refused), other.lock(0):
        pass
    child.communicate()
    with other.lock(0):
        assert other.held


def test_a_folder_of_another_making_is_made_anew(store: SharedStore) -> None:
    old, young = store.write("blob", b"old"), store.write("blob", b"young")
    os.utime(store.folder / "objects" / old[:2] / old[2:], (0, 0))
    (store.folder / "objects" / "pack" / "pack-1.pack").write_bytes(b"")
    (store.folder / "config").write_text("[core]\n\tbare = false\n")
    with store.lock():
        assert not store.has(old)
        assert store.has(young)  # somebody may be about to push it
    assert not list((store.folder / "objects" / "pack").iterdir())
    assert git(store, "rev-parse", "--is-bare-repository").strip() == b"true"
    assert os.listdir(store.folder / "refs") == ["muniment"]  # noqa: PTH208 - names are enough
