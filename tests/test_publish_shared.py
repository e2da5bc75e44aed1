"""Commits on a shared branch: gated whole, by the right person, signed only if asked."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from muniment.errors import UsageProblem
from muniment.git.oid import Oid
from muniment.git.push_answer import Outcome
from muniment.git.remote import Remote
from muniment.publish_shared import SharedDoor
from muniment.redact.gate import GateRefused
from muniment.workspace import open_workspace
from tests.support.git import snapshot
from tests.support.repo import Repo
from tests.support.transports import logging_git

PHONE = "+49 151 2345 6789"
MAIL = "kim@customer.example.net"


@pytest.fixture
def bare(repo: Repo, tmp_path: Path) -> Repo:
    return repo.bare_remote(tmp_path / "bare.git")


def door(repo: Repo, branch: str = "muniment/state") -> SharedDoor:
    environ = {**os.environ, "MUNIMENT_NOW": "2026-12-01T08:00:00Z"}
    ws = open_workspace(repo.path, environ)
    made = SharedDoor(ws, Remote(ws.repo, "origin", branch))
    with made.remote.store.lock():
        return made


def test_a_commit_is_made_beside_everything_of_the_users(repo: Repo, bare: Repo) -> None:
    before = snapshot(repo)
    made = door(repo)
    first = made.commit(None, {"state.yml": b"schema_version: 1\n"}, "Begin\n")
    second = made.commit(first, {"items/0a/x.yml": b"id: x\n"}, "Add x\n")
    assert made.push(second, None).outcome is Outcome.LANDED
    assert snapshot(repo) == before
    shown = bare.git("log", "--format=%an <%ae> %cn %at %s", "muniment/state").splitlines()
    assert shown == [
        "Robin Owner <robin@example.org> Robin Owner 1796112000 Add x",
        "Robin Owner <robin@example.org> Robin Owner 1796112000 Begin",
    ]
    assert bare.git("ls-tree", "-r", "--name-only", "muniment/state").splitlines() == [
        "items/0a/x.yml",
        "state.yml",
    ]
    bare.git("fsck", "--strict")
    assert made.ws.now() == datetime(2026, 12, 1, 8, tzinfo=UTC)


def test_history_is_replaced_by_one_commit(repo: Repo, bare: Repo) -> None:
    assert bare.path.exists()
    made = door(repo)
    first = made.commit(None, {"state.yml": b"a: 1\n", "kept": b"k\n"}, "Begin\n")
    compact = made.commit(first, {"state.yml": b"a: 2\n"}, f"Compact\n\nReplaces: {first}\n", replaces=True)
    assert made.remote.store.commit(compact).parents == ()
    assert made.remote.store.file(compact, "kept") == b"k\n"


@pytest.mark.parametrize(
    ("path", "data", "message"),
    [
        ("state.yml", f"writer: {MAIL}\n", "Stamp\n"),
        ("state.yml", f"note: call {PHONE}\n", "Stamp\n"),
        ("state.yml", "a: 1\n", f"Stamp for {MAIL}\n"),
        (f"items/0a/{MAIL}.yml", "a: 1\n", "Add\n"),
        ("items/0a/chat%3a491512345678%40s.whatsapp.net.yml", "a: 1\n", "Add\n"),
    ],
)
def test_an_identifier_leaves_nowhere(repo: Repo, bare: Repo, path: str, data: str, message: str) -> None:
    assert bare.path.exists()
    made = door(repo)
    with pytest.raises(GateRefused):
        made.commit(None, {path: data.encode()}, message)
    assert not list((made.remote.store.folder / "objects").glob("??/*"))
    with pytest.raises(GateRefused):
        door(repo, f"for-{MAIL}").commit(None, {"state.yml": b"a: 1\n"}, "Begin\n")


def test_only_what_is_added_is_judged(repo: Repo, bare: Repo) -> None:
    assert bare.path.exists()
    made = door(repo)
    store = made.remote.store
    who = made._signature("author", made.ws.now())
    tree = store.edit(None, {"state.yml": f"old: {MAIL}\n".encode()})
    base = store.write_commit(tree, [], "By an older hand\n", who, who)
    kept = made.commit(base, {"state.yml": f"old: {MAIL}\nnew: 1\n".encode()}, "Stamp\n")
    assert store.file(kept, "state.yml") == f"old: {MAIL}\nnew: 1\n".encode()
    with pytest.raises(GateRefused):
        made.commit(base, {"state.yml": f"old: {MAIL}\nnew: {MAIL[1:]}\n".encode()}, "Stamp\n")


def test_what_the_upstream_branch_allows_may_stand(repo: Repo, bare: Repo) -> None:
    assert bare.path.exists()
    change = {"state.yml": f"writer: {MAIL}\n".encode()}
    repo.write(".muniment/allow.txt", f"{MAIL}\n")
    repo.commit("Allow an address")
    with pytest.raises(GateRefused):
        door(repo).commit(None, change, "Begin\n")
    repo.git("push", "-q", "origin", "main")
    assert isinstance(door(repo).commit(None, change, "Begin\n"), Oid)


def test_names_that_the_settings_list_are_refused(repo: Repo, bare: Repo, tmp_path: Path) -> None:
    assert bare.path.exists()
    (tmp_path / "names.txt").write_text("Kim Customer\n")
    bot = f"{{name: b, from: /x, known_names: {tmp_path}/names.txt}}"
    repo.write(".muniment/config.local.yaml", f"bots: [{bot}]\n")
    with pytest.raises(GateRefused):
        door(repo).commit(None, {"state.yml": b"title: Kim Customer asks\n"}, "Begin\n")


def test_who_commits_is_who_git_says(repo: Repo, bare: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    assert bare.path.exists()
    monkeypatch.setenv("GIT_AUTHOR_NAME", "Al <Author>\n")
    repo.git("config", "committer.name", "Committing Machine")
    made = door(repo)
    commit = made.remote.store.commit(made.commit(None, {"a": b""}, "Begin\n"))
    assert (commit.author.name, commit.committer.name) == ("Al Author", "Committing Machine")
    monkeypatch.delenv("GIT_AUTHOR_NAME")
    for key in ("user.name", "user.email", "committer.name"):
        repo.git("config", key, "")
    repo.git("config", "user.useConfigOnly", "true")
    with pytest.raises(UsageProblem):
        door(repo).commit(None, {"a": b""}, "Begin\n")


def test_it_is_signed_only_if_configured(repo: Repo, bare: Repo, tmp_path: Path) -> None:
    program = tmp_path / "sign"
    program.write_text(
        "#!/bin/sh\ncat > /dev/null\nprintf '\\n[GNUPG:] SIG_CREATED \\n' >&2\n"
        "printf -- '-----BEGIN PGP SIGNATURE-----\\n\\nx\\n-----END PGP SIGNATURE-----\\n'\n"
    )
    program.chmod(0o755)
    repo.git("config", "gpg.program", str(program))
    repo.git("config", "user.signingKey", "key")
    plain = door(repo).commit(None, {"a": b""}, "Begin\n")
    repo.git("config", "commit.gpgSign", "true")
    before = snapshot(repo)
    made = door(repo)
    signed = made.commit(plain, {"a": b"1\n"}, "Sign\n")
    assert b"gpgsig" not in made.remote.store.get(plain)[1]
    assert b"gpgsig -----BEGIN PGP SIGNATURE-----" in made.remote.store.get(signed)[1]
    assert made.push(signed, None).outcome is Outcome.LANDED
    assert made.remote.store.commit(signed).committer.when == 1_796_112_000
    assert snapshot(repo) == before
    bare.git("cat-file", "-e", signed)


def test_a_commit_costs_no_git_process(
    repo: Repo, bare: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert bare.path.exists()
    log = tmp_path / "log"
    monkeypatch.setenv("PATH", logging_git(tmp_path / "bin", log) + os.pathsep + os.environ["PATH"])
    made = door(repo)
    log.write_text("")
    made.commit(None, {"state.yml": b"writer: sweep-7\n"}, "Begin\n")
    assert log.read_text() == ""
