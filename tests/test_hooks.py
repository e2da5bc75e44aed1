"""Plain git hooks: chained, idempotent, exactly undone, and never another tool's (U3, G16)."""

from __future__ import annotations

import os
import shlex
import stat
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from muniment import hooks
from muniment.errors import Refused
from muniment.workspace import open_workspace
from tests.support.cli import muniment
from tests.support.repo import Repo


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """A stand-in for the muniment program, at a path that needs quoting, which records its arguments."""
    path = tmp_path / "odd $(touch pwned) 'name'" / "muniment"
    path.parent.mkdir()
    path.write_text(f'#!/bin/sh\necho "$@" >> {shlex.quote(str(tmp_path))}/calls\nexit ${{ANSWER:-0}}\n')
    path.chmod(0o755)
    return path


def commit(repo: Repo, **env: str) -> subprocess.CompletedProcess[str]:
    repo.write("file", os.urandom(4).hex())
    repo.git("add", "file")
    return subprocess.run(
        ["git", "commit", "-q", "-m", "A change"],
        cwd=repo.path,
        env={**os.environ, **env},
        capture_output=True,
        text=True,
        check=False,
    )


def hook(repo: Repo, name: str = "pre-commit") -> Path:
    return repo.path / ".git" / "hooks" / name


def own_hook(repo: Repo, text: str = "#!/bin/sh\necho mine >&2\n", mode: int = 0o755) -> bytes:
    hook(repo).parent.mkdir(exist_ok=True)
    hook(repo).write_text(text)
    hook(repo).chmod(mode)
    return text.encode()


def install(repo: Repo, program: Path | str) -> dict[str, str]:
    return dict(hooks.install(open_workspace(repo.path), str(program)).actions)


def uninstall(repo: Repo) -> dict[str, str]:
    return dict(hooks.uninstall(open_workspace(repo.path)).actions)


def test_install__runs_the_check_before_a_commit(repo: Repo, program: Path, tmp_path: Path) -> None:
    assert install(repo, program) == {"pre-commit": "installed", "pre-merge-commit": "installed"}
    assert commit(repo).returncode == 0
    assert (tmp_path / "calls").read_text() == "check --staged\n"
    assert not (repo.path / "pwned").exists()


def test_install__a_failing_check_stops_the_commit_and_says_how_to_skip(repo: Repo, program: Path) -> None:
    install(repo, program)
    before = repo.head()
    done = commit(repo, ANSWER="1")
    assert done.returncode == 1
    assert "MUNIMENT_SKIP=1" in done.stderr
    assert repo.head() == before


def test_install__a_broken_program_stops_the_commit_and_says_so(repo: Repo, program: Path) -> None:
    install(repo, program)
    done = commit(repo, ANSWER="70")
    assert done.returncode == 1
    assert "could not run (exit code 70)" in done.stderr


def test_install__a_missing_program_stops_the_commit_and_can_be_bypassed(repo: Repo, tmp_path: Path) -> None:
    install(repo, tmp_path / "gone" / "muniment")
    bare_path = {"PATH": "/usr/bin:/bin"}
    done = commit(repo, **bare_path)
    assert done.returncode == 1
    assert "not installed here" in done.stderr
    assert "MUNIMENT_SKIP=1" in done.stderr
    assert commit(repo, **bare_path, MUNIMENT_SKIP="1").returncode == 0


def test_install__falls_back_to_the_path(repo: Repo, program: Path, tmp_path: Path) -> None:
    install(repo, tmp_path / "gone" / "muniment")
    assert commit(repo, PATH=f"{program.parent}:/usr/bin:/bin").returncode == 0
    assert (tmp_path / "calls").read_text() == "check --staged\n"


def test_install__keeps_and_runs_an_earlier_hook_first(repo: Repo, program: Path) -> None:
    own_hook(repo)
    assert install(repo, program)["pre-commit"] == "chained"
    done = commit(repo)
    assert done.returncode == 0
    assert "mine" in done.stderr


