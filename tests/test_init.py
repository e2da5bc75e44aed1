"""`init`: any branch state, nothing of a person's written over, the same bytes the second time (G2, G16)."""

from __future__ import annotations

import shlex
import stat
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from muniment import project
from muniment.config import Config
from muniment.config_schema import KEYS
from muniment.errors import Refused, UsageProblem
from muniment.workspace import open_workspace
from tests.support.cli import muniment
from tests.support.repo import Repo

FILES = [".gitattributes", ".gitignore", ".muniment/allow.txt", ".muniment/config.yaml"]
BLOCK = (
    b"# muniment:start (kept by `muniment init`; change the paths in .muniment/config.yaml instead)\n"
    b"/docs/reviews/ledger.json text eol=lf\n"
    b"/docs/reviews/ledger/*.json text eol=lf\n"
    b"/docs/feedback-sweep/state.yml text eol=lf\n"
    b"ledger.json merge=muniment-ledger diff=muniment-ledger\n"
    b"**/ledger/????????????????.json merge=muniment-ledger diff=muniment-ledger\n"
    b"state.yml merge=muniment-state\n"
    b"feedback-sweep-plan.md merge=muniment-plan\n"
    b"# muniment:end\n"
)


def init(repo: Repo) -> project.Prepared:
    return project.prepare(open_workspace(repo.path))


def content(repo: Repo) -> Mapping[str, bytes]:
    """Every file of the working tree, and the whole index and HEAD."""
    files = {
        str(path.relative_to(repo.path)): path.read_bytes()
        for path in sorted(repo.path.rglob("*"))
        if path.is_file() and ".git" not in path.relative_to(repo.path).parts[:1]
    }
    return {
        **files,
        "index": repo.git("ls-files", "-s").encode(),
        "head": repo.git("rev-parse", "HEAD").encode(),
    }


def test_creates_exactly_its_files_and_commits_nothing(repo: Repo) -> None:
    head = repo.head()
    prepared = init(repo)
    assert list(prepared.created) == FILES
    assert prepared.updated == ()
    assert repo.head() == head
    assert repo.git("diff", "--cached", "--name-only") == ""
    assert repo.git("ls-files", "--others", "--exclude-standard").splitlines() == FILES
    assert repo.read(".gitattributes") == BLOCK


def test_twice_is_byte_identical_and_says_so(repo: Repo) -> None:
    muniment("init", cwd=repo.path).ok()
    before = content(repo)
    times = {name: (repo.path / name).stat().st_mtime_ns for name in FILES}
    again = muniment("init", cwd=repo.path).ok()
    assert "nothing was changed" in again.out
    assert content(repo) == before
    assert {name: (repo.path / name).stat().st_mtime_ns for name in FILES} == times
    assert muniment("init", "--json", cwd=repo.path).ok().json["unchanged"] == FILES


def test_the_template_is_valid_and_commented_out(repo: Repo) -> None:
    init(repo)
    workspace = open_workspace(repo.path)
    assert workspace.config_problems == ()
    assert {setting.source for setting in workspace.config.settings} == {"default"}
    keys = [
        line[1:].split(":")[0]
        for line in repo.read(".muniment/config.yaml").decode().splitlines()
        if line[:1] == "#" and line[1:2].isalpha()
    ]
    assert keys
    assert set(keys) <= set(KEYS)


def test_git_ignores_the_local_settings_and_keeps_the_ledger_lf(repo: Repo) -> None:
    repo.git("config", "core.autocrlf", "true")
    init(repo)
    assert repo.git("check-ignore", ".muniment/config.local.yaml") == ".muniment/config.local.yaml"
    for path in (
        "docs/reviews/ledger.json",
        "docs/reviews/ledger/0123456789abcdef.json",
        "docs/feedback-sweep/state.yml",
    ):
        assert repo.git("check-attr", "eol", "--", path).endswith("eol: lf"), path
    assert repo.git("check-attr", "eol", "--", "docs/reviews/other.md").endswith("unspecified")
    repo.write("docs/reviews/ledger.json", b'{"a":\n1}\n')
    repo.commit("Ledger")
    (repo.path / "docs/reviews/ledger.json").unlink()
    repo.git("checkout", "--", "docs/reviews/ledger.json")
    assert repo.read("docs/reviews/ledger.json") == b'{"a":\n1}\n'


def test_a_persons_files_are_never_written_over(repo: Repo) -> None:
    config = repo.write(".muniment/config.yaml", "docs_root: notes # mine\r\n")
    allow = repo.write(".muniment/allow.txt", "value\n")
    prepared = init(repo)
    assert config.read_bytes() == b"docs_root: notes # mine\r\n"
    assert allow.read_bytes() == b"value\n"
    assert set(prepared.unchanged) == {".muniment/config.yaml", ".muniment/allow.txt"}
    assert b"/notes/reviews/ledger.json text eol=lf" in repo.read(".gitattributes")


