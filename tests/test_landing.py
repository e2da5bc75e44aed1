"""What the repository's hooks may do to a commit, what they may not, and the way back (G5)."""

from __future__ import annotations

from pathlib import Path

import pytest

from muniment.errors import MunimentError, Refused, Unavailable
from muniment.files import FileChange
from muniment.git.repo import Oid
from muniment.journal import Journal, Wanted
from muniment.journal_recovery import recover
from muniment.publish import Published, open_door, open_journal
from muniment.redact.gate import GateRefused
from muniment.targets import Written
from muniment.workspace import Workspace, open_workspace
from tests.support.git import hook, snapshot
from tests.support.repo import Repo

CHANGE = (FileChange("docs/a.md", b"a\n"), FileChange("README.md", b"changed\n"))
PHONE = "+49 170 1234567"


def publish(repo: Repo, message: str = "Record it") -> Published:
    with open_door(open_workspace(repo.path)) as door:
        return door.commit(door.clear(CHANGE), message, operation="op")


def refused(
    repo: Repo, kind: type[MunimentError] = Refused, *, new: frozenset[str] = frozenset()
) -> MunimentError:
    """It must refuse, and put back every byte, the index, the branch; `new`: what the hook leaves."""
    before = snapshot(repo, times=False)
    with pytest.raises(kind) as raised:
        publish(repo)
    after = {name: found for name, found in snapshot(repo, times=False).items() if ".git/objects" not in name}
    assert {name for name in after if name not in before and ".git/logs" not in name} == new
    kept = {
        name: found
        for name, found in before.items()
        if ".git/objects" not in name and ".git/logs" not in name
    }
    assert {name: after.get(name) for name in kept} == kept
    assert not open_journal(open_workspace(repo.path))
    return raised.value


@pytest.mark.parametrize("name", ["pre-commit", "prepare-commit-msg", "commit-msg"])
def test_hook__rejects(repo: Repo, name: str) -> None:
    hook(repo, name, "echo 'not on a Friday' >&2; exit 1")
    error = refused(repo)
    assert error.code == "hook-rejected"
    assert name in error.message
    assert "not on a Friday" in error.message


def test_hook__sees_what_git_commit_shows_it(repo: Repo, tmp_path: Path) -> None:
    repo.write("mine.txt", "untouched\n")
    repo.git("add", "mine.txt")
    report = tmp_path / "report"
    hook(
        repo,
        "pre-commit",
        "{ pwd; git diff --cached --name-only; git diff --quiet && echo clean;"
        f' echo "editor $GIT_EDITOR"; }} > {report}',
    )
    hook(repo, "prepare-commit-msg", f'echo "source $2" >> {report}')
    hook(repo, "commit-msg", f'cat "$1" >> {report}')
    hook(
        repo, "post-commit", f"git log -1 --format=%s >> {report}; git diff --cached --name-only >> {report}"
    )
    publish(repo, "Subject\n\nBody")
    assert report.read_text().split("\n") == [
        *(str(repo.path), "README.md", "docs/a.md", "clean", "editor :", "source message"),
        *("Subject", "", "Body", "Subject", "mine.txt", ""),
    ]


def test_hook__from_core_hooks_path_and_in_a_linked_worktree(repo: Repo, tmp_path: Path) -> None:
    folder = tmp_path / "shared-hooks"
    folder.mkdir()
    (folder / "pre-commit").write_text("#!/bin/sh\nexit 1\n")
    (folder / "pre-commit").chmod(0o755)
    repo.git("worktree", "add", "-q", "-b", "side", str(tmp_path / "side"))
    repo.git("config", "core.hooksPath", str(folder))
    assert refused(repo).code == "hook-rejected"
    assert refused(Repo(tmp_path / "side")).code == "hook-rejected"
    (folder / "pre-commit").write_text(
        "#!/bin/sh\ngit rev-parse --show-toplevel > top.txt; git add top.txt\n"
    )
    side = Repo(tmp_path / "side")
    assert publish(side).commit == side.head()
    assert side.git("show", "HEAD:top.txt") == str(side.path)
    assert (repo.status(), side.status()) == ("", "")


def test_hook__not_executable_is_no_hook(repo: Repo) -> None:
    hook(repo, "pre-commit", "exit 1").chmod(0o644)
    assert publish(repo).commit == repo.head()


