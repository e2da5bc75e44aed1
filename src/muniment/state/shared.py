"""The engine on a shared branch: the same operations as on a file, each write one commit (S12, S20, G9).

Reading fetches and then answers from the private store; offline, from what was last seen there, and says so.
Writing is the lease's business (`Guard`): it knows the session and the epoch, stamps the record and pushes.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from functools import cached_property
from typing import Protocol

from muniment.errors import MunimentError, Refused, Unavailable, UsageProblem
from muniment.git.oid import MissingObject, Oid
from muniment.git.push_answer import Outcome
from muniment.git.remote import Remote, RemoteTrouble
from muniment.git.shared_store import TIP, SharedStore
from muniment.publish_shared import SharedDoor
from muniment.state import operations
from muniment.state.branch import BranchState
from muniment.state.operations import Answer, Edit, Unplaceable, View, Word
from muniment.state.store import sensitive_sources
from muniment.state.text import Corrupt
from muniment.workspace import Workspace, rfc3339

Act = Callable[[View], Answer]
READ_WAIT_SECONDS = 5.0
"""How long a read waits for other processes of this clone that talk to the remote."""


class CommitFiles:
    """The files of one commit of the store, as a state is read from them."""

    def __init__(self, store: SharedStore, commit: Oid) -> None:
        """Name the commit."""
        self._store = store
        self._commit = commit
        self._listed: dict[str, Oid] = {}

    def file(self, path: str) -> bytes | None:
        """A file's bytes, or None."""
        known = self._listed.get(path)
        return self._store.file(self._commit, path) if known is None else self._store.blob(known)

    def names(self, folder: str) -> Mapping[str, bool]:
        """What lies directly in a folder: name → whether it is a folder."""
        return self._store.names(self._commit, folder)

    def paths(self, folder: str) -> Collection[str]:
        """The paths of all files below a folder."""
        found = self._store.files(self._commit, folder)
        self._listed |= found
        return found


class _NoFiles:
    """What a branch that isn't there holds."""

    def file(self, path: str) -> None:
        """Nothing."""

    def names(self, folder: str) -> Mapping[str, bool]:  # noqa: ARG002 - as in `Files`
        """Nothing in any folder."""
        return {}

    def paths(self, folder: str) -> Collection[str]:  # noqa: ARG002 - as in `Files`
        """None in any folder."""
        return ()


class SharedBranch:
    """One state branch of one remote: its state at a commit, and new commits on it."""

    def __init__(self, ws: Workspace, remote: str, branch: str) -> None:
        """Name the branch; nothing is asked yet. Raises `UsageProblem` for an unknown remote."""
        self.ws = ws
        self.remote = Remote(ws.repo, remote, branch)
        self.door = SharedDoor(ws, self.remote)

    @property
    def store(self) -> SharedStore:
        """The private objects."""
        return self.remote.store

    @cached_property
    def _hidden(self) -> frozenset[str]:
        return sensitive_sources(self.ws)

    def at(self, commit: Oid | None) -> BranchState:
        """The state at a commit of the store (None: no branch); raises `Corrupt`, `MissingObject`."""
        files = _NoFiles() if commit is None else CommitFiles(self.store, commit)
        return BranchState(files, hidden=self._hidden)

    def commit(self, base: Oid | None, edits: Iterable[Edit], message: str, *, replaces: bool = False) -> Oid:
        """Store a commit with edits made to the state at `base`, gated; pushes nothing.

        Raises:
            GateRefused, Unplaceable, Corrupt, MissingObject, UsageProblem, Unavailable: nothing was stored.
        """
        changes = self.at(base).changes(edits)
        return self.door.commit(base, changes, message, replaces=replaces)


class Guard(Protocol):
    """Who holds the lease and carries out a write under it."""

    def write(self, act: Act, *, writer: str, now: str, session: str, epoch: int) -> Answer:
        """Make the edits that `act` answers, with the record stamped, as one pushed commit; or why not.

        `writer`, `session` and `epoch` must be those of the lease, each unless it is empty.
        """

    def compact(self, *, writer: str, now: str, session: str, epoch: int) -> Answer:
        """Replace the branch's history by one commit."""


