"""The one value every effectful call receives: repository, settings, actor, clock, randomness.

Nothing below this module reads the wall clock, the environment or a random source.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from muniment import config as configuration
from muniment.config import Config
from muniment.errors import Problem, UsageProblem
from muniment.git.open import open_repository
from muniment.git.repo import Repository


@dataclass(frozen=True, slots=True)
class Workspace:
    """One repository with its settings and the outside facts a command may use.

    Attributes:
        repo: The repository, read through one Protocol.
        config: The layered settings.
        config_problems: What is wrong in the settings files; commands that write refuse on these.
        actor: The acting name; a claim, never an authority (C9).
        now: The wall clock, UTC.
        token_hex: Random hex digits for the given number of bytes.
        environ: The process environment (read here and nowhere below).
    """

    repo: Repository
    config: Config
    actor: str
    now: Callable[[], datetime]
    token_hex: Callable[[int], str] = secrets.token_hex
    environ: Mapping[str, str] = field(default_factory=dict)
    config_problems: tuple[Problem, ...] = ()

    @property
    def root(self) -> Path:
        """The working tree's top folder."""
        return self.repo.root

    @property
    def private(self) -> Path:
        """Muniment's own folder under the clone's common git folder: caches, locks, journal, tokens."""
        return self.repo.common_dir / "muniment"

    @property
    def lock_path(self) -> Path:
        """The OS lock for every load-modify-write of this clone, whatever the worktree (G4)."""
        return self.private / "lock"

    def path(self, relative: str) -> Path:
        """The file for a repository-relative path.

        Raises:
            UsageProblem: The path leaves the working tree (also through a symbolic link) or enters `.git`.
        """
        return inside(self.root, relative)

    def timestamp(self) -> str:
        """Now as RFC 3339 in UTC, to the second."""
        return rfc3339(self.now())

    def require_config(self) -> None:
        """Raise `UsageProblem` listing every configuration problem, when there is one."""
        if self.config_problems:
            first = self.config_problems[0]
            raise UsageProblem(
                str(first), first.fix or "See `muniment config show`.", problems=self.config_problems
            )


def inside(root: Path, relative: str) -> Path:
    """`root / relative`, or `UsageProblem` when that is outside `root`, through a link, or under `.git`."""
    parts = relative.split("/")
    if relative.startswith("/") or ".." in parts or "\0" in relative or not relative.strip("/"):
        raise UsageProblem(f"{relative!r} is not a path inside the repository.")
    if any(part.lower() == ".git" for part in parts):
        raise UsageProblem(f"{relative!r} lies under .git.")
    target = root.joinpath(*parts)
    real_root = root.resolve()
    folder_outside = not target.parent.resolve().is_relative_to(real_root)
    if folder_outside or (target.is_symlink() and not target.resolve().is_relative_to(real_root)):
        raise UsageProblem(f"{relative!r} leads outside the repository through a symbolic link.")
    return target


def rfc3339(moment: datetime) -> str:
    """A moment as RFC 3339 in UTC, to the second, with `Z`."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def parse_instant(text: str) -> datetime:
    """Read an ISO 8601 instant; one without a zone is UTC. Raises `UsageProblem`."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        raise UsageProblem(f"{text!r} is not an ISO 8601 time.") from error
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def clock(environ: Mapping[str, str]) -> Callable[[], datetime]:
    """The wall clock, fixed by `MUNIMENT_NOW` when that is set; raises `UsageProblem` if malformed."""
    fixed = environ.get("MUNIMENT_NOW")
    if fixed:
        moment = parse_instant(fixed)
        return lambda: moment
    return lambda: datetime.now(UTC)


def open_workspace(directory: Path, environ: Mapping[str, str] | None = None) -> Workspace:
    """Open the repository that `directory` lies in, with its layered settings.

    Raises:
        UsageProblem: No repository there, a bare one, or a malformed `MUNIMENT_NOW`.
    """
    variables = dict(os.environ if environ is None else environ)
    repo = open_repository(directory, variables)
    settings, problems = configuration.load(repo, variables)
    actor = variables.get("MUNIMENT_ACTOR") or repo.config("user.name") or "unknown"
    return Workspace(
        repo=repo,
        config=settings,
        config_problems=problems,
        actor=actor,
        now=clock(variables),
        environ=variables,
    )