@pytest.mark.parametrize(
    "script",
    [
        "echo tidy >> README.md; git add README.md",
        "echo tidy >> README.md",
        "echo tidy >> README.md; git add README.md; exit 1",
        "rm README.md",
        "git rm -q --cached docs/a.md",
        "git update-index --chmod=+x docs/a.md",
        "git read-tree HEAD",
    ],
)
def test_hook__changes_a_file_of_ours(repo: Repo, script: str) -> None:
    hook(repo, "pre-commit", script)
    error = refused(repo)
    assert "pre-commit" in error.message
    assert error.code == ("hook-rejected" if "exit 1" in script else "hook-changed")


def test_hook__its_version_of_our_file_is_kept_aside(repo: Repo) -> None:
    hook(repo, "pre-commit", "echo tidy >> README.md; exit 1")
    error = refused(repo)
    kept = Path(error.hint.rpartition("kept in ")[2].rstrip("."))
    assert kept.read_bytes() == b"changed\ntidy\n"
    assert kept.is_relative_to(repo.path / ".git" / "muniment")


def test_hook__adds_a_file_that_passes_the_gate(repo: Repo) -> None:
    hook(repo, "pre-commit", "echo generated > generated.txt; git add generated.txt")
    repo.write("mine.txt", "mine\n")
    made = publish(repo)
    assert made.commit == repo.head()
    assert repo.git("diff", "--name-only", "HEAD^", "HEAD") == "README.md\ndocs/a.md\ngenerated.txt"
    assert repo.status() == "?? mine.txt"


def test_hook__adds_an_identifier_to_another_file(repo: Repo) -> None:
    hook(repo, "pre-commit", f"echo 'ring {PHONE}' > contact.txt; git add contact.txt")
    error = refused(repo, GateRefused, new=frozenset({"contact.txt"}))
    assert "contact.txt:1" in error.message
    assert PHONE not in error.message + error.hint


def test_hook__adds_an_identifier_to_the_message(repo: Repo) -> None:
    hook(repo, "commit-msg", f"echo 'ring {PHONE}' >> \"$1\"")
    assert "commit message" in refused(repo, GateRefused).message


def test_hook__adds_a_trailer(repo: Repo) -> None:
    hook(repo, "commit-msg", 'printf "\\n\\n\\nChange-Id: I0123\\n\\n" >> "$1"')
    publish(repo)
    assert repo.git("log", "-1", "--format=%B") == "Record it\n\nChange-Id: I0123"


@pytest.mark.parametrize("script", ['printf "" > "$1"', "printf '\\377' > \"$1\""])
def test_hook__empties_or_breaks_the_message(repo: Repo, script: str) -> None:
    hook(repo, "commit-msg", script)
    assert "a hook" in refused(repo).message


@pytest.mark.parametrize("script", ["git add -A", "git add -u", "git commit -q -a -m swept"])
def test_hook__sweeps_a_persons_work_along(repo: Repo, script: str) -> None:
    repo.write("mine.txt", "committed\n")
    repo.commit("Mine")
    repo.write("mine.txt", "unfinished\n")
    hook(repo, "pre-commit", f'[ -n "$INNER" ] && exit 0; INNER=1; export INNER; {script}')
    with pytest.raises(Refused) as raised:
        publish(repo)
    assert raised.value.code in {"hook-changed", "branch-moved"}
    assert repo.read("mine.txt") == b"unfinished\n"
    assert repo.read("README.md") in {b"# Example\n", b"changed\n"}
    assert "Record it" not in repo.git("log", "--format=%s")


def test_hook__what_it_generated_before_it_rejected_is_not_a_persons_work(repo: Repo) -> None:
    hook(repo, "pre-commit", "echo generated > generated.txt; git add generated.txt; [ -e ok ]")
    refused(repo, new=frozenset({"generated.txt"}))
    (repo.path / "ok").touch()
    assert publish(repo).commit == repo.head()
    assert repo.git("ls-tree", "-r", "--name-only", "HEAD") == "README.md\ndocs/a.md\ngenerated.txt"


def test_branch__moved_while_hooks_ran(repo: Repo) -> None:
    hook(
        repo,
        "pre-commit",
        "unset GIT_INDEX_FILE; new=$(git commit-tree -p HEAD -m 'A person was faster' HEAD^{tree});"
        " git update-ref refs/heads/main $new",
    )
    with pytest.raises(Refused) as raised:
        publish(repo)
    assert raised.value.code == "branch-moved"
    assert repo.git("log", "--format=%s") == "A person was faster\nStart"
    assert repo.status() == ""


