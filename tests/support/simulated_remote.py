"""A simulated remote, its network, and clients with clocks: the lease protocol under every order and fault.

`World` runs the protocol's own generators. Whatever may differ between two runs (who moves, what becomes of a
message, when time passes, who crashes) is one `pick`; the list of picks is the schedule. Each move of the
branch and each answer is judged at once; `Violation` names what broke.
"""

from __future__ import annotations

import random
from bisect import bisect
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cache
from itertools import accumulate
from types import ModuleType
from typing import Any, Protocol

from muniment.state import lease, protocol, requests
from muniment.state.lease import Face, Memory
from muniment.state.requests import Held, Landing, Result, Stamp
from muniment.workspace import Instant

SKEW = 60.0
"""Seconds that two wall clocks here may differ."""
TTLS = (100.0, 40.0, 70.0)
"""Each client asks for another ttl."""
LONGEST = 200.0
"""The longest ttl that a stamp here may carry."""
_EPOCH = 1_796_000_000.0
_ROUNDING = 1e-6
_OK = frozenset({"OK", "STALE-RECLAIMED"})
_DEFINITE = frozenset({"LEASE-LOST", "LOCKED", "REJECTED-POLICY", "OFFLINE", "FREE"})


class Violation(AssertionError):
    """A promise that the protocol broke."""


@dataclass(frozen=True, slots=True)
class Code:
    """The lease code under test: the real one, or a mutant; `honest`: whether the remote compares first."""

    lease: ModuleType = lease
    requests: ModuleType = requests
    protocol: ModuleType = protocol
    honest: bool = True


REAL = Code()


@dataclass(frozen=True, slots=True)
class Profile:
    """How likely what is; each tuple holds the weights of one choice, the undisturbed outcome first.

    Attributes:
        push: landed or lost, answer lost, request lost, landing later, refused, server lock, offline, crash
            before, crash after, slow answer.
        read: answered, offline, crash, slow answer.
        disk: kept, crash before, crash after.
        events: a client moves; a moment passes, half a ttl passes, more than a ttl; a delayed push lands; the
            branch is rewound; a machine reboots; a wall clock is stepped.
        fresh: What a client without a session does: acquire, wait for it, acquire but never take over, break.
        holding: And one with a session: write, renew, release, compact, acquire again, renew for a shorter
            time, renew for a longer one, break.
        shared: Whether two of the clients are worktrees of one clone.
        skew: What wall clocks are trusted to differ by at most; 0: not at all, and they differ by hours.
        patience: Seconds to find out an unknown outcome.
    """

    push: tuple[int, ...] = (1,)
    read: tuple[int, ...] = (1,)
    disk: tuple[int, ...] = (1,)
    events: tuple[int, ...] = (1,)
    fresh: tuple[int, ...] = (8, 4, 1)
    holding: tuple[int, ...] = (8, 3, 5, 1, 2, 1, 1)
    clients: int = 2
    calls: int = 3
    steps: int = 40
    shared: bool = False
    skew: float = SKEW
    patience: float = 0.1

    @property
    def gentle(self) -> bool:
        """Whether messages get lost, but nobody crashes, waits long or has anything taken away."""
        harsh = (self.push[7:9], self.disk[1:], self.read[2:3], self.events[2:4], self.events[5:7])
        return not any(weight for weights in harsh for weight in weights)


