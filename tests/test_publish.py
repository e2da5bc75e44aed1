"""The one door out: what is committed, what a person's tree looks like after, and every refusal (G4, G5)."""

from __future__ import annotations

import os
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from muniment.errors import MunimentError, Refused, Unavailable, UsageProblem
from muniment.files import FileChange, file_lock
from muniment.publish import ClearedChange, Published, open_door, open_journal
from muniment.redact.gate import Gate, GateRefused
from muniment.workspace import open_workspace
from tests.support.git import snapshot
from tests.support.repo import Repo

PHONE = "Call +49 170 1234567 about it"


def publish(
    repo: Repo,
    *changes: FileChange,
    message: str = "Record it",
    include: tuple[str, ...] = (),
    may_be_dirty: tuple[str, ...] = (),
) -> Published:
    ws = open_workspace(repo.path)
    with open_door(ws) as door:
        cleared = door.clear(changes)
        allowed = frozenset(include), frozenset(may_be_dirty)
        return door.commit(
            cleared, message, operation="op", include_dirty=allowed[0], may_be_dirty=allowed[1]
        )


def write(repo: Repo, *changes: FileChange, refuse_dirty: bool = False) -> tuple[str, ...]:
    with open_door(open_workspace(repo.path)) as door:
        return door.write(door.clear(changes), refuse_dirty=refuse_dirty)


def refused(
    repo: Repo, *changes: FileChange, kind: type[MunimentError] = Refused, message: str = "x"
) -> MunimentError:
    """Try to commit; it must refuse and leave every byte, the index and HEAD as they were."""
    before = snapshot(repo, times=False)
    with pytest.raises(kind) as raised:
        publish(repo, *(changes or (FileChange("README.md", b"new\n"),)), message=message)
    after = snapshot(repo, times=False)
    assert {name: after.get(name) for name in before} == before
    assert {name for name in after if name not in before and ".git/objects" not in name} == set()
    assert not open_journal(open_workspace(repo.path))
    return raised.value


def persons_work(repo: Repo) -> None:
    """Staged, unstaged, both, untracked, removed: everything a person may have lying around."""
    for name in ("staged", "unstaged", "both", "removed", "kept"):
        repo.write(f"mine/{name}.txt", "committed\n")
    repo.commit("A person's files")
    repo.write("mine/staged.txt", "staged\n")
    repo.write("mine/both.txt", "staged\n")
    repo.git("add", "mine")
    repo.git("rm", "-q", "mine/removed.txt")
    repo.write("mine/both.txt", "and edited\n")
    repo.write("mine/unstaged.txt", "edited\n")
    repo.write("mine/untracked.txt", "untracked\n")


def others(repo: Repo, *paths: str) -> list[str]:
    """Every index entry with its cached times and flags, but those of `paths`."""
    entries = repo.git("ls-files", "--stage", "--debug").split("\n100")
    return [entry for entry in entries if not any(f"\t{path}\n" in entry for path in paths)]


# What a commit is


def test_commit__exactly_the_named_paths_and_nothing_of_the_persons(repo: Repo) -> None:
    persons_work(repo)
    status, before, index = repo.status(), repo.head(), others(repo, "docs/new/a.md", "README.md")
    made = publish(
        repo,
        FileChange("docs/new/a.md", b"a\n"),
        FileChange("README.md", b"changed\n"),
        message="Add\n\nBody",
    )
    assert made == Published(made.commit, ("README.md", "docs/new/a.md"))
    assert made.commit == repo.head()
    assert repo.git("rev-parse", "HEAD^") == before
    assert repo.git("diff", "--name-status", "HEAD^", "HEAD") == "M\tREADME.md\nA\tdocs/new/a.md"
    assert repo.git("log", "-1", "--format=%an <%ae>|%B") == "Robin Owner <robin@example.org>|Add\n\nBody"
    assert repo.status() == status
    assert others(repo, "docs/new/a.md", "README.md") == index
    assert repo.read("docs/new/a.md") == b"a\n"


