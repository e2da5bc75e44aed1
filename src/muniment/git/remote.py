"""One branch of one remote: look at it, fetch it into a store of our own, push a commit by compare-and-set.

Nothing is written to the user's repository: no tracking ref, no `FETCH_HEAD`, no index, no lock of git's
waited for. `git ls-remote` and `git push` run in the user's working tree, so that their settings, credential
helpers and pre-push hooks apply; `git fetch` runs on the private store, with the user's connection settings.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from muniment.errors import Refused, Unavailable, UsageProblem
from muniment.git.network import Talk, connection, for_network, talk, with_settings, without_settings
from muniment.git.objects import null_oid
from muniment.git.oid import Oid
from muniment.git.process import Git, readable
from muniment.git.push_answer import Outcome, classify, connection_trouble, explain
from muniment.git.repo import Repository
from muniment.git.settings import Settings
from muniment.git.shared_store import FETCHED, SharedStore
from muniment.git.store_tidy import overgrown, tidy

_NO_SUCH_REF = re.compile(r"^fatal: couldn't find remote ref ", re.MULTILINE)
_DAMAGED = re.compile(
    r"corrupt|missing (?:blob|tree|commit|object)|bad object|unable to (?:read|parse|unpack)|inflate|"
    r"did not send all necessary objects|shallow file|bad shallow|bad ref",
    re.IGNORECASE,
)
_NO_NAME = re.compile(r"[\x00-\x20\x7f~^:?*\[\\]|\.\.|@\{")
_PUSH_OPTIONS = (
    "--porcelain", "--no-follow-tags", "--no-force-if-includes", "--recurse-submodules=no", "--no-progress"
)  # fmt: skip
_FETCH_OPTIONS = (
    "--no-tags", "--no-write-fetch-head", "--no-auto-gc", "--no-recurse-submodules", "--no-prune",
    "--no-progress", "--update-shallow",
)  # fmt: skip


class RemoteTrouble(Unavailable):
    """The remote can't be read; `outcome` is `OFFLINE` or `PERMISSION`."""

    code = "remote"

    def __init__(self, message: str, hint: str, outcome: Outcome) -> None:
        super().__init__(message, hint, code="offline" if outcome is Outcome.OFFLINE else "no-access")
        self.outcome = outcome


@dataclass(frozen=True, slots=True)
class Fetched:
    """What a fetch brought.

    Attributes:
        tip: The branch's commit, or None when the remote has no such branch.
        descends: Whether `known` is the tip or behind it; None when nothing was known, or it can't be told.
    """

    tip: Oid | None
    descends: bool | None


@dataclass(frozen=True, slots=True)
class PushResult:
    """What became of a push, and what git and the server said about it (untrusted, made readable)."""

    outcome: Outcome
    message: str


