"""Build real git repositories readably."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Self


@dataclass(frozen=True, slots=True)
class Repo:
    """A real repository in a temporary folder."""

    path: Path

    @classmethod
    def init(cls, path: Path, *options: str) -> Self:
        path.mkdir(parents=True, exist_ok=True)
        made = cls(path)
        made.git("init", "-q", *options)
        return made

    def git(self, *arguments: str, check: bool = True, stdin: bytes | None = None) -> str:
        done = subprocess.run(
            ["git", *arguments], cwd=self.path, input=stdin, capture_output=True, check=False
        )
        if check and done.returncode:
            raise AssertionError(f"git {' '.join(arguments)}: {done.stderr.decode(errors='replace')}")
        return done.stdout.decode(errors="surrogateescape").strip()

    def write(self, name: str, content: str | bytes) -> Path:
        target = self.path / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content if isinstance(content, bytes) else content.encode())
        return target

    def read(self, name: str) -> bytes:
        return (self.path / name).read_bytes()

    def commit(self, message: str, *names: str) -> str:
        """Commit the named paths (all when none is given); returns the commit id."""
        self.git("add", "--", *(names or (".",)))
        self.git("commit", "-q", "--allow-empty", "-m", message)
        return self.head()

    def head(self) -> str:
        return self.git("rev-parse", "HEAD")

    def status(self) -> str:
        return self.git("status", "--porcelain")

    def clone(self, path: Path, *options: str) -> Repo:
        subprocess.run(
            ["git", "clone", "-q", *options, str(self.path), str(path)], check=True, capture_output=True
        )
        return Repo(path)

    def bare_remote(self, path: Path, name: str = "origin") -> Repo:
        """A bare remote that `main` is pushed to, with its HEAD known here."""
        subprocess.run(
            ["git", "clone", "-q", "--bare", str(self.path), str(path)], check=True, capture_output=True
        )
        self.git("remote", "add", name, str(path))
        self.git("fetch", "-q", name)
        self.git("remote", "set-head", name, "--auto")
        return Repo(path)
