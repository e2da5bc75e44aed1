"""`plan reconcile` in real repositories: what it writes, what it refuses, what it never touches."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from muniment.files import file_lock
from tests.support.cli import Result, muniment
from tests.support.repo import Repo
from tests.support.state_text import PLAN, STATE, item, state_text

SIBLING = "docs/plans/feedback-sweep-plan-2026-11-30.md"


@pytest.fixture(autouse=True)
def fixed_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MUNIMENT_NOW", "2026-11-30T12:00:00Z")


@pytest.fixture
def planned(repo: Repo) -> Repo:
    """A repository with two items in its state, reconciled and committed."""
    repo.write(STATE, state_text(item("inbox:1", category="bug"), item("inbox:2")))
    reconcile(repo).ok()
    repo.commit("Plan")
    return repo


def reconcile(repo: Repo) -> Result:
    return muniment("plan", "reconcile", "--json", cwd=repo.path)


def snapshot(repo: Repo) -> dict[str, bytes]:
    """Every file of the working tree, links as their target."""
    return {
        str(path.relative_to(repo.path)): str(path.readlink()).encode()
        if path.is_symlink()
        else path.read_bytes()
        for path in sorted(repo.path.rglob("*"))
        if ".git" not in path.parts and (path.is_symlink() or path.is_file())
    }


def test_reconcile__writes_plan_and_state_and_commits_nothing(repo: Repo) -> None:
    repo.write(
        STATE,
        "# ours\r\n" + state_text(item("inbox:1"), item("inbox:2", "closed", r=6)).replace("\n", "\r\n"),
    )
    head = repo.head()
    answer = reconcile(repo).ok().json
    assert {
        key: answer[key] for key in ("path", "rotated_to", "salvaged", "open", "added", "drained", "foreign")
    } == {
        "path": PLAN,
        "rotated_to": None,
        "salvaged": 0,
        "open": 1,
        "added": 1,
        "drained": 0,
        "foreign": 0,
    }
    assert repo.head() == head
    assert b"**R7**" in repo.read(PLAN)
    state = repo.read(STATE)
    assert state.startswith(b"# ours\r\n")
    assert b"    r: 7\r\n" in state
    assert b"    status: in_plan\r\n" in state
    assert state.count(b"\n") == state.count(b"\r\n")


def test_reconcile__again_writes_nothing_at_all(planned: Repo) -> None:
    paths = [planned.path / PLAN, planned.path / STATE, planned.path / ".git" / "index"]
    before = [(path.stat().st_mtime_ns, path.stat().st_ino) for path in paths]
    answer = reconcile(planned).ok().json
    assert answer["written"] == []
    assert [(path.stat().st_mtime_ns, path.stat().st_ino) for path in paths] == before
    assert planned.status() == ""


def test_reconcile__one_edited_word_is_salvaged_once_from_history(planned: Repo) -> None:
    good = planned.read(PLAN)
    edited = good.replace(b"Body of 1.", b"Body of one.")
    planned.write(PLAN, edited)
    answer = reconcile(planned).ok().json
    assert (answer["salvaged"], answer["salvaged_text"]) == (1, ["Body of one."])
    assert b"### Edited by hand in the list, kept on 2026-11-30" in planned.read(PLAN)
    again = reconcile(planned).ok().json
    assert (again["salvaged"], again["written"]) == (0, [])


def test_reconcile__an_edit_that_was_committed_is_salvaged_too(planned: Repo) -> None:
    planned.write(PLAN, planned.read(PLAN).replace(b"Title of 2", b"Titel of 2"))
    planned.commit("A hand edit")
    planned.write(STATE, planned.read(STATE).replace(b"Body of 1.", b"Body changed."))
    answer = reconcile(planned).ok().json
    assert answer["salvaged"] == 1
    assert "Titel of 2" in answer["salvaged_text"][0]


def test_reconcile__without_the_last_rendering_everything_unexplained_is_kept(planned: Repo) -> None:
    planned.write(STATE, planned.read(STATE).replace(b"Title of 1", b"New title"))
    reconcile(planned).ok()
    planned.write(STATE, planned.read(STATE).replace(b"New title", b"Newer title"))
    planned.write(PLAN, planned.read(PLAN).replace(b"Body of 2.", b"Body of two."))
    answer = reconcile(planned).ok().json
    assert len(answer["salvaged_text"]) == 2


@pytest.mark.parametrize(
    "content",
    [
        b"# Another plan\r\n",
        b"\xff\xfe binary \x00\n",
        b"",
        b"---\ntitle: x\n---\n<!-- sweep-items:start -->\n",
    ],
)
def test_rotate__moves_the_bytes_aside_and_overwrites_nothing(planned: Repo, content: bytes) -> None:
    planned.write(PLAN, content)
    planned.write(SIBLING, "taken")
    (planned.path / "docs/plans/feedback-sweep-plan-2026-11-30-2.md").symlink_to("nowhere")
    before = snapshot(planned)
    answer = reconcile(planned).ok().json
    assert answer["rotated_to"] == "docs/plans/feedback-sweep-plan-2026-11-30-3.md"
    after = snapshot(planned)
    assert after.pop(answer["rotated_to"]) == content
    assert b"sweep-items:start" in after.pop(PLAN)
    del before[PLAN]
    assert {path: after[path] for path in before} == before
    assert reconcile(planned).ok().json["written"] == []


def test_rotate__a_name_that_head_holds_is_not_free(planned: Repo) -> None:
    planned.write(SIBLING, "kept in history")
    planned.commit("An old one")
    (planned.path / SIBLING).unlink()
    planned.write(PLAN, "# Other\n")
    assert reconcile(planned).ok().json["rotated_to"] == "docs/plans/feedback-sweep-plan-2026-11-30-2.md"


def test_rotate__identifiers_in_the_old_plan_move_with_it(planned: Repo) -> None:
    planned.write(PLAN, "# Mail jane.doe@mail.example.com or call +49 30 901820\n")
    answer = reconcile(planned).ok().json
    assert planned.read(answer["rotated_to"]).startswith(b"# Mail jane")


def refused(repo: Repo, code: int, *words: str) -> Result:
    """A reconcile that must fail and leave the working tree as it was."""
    before = snapshot(repo)
    result = reconcile(repo)
    assert result.code == code, result.err
    for word in words:
        assert word in result.err
    assert set(result.json) == {"error"}
    assert snapshot(repo) == before
    return result


def test_refused__no_state(repo: Repo) -> None:
    refused(repo, 4, "no state at docs/feedback-sweep/state.yml")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "is no mapping"),
        (b"[]\n", "is no mapping"),
        (b"items: {}\n", "schema_version"),
        (b"schema_version: 1\nitems: []\n", "`items` is no mapping"),
        (b"schema_version: 1\nitems: [1]\n", "`items` is no mapping"),
        (b"schema_version: 1\nitems:\n  a:b: {}\n  a:b: {}\n", "state.yml:4"),
        (b"schema_version: 1\n<<<<<<< HEAD\n", "state.yml:2"),
        (b"schema_version: 1\nx: \xff\n", "state.yml:2"),
        (b"\x00\x01\x02" * 1000, "binary"),
        (b"schema_version: 1\n\tx: 1\n", "state.yml:2"),
        (b"schema_version: 1\n---\nschema_version: 1\n", "several"),
    ],
)
def test_refused__a_broken_state(repo: Repo, content: bytes, words: str) -> None:
    repo.write(STATE, content)
    refused(repo, 3, words)


def test_state__with_nothing_in_it_is_fine(repo: Repo) -> None:
    repo.write(STATE, "schema_version: 1\nitems:\n")
    assert reconcile(repo).ok().json["open"] == 0


def test_refused__a_state_of_a_hundred_megabytes(repo: Repo) -> None:
    target = repo.write(STATE, "schema_version: 1\n")
    with target.open("ab") as stream:
        stream.truncate(100 * 1024 * 1024)
    result = reconcile(repo)
    assert (result.code, "104857600 bytes" in result.err) == (2, True)


def test_refused__a_plan_with_conflict_markers(planned: Repo) -> None:
    planned.write(PLAN, planned.read(PLAN) + b"<<<<<<< ours\na\n=======\nb\n>>>>>>> theirs\n")
    refused(planned, 3, f"{PLAN}:", "conflict marker")


def test_refused__a_plan_that_is_a_link_or_a_folder(planned: Repo) -> None:
    (planned.path / PLAN).rename(planned.path / "real.md")
    (planned.path / PLAN).symlink_to(planned.path / "real.md")
    refused(planned, 3, "symbolic link")
    (planned.path / PLAN).unlink()
    (planned.path / PLAN).mkdir()
    refused(planned, 4, PLAN)


def test_refused__a_gate_that_finds_a_number_in_a_quote(repo: Repo) -> None:
    repo.write(STATE, state_text(item("inbox:1", body="Call me at +49 30 90182 0123 please.")))
    result = refused(repo, 1)
    assert "90182" not in result.err + result.out


@pytest.mark.parametrize(
    ("lease", "held"),
    [
        ({"writer": "x", "timestamp": "2026-11-30T11:30:00Z", "ttl_minutes": 60}, True),
        ({"writer": "x", "timestamp": "2026-11-30T10:30:00Z", "ttl_minutes": 60}, False),
        ({"writer": "x", "timestamp": "2027-11-30T10:30:00Z", "ttl_minutes": 60}, True),
        ({"writer": "x", "timestamp": "soon", "ttl_minutes": 60}, True),
        ({"writer": "x", "timestamp": "2026-11-30T10:30:00Z"}, True),
        ({"writer": "x", "timestamp": "2026-11-30T11:59:00Z", "ttl_minutes": 0.5}, False),
    ],
)
def test_lease__in_the_file_is_honoured_unless_provably_stale(
    repo: Repo, lease: dict[str, object], held: bool
) -> None:
    repo.write(STATE, state_text(item("inbox:1"), lease=lease))
    if held:
        assert refused(repo, 3, "held by x").json["error"]["code"] == "locked"
    else:
        reconcile(repo).ok()


def test_lock__of_the_clone_is_taken_also_from_a_worktree(planned: Repo, tmp_path: Path) -> None:
    linked = tmp_path / "linked"
    planned.git("worktree", "add", "-q", str(linked))
    with file_lock(planned.path / ".git" / "muniment" / "lock"):
        assert muniment("plan", "reconcile", "--json", cwd=linked).code == 3
    assert muniment("plan", "reconcile", "--json", cwd=linked).ok().json["written"] == []


def test_shared_mode_and_pull__are_later_and_say_so(repo: Repo) -> None:
    pull = muniment("plan", "pull", cwd=repo.path)
    assert (pull.code, "shared mode" in pull.err) == (2, True)
    repo.write(".muniment/config.yaml", "sweep_shared_branch: muniment/state\n")
    repo.write(STATE, state_text())
    refused(repo, 2, "sweep_shared_branch")


def test_sensitive__source_in_the_settings(repo: Repo) -> None:
    repo.write(
        ".muniment/config.yaml", "feedback_sources:\n  - type: inbox\n    id: inbox\n    sensitive: true\n"
    )
    repo.write(STATE, state_text(item("inbox:1", title="Hidden words", body="Hidden text")))
    reconcile(repo).ok()
    assert b"Hidden" not in repo.read(PLAN)


def test_repositories__unborn_branch_and_autocrlf(make_repo: Callable[[str], Repo]) -> None:
    repo = make_repo("unborn")
    repo.git("config", "core.autocrlf", "true")
    repo.write(STATE, state_text(item("inbox:1")))
    assert reconcile(repo).ok().json["added"] == 1
    repo.commit("All")
    repo.git("rm", "-q", "--cached", "-r", ".")
    repo.git("reset", "-q", "--hard")
    assert reconcile(repo).ok().json["written"] == []


def test_human_output__says_what_happened(planned: Repo) -> None:
    planned.write(PLAN, planned.read(PLAN).replace(b"Body of 1.", b"Body of one."))
    result = muniment("plan", "reconcile", cwd=planned.path).ok()
    assert "2 open, 0 added, 0 drained." in result.out
    assert "1 line edited by hand, kept" in result.out
    assert "Nothing to write." in muniment("plan", "reconcile", cwd=planned.path).ok().out
    planned.write(PLAN, "x")
    assert "Moved the old plan to" in muniment("plan", "reconcile", cwd=planned.path).ok().out


def test_closed__without_evidence_is_said_and_a_declined_one_has_its_own_way_off(planned: Repo) -> None:
    proof = {"fix_ref": "#12", "verified_merge_sha": "a" * 40, "verified_at": "2026-11-29T10:00:00Z"}
    closed = [item("inbox:1", "closed", r=1), item("inbox:2", "closed", r=2, **proof)]
    planned.write(STATE, state_text(*closed))
    result = muniment("plan", "reconcile", cwd=planned.path).ok()
    assert "inbox:1 is closed without fix_ref, verified_merge_sha, verified_at" in result.err
    assert "inbox:2" not in result.err
    assert "`actionable: false`" in result.err
    assert len(reconcile(planned).ok().json["notes"]) == 2
    planned.write(STATE, state_text(item("inbox:1", actionable=False, r=1), closed[1]))
    result = muniment("plan", "reconcile", cwd=planned.path).ok()
    assert result.err == ""
    assert "0 open" in result.out
    assert b"inbox:1" not in planned.read(PLAN)
    muniment("check", cwd=planned.path).ok()


def test_closed__many_without_evidence_are_counted(repo: Repo) -> None:
    repo.write(STATE, state_text(*(item(f"inbox:{number}", "closed", r=number) for number in range(1, 9))))
    notes = reconcile(repo).ok().json["notes"]
    assert len(notes) == 7
    assert "3 more" in notes[5]


@pytest.mark.parametrize("path", [PLAN, STATE])
def test_reconcile__a_pipe_is_refused_at_once(planned: Repo, path: str) -> None:
    target = planned.path / path
    target.unlink()
    os.mkfifo(target)
    answer = reconcile(planned)
    assert answer.code == 3
    assert "no plain file" in answer.err
    assert muniment("check", cwd=planned.path).code in {0, 1}
