"""One suite over both implementations of the Protocol: the git program alone, and with pygit2."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from muniment.errors import Refused, Unavailable, UsageProblem
from muniment.git.committing import changed_by_user
from muniment.git.objects import blob_oid
from muniment.git.program import ProgramRepository
from muniment.git.repo import (
    EXECUTABLE_MODE,
    FILE_MODE,
    GITLINK_MODE,
    LINK_MODE,
    Head,
    MissingObject,
    Oid,
    Operation,
    Repository,
    Signature,
)
from tests.support.git import OPENERS, Opener, by_program, snapshot
from tests.support.repo import Repo

ODD_NAMES = (
    "-dash.md",
    "two\nlines.md",
    "späce ünd.md",
    "caf\udce9.md",
    ":(glob)star*.md",
    'quo"te\\.md',
    "a/[b]/c.md",
)
WHO = Signature("Ada Byte", "ada@example.org", 1_700_000_000, -90)


@pytest.fixture(params=list(OPENERS))
def opened(request: pytest.FixtureRequest) -> Opener:
    return OPENERS[str(request.param)]


def tip(repo: Repo) -> Oid:
    return Oid(repo.head())


def test_protocol__both_implement_it(opened: Opener, repo: Repo) -> None:
    found: Repository = opened(repo.path)
    assert found.root == repo.path
    assert found.git_dir == found.common_dir == repo.path / ".git"
    assert found.object_format == "sha1"


def test_head__branch_unborn_and_detached(
    opened: Opener, repo: Repo, make_repo: Callable[[str], Repo]
) -> None:
    assert opened(repo.path).head() == Head("refs/heads/main", tip(repo))
    assert opened(make_repo("new").path).head() == Head("refs/heads/main", None)
    repo.git("checkout", "-q", "--detach")
    assert opened(repo.path).head() == Head(None, tip(repo))


def test_head__through_another_name_or_outside_the_branches(opened: Opener, repo: Repo) -> None:
    repo.git("symbolic-ref", "refs/heads/alias", "refs/heads/main")
    repo.git("symbolic-ref", "HEAD", "refs/heads/alias")
    assert opened(repo.path).head() == Head("refs/heads/main", tip(repo))
    repo.git("symbolic-ref", "HEAD", "refs/worktree/mine")
    assert opened(repo.path).head() == Head("refs/worktree/mine", None)
    file = repo.path / ".git/HEAD"
    file.unlink()
    file.symlink_to("refs/heads/main")  # as git wrote it long ago
    assert opened(repo.path).head() == Head("refs/heads/main", tip(repo))


def test_resolve__names_tags_and_nonsense(opened: Opener, repo: Repo) -> None:
    repo.git("tag", "-a", "-m", "one", "v1")
    repo.git("tag", "-a", "-m", "two", "v2", "v1")
    found = opened(repo.path)
    tag = Oid(repo.git("rev-parse", "v2"))
    for rev in ("HEAD", "main", "v1", "v2", tag, tip(repo), tip(repo)[:8], "refs/heads/main", "HEAD^{}"):
        assert found.resolve(rev) == tip(repo), rev
    tree = repo.git("rev-parse", "HEAD^{tree}")
    for rev in ("", "nope", "-h", "--all", "a..b", "HEAD:README.md", tree, "0" * 40, "HEAD\nHEAD", "a\0b"):
        assert found.resolve(rev) is None, rev


def test_refs__peeled_and_only_commits(opened: Opener, repo: Repo) -> None:
    repo.git("tag", "-a", "-m", "one", "v1")
    repo.git("tag", "-a", "-m", "two", "v2", "v1")
    repo.git("tag", "blob", repo.git("rev-parse", "HEAD:README.md"))
    repo.git("tag", "light")
    assert opened(repo.path).refs("refs/tags/") == {
        f"refs/tags/{name}": tip(repo) for name in ("light", "v1", "v2")
    }
    assert opened(repo.path).refs("refs/heads/mai") == {}


def test_upstream_default__configured_head_or_the_only_usual_name(
    opened: Opener, repo: Repo, tmp_path: Path
) -> None:
    assert opened(repo.path).upstream_default() is None
    repo.git("branch", "trunk")
    repo.bare_remote(tmp_path / "remote.git")
    assert opened(repo.path).upstream_default() == "refs/remotes/origin/main"
    assert opened(repo.path).upstream_default("trunk") == "refs/remotes/origin/trunk"
    assert opened(repo.path).upstream_default("absent") is None
    repo.git("remote", "set-head", "origin", "--delete")
    assert opened(repo.path).upstream_default() == "refs/remotes/origin/main"
    repo.git("update-ref", "refs/remotes/origin/master", "HEAD")
    assert opened(repo.path).upstream_default() is None


def test_upstream_default__several_remotes(opened: Opener, repo: Repo, tmp_path: Path) -> None:
    repo.bare_remote(tmp_path / "one.git", "one")
    assert opened(repo.path).upstream_default() == "refs/remotes/one/main"
    repo.bare_remote(tmp_path / "two.git", "two")
    assert opened(repo.path).upstream_default() is None
    repo.git("config", "checkout.defaultRemote", "two")
    assert opened(repo.path).upstream_default() == "refs/remotes/two/main"


def test_config__last_wins_and_cases(opened: Opener, repo: Repo) -> None:
    repo.git("config", "--add", "branch.Feature.X.remote", "one")
    repo.git("config", "--add", "branch.Feature.X.remote", "two\nlines")
    found = opened(repo.path)
    assert found.config("Branch.Feature.X.Remote") == "two\nlines"
    assert found.config("branch.feature.x.remote") is None
    assert found.config("user.name") == "Robin Owner"


def test_commit__facts_and_encoding(opened: Opener, repo: Repo) -> None:
    found = opened(repo.path)
    parent = tip(repo)
    made = found.write_commit(found.commit(parent).tree, [parent], "Subject é\n\nBody\n", WHO, WHO)
    commit = found.commit(made)
    assert (commit.parents, commit.author, commit.committer) == ((parent,), WHO, WHO)
    assert (commit.subject, commit.message) == ("Subject é", "Subject é\n\nBody\n")
    assert repo.git("log", "-1", "--format=%an|%ae|%at|%ai", made) == (
        "Ada Byte|ada@example.org|1700000000|2023-11-14 20:43:20 -0130"
    )
    repo.git("config", "i18n.commitEncoding", "ISO-8859-1")
    repo.git("commit", "-q", "--allow-empty", "-F", "-", stdin="gr\u00fcn".encode("latin-1"))
    assert opened(repo.path).commit(tip(repo)).subject == "gr\u00fcn"


def test_commits__hide_limit_order_and_first_parent(opened: Opener, repo: Repo) -> None:
    base = tip(repo)
    repo.git("checkout", "-q", "-b", "side")
    repo.write("side.md", "side\n")
    side = Oid(repo.commit("Side"))
    repo.git("checkout", "-q", "main")
    repo.write("main.md", "main\n")
    main = Oid(repo.commit("Main"))
    repo.git("merge", "-q", "--no-ff", "-m", "Merge", "side")
    found = opened(repo.path)
    listed = [one.oid for one in found.commits([tip(repo)])]
    assert listed[0] == tip(repo)
    assert listed[-1] == base
    assert set(listed[1:3]) == {side, main}
    assert [one.subject for one in found.commits([tip(repo)], hide=[base], first_parent=True)] == [
        "Merge",
        "Main",
    ]
    assert [one.subject for one in found.commits([tip(repo)], limit=1)] == ["Merge"]
    assert list(found.commits([])) == []
    assert list(found.commits([base], hide=[tip(repo)])) == []
    assert {one.subject for one in found.commits([side, main], hide=[base])} == {"Side", "Main"}


def test_commits__paths_against_the_first_parent(opened: Opener, repo: Repo) -> None:
    repo.write("docs/a.md", "a\n")
    repo.commit("Add a")
    repo.git("checkout", "-q", "-b", "side")
    repo.write("docs/a.md", "b\n")
    repo.commit("Change a")
    repo.git("checkout", "-q", "main")
    repo.write("other.md", "x\n")
    repo.commit("Other")
    repo.git("merge", "-q", "--no-ff", "-m", "Merge", "side")
    found = opened(repo.path)
    for path in ("docs/a.md", "docs"):
        subjects = [one.subject for one in found.commits([tip(repo)], paths=[path])]
        assert subjects == ["Merge", "Change a", "Add a"], path
    assert [one.subject for one in found.commits([tip(repo)], paths=["README.md"])] == ["Start"]
    assert [one.subject for one in found.commits([tip(repo)], paths=["docs"], limit=2)] == [
        "Merge",
        "Change a",
    ]
    assert list(found.commits([tip(repo)], paths=["absent"])) == []


def test_ancestry__yes_no_and_unknown(opened: Opener, repo: Repo, tmp_path: Path) -> None:
    old = tip(repo)
    new = Oid(repo.commit("Next"))
    found = opened(repo.path)
    assert found.is_ancestor(old, new) is True
    assert found.is_ancestor(new, new) is True
    assert found.is_ancestor(new, old) is False
    assert found.merge_base(old, new) == old
    assert found.is_ancestor(Oid("1" * 40), new) is None
    assert found.merge_base(Oid("1" * 40), new) is None
    shallow = opened(Repo(tmp_path / "work").clone(tmp_path / "shallow", "--depth=1", "--no-local").path)
    assert shallow.is_shallow()
    assert shallow.is_ancestor(old, new) is None
    assert [one.oid for one in shallow.commits([new])] == [new]
    assert not found.is_shallow()


def test_ancestry__a_no_that_never_reaches_the_cut(opened: Opener, repo: Repo, tmp_path: Path) -> None:
    repo.commit("Next")
    shallow = repo.clone(tmp_path / "shallow", "--depth=1", "--no-local")
    top = tip(shallow)
    shallow.git("checkout", "-q", "--orphan", "fresh")
    fresh = Oid(shallow.commit("Fresh root"))
    assert opened(shallow.path).is_ancestor(top, fresh) is False
    assert opened(shallow.path).is_ancestor(fresh, top) is None


def test_replace_refs_and_grafts__are_ignored(opened: Opener, repo: Repo) -> None:
    first, second = tip(repo), Oid(repo.commit("Next"))
    other = Oid(repo.commit("Other"))
    repo.git("replace", second, first)
    assert opened(repo.path).commit(second).subject == "Next"
    grafts = repo.path / ".git" / "info" / "grafts"
    grafts.parent.mkdir(exist_ok=True)
    grafts.write_text(f"{other}\n")
    assert opened(repo.path).is_ancestor(first, other) is True
    assert len(list(opened(repo.path).commits([other]))) == 3


def test_trees__odd_names_modes_and_folders(opened: Opener, repo: Repo) -> None:
    for name in ODD_NAMES:
        (repo.path / name).parent.mkdir(parents=True, exist_ok=True)
        repo.write(name, f"{name!r}\n")
    script = repo.write("docs/run.sh", "#!/bin/sh\n")
    script.chmod(0o755)
    (repo.path / "docs" / "link").symlink_to("run.sh")
    repo.git("add", "-A")
    repo.git("update-index", "--add", "--cacheinfo", f"160000,{tip(repo)},vendor")
    repo.git("commit", "-q", "-m", "Names")
    found = opened(repo.path)
    listed = {entry.path: entry for entry in found.entries(tip(repo))}
    assert set(listed) == {*ODD_NAMES, "README.md", "docs/run.sh", "docs/link", "vendor"}
    assert listed["docs/run.sh"].mode == EXECUTABLE_MODE
    assert listed["docs/link"].mode == LINK_MODE
    assert listed["vendor"].mode == GITLINK_MODE
    for path, entry in listed.items():
        assert found.entry(tip(repo), path) == entry
    assert [entry.path for entry in found.entries(tip(repo), "docs/")] == ["docs/link", "docs/run.sh"]
    assert [entry.path for entry in found.entries(tip(repo), "a/[b]")] == ["a/[b]/c.md"]
    for absent in ("docs", "docs/none", "README.md/x", "none/x", "docs/"):
        assert found.entry(tip(repo), absent) is None, absent
    assert list(found.entries(tip(repo), "README.md")) == []
    assert list(found.entries(tip(repo), "none")) == []
    blobs = dict(found.blobs([listed[name].oid for name in ODD_NAMES]))
    assert blobs[listed["two\nlines.md"].oid] == b"'two\\nlines.md'\n"
    assert found.index_entries(ODD_NAMES) == {name: listed[name] for name in ODD_NAMES}
    assert found.dirty(ODD_NAMES) == {}
    assert found.diff_paths(None, tip(repo)) == tuple(sorted(listed))
    assert set(found.diff_paths(Oid(repo.git("rev-parse", "HEAD^")), tip(repo))) == set(listed) - {
        "README.md"
    }


def test_diff_paths__types_modes_and_removals(opened: Opener, repo: Repo) -> None:
    for name in ("gone", "bits", "kind"):
        repo.write(name, f"{name}\n")
    old = Oid(repo.commit("Old"))
    (repo.path / "gone").unlink()
    (repo.path / "bits").chmod(0o755)
    (repo.path / "kind").unlink()
    (repo.path / "kind").symlink_to("bits")
    new = Oid(repo.commit("New"))
    assert opened(repo.path).diff_paths(old, new) == ("bits", "gone", "kind")
    assert opened(repo.path).diff_paths(new, new) == ()


def test_blob__missing_is_an_error_that_says_what_settles_it(opened: Opener, repo: Repo) -> None:
    found = opened(repo.path)
    with pytest.raises(MissingObject, match="not in this clone") as raised:
        found.blob(Oid("1" * 40))
    assert raised.value.exit_code == 4
    with pytest.raises(MissingObject):
        found.blob(tip(repo))
    with pytest.raises(MissingObject):
        found.commit(Oid("1" * 40))
    with pytest.raises(Unavailable):
        found.diff_paths(None, Oid("1" * 40))


def test_partial_clone__nothing_is_fetched_lazily(opened: Opener, repo: Repo, tmp_path: Path) -> None:
    repo.git("config", "uploadpack.allowFilter", "true")
    blob = Oid(repo.git("rev-parse", "HEAD:README.md"))
    clone = repo.clone(tmp_path / "partial", "--no-local", "--filter=blob:none", "--no-checkout")
    found = opened(clone.path)
    assert found.is_partial()
    with pytest.raises(MissingObject) as raised:
        found.blob(blob)
    assert "git fetch" in raised.value.hint
    assert found.entry(tip(clone), "README.md") is not None
    with pytest.raises(MissingObject):
        found.smudge("README.md", blob)
    assert clone.git("rev-list", "--objects", "--all", "--missing=print").count("?") == 1
    assert not opened(repo.path).is_partial()


@pytest.mark.parametrize(
    ("commands", "expected"),
    [
        ([("merge", "side")], Operation.MERGE),
        ([("rebase", "side")], Operation.REBASE),
        ([("rebase", "--apply", "side")], Operation.REBASE),
        ([("cherry-pick", "side")], Operation.CHERRY_PICK),
        ([("revert", "HEAD~1")], Operation.REVERT),
        ([("bisect", "start")], Operation.BISECT),
        ([], Operation.NONE),
    ],
    ids=lambda value: value.value or "none" if isinstance(value, Operation) else "",
)
def test_operation__and_conflicts(
    opened: Opener, repo: Repo, commands: list[tuple[str, ...]], expected: Operation
) -> None:
    repo.git("checkout", "-q", "-b", "side")
    repo.write("README.md", "side\n")
    repo.commit("Side")
    repo.git("checkout", "-q", "main")
    repo.write("README.md", "main\n")
    repo.commit("Main")
    repo.write("README.md", "more\n")
    repo.commit("More")
    for command in commands:
        repo.git(*command, check=False)
    found = opened(repo.path)
    assert found.operation() == expected
    conflicts = expected not in {Operation.NONE, Operation.BISECT}
    assert found.conflicted() == (("README.md",) if conflicts else ())
    if conflicts:
        assert found.dirty(["README.md"]) == {"README.md": "has unresolved conflicts"}
        assert found.index_entries() == {}
        assert [one.status for one in found.staged()] == ["U"]


def test_operation__am_and_a_sequence_between_two_picks(opened: Opener, repo: Repo) -> None:
    state = repo.path / ".git" / "rebase-apply"
    state.mkdir()
    (state / "applying").write_text("")
    assert opened(repo.path).operation() == Operation.AM
    (state / "applying").unlink()
    state.rmdir()
    sequencer = repo.path / ".git" / "sequencer"
    sequencer.mkdir()
    (sequencer / "todo").write_text("pick 123 x\n")
    assert opened(repo.path).operation() == Operation.CHERRY_PICK
    (sequencer / "todo").write_text("revert 123 x\n")
    assert opened(repo.path).operation() == Operation.REVERT


def test_staged__added_changed_removed_and_unborn(
    opened: Opener, repo: Repo, make_repo: Callable[[str], Repo]
) -> None:
    repo.write("gone.md", "gone\n")
    repo.commit("More")
    repo.write("README.md", "changed\n")
    repo.write("new.md", "new\n")
    repo.git("add", "README.md", "new.md")
    repo.git("rm", "-q", "gone.md")
    repo.write("README.md", "unstaged\n")
    found = {one.path: one for one in opened(repo.path).staged()}
    assert {path: one.status for path, one in found.items()} == {
        "README.md": "M",
        "gone.md": "D",
        "new.md": "A",
    }
    changed = found["README.md"].new
    assert changed is not None
    assert opened(repo.path).blob(changed.oid) == b"changed\n"
    assert found["gone.md"].new is None
    assert found["new.md"].old is None
    fresh = make_repo("fresh")
    fresh.write("a.md", "a\n")
    fresh.git("add", "a.md")
    assert [(one.path, one.status) for one in opened(fresh.path).staged()] == [("a.md", "A")]


def test_dirty__says_why(opened: Opener, repo: Repo) -> None:
    for name in ("clean", "edited", "staged", "gone", "removed", "folder", "assumed"):
        repo.write(name, f"{name}\n")
    repo.commit("Files")
    repo.write("edited", "x\n")
    repo.write("staged", "x\n")
    repo.git("add", "staged")
    (repo.path / "gone").unlink()
    repo.git("rm", "-q", "--cached", "removed")
    (repo.path / "folder").unlink()
    repo.write("folder/inner", "x\n")
    repo.git("update-index", "--assume-unchanged", "assumed")
    repo.write("assumed", "an edit that git status hides\n")
    repo.write("new", "x\n")
    repo.write("added", "x\n")
    repo.git("add", "added")
    paths = ["clean", "edited", "staged", "gone", "removed", "folder", "assumed", "new", "added", "absent"]
    assert opened(repo.path).dirty(paths) == {
        "edited": "is modified in the working tree",
        "staged": "has staged changes",
        "gone": "is deleted in the working tree",
        "removed": "is staged for removal",
        "folder": "is a folder",
        "assumed": "is modified in the working tree",
        "new": "is untracked",
        "added": "is staged but not committed",
    }


def test_dirty__a_touched_file_is_clean_and_a_new_kind_is_not(opened: Opener, repo: Repo) -> None:
    (repo.path / "README.md").touch()
    assert opened(repo.path).dirty(["README.md"]) == {}
    (repo.path / "README.md").unlink()
    (repo.path / "README.md").symlink_to("elsewhere")
    assert opened(repo.path).dirty(["README.md"]) == {"README.md": "is modified in the working tree"}


def test_is_ignored(opened: Opener, repo: Repo) -> None:
    repo.write(".gitignore", "*.log\nREADME.md\n")
    found = opened(repo.path)
    assert found.is_ignored("x.log")
    assert found.is_ignored("odd\nname.log")
    assert not found.is_ignored("x.md")
    assert not found.is_ignored("README.md"), "tracked files are not ignored"


@pytest.mark.parametrize("setting", ["core.autocrlf=true", "core.autocrlf=input", "attribute", "none"])
def test_clean__agrees_with_git_add(opened: Opener, repo: Repo, setting: str) -> None:
    if "=" in setting:
        repo.git("config", *setting.split("="))
    if setting == "attribute":
        repo.write(".gitattributes", "*.md text=auto\n*.bin -text\n*.id ident\n")
        repo.commit("Attributes")
    crlf = repo.git("hash-object", "-w", "--no-filters", "--stdin", stdin=b"old\r\n")
    for name in ("kept.md", "kept.id"):
        repo.git("update-index", "--add", "--cacheinfo", f"100644,{crlf},{name}")
    repo.git("commit", "-q", "-m", "CRLF as committed")
    found = opened(repo.path)
    for name in ("kept.md", "kept.id", "new.md", "new.bin"):
        for data in (b"a\r\nb\r\n", b"a\nb\n", b"mixed\r\nlines\n", b"\0\r\n", b"", b"$Id: x $\r\n"):
            repo.write(name, data)
            made = found.clean(name, data)
            repo.git("add", "--", name)
            assert made == repo.git("rev-parse", f":{name}"), (name, data)
            repo.git("reset", "-q", "--", name)


def test_clean_and_smudge__through_a_filter_program(opened: Opener, repo: Repo) -> None:
    repo.git("config", "filter.upper.clean", "tr a-z A-Z")
    repo.git("config", "filter.upper.smudge", "tr A-Z a-z")
    repo.write(".gitattributes", "*.up filter=upper\n")
    repo.commit("Filter")
    found = opened(repo.path)
    oid = found.clean("x.up", b"hello\n", write=True)
    assert found.blob(oid) == b"HELLO\n"
    assert found.smudge("x.up", oid) == b"hello\n"
    assert found.smudge("x.other", oid) == b"HELLO\n"
    repo.write("x.up", "hello\n")
    repo.commit("File")
    assert found.dirty(["x.up"]) == {}


def test_write_tree__sets_removes_and_prunes(opened: Opener, repo: Repo) -> None:
    for name in ("a/b/c", "a/d", "e", "a.b", "f/g"):
        repo.write(name, f"{name}\n")
    base = Oid(repo.commit("Files"))
    found = opened(repo.path)
    blob = found.write_blob(b"new\n")
    assert blob == blob_oid(b"new\n", "sha1")
    tree = found.write_tree(
        base,
        {
            "a/b/c": None,
            "a/d": (blob, EXECUTABLE_MODE),
            "n/o": (blob, FILE_MODE),
            "f/g": None,
            "f": (blob, FILE_MODE),
            "no/such": None,
        },
    )
    assert repo.git("ls-tree", "-r", "--name-only", tree).split("\n") == [
        "README.md",
        "a.b",
        "a/d",
        "e",
        "f",
        "n/o",
    ]
    assert repo.git("fsck", "--strict", "--no-dangling") == ""
    assert found.write_tree(base, {}) == repo.git("rev-parse", "HEAD^{tree}")
    assert found.write_tree(None, {"x/y": (blob, FILE_MODE)}) == found.write_tree(
        None, {"x/y": (blob, FILE_MODE)}
    )
    assert found.write_tree(base, dict.fromkeys(("a/b/c", "a/d", "e", "a.b", "f/g", "README.md"))) == (
        repo.git("hash-object", "-t", "tree", "--stdin", stdin=b"")
    )
    with pytest.raises(Refused, match="is a folder"):
        found.write_tree(base, {"a": (blob, FILE_MODE)})
    with pytest.raises(Refused, match="is a file"):
        found.write_tree(base, {"e/x": (blob, FILE_MODE)})
    assert found.write_tree(base, {"e/x": None}) == repo.git("rev-parse", "HEAD^{tree}")


def test_write_commit__refuses_a_broken_name(opened: Opener, repo: Repo) -> None:
    found = opened(repo.path)
    tree = found.commit(tip(repo)).tree
    for name in ("", "a<b", "a\nb"):
        with pytest.raises(UsageProblem):
            found.write_commit(tree, [], "x\n", Signature(name, "a@example.org", 0), WHO)


def test_update_ref__compare_and_set(opened: Opener, repo: Repo) -> None:
    found = opened(repo.path)
    old = tip(repo)
    new = found.write_commit(found.commit(old).tree, [old], "x\n", WHO, WHO)
    assert not found.update_ref("refs/heads/main", new, new, "wrong old")
    assert not found.update_ref("refs/heads/main", new, None, "exists")
    assert found.update_ref("refs/heads/main", new, old, "right\nold")
    assert tip(repo) == new
    assert found.update_ref("refs/heads/fresh", new, None, "made")
    (repo.path / ".git" / "refs" / "heads" / "fresh.lock").write_text("")
    with pytest.raises(Unavailable, match="lock"):
        found.update_ref("refs/heads/fresh", old, new, "locked")
    assert (repo.path / ".git" / "refs" / "heads" / "fresh.lock").exists()


def test_worktree__has_its_own_head_index_and_the_common_folder(
    opened: Opener, repo: Repo, tmp_path: Path
) -> None:
    repo.git("worktree", "add", "-q", "-b", "side", str(tmp_path / "side"))
    side = Repo(tmp_path / "side")
    side.write("only-here.md", "x\n")
    side.git("add", ".")
    found = opened(side.path)
    assert (found.root, found.common_dir) == (side.path, repo.path / ".git")
    assert found.git_dir == repo.path / ".git" / "worktrees" / "side"
    assert found.head().branch == "side"
    assert [one.path for one in found.staged()] == ["only-here.md"]
    assert opened(repo.path).staged() == ()


def test_sha256__every_answer_by_the_program(opened: Opener, tmp_path: Path) -> None:
    repo = Repo.init(tmp_path / "sha256", "--object-format=sha256")
    repo.write("docs/a.md", "a\n")
    first = Oid(repo.commit("First"))
    found = opened(repo.path)
    assert found.object_format == "sha256"
    assert len(first) == 64
    assert found.entry(first, "docs/a.md") == next(iter(found.entries(first)))
    tree = found.write_tree(first, {"docs/b.md": (found.write_blob(b"b\n"), FILE_MODE)})
    new = found.write_commit(tree, [first], "Second\n", WHO, WHO)
    assert found.update_ref("refs/heads/main", new, first, "second")
    assert found.diff_paths(first, new) == ("docs/b.md",)
    assert found.is_ancestor(first, new) is True
    assert [one.subject for one in found.commits([new])] == ["Second", "First"]
    assert found.diff_paths(None, first) == ("docs/a.md",)
    assert found.clean("docs/a.md", b"a\n") == found.index_entries()["docs/a.md"].oid


def test_reading__writes_nothing(opened: Opener, repo: Repo) -> None:
    repo.write("docs/a.md", "a\n")
    repo.commit("Docs")
    (repo.path / "docs" / "a.md").touch()
    before = snapshot(repo)
    found = opened(repo.path)
    found.dirty(["docs/a.md", "README.md", "new.md"])
    found.staged()
    found.conflicted()
    found.operation()
    found.index_entries()
    found.clean("docs/a.md", b"x\r\n")
    found.smudge("docs/a.md", found.index_entries()["docs/a.md"].oid)
    list(found.commits([tip(repo)], paths=["docs"]))
    list(found.entries(tip(repo)))
    found.diff_paths(None, tip(repo))
    found.is_ancestor(tip(repo), tip(repo))
    changed_by_user(found)
    assert snapshot(repo) == before


_names = st.text("ab.-", min_size=1, max_size=3).filter(lambda name: name not in {".", "..", "-"})
_trees = st.dictionaries(
    st.lists(_names, min_size=1, max_size=3).map("/".join), st.sampled_from([b"1", b"2"]), max_size=6
)


@given(_trees, _trees)
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_write_tree__any_edit_gives_the_tree_of_its_files(
    edit_repo: tuple[Repo, ProgramRepository], old: dict[str, bytes], new: dict[str, bytes]
) -> None:
    repo, found = edit_repo

    def plain(files: dict[str, bytes]) -> dict[str, bytes]:
        return {
            path: data
            for path, data in files.items()
            if not any(other.startswith(path + "/") for other in files)
        }

    blobs = {data: (found.write_blob(data), FILE_MODE) for data in (b"1", b"2")}
    first, second = plain(old), plain(new)
    tree = found.write_tree(None, {path: blobs[data] for path, data in first.items()})
    base = found.write_commit(tree, [], "x\n", WHO, WHO)
    gone: dict[str, tuple[Oid, int] | None] = {path: None for path in first if path not in second}
    edited = found.write_tree(base, gone | {path: blobs[data] for path, data in second.items()})
    assert edited == found.write_tree(None, {path: blobs[data] for path, data in second.items()})
    listed = repo.git("ls-tree", "-r", "--name-only", edited)
    assert set(listed.split("\n") if listed else []) == set(second)


@pytest.fixture
def edit_repo(repo: Repo) -> tuple[Repo, ProgramRepository]:
    return repo, by_program(repo.path)
