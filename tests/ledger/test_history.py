"""Honest evidence against history, over real commits (G6, G17)."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from muniment.errors import Refused, Unavailable
from muniment.ledger.history import Verified, verify
from muniment.ledger.store import Draft, load
from muniment.ledger.store_write import record
from muniment.workspace import Workspace, open_workspace
from tests.support.ledger import PATH, Document, entry, file, identify
from tests.support.repo import Repo


def open_(repo: Repo) -> Workspace:
    return open_workspace(repo.path, {**os.environ, "MUNIMENT_NOW": "2026-02-01T00:00:00Z"})


def add(repo: Repo, text: str, commit: bool = True) -> str:
    made = record(open_(repo), Draft("note", {"text": text})).entries[0].id
    if commit:
        repo.commit(text)
    return made


def against(repo: Repo, rev: str) -> Verified:
    return verify(open_(repo), against=rev)


def removed(found: Verified) -> list[str]:
    return [fault.entry for fault in found.problems if fault.rule == "removed"]


def notes(*texts: str) -> list[Document]:
    made: list[Document] = []
    for text in texts:
        made.append(entry("note", {"text": text}, after=made[-1:]))
    return made


def test_against__a_grown_ledger_is_ok(repo: Repo) -> None:
    for text in ("one", "two"):
        add(repo, text)
    add(repo, "uncommitted", commit=False)
    for rev in ("HEAD~2", "HEAD~1", "HEAD", "main"):
        assert against(repo, rev).ok is True


def test_against__finds_a_removed_newest_entry_that_the_file_alone_cant_show(repo: Repo) -> None:
    add(repo, "one")
    before = repo.read(PATH)
    gone = add(repo, "two")
    repo.write(PATH, before)
    assert verify(open_(repo)).ok is True
    assert removed(against(repo, "HEAD~1")) == [gone]
    repo.commit("drop it")
    assert removed(against(repo, "HEAD~1")) == [gone]
    assert against(repo, "HEAD").ok is True  # nothing after the removal says so any more


def test_against__finds_an_entry_recorded_and_removed_between(repo: Repo) -> None:
    base = repo.head()
    gone = add(repo, "one")
    (repo.path / PATH).unlink()
    repo.commit("remove the file")
    found = against(repo, base)
    assert (found.ok, removed(found)) == (False, [gone])


def test_against__finds_a_recomputed_id(repo: Repo) -> None:
    (made,) = notes("one")
    repo.write(PATH, file(made))
    repo.commit("one")
    forged = {**made, "data": {"text": "uno"}}
    forged["id"] = identify(forged)
    repo.write(PATH, file(forged))
    assert verify(open_(repo)).ok is True
    assert removed(against(repo, "HEAD")) == [made["id"]]


def test_against__starts_at_the_merge_base(repo: Repo) -> None:
    add(repo, "one")
    repo.git("branch", "side")
    add(repo, "only on main")
    repo.git("checkout", "-q", "side")
    add(repo, "only on side")
    assert against(repo, "main").ok is True


def test_against__a_merge_that_drops_a_side_is_found(repo: Repo) -> None:
    add(repo, "one")
    base = repo.head()
    repo.git("checkout", "-q", "-b", "side")
    gone = add(repo, "only on side")
    repo.git("checkout", "-q", "main")
    add(repo, "only on main")
    repo.git("merge", "-q", "-s", "ours", "-m", "merge", "side")
    assert removed(against(repo, base)) == [gone]


def test_against__a_plain_line_merge_of_two_grown_ledgers_is_whole(repo: Repo) -> None:
    for place in range(12):
        add(repo, f"base {place}", commit=place == 11)
    base = repo.head()
    repo.git("checkout", "-q", "-b", "side")
    add(repo, "on side")
    repo.git("checkout", "-q", "main")
    add(repo, "on main")
    merged = subprocess.run(
        ["git", "merge", "-q", "-m", "merge", "side"], cwd=repo.path, capture_output=True, check=False
    )
    found = verify(open_(repo), against=base)
    if merged.returncode == 0:
        assert found.ok is True
        assert len(load(open_(repo)).heads) == 2
    else:  # both landed in one gap between neighbours: then it is a conflict, and named
        assert {fault.rule for fault in found.problems} >= {"conflict-markers"}


def test_against__a_hand_made_revert_is_found(repo: Repo) -> None:
    add(repo, "one")
    base = repo.head()
    gone = add(repo, "two")
    repo.git("revert", "--no-edit", "HEAD")
    assert removed(against(repo, base)) == [gone]


def apart(made: list[Document]) -> tuple[Document, Document]:
    """A next entry and one after it whose lines don't touch, so that a plain merge is clean."""
    for place in range(100):
        first = entry("note", {"text": "left out", "n": place}, after=made[-1:])
        second = entry("note", {"text": "picked"}, after=[first])
        order = sorted([one["id"] for one in (*made, first, second)])
        if abs(order.index(first["id"]) - order.index(second["id"])) > 3:
            return first, second
    raise AssertionError


