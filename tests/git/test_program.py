"""Opening a repository: what is refused and why, and what git's own variables must not change (G16)."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from muniment.errors import MunimentError, Unavailable, UsageProblem
from muniment.git.libgit import PATIENCE, LibgitRepository
from muniment.git.open import open_repository
from muniment.git.process import Git, clean_environment
from muniment.git.program import discover
from muniment.git.repo import MissingObject, Oid
from muniment.git.settings import Settings
from tests.support.git import hook
from tests.support.repo import Repo


def code(directory: Path, environ: dict[str, str] | None = None) -> str:
    with pytest.raises(UsageProblem) as raised:
        discover(directory, {**os.environ, **(environ or {})})
    assert raised.value.exit_code == 2
    return raised.value.code


def test_discover__from_any_folder_of_the_working_tree(repo: Repo) -> None:
    repo.write("a/b/c.md", "x\n")
    assert discover(repo.path / "a" / "b", os.environ).root == repo.path


def test_discover__refuses_what_has_no_working_tree(repo: Repo, tmp_path: Path) -> None:
    bare = repo.bare_remote(tmp_path / "bare.git")
    (tmp_path / "plain").mkdir()
    assert code(bare.path) == "bare-repository"
    assert code(repo.path / ".git") == "inside-git-folder"
    assert code(tmp_path / "plain") == "no-repository"
    assert code(tmp_path / "absent") == "no-folder"
    assert code(repo.path / "README.md") == "no-folder"


def test_discover__another_owner_names_the_setting(repo: Repo, tmp_path: Path) -> None:
    wrapper = tmp_path / "bin" / "git"
    wrapper.parent.mkdir()
    real = shutil.which("git")
    wrapper.write_text(f'#!/bin/sh\nGIT_TEST_ASSUME_DIFFERENT_OWNER=1 exec {real} "$@"\n')
    wrapper.chmod(0o755)
    assert code(repo.path, {"PATH": f"{wrapper.parent}:{os.environ['PATH']}"}) == "unsafe-repository"


def test_discover__a_folder_with_a_line_break(tmp_path: Path) -> None:
    made = Repo.init(tmp_path / "two\nlines")
    made.commit("Start")
    found = discover(made.path, os.environ)
    assert (found.root, found.git_dir) == (made.path, made.path / ".git")
    assert found.resolve("HEAD") == made.head()


def test_discover__an_unknown_format_is_told(repo: Repo) -> None:
    repo.git("config", "core.repositoryFormatVersion", "99")
    with pytest.raises(UsageProblem, match="can't open"):
        discover(repo.path, os.environ)


def test_discover__foreign_git_variables_change_nothing(repo: Repo, tmp_path: Path) -> None:
    other = Repo.init(tmp_path / "other")
    other.commit("Other")
    hostile = {
        "GIT_DIR": str(other.path / ".git"),
        "GIT_WORK_TREE": str(other.path),
        "GIT_INDEX_FILE": str(other.path / ".git" / "index"),
        "GIT_OBJECT_DIRECTORY": str(other.path / ".git" / "objects"),
        "GIT_NAMESPACE": "x",
        "GIT_PREFIX": "y/",
        "GIT_CEILING_DIRECTORIES": "",
    }
    found = discover(repo.path, {**os.environ, **hostile})
    assert found.root == repo.path
    assert found.resolve("HEAD") == repo.head()
    assert set(found.index_entries()) == {"README.md"}


def test_environment__keeps_identity_connection_and_settings_only() -> None:
    given = {
        "PATH": "p",
        "GIT_DIR": "x",
        "GIT_CONFIG_PARAMETERS": "x",
        "GIT_AUTHOR_NAME": "a",
        "GIT_SSH_COMMAND": "s",
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "k",
        "GIT_QUARANTINE_PATH": "q",
    }
    assert set(clean_environment(given)) == set(given) - {
        "GIT_DIR",
        "GIT_CONFIG_PARAMETERS",
        "GIT_QUARANTINE_PATH",
    }


def test_no_git_program__is_unavailable(repo: Repo) -> None:
    with pytest.raises(Unavailable, match="could not be started") as raised:
        Git(repo.path, {"PATH": "/nowhere"}).run("version")
    assert raised.value.code == "no-git"


SCRIPT = """
import os, sys
from pathlib import Path
from muniment.git.open import open_repository
repo = open_repository(Path("."), os.environ)
staged = ",".join(sorted(f"{one.status}:{one.path}" for one in repo.staged()))
index = ",".join(sorted(repo.index_entries()))
Path(os.environ["REPORT"]).write_text(f"{repo.root}|{staged}|{index}")
"""


@pytest.fixture(params=[False, True], ids=["main worktree", "linked worktree"])
def place(request: pytest.FixtureRequest, repo: Repo, tmp_path: Path) -> Repo:
    for name in ("one.md", "two.md"):
        repo.write(name, "old\n")
    repo.commit("Two files")
    if not request.param:
        return repo
    repo.git("worktree", "add", "-q", "-b", "side", str(tmp_path / "side"))
    return Repo(tmp_path / "side")


@pytest.mark.parametrize(
    ("command", "staged"),
    [
        (("commit", "-q", "-m", "x"), "M:one.md"),
        (("commit", "-q", "-a", "-m", "x"), "M:one.md,M:two.md"),
        (("commit", "-q", "-m", "x", "two.md"), "M:two.md"),
    ],
    ids=["commit", "commit -a", "commit PATH"],
)
def test_hook__sees_the_tree_that_is_being_committed(
    place: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...], staged: str
) -> None:
    (tmp_path / "script.py").write_text(SCRIPT)
    monkeypatch.setenv("REPORT", str(tmp_path / "report"))
    hook(place, "pre-commit", f"exec {sys.executable} {tmp_path / 'script.py'}")
    place.write("one.md", "new\n")
    place.git("add", "one.md")
    place.write("two.md", "new\n")
    place.git(*command)
    root, seen, index = (tmp_path / "report").read_text().split("|")
    assert Path(root) == place.path
    assert seen == staged
    assert index == "README.md,one.md,two.md"


def test_hook__an_index_of_another_repository_is_not_taken(repo: Repo, tmp_path: Path) -> None:
    other = Repo.init(tmp_path / "other")
    other.write("x", "x\n")
    other.commit("Other")
    (other.path / ".git" / "next-index-1.lock").write_bytes((other.path / ".git" / "index").read_bytes())
    environ = {**os.environ, "GIT_INDEX_FILE": str(other.path / ".git" / "next-index-1.lock")}
    assert set(discover(repo.path, environ).index_entries()) == {"README.md"}


def test_damaged_object__is_missing_and_the_next_one_still_read(repo: Repo) -> None:
    oid = Oid(repo.git("rev-parse", "HEAD:README.md"))
    file = repo.path / ".git" / "objects" / oid[:2] / oid[2:]
    file.chmod(0o600)
    file.write_bytes(file.read_bytes()[:10])
    found = discover(repo.path, os.environ)
    with pytest.raises(MissingObject):
        found.blob(oid)
    assert found.commit(Oid(repo.head())).subject == "Start"
    assert [one is None for _, one in found._reader.get_many([oid, Oid(repo.head()), oid])] == [
        True,
        False,
        True,
    ]


def test_reader__many_large_blobs_keep_their_order(repo: Repo) -> None:
    found = discover(repo.path, os.environ)
    data = [bytes([65 + number % 20]) * 40_000 + str(number).encode() for number in range(250)]
    oids = [found.write_blob(one) for one in data[:20]] * 12
    assert [one for _, one in found.blobs(oids)] == data[:20] * 12


def test_libgit__is_imported_only_after_many_questions(repo: Repo) -> None:
    script = (
        "import os, sys\nfrom pathlib import Path\nfrom muniment.git.open import open_repository\n"
        f"repo = open_repository(Path({str(repo.path)!r}), os.environ)\nhead = repo.head().commit\n"
        f"for _ in range({PATIENCE}): repo.diff_paths(None, head)\nassert 'pygit2' not in sys.modules\n"
        "repo.diff_paths(None, head)\nassert 'pygit2' in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


def test_libgit__what_it_cannot_open_stays_with_the_program(repo: Repo) -> None:
    repo.git("config", "core.repositoryFormatVersion", "1")
    found = LibgitRepository(Git(repo.path, os.environ), discover(repo.path, os.environ).place, patience=0)
    repo.git("config", "extensions.objectFormat", "sha1")
    repo.git("config", "extensions.preciousObjects", "true")
    assert found.is_ancestor(Oid(repo.head()), Oid(repo.head())) is True


def test_open_repository__gives_the_mixed_one(repo: Repo) -> None:
    assert isinstance(open_repository(repo.path, os.environ), LibgitRepository)


def test_settings__flags_and_remotes() -> None:
    listing = b"core.bare\0core.x\nno\0remote.a.b.url\nu\0remote.pushdefault\nq\0remote.a.b.promisor\nYES\0"
    found = Settings.parse(listing)
    assert found.get("core.bare") == "true"
    assert found.flag("core.bare")
    assert not found.flag("core.x")
    assert not found.flag("core.absent")
    assert found.remotes == ("a.b",)
    assert found.is_partial


def test_errors__never_carry_control_characters(repo: Repo) -> None:
    with pytest.raises(MunimentError) as raised:
        discover(repo.path, os.environ).git.out("rev-parse", "--verify", "x\x1b[31m\x07y")
    assert "\x1b" not in raised.value.message
    assert "\x07" not in raised.value.message
