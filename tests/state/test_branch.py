"""A state on a branch is the same state: same operations, same answers, one file an item, all else kept."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muniment.state import operations
from muniment.state.branch import BranchState
from muniment.state.item_file import ItemFile, key_by_name, new_item, path_of
from muniment.state.operations import REMOVE, Edit, Unplaceable
from muniment.state.text import Corrupt, NoState, read

KEYS = st.builds(
    lambda source, native: f"{source}:{native}",
    st.text(st.characters(exclude_characters=":", exclude_categories=["Cs", "Cc"]), min_size=1, max_size=8),
    st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=60),
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 10**9) | st.text("ab\n:#'\" 1é", max_size=9),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.text("abc", min_size=1), inner, max_size=2)
    ),
    max_leaves=4,
)


@dataclass(slots=True)
class Held:
    """The files of a commit, in memory."""

    files: dict[str, bytes] = field(default_factory=dict)

    def file(self, path: str) -> bytes | None:
        return self.files.get(path)

    def names(self, folder: str) -> Mapping[str, bool]:
        below = [path[len(folder) + 1 :] for path in self.paths(folder)]
        return {path.partition("/")[0]: "/" in path for path in below}

    def paths(self, folder: str) -> Collection[str]:
        return [path for path in self.files if path.startswith(f"{folder}/")]

    def apply(self, edits: Collection[Edit]) -> Held:
        made = {**self.files}
        for path, data in BranchState(self).changes(edits).items():
            if data is None:
                del made[path]
            else:
                made[path] = data
        return Held(made)


def start(**files: bytes) -> Held:
    return Held({"state.yml": b"schema_version: 1\nlease_epoch: 3\n", **files})


def upsert(held: Held, source: str, native: str, fields: Mapping[str, Any]) -> Held:
    return held.apply(operations.upsert_item(BranchState(held), source, native, fields).edits)


@given(KEYS)
def test_a_key_has_one_safe_path_that_says_it(key: str) -> None:
    path = path_of(key)
    folder, prefix, name = path.split("/")
    assert folder == "items"
    assert len(prefix) == 2
    assert set(name) <= set("abcdefghijklmnopqrstuvwxyz0123456789_-.%")
    assert name == name.lower()
    assert len(name) <= 104
    assert key_by_name(path) in {key, ""}


def test_paths_are_as_published() -> None:
    assert path_of("inbox:42").endswith("/inbox%3a42.yml")
    assert path_of("GitHub:A") != path_of("github:a")
    long = path_of("inbox:" + "x" * 200)
    assert len(long.split("/")[2]) == 68
    assert long.split("/")[2].startswith(long.split("/")[1])
    assert key_by_name(long) == ""


@given(KEYS, st.dictionaries(st.text("abcxyz", min_size=1, max_size=5), VALUES, max_size=4))
def test_one_file_and_a_branch_answer_alike(key: str, fields: dict[str, Any]) -> None:
    source, _, native = key.partition(":")
    given_fields = {name: value for name, value in fields.items() if name not in {"id", "source", "status"}}
    one = read(b"schema_version: 1\nlease_epoch: 3\n")
    assert not isinstance(one, NoState)
    after_one = read(one.edited(operations.upsert_item(one, source, native, given_fields).edits))
    after_branch = BranchState(upsert(start(), source, native, given_fields))
    assert after_branch.item(key) == after_one.item(key)
    again = upsert(start(), source, native, given_fields)
    assert upsert(again, source, native, given_fields).files == again.files


def test_an_edit_changes_its_lines_alone() -> None:
    text = b'# by hand\nid: "7"   # the seventh\nsource: inbox\nstatus: ingested\nodd: {a: [1, 2]}\n'
    held = start(**{path_of("inbox:7"): text})
    after = upsert(held, "inbox", "7", {"status": "analyzed", "title": "Seven"})
    assert after.files[path_of("inbox:7")] == text.replace(b"ingested", b"analyzed") + b"title: Seven\n"
    assert after.files["state.yml"] == held.files["state.yml"]


def test_items_in_the_main_file_stay_there_and_files_come_first() -> None:
    main = b'schema_version: 1\nitems:\n  inbox:1:\n    id: "1"\n    source: inbox\n    status: ingested\n'
    held = Held({"state.yml": main, path_of("inbox:2"): b'id: "2"\nsource: inbox\nstatus: closed\n'})
    after = upsert(upsert(held, "inbox", "1", {"title": "One"}), "inbox", "2", {"title": "Two"})
    assert sorted(after.files) == sorted(held.files)
    assert b"One" in after.files["state.yml"]
    value = BranchState(after).value()
    assert value is not None
    assert set(value["items"]) == {"inbox:1", "inbox:2"}


def test_reading_says_each_id_once() -> None:
    held = upsert(start(), "bench", "tok-1", {"status": "ingested"})
    state = BranchState(held)
    assert str(state.value()).count("tok-1") == 1
    assert dict(state.items())["bench:tok-1"]["id"] == "tok-1"


@pytest.mark.parametrize("place", ["items/legacy-7.yml", "items/inbox/7.yml"])
def test_a_file_at_another_place_is_that_item_still(place: str) -> None:
    held = start(**{place: b'id: "7"\nsource: inbox\nstatus: ingested\n', "NOTES.md": b"hi\n"})
    assert BranchState(held).item("inbox:7") is not None
    after = upsert(held, "inbox", "7", {"status": "closed"})
    assert sorted(after.files) == sorted(held.files)
    assert b"closed" in after.files[place]


@pytest.mark.parametrize(
    "data", [b"\xff\n", b"- a\n", b"<<<<<<< ours\nid: 1\n=======\n>>>>>>> theirs\n", b"id: 1\nid: 2\n"]
)
def test_a_broken_item_hides_no_other_and_never_passes_for_the_whole(data: bytes) -> None:
    held = upsert(start(**{path_of("inbox:1"): data}), "inbox", "2", {})
    state = BranchState(held)
    assert [key for key, _ in state.items()] == ["inbox:2"]
    with pytest.raises(Unplaceable):
        state.item("inbox:1")
    with pytest.raises(Corrupt):
        state.value()


def test_hidden_text_is_stored_nowhere() -> None:
    held = upsert(
        upsert(start(), "chat", "1", {"body": "secret", "title": "T"}), "chat", "2", {"quote": "hush"}
    )
    marked = held.apply([Edit("sources", "chat", {"sensitive": True}, new=True)])
    assert not any(b"secret" in data or b"hush" in data for data in marked.files.values())
    later = upsert(marked, "chat", "3", {"body": "secret"})
    assert not any(b"secret" in data for data in later.files.values())
    by_settings = BranchState(start(), hidden={"mail"})
    edits = operations.upsert_item(by_settings, "mail", "1", {"body": "secret"}).edits
    assert not any(b"secret" in (data or b"") for data in by_settings.changes(edits).values())


def test_no_state_is_told_from_an_empty_one() -> None:
    assert not BranchState(Held()).exists
    assert BranchState(Held()).value() is None
    with pytest.raises(Corrupt):
        BranchState(Held({"state.yml": b""}))


@given(st.dictionaries(st.text("abcno:- ", min_size=1, max_size=6), VALUES, min_size=1, max_size=5))
def test_an_items_file_reads_back_after_any_edit(fields: dict[str, Any]) -> None:
    path = path_of("inbox:1")
    first = ItemFile(path, new_item(path, {"id": "1", "source": "inbox"}))
    full = ItemFile(path, first.edited(fields))
    assert full.fields == {**first.fields, **fields}
    back = ItemFile(path, full.edited(dict.fromkeys(fields, REMOVE)))
    assert back.fields == {name: value for name, value in first.fields.items() if name not in fields}
