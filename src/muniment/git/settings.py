"""git's settings and standing as plain facts: config values, remotes, the operation under way; thin reads."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from muniment.git.process import decode
from muniment.git.repo import Oid, Operation

_TRUE = frozenset({"true", "yes", "on", "1", ""})


@dataclass(frozen=True, slots=True)
class Settings:
    """Every git setting in force; keys have section and name in lower case, as git prints them.

    Attributes:
        values: Each key's last value.
        pairs: Every (key, value) in git's order, for keys that may be given several times.
    """

    values: Mapping[str, str] = field(default_factory=dict)
    pairs: tuple[tuple[str, str], ...] = ()

    @classmethod
    def parse(cls, listing: bytes) -> Self:
        """Read the output of `git config --list -z`; a key without a value reads `true`."""
        return cls.of(decode(listing).split("\0")[:-1])

    @classmethod
    def of(cls, records: Iterable[str]) -> Self:
        """Settings given as `key`, line break, value; a key alone reads `true`."""
        pairs: list[tuple[str, str]] = []
        for record in records:
            key, newline, value = record.partition("\n")
            pairs.append((key, value if newline else "true"))
        return cls(dict(pairs), tuple(pairs))

    def get(self, key: str) -> str | None:
        """One value (the last given wins), or None."""
        section, dot, rest = key.partition(".")
        middle, dot_two, name = rest.rpartition(".")
        return self.values.get(f"{section.lower()}{dot}{middle}{dot_two}{name.lower()}")

    def all(self, key: str) -> tuple[str, ...]:
        """Every value given for a key, in git's order; `key` as git prints it."""
        return tuple(value for name, value in self.pairs if name == key)

    def flag(self, key: str) -> bool:
        """Whether a setting is on, by git's words for it; absent is off."""
        value = self.get(key)
        return value is not None and value.lower() in _TRUE

    @property
    def remotes(self) -> tuple[str, ...]:
        """The configured remotes' names, sorted."""
        return tuple(sorted(key[len("remote.") : -len(".url")] for key in self.values if _is_remote_url(key)))

    @property
    def main_remote(self) -> str | None:
        """`origin`, else the only remote, else git's own `checkout.defaultRemote`, else None."""
        names = self.remotes
        if "origin" in names:
            return "origin"
        if len(names) == 1:
            return names[0]
        chosen = self.get("checkout.defaultremote")
        return chosen if chosen in names else None

    @property
    def is_partial(self) -> bool:
        """Whether a promisor remote holds objects that this clone may lack."""
        promisors = (key for key in self.values if key.startswith("remote.") and key.endswith(".promisor"))
        return self.get("extensions.partialclone") is not None or any(map(self.flag, promisors))


def _is_remote_url(key: str) -> bool:
    return key.startswith("remote.") and key.endswith(".url") and len(key) > len("remote..url")


def default_ref(refs: Mapping[str, Oid], under: str, configured: str, remote_head: str) -> str | None:
    """The default branch among a remote's tracking refs: configured, else its HEAD, else main or master.

    A configured branch that isn't there gives None, not another branch: a guess could move authority.
    """
    if configured:
        return under + configured if under + configured in refs else None
    if remote_head in refs:
        return remote_head
    usual = [under + name for name in ("main", "master") if under + name in refs]
    return usual[0] if len(usual) == 1 else None


def under_way(git_dir: Path, resolve: Callable[[str], Oid | None] | None) -> Operation:
    """The operation that this worktree's git folder shows under way.

    `resolve` is given where pseudo-refs aren't files (reftable).
    """

    def marked(name: str) -> bool:
        return (git_dir / name).exists() or (resolve is not None and resolve(name) is not None)

    if (git_dir / "rebase-merge").is_dir():
        return Operation.REBASE
    if (git_dir / "rebase-apply").is_dir():
        return Operation.AM if (git_dir / "rebase-apply" / "applying").exists() else Operation.REBASE
    for name, operation in (
        ("MERGE_HEAD", Operation.MERGE),
        ("CHERRY_PICK_HEAD", Operation.CHERRY_PICK),
        ("REVERT_HEAD", Operation.REVERT),
    ):
        if marked(name):
            return operation
    if (git_dir / "sequencer" / "todo").is_file():
        first = (git_dir / "sequencer" / "todo").read_bytes()[:6]
        return Operation.REVERT if first == b"revert" else Operation.CHERRY_PICK
    return Operation.BISECT if (git_dir / "BISECT_LOG").exists() else Operation.NONE
