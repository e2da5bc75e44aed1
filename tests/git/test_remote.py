"""One branch of one remote, over real transports: what is brought, what lands, and what stays untouched."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from muniment.errors import UsageProblem
from muniment.git.oid import Oid
from muniment.git.push_answer import Outcome
from muniment.git.remote import Fetched, Remote, RemoteTrouble
from muniment.git.repo import Signature
from tests.support.git import by_program, hook, snapshot
from tests.support.repo import Repo
from tests.support.transports import KINDS, free_port, logging_git, served, web

WHO = Signature("Robin Owner", "robin@example.org", 1_764_000_000)
BRANCH = "muniment/state"


def child(remote: Remote, parent: Oid | None, text: str) -> Oid:
    tree = remote.store.edit(parent, {"state.yml": text.encode(), f"items/{text[:2]}/x.yml": text.encode()})
    return remote.store.write_commit(tree, [parent] if parent else [], f"Set {text}\n", WHO, WHO)


@pytest.fixture
def bare(repo: Repo, tmp_path: Path) -> Repo:
    return repo.bare_remote(tmp_path / "bare.git")


def of(repo: Repo, name: str = "origin") -> Remote:
    return Remote(by_program(repo.path), name, BRANCH)


def landed(remote: Remote, parent: Oid | None, text: str) -> Oid:
    commit = child(remote, parent, text)
    result = remote.push(commit, parent)
    assert result.outcome is Outcome.LANDED, result.message
    return commit


@pytest.mark.parametrize("kind", KINDS)
def test_each_transport_carries_looks_fetches_and_pushes(
    kind: str, repo: Repo, bare: Repo, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    with served(kind, bare, repo, log):
        before = snapshot(repo)
        remote = of(repo)
        assert remote.look() is None
        assert remote.fetch(None) == Fetched(None, None)
        first = child(remote, None, "one")
        assert remote.push(first, None).outcome is Outcome.LANDED
        assert remote.push(first, None).outcome is Outcome.LANDED  # the same commit again is harmless
        assert remote.look() == first == bare.git("rev-parse", BRANCH)
        second = child(remote, first, "two")
        assert remote.push(second, None).outcome is Outcome.LOST_RACE
        assert remote.push(second, first).outcome is Outcome.LANDED
        assert remote.push(child(remote, first, "late"), first).outcome is Outcome.LOST_RACE
        assert remote.fetch(first) == Fetched(second, descends=True)
        assert remote.fetch(None) == Fetched(second, None)
        assert snapshot(repo) == before
    bare.git("fsck", "--strict")
    if kind == "http":
        assert "credential get" in log.read_text()
    if kind == "ssh":
        assert log.read_text().count("git-upload-pack") == 5
        assert log.read_text().count("git-receive-pack") == 5


def test_another_clone_sees_what_landed_and_whether_it_descends(
    repo: Repo, bare: Repo, tmp_path: Path
) -> None:
    remote, other = of(repo), of(bare.clone(tmp_path / "other"))
    first = landed(remote, None, "one")
    assert other.fetch(None) == Fetched(first, None)
    second = landed(remote, first, "two")
    third = landed(remote, second, "three")
    assert other.fetch(first) == Fetched(third, descends=True)
    assert other.contains(third, second) is True
    assert other.contains(third, child(other, first, "never")) is False
    assert other.store.file(third, "state.yml") == b"three"
    bare.git("update-ref", f"refs/heads/{BRANCH}", first)
    assert other.fetch(third) == Fetched(first, descends=False)
    assert other.fetch(first) == Fetched(first, descends=True)


def test_history_replaced_by_one_commit_is_no_descendant(repo: Repo, bare: Repo, tmp_path: Path) -> None:
    remote, other = of(repo), of(bare.clone(tmp_path / "other"))
    second = landed(remote, landed(remote, None, "one"), "two")
    other.fetch(None)
    compact = remote.store.write_commit(
        remote.store.commit(second).tree, [], f"Replaces: {second}\n", WHO, WHO
    )
    assert remote.push(compact, second).outcome is Outcome.LANDED
    assert other.fetch(second) == Fetched(compact, descends=False)
    assert remote.contains(compact, second) is False


def test_neither_the_negotiation_nor_the_cuts_grow(repo: Repo, bare: Repo, tmp_path: Path) -> None:
    remote, other = of(repo), of(bare.clone(tmp_path / "other"))
    tip = landed(remote, None, "start")
    known = other.fetch(None).tip
    for number in range(5):
        tip = landed(remote, tip, f"step {number}")
        found = other.fetch(known)
        assert found == Fetched(tip, descends=True)
        known = found.tip
        assert (other.store.folder / "shallow").read_text() == f"{tip}\n"
    assert not list((other.store.folder / "objects" / "pack").iterdir())
    assert other.contains(tip, Oid("0" * 40)) is False


def test_a_lost_cache_is_fetched_again_and_still_tells_descent(repo: Repo, bare: Repo) -> None:
    assert bare.path.exists()
    remote = of(repo)
    first = landed(remote, None, "one")
    second = landed(remote, first, "two")
    shutil.rmtree(remote.store.folder)
    assert remote.fetch(first) == Fetched(second, descends=True)
    torn = next(path for path in (remote.store.folder / "objects").glob("??/*") if path.name in first)
    torn.chmod(0o644)
    torn.write_bytes(b"")
    (remote.store.folder / "shallow").write_text("nonsense\n")
    assert remote.fetch(first) == Fetched(second, descends=True)


PLANTED = (
    "index.lock", "HEAD.lock", "packed-refs.lock", "shallow.lock", "config.lock", "FETCH_HEAD.lock",
    f"refs/remotes/origin/{BRANCH}.lock", f"refs/heads/{BRANCH}.lock",
)  # fmt: skip


def test_locks_left_by_a_killed_git_stop_nothing(repo: Repo, bare: Repo) -> None:
    assert bare.path.exists()
    for name in PLANTED:
        repo.write(f".git/{name}", "")
    remote = of(repo)
    tip = landed(remote, None, "one")
    for name in (
        "shallow.lock", "HEAD.lock", "packed-refs.lock", "refs/muniment/fetched.lock",
        "refs/muniment/tip.lock", "objects/pack/tmp_pack_abc", "config.lock",
    ):  # fmt: skip
        path = remote.store.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"")
    again = of(repo)
    assert again.fetch(None) == Fetched(tip, None)
    landed(again, tip, "two")
    assert all((repo.path / ".git" / name).exists() for name in PLANTED)
    assert not list(remote.store.folder.rglob("*.lock"))


KINDS_OF_CLONE: dict[str, tuple[str, ...]] = {
    "shallow": ("--depth=1",),
    "partial": ("--filter=blob:none",),
    "treeless": ("--filter=tree:0", "--no-checkout"),
    "single": ("--single-branch",),
}


@pytest.mark.parametrize("kind", KINDS_OF_CLONE)
def test_clones_that_lack_history_or_objects(kind: str, repo: Repo, bare: Repo, tmp_path: Path) -> None:
    for number in range(3):
        repo.write("README.md", f"# {number}\n")
        repo.commit(f"Commit {number}")
    repo.git("push", "-q", "origin", "main")
    bare.git("config", "uploadpack.allowFilter", "true")
    made = tmp_path / "clone"
    command = ["git", "clone", "-q", *KINDS_OF_CLONE[kind], bare.path.as_uri(), str(made)]
    subprocess.run(command, check=True, capture_output=True)
    writer, lacking = of(repo), of(Repo(made))
    first = landed(writer, None, "one")
    before = snapshot(Repo(made))
    assert lacking.fetch(None) == Fetched(first, None)
    assert lacking.store.file(first, "items/on/x.yml") == b"one"
    second = landed(lacking, first, "two")
    assert writer.fetch(first) == Fetched(second, descends=True)
    assert snapshot(Repo(made)) == before
    bare.git("fsck", "--strict")
    assert not (bare.path / "shallow").exists()


def test_sha256(tmp_path: Path) -> None:
    repo = Repo.init(tmp_path / "wide", "--object-format=sha256")
    repo.write("README.md", "# Wide\n")
    repo.commit("Start")
    bare = repo.bare_remote(tmp_path / "wide.git")
    remote, other = of(repo), of(bare.clone(tmp_path / "other"))
    first = landed(remote, None, "one")
    assert len(first) == 64
    assert other.fetch(None) == Fetched(first, None)
    second = landed(other, first, "two")
    assert remote.fetch(first) == Fetched(second, descends=True)
    bare.git("fsck", "--strict")


def test_a_linked_worktree_and_a_folder_with_a_colon(repo: Repo, bare: Repo, tmp_path: Path) -> None:
    linked = Repo(tmp_path / "linked")
    repo.git("worktree", "add", "-q", "--detach", str(linked.path))
    remote, main = of(linked), of(repo)
    assert remote.store.folder == main.store.folder
    assert main.fetch(None).tip is None
    first = landed(remote, None, "one")
    assert main.fetch(None).tip == first
    odd = of(bare.clone(tmp_path / 'a: "b;c'))
    assert odd.fetch(None).tip == first
    landed(odd, first, "two")


def test_a_hook_declines_and_nothing_lands(repo: Repo, bare: Repo) -> None:
    remote = of(repo)
    hook(bare, "pre-receive", 'echo "! [rejected] x -> x (stale info)" >&2; exit 1')
    result = remote.push(child(remote, None, "one"), None)
    assert result.outcome is Outcome.POLICY
    assert "pre-receive hook declined" in result.message
    assert remote.look() is None


def test_the_users_pre_push_hook_runs_where_it_expects_to(repo: Repo, bare: Repo, tmp_path: Path) -> None:
    remote = of(repo)
    seen = tmp_path / "seen"
    hook(repo, "pre-push", f'pwd > {seen}; cat >> {seen}; echo "*\tx:refs/heads/{BRANCH}\t[new branch]"')
    first = landed(remote, None, "one")
    lines = seen.read_text().splitlines()
    assert lines == [str(repo.path), f"{first} {first} refs/heads/{BRANCH} {'0' * 40}"]
    hook(repo, "pre-push", "echo no >&2; exit 1")
    assert remote.push(child(remote, first, "two"), first).outcome is Outcome.POLICY
    assert bare.git("rev-parse", BRANCH) == first


def test_a_lock_left_on_the_server_is_told_from_a_race(repo: Repo, bare: Repo) -> None:
    remote = of(repo)
    first = landed(remote, None, "one")
    second = child(remote, first, "two")
    lock = bare.path / "refs" / "heads" / f"{BRANCH}.lock"
    lock.write_bytes(b"")
    assert remote.push(second, first).outcome is Outcome.SERVER_LOCK
    lock.unlink()
    assert remote.push(second, first).outcome is Outcome.LANDED


def test_an_answer_that_got_lost_is_unknown(repo: Repo, bare: Repo) -> None:
    remote = of(repo)
    kill = '[ "$1" = committed ] && grep -q refs/heads/ && kill -9 $PPID; exit 0'
    hook(bare, "reference-transaction", kill)
    first = child(remote, None, "one")
    assert remote.push(first, None).outcome is Outcome.UNKNOWN
    assert remote.look() == first


@pytest.mark.parametrize(
    ("settings", "want"),
    [
        ({"receive.denyCurrentBranch": "refuse", "core.bare": "false"}, Outcome.POLICY),
        ({"receive.maxInputSize": "10"}, Outcome.POLICY),
        ({"receive.hideRefs": "refs/heads/muniment"}, Outcome.POLICY),
    ],
)
def test_a_server_that_refuses(
    settings: dict[str, str], want: Outcome, repo: Repo, bare: Repo, tmp_path: Path
) -> None:
    remote = of(repo)
    for key, value in settings.items():
        bare.git("config", key, value)
    if "core.bare" in settings:
        bare.git("symbolic-ref", "HEAD", f"refs/heads/{BRANCH}")
        bare.git("config", "core.worktree", str(tmp_path))
    assert remote.push(child(remote, None, "one"), None).outcome is want


def test_a_rewind_that_the_server_denies(repo: Repo, bare: Repo) -> None:
    remote = of(repo)
    first = landed(remote, None, "one")
    bare.git("config", "receive.denyNonFastForwards", "true")
    assert remote.push(child(remote, None, "two"), first).outcome is Outcome.POLICY


def test_an_absent_remote_is_told(repo: Repo, bare: Repo) -> None:
    remote = of(repo)
    commit = child(remote, None, "one")
    bare.path.rename(bare.path.with_name("away.git"))
    assert remote.push(commit, None).outcome is Outcome.OFFLINE
    for call in (remote.look, lambda: remote.fetch(None)):
        with pytest.raises(RemoteTrouble) as caught:
            call()
        assert caught.value.outcome is Outcome.OFFLINE
        assert "origin" in caught.value.message
    with pytest.raises(UsageProblem):
        of(repo, "nowhere")
    with pytest.raises(UsageProblem):
        Remote(by_program(repo.path), "origin", "--mirror")


@pytest.mark.parametrize("language", ["de", "fr", "zh_CN"])
def test_whatever_language_the_user_speaks(
    language: str, repo: Repo, bare: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LANGUAGE", language)
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    remote = of(repo)
    assert remote.fetch(None) == Fetched(None, None)
    hook(repo, "pre-push", "exit 1")
    assert remote.push(child(remote, None, "one"), None).outcome is Outcome.POLICY
    hook(repo, "pre-push", 'echo "LC_CTYPE=$LC_CTYPE" >&2')
    assert "LC_CTYPE=C.UTF-8" in remote.push(child(remote, None, "one"), None).message
    assert bare.git("rev-parse", BRANCH)


@pytest.mark.parametrize("scheme", ["git", "http", "ssh"])
def test_a_server_that_is_down(scheme: str, repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    repo.git("remote", "add", "origin", f"{scheme}://127.0.0.1:{free_port()}/x.git")
    monkeypatch.setenv("LANGUAGE", "de")
    remote = of(repo)
    assert remote.push(child(remote, None, "one"), None).outcome is Outcome.OFFLINE
    with pytest.raises(RemoteTrouble) as caught:
        remote.look()
    assert caught.value.outcome is Outcome.OFFLINE


def test_a_password_that_nobody_knows_or_that_is_wrong(repo: Repo, bare: Repo, tmp_path: Path) -> None:
    with web(bare) as url:
        repo.git("config", "remote.origin.url", url)
        remote = of(repo)
        with pytest.raises(RemoteTrouble) as caught:
            remote.fetch(None)
        assert caught.value.outcome is Outcome.PERMISSION
        assert remote.push(child(remote, None, "one"), None).outcome is Outcome.PERMISSION
    with web(bare, password="other") as url, served("path", bare, repo, tmp_path / "log"):  # noqa: S106 - a made-up one
        repo.git("config", "remote.origin.url", url.replace("//", "//robin:sesame@"))
        assert of(repo).push(child(of(repo), None, "one"), None).outcome is Outcome.PERMISSION


def test_urls_are_rewritten_as_git_does(repo: Repo, bare: Repo, tmp_path: Path) -> None:
    moved = repo.clone(tmp_path / "moved.git", "--bare")
    repo.git("config", "remote.origin.url", "team:project")
    repo.git("config", f"url.{bare.path}.insteadOf", "team:project")
    first = landed(of(repo), None, "one")
    assert of(repo).fetch(None).tip == first == bare.git("rev-parse", BRANCH)
    repo.git("config", f"url.{moved.path}.pushInsteadOf", "team:project")
    landed(of(repo), None, "two")
    assert moved.git("rev-parse", BRANCH) != first == of(repo).fetch(None).tip
    repo.git("config", "remote.origin.pushurl", str(bare.path))
    landed(of(repo), first, "three")


def test_settings_of_the_users_global_file_count_once(
    repo: Repo, bare: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A header given twice is refused by some servers; a helper asked twice may ask its user twice."""
    log = tmp_path / "log"
    with served("http", bare, repo, log) as url:
        helper = repo.git("config", f"credential.{url}.helper")
        repo.git("config", "--unset", f"credential.{url}.helper")
        subprocess.run(["git", "config", "--global", "credential.helper", helper], check=True)
        subprocess.run(["git", "config", "--global", f"http.{url}.extraHeader", "X-Once: 1"], check=True)
        trace = tmp_path / "trace"
        monkeypatch.setenv("GIT_TRACE_CURL", str(trace))
        remote = of(repo)
        remote._user_side.environ["GIT_TRACE_CURL"] = str(trace)
        remote.fetch(None)
        said = trace.read_text()
        requests = said.count("Send header: GET ") + said.count("Send header: POST ")
        assert said.count("Send header: X-Once: 1") == requests > 0
        assert log.read_text().count("credential get") == 1