LOSSY = Profile(
    push=(12, 4, 2, 6, 1, 1, 1, 0, 0, 3), read=(20, 1, 0, 2), events=(30, 2, 0, 0, 3), fresh=(8, 0, 1)
)
CRASHES = Profile(
    push=(12, 3, 1, 2, 1, 1, 1, 2, 2, 2),
    read=(20, 1, 1, 1),
    disk=(24, 1, 1),
    events=(40, 2, 2, 3, 2, 0, 2, 1),
    skew=0.0,
)
STOPS = Profile(push=(20, 2, 1, 2, 0, 0, 0, 0, 0, 4), read=(10, 0, 0, 3), events=(16, 1, 3, 4, 1, 0, 0, 1))
WATCHES = Profile(events=(12, 1, 4), fresh=(2, 3, 0), holding=(4, 6, 1, 0, 0, 1, 3), calls=5)
HISTORY = Profile(
    push=(16, 5, 0, 3, 0, 0, 0, 1, 1, 2),
    events=(20, 1, 1, 2, 2),
    fresh=(8, 2, 0),
    holding=(5, 1, 1, 6, 0, 0, 0),
    calls=4,
)
REWINDS = Profile(
    push=(16, 2, 1, 1, 0, 0, 0, 1, 1, 1),
    events=(24, 2, 1, 1, 1, 3, 0, 1),
    holding=(4, 2, 2, 1, 1, 1, 5),
    clients=3,
    steps=48,
)
BREAKS = Profile(
    push=(16, 2, 1, 1, 1, 1, 1, 0, 0, 2),
    events=(24, 1, 1, 1, 1),
    fresh=(8, 3, 1, 4),
    holding=(8, 3, 4, 3, 1, 1, 1, 2),
)
WORKTREES = replace(STOPS, shared=True, clients=3)
PROFILES = (LOSSY, CRASHES, STOPS, WATCHES, HISTORY, REWINDS, BREAKS, WORKTREES)


class Chooser(Protocol):
    """Decides what happens; `trace` is what it decided."""

    trace: list[int]

    def pick(self, weights: tuple[int, ...]) -> int:
        """An index into `weights`."""


@cache
def _sums(weights: tuple[int, ...]) -> tuple[tuple[int, ...], int]:
    sums = tuple(accumulate(weights))
    return sums, sums[-1]


