"""The journal by itself: what it records, and files moved forward and back exactly (G4)."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from muniment.errors import Refused
from muniment.git.program import discover
from muniment.git.repo import Oid
from muniment.git.worktree import read_worktree
from muniment.journal import Intent, Journal, Wanted, current, sweep_temporary
from tests.support.repo import Repo


@pytest.fixture
def journal(repo: Repo) -> Journal:
    found = discover(repo.path, os.environ)
    return Journal(found, found.common_dir / "muniment")


def state(root: Path, names: list[str]) -> dict[str, tuple[int, bytes] | None]:
    return {name: read_worktree(root / name) for name in names}


def test_journal__counts_from_its_last_write_and_not_after_finish(journal: Journal, repo: Repo) -> None:
    assert not journal.is_open()
    intent = journal.begin([Wanted("a.md", None, (0o644, b"a\n"))], kind="write", operation="op")
    assert journal.is_open()
    assert journal.load() == intent == Intent("write", "op", "", "", intent.steps, ())
    journal.note_commit(Oid("1" * 40))
    journal.note_dirty(["x\udc80"])
    assert journal.noted_commit() == Oid("1" * 40)
    assert journal.noted_dirty() == frozenset({"x\udc80"})
    journal.finish()
    assert not journal.is_open()
    assert not journal.folder.exists()
    assert journal.noted_commit() is None
    assert journal.noted_dirty() is None
    assert repo.status() == ""


def test_journal__nothing_noted_by_an_earlier_step_counts_for_the_next(journal: Journal) -> None:
    journal.folder.mkdir(parents=True)
    journal.note_commit(Oid("1" * 40))
    journal.begin([], kind="write", operation="op")
    assert journal.noted_commit() is None


def test_journal__keeps_committed_bytes_by_blob_id_only(journal: Journal, repo: Repo) -> None:
    blob = repo.git("rev-parse", "HEAD:README.md")
    wanted = Wanted("README.md", (0o644, b"# Example\n"), (0o644, b"new\n"), blob)
    intent = journal.begin([wanted], kind="write", operation="op")
    assert intent.steps[0].old.blob == blob
    assert (journal.folder / "payload").read_bytes() == b"new\n"
    dirty = Wanted("README.md", (0o644, b"edited\n"), (0o644, b"edited\n"), blob)
    intent = journal_again(journal, dirty)
    assert intent.steps[0].old == intent.steps[0].new
    assert (journal.folder / "payload").read_bytes() == b"edited\n"


def journal_again(journal: Journal, wanted: Wanted) -> Intent:
    journal.finish()
    return journal.begin([wanted], kind="write", operation="op")


def test_journal__odd_paths_survive_json(journal: Journal) -> None:
    names = ["two\nlines", "caf\udce9", '"q"', "ünï"]
    journal.begin([Wanted(name, None, (0o644, b"x")) for name in names], kind="write", operation="op")
    assert list(journal.load().paths) == names


def test_forward__stops_before_a_file_that_is_neither_old_nor_new(journal: Journal, repo: Repo) -> None:
    files = [
        Wanted("a.md", None, (0o644, b"a\n")),
        Wanted("README.md", (0o644, b"# Example\n"), (0o644, b"x\n")),
    ]
    intent = journal.begin(files, kind="write", operation="op")
    repo.write("README.md", "a person's\n")
    with pytest.raises(Refused) as raised:
        journal.write_forward(intent)
    assert raised.value.code == "changed-meanwhile"
    assert journal.write_back(intent) == ("README.md",)
    assert repo.read("README.md") == b"a person's\n"
    assert not (repo.path / "a.md").exists()


def test_back__a_hooks_version_is_replaced_and_another_is_not(journal: Journal, repo: Repo) -> None:
    intent = journal.begin(
        [Wanted("README.md", (0o640, b"# Example\n"), (0o640, b"x\n"))], kind="commit", operation="op"
    )
    repo.write("README.md", "tidied by a hook\n")
    digest = current(repo.path, "README.md")
    assert journal.write_back(intent) == ("README.md",)
    assert journal.write_back(intent, {"README.md": frozenset({digest})}) == ()
    assert read_worktree(repo.path / "README.md") == (0o640, b"# Example\n")


def test_back__folders_made_by_the_step_go_unless_something_else_is_in_them(
    journal: Journal, repo: Repo
) -> None:
    files = [Wanted("a/b/c.md", None, (0o644, b"c\n")), Wanted("d/e.md", None, (0o644, b"e\n"))]
    intent = journal.begin(files, kind="write", operation="op")
    assert intent.folders == ("a", "a/b", "d")
    journal.write_forward(intent)
    repo.write("d/mine.txt", "x\n")
    assert journal.write_back(intent) == ()
    assert not (repo.path / "a").exists()
    assert [one.name for one in (repo.path / "d").iterdir()] == ["mine.txt"]


def test_load__unreadable_is_refused(journal: Journal) -> None:
    journal.begin([], kind="write", operation="op")
    raw = json.loads((journal.folder / "intent.json").read_bytes())
    (journal.folder / "intent.json").write_text(json.dumps({**raw, "schema": "muniment.journal/2"}))
    with pytest.raises(Refused, match="can't be read"):
        journal.load()


def test_sweep__removes_only_our_own_temporary_files(tmp_path: Path) -> None:
    for name in (
        ".a.md.0123456789ab.tmp",
        ".a.md.tmp",
        ".a.md.0123456789ab.tmp.bak",
        ".b.md.0123456789ab.tmp",
        "a.md",
    ):
        (tmp_path / name).write_text("x")
    (tmp_path / ".a.md.ffffffffffff.tmp").symlink_to("a.md")
    sweep_temporary(tmp_path / "a.md")
    assert sorted(one.name for one in tmp_path.iterdir()) == [
        *(
            ".a.md.0123456789ab.tmp.bak",
            ".a.md.ffffffffffff.tmp",
            ".a.md.tmp",
            ".b.md.0123456789ab.tmp",
            "a.md",
        ),
    ]
    sweep_temporary(tmp_path / "absent" / "a.md")


_files = st.dictionaries(
    st.sampled_from(["a.md", "b/c.md", "b/d/e.md", "README.md"]),
    st.tuples(st.sampled_from([0o644, 0o755, 0o600]), st.binary(max_size=20)),
)


@given(_files, _files, st.integers(0, 4))
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_forward_and_back__from_any_point(
    journal: Journal,
    repo: Repo,
    old: dict[str, tuple[int, bytes]],
    new: dict[str, tuple[int, bytes]],
    done: int,
) -> None:
    names = ["a.md", "b/c.md", "b/d/e.md", "README.md"]
    for name in names:
        (repo.path / name).unlink(missing_ok=True)
        if name in old:
            repo.write(name, old[name][1]).chmod(old[name][0])
    before = state(repo.path, names)
    journal.finish()
    files = [Wanted(name, old.get(name), new.get(name)) for name in names]
    intent = journal.begin(files, kind="write", operation="op")
    for file in files[:done]:  # as far as a killed run came
        if file.then is None:
            (repo.path / file.path).unlink(missing_ok=True)
        elif file.now is None or file.now[1] != file.then[1]:
            repo.write(file.path, file.then[1]).chmod(file.then[0])
    assert journal.write_back(intent) == ()
    assert state(repo.path, names) == before
    journal.write_forward(intent)
    after = state(repo.path, names)
    assert {name: found and found[1] for name, found in after.items()} == {
        name: new[name][1] if name in new else None for name in names
    }
    assert journal.write_back(intent) == ()
    assert state(repo.path, names) == before