def test_the_users_settings_break_nothing(repo: Repo, bare: Repo) -> None:
    assert bare.path.exists()
    for key, value in {
        "push.recurseSubmodules": "only", "push.followTags": "true", "push.useForceIfIncludes": "true",
        "push.negotiate": "true", "fetch.prune": "true", "fetch.writeCommitGraph": "true",
        "fetch.recurseSubmodules": "true", "protocol.version": "0", "remote.origin.mirror": "true",
        "remote.origin.promisor": "true", "remote.origin.partialclonefilter": "blob:none",
        "core.autocrlf": "true", "submodule.recurse": "true", "remote.origin.tagOpt": "--tags",
        "remote.origin.prune": "true", "core.bare": "false", "transfer.unpackLimit": "1",
    }.items():  # fmt: skip
        repo.git("config", key, value)
    repo.git("tag", "-a", "v1", "-m", "one")
    remote = of(repo)
    first = landed(remote, None, "one")
    second = landed(remote, first, "two\n")
    shutil.rmtree(remote.store.folder)
    assert remote.fetch(second) == Fetched(second, descends=True)
    assert remote.store.file(second, "state.yml") == b"two\n"
    assert bare.git("tag") == ""


def test_an_address_serves_as_a_remote(repo: Repo, bare: Repo) -> None:
    remote = of(repo, str(bare.path))
    first = landed(remote, None, "one")
    assert remote.look() == remote.fetch(None).tip == first