def test_install__an_earlier_hook_still_rejects_even_when_skipping(repo: Repo, program: Path) -> None:
    own_hook(repo, "#!/bin/sh\nexit 3\n")
    install(repo, program)
    assert commit(repo, MUNIMENT_SKIP="1").returncode != 0


@pytest.mark.parametrize("mode", [0o755, 0o700, 0o644])
def test_uninstall__restores_exact_bytes_and_mode(repo: Repo, program: Path, mode: int) -> None:
    data = own_hook(repo, "#!/bin/sh\r\n# no final newline", mode)
    install(repo, program)
    assert uninstall(repo) == {"pre-commit": "restored", "pre-merge-commit": "removed"}
    assert hook(repo).read_bytes() == data
    assert stat.S_IMODE(hook(repo).stat().st_mode) == mode
    assert sorted(path.name for path in hook(repo).parent.iterdir() if path.suffix != ".sample") == [
        "pre-commit"
    ]


def test_uninstall__restores_a_symbolic_link(repo: Repo, program: Path) -> None:
    repo.write("scripts/hook", "#!/bin/sh\necho linked >&2\n").chmod(0o755)
    hook(repo).parent.mkdir(exist_ok=True)
    hook(repo).symlink_to("../../scripts/hook")
    install(repo, program)
    assert "linked" in commit(repo).stderr
    uninstall(repo)
    assert str(hook(repo).readlink()) == "../../scripts/hook"


def test_install__twice_changes_nothing(repo: Repo, program: Path) -> None:
    own_hook(repo)
    install(repo, program)
    before = {path.name: path.read_bytes() for path in hook(repo).parent.iterdir()}
    assert install(repo, program) == {"pre-commit": "unchanged", "pre-merge-commit": "unchanged"}
    assert {path.name: path.read_bytes() for path in hook(repo).parent.iterdir()} == before
    uninstall(repo)
    assert uninstall(repo) == {"pre-commit": "absent", "pre-merge-commit": "absent"}


def test_install__another_program_updates_the_hook(repo: Repo, program: Path, tmp_path: Path) -> None:
    own_hook(repo)
    install(repo, tmp_path / "gone" / "muniment")
    assert install(repo, program)["pre-commit"] == "updated"
    assert "mine" in commit(repo).stderr


def test_install__finishes_what_a_kill_interrupted(repo: Repo, program: Path) -> None:
    data = own_hook(repo)
    hook(repo).with_name("pre-commit.before-muniment").hardlink_to(hook(repo))  # killed after the first step
    assert install(repo, program)["pre-commit"] == "chained"
    uninstall(repo)
    assert hook(repo).read_bytes() == data


def test_uninstall__finishes_when_only_the_kept_hook_is_left(repo: Repo, program: Path) -> None:
    data = own_hook(repo)
    install(repo, program)
    hook(repo).unlink()
    assert uninstall(repo)["pre-commit"] == "restored"
    assert hook(repo).read_bytes() == data


def test_install__refuses_a_hook_of_ours_edited_by_hand(repo: Repo, program: Path) -> None:
    install(repo, program)
    edited = hook(repo).read_text() + "echo extra\n"
    hook(repo).write_text(edited)
    with pytest.raises(Refused, match="made by hand"):
        install(repo, program)
    with pytest.raises(Refused, match="made by hand"):
        uninstall(repo)
    assert hook(repo).read_text() == edited


def test_install__refuses_when_two_hooks_would_need_keeping(repo: Repo, program: Path) -> None:
    own_hook(repo)
    install(repo, program)
    own_hook(repo, "#!/bin/sh\necho another\n")
    with pytest.raises(Refused, match="only one can be kept"):
        install(repo, program)
    assert hook(repo).read_text() == "#!/bin/sh\necho another\n"


def test_install__leaves_core_hookspath_alone(repo: Repo, program: Path) -> None:
    repo.git("config", "core.hooksPath", ".husky")
    own = repo.write(".husky/pre-commit", "#!/bin/sh\ntrue\n")
    with pytest.raises(Refused, match=r"core\.hooksPath") as caught:
        install(repo, program)
    assert "muniment check --staged" in caught.value.hint
    assert own.read_text() == "#!/bin/sh\ntrue\n"
    assert not hook(repo).exists()
    found = hooks.read(open_workspace(repo.path))
    assert (found.elsewhere, found.installed) == (".husky", False)
    own.write_text("#!/bin/sh\nmuniment check --staged\n")
    assert hooks.read(open_workspace(repo.path)).installed