def test_branch__another_one_checked_out_while_hooks_ran(repo: Repo) -> None:
    repo.git("branch", "other")
    hook(repo, "pre-commit", "git symbolic-ref HEAD refs/heads/other")
    with pytest.raises(Refused) as raised:
        publish(repo)
    assert raised.value.code == "branch-moved"
    assert repo.git("log", "--format=%s", "main") == repo.git("log", "--format=%s", "other") == "Start"
    assert repo.status() == ""


def test_index__staged_by_a_person_while_hooks_ran_stays_staged(repo: Repo) -> None:
    hook(repo, "pre-commit", "unset GIT_INDEX_FILE; echo more > more.txt; git add more.txt")
    publish(repo)
    assert repo.status() == "A  more.txt"


def test_index__locked_while_hooks_ran(repo: Repo) -> None:
    hook(repo, "pre-commit", "touch .git/index.lock")
    assert refused(repo, new=frozenset({".git/index.lock"})).code == "locked"


def test_post_commit__failing_is_no_failure(repo: Repo) -> None:
    hook(repo, "post-commit", "exit 1")
    assert publish(repo).commit == repo.head()


def test_post_commit__a_commit_on_top_stays(repo: Repo) -> None:
    hook(repo, "post-commit", "[ -n \"$INNER\" ] && exit; INNER=1 git commit -q --allow-empty -m 'On top'")
    made = publish(repo)
    assert repo.git("log", "--format=%s") == "On top\nRecord it\nStart"
    assert made.commit == repo.git("rev-parse", "HEAD^")


def test_post_commit__a_harmless_amend_is_the_commit(repo: Repo) -> None:
    hook(repo, "post-commit", "[ -n \"$INNER\" ] && exit; INNER=1 git commit -q --amend -m 'Said better'")
    made = publish(repo)
    assert made.commit == repo.head()
    assert repo.git("log", "--format=%s") == "Said better\nStart"
    assert repo.status() == ""


@pytest.mark.parametrize(
    ("amend", "kind"),
    [
        (f"git commit -q --amend --only -m 'Ring {PHONE}'", GateRefused),
        (f"echo '{PHONE}' > c.txt; git add c.txt; git commit -q --amend --no-edit", GateRefused),
        ("echo spoilt > README.md; git commit -q -a --amend --no-edit", Refused),
        ("git commit -q --amend -m 'Swept'", Refused),
    ],
)
@pytest.mark.parametrize("born", [True, False], ids=["branch", "unborn branch"])
def test_post_commit__an_amend_that_spoils_it_is_taken_back(
    repo: Repo, tmp_path: Path, amend: str, kind: type[MunimentError], born: bool
) -> None:
    place = repo if born else Repo.init(tmp_path / "fresh")
    place.write("mine.txt", "staged\n")
    place.git("add", "mine.txt")
    before = place.git("ls-files", "--stage", "mine.txt")
    hook(place, "post-commit", f'[ -n "$INNER" ] && exit; INNER=1; export INNER; {amend}')
    with pytest.raises(kind):
        publish(place)
    assert place.git("rev-parse", "-q", "--verify", "HEAD", check=False) == (repo.head() if born else "")
    assert "Start" in place.git("log", "--format=%s", check=False) or not born
    assert before in place.git("ls-files", "--stage")
    assert {line.rpartition("\t")[2] for line in place.git("ls-files").split("\n")} <= {
        "README.md",
        "mine.txt",
        "c.txt",
    }
    assert not (place.path / "docs").exists()
    assert (place.path / "README.md").exists() == born
    assert place.read("README.md") == b"# Example\n" if born else True


def test_post_commit__moving_the_branch_away_is_said(repo: Repo) -> None:
    hook(repo, "post-commit", "git update-ref refs/heads/main $(git commit-tree -m else HEAD^{tree})")
    with pytest.raises(Unavailable, match="moved away"):
        publish(repo)


def test_reference_transaction__may_forbid_the_move(repo: Repo) -> None:
    hook(repo, "reference-transaction", '[ "$1" = prepared ] && exit 1; exit 0')
    refused(repo, Unavailable)


