"""Find a usual repository's folders in its files, and make sure by git's own reading of its settings.

Every command needs both the folders and the settings; `git config --list` alone answers, where the listing
shows that git found the same repository as we did. Anything out of the ordinary is left to `git rev-parse`.

Rules: gitrepository-layout(5), git(1) on discovery.
"""

from __future__ import annotations

import os
from pathlib import Path

from muniment.git.place import Place, not_usable
from muniment.git.process import Git, decode
from muniment.git.settings import Settings

_ASKS_GIT = frozenset({"GIT_CEILING_DIRECTORIES", "GIT_DISCOVERY_ACROSS_FILESYSTEM"})
_FACTS = ("--is-bare-repository", "--is-inside-git-dir", "--show-object-format")
_FOLDERS = ("--absolute-git-dir", "--git-common-dir")
_FORMATS = {"": "sha1", "sha1": "sha1", "sha256": "sha256"}


def find(directory: Path, git: Git) -> tuple[Place, Settings] | None:
    """The place of the repository that a folder lies in, and every setting in force; None: ask git."""
    here = Path(os.path.realpath(directory))
    root = _root_of(here)
    if root is None or _ASKS_GIT & git.environ.keys() or root.stat().st_dev != here.stat().st_dev:
        return None
    git_dir = _git_dir(root)
    if git_dir is None or here.is_relative_to(git_dir):
        return None
    common_dir = _common_dir(git_dir)
    listed = git.run("config", "--list", "-z", "--show-origin")
    records = decode(listed.out).split("\0")[:-1]
    origins, settings = records[::2], Settings.of(records[1::2])
    own = os.path.realpath(common_dir / "config")
    seen = {origin.removeprefix("file:") for origin in origins if origin.startswith("file:")}
    if listed.code or not any(os.path.realpath(root / origin) == own for origin in seen):
        return None
    object_format = _FORMATS.get(settings.get("extensions.objectformat") or "")
    moved = settings.get("core.worktree") is not None or settings.flag("core.bare")
    if object_format is None or moved:
        return None
    return Place(root, git_dir, common_dir, object_format), settings


def ask(git: Git) -> Place:
    """The place of the repository that git's folder lies in, all by git's own answer.

    Raises:
        UsageProblem: There is none, it has no working tree, or git refuses it because of its owner.
    """
    found = git.run("rev-parse", "--path-format=absolute", *_FACTS, "--show-toplevel", *_FOLDERS)
    lines = decode(found.out).split("\n")[:-1]
    if found.code:
        raise not_usable(git.directory, lines, found.err)
    if len(lines) != len(_FACTS) + 1 + len(_FOLDERS):  # a folder's name holds a line break
        asked = ("--show-toplevel", *_FOLDERS)
        lines[len(_FACTS) :] = [git.line("rev-parse", "--path-format=absolute", one) for one in asked]
    root, git_dir, common_dir = (Path(line) for line in lines[len(_FACTS) :])
    return Place(root, git_dir, common_dir, object_format=lines[len(_FACTS) - 1])


def _root_of(here: Path) -> Path | None:
    """The nearest folder with a `.git`; None when one on the way could be a repository itself."""
    for folder in (here, *here.parents):
        if os.path.lexists(folder / ".git"):
            return folder
        if (folder / "HEAD").exists() or (folder / "objects").is_dir():
            return None
    return None


def _git_dir(root: Path) -> Path | None:
    """Where a working tree's `.git` leads: a folder, or the one that a file names."""
    entry = root / ".git"
    if entry.is_file():
        words = decode(entry.read_bytes())
        if not words.startswith("gitdir: "):
            return None
        entry = root / words.removeprefix("gitdir: ").rstrip("\r\n")
    git_dir = Path(os.path.realpath(entry))
    return git_dir if (git_dir / "HEAD").is_file() else None


def _common_dir(git_dir: Path) -> Path:
    link = git_dir / "commondir"
    if not link.is_file():
        return git_dir
    return Path(os.path.realpath(git_dir / decode(link.read_bytes()).rstrip("\r\n")))
