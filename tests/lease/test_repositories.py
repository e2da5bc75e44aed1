"""One whole session in every kind of repository, and over every transport: nothing of the user's changes."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.cli import muniment
from tests.support.git import snapshot
from tests.support.repo import Repo
from tests.support.transports import KINDS, served

BRANCH = "muniment/state"


def word(repo: Repo, *arguments: str) -> str:
    """The first word that a command on the shared branch says."""
    done = muniment(*arguments[:2], "--branch", BRANCH, *arguments[2:], cwd=repo.path)
    return f"{done.out.split()[0]} {done.err}" if done.code else done.out.split()[0]


def session(repo: Repo) -> list[str]:
    """Everything that a session does, and what each step says."""
    put = ("state", "upsert-item", "--writer", "ann", "--source", "inbox", "--json", '{"status": "ingested"}')
    return [
        word(repo, "lease", "acquire", "--writer", "ann"),
        word(repo, *put, "--id", "1"),
        word(repo, "lease", "renew"),
        word(repo, "state", "compact", "--writer", "ann"),
        word(repo, *put, "--id", "2"),
        word(repo, "lease", "release"),
        word(repo, "lease", "status"),
    ]


DONE = ["OK"] * 6 + ["FREE"]


@pytest.fixture
def bare(repo: Repo, tmp_path: Path) -> Repo:
    repo.write("docs/notes.txt", "one\r\ntwo\r\n")
    repo.write("docs/more.txt", "three\n")
    repo.commit("Notes")
    return repo.bare_remote(tmp_path / "bare.git")


def shallow(bare: Repo, path: Path) -> Repo:
    return _cloned(bare, path, "--depth=1")


def partial(bare: Repo, path: Path) -> Repo:
    bare.git("config", "uploadpack.allowFilter", "true")
    return _cloned(bare, path, "--filter=blob:none")


def _cloned(bare: Repo, path: Path, *options: str) -> Repo:
    subprocess.run(
        ["git", "clone", "-q", *options, bare.path.as_uri(), str(path)], check=True, capture_output=True
    )
    return Repo(path)


def worktree(bare: Repo, path: Path) -> Repo:
    clone = bare.clone(path.with_name("main"))
    clone.git("worktree", "add", "-q", "--detach", str(path))
    return Repo(path)


def submodule(bare: Repo, path: Path) -> Repo:
    above = Repo.init(path)
    above.git("submodule", "--quiet", "add", str(bare.path), "sub")
    above.commit("With a submodule")
    return Repo(path / "sub")


def autocrlf(bare: Repo, path: Path) -> Repo:
    return _set(bare.clone(path), {"core.autocrlf": "true", "core.safecrlf": "false"})


def renaming(bare: Repo, path: Path) -> Repo:
    """Settings of the user's that bend what a push, a fetch or a commit does."""
    clone = bare.clone(path)
    return _set(
        clone,
        {
            "push.default": "matching", "push.followTags": "true", "push.gpgSign": "false",
            "push.useForceIfIncludes": "true", "remote.origin.push": "refs/heads/*:refs/heads/elsewhere/*",
            "remote.origin.mirror": "false", "fetch.prune": "true", "fetch.writeCommitGraph": "true",
            "transfer.hideRefs": "refs/heads/hidden", "i18n.commitEncoding": "latin1",
            "core.quotePath": "false", "core.abbrev": "4", "color.ui": "always", "gc.auto": "1",
            "core.logAllRefUpdates": "always",
        },
    )  # fmt: skip


def signed(bare: Repo, path: Path) -> Repo:
    key = path.with_name("key")
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key)], check=True)
    return _set(
        bare.clone(path), {"gpg.format": "ssh", "user.signingKey": f"{key}.pub", "commit.gpgSign": "true"}
    )


def detached(bare: Repo, path: Path) -> Repo:
    clone = bare.clone(path)
    clone.git("checkout", "-q", "--detach")
    return clone


def unborn(bare: Repo, path: Path) -> Repo:
    clone = Repo.init(path)
    clone.git("remote", "add", "origin", str(bare.path))
    return clone


def merging(bare: Repo, path: Path) -> Repo:
    clone = bare.clone(path)
    clone.git("checkout", "-q", "-b", "side")
    clone.write("docs/more.txt", "mine\n")
    clone.commit("Mine")
    clone.git("checkout", "-q", "main")
    clone.write("docs/more.txt", "theirs\n")
    clone.commit("Theirs")
    clone.git("merge", "-q", "side", check=False)
    assert (clone.path / ".git" / "MERGE_HEAD").exists()
    return clone


def on_the_branch(bare: Repo, path: Path) -> Repo:
    """The state branch itself is checked out, with a file of its own not yet committed."""
    first = bare.clone(path.with_name("first"))
    assert session(first) == DONE
    clone = _cloned(bare, path)  # by URL: a clone by path shares its files with the server's
    clone.git("checkout", "-q", BRANCH)
    clone.write("note.txt", "mine\n")
    clone.git("add", "note.txt")
    return clone


def _set(clone: Repo, settings: dict[str, str]) -> Repo:
    for name, value in settings.items():
        clone.git("config", name, value)
    return clone


@pytest.mark.parametrize(
    "kind",
    [
        shallow, partial, worktree, submodule, autocrlf, renaming, signed, detached, unborn, merging,
        on_the_branch,
    ],
    ids=lambda kind: kind.__name__,
)  # fmt: skip
def test_a_session(kind: Callable[[Repo, Path], Repo], bare: Repo, tmp_path: Path) -> None:
    repo = kind(bare, tmp_path / "clone")
    main, before = bare.git("rev-parse", "main"), snapshot(repo)
    assert session(repo) == DONE
    assert snapshot(repo) == before
    assert bare.git("rev-parse", "main") == main
    assert bare.git("for-each-ref", "--format=%(refname)").split() == [
        "refs/heads/main",
        f"refs/heads/{BRANCH}",
    ]
    bare.git("fsck", "--strict")
    assert ("gpgsig " in bare.git("cat-file", "commit", BRANCH)) == (kind is signed)
    assert session(bare.clone(tmp_path / "later")) == DONE, "and the next clone's turn"


def test_a_session_in_sha256(tmp_path: Path) -> None:
    repo = Repo.init(tmp_path / "wide", "--object-format=sha256")
    repo.write("README.md", "# Wide\n")
    repo.commit("Start")
    bare = repo.bare_remote(tmp_path / "wide.git")
    before = snapshot(repo)
    assert session(repo) == DONE
    assert snapshot(repo) == before
    assert len(bare.git("rev-parse", BRANCH)) == 64
    bare.git("fsck", "--strict")


@pytest.mark.parametrize("kind", KINDS)
def test_a_session_over_each_transport(kind: str, repo: Repo, bare: Repo, tmp_path: Path) -> None:
    with served(kind, bare, repo, tmp_path / "log"):
        before = snapshot(repo)
        assert session(repo) == DONE
        assert snapshot(repo) == before