def test_cherry_pick__without_its_ancestors_is_incomplete_not_broken(repo: Repo) -> None:
    texts = [f"base {place}" for place in range(20)]
    made = notes(*texts)
    repo.write(PATH, file(*made))
    repo.commit("base")
    left_out, picked = apart(made)
    repo.git("checkout", "-q", "-b", "side")
    repo.write(PATH, file(*made, left_out))
    repo.commit("left out")
    repo.write(PATH, file(*made, left_out, picked))
    repo.commit("picked")
    repo.git("checkout", "-q", "main")
    repo.git("cherry-pick", "side")
    found = verify(open_(repo))
    assert (found.ok, [fault.rule for fault in found.problems]) == (False, ["incomplete"])
    assert found.problems[0].entry == picked["id"]
    assert found.problems[0].absent == left_out["id"]
    assert against(repo, "main~1").problems == found.problems


def test_against__stubs_and_sealed_entries_count_as_there(repo: Repo) -> None:
    from muniment.ledger import expunge, seal  # noqa: PLC0415 - only here

    first = add(repo, "one")
    add(repo, "two")
    base = repo.head()
    expunge.now(open_(repo), first, "asked to", terminal=False)
    assert against(repo, base).ok is True
    add(repo, "three")
    seal.seal(open_(repo), over=0)
    assert load(open_(repo)).whole.segments[0].segment.entries == ()
    assert against(repo, base).ok is True
    repo.commit("seal")
    add(repo, "four")
    assert against(repo, base).ok is True
    for path in (repo.path / "docs/reviews/ledger").glob("*.json"):
        path.unlink()
    found = against(repo, base)
    assert {fault.rule for fault in found.problems} >= {"sealed", "removed"}


def test_against__an_unknown_revision_or_head_is_unknown_with_the_command_that_settles(repo: Repo) -> None:
    found = against(repo, "origin/main")
    assert (found.ok, found.problems) == (None, ())
    assert found.settle.startswith("git fetch") or "git fetch" in found.settle
    unborn = Repo.init(repo.path.parent / "unborn")
    assert verify(open_(unborn), against="HEAD").ok is None


def test_against__unrelated_history_is_unknown(repo: Repo) -> None:
    repo.git("checkout", "-q", "--orphan", "other")
    repo.commit("other")
    assert against(repo, "main").ok is None


def test_against__a_shallow_clone_is_unknown_until_history_is_there(repo: Repo, tmp_path: Path) -> None:
    repo.git("tag", "start")
    for text in ("one", "two", "three"):
        add(repo, text)
    shallow = Repo(tmp_path / "shallow")
    subprocess.run(["git", "clone", "-q", "--depth=1", f"file://{repo.path}", str(shallow.path)], check=True)
    shallow.git("fetch", "-q", "--depth=1", "origin", "tag", "start")
    found = against(shallow, "start")
    assert found.ok is None
    assert "--unshallow" in found.settle
    shallow.git("fetch", "-q", "--unshallow", "--tags")
    assert against(shallow, "start").ok is True