class Remote:
    """One branch of one remote.

    Attributes:
        name: The remote as configured, or a URL or path.
        branch: The branch's short name.
        ref: Its full name.
        url: Where it is read from, as configured.
        store: The private objects.
        seconds: The longest that one git run may take; None: as long as it takes. A push that was ended is
            `UNKNOWN`, a look or fetch `OFFLINE`.
    """

    def __init__(self, repo: Repository, name: str, branch: str, *, seconds: float | None = None) -> None:
        if not branch or branch.startswith("-") or not name or name.startswith("-"):
            raise UsageProblem("A remote and a branch are needed, neither beginning with a dash.")
        if not _is_branch_name(branch):
            raise UsageProblem(f"{branch!r} can't be a branch's name.", "See: git help check-ref-format")
        self.name = name
        self.branch = branch
        self.ref = f"refs/heads/{branch}"
        self.seconds = seconds
        self._repo = repo
        self._settings = settings_of(repo)
        urls = self._settings.all(f"remote.{name}.url")
        if not urls and not _is_address(name, repo.root):
            raise UsageProblem(
                f"There is no remote {name!r}.",
                "Name one of `git remote`, or add it: git remote add NAME URL.",
                code="no-remote",
            )
        self.url = urls[0] if urls else name
        self.store = SharedStore.of(repo, name, self.url, branch)

    @cached_property
    def _user_side(self) -> Git:
        return Git(self._repo.root, self._repo.git.environ)

    @cached_property
    def _connection_alias(self) -> str:
        return f"muniment-{self.store.folder.name}"

    def _talk(self, arguments: Sequence[str], *, private: bool, alternates: bool = False) -> Talk:
        """Run git in the user's working tree (a relative URL starts there), on the store if `private`."""
        reach = connection(self._settings, self.name, self._connection_alias)
        base = for_network(self._user_side.environ, self._settings)
        if private:
            environment = with_settings(without_settings(base), (*reach.settings, *reach.remote))
            arguments = [f"--git-dir={self.store.folder}", *arguments]
        else:
            environment = with_settings(base, (*reach.remote, ("push.negotiate", "false")))
        if alternates:
            environment["GIT_ALTERNATE_OBJECT_DIRECTORIES"] = quoted(self.store.folder / "objects")
        return talk(self._user_side, arguments, environment, held=self.store.held, seconds=self.seconds)

    # Reading

    def look(self) -> Oid | None:
        """The branch's commit on the remote, or None when there is no such branch; brings no object.

        Raises:
            RemoteTrouble: The remote can't be reached, or doesn't let us.
        """
        said = self._talk(("ls-remote", "--quiet", self._connection_alias, self.ref), private=False)
        if said.code:
            raise self._trouble(said)
        for line in said.out.split("\n"):
            oid, _, name = line.partition("\t")
            if name == self.ref:
                return Oid(oid)
        return None

    def fetch(self, known: Oid | None) -> Fetched:
        """Bring the branch's commit, with what lies between it and `known`, into the store.

        With nothing known, only the commit itself.

        Raises:
            RemoteTrouble: The remote can't be reached, or doesn't let us.
        """
        with self.store.lock():
            return self._fetched(known)

    def _fetched(self, known: Oid | None) -> Fetched:
        if overgrown(self.store):
            self.store.remake()
        if known is not None and self.store.has(known):
            self.store.cut(known)
        else:
            self.store.uncut()
        said = self._fetch_once(known)
        if said.code and not _NO_SUCH_REF.search(said.err) and _DAMAGED.search(said.err):
            self.store.remake()
            said = self._fetch_once(known)
        if said.code and _NO_SUCH_REF.search(said.err):
            return Fetched(None, None)
        tip = self.store.ref(FETCHED)
        if said.code or tip is None or not self.store.has(tip):
            raise self._trouble(said)
        descends = None if known is None else self.store.ancestry(tip, known)
        self.store.cut(tip)
        tidy(self.store, tip)
        return Fetched(tip, descends)

    def _fetch_once(self, known: Oid | None) -> Talk:
        depth = () if known else ("--depth=1",)
        self.store.drop_ref(FETCHED)
        spec = f"+{self.ref}:{FETCHED}"
        return self._talk(("fetch", *_FETCH_OPTIONS, *depth, self._connection_alias, spec), private=True)

    def contains(self, tip: Oid, commit: Oid) -> bool | None:
        """Whether `commit` is `tip` or behind it, by the store; None when that can't be told."""
        return self.store.ancestry(tip, commit)

    def _trouble(self, said: Talk) -> RemoteTrouble:
        outcome = connection_trouble(said.err)
        words = readable(explain("", said.err, self.ref).encode("utf-8", "replace")) or (
            "git was stopped after its time was up." if said.code < 0 else f"git ended with {said.code}."
        )
        if outcome is Outcome.PERMISSION:
            hint = f"Check with: git ls-remote {self.name} — what that asks for must be known without asking."
            return RemoteTrouble(f"The remote {self.name} refuses access: {words}", hint, outcome)
        hint = f"Check with: git ls-remote {self.name}"
        return RemoteTrouble(f"The remote {self.name} can't be reached: {words}", hint, outcome)

    # Writing

    def push(self, commit: Oid, expected: Oid | None) -> PushResult:
        """Make the branch name `commit`, if it still names `expected` (None: if there is no such branch)."""
        if not self._safe(commit) or (expected is not None and not self._safe(expected)):
            raise UsageProblem("A push needs full object ids.")
        if not self.store.has(commit):
            return PushResult(Outcome.UNKNOWN, "The commit is not in the private store any more.")
        lease = f"--force-with-lease={self.ref}:{expected or ''}"
        arguments = ("push", *_PUSH_OPTIONS, lease, self._connection_alias, f"{commit}:{self.ref}")
        said = self._talk(arguments, private=False, alternates=True)
        outcome = classify(said.out, said.err, said.code, self.ref)
        if outcome is Outcome.LANDED:
            with suppress(Refused), self.store.lock(0):  # whoever holds it now will see the tip by itself
                self.store.cut(commit)
        words = explain(said.out, said.err, self.ref)
        return PushResult(outcome, readable(words.encode("utf-8", "replace")))

    def _safe(self, oid: Oid) -> bool:
        return len(oid) == len(null_oid(self._repo.object_format)) and not oid.strip("0123456789abcdef")


def settings_of(repo: Repository) -> Settings:
    """Every git setting of the user's repository, read once per repository."""
    found = getattr(repo, "settings", None)
    return found if isinstance(found, Settings) else Settings.parse(repo.git.out("config", "--list", "-z"))


def quoted(folder: Path) -> str:
    """A folder for `GIT_ALTERNATE_OBJECT_DIRECTORIES`, in git's C quoting where that list would split it."""
    text = str(folder)
    if not set(text) & {":", ";", '"', "\\", "\n"}:
        return text
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def _is_branch_name(name: str) -> bool:
    """Whether git takes this for a branch; git-check-ref-format(1)."""
    parts = name.split("/")
    odd = _NO_NAME.search(name) or name == "@" or name.endswith(".")
    return not odd and all(part and part[0] != "." and not part.endswith(".lock") for part in parts)


def _is_address(name: str, root: Path) -> bool:
    return ":" in name or "/" in name or (root / name).exists()