def test_commit__the_persons_next_commit_reverts_nothing(repo: Repo) -> None:
    persons_work(repo)
    publish(repo, FileChange("docs/a.md", b"a\n"))
    repo.git("commit", "-q", "-m", "Mine")
    assert (
        repo.git("diff", "--name-only", "HEAD^", "HEAD") == "mine/both.txt\nmine/removed.txt\nmine/staged.txt"
    )
    assert repo.git("show", "HEAD:docs/a.md") == "a"


def test_commit__deletes_and_keeps_modes(repo: Repo) -> None:
    repo.write("gone.md", "x\n")
    repo.write("run.sh", "#!/bin/sh\n").chmod(0o755)
    repo.write("private.md", "x\n").chmod(0o600)
    repo.commit("Files")
    changes = (
        FileChange("gone.md", None),
        FileChange("run.sh", b"#!/bin/sh\ntrue\n"),
        FileChange("private.md", b"y\n"),
        FileChange("tool", b"#!/bin/sh\n", 0o100755),
    )
    publish(repo, *changes)
    assert not (repo.path / "gone.md").exists()
    assert repo.git("ls-tree", "HEAD", "run.sh", "tool").replace("\n", " ").count("100755") == 2
    assert (repo.path / "run.sh").stat().st_mode & 0o777 == 0o755
    assert (repo.path / "private.md").stat().st_mode & 0o777 == 0o600
    assert os.access(repo.path / "tool", os.X_OK)
    assert repo.status() == ""


def test_commit__nothing_changed_makes_no_commit_and_writes_nothing(repo: Repo) -> None:
    repo.write("a.md", "same\n")
    repo.commit("A")
    before = snapshot(repo)
    assert publish(repo, FileChange("a.md", b"same\n")) == Published(None, ())
    assert publish(repo, FileChange("absent.md", None)) == Published(None, ())
    assert publish(repo) == Published(None, ())
    assert snapshot(repo) == before


def test_commit__on_an_unborn_branch_is_the_root(make_repo: Callable[[str], Repo]) -> None:
    repo = make_repo("fresh")
    repo.write("mine.txt", "x\n")
    repo.git("add", "mine.txt")
    made = publish(repo, FileChange("docs/a.md", b"a\n"))
    assert repo.git("log", "--format=%H|%P") == f"{made.commit}|"
    assert repo.git("ls-tree", "-r", "--name-only", "HEAD") == "docs/a.md"
    assert repo.status() == "A  mine.txt"


def test_commit__in_a_linked_worktree_touches_that_one_only(repo: Repo, tmp_path: Path) -> None:
    repo.git("worktree", "add", "-q", "-b", "side", str(tmp_path / "side"))
    side = Repo(tmp_path / "side")
    main = repo.head()
    made = publish(side, FileChange("docs/a.md", b"a\n"))
    assert side.head() == made.commit
    assert (repo.head(), repo.status(), side.status()) == (main, "", "")
    assert not (repo.path / "docs").exists()