@pytest.mark.parametrize(
    "given",
    [
        b"* text=auto\n",
        b"* text=auto",
        b"* text=auto\r\n*.png binary\r\n",
        b"# comment\n\n\n",
        b"\xef\xbb\xbf* text=auto\n",
        b"mail robin@example.org\n",
    ],
)  # fmt: skip
def test_other_lines_keep_their_bytes(repo: Repo, given: bytes) -> None:
    repo.write(".gitattributes", given)
    repo.write(".gitignore", given)
    init(repo)
    for name in (".gitattributes", ".gitignore"):
        written = repo.read(name)
        assert written.startswith(given)
        endings = {line[-1:] for line in written[len(given) :].split(b"\n")[:-1] if line}
        assert (endings == {b"\r"}) == (b"\r\n" in given)
    before = content(repo)
    init(repo)
    assert content(repo) == before


def test_bytes_that_the_gate_cannot_read_are_refused_and_left(repo: Repo) -> None:
    repo.write(".gitattributes", b"caf\xe9 binary\n")
    result = muniment("init", cwd=repo.path)
    assert result.code == 1
    assert ".gitattributes:1:4" in result.err
    assert repo.read(".gitattributes") == b"caf\xe9 binary\n"
    assert not (repo.path / ".muniment").exists()


@pytest.mark.parametrize("newline", [b"\n", b"\r\n"])
@pytest.mark.parametrize("after", [b"", b"*.png binary\n", b"no newline"])
def test_the_block_follows_the_settings_in_place(repo: Repo, newline: bytes, after: bytes) -> None:
    old = b"* text\n# muniment:start (old)\n/elsewhere text\n# muniment:end\n" + after
    repo.write(".gitattributes", old.replace(b"\n", newline))
    init(repo)
    assert repo.read(".gitattributes") == (b"* text\n" + BLOCK + after).replace(b"\n", newline)


def test_a_block_at_the_very_end_without_a_newline_stays_so() -> None:
    text = b"# muniment:start\n# muniment:end"
    assert project.with_block(text, BLOCK) == BLOCK.removesuffix(b"\n")
    assert project.with_block(BLOCK.removesuffix(b"\n"), BLOCK) == BLOCK.removesuffix(b"\n")


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a\n# muniment:start\nb\n", 2),
        ("# muniment:end\n", 1),
        ("# muniment:end\n# muniment:start\n", 2),
        ("# muniment:start\n# muniment:end\n# muniment:start\n# muniment:end\n", 1),
    ],
)
def test_damaged_markers_are_refused_with_their_line(repo: Repo, text: str, line: int) -> None:
    repo.write(".gitattributes", text)
    before = content(repo)
    with pytest.raises(Refused, match=rf"\.gitattributes:{line}: "):
        init(repo)
    assert content(repo) == before


def test_conflict_markers_are_refused(repo: Repo) -> None:
    repo.write(".gitattributes", "<<<<<<< ours\na\n=======\nb\n>>>>>>> theirs\n")
    with pytest.raises(Refused, match="conflict markers"):
        init(repo)


@pytest.mark.parametrize("name", FILES)
def test_symbolic_links_are_refused(repo: Repo, tmp_path: Path, name: str) -> None:
    outside = tmp_path / "outside"
    outside.write_text("outside\n")
    for target in (outside, repo.write("inside", "inside\n")):
        link = repo.path / name
        link.parent.mkdir(exist_ok=True)
        link.symlink_to(target)
        with pytest.raises((Refused, UsageProblem)):
            init(repo)
        link.unlink()
    assert outside.read_text() == "outside\n"
    assert not (repo.path / ".muniment/config.yaml").exists()