def test_run_by_a_hook__its_variables_are_not_ours(
    repo: Repo, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    other = Repo.init(tmp_path / "other")
    other.commit("Other")
    monkeypatch.setenv("GIT_DIR", str(other.path / ".git"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(other.path / ".git" / "index"))
    made = publish(repo)
    monkeypatch.delenv("GIT_DIR")
    monkeypatch.delenv("GIT_INDEX_FILE")
    assert made.commit == repo.head()
    assert other.git("log", "--format=%s") == "Other"


def test_failure_after_the_branch_moved__is_the_commit_all_the_same(
    repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_folder: Path) -> None:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr("muniment.git.index.sync_folder", fail)
    assert publish(repo).commit == repo.head()
    assert repo.status() == ""
    assert not open_journal(open_workspace(repo.path))


def test_interrupt_after_the_branch_moved__is_told_to_the_next_run(
    repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(_folder: Path) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("muniment.git.index.sync_folder", interrupt)
        with pytest.raises(KeyboardInterrupt):
            publish(repo)
    assert repo.status() == ""
    with open_door(open_workspace(repo.path)) as door:
        assert door.recovered is not None
        assert (door.recovered.outcome, door.recovered.commit) == ("completed", repo.head())


def test_interrupt_before_the_branch_moved__puts_everything_back(
    repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_: object, **__: object) -> Oid:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("muniment.git.committing.commit_tree", interrupt)
        with pytest.raises(KeyboardInterrupt):
            publish(repo)
    assert repo.status() == ""
    assert not open_journal(open_workspace(repo.path))


# Recovery, beyond what the kill tests reach: a person acted between the kill and the next run


def killed(repo: Repo, *, kind: str = "commit", written: int = 2) -> tuple[Workspace, Journal]:
    """A journal as a kill leaves it when `written` of its two files had been written."""
    ws = open_workspace(repo.path)
    journal = Journal(ws.repo, ws.private)
    blob = repo.git("rev-parse", "HEAD:README.md")
    files = (
        Wanted("README.md", (0o644, b"# Example\n"), (0o644, b"changed\n"), blob),
        Wanted("docs/a.md", None, (0o644, b"a\n")),
    )
    commit = kind == "commit"
    journal.begin(
        files,
        kind=kind,
        operation="op",
        ref="refs/heads/main" if commit else "",
        parent=repo.head() if commit else "",
    )
    for file in files[:written]:
        assert file.then is not None
        repo.write(file.path, file.then[1])
    return ws, journal


def test_recover__open_journal_is_seen_and_reading_leaves_it(repo: Repo) -> None:
    ws, _ = killed(repo)
    assert open_journal(ws)
    assert open_journal(ws)
    with open_door(ws) as door:
        assert door.recovered is not None
        assert (door.recovered.operation, door.recovered.outcome) == ("op", "rolled-back")
        assert door.recovered.paths == ("README.md", "docs/a.md")
    assert not open_journal(ws)
    assert repo.status() == ""
    with open_door(ws) as door:
        assert door.recovered is None


@pytest.mark.parametrize("written", [0, 1, 2])
def test_recover__files_alone_go_forward(repo: Repo, written: int) -> None:
    ws, _ = killed(repo, kind="write", written=written)
    with open_door(ws) as door:
        assert door.recovered is not None
        assert door.recovered.outcome == "completed"
    assert (repo.read("README.md"), repo.read("docs/a.md")) == (b"changed\n", b"a\n")


@pytest.mark.parametrize("kind", ["write", "commit"])
def test_recover__a_persons_edit_since_the_kill_stays(repo: Repo, kind: str) -> None:
    ws, _ = killed(repo, kind=kind)
    repo.write("README.md", "a person wrote this afterwards\n")
    with open_door(ws) as door:
        assert door.recovered is not None
        assert (door.recovered.outcome, door.recovered.left) == ("rolled-back", ("README.md",))
    assert repo.read("README.md") == b"a person wrote this afterwards\n"
    assert not (repo.path / "docs").exists()


def test_recover__a_folder_or_a_link_put_there_since_stays(repo: Repo) -> None:
    ws, _ = killed(repo)
    (repo.path / "README.md").unlink()
    (repo.path / "README.md").mkdir()
    (repo.path / "docs" / "a.md").unlink()
    (repo.path / "docs" / "a.md").symlink_to("elsewhere")
    with open_door(ws) as door:
        assert door.recovered is not None
        assert door.recovered.left == ("README.md", "docs/a.md")


def landed(repo: Repo) -> tuple[Workspace, Journal, Oid]:
    """As `killed`, after the branch moved and before the index did."""
    ws, journal = killed(repo)
    blob = ws.repo.write_blob(b"changed\n"), 0o100644
    tree = ws.repo.write_tree(
        Oid(repo.head()), {"README.md": blob, "docs/a.md": (ws.repo.write_blob(b"a\n"), 0o100644)}
    )
    commit = Oid(repo.git("commit-tree", "-p", "HEAD", "-m", "Record it", tree))
    journal.note_commit(commit)
    repo.git("update-ref", "refs/heads/main", commit)
    return ws, journal, commit


def test_recover__a_commit_on_the_branch_is_completed(repo: Repo) -> None:
    ws, _, commit = landed(repo)
    assert "D  docs/a.md" in repo.status().split("\n"), "the index is behind"
    with open_door(ws) as door:
        assert door.recovered is not None
        assert (door.recovered.outcome, door.recovered.commit) == ("completed", commit)
    assert repo.status() == ""


def test_recover__what_a_person_staged_since_stays_staged(repo: Repo) -> None:
    ws, _, _ = landed(repo)
    repo.write("README.md", "staged by a person\n")
    repo.git("add", "README.md")
    with open_door(ws):
        pass
    assert repo.status() == "M  README.md"


def test_recover__a_persons_commit_on_top_is_left_alone(repo: Repo) -> None:
    ws, _, commit = landed(repo)
    repo.git("add", "-A")
    repo.git("commit", "-q", "--allow-empty", "-m", "On top")
    with open_door(ws) as door:
        assert door.recovered is not None
        assert (door.recovered.outcome, door.recovered.commit) == ("completed", commit)
    assert repo.status() == ""


def test_recover__a_commit_that_a_person_has_taken_back(repo: Repo) -> None:
    ws, _, _ = landed(repo)
    repo.git("reset", "-q", "--hard", "HEAD^")
    with open_door(ws) as door:
        assert door.recovered is not None
        assert door.recovered.outcome == "rolled-back"
    assert repo.status() == ""


def test_recover__waits_for_what_the_killed_run_started(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    from muniment.files import file_lock  # noqa: PLC0415 - patched below

    ws, journal = killed(repo)
    monkeypatch.setattr("muniment.journal_recovery.file_lock", lambda path: file_lock(path, wait_seconds=0))
    with file_lock(journal.alive), pytest.raises(Refused, match="still running"):
        recover(ws, journal)
    assert open_journal(ws)


def test_recover__a_damaged_or_foreign_journal_is_left_for_a_person(repo: Repo) -> None:
    ws, journal = killed(repo)
    for content in (b"{", b"[]", b'{"schema": "muniment.journal/9"}', b'{"schema": "muniment.journal/1"}'):
        (journal.folder / "intent.json").write_bytes(content)
        with pytest.raises(Refused) as raised, open_door(ws):
            raise AssertionError
        assert raised.value.code == "journal-unreadable"
        assert repo.read("README.md") == b"changed\n"


def test_recover__a_damaged_payload_changes_nothing(repo: Repo) -> None:
    ws, journal = killed(repo, kind="write", written=1)
    (journal.folder / "payload").write_bytes(b"other bytes here")
    with pytest.raises(Refused, match="damaged"), open_door(ws):
        raise AssertionError
    assert not (repo.path / "docs" / "a.md").exists()


def test_recover__each_worktree_has_its_own_journal(repo: Repo, tmp_path: Path) -> None:
    ws, _ = killed(repo)
    repo.git("worktree", "add", "-q", "-b", "side", str(tmp_path / "side"))
    side = open_workspace(tmp_path / "side")
    assert not open_journal(side)
    with open_door(side) as door:
        assert door.recovered is None
    assert open_journal(ws)


def test_written__a_damaged_record_only_asks_more(repo: Repo) -> None:
    ws = open_workspace(repo.path)
    record = Written(ws)
    record.remember({"a.md": b"x\n"})
    assert record.holds("a.md", b"x\n")
    for file in (ws.private / "written").iterdir():
        file.write_bytes(b"[1]")
    assert not record.holds("a.md", b"x\n")
    record.remember({"a.md": b"x\n"})
    assert record.holds("a.md", b"x\n")