def test_commit__follows_the_clock_and_a_fixed_date(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MUNIMENT_NOW", "2026-03-04T05:06:07Z")
    publish(repo, FileChange("a.md", b"a\n"))
    assert repo.git("log", "-1", "--format=%aI|%cI") == "2026-03-04T05:06:07+00:00|2026-03-04T05:06:07+00:00"
    monkeypatch.setenv("GIT_AUTHOR_DATE", "2020-01-01T00:00:00+02:00")
    publish(repo, FileChange("b.md", b"b\n"))
    assert repo.git("log", "-1", "--format=%aI|%cI") == "2020-01-01T00:00:00+02:00|2026-03-04T05:06:07+00:00"


@pytest.mark.parametrize("setting", ["true", "input", "false"])
def test_commit__line_endings_go_through_the_clean_filter(repo: Repo, setting: str) -> None:
    repo.git("config", "core.autocrlf", setting)
    publish(repo, FileChange("crlf.md", b"a\r\nb\r\n"), FileChange("lf.md", b"a\nb\n"))
    stored = b"a\r\nb\r\n" if setting == "false" else b"a\nb\n"
    assert (
        subprocess.run(["git", "show", "HEAD:crlf.md"], cwd=repo.path, capture_output=True, check=True).stdout
        == stored
    )
    assert repo.read("crlf.md") == b"a\r\nb\r\n"
    assert repo.read("lf.md") == b"a\nb\n"
    assert repo.status() == ""
    publish(repo, FileChange("crlf.md", b"a\r\nc\r\n"))
    assert repo.status() == ""


def test_commit__eol_attribute_and_a_filter_program(repo: Repo) -> None:
    repo.git("config", "filter.upper.clean", "tr a-z A-Z")
    repo.git("config", "filter.upper.smudge", "tr A-Z a-z")
    repo.write(".gitattributes", "*.up filter=upper\n*.dos text eol=crlf\n")
    repo.commit("Attributes")
    publish(repo, FileChange("x.up", b"hello\n"), FileChange("y.dos", b"one\r\n"))
    assert repo.git("show", "HEAD:x.up") == "HELLO"
    assert repo.git("show", "HEAD:y.dos") == "one"
    assert (repo.read("x.up"), repo.read("y.dos"), repo.status()) == (b"hello\n", b"one\r\n", "")


def test_commit__in_sha256_shallow_and_partial_clones(repo: Repo, tmp_path: Path) -> None:
    repo.commit("Second")
    repo.git("config", "uploadpack.allowFilter", "true")
    big = Repo.init(tmp_path / "sha256", "--object-format=sha256")
    big.commit("Start")
    clones = (
        big,
        repo.clone(tmp_path / "shallow", "--depth=1", "--no-local"),
        repo.clone(tmp_path / "partial", "--filter=blob:none", "--no-local"),
    )
    for clone in clones:
        made = publish(clone, FileChange("docs/a.md", b"a\n"))
        assert clone.head() == made.commit
        assert clone.status() == ""
        clone.git("fsck", "--no-dangling")


def test_commit__odd_names(repo: Repo) -> None:
    names = ("-dash.md", "two\nlines.md", "späce ünd.md", ":(glob)star*.md", 'quo"te.md', "a b/[c]/d.md")
    publish(repo, *(FileChange(name, b"x\n") for name in names))
    listed = repo.git("ls-tree", "-r", "-z", "--name-only", "HEAD").split("\0")
    assert {name for name in listed if name} == {*names, "README.md"}
    assert repo.status() == ""


def test_commit__many_paths_at_once(repo: Repo) -> None:
    publish(
        repo, *(FileChange(f"docs/d{number % 20}/{number}.md", b"%d\n" % number) for number in range(500))
    )
    assert repo.git("ls-tree", "-r", "--name-only", "HEAD").count("\n") == 500
    assert repo.status() == ""


def test_commit__keeps_flags_and_cached_times_of_other_entries(repo: Repo) -> None:
    persons_work(repo)
    repo.git("update-index", "--assume-unchanged", "mine/kept.txt")
    repo.git("update-index", "--skip-worktree", "mine/unstaged.txt")
    repo.write("later.txt", "x\n")
    repo.git("add", "-N", "later.txt")
    before = others(repo, "README.md")
    tags = repo.git("ls-files", "-v")
    publish(repo, FileChange("README.md", b"changed\n"))
    assert others(repo, "README.md") == before
    assert repo.git("ls-files", "-v") == tags


@pytest.mark.parametrize("version", ["2", "3", "4"])
def test_commit__every_index_version_and_a_split_one(repo: Repo, version: str) -> None:
    persons_work(repo)
    repo.git("update-index", "--index-version", version)
    if version == "2":
        repo.git("update-index", "--split-index")
    status = repo.status()
    publish(repo, FileChange("README.md", b"changed\n"))
    assert repo.status() == status
    repo.git("fsck")


def test_commit__a_racy_edit_of_another_file_is_still_seen(repo: Repo) -> None:
    """A same-size edit in the very tick of the index must not look clean after we rewrote the index."""
    for number in range(5):
        repo.write("mine.txt", "aaaa\n")
        repo.git("add", "mine.txt")
        repo.write("mine.txt", "bbbb\n")
        publish(repo, FileChange("README.md", b"%d\n" % number))
        assert repo.git("diff", "--name-only") == "mine.txt"


def test_commit__signs_when_configured_and_loses_nothing_when_that_fails(repo: Repo, tmp_path: Path) -> None:
    repo.git("config", "commit.gpgSign", "true")
    repo.git("config", "gpg.program", "false")
    assert "could not make the commit" in refused(repo, kind=Unavailable).message
    fake = tmp_path / "gpg"
    fake.write_text("#!/bin/sh\ncat >/dev/null\necho '[GNUPG:] SIG_CREATED ' >&2\necho SIGNATURE\n")
    fake.chmod(0o755)
    repo.git("config", "gpg.program", str(fake))
    publish(repo, FileChange("README.md", b"signed\n"))
    assert "SIGNATURE" in repo.git("cat-file", "commit", "HEAD")


# What was written before without a commit


def test_write__then_commit_needs_no_permission(repo: Repo) -> None:
    assert write(repo, FileChange("ledger.json", b"1\n")) == ("ledger.json",)
    assert repo.status() == "?? ledger.json"
    write(repo, FileChange("ledger.json", b"1\n2\n"), FileChange("other.json", b"1\n"))
    assert write(repo, FileChange("ledger.json", b"1\n2\n")) == ()
    repo.git("add", "ledger.json")
    write(repo, FileChange("ledger.json", b"1\n2\n3\n"))
    made = publish(repo, FileChange("ledger.json", b"1\n2\n3\n4\n"), FileChange("other.json", b"1\n"))
    assert made.paths == ("ledger.json", "other.json")
    assert repo.status() == ""


def test_write__a_persons_edit_in_between_is_theirs(repo: Repo) -> None:
    write(repo, FileChange("ledger.json", b"1\n"))
    repo.write("ledger.json", "1\nby hand\n")
    refused(repo, FileChange("ledger.json", b"1\nby hand\n2\n"))
    write(repo, FileChange("ledger.json", b"1\nby hand\n2\n"))
    assert "untracked" in refused(repo, FileChange("ledger.json", b"1\nby hand\n2\n3\n")).message
    made = publish(repo, FileChange("ledger.json", b"1\nby hand\n2\n3\n"), include=("ledger.json",))
    assert made.commit == repo.head()


def test_write__refuses_dirty_targets_only_when_asked(repo: Repo) -> None:
    repo.write("README.md", "by hand\n")
    with pytest.raises(Refused, match="is modified in the working tree"):
        write(repo, FileChange("README.md", b"new\n"), refuse_dirty=True)
    assert repo.read("README.md") == b"by hand\n"
    assert write(repo, FileChange("README.md", b"by hand\nnew\n")) == ("README.md",)


def test_write__is_all_or_nothing(repo: Repo) -> None:
    repo.write("z", "a file, not a folder\n")
    repo.commit("Z")
    before = snapshot(repo)
    with pytest.raises(Refused):
        write(repo, FileChange("a.md", b"a\n"), FileChange("z/b.md", b"b\n"))
    assert snapshot(repo) == before


def test_write__works_where_a_commit_would_not(repo: Repo) -> None:
    repo.git("checkout", "-q", "--detach")
    (repo.path / ".git" / "index.lock").write_text("")
    assert write(repo, FileChange("a.md", b"a\n")) == ("a.md",)


def test_may_be_dirty__takes_what_the_caller_has_read(repo: Repo) -> None:
    repo.write("triage.md", "decided by hand\n")
    made = publish(repo, FileChange("triage.md", b"decided by hand\napplied\n"), may_be_dirty=("triage.md",))
    assert made.commit == repo.head()
    assert repo.status() == ""


# Refusals before anything is written


def test_refuses__dirty_targets_of_every_kind(repo: Repo) -> None:
    persons_work(repo)
    for name in ("staged", "unstaged", "both", "removed", "untracked"):
        error = refused(repo, FileChange("a.md", b"a\n"), FileChange(f"mine/{name}.txt", b"ours\n"))
        assert error.code == "dirty-target"
        assert f"mine/{name}.txt" in error.message
        assert f"--include-dirty mine/{name}.txt" in error.hint
    publish(repo, FileChange("mine/unstaged.txt", b"edited\nours\n"), include=("mine/unstaged.txt",))


def test_refuses__detached_head(repo: Repo) -> None:
    repo.git("checkout", "-q", "--detach")
    assert refused(repo).code == "detached-head"


@pytest.mark.parametrize("command", ["merge", "rebase", "cherry-pick"])
def test_refuses__an_operation_under_way(repo: Repo, command: str) -> None:
    repo.git("checkout", "-q", "-b", "side")
    repo.write("x.md", "side\n")
    repo.commit("Side")
    repo.git("checkout", "-q", "main")
    repo.write("x.md", "main\n")
    repo.commit("Main")
    repo.git(command, "side", check=False)
    error = refused(repo)
    assert error.code == "operation-under-way"
    assert f"git {command} --continue" in error.hint


def test_refuses__conflicts_without_an_operation(repo: Repo) -> None:
    repo.write("x.md", "base\n")
    repo.commit("Base")
    repo.write("x.md", "stashed\n")
    repo.git("stash", "-q")
    repo.write("x.md", "other\n")
    repo.commit("Other")
    repo.git("stash", "pop", check=False)
    assert refused(repo).code == "conflicts"


def test_refuses__bisect(repo: Repo) -> None:
    repo.git("bisect", "start")
    assert "git bisect reset" in refused(repo).hint


@pytest.mark.parametrize("name", ["index.lock", "refs/heads/main.lock", "HEAD.lock"])
def test_refuses__a_lock_of_another_process_and_never_deletes_it(repo: Repo, name: str) -> None:
    lock = repo.path / ".git" / name
    lock.write_text("")
    error = refused(repo)
    assert error.code == "locked"
    assert str(lock) in error.message
    assert lock.exists()


def test_waits__for_a_lock_that_goes_away(repo: Repo) -> None:
    lock = repo.path / ".git" / "index.lock"
    lock.write_text("")
    timer = threading.Timer(0.2, lock.unlink)
    timer.start()
    assert publish(repo, FileChange("a.md", b"a\n")).commit == repo.head()
    timer.join()


def test_refuses__without_identity(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    repo.git("config", "user.useConfigOnly", "true")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    assert refused(repo, kind=UsageProblem).code == "no-identity"


def test_refuses__links_folders_and_submodules(repo: Repo, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    repo.write("real/a.md", "x\n")
    (repo.path / "link.md").symlink_to("README.md")
    (repo.path / "linked").symlink_to("real")
    (repo.path / "out").symlink_to(outside)
    (repo.path / "out.md").symlink_to(outside / "a.md")
    repo.commit("Links")
    other = Repo.init(tmp_path / "other")
    other.commit("Other")
    repo.git("submodule", "--quiet", "add", str(other.path), "vendor")
    repo.commit("Submodule")
    Repo.init(repo.path / "nested").commit("Nested")
    assert "symbolic link" in refused(repo, FileChange("link.md", b"x\n")).message
    assert "symbolic link" in refused(repo, FileChange("linked/a.md", b"x\n")).message
    assert "submodule" in refused(repo, FileChange("vendor/a.md", b"x\n")).message
    assert "nested repository" in refused(repo, FileChange("nested/a.md", b"x\n")).message
    assert "folder" in refused(repo, FileChange("real", b"x\n")).message
    assert "is a file" in refused(repo, FileChange("README.md/x", b"x\n")).message
    for path in ("out/a.md", "out.md", "../a.md", "/etc/a.md", ".git/a.md", "x/.GIT/a", ""):
        refused(repo, FileChange(path, b"x\n"), kind=UsageProblem)
    repo.git("submodule", "--quiet", "deinit", "-f", "vendor")
    (repo.path / "vendor").rmdir()
    assert "submodule" in refused(repo, FileChange("vendor/a.md", b"x\n")).message


def test_refuses__an_ignored_new_file_but_not_a_tracked_one(repo: Repo) -> None:
    repo.write(".gitignore", "docs/\nREADME.md\n")
    repo.commit("Ignore")
    error = refused(repo, FileChange("docs/a.md", b"x\n"))
    assert error.code == "ignored-target"
    assert publish(repo, FileChange("README.md", b"x\n")).commit == repo.head()


def test_refuses__what_the_gate_refuses(repo: Repo) -> None:
    refused(repo, FileChange("a.md", PHONE.encode()), kind=GateRefused)
    refused(repo, FileChange("a.md", b"\xff\xfe\n"), kind=GateRefused)
    refused(repo, kind=GateRefused, message=PHONE)


def test_gate__judges_only_what_is_added_to_head(repo: Repo) -> None:
    repo.write("a.md", f"{PHONE}\n")
    repo.commit("Long ago")
    publish(repo, FileChange("a.md", f"{PHONE}\nmore\n".encode()))
    repo.git("config", "core.autocrlf", "true")
    (repo.path / "a.md").unlink()
    repo.git("checkout", "-q", "--", "a.md")
    assert repo.read("a.md").endswith(b"\r\n")
    publish(repo, FileChange("a.md", repo.read("a.md") + b"and more\r\n"))
    assert repo.status() == ""


def test_accepts__only_what_the_gate_has_cleared(repo: Repo) -> None:
    with open_door(open_workspace(repo.path)) as door:
        forged = ClearedChange("a.md", b"x\n")  # type: ignore[arg-type]
        with pytest.raises(TypeError):
            door.write([forged])
        renamed = ClearedChange("b.md", Gate().clear("a.md", b"x\n", None))
        with pytest.raises(UsageProblem, match="another name"):
            door.commit([renamed], "x", operation="x")
        with pytest.raises(ValueError, match="twice"):
            door.write(door.clear([FileChange("a.md", b"x\n"), FileChange("a.md", b"y\n")]))
    assert repo.status() == ""


def test_lock__is_shared_by_all_worktrees(
    repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo.git("worktree", "add", "-q", "-b", "side", str(tmp_path / "side"))
    side = open_workspace(tmp_path / "side")
    monkeypatch.setattr("muniment.publish.file_lock", lambda path: file_lock(path, wait_seconds=0))
    with (
        open_door(open_workspace(repo.path)),
        pytest.raises(Refused, match="Another muniment process"),
        open_door(side),
    ):
        raise AssertionError


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes into read-only folders")
def test_refuses__a_read_only_folder(repo: Repo) -> None:  # pragma: no cover - not as root
    repo.write("docs/a.md", "x\n")
    repo.commit("Docs")
    (repo.path / "docs").chmod(0o555)
    refused(repo, FileChange("README.md", b"x\n"), FileChange("docs/a.md", b"y\n"), kind=Unavailable)
    (repo.path / "docs").chmod(0o755)


def test_race__a_file_changed_between_reading_and_writing_is_left(repo: Repo) -> None:
    ws = open_workspace(repo.path)
    with open_door(ws) as door:
        cleared = door.clear([FileChange("a.md", b"a\n"), FileChange("README.md", b"x\n")])
        begin = door._journal.begin

        def edited(*arguments: object, **options: object) -> object:
            intent = begin(*arguments, **options)  # type: ignore[arg-type]
            repo.write("README.md", "typed by a person this very moment\n")
            return intent

        door._journal.begin = edited  # type: ignore[method-assign,assignment]
        with pytest.raises(Refused, match="changed by someone else"):
            door.commit(cleared, "x", operation="x")
    assert repo.read("README.md") == b"typed by a person this very moment\n"
    assert not (repo.path / "a.md").exists()
    assert not open_journal(ws)


def test_seen__a_file_that_no_longer_holds_what_was_read_is_left(repo: Repo) -> None:
    ws = open_workspace(repo.path)
    with open_door(ws) as door:
        cleared = door.clear([FileChange("README.md", b"computed\n"), FileChange("new.md", b"x\n")])
        allowed = frozenset({"README.md"})
        repo.write("README.md", "edited after it was read\n")
        for seen in (
            {"README.md": b"# Example\n"},
            {"new.md": b"", "README.md": b"edited after it was read\n"},
        ):
            with pytest.raises(Refused) as raised:
                door.commit(cleared, "x", operation="x", may_be_dirty=allowed, seen=seen)
            assert raised.value.code == "changed-meanwhile"
            with pytest.raises(Refused):
                door.write(cleared, seen=seen)
        assert repo.read("README.md") == b"edited after it was read\n"
        seen_now = {"README.md": b"edited after it was read\n", "new.md": None}
        assert (
            door.commit(cleared, "x", operation="x", may_be_dirty=allowed, seen=seen_now).commit
            == repo.head()
        )


def test_commit__branch_name_passes_the_gate_too(repo: Repo) -> None:
    """The name is published with the commit: an identifier in it is refused like one in the text (G12)."""
    repo.git("switch", "-q", "-c", "call-+491701234567")
    error = refused(repo, FileChange("docs/a.md", b"plain\n"), kind=GateRefused)
    assert "1701234567" not in str(error)
    repo.git("branch", "-m", "fix/issue-1234-lists-2026-03-04")
    assert publish(repo, FileChange("docs/a.md", b"plain\n")).commit


def test_clear__a_file_that_moves_adds_nothing(repo: Repo) -> None:
    repo.write("docs/bugs/one.md", f"# One\n\n{PHONE}.\n")
    repo.commit("Held by HEAD already")
    moved = repo.read("docs/bugs/one.md").replace(b"# One", b"# One, archived")
    with open_door(open_workspace(repo.path)) as door:
        door.write(
            door.clear([FileChange("docs/archive/one.md", moved), FileChange("docs/bugs/one.md", None)])
        )
    assert repo.read("docs/archive/one.md") == moved
    assert not (repo.path / "docs/bugs/one.md").exists()


def test_clear__a_file_is_set_aside_while_another_takes_its_place(repo: Repo) -> None:
    held = b"# Plan\n\n" + PHONE.encode() + b" \xff\n"
    repo.write("docs/plan.md", held)
    repo.commit("Held by HEAD already")
    changes = [FileChange("docs/plan.md", b"# New\n"), FileChange("docs/plan-1.md", held)]
    with open_door(open_workspace(repo.path)) as door:
        with pytest.raises(GateRefused):
            door.clear(changes)
        named = FileChange("docs/plan-1.md", held, moved_from="docs/plan.md")
        assert [one.data for one in door.clear([changes[0], named])] == [b"# New\n", held]


def test_clear__only_what_head_holds_has_moved(repo: Repo) -> None:
    """Neither an uncommitted line of the old file, nor one that is added on the way, nor the path passes."""
    repo.write("docs/bugs/one.md", "# One\n")
    repo.commit("One")
    leaky = f"# One\n\n{PHONE}.\n".encode()
    repo.write("docs/bugs/one.md", leaky)
    gone = FileChange("docs/bugs/one.md", None)
    with open_door(open_workspace(repo.path)) as door:
        for change in (
            FileChange("docs/archive/one.md", leaky, moved_from="docs/bugs/one.md"),
            FileChange("docs/archive/one.md", leaky, moved_from="docs/no/such.md"),
            FileChange("docs/archive/+49 170 1234567.md", b"# One\n"),
        ):
            with pytest.raises(GateRefused):
                door.clear([change, gone])