def test_a_linked_folder_out_of_the_repository_is_refused(repo: Repo, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (repo.path / ".muniment").symlink_to(tmp_path / "elsewhere")
    with pytest.raises((Refused, UsageProblem)):
        init(repo)
    assert list((tmp_path / "elsewhere").iterdir()) == []


@pytest.mark.parametrize("name", [".muniment", ".muniment/config.yaml", ".gitignore"])
def test_things_in_the_way_are_refused(repo: Repo, name: str) -> None:
    if name == ".muniment":
        repo.write(name, "a file")
    else:
        (repo.path / name).mkdir(parents=True)
    with pytest.raises((Refused, UsageProblem)):
        init(repo)


def test_wrong_settings_are_refused_before_anything_is_written(repo: Repo) -> None:
    repo.write(".muniment/config.yaml", "docs_root: /tmp\n")
    result = muniment("init", cwd=repo.path)
    assert result.code == 2
    assert "docs_root: '/tmp'" in result.err
    assert not (repo.path / ".gitattributes").exists()


def test_unborn_branch(make_repo: Callable[[str], Repo]) -> None:
    unborn = make_repo("unborn")
    assert list(init(unborn).created) == FILES


def test_detached_head_and_dirty_index(repo: Repo) -> None:
    repo.git("checkout", "-q", "--detach")
    repo.write("staged", "staged")
    repo.git("add", "staged")
    before = repo.git("ls-files", "-s")
    init(repo)
    assert repo.git("ls-files", "-s") == before


def test_merge_under_way(repo: Repo) -> None:
    for branch, text in (("side", "one\n"), ("main", "two\n")):
        repo.git("switch", "-q", *(["-c"] if branch == "side" else []), branch)
        repo.write("README.md", text)
        repo.commit(branch)
    subprocess.run(["git", "merge", "side"], cwd=repo.path, check=False, capture_output=True)
    assert repo.git("ls-files", "-u")
    before = repo.read("README.md")
    assert list(init(repo).created) == FILES
    assert repo.read("README.md") == before
    assert repo.git("rev-parse", "-q", "--verify", "MERGE_HEAD")


def test_linked_worktree_and_subfolder(repo: Repo, tmp_path: Path) -> None:
    repo.git("worktree", "add", "-q", str(tmp_path / "linked"))
    (tmp_path / "linked/deep/er").mkdir(parents=True)
    created = muniment("init", "--json", cwd=tmp_path / "linked/deep/er").ok().json["created"]
    assert created == FILES
    assert (tmp_path / "linked/.muniment/config.yaml").is_file()
    assert not (repo.path / ".muniment").exists()


def test_submodule_is_a_repository_of_its_own(repo: Repo, make_repo: Callable[[str], Repo]) -> None:
    inner = make_repo("inner")
    inner.write("a", "a")
    inner.commit("Inner")
    repo.git("submodule", "add", "-q", str(inner.path), "sub")
    init(Repo(repo.path / "sub"))
    assert (repo.path / "sub/.muniment/config.yaml").is_file()
    assert not (repo.path / ".muniment").exists()


def test_bare_and_no_repository_are_refused(repo: Repo, tmp_path: Path) -> None:
    repo.clone(tmp_path / "bare.git", "--bare")
    (tmp_path / "plain").mkdir()
    for folder in ("bare.git", "plain"):
        result = muniment("init", "--json", cwd=tmp_path / folder)
        assert result.code == 2
        assert result.json["error"]["hint"]


def test_ignored_files_are_said(repo: Repo) -> None:
    repo.write(".gitignore", "/docs/\n.muniment/\n")
    notes = muniment("init", "--json", cwd=repo.path).ok().json["notes"]
    assert any("docs/reviews/ledger.json is ignored" in note for note in notes)
    assert any(".muniment/config.yaml is ignored" in note for note in notes)


def test_modes_and_a_read_only_folder(repo: Repo) -> None:
    init(repo)
    assert all(stat.S_IMODE((repo.path / name).stat().st_mode) & 0o111 == 0 for name in FILES)


def test_next_steps_can_be_pasted(repo: Repo) -> None:
    steps = muniment("init", "--json", cwd=repo.path).ok().json["next"]
    add = next(step["command"] for step in steps if step["command"].startswith("git add"))
    subprocess.run(shlex.split(add), cwd=repo.path, check=True)
    assert repo.git("diff", "--cached", "--name-only").splitlines() == FILES
    assert any(step["command"] == "muniment hooks install" for step in steps)
    muniment("hooks", "install", cwd=repo.path).ok()
    steps = muniment("init", "--json", cwd=repo.path).ok().json["next"]
    assert not any("hooks install" in step["command"] for step in steps)


def test_merge_driver_alone_writes_attributes_and_this_clones_settings(repo: Repo) -> None:
    first = muniment("init", "--merge-driver", "--json", cwd=repo.path).ok().json
    assert (first["created"], first["merge_driver"]) == ([".gitattributes"], "installed")
    assert repo.read(".gitattributes") == BLOCK
    for kind in ("ledger", "state", "plan"):
        assert f"merge-driver {kind} %O %A %B %P" in repo.git("config", f"merge.muniment-{kind}.driver")
    again = muniment("init", "--merge-driver", "--json", cwd=repo.path).ok().json
    assert (again["unchanged"], again["merge_driver"]) == ([".gitattributes"], "unchanged")


@pytest.mark.parametrize(
    "path",
    [
        "notes [old]/led*ger.json", "with space/l.json", 'quo"te/l.json', "back\\slash/l.json", "q?/l.json",
        "tab\tbed/l.json",
    ],
)  # fmt: skip
def test_attribute_patterns_match_exactly_their_path(repo: Repo, path: str) -> None:
    repo.write(".gitattributes", f"{project.attribute_pattern(path)} eol=lf\n")
    assert repo.git("check-attr", "-z", "eol", "--", path).rstrip("\0").endswith("lf")
    other = (
        path.replace("*", "x")
        .replace("[old]", "o")
        .replace("?", "z")
        .replace(" ", "")
        .replace("\\", "")
        .replace('"', "")
        .replace("\t", "")
    )
    assert not repo.git("check-attr", "-z", "eol", "--", other).rstrip("\0").endswith("lf")


def test_block__names_the_configured_paths() -> None:
    block = project.attributes_block(Config(reviews_path="a b/reviews", sweep_state_path="s.yml")).decode()
    assert '"/a b/reviews/ledger.json" text eol=lf' in block
    assert "/s.yml text eol=lf" in block
