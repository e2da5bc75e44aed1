"""The engine on a real shared branch: what is read, how fresh it is, and what one write makes of it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from muniment.git.oid import Oid
from muniment.git.push_answer import Outcome
from muniment.state import batch, operations
from muniment.state.item_file import path_of
from muniment.state.operations import Answer, Edit, Word
from muniment.state.shared import Act, SharedBranch, SharedState
from muniment.workspace import open_workspace
from tests.support.git import hook, snapshot
from tests.support.repo import Repo

BRANCH = "muniment/state"


@dataclass(slots=True)
class Unguarded:
    """Writes without a lease: the branch alone is under test here."""

    branch: SharedBranch

    def write(self, act: Act, *, writer: str, now: str, session: str, epoch: int) -> Answer:
        assert (session, epoch) == ("", 0)
        with self.branch.store.lock():
            tip = self.branch.remote.fetch(None).tip
            answer = act(self.branch.at(tip))
            if answer.edits:
                self._push(tip, self.branch.commit(tip, answer.edits, f"Write by {writer} at {now}\n"))
            return answer

    def compact(self, *, writer: str, now: str, session: str, epoch: int) -> Answer:
        assert (session, epoch) == ("", 0)
        with self.branch.store.lock():
            tip = self.branch.remote.fetch(None).tip
            self._push(tip, self.branch.commit(tip, (), f"Compact by {writer} at {now}\n", replaces=True))
            return Answer(Word.OK)

    def _push(self, tip: Oid | None, commit: Oid) -> None:
        result = self.branch.door.push(commit, tip)
        assert result.outcome is Outcome.LANDED, result.message


def state_of(repo: Repo, **environ: str) -> SharedState:
    branch = SharedBranch(open_workspace(repo.path, {**os.environ, **environ}), "origin", BRANCH)
    return SharedState(branch, Unguarded(branch))


def put(state: SharedState, native: str, fields: Mapping[str, Any]) -> Answer:
    return state.held(lambda view: operations.upsert_item(view, "inbox", native, fields), "w", "now")


@pytest.fixture
def bare(repo: Repo, tmp_path: Path) -> Repo:
    return repo.bare_remote(tmp_path / "bare.git")


def test_writes_are_read_by_every_clone(repo: Repo, bare: Repo, tmp_path: Path) -> None:
    before = snapshot(repo)
    mine, theirs = state_of(repo), state_of(bare.clone(tmp_path / "other"))
    assert mine.read().word is Word.NO_STATE
    assert mine.cursor("inbox").value == {"cursor": None}
    assert put(mine, "1", {"title": "One"}).word is Word.OK
    assert put(theirs, "2", {"title": "Two", "status": "closed"}).word is Word.OK
    advance = mine.held(lambda view: operations.cursor_advance(view, "inbox", "5", "2"), "w", "now")
    assert advance.word is Word.OK
    for state in (mine, theirs):
        assert state.read() == Answer(
            Word.OK,
            {
                "schema_version": 1,
                "sources": {"inbox": {"cursor": "5"}},
                "items": {
                    "inbox:1": {"source": "inbox", "status": "ingested", "title": "One"},
                    "inbox:2": {"source": "inbox", "status": "closed", "title": "Two"},
                },
            },
        )
        assert state.cursor("inbox").value == {"cursor": "5"}
    assert theirs.validate("w", "now").value == {"downgraded": ["inbox:2"]}
    count = bare.git("rev-list", "--count", BRANCH)
    assert mine.validate("w", "now").value == {"downgraded": []}
    assert bare.git("rev-list", "--count", BRANCH) == count
    assert snapshot(repo) == before


def test_a_batch_is_one_commit_or_none(repo: Repo, bare: Repo) -> None:
    state = state_of(repo)
    put(state, "0", {})
    lines = "".join(
        f'{{"op": "upsert-item", "source": "inbox", "id": "{n}", "json": {{"title": "T{n}"}}}}\n'
        for n in range(1, 4)
    )
    acts = batch.read(lines, writer="w", now="2026-12-01T08:00:00Z")
    assert state.held(lambda view: batch.perform(view, acts), "w", "now").value == {"operations": 3}
    assert bare.git("rev-list", "--count", BRANCH) == "2"
    bad = lines + '{"op": "cursor-advance", "source": "inbox", "to": "9", "past-item": "none"}\n'
    acts = batch.read(bad, writer="w", now="2026-12-01T08:00:00Z")
    assert state.held(lambda view: batch.perform(view, acts), "w", "now").word is Word.REFUSED
    assert bare.git("rev-list", "--count", BRANCH) == "2"
    assert bare.git("diff", "--name-only", f"{BRANCH}~1", BRANCH).splitlines() == sorted(
        path_of(f"inbox:{n}") for n in range(1, 4)
    )


def test_offline_it_reads_what_was_last_seen_and_says_when(repo: Repo, bare: Repo) -> None:
    state = state_of(repo)
    put(state, "1", {})
    away = bare.path.with_name("away.git")
    bare.path.rename(away)
    answer = state_of(repo).read()
    assert (answer.word, list(answer.value["items"])) == (Word.OK, ["inbox:1"])
    assert "can't be reached" in answer.note
    assert "0 minutes ago" in answer.note
    assert put(state, "2", {}).word is Word.OFFLINE
    (repo.path / ".git" / "muniment" / "shared").rename(repo.path / ".git" / "muniment" / "gone")
    assert state_of(repo).read().word is Word.OFFLINE
    away.rename(bare.path)
    assert state_of(repo).read().note == ""


def test_reading_waits_for_nobody_for_long(repo: Repo, bare: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    assert bare.path.exists()
    state = state_of(repo)
    put(state, "1", {})
    monkeypatch.setattr("muniment.state.shared.READ_WAIT_SECONDS", 0)
    with state_of(repo).branch.store.lock():
        answer = state.read()
    assert answer.word is Word.OK
    assert "last seen" in answer.note


def test_a_broken_branch_is_corrupt_and_stays_untouched(repo: Repo, bare: Repo) -> None:
    for name, data in (("state.yml", "- a\n"), ("items/0a/inbox%3a1.yml", "x: [\n")):
        repo.git("checkout", "-q", "--orphan", f"made-{name[0]}")
        repo.git("rm", "-rqf", "--cached", ".")
        repo.write("state.yml", "schema_version: 1\n")
        repo.write(name, data)
        repo.commit("Break", "state.yml", name)
        repo.git("push", "-qf", "origin", f"HEAD:refs/heads/{BRANCH}")
        assert state_of(repo).read().word is Word.CORRUPT
    assert bare.git("rev-list", "--count", BRANCH) == "1"


def test_what_may_not_leave_is_refused_by_a_word(repo: Repo, bare: Repo) -> None:
    state = state_of(repo)
    put(state, "1", {})
    tip = bare.git("rev-parse", BRANCH)
    answer = put(state, "2", {"title": "Call +49 151 2345 6789"})
    assert answer.word is Word.ERROR
    assert "2345" not in answer.note
    assert "Nothing was written." in answer.note
    assert bare.git("rev-parse", BRANCH) == tip


def test_other_files_of_the_branch_stay(repo: Repo, bare: Repo) -> None:
    repo.git("checkout", "-q", "--orphan", "made")
    repo.git("rm", "-rqf", "--cached", ".")
    repo.write("state.yml", "# ours\nschema_version: 2\nextra: [1]\n")
    repo.write("run.sh", "#!/bin/sh\n").chmod(0o755)
    repo.write("items/NOTES.md", "by hand\n")
    repo.commit("Begin", "state.yml", "run.sh", "items/NOTES.md")
    repo.git("push", "-q", "origin", f"HEAD:refs/heads/{BRANCH}")
    state = state_of(repo)
    assert put(state, "1", {}).word is Word.OK
    assert state.compact("w", "now").word is Word.OK
    listed = bare.git("ls-tree", "-r", BRANCH).splitlines()
    assert [line.split()[0] for line in listed if line.endswith("run.sh")] == ["100755"]
    assert bare.git("show", f"{BRANCH}:state.yml") == "# ours\nschema_version: 2\nextra: [1]"
    assert len(listed) == 4
    assert bare.git("rev-list", "--count", BRANCH) == "1"


def test_a_torn_store_is_made_anew(repo: Repo, bare: Repo) -> None:
    assert bare.path.exists()
    state = state_of(repo)
    put(state, "1", {})
    for one in (state.branch.store.folder / "objects").glob("??/*"):
        one.chmod(0o644)
        one.write_bytes(one.read_bytes()[:5])
    assert list(state_of(repo).read().value["items"]) == ["inbox:1"]


def test_a_hidden_source_of_the_settings_stores_no_text(repo: Repo, bare: Repo) -> None:
    repo.write(".muniment/config.yaml", "feedback_sources:\n  - {id: inbox, kind: inbox, sensitive: true}\n")
    state = state_of(repo)
    answer = put(state, "1", {"title": "T", "body": "hush"})
    assert answer.word is Word.OK, answer.note
    assert "hush" not in bare.git("show", f"{BRANCH}:{path_of('inbox:1')}")


def test_a_declined_push_is_the_guards_to_tell(repo: Repo, bare: Repo) -> None:
    state = state_of(repo)
    hook(bare, "pre-receive", "exit 1")
    branch = state.branch
    with branch.store.lock():
        commit = branch.commit(None, [Edit("", "", {"schema_version": 1}, new=True)], "Begin\n")
        assert branch.door.push(commit, None).outcome is Outcome.POLICY
