"""Build the scratch product: a bare remote, two clones, its history and its documents (U2).

Everything is fixed (names, dates, texts), so two runs give the same commits. Nothing outside the
demo's own folder is read or written, and the person's git settings play no part in it.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from muniment.errors import Unavailable, UsageProblem
from muniment.files import template_folder, template_text

PEOPLE: Mapping[str, tuple[str, str]] = {
    "robin": ("Robin Owner", "robin@larder.example"),
    "ada": ("Ada Builder", "ada@larder.example"),
}

_ARCHIVED_TIMEZONE = "docs/archive/reminders-at-the-wrong-hour.md"
_ARCHIVED_TWICE = "docs/archive/reminder-sent-twice.md"


@dataclass(frozen=True, slots=True)
class Scene:
    """The demo's folder: `remote.git`, the clones `robin` and `ada`, and the bots' `reports`."""

    folder: Path

    def clone(self, person: str) -> Path:
        """The working tree of one person."""
        return self.folder / person

    @property
    def reports(self) -> Path:
        """Where the bots leave their reports."""
        return self.folder / "reports"


def build(folder: Path) -> Scene:
    """Make the scene in `folder`.

    Raises:
        UsageProblem: The folder exists and holds something.
        Unavailable: The folder can't be made, or git failed; its own words are in the message.
    """
    try:
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise UsageProblem(f"{folder} is not an empty folder.", "Name a folder that does not exist yet.")
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Unavailable(f"{folder} can't be made: {error.strerror}.", "Name another folder.") from error
    scene = Scene(folder.resolve())
    _start(scene)
    _fix(
        scene,
        "2026-02-10",
        _ARCHIVED_TIMEZONE,
        "Send expiry reminders at the household's hour",
        "demo/timezone.md",
    )
    git(scene, "robin", "2026-02-20", "tag", "-a", "v1.3.0", "-m", "Larder 1.3.0")
    _fix(
        scene,
        "2026-02-27",
        _ARCHIVED_TWICE,
        "Send an expiry reminder once after a reconnect",
        "demo/twice.md",
    )
    git(scene, "robin", "2026-02-27", "push", "-q", "--follow-tags", "origin", "main")
    _run(["git", "clone", "-q", str(scene.folder / "remote.git"), str(scene.clone("ada"))], scene.folder, {})
    _identify(scene, "ada")
    shutil.copytree(template_folder("demo/reports"), scene.reports)
    return scene


def _start(scene: Scene) -> None:
    _run(["git", "init", "-q", "--bare", "-b", "main", "remote.git"], scene.folder, {})
    _run(["git", "init", "-q", "-b", "main", "robin"], scene.folder, {})
    _identify(scene, "robin")
    git(scene, "robin", "2026-01-05", "remote", "add", "origin", str(scene.folder / "remote.git"))
    shutil.copytree(template_folder("demo/tree"), scene.clone("robin"), dirs_exist_ok=True)
    git(scene, "robin", "2026-01-05", "add", "--", ".")
    git(scene, "robin", "2026-01-05", "commit", "-q", "-m", "Start Larder")
    git(scene, "robin", "2026-01-05", "tag", "-a", "v1.2.0", "-m", "Larder 1.2.0")
    git(scene, "robin", "2026-01-05", "push", "-q", "-u", "origin", "main", "--follow-tags")
    git(scene, "robin", "2026-01-05", "remote", "set-head", "origin", "main")


def _fix(scene: Scene, day: str, document: str, subject: str, template: str) -> None:
    """Land one fix: the code changes and the bug's document goes to the archive, in one commit."""
    target = scene.clone("robin") / document
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(template_text(template).encode())
    code = scene.clone("robin") / "larder" / "reminders.py"
    code.write_bytes(code.read_bytes() + f"\n# {subject}.\n".encode())
    git(scene, "robin", day, "add", "--", document, "larder/reminders.py")
    git(scene, "robin", day, "commit", "-q", "-m", subject)


def _identify(scene: Scene, person: str) -> None:
    name, email = PEOPLE[person]
    settings = {"user.name": name, "user.email": email, "commit.gpgSign": "false", "core.autocrlf": "false"}
    for key, value in settings.items():
        git(scene, person, "2026-01-05", "config", key, value)


def environment(scene: Scene, day: str) -> dict[str, str]:
    """The environment of every command in the demo: this machine's PATH, a home of its own, a fixed day."""
    kept = {
        name: os.environ[name]
        for name in ("PATH", "SYSTEMROOT", "TMPDIR", "TEMP", "TMP")
        if name in os.environ
    }
    home = scene.folder / ".home"
    home.mkdir(exist_ok=True)
    return kept | {
        "HOME": str(home),
        "XDG_CONFIG_HOME": str(home),
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_AUTHOR_DATE": f"{day}T09:00:00Z",
        "GIT_COMMITTER_DATE": f"{day}T09:00:00Z",
        "GIT_TERMINAL_PROMPT": "0",
        "MUNIMENT_NOW": f"{day}T09:00:00Z",
        "PYTHONUTF8": "1",
    }


def git(scene: Scene, person: str, day: str, *arguments: str) -> str:
    """Run git in one person's clone; returns stdout, raises `Unavailable` when it fails."""
    return _run(["git", *arguments], scene.clone(person), environment(scene, day))


def muniment(scene: Scene, person: str, day: str, *arguments: str) -> tuple[int, str]:
    """Run the installed command in one person's clone; returns its exit code and all it printed."""
    done = subprocess.run(
        [sys.executable, "-m", "muniment", *arguments],
        cwd=scene.clone(person),
        env=environment(scene, day),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    return done.returncode, done.stdout.decode("utf-8", errors="replace")


def _run(command: list[str], folder: Path, variables: Mapping[str, str]) -> str:
    done = subprocess.run(
        command,
        cwd=folder,
        env=dict(variables) or environment(Scene(folder), "2026-01-05"),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
    if done.returncode:
        said = done.stderr.decode("utf-8", errors="replace").strip()
        raise Unavailable(f"The demo could not run `{' '.join(command[:3])}`: {said}")
    return done.stdout.decode("utf-8", errors="replace").strip()
