"""The one door to a shared state branch: cleared bytes in, a commit in the private store out, a push.

There is no working tree, index or hook of a commit on this way, so there is nothing to journal: objects that
are never pushed are on no branch. What is pushed was judged whole: each file's final bytes relative to the
parent's, each path, the message, and the branch's name (G12). Signed only if `commit.gpgSign` says so (G9).
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING
from urllib.parse import unquote

from muniment.errors import Unavailable, UsageProblem
from muniment.git.oid import Oid
from muniment.git.process import decode, encode
from muniment.git.program import DURABLE
from muniment.git.remote import PushResult, Remote, settings_of
from muniment.git.repo import Signature
from muniment.workspace import Workspace

if TYPE_CHECKING:
    from muniment.redact.gate import Cleared, Gate

Changes = Mapping[str, bytes | None]
"""Path → whole new content, or None to remove the file."""


class SharedDoor:
    """Makes and pushes commits for one branch of one remote."""

    def __init__(self, ws: Workspace, remote: Remote, gate: Gate | None = None) -> None:
        """Open the door; `gate` stands in for the repository's own."""
        self.ws = ws
        self.remote = remote
        self._given = gate
        self._settings = settings_of(ws.repo)

    # Making a commit

    def commit(self, base: Oid | None, changes: Changes, message: str, *, replaces: bool = False) -> Oid:
        """Store a commit with files set or removed relative to `base`; nothing is pushed.

        Args:
            base: The commit that the changes were made for, and the only parent; None begins a branch.
            changes: What differs from it. No change at all makes a commit all the same.
            message: The whole commit message.
            replaces: Whether the commit gets no parent, which replaces the history behind `base`.

        Raises:
            GateRefused: An identifier or a secret would leave; nothing was stored.
            UsageProblem: git doesn't know who commits.
            MissingObject: Something of `base` isn't in the store.
            Unavailable: Signing failed.
        """
        cleared = {path: self._cleared(base, path, data) for path, data in changes.items()}
        text = self._gates(message, "commit message")
        store = self.remote.store
        tree = store.edit(base, {path: one.data if one else None for path, one in cleared.items()})
        parents = () if base is None or replaces else (base,)
        if self._settings.flag("commit.gpgsign"):
            return self._signed(tree, parents, text)
        now = self.ws.now()
        return store.write_commit(
            tree, parents, text, self._signature("author", now), self._signature("committer", now)
        )

    def push(self, commit: Oid, expected: Oid | None) -> PushResult:
        """Let the remote's branch name a commit made here, if it still names `expected` (None: is absent)."""
        return self.remote.push(commit, expected)

    # What may leave

    @cached_property
    def _strict(self) -> Gate:
        """A gate that allows nothing: what it passes would pass any, and it asks git nothing."""
        from muniment.redact.gate import Gate  # noqa: PLC0415 - reading a state needs no gate
        from muniment.redact.gate_leaks import betterleaks  # noqa: PLC0415 - as above
        from muniment.redact.gate_setup import configured_names  # noqa: PLC0415 - as above

        return Gate(configured_names(self.ws, None), also=betterleaks())

    @cached_property
    def _full(self) -> Gate:
        from muniment.redact.gate import gate_for  # noqa: PLC0415 - as above

        return gate_for(self.ws)

    @cached_property
    def _branch_is_clear(self) -> bool:
        self._gates(self.remote.branch, "branch name")
        return True

    def _cleared(self, base: Oid | None, path: str, data: bytes | None) -> Cleared | None:
        """A file's bytes as cleared; None for one that goes."""
        assert self._branch_is_clear  # noqa: S101 - raises by itself
        if data is None:
            return None
        old = None if base is None else self.remote.store.file(base, path)
        if old is None:  # a name says the same with an ending, or when written otherwise
            self._gates(unquote(path.removesuffix(".yml")), "path")
        gate = self._given or self._strict
        if self._given is None and gate.inspect(path, data, old):
            gate = self._full
        return gate.clear(path, data, old)

    def _gates(self, text: str, what: str) -> str:
        gate = self._given or self._strict
        if self._given is None and gate.inspect_text(text, what):
            gate = self._full
        return gate.clear_text(text, what).text

    # Who commits

    def _signature(self, role: str, now: datetime) -> Signature:
        name, email = self._own(role, "name"), self._own(role, "email")
        if not name or not email:
            name, email = self._asked(role)
        zone = now.utcoffset()
        return Signature(name, email, int(now.timestamp()), int(zone.total_seconds() // 60) if zone else 0)

    def _own(self, role: str, part: str) -> str:
        """Name or address as git would take them: environment, then the role's setting, then the user's."""
        given = self.ws.repo.git.environ.get(f"GIT_{role.upper()}_{part.upper()}")
        value = given or self._settings.get(f"{role}.{part}") or self._settings.get(f"user.{part}") or ""
        return "".join(char for char in value if char not in "<>\n\0").strip(" .,:;\"'\\")

    def _asked(self, role: str) -> tuple[str, str]:
        """What git makes up where nothing is set; raises `UsageProblem` where it makes up nothing."""
        said = self.ws.repo.git.run("var", f"GIT_{role.upper()}_IDENT", acting=True)
        name, _, rest = decode(said.out).strip().partition(" <")
        if said.code or not name or ">" not in rest:
            raise UsageProblem(
                "git doesn't know who you are, so nothing was written.",
                "git config user.name 'Your Name' && git config user.email you@example.org",
                code="no-identity",
            )
        return name, rest.partition(">")[0]

    def _signed(self, tree: Oid, parents: tuple[Oid, ...], message: str) -> Oid:
        """The commit by git, which alone can sign; it reads and writes the private objects."""
        now = self.ws.now()
        who = {role: self._signature(role, now) for role in ("author", "committer")}
        environment = {"GIT_OBJECT_DIRECTORY": str(self.remote.store.folder / "objects")}
        for role, one in who.items():
            environment |= {
                f"GIT_{role.upper()}_NAME": one.name,
                f"GIT_{role.upper()}_EMAIL": one.email,
                f"GIT_{role.upper()}_DATE": f"{one.when} +0000",
            }
        given = [part for parent in parents for part in ("-p", parent)]
        done = self.ws.repo.git.run(
            "commit-tree", "-S", *given, "-F", "-", tree,
            stdin=encode(message), env=environment, acting=True, options=DURABLE,
        )  # fmt: skip
        if done.code:
            raise Unavailable(
                f"git could not sign the commit: {done.err}", "Nothing was pushed; see commit.gpgSign."
            )
        return Oid(decode(done.out).strip())
