"""Plain git hooks: install beside whatever is there, say what stands, take away exactly that (U3, G16).

Muniment never touches `core.hooksPath` nor another tool's hook. A hook that is already there is kept under
`<name>.before-muniment`, byte for byte, and runs first; `uninstall` renames it back. A kill between any two
steps leaves a working hook, and the next run finishes.
"""

from __future__ import annotations

import hashlib
import os
import re
import shlex
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from muniment.errors import Refused
from muniment.files import atomic_write, file_lock, read_bytes, template_text
from muniment.workspace import Workspace

NAMES = ("pre-commit", "pre-merge-commit")
"""The hooks that make a commit: git runs the second one for a merge that needs no help."""

_OURS = re.compile(rb"\A#!/bin/sh\n# muniment-hook: \d+ sha256=([0-9a-f]{16})\n")
_MODE = 0o755


class Standing(Enum):
    """What stands at one hook's path."""

    ABSENT = "absent"
    INSTALLED = "installed"
    OUTDATED = "outdated"
    CALLED = "called-by-another"
    OTHER = "another-hook"
    EDITED = "edited"


@dataclass(frozen=True, slots=True)
class HookStatus:
    """One hook: where it lies, what stands there, and whether an earlier hook is kept and run."""

    name: str
    path: Path
    standing: Standing
    chained: bool


@dataclass(frozen=True, slots=True)
class Hooks:
    """The hooks of a clone.

    Attributes:
        folder: The clone's own hooks folder, shared by its worktrees.
        elsewhere: What `core.hooksPath` names instead, or empty.
        calls: Whether that other folder's pre-commit hook mentions the check.
        hooks: What stands in `folder`.
    """

    folder: Path
    elsewhere: str
    calls: bool
    hooks: tuple[HookStatus, ...]

    @property
    def installed(self) -> bool:
        """Whether a commit here runs the check."""
        if self.elsewhere:
            return self.calls
        return all(hook.standing in {Standing.INSTALLED, Standing.CALLED} for hook in self.hooks)


@dataclass(frozen=True, slots=True)
class Changed:
    """What an install or uninstall did to each hook, in words, in the order of `NAMES`."""

    actions: tuple[tuple[str, str], ...]

    @property
    def anything(self) -> bool:
        """Whether any file changed."""
        return any(action not in {"unchanged", "absent"} for _, action in self.actions)


def hook_script(name: str, program: str) -> bytes:
    """The hook's text for a hook name and the program to run (a path, or empty: only `PATH` is searched)."""
    text = template_text("hook.sh").replace("@NAME@", name).replace("@PROGRAM@", shlex.quote(program))
    digest = _digest(text.split("\n", 2)[2].encode())
    return text.replace("@DIGEST@", digest).encode()


def read(ws: Workspace, program: str = "") -> Hooks:
    """What stands now; with `program`, a hook written for another program counts as outdated."""
    folder = ws.repo.common_dir / "hooks"
    elsewhere = _hooks_path(ws, folder)
    calls = bool(elsewhere) and _mentions(_elsewhere(ws, elsewhere) / NAMES[0])
    return Hooks(folder, elsewhere, calls, tuple(_status(folder, name, program) for name in NAMES))


def install(ws: Workspace, program: str) -> Changed:
    """Put the hooks in place; doing it again changes nothing.

    Raises:
        Refused: `core.hooksPath` is set, our hook was edited by hand, or both a hook and a kept earlier
            one are there; nothing was changed.
    """
    with file_lock(ws.lock_path):
        found = read(ws, program)
        _refuse_elsewhere(found)
        for hook in found.hooks:
            _refuse_unclear(hook)
        found.folder.mkdir(parents=True, exist_ok=True)
        return Changed(tuple((hook.name, _install(hook, program)) for hook in found.hooks))


def uninstall(ws: Workspace) -> Changed:
    """Take our hooks away and put earlier ones back, bytes and mode; doing it again changes nothing.

    Raises:
        Refused: Our hook was edited by hand, or another tool's hook calls ours; nothing was changed.
    """
    with file_lock(ws.lock_path):
        found = read(ws)
        for hook in found.hooks:
            if hook.standing is Standing.EDITED:
                raise _edited(hook)
            if hook.standing is Standing.CALLED:
                raise Refused(
                    f"{hook.path} belongs to another tool, which runs Muniment's hook after its own.",
                    "Uninstall that tool's hook first; Muniment's then lies at this path again.",
                )
        return Changed(tuple((hook.name, _uninstall(hook)) for hook in found.hooks))


