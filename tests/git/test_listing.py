"""Listings by one git process: working files and what commits changed."""

from __future__ import annotations

from muniment.git import listing
from muniment.git.repo import Oid
from muniment.workspace import open_workspace
from tests.support.repo import Repo


def test_tracked_and_untracked(repo: Repo) -> None:
    repo.write(".gitignore", "*.log\n")
    repo.write("docs/a.md", "a")
    repo.commit("Track")
    repo.write("docs/b\n.md", "b")
    repo.write("docs/c.log", "c")
    repo.write("other/d.md", "d")
    found = open_workspace(repo.path).repo
    assert listing.tracked(found) == {".gitignore", "README.md", "docs/a.md"}
    assert listing.untracked(found, ["docs"]) == {"docs/b\n.md"}
    assert listing.untracked(found, ["docs", "other/d.md", "absent", "*"]) == {"docs/b\n.md", "other/d.md"}
    assert listing.untracked(found, []) == frozenset()


def test_tracked__lists_a_conflicted_path_once(repo: Repo) -> None:
    repo.git("checkout", "-q", "-b", "side")
    repo.write("README.md", "side\n")
    repo.commit("Side")
    repo.git("checkout", "-q", "main")
    repo.write("README.md", "main\n")
    repo.commit("Main")
    repo.git("merge", "-q", "side", check=False)
    assert listing.tracked(open_workspace(repo.path).repo) == {"README.md"}


def test_touched__additions_changes_renames_and_merges(repo: Repo) -> None:
    first = repo.head()
    repo.write("a.md", "text\n" * 20)
    repo.write("A", "a file named like a status\n")
    added = repo.commit("Add")
    repo.git("mv", "a.md", "b\tc.md")
    moved = repo.commit("Move")
    repo.git("checkout", "-q", "-b", "side", added)
    repo.write("side.md", "s")
    side = repo.commit("Side")
    repo.git("checkout", "-q", "main")
    repo.git("merge", "-q", "--no-ff", "-m", "Merge", "side")
    empty = repo.commit("Nothing")
    asked = [Oid(one) for one in (first, added, moved, side, repo.git("rev-parse", "HEAD~1"), empty)]
    found = {one.commit: one for one in listing.touched(open_workspace(repo.path).repo, asked)}
    assert found[Oid(first)].paths == ("README.md",)
    assert found[Oid(first)].added == {"README.md"}
    assert set(found[Oid(added)].paths) == {"a.md", "A"}
    assert set(found[Oid(moved)].paths) == {"a.md", "b\tc.md"}
    assert found[Oid(moved)].added == {"b\tc.md"}
    assert found[Oid(side)].paths == ("side.md",)
    assert Oid(repo.git("rev-parse", "HEAD~1")) not in found
    assert list(listing.touched(open_workspace(repo.path).repo, [])) == []