class Dice:
    """Decides at random, repeatably."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed).random
        self.trace: list[int] = []

    def pick(self, weights: tuple[int, ...]) -> int:
        sums, total = _sums(weights)
        index = bisect(sums, self._random() * total) if len(sums) > 1 else 0
        self.trace.append(index)
        return index


class Script:
    """Decides what a list says, and after its end the undisturbed outcome; `open` is what else there was."""

    def __init__(self, told: Sequence[int]) -> None:
        self._told = tuple(told)
        self.trace: list[int] = []
        self.open: list[tuple[int, ...]] = []

    def pick(self, weights: tuple[int, ...]) -> int:
        at = len(self.trace)
        index = self._told[at] if at < len(self._told) else 0
        self.trace.append(index)
        self.open.append(weights)
        return index


@dataclass(slots=True)
class Commit:
    """A commit of the branch, with what the judge of the branch must know about it."""

    name: str
    parent: str
    face: Face
    call: Call
    stamp: Stamp
    made: float


@dataclass(slots=True, eq=False)
class Call:
    """One call of a client: what it is, in which era it began, the commits it made.

    `doubt`: whether an earlier release of the same session may have landed.
    """

    kind: str
    session: str
    era: int
    client: Client
    doubt: bool
    commits: list[str] = field(default_factory=list)
    dead: bool = False


@dataclass(slots=True, eq=False)
class Machine:
    """A clone on a machine: its clocks and what it remembers.

    `owed`: sessions, by epoch, that it saw on a tip that a rewind took away, how long each may believe in
    itself, and when that was.
    """

    name: str
    boot: float
    wall: float
    memory: Memory
    reboots: int = 0
    owed: dict[tuple[str, int], tuple[float, float]] = field(default_factory=dict)


@dataclass(slots=True, eq=False)
class Client:
    """A worktree: the session it keeps, and the call under way."""

    name: str
    machine: Machine
    ttl: float
    calls: int
    held: Held | None = None
    call: Call | None = None
    steps: Generator[Any, Any, Any] | None = None
    pending: Any = None
    answer: Any = None
    answered: bool = False
    wake: float = 0.0
    releasing: str = ""
    top: int = 0
    last: Result | None = None


class World:
    """Everything there is, and its judge."""

    def __init__(self, chooser: Chooser, profile: Profile, code: Code = REAL) -> None:
        self.pick = chooser.pick
        self.profile = profile
        self.code = code
        self.time = 1000.0
        self.commits: dict[str, Commit] = {}
        self.tip = ""
        self.line: list[str] = []
        self.ever: set[str] = set()
        self.flying: list[tuple[str, str]] = []
        self.era = 0
        self.cut: set[str] = set()
        self.born: dict[str, int] = {}
        self.count = 0
        self.faulty = True
        apart = profile.skew / 2 or 7 * 3600.0
        nothing = code.lease.Memory()
        machines = [
            Machine(f"m{i}", 500.0 - 70 * i, (-1) ** i * apart, nothing) for i in range(profile.clients)
        ]
        if profile.shared:
            machines[1] = machines[0]
        self.machines = list(dict.fromkeys(machines))
        self.clients = [
            Client(f"w{i}", machine, TTLS[i], profile.calls) for i, machine in enumerate(machines)
        ]
        self._turn = list(self.clients)
        self._do: dict[type, Callable[[Client, Any], Any]] = {
            code.requests.Now: lambda client, _: self.now(client.machine),
            code.requests.Save: self._save,
            code.requests.Keep: self._keep,
            code.requests.Contains: lambda _, wanted: self._behind(wanted.tip, wanted.commit),
        }

    # Running

    def run(self) -> None:
        """Run the schedule, then let everything come to rest and see that the lease can be had."""
        for _ in range(self.profile.steps):
            if not self._event():
                break
        self.settle()

    def _event(self) -> bool:
        """One thing happens; False when nobody has anything left to do."""
        event = self.pick(self.profile.events)
        if event == 0:
            ready = [one for one in self._turn if one.steps is not None or one.calls]
            if not ready:
                return False
            client = ready[self.pick(_TURNS[len(ready)])] if len(ready) > 1 else ready[0]
            if client is not self._turn[0]:
                self._turn.remove(client)
                self._turn.insert(0, client)
            self.step(client)
        elif event <= 3:
            self.time += (1.0, 45.0, 103.0)[event - 1]
        elif event == 4 and self.flying:
            self._land(self.flying.pop(self.pick((1,) * len(self.flying))))
        elif event == 5 and len(self.line) > 1:
            self._rewind(self.pick((1,) * (len(self.line) - 1)))
        elif event == 6:
            self._reboot(self.machines[self.pick((1,) * len(self.machines))])
        elif event == 7:
            machine = self.machines[self.pick((1,) * len(self.machines))]
            machine.wall = -machine.wall
        return True

    def settle(self) -> None:
        """No more faults: calls end, delayed pushes land or are gone, and whoever asks long enough holds."""
        self.faulty = False
        while self.flying:
            self._land(self.flying.pop()) if self.pick((1, 1)) == 0 else self.flying.pop()
        for client in self.clients:
            self._finish(client)
        if self.profile.gentle:
            self._no_leak()
        elif self.pick((2, 1)):
            self._gets_it()

    def _gets_it(self) -> None:
        """Whoever asks long enough gets the lease, whatever was left behind."""
        client = self.clients[self.pick((1,) * len(self.clients))]
        began = self.time
        self._begin(client, "wait")
        self._finish(client)
        if client.last is None or client.last.status not in _OK:
            raise Violation(f"nobody gets the lease after the faults: {client.last}")
        if self.time - began > LONGEST + 10:
            raise Violation(f"only after {self.time - began} s")

    def _finish(self, client: Client) -> None:
        for _ in range(400):
            if client.steps is None:
                return
            self.step(client)
        raise Violation(f"{client.call and client.call.kind} doesn't end")

    def _no_leak(self) -> None:
        """Whoever is asked to acquire again and then give back leaves nothing behind."""
        for client in (*self.clients, *self.clients):
            if not self.tip or self.commits[self.tip].face.record is None:
                return
            self._begin(client, "acquire")
            self._finish(client)
            if client.held is not None:
                self._begin(client, "release")
                self._finish(client)
        if self.tip and self.commits[self.tip].face.record is not None:
            raise Violation("a lease leaks without a crash")

    # One client

    def now(self, machine: Machine) -> Instant:
        """The machine's clocks."""
        wall = _EPOCH + self.time + machine.wall
        return Instant(self.time + machine.boot, f"{machine.name}.{machine.reboots}", wall, _text(wall))

    def step(self, client: Client) -> None:
        """What the client waits for happens, and it goes on to where it waits again."""
        if client.steps is None:
            client.calls -= 1
            weights = self.profile.fresh if client.held is None else self.profile.holding
            kinds = _FRESH if client.held is None else _HOLDING
            self._begin(client, kinds[self.pick(weights)])
            return
        if not client.answered:
            asked = client.pending
            kind = type(asked)
            code = self.code.protocol
            if kind is code.Pause:
                self.time = max(self.time, client.wake)
                client.answer = None
            elif kind is code.Look or kind is code.Fetch:
                if not self._read(client, asked):
                    return
            elif not self._push(client, asked):
                return
        client.answered = False
        self._go(client, client.answer)

    def _begin(self, client: Client, kind: str) -> None:
        code = self.code.protocol
        self.count += 1
        held, memory = client.held, client.machine.memory
        session = held.record.session if held is not None else ""
        if kind in _ACQUIRES:
            session = f"s{self.count}"
            until = self.now(client.machine).boot + LONGEST + 30 if kind == "wait" else 0.0
            want = code.Want(
                client.name,
                session,
                client.ttl,
                self.profile.skew,
                client.machine.name,
                until=until,
                patience=self.profile.patience,
                reclaim=kind != "modest",
            )
            steps = code.acquire(want, memory, held)
        elif kind == "break":
            session = ""
            steps = code.end(memory, client.ttl, self.profile.patience)
        elif held is not None:
            steps = {
                "write": lambda: code.write(held, memory, change=True, patience=self.profile.patience),
                "renew": lambda: code.renew(held, memory),
                "shorter": lambda: code.renew(held, memory, client.ttl / 2),
                "longer": lambda: code.renew(held, memory, client.ttl * 2),
                "release": lambda: code.release(held, memory),
                "compact": lambda: code.compact(held, memory),
            }[kind]()
        doubt = client.releasing == session
        if kind == "release":
            client.releasing = session
        client.top = max(client.top, memory.greatest)
        client.call = Call(kind, session, self.era, client, doubt)
        client.steps = steps
        self._go(client, None)

    def _go(self, client: Client, answer: Any) -> None:
        steps = client.steps
        assert steps is not None
        do, code = self._do, self.code.protocol
        while True:
            try:
                asked = steps.send(answer)
            except StopIteration as stop:
                self._ended(client, stop.value)
                return
            local = do.get(type(asked))
            if local is not None:
                answer = local(client, asked)
                if client.steps is None:
                    return  # crashed
                continue
            if type(asked) is code.Pause:
                client.wake = self.time + max(asked.seconds, 0.0)
            elif type(asked) is code.Push:
                asked = code.Again(self._make(client, asked), asked.expected)
            client.pending = asked
            return

    def _make(self, client: Client, asked: Any) -> str:
        """The commit is made at once; the message is still to travel."""
        self.count += 1
        call, stamp = client.call, asked.stamp
        assert call is not None
        made = Commit(
            f"c{self.count}", "" if stamp.replaces else asked.expected, stamp.face, call, stamp, self.time
        )
        if stamp.epoch < client.top:
            raise Violation("an epoch below one that this clone saw")
        if stamp.record is not None:
            self.born.setdefault(stamp.record.session, self.era)
        self.commits[made.name] = made
        call.commits.append(made.name)
        return made.name

    def _crash(self, client: Client) -> bool:
        """The process is gone; its disk isn't."""
        client.steps, client.call, client.answered = None, None, False
        return False

    def _reboot(self, machine: Machine) -> None:
        machine.reboots += 1
        machine.boot = -self.time
        for client in self.clients:
            if client.machine is machine and client.steps is not None:
                self._crash(client)

    def _save(self, client: Client, asked: Any) -> None:
        fault = self.pick(self.profile.disk) if self.faulty else 0
        if fault == 1:
            self._crash(client)
            return
        client.top = max(client.top, asked.memory.greatest)
        kept, known = asked.memory, client.machine.memory.greatest
        client.machine.memory = kept if kept.greatest >= known else replace(kept, greatest=known)
        if fault == 2:
            self._crash(client)

    def _keep(self, client: Client, asked: Any) -> None:
        fault = self.pick(self.profile.disk) if self.faulty else 0
        if fault == 1:
            self._crash(client)
            return
        standing = client.held
        if asked.held is None:
            if standing is not None and standing.record.session == asked.session:
                client.held = None
        elif standing is None or _rank(standing) <= _rank(asked.held):
            client.held = asked.held
        self._one_holder()
        if fault == 2:
            self._crash(client)

    # The network

    def _read(self, client: Client, asked: Any) -> bool:
        fault = self.pick(self.profile.read) if self.faulty else 0
        code = self.code.protocol
        if fault == 2:
            return self._crash(client)
        if fault == 1:
            client.answer = code.Trouble(code.Status.OFFLINE)
        elif type(asked) is code.Look:
            client.answer = self.tip
        else:
            client.answer = self._fetched(asked.known)
        client.answered = fault == 3
        return not client.answered

    def _fetched(self, known: str) -> Any:
        said = self.commits[self.tip].face if self.tip else self.code.lease.Face()
        behind = None if not known or not self.tip else self._behind(self.tip, known)
        root = self._root(self.tip)
        new = root is not None and root.stamp.replaces and not (known and self._behind(known, root.name))
        return self.code.requests.Fetched(self.tip, said, behind, new)

    def _behind(self, tip: str, wanted: str) -> bool:
        while tip:
            if tip == wanted:
                return True
            tip = self.commits[tip].parent
        return False

    def _root(self, tip: str) -> Commit | None:
        root = None
        while tip:
            root = self.commits[tip]
            tip = root.parent
        return root

    def _push(self, client: Client, asked: Any) -> bool:
        fault = self.pick(self.profile.push) if self.faulty else 0
        if fault == 7:
            return self._crash(client)
        landing = _LANDINGS.get(fault)
        if fault == 3:
            self.flying.append((asked.commit, asked.expected))
        if landing is None or fault == 1:
            landed = self._land((asked.commit, asked.expected))
            landing = landing or (Landing.LANDED if landed else Landing.LOST)
        if fault == 8:
            return self._crash(client)
        # by its value, since a mutant has classes of its own
        client.answer = self.code.requests.Pushed(asked.commit, self.code.requests.Landing(landing.value))
        client.answered = fault == 9
        return not client.answered

    def _land(self, flying: tuple[str, str]) -> bool:
        """Compare and set; True also for a commit that is the tip already, as git's `up to date` is."""
        name, expected = flying
        if self.tip == name:
            return True
        if self.tip != expected and self.code.honest:
            return False
        self._judged(self.commits[name])
        self.tip = name
        self.line.append(name)
        self.ever.add(name)
        self._one_holder()
        return True

    def _rewind(self, to: int) -> None:
        gone = set(self.line[to + 1 :])
        self.era += 1
        for machine in self.machines:
            record = machine.memory.face.record
            if machine.memory.tip in gone and record is not None:
                machine.owed[record.session, record.epoch] = record.ttl, self.time
        del self.line[to + 1 :]
        self.tip = self.line[to]

    # The judge

    def _judged(self, new: Commit) -> None:
        """A commit is about to become the tip."""
        old = self.commits[self.tip] if self.tip else None
        if not new.stamp.replaces and new.parent != self.tip:
            raise Violation("a commit lands that was made on another tip")
        if new.call.dead and new.call.era == self.era:
            raise Violation(f"a commit lands whose {new.call.kind} had been answered as not done")
        if new.stamp.change and any(
            self.commits[one].stamp.change and one in new.call.commits for one in self.line
        ):
            raise Violation("one call's change lands twice")
        before, after = (old.face if old else Face()), new.face
        if after.epoch < before.epoch:
            raise Violation("an older epoch after a newer one")
        if new.stamp.replaces:
            for machine in self.machines:
                machine.owed.clear()
            if after.epoch <= before.epoch:
                raise Violation("history is replaced under the same epoch")
        self._judge_lease(old, new)

    def _judge_lease(self, old: Commit | None, new: Commit) -> None:
        before, epoch = (old.face.record, old.face.epoch) if old else (None, 0)
        after, call = new.face.record, new.call
        if call.kind == "break":
            if new.face.epoch <= epoch:
                raise Violation("a break under the same epoch")
            self.cut.add(before.session if before else "")
        elif after is None:
            if before is None or before.session != call.session:
                raise Violation("somebody gives back what isn't theirs")
        elif before is not None and before.session == after.session:
            if after.sign == before.sign:
                raise Violation("a stamp that nobody can see")
        elif after.epoch <= epoch:
            raise Violation("another holder under the same epoch, or a late writer")
        elif call.kind not in _ACQUIRES:
            raise Violation("a session takes the lease back by a write")
        elif old is not None and before is not None and old.call.client is not call.client:
            self._judge_takeover(call, old.made + before.ttl)

    def _judge_takeover(self, call: Call, over: float) -> None:
        if self.time < over - _ROUNDING:
            raise Violation("a takeover before the ttl was over")
        if call.kind == "modest":
            raise Violation("a takeover by somebody who must not")

    def _one_holder(self) -> None:
        """At most one worktree believes that it holds, but for rewinds and breaks."""
        first: Client | None = None
        for client in self.clients:
            held = client.held
            if held is None or client.releasing == held.record.session:
                continue
            if not held.lives(self.now(client.machine)) or held.tip not in self.ever:
                continue
            if first is not None and not self._excused(first, client):
                raise Violation("two hold at once")
            first = client

    def _excused(self, one: Client, other: Client) -> bool:
        assert one.held is not None
        assert other.held is not None
        mine, theirs = one.held.record.session, other.held.record.session
        if mine in self.cut or theirs in self.cut:
            return True
        if not self.era:
            return False
        born, borne = self.born.get(mine, 0), self.born.get(theirs, 0)
        if other.held.record.ttl <= self._owed(one, other.held) and borne < born == self.era:
            return False
        if one.held.record.ttl <= self._owed(other, one.held) and born < borne == self.era:
            return False
        return min(born, borne) < self.era

    def _owed(self, client: Client, held: Held) -> float:
        """How long a client is to watch for another's session that a rewind took from its sight.

        Not for a stamp that came later and that it need not have seen: a rewind may have taken that too, and
        an acquire that is tried again keeps its session under another epoch.
        """
        ttl, when = client.machine.owed.get((held.record.session, held.record.epoch), (0.0, 0.0))
        return ttl if self.commits[held.tip].made <= when else 0.0

    def _ended(self, client: Client, result: Any) -> None:
        call = client.call
        assert call is not None
        client.steps, client.call, client.last = None, None, result
        status = result.status.value
        quiet = call.era == self.era
        if status in _OK:
            self._truly(call, result, quiet=quiet)
            if call.kind != "release":
                client.releasing = ""
        elif status in _DEFINITE:
            call.dead = True
            done = [one for one in call.commits if one in self.ever]
            if quiet and done and not self._too_late(call):
                raise Violation(f"{call.kind} answered {status}, and yet landed")
            if status == "LOCKED" and call.kind in _ACQUIRES:
                self._locked_by_another(call, result)
            if call.kind == "release" and not call.doubt:
                client.releasing = ""

    def _locked_by_another(self, call: Call, result: Any) -> None:
        record = result.memory.face.record
        stamps = [self.commits[one].stamp.record for one in call.commits]
        own = [stamp.session for stamp in stamps if stamp is not None and stamp.seq == 1]
        if record is not None and record.session in own:
            raise Violation("locked out by its own stamp")

    def _truly(self, call: Call, result: Any, *, quiet: bool) -> None:
        """What is answered as done is done."""
        if call.kind == "break":
            call.client.releasing = ""
        if result.held is not None and result.held.tip not in self.ever:
            raise Violation("a lease is held that the remote never accepted")
        if call.kind == "release":
            if quiet and self._stands(call.session):
                raise Violation("a release answered OK that never was")
            return
        if not any(one in self.ever for one in call.commits):
            raise Violation(f"{call.kind} answered OK and never landed")
        if quiet and not any(one in self.line for one in call.commits):
            raise Violation(f"{call.kind} answered OK and is gone")

    def _stands(self, session: str) -> bool:
        """Whether the tip carries the session."""
        record = self.commits[self.tip].face.record if self.tip else None
        return record is not None and record.session == session

    def _too_late(self, call: Call) -> bool:
        """Whether an acquire landed only after its lease time was over."""
        if call.kind not in _ACQUIRES:
            return False
        landed = [self.commits[one] for one in call.commits if one in self.ever]
        return all(self.time >= one.made + lease.usable(call.client.ttl) for one in landed)