def test_install__core_hookspath_naming_the_usual_folder_is_fine(repo: Repo, program: Path) -> None:
    repo.git("config", "core.hooksPath", ".git/hooks")
    assert install(repo, program)["pre-commit"] == "installed"


def test_install__from_a_linked_worktree_serves_the_whole_clone(
    repo: Repo, program: Path, tmp_path: Path
) -> None:
    repo.git("worktree", "add", "-q", str(tmp_path / "linked"))
    linked = Repo(tmp_path / "linked")
    install(linked, program)
    where = Path(linked.git("rev-parse", "--path-format=absolute", "--git-path", "hooks"))
    assert (where / "pre-commit").read_bytes() == hook(repo).read_bytes()
    assert commit(linked).returncode == 0
    assert commit(repo).returncode == 0
    assert (tmp_path / "calls").read_text() == "check --staged\n" * 2


def test_install__in_a_submodule(repo: Repo, make_repo: Callable[[str], Repo], program: Path) -> None:
    inner = make_repo("inner")
    inner.write("a", "a")
    inner.commit("Inner")
    repo.git("submodule", "add", "-q", str(inner.path), "sub")
    sub = Repo(repo.path / "sub")
    install(sub, program)
    where = Path(sub.git("rev-parse", "--path-format=absolute", "--git-path", "hooks"))
    assert (where / "pre-commit").is_file()
    assert not hook(repo).exists()


def test_merge__runs_the_check_too(repo: Repo, program: Path, tmp_path: Path) -> None:
    repo.git("switch", "-qc", "side")
    repo.write("side", "side")
    repo.commit("Side")
    repo.git("switch", "-q", "main")
    repo.write("main", "main")
    repo.commit("Main")
    install(repo, program)
    repo.git("merge", "-q", "--no-edit", "side")
    assert (tmp_path / "calls").read_text() == "check --staged\n"


def test_another_tools_hook_that_calls_ours_is_seen(repo: Repo, program: Path) -> None:
    """The pre-commit framework renames what it finds to `.legacy` and runs it."""
    install(repo, program)
    hook(repo).rename(hook(repo).with_name("pre-commit.legacy"))
    own_hook(repo, "#!/bin/sh\nexec .git/hooks/pre-commit.legacy\n")
    assert install(repo, program)["pre-commit"] == "unchanged"
    with pytest.raises(Refused, match="belongs to another tool"):
        uninstall(repo)


def test_script__is_valid_posix_shell(program: Path, tmp_path: Path) -> None:
    script = tmp_path / "hook"
    script.write_bytes(hooks.hook_script("pre-commit", str(program)))
    assert subprocess.run(["sh", "-n", str(script)], check=False).returncode == 0


def test_cli__install_status_uninstall(repo: Repo) -> None:
    first = muniment("hooks", "install", "--json", cwd=repo.path).ok().json
    assert first["changed"] is True
    assert muniment("hooks", "install", "--json", cwd=repo.path).ok().json["changed"] is False
    status = muniment("hooks", "status", "--json", cwd=repo.path).ok().json
    assert status["installed"] is True
    assert [one["state"] for one in status["hooks"]] == ["installed", "installed"]
    assert "pre-commit: installed" in muniment("hooks", "status", cwd=repo.path).ok().out
    assert muniment("hooks", "uninstall", "--json", cwd=repo.path).ok().json["changed"] is True
    assert "muniment hooks install" in muniment("hooks", "status", cwd=repo.path).ok().out
    assert repo.status() == ""


def test_status__writes_nothing(repo: Repo) -> None:
    before = sorted(str(path) for path in (repo.path / ".git").rglob("*"))
    muniment("hooks", "status", cwd=repo.path).ok()
    assert sorted(str(path) for path in (repo.path / ".git").rglob("*")) == before
