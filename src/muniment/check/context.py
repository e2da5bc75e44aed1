"""What every rule receives: the files under judgement, what they are compared with, and lazily read parts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from muniment.authority_upstream import Upstream, authority_commit, upstream
from muniment.check.facts import DocumentFacts, FactsCache
from muniment.check.paths import Kind, Owned
from muniment.check.reading import StateReading, read_state
from muniment.check.snapshot import Objects, Snapshot
from muniment.check.stamps import Stamps
from muniment.errors import Unavailable
from muniment.git.objects import blob_oid
from muniment.git.place import worktree_name
from muniment.git.repo import Oid
from muniment.workspace import Workspace

if TYPE_CHECKING:
    from muniment.ledger.assembly import Whole

_TEXTS = frozenset({Kind.DOCUMENT, Kind.PLAN, Kind.TRIAGE, Kind.REPORT_TEXT})


@dataclass(frozen=True, slots=True)
class Scope:
    """What one check looks at.

    Attributes:
        mode: `all`, `staged`, `range` or `paths`.
        what: The same in words.
        changed: The paths that changed; None: every path counts.
        tip: The commit whose files are judged (range), or HEAD, which the rest is compared with; None when
            there is no commit yet.
        base: The commit that additions are counted from: HEAD, or the range's start; None without one.
        named: The two ends of a range as they were given.
    """

    mode: str
    what: str
    changed: frozenset[str] | None = None
    tip: Oid | None = None
    base: Oid | None = None
    named: tuple[str, str] = ("", "")

    def wants(self, path: str) -> bool:
        """Whether a path is within what was asked for."""
        return self.changed is None or path in self.changed


class Context:
    """The files under judgement and everything that several rules read from them, each read once."""

    def __init__(self, ws: Workspace, scope: Scope, snapshot: Snapshot, owned: Owned) -> None:
        self.ws = ws
        self.scope = scope
        self.snapshot = snapshot
        self.owned = owned
        self.facts = FactsCache(ws.private / "cache" / "check.json")
        self.stamps = Stamps(ws.private / "cache" / f"stamps-{_worktree(ws)}.json")
        self._stamped: set[str] = set()
        self._oids: dict[str, Oid | None] = {}

    @cached_property
    def base(self) -> Objects | None:
        """What the files are compared with; None before the first commit."""
        if self.scope.base is None:
            return None
        return Objects.commit(self.ws.repo, self.scope.base, "the base", self.owned)

    @cached_property
    def authority(self) -> Oid | None:
        """The commit that gives authority: the upstream default branch's, HEAD's without any remote."""
        return authority_commit(self.ws, self.upstream)

    @cached_property
    def upstream(self) -> Upstream:
        """The upstream default branch as this clone knows it."""
        return upstream(self.ws)

    def oid(self, path: str) -> Oid | None:
        """The id of a blob that holds exactly a file's bytes, read only where its stat data don't tell.

        None when there is no plain file, or it can't be read.
        """
        if path not in self._oids:
            self._oids[path] = self._oid(path)
        return self._oids[path]

    def _oid(self, path: str) -> Oid | None:
        info = self.snapshot.stat(path)
        known = self.stamps.oid(path, info) if info else None
        if known is not None:
            self._stamped.add(path)
            return known
        data = self.snapshot.read(path)
        if data is None:
            return None
        oid = self._blob(data)
        if info:
            self.stamps.note(path, info, oid)
        return oid

    @cached_property
    def kinds(self) -> Mapping[str, Kind]:
        """The owned paths in scope, in order, and what each is."""
        found = ((path, self.owned.kind(path)) for path in self.snapshot.paths() if self.scope.wants(path))
        return {path: kind for path, kind in found if kind}

    @cached_property
    def base_kinds(self) -> Mapping[str, Kind]:
        """The owned paths of the base, in order, and what each is."""
        found = ((path, self.owned.kind(path)) for path in (self.base.paths() if self.base else ()))
        return {path: kind for path, kind in found if kind}

    def paths(self, *kinds: Kind) -> Iterator[str]:
        """The owned paths in scope, of these kinds (any, when none is given)."""
        for path, kind in self.kinds.items():
            if not kinds or kind in kinds:
                yield path

    def wants_any(self, *kinds: Kind) -> bool:
        """Whether a file of these kinds is in scope, one that was removed included."""
        if self.scope.changed is None:
            # A record that was removed altogether has to be missed, so what the base holds counts too.
            return any(kind in kinds for kind in (*self.kinds.values(), *self.base_kinds.values()))
        return any(self.owned.kind(path) in kinds for path in self.scope.changed)

    def read(self, path: str) -> bytes:
        """A file's bytes; empty when it is not there (a rule that cares asks `snapshot.read`)."""
        return self.snapshot.read(path) or b""

    def record(self, path: str) -> bytes | None:
        """A record's bytes, None when it is absent; raises `Unavailable` when it is there and unreadable."""
        data = self.snapshot.read(path)
        if data is None and path in self.snapshot.unreadable:
            raise Unavailable(*self.snapshot.unreadable[path])
        return data

    def text(self, path: str) -> str | None:
        """A file's text, or None when it is absent or not UTF-8 (the rule `text` says so)."""
        data = self.snapshot.read(path)
        try:
            return None if data is None else data.decode("utf-8")
        except UnicodeDecodeError:
            return None

    @cached_property
    def documents(self) -> Mapping[str, DocumentFacts]:
        """What was found in each Markdown file in scope, from the cache where its bytes are known."""
        return {path: facts for path in self.paths(*_TEXTS) if (facts := self._facts(path)) is not None}

    def _facts(self, path: str) -> DocumentFacts | None:
        oid = self.oid(path)
        if oid is None or (known := self.facts.known(path, oid)) is not None:
            return None if oid is None else known
        data = self.snapshot.read(path)
        if data is None:
            return None
        # Since its stat data were taken the file may have changed: facts belong to the bytes they came from.
        return self.facts.of(path, data, self._blob(data) if path in self._stamped else oid)

    def blob(self, path: str, oid: Oid) -> bytes | None:
        """A file's bytes if they are exactly those of this blob, else None: spares asking git for it."""
        data = self.snapshot.read(path) if self.oid(path) == oid else None
        if data is not None and path in self._stamped and self._blob(data) != oid:
            return None
        return data

    def _blob(self, data: bytes) -> Oid:
        return blob_oid(data, self.ws.repo.object_format)

    def faults(self, path: str) -> tuple[tuple[int, str, str, str], ...]:
        """What a Markdown file in scope shows as wrong; nothing for another file."""
        found = self.documents.get(path)
        return found.faults if found else ()

    @cached_property
    def state(self) -> StateReading:
        """The state file of the files under judgement."""
        from muniment.state.store import sensitive_sources  # noqa: PLC0415 - most commits touch no state

        path = self.ws.config.sweep_state_path
        return read_state(self.record(path), path, sensitive_sources(self.ws))

    @cached_property
    def ledger(self) -> Whole:
        """The ledger of the files under judgement, checked as a set."""
        from muniment.ledger.assembly import assemble  # noqa: PLC0415 - rarely needed

        path = self.ws.config.ledger_path
        return assemble(self.record(path), path, self.record)


def _worktree(ws: Workspace) -> str:
    return worktree_name(ws.repo.git_dir, ws.repo.common_dir)
