"""Carry the lease protocol out: git, clocks, and what a clone and a worktree keep privately (G9).

The protocol itself is `state/protocol.py`; here each of its requests is answered by the outside. Every
commit is made and pushed through `publish_shared.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from muniment.errors import MunimentError, Refused
from muniment.git.oid import MissingObject, Oid
from muniment.git.push_answer import Outcome
from muniment.git.remote import RemoteTrouble
from muniment.lease_answer import explain
from muniment.lease_memory import LeaseMemory
from muniment.state import protocol, requests
from muniment.state.lease import Face, Memory, Standing, face, judge, usable
from muniment.state.operations import Answer, Edit, View, Word, ensure_version
from muniment.state.requests import Held, Landing, Result, Stamp, Status, Trouble
from muniment.state.shared import SharedBranch
from muniment.state.stamping import stamping
from muniment.state.text import Corrupt
from muniment.workspace import Instant, Workspace

MAX_HISTORY = 5_000
"""How many commits back the beginning of a replaced history is looked for."""
GIT_SECONDS = 60.0
"""The longest that one git run may take."""
LOOK_SHARE = 40
"""A waiting contender spends at most one part in so many of its time on looking."""
MIN_LOOK, MAX_LOOK = 0.2, 5.0
"""Bounds of the time between two looks, in seconds."""


_LANDINGS = {
    Outcome.LANDED: Landing.LANDED,
    Outcome.LOST_RACE: Landing.LOST,
    Outcome.POLICY: Landing.REFUSED,
    Outcome.PERMISSION: Landing.REFUSED,
    Outcome.SERVER_LOCK: Landing.BUSY,
    Outcome.OFFLINE: Landing.OFFLINE,
    Outcome.UNKNOWN: Landing.UNKNOWN,
}
Act = Callable[[View], Answer]


class _Declined(Exception):
    """The caller's change can't be made on the state that stands; nothing was pushed."""

    def __init__(self, answer: Answer) -> None:
        super().__init__(answer.word)
        self.answer = answer


@dataclass(slots=True)
class _Call:
    """One call under way: its change, its commit's message, what became of its pushes, what it found out."""

    message: str
    act: Act | None = None
    answer: Answer | None = None
    landed: bool = False
    doubt: bool = False
    look_cost: float = 0.0
    recent: tuple[str, ...] = ()