def test_an_acquire_takes_three_git_processes(
    repo: Repo, bare: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert bare.path.exists()
    tip = landed(of(repo), None, "one")
    log = tmp_path / "log"
    monkeypatch.setenv("PATH", logging_git(tmp_path / "bin", log) + os.pathsep + os.environ["PATH"])
    remote = of(repo)  # the repository's settings, then a fetch, then a push
    found = remote.fetch(tip).tip
    landed(remote, found, "two")
    assert len(log.read_text().splitlines()) == 3, log.read_text()


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="open files are listed on Linux only")
def test_gits_children_hold_the_store_too(repo: Repo, bare: Repo, tmp_path: Path) -> None:
    """So that an orphan still counts: its lock files are nobody's to remove."""
    log = tmp_path / "log"
    with served("ssh", bare, repo, log):
        script = tmp_path / "ssh"
        script.write_text(script.read_text().replace("\n", f"\nls -l /proc/$$/fd >> {log}\n", 1))
        remote = of(repo)
        remote.fetch(None)
        assert f"{remote.store.folder}/lock" in log.read_text()


def test_a_git_that_takes_too_long_is_ended(repo: Repo, bare: Repo, tmp_path: Path) -> None:
    remote = of(repo)
    started = tmp_path / "started"
    hook(repo, "pre-push", f"echo $$ > {started}; exec sleep 600")
    commit = child(remote, None, "one")
    remote.seconds = 0.5
    try:
        assert remote.push(commit, None).outcome is Outcome.UNKNOWN
    finally:
        os.kill(int(started.read_text()), 9)
    assert bare.git("for-each-ref", f"refs/heads/{BRANCH}") == ""
