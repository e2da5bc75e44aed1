"""The one value every effectful call receives: repository, settings, actor, clock, randomness.

Nothing below this module reads the wall clock, the environment or a random source.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

from muniment import config as configuration
from muniment.config import Config
from muniment.errors import Problem, UsageProblem
from muniment.files import MAX_BYTES, read_bytes
from muniment.git.open import open_repository
from muniment.git.repo import Oid, Repository


def random_hex(count: int) -> str:
    """Hex digits of `count` random bytes: what `secrets.token_hex` gives, whose import takes 3 ms."""
    return os.urandom(count).hex()


_BOOT_CLOCK = getattr(time, "CLOCK_BOOTTIME", getattr(time, "CLOCK_MONOTONIC", 0))
"""Linux counts suspended time in the first, macOS in the second."""


@dataclass(frozen=True, slots=True)
class Instant:
    """One reading of the clocks.

    Attributes:
        boot: Seconds on the boot clock.
        boot_id: The boot that they belong to.
        wall: Seconds since the epoch.
        text: The wall clock as it is written.
    """

    boot: float
    boot_id: str
    wall: float
    text: str


@cache
def _boot_id() -> str:
    """The kernel's own name for this boot; where it gives none, the hour that it began in."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()
    except OSError:
        began = time.time() - time.clock_gettime(_BOOT_CLOCK)
        return f"began-{round(began / 3600)}"


@dataclass(frozen=True, slots=True)
class Workspace:
    """One repository with its settings and the outside facts a command may use.

    Attributes:
        repo: The repository, read through one Protocol.
        config: The layered settings.
        config_problems: What is wrong in the settings files; commands that write refuse on these.
        commit: The commit whose files are read (G1); None for the working tree. Writing needs None.
        actor: The acting name; a claim, never an authority (C9).
        now: The wall clock, UTC.
        token_hex: Random hex digits for the given number of bytes.
        environ: The process environment (read here and nowhere below).
        boot: Seconds on the boot clock, which counts suspended time and never jumps (G9).
        boot_id: What tells this boot of the machine from another.
        sleep: Wait for some seconds.
    """

    repo: Repository
    config: Config
    actor: str
    now: Callable[[], datetime]
    token_hex: Callable[[int], str] = random_hex
    environ: Mapping[str, str] = field(default_factory=dict)
    config_problems: tuple[Problem, ...] = ()
    commit: Oid | None = None
    boot: Callable[[], float] = lambda: time.clock_gettime(_BOOT_CLOCK)
    boot_id: Callable[[], str] = _boot_id
    sleep: Callable[[float], None] = time.sleep

    def instant(self) -> Instant:
        """One reading of all clocks."""
        now = self.now()
        return Instant(self.boot(), self.boot_id(), now.timestamp(), rfc3339(now))

    def at(self, rev: str | None) -> Workspace:
        """The same clone with files and committed settings as of a commit; None: as they are now (G1).

        Raises:
            UsageProblem: `rev` names no commit in this clone.
            MissingObject: The commit's tree or settings are absent from this clone.
        """
        if rev is None:
            return self
        commit = self.repo.resolve(rev)
        if commit is None:
            shown = rev.encode("utf-8", "replace").decode()[:200]
            hint = "Fetch it (git fetch --all --tags), or give another revision: git log --oneline"
            raise UsageProblem(f"{shown!r} names no commit in this clone.", hint, code="no-revision")
        settings, problems = configuration.load(self.repo, self.environ, commit)
        return replace(self, config=settings, config_problems=problems, commit=commit)

    def read(self, relative: str, *, limit: int = MAX_BYTES) -> bytes | None:
        """A plain file's bytes, of the working tree or of `commit`; None when nothing is there.

        Raises:
            UsageProblem: The path leaves the working tree, or the file is larger than `limit` bytes.
            Unavailable: It can't be read, or this clone lacks the object.
        """
        if self.commit is None:
            target = self.path(relative)
            return read_bytes(target, limit=limit) if target.exists() else None
        entry = self.repo.entry(self.commit, relative)
        if entry is None or not stat.S_ISREG(entry.mode):
            return None
        data = self.repo.blob(entry.oid)
        if len(data) > limit:
            raise UsageProblem(f"{relative} is longer than {limit} bytes.")
        return data

    def files(self, folder: str) -> tuple[str, ...]:
        """The names of the plain files directly in a folder, of the working tree or of `commit`, sorted."""
        if self.commit is None:
            place = self.root / folder
            found = (item.name for item in place.iterdir() if item.is_file()) if place.is_dir() else ()
            return tuple(sorted(found))
        start = len(folder) + 1
        below = self.repo.entries(self.commit, folder)
        names = ((entry.path[start:], entry.mode) for entry in below)
        return tuple(sorted(name for name, mode in names if "/" not in name and stat.S_ISREG(mode)))

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