class SharedLease:
    """The lease on one branch of one remote, for one worktree; also the `Guard` of the shared state."""

    mode = "shared"

    def __init__(self, ws: Workspace, branch: SharedBranch) -> None:
        self.ws = ws
        self.branch = branch
        self.memory = LeaseMemory(ws, branch.store.folder.name)
        branch.remote.seconds = GIT_SECONDS

    @property
    def place(self) -> str:
        """Where the lease lies, for people."""
        return f"{self.branch.remote.branch} on {self.branch.remote.name}"

    def kept(self) -> Held | None:
        """The session that this worktree keeps; asks nobody."""
        return self.memory.held()

    # The calls

    def acquire(
        self, writer: str, ttl: float, *, wait: float = 0.0, reclaim: bool = True, run: bool = False
    ) -> Result:
        """Take the lease; `ttl` and `wait` in seconds."""
        now = self.ws.instant()
        want = requests.Want(
            writer,
            self.ws.token_hex(16),
            ttl,
            float(self.ws.config.setting("sweep_max_clock_skew_minutes")) * 60,
            self.memory.clone,
            until=now.boot + wait if wait > 0 else 0.0,
            reclaim=reclaim,
            run=run,
        )
        steps = protocol.acquire(want, self.memory.read(), self.memory.held())
        return self._carry(steps, _Call(f"Acquire the lease for {writer}\n"))

    def renew(self, held: Held, ttl: float | None = None) -> Result:
        """Stamp the lease again; `ttl` in seconds changes it from now on."""
        return self._carry(
            protocol.renew(held, self.memory.read(), ttl), _Call(f"Renew the lease of {held.record.writer}\n")
        )

    def release(self, held: Held) -> Result:
        """Give the lease back."""
        return self._carry(
            protocol.release(held, self.memory.read()), _Call(f"Release the lease of {held.record.writer}\n")
        )

    def end(self, reason: str, ttl: float, *, only: tuple[int, str] | None = None) -> Result:
        """End whatever lease there is, for a reason that the commit tells; `only`: see the protocol."""
        message = f"Break the lease\n\nBy: {self.ws.actor}\nReason: {reason}\n"
        return self._carry(protocol.end(self.memory.read(), ttl, only=only), _Call(message))

    def status(self) -> Result:
        """Who holds it, by the remote's tip: `OK` for this worktree, `LOCKED` for another, `FREE`."""

        def look() -> requests.Steps:
            memory = self.memory.read()
            seen = yield from protocol.see(memory, self._default_ttl())
            if isinstance(seen, Trouble):
                return Result(seen.status, None, memory, words=seen.words)
            now = yield requests.Now()
            return self._standing(seen, now)

        return self._carry(look(), _Call(""))

    def _standing(self, memory: Memory, now: Instant) -> Result:
        skew = float(self.ws.config.setting("sweep_max_clock_skew_minutes")) * 60
        found = judge(memory, now, skew)
        held = self.memory.held()
        record = memory.face.record
        if found.standing is Standing.REWOUND:
            return Result(Status.REMOTE_REWOUND, None, memory, found.retry_after)
        if found.standing is Standing.FREE:
            return Result(Status.FREE, None, memory)
        if held and record and held.record.session == record.session and held.lives(now):
            return Result(Status.OK, replace(held, record=record), memory)
        return Result(Status.LOCKED, None, memory, found.retry_after)

    def own(self, writer: str = "", session: str = "", epoch: int = 0) -> Held | None:
        """The session that this worktree keeps, or the one named, if the remote's tip carries it.

        Args:
            writer: It must be this writer's, unless "".
            session: The nonce, where the caller says it.
            epoch: The fencing number, where the caller says it.
        """
        held = self.memory.held()
        if session and (held is None or held.record.session != session):
            held = self._named(session)
        if held is None or (writer and held.record.writer != writer):
            return None
        return None if epoch and held.record.epoch != epoch else held

    def _named(self, session: str) -> Held | None:
        """A session that was acquired elsewhere and handed over: known by the tip alone."""
        seen = self.status()
        record = seen.memory.face.record
        if record is None or record.session != session or seen.status is Status.REMOTE_REWOUND:
            return None
        now = self.ws.instant()
        left = seen.memory.since + usable(record.ttl)
        return Held(record, seen.memory.tip, left, now.boot_id, run=True)

    # The guard of the shared state

    def write(
        self,
        act: Act,
        *,
        writer: str,
        now: str = "",  # noqa: ARG002 - the engine's; here the record's times come with the stamp
        session: str = "",
        epoch: int = 0,
    ) -> Answer:
        """Make the edits that `act` answers, with the record stamped, as one pushed commit; or why not."""
        with self.memory.turn():
            held = self.own(writer, session, epoch)
            if held is None:
                return _lost("This worktree holds no lease for this writer: muniment lease acquire")
            steps = protocol.write(held, self.memory.read(), change=True)
            return self._answered(steps, _Call(f"Update the state\n\nWriter: {held.record.writer}\n", act))

    def compact(
        self,
        *,
        writer: str,
        now: str = "",  # noqa: ARG002 - as above
        session: str = "",
        epoch: int = 0,
    ) -> Answer:
        """Replace the branch's history by one commit that names the old tip."""
        with self.memory.turn():
            held = self.own(writer, session, epoch)
            if held is None:
                return _lost("This worktree holds no lease for this writer: muniment lease acquire")
            message = f"Replace the history of the state\n\nReplaces: {held.tip}\n"
            steps = protocol.compact(held, self.memory.read())
            return self._answered(steps, _Call(message, lambda _view: Answer(Word.OK)))

    def _answered(self, steps: requests.Steps, call: _Call) -> Answer:
        try:
            result = self._carry(steps, call)
        except _Declined as declined:
            return declined.answer
        if result.status is Status.OK and call.answer is not None:
            return replace(call.answer, edits=())
        if result.status is Status.LOCKED:
            return Answer(Word.UNKNOWN, note="The branch moved again and again; nothing was written.")
        return Answer(Word(result.status.value), note=explain(result))

    # Carrying out

    def _carry(self, steps: requests.Steps, call: _Call) -> Result:
        answer: Any = None
        while True:
            try:
                wanted = steps.send(answer)
            except StopIteration as stop:
                result: Result = stop.value
                return result
            try:
                answer = self._done(wanted, call)
            except MunimentError as error:
                answer = _survived(wanted, call, error)

    def _done(self, wanted: requests.Effect, call: _Call) -> Any:
        """Do what the protocol asks for, and say how it went."""
        said: Any = None
        match wanted:
            case requests.Now():
                said = self.ws.instant()
            case requests.Look():
                said = self._look(call)
            case requests.Fetch(known):
                said = self._fetch(known, call)
            case requests.Push(expected, stamp):
                said = self._push(expected, stamp, call)
            case requests.Again(commit, expected):
                said = self._sent(commit, expected, call)
            case requests.Contains(tip, commit):
                said = self.branch.remote.contains(Oid(tip), Oid(commit)) if tip else None
            case requests.Save(memory):
                self.memory.save(memory)
            case requests.Keep(held, session):
                self.memory.keep(held, session)
            case requests.Pause(seconds, looks):
                self._pause(seconds, call, looks=looks)
        return said

    def _look(self, call: _Call) -> str | Trouble:
        before = self.ws.instant().boot
        try:
            tip = self.branch.remote.look() or ""
        except RemoteTrouble as error:
            return _trouble(error)
        call.look_cost = self.ws.instant().boot - before
        return tip

    def _fetch(self, known: str, call: _Call) -> requests.Fetched | Trouble:
        store, remote = self.branch.store, self.branch.remote
        try:
            with store.lock(GIT_SECONDS):
                found = remote.fetch(Oid(known) if known else None)
        except RemoteTrouble as error:
            return _trouble(error)
        if found.tip is None:
            return requests.Fetched("", Face())
        said = self._said(found.tip, call)
        call.recent = said.recent
        same = known == found.tip
        return requests.Fetched(
            found.tip,
            said,
            True if same else found.descends,
            found.descends is False and self._replaces(found.tip),
        )

    def _said(self, tip: Oid, call: _Call) -> Face:
        """What a tip says; one that can't be read still tells whether a push of unknown outcome landed."""
        try:
            return self._face(tip)
        except MunimentError:
            if not call.doubt:
                raise
            return Face(unreadable=True)

    def _face(self, tip: Oid) -> Face:
        try:
            state = self.branch.at(tip)
            names = ("lease", "lease_epoch", "lease_recent", "lease_previous")
            return face({name: state.top(name) for name in names} if state.exists else {})
        except Corrupt as error:
            raise Refused(
                f"The state on {self.branch.remote.branch} can't be read: line {error.line}: {error.message}",
                "Mend it there by hand: git switch to the branch, `muniment repair state.yml`, commit, push.",
                code="corrupt",
            ) from error

    def _replaces(self, tip: Oid) -> bool:
        """Whether a tip's history begins with a commit that replaced what was seen here.

        It names the tip that it replaces, and took the epoch after it: one that begins with an epoch that was
        seen here already is the beginning of what was seen, so the branch was set back.
        """
        commit = self.branch.store.commit(tip)
        try:
            for _ in range(MAX_HISTORY):
                if not commit.parents:
                    later = self._face(commit.oid).epoch > self.memory.read().greatest
                    return later and "\nReplaces: " in commit.message
                commit = self.branch.store.commit(commit.parents[0])
        except MissingObject:
            return False
        return False

    def _push(self, expected: str, stamp: Stamp, call: _Call) -> requests.Pushed:
        base = Oid(expected) if expected else None
        if base is not None and not self._brought(base):
            return requests.Pushed("", Landing.LOST)
        state = self.branch.at(base)
        edits: tuple[Edit, ...] = ()
        if stamp.change and call.act is not None:
            call.answer = call.act(state)
            if call.answer.word is not Word.OK:
                raise _Declined(call.answer)
            edits = call.answer.edits
        edits = (*ensure_version(state), *edits, *stamping(state, stamp))
        commit = self.branch.commit(base, edits, call.message, replaces=stamp.replaces)
        return self._sent(commit, expected, call)

    def _brought(self, base: Oid) -> bool:
        """Whether the store holds a commit; it is fetched if the store was made anew meanwhile."""
        store = self.branch.store
        if store.has(base):
            return True
        with store.lock(GIT_SECONDS):
            try:
                self.branch.remote.fetch(None)
            except RemoteTrouble:
                return False
        return store.has(base)

    def _sent(self, commit: str, expected: str, call: _Call) -> requests.Pushed:
        result = self.branch.door.push(Oid(commit), Oid(expected) if expected else None)
        landing = _LANDINGS[result.outcome]
        call.landed = call.landed or landing is Landing.LANDED
        call.doubt = call.doubt or landing is Landing.UNKNOWN
        return requests.Pushed(commit, landing, result.message)

    def _pause(self, seconds: float, call: _Call, *, looks: bool) -> None:
        """Wait, with jitter; between looks so long that all contenders together ask at a bounded rate."""
        spread = 0.7 + 0.6 * int(self.ws.token_hex(2), 16) / 0xFFFF
        if looks:
            turn = call.recent.index(self.memory.clone) if self.memory.clone in call.recent else 0
            wanted = max(MIN_LOOK, call.look_cost * LOOK_SHARE) * (1 + turn / 4)
            seconds = min(seconds, MAX_LOOK, wanted)
        self.ws.sleep(seconds * spread)

    def _default_ttl(self) -> float:
        return float(self.ws.config.setting("sweep_lease_ttl_minutes")) * 60


def _survived(wanted: requests.Effect, call: _Call, error: MunimentError) -> Any:
    """The answer in place of what failed after a push: its error would say that nothing was written.

    A restamp that can't be kept is found again on the branch; an acquire that can't be kept is an error.
    """
    restamp = isinstance(wanted, requests.Keep) and (wanted.held is None or wanted.held.record.seq > 1)
    if (call.landed or call.doubt) and (restamp or isinstance(wanted, requests.Save)):
        return None
    if call.doubt and isinstance(wanted, requests.Look | requests.Fetch):
        return Trouble(Status.UNKNOWN, error.message)
    if call.doubt and isinstance(wanted, requests.Again):
        return requests.Pushed(wanted.commit, Landing.UNKNOWN, error.message)
    raise error


def _trouble(error: RemoteTrouble) -> Trouble:
    offline = error.outcome is Outcome.OFFLINE
    return Trouble(Status.OFFLINE if offline else Status.REJECTED_POLICY, f"{error.message} {error.hint}")


def _lost(note: str) -> Answer:
    return Answer(Word.LEASE_LOST, note=note)