def test_against__a_side_branch_cut_off_in_a_shallow_clone_is_unknown(repo: Repo, tmp_path: Path) -> None:
    add(repo, "one")
    repo.git("checkout", "-q", "-b", "side")
    for place in range(4):
        repo.write("other.txt", str(place))
        repo.commit(f"side {place}")
    repo.git("checkout", "-q", "main")
    repo.write("main.txt", "1")
    repo.commit("main moves")
    repo.git("merge", "-q", "-m", "merge", "side")
    shallow = Repo(tmp_path / "shallow")
    subprocess.run(["git", "clone", "-q", "--depth=3", f"file://{repo.path}", str(shallow.path)], check=True)
    assert against(shallow, "HEAD~1").ok is None


def test_against__a_missing_blob_in_a_partial_clone_is_unknown_and_nothing_is_fetched(
    repo: Repo, tmp_path: Path
) -> None:
    add(repo, "one")
    base = repo.head()
    add(repo, "two")
    add(repo, "three")
    repo.git("config", "uploadpack.allowFilter", "true")
    partial = Repo(tmp_path / "partial")
    subprocess.run(
        ["git", "clone", "-q", "--filter=blob:none", f"file://{repo.path}", str(partial.path)], check=True
    )
    found = against(partial, base)
    assert found.ok is None
    assert found.settle
    with pytest.raises(Unavailable):
        load(open_(partial), base)


def test_verify__at_a_revision(repo: Repo) -> None:
    add(repo, "one")
    good = repo.head()
    repo.write(PATH, repo.read(PATH).replace(b'"one"', b'"uno"'))
    repo.commit("spoil")
    assert verify(open_(repo), rev=good).ok is True
    assert verify(open_(repo), rev="HEAD").ok is False


def test_against__a_ledger_moved_by_its_settings_is_followed(repo: Repo) -> None:
    first = add(repo, "one")
    base = repo.head()
    repo.write(".muniment/config.yaml", "docs_root: documents\n")
    repo.git("mv", "docs", "documents")
    repo.commit("move")
    assert against(repo, base).ok is True
    assert [one.id for one in load(open_(repo), base).entries] == [first]
    repo.write("documents/reviews/ledger.json", file())
    assert removed(against(repo, base)) == [first]


def test_record__a_file_that_lacks_an_entry_of_heads_is_refused(repo: Repo) -> None:
    add(repo, "one")
    before = repo.read(PATH)
    add(repo, "two")
    for data in (before, file(), None):
        if data is None:
            (repo.path / PATH).unlink()
        else:
            repo.write(PATH, data)
        with pytest.raises(Refused) as caught:
            add(repo, "three", commit=False)
        assert caught.value.code in {"shrinking-ledger", "broken-ledger"}
        assert not (repo.path / PATH).exists() if data is None else repo.read(PATH) == data


def test_record__heads_new_entry_is_noticed_over_a_cached_tip(repo: Repo) -> None:
    add(repo, "one")
    add(repo, "two", commit=False)
    kept = repo.read(PATH)
    repo.write(PATH, file(*notes("other")))
    repo.commit("someone else's ledger")
    repo.write(PATH, kept)
    with pytest.raises(Refused) as caught:
        add(repo, "three", commit=False)
    assert caught.value.code == "shrinking-ledger"


def test_verify__a_ledger_that_head_has_and_the_tree_lacks_is_missing(repo: Repo) -> None:
    add(repo, "one")
    (repo.path / PATH).unlink()
    found = verify(open_(repo))
    assert (found.ok, [fault.rule for fault in found.problems]) == (False, ["missing"])
    repo.commit("removed on purpose")
    assert verify(open_(repo)).ok is True