class SharedState:
    """A state on a branch; each method answers with a status word and raises only for misuse."""

    def __init__(self, branch: SharedBranch, guard: Guard, *, session: str = "", epoch: int = 0) -> None:
        """Name the state and who writes it; `session` and `epoch` where the caller says them."""
        self.branch = branch
        self._guard = guard
        self._session = session
        self._epoch = epoch

    def read(self) -> Answer:
        """The whole state."""
        return self._ask(lambda view: Answer(Word.OK, view.value()) if view.exists else Answer(Word.NO_STATE))

    def cursor(self, source: str) -> Answer:
        """A source's cursor."""
        return self._ask(lambda view: operations.cursor_get(view, source))

    def validate(self, writer: str = "", now: str = "") -> Answer:
        """Take back what claims more than its evidence; only where that changes something, it is a write."""

        def act(view: View) -> Answer:
            assert isinstance(view, BranchState)  # noqa: S101 - a guard hands out nothing else
            return operations.validate(view, view.items()) if view.exists else Answer(Word.NO_STATE)

        seen = self._ask(act)
        return self.held(act, writer, now) if seen.word is Word.OK and seen.edits else seen

    def change(self, act: Act, writer: str = "") -> Answer:
        """Nothing on a shared branch changes without the lease."""
        return self.held(act, writer, "")

    def unless_held(self, act: Act, writer: str | None) -> Answer:
        """As `change`."""
        return self.held(act, writer or "", "")

    def held(self, act: Act, writer: str, now: str) -> Answer:
        """Make a change as the holder of the lease, which it stamps again.

        Raises:
            UsageProblem: The settings are broken: nothing says then whose text may not be stored.
        """
        self.branch.ws.require_config()
        return answered(
            lambda: self._guard.write(act, writer=writer, now=now, session=self._session, epoch=self._epoch)
        )

    def compact(self, writer: str, now: str) -> Answer:
        """Replace the branch's history by one commit that names the old tip."""
        return answered(
            lambda: self._guard.compact(writer=writer, now=now, session=self._session, epoch=self._epoch)
        )

    def _ask(self, question: Callable[[BranchState], Answer]) -> Answer:
        """Answer from the remote's tip; offline from the last one seen, with its age."""

        def whole() -> Answer:
            tip, note = self._tip()
            try:
                answer = question(self.branch.at(tip))
            except MissingObject:  # torn by a power cut: what the remote has comes again
                with self.branch.store.lock():
                    self.branch.store.remake()
                tip, note = self._tip()
                answer = question(self.branch.at(tip))
            return replace(answer, note="\n".join(filter(None, (note, answer.note))))

        return answered(whole)

    def _tip(self) -> tuple[Oid | None, str]:
        """The branch's commit, and what is to be said about how fresh it is."""
        store = self.branch.store
        try:
            with store.lock(READ_WAIT_SECONDS):
                return self.branch.remote.fetch(store.ref(TIP)).tip, ""
        except (RemoteTrouble, Refused) as error:
            known = store.ref(TIP)
            if known is None:
                raise
            return known, f"{error.message} {self._age()}"

    def _age(self) -> str:
        """When the tip that we remember was last seen, in words."""
        seen = datetime.fromtimestamp((self.branch.store.folder / TIP).stat().st_mtime, UTC)
        minutes = max(0, round((self.branch.ws.now() - seen).total_seconds() / 60))
        return f"This is the state as last seen at {rfc3339(seen)}, {minutes} minutes ago."


def answered(work: Callable[[], Answer]) -> Answer:
    """What work answers, its failures turned into status words; misuse stays an error.

    Only for work that fails before anything was pushed: its failures say that nothing was written.
    """
    try:
        return work()
    except Corrupt as error:
        return _failed(Word.CORRUPT, error.message, error.line)
    except Unplaceable as error:
        return _failed(Word.ERROR, error.message, error.line)
    except RemoteTrouble as error:
        word = Word.OFFLINE if error.outcome is Outcome.OFFLINE else Word.REJECTED_POLICY
        return Answer(word, note=f"{error.message} {error.hint}")
    except UsageProblem:
        raise
    except (Refused, Unavailable, MunimentError) as error:
        return _failed(Word.ERROR, error.message)


def _failed(word: Word, message: str, line: int = 0) -> Answer:
    said = message if "Nothing was written." in message else f"{message} Nothing was written."
    where = f"line {line}: " if line else ""
    return Answer(word, {"line": line, "message": message}, note=f"{where}{said}")
