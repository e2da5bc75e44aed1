"""The way out for a commit that touches nothing of ours: names alone, no settings, parser or object (G13).

A hook runs before every commit of everyone, so this is the one path that has to cost next to nothing: two
git processes and string comparisons. It says "nothing" only when it is sure; any doubt is left to the real
check, which also writes the one small cache that this needs: where owned files lie, under which settings.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from muniment import __version__
from muniment.git.process import Git, decode, fields

if TYPE_CHECKING:
    from muniment.check.paths import Owned
    from muniment.workspace import Workspace

_NAME = "quick.json"
_FOLDERS = ("--show-toplevel", "--absolute-git-dir", "--git-common-dir")


def nothing_staged(directory: Path, environ: Mapping[str, str]) -> bool:
    """Whether certainly nothing owned is staged and nothing else needs a look; False when in doubt."""
    found = Git(directory, environ).run("rev-parse", "--path-format=absolute", *_FOLDERS)
    lines = decode(found.out).split("\n")[:-1]
    if found.code or len(lines) != len(_FOLDERS):
        return False
    root, git_dir, common = (Path(line) for line in lines)
    private = common / "muniment"
    roots = _known_roots(private / "cache" / _NAME, environ)
    if roots is None or next((private / "journal").glob("*/intent.json"), None):
        return False
    staged = _staged(Git(root, environ), root, git_dir, environ)
    return staged is not None and not any(_touches(name, roots) for name in staged)


def remember(ws: Workspace, owned: Owned) -> None:
    """Keep where owned files lie, together with the very settings files that say so."""
    from muniment import config  # noqa: PLC0415 - the quick way doesn't load settings
    from muniment.errors import MunimentError  # noqa: PLC0415 - as above
    from muniment.files import atomic_write  # noqa: PLC0415 - as above

    roots = [*owned.roots, *owned.gated_starts]
    if ws.config_problems or "" in roots:
        return
    files = (ws.root / config.COMMITTED, config.personal_path(ws.environ), ws.root / config.LOCAL)
    known = [_key(ws.environ), [[str(path), _content(path)] for path in files], roots]
    text = json.dumps(known)
    target = ws.private / "cache" / _NAME
    if _content(target) == text:
        return
    try:
        atomic_write(target, text.encode("utf-8", "surrogateescape"))
    except MunimentError:
        return  # a read-only git folder only costs the cache


def _known_roots(cache: Path, environ: Mapping[str, str]) -> tuple[str, ...] | None:
    """The remembered places, if the settings files are still the same, byte for byte."""
    try:
        key, files, roots = json.loads(cache.read_bytes())
        if key == _key(environ) and all(_content(Path(path)) == text for path, text in files):
            return tuple(roots)
    except (OSError, ValueError, TypeError):
        return None
    return None


def _key(environ: Mapping[str, str]) -> list[str]:
    return [__version__, environ.get("XDG_CONFIG_HOME", ""), environ.get("HOME", "")]


def _content(path: Path) -> str | None:
    """A file's bytes as text that JSON can hold; None when there is none."""
    try:
        return path.read_bytes().decode("latin-1")
    except FileNotFoundError:
        return None


def _staged(git: Git, root: Path, git_dir: Path, environ: Mapping[str, str]) -> list[str] | None:
    """The names of what is staged; None when git can't say."""
    env = {}
    if environ.get("GIT_INDEX_FILE"):
        from muniment.git.place import hook_index  # noqa: PLC0415 - only inside `git commit PATH`

        index = hook_index(root, git_dir, environ)
        env = {"GIT_INDEX_FILE": str(index)} if index else {}
    options = ("--cached", "--name-only", "-z", "--no-renames", "--no-ext-diff", "--ita-visible-in-index")
    listed = git.run("diff", *options, env=env)
    return fields(listed.out) if listed.code == 0 else None


def _touches(name: str, roots: tuple[str, ...]) -> bool:
    """Whether a staged name lies at or below an owned place, or is a folder above one (a link put there)."""
    return name.startswith(roots) or any(root.startswith(f"{name}/") for root in roots)