_TURNS = {2: (2, 1), 3: (2, 1, 1)}
_FRESH = ("acquire", "wait", "modest", "break")
_ACQUIRES = frozenset({"acquire", "wait", "modest"})
_HOLDING = ("write", "renew", "release", "compact", "acquire", "shorter", "longer", "break")
_LANDINGS = {
    1: Landing.UNKNOWN,
    2: Landing.UNKNOWN,
    3: Landing.UNKNOWN,
    4: Landing.REFUSED,
    5: Landing.BUSY,
    6: Landing.OFFLINE,
}


def _rank(held: Held) -> tuple[int, int]:
    return held.record.epoch, held.record.seq


@cache
def _text(wall: float) -> str:
    return datetime.fromtimestamp(wall, UTC).isoformat()


# Exploring


def wander(seeds: range, profile: Profile, code: Code = REAL) -> set[int]:
    """Run one random schedule a seed; the distinct schedules, by hash."""
    met: set[int] = set()
    for seed in seeds:
        dice = Dice(seed)
        try:
            World(dice, profile, code).run()
        except Violation as broken:
            broken.add_note(f"seed {seed}: {dice.trace}")
            raise
        met.add(hash(tuple(dice.trace)))
    return met


def exhaust(profile: Profile, deviations: int, limit: int, code: Code = REAL) -> int:
    """Run every schedule that leaves the undisturbed one at most `deviations` times; how many there were."""
    runs = 0
    waiting: list[tuple[tuple[int, ...], int]] = [((), 0)]
    while waiting and runs < limit:
        told, left = waiting.pop()
        script = Script(told)
        try:
            World(script, profile, code).run()
        except Violation as broken:
            broken.add_note(f"schedule: {script.trace}")
            raise
        runs += 1
        if left >= deviations:
            continue
        for at in range(len(told), len(script.trace)):
            prefix = tuple(script.trace[:at])
            waiting += [
                ((*prefix, other), left + 1)
                for other, weight in enumerate(script.open[at])
                if weight and other
            ]
    return runs