def _install(hook: HookStatus, program: str) -> str:
    if hook.standing in {Standing.INSTALLED, Standing.CALLED}:
        return "unchanged"
    if hook.standing is Standing.OTHER:
        _keep(hook.path, _kept(hook.path))
    _replace(hook.path, hook_script(hook.name, program))
    return {Standing.OUTDATED: "updated", Standing.OTHER: "chained"}.get(hook.standing, "installed")


def _uninstall(hook: HookStatus) -> str:
    kept = _kept(hook.path)
    if hook.standing in {Standing.ABSENT, Standing.OTHER}:
        if hook.standing is Standing.ABSENT and os.path.lexists(kept):
            kept.rename(hook.path)
            return "restored"
        return "absent"
    if os.path.lexists(kept):
        kept.replace(hook.path)
        return "restored"
    hook.path.unlink()
    return "removed"


def _keep(path: Path, kept: Path) -> None:
    """A second name for the hook that is there; the first is replaced only afterwards."""
    if os.path.lexists(kept):
        return  # an earlier run was stopped after this step; `_refuse_unclear` saw that they are the same
    if path.is_symlink():
        kept.symlink_to(path.readlink())
        return
    try:
        kept.hardlink_to(path)
    except OSError:  # a file system without hard links
        atomic_write(kept, read_bytes(path), mode=path.stat().st_mode & 0o7777)


def _replace(path: Path, data: bytes) -> None:
    temporary = path.with_name(f"{path.name}.muniment-new")
    atomic_write(temporary, data, mode=_MODE)
    temporary.replace(path)


def _kept(path: Path) -> Path:
    return path.with_name(f"{path.name}.before-muniment")


def _status(folder: Path, name: str, program: str) -> HookStatus:
    path = folder / name
    chained = os.path.lexists(_kept(path))
    if not os.path.lexists(path):
        return HookStatus(name, path, Standing.ABSENT, chained)
    data = read_bytes(path) if path.is_file() else b""
    marked = _OURS.match(data)
    if not marked or path.is_symlink():
        others = [other for other in sorted(folder.glob(f"{name}.*")) if other != _kept(path)]
        called = any(other.is_file() and _OURS.match(read_bytes(other)) for other in others)
        return HookStatus(name, path, Standing.CALLED if called else Standing.OTHER, chained)
    if _digest(data[marked.end() :]) != marked[1].decode():
        return HookStatus(name, path, Standing.EDITED, chained)
    current = not program or data == hook_script(name, program)
    return HookStatus(name, path, Standing.INSTALLED if current else Standing.OUTDATED, chained)


def _refuse_elsewhere(found: Hooks) -> None:
    if found.elsewhere:
        raise Refused(
            f"core.hooksPath is set to {found.elsewhere!r}: git runs that folder's hooks, which Muniment "
            "leaves alone. Nothing was installed.",
            "Add the line `muniment check --staged` to that folder's pre-commit and pre-merge-commit hooks.",
        )


def _refuse_unclear(hook: HookStatus) -> None:
    if hook.standing is Standing.EDITED:
        raise _edited(hook)
    kept = _kept(hook.path)
    if hook.standing is Standing.OTHER and hook.chained and not _same(hook.path, kept):
        raise Refused(
            f"{hook.path} was put there after Muniment kept an earlier hook as {kept.name}; both would be "
            "needed, and only one can be kept.",
            f"Merge the two by hand into {hook.path}, delete {kept.name}, then install again.",
        )


def _edited(hook: HookStatus) -> Refused:
    return Refused(
        f"{hook.path} is Muniment's hook with changes made by hand; it was left as it is.",
        "Rename it to keep your changes, then run `muniment hooks install`, which writes it anew.",
    )


def _same(path: Path, kept: Path) -> bool:
    if path.is_symlink() or kept.is_symlink():
        return path.is_symlink() and kept.is_symlink() and path.readlink() == kept.readlink()
    return read_bytes(path) == read_bytes(kept)


def _hooks_path(ws: Workspace, folder: Path) -> str:
    """`core.hooksPath` where it names another folder than git's own, else nothing."""
    configured = ws.repo.config("core.hooksPath") or ""
    if not configured or _elsewhere(ws, configured).resolve() == folder.resolve():
        return ""
    return configured


def _mentions(path: Path) -> bool:
    return path.is_file() and b"muniment" in read_bytes(path)


def _elsewhere(ws: Workspace, configured: str) -> Path:
    """The folder a `core.hooksPath` names: relative ones start at the working tree's top."""
    home = ws.environ.get("HOME", "")
    given = configured.replace("~", home, 1) if configured.startswith("~/") and home else configured
    return ws.root / given


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:16]
