"""Where a worktree's folders lie, and why a folder is in none that Muniment can use."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from muniment.errors import UsageProblem


@dataclass(frozen=True, slots=True)
class Place:
    """Where one worktree's folders lie; `hook_index` is what a running `git commit` gave its hooks."""

    root: Path
    git_dir: Path
    common_dir: Path
    object_format: str
    hook_index: Path | None = None


def not_usable(directory: Path, lines: list[str], reason: str) -> UsageProblem:
    """Why git opened no working tree here, in words that say what to do."""
    if "dubious ownership" in reason:
        return UsageProblem(
            f"git refuses the repository at {directory}: it belongs to another user.",
            f"If you trust it: git config --global --add safe.directory {directory.resolve()}",
            code="unsafe-repository",
        )
    if lines[:1] == ["true"]:
        return UsageProblem(
            f"{directory} is a bare repository, which has no working tree.",
            "Run muniment in a clone or a worktree of it.",
            code="bare-repository",
        )
    if lines[1:2] == ["true"]:
        return UsageProblem(
            f"{directory} lies inside a git folder, not in a working tree.",
            "Run muniment from the working tree.",
            code="inside-git-folder",
        )
    if "not a git repository" in reason:
        return UsageProblem(
            f"{directory.resolve()} lies in no git repository.",
            "Run muniment in one, name one (muniment -C DIR …), or make one: git init",
            code="no-repository",
        )
    return UsageProblem(f"git can't open the repository at {directory}: {reason}", code="no-repository")


def hook_index(root: Path, git_dir: Path, environ: Mapping[str, str]) -> Path | None:
    """The index a running commit prepared for its hooks, when it is this worktree's (G16).

    `git commit -a` and `git commit PATH` hand their hooks a temporary index; it always lies in the git
    folder, which is how one meant for another repository is told apart. A commit of Muniment's own hands
    them the one in its journal.
    """
    named = environ.get("GIT_INDEX_FILE")
    if not named:
        return None
    index = root / named
    if not index.is_file():
        return None
    folder, own = index.parent.resolve(), git_dir.resolve()
    if folder == own:
        return None if index.name == "index" else index
    common = _common(own)
    return index if folder == common / "muniment" / "journal" / worktree_name(own, common) else None


def worktree_name(git_dir: Path, common_dir: Path) -> str:
    """A file name for one worktree of a clone, under which what concerns it alone is kept."""
    return "main" if git_dir == common_dir else f"worktree-{git_dir.name}"


def _common(git_dir: Path) -> Path:
    """The git folder shared by all worktrees; gitrepository-layout(5), `commondir`."""
    try:
        named = (git_dir / "commondir").read_text("utf-8").removesuffix("\n")
    except OSError:
        return git_dir
    return (git_dir / named).resolve()
