"""Lease code that is wrong in one way each: the simulation, or a named test on real git, must notice.

A mutant is the real source with one piece of text replaced, compiled under another name. When a piece isn't
found any more, the mutant is to be written anew, not dropped.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from muniment.errors import MunimentError
from muniment.git.oid import MissingObject, Oid
from muniment.git.remote import Fetched, Remote
from muniment.lease import SharedLease
from muniment.publish_shared import SharedDoor
from muniment.state import lease, protocol, requests
from muniment.state.requests import Held, Status
from muniment.state.shared import SharedBranch
from muniment.workspace import open_workspace
from tests.support import simulated_remote as sim
from tests.support.git import snapshot
from tests.support.repo import Repo
from tests.support.simulated_remote import Code, Profile, Violation

SEEDS = 400
"""Schedules tried in one go, profile by profile, until one shows the mutant up."""
MOST = 6_000


@dataclass(frozen=True, slots=True)
class Mutant:
    """What is wrong, where: module, text, replacement; several of them if need be."""

    name: str
    changes: tuple[tuple[str, str, str], ...] = ()
    honest: bool = True


def _protocol(name: str, old: str, new: str) -> Mutant:
    return Mutant(name, (("protocol", old, new),))


def _lease(name: str, old: str, new: str) -> Mutant:
    return Mutant(name, (("lease", old, new),))


MUTANTS = (
    _protocol(
        "held without the remote's answer",
        "    if done.landing is Landing.LANDED:\n        memory = memory.seen(done.commit, stamp.face, now)\n"
        "        yield Save(memory)\n        now = yield Now()",
        "    if done.landing is not Landing.REFUSED:\n"
        "        memory = memory.seen(done.commit, stamp.face, now)\n"
        "        yield Save(memory)\n        now = yield Now()",
    ),
    Mutant("pushed by force", honest=False),
    _protocol(
        "after a lost race the same stamp on the new tip",
        "        if done.landing is not Landing.LOST:\n"
        "            return Result(_FAILED[done.landing], held, memory, words=done.words)\n",
        "        if done.landing is not Landing.LOST:\n"
        "            return Result(_FAILED[done.landing], held, memory, words=done.words)\n"
        "        found = yield Fetch(held.tip)\n"
        "        if not isinstance(found, Trouble):\n"
        "            held = replace(held, tip=found.tip)\n"
        "            continue\n",
    ),
    _lease(
        "staleness by the wall clock alone, without allowing for skew",
        "    watched = now.boot - memory.since if memory.boot_id == now.boot_id else 0.0\n",
        "    watched = now.wall - (instant_of(record.renewed) or 0.0)\n",
    ),
    _lease(
        "the wall-clock rule forgets the ttl",
        "renewed + record.ttl + skew < now.wall",
        "renewed + skew < now.wall",
    ),
    _protocol(
        "the epoch isn't raised",
        "    epoch = max(memory.face.epoch, memory.greatest) + 1\n    previous = memory.face.previous if",
        "    epoch = max(memory.face.epoch, memory.greatest)\n    previous = memory.face.previous if",
    ),
    _protocol(
        "the epoch falls with a rewind",
        "    epoch = max(memory.face.epoch, memory.greatest) + 1\n    previous = memory.face.previous if",
        "    epoch = memory.face.epoch + 1\n    previous = memory.face.previous if",
    ),
    _protocol(
        "a break keeps the epoch",
        "        epoch = max(memory.face.epoch, memory.greatest) + 1\n        broken",
        "        epoch = max(memory.face.epoch, memory.greatest)\n        broken",
    ),
    _protocol(
        "history replaced under the same epoch",
        "record = replace(record, epoch=max(record.epoch, memory.greatest) + 1)",
        "record = replace(record, epoch=max(record.epoch, memory.greatest))",
    ),
    _protocol(
        "an unknown outcome taken for a loss",
        "        doubt = doubt or pushed.landing is Landing.UNKNOWN\n",
        "        if pushed.landing is Landing.UNKNOWN:\n"
        "            return Landed(pushed.commit, Landing.LOST, pushed.words)\n",
    ),
    _protocol(
        "an unknown outcome taken for a landing",
        "        doubt = doubt or pushed.landing is Landing.UNKNOWN\n",
        "        if pushed.landing is Landing.UNKNOWN:\n"
        "            return Landed(pushed.commit, Landing.LANDED, pushed.words)\n",
    ),
    _protocol(
        "doubt forgotten with the next answer",
        "        doubt = doubt or pushed.landing is Landing.UNKNOWN\n",
        "        doubt = pushed.landing is Landing.UNKNOWN\n",
    ),
    _protocol(
        "an unchanged tip taken for a loss",
        "    if isinstance(tip, Trouble) or tip == expected:\n        return None\n",
        "    if isinstance(tip, Trouble):\n        return None\n"
        "    if tip == expected:\n        return Landing.LOST\n",
    ),
    _protocol(
        "a replaced history taken for a loss",
        "    hidden = found.replaces or found.face.epoch < epoch\n",
        "    hidden = found.face.epoch < epoch\n",
    ),
    _protocol(
        "a commit on one that is still to come taken for lost",
        "    hidden = found.replaces or found.face.epoch < epoch\n",
        "    hidden = found.replaces\n",
    ),
    _protocol(
        "a doubtful commit made anew instead of pushed again",
        "        pushed = yield Again(pushed.commit, expected)\n",
        "        tip = yield Look()\n"
        "        expected = expected if isinstance(tip, Trouble) else tip\n"
        "        pushed = yield Push(expected, stamp)\n",
    ),
    Mutant(
        "the deadline ignored",
        (
            (
                "requests",
                "return self.boot_id == now.boot_id and now.boot < self.deadline",
                "return self.boot_id == now.boot_id and now.boot < self.deadline + 60",
            ),
        ),
    ),
    _protocol(
        "the deadline counted from the answer",
        "    held = Held(record, done.commit, deadline, now.boot_id, want.run)\n",
        "    late = yield Now()\n"
        "    deadline = late.boot + usable(want.ttl)\n"
        "    held = Held(record, done.commit, deadline, now.boot_id, want.run)\n",
    ),
    _protocol(
        "a write's deadline counted from the answer",
        "else Held(record, done.commit, now.boot + usable(record.ttl), now.boot_id, held.run)",
        "else Held(record, done.commit, (yield Now()).boot + usable(record.ttl), now.boot_id, held.run)",
    ),
    _protocol(
        "the challenger's own ttl",
        "        found = judge(memory, now, want.skew)\n",
        "        mine = memory.face.record and replace(memory.face.record, ttl=want.ttl)\n"
        "        found = judge(replace(memory, face=replace(memory.face, record=mine)), now, want.skew)\n",
    ),
    _protocol(
        "the session not compared after a lost race",
        "    if ours is not None and (ours.session, ours.epoch) == (session, held.record.epoch):\n",
        "    if ours is not None:\n",
    ),
    _lease(
        "a changed stamp not watched anew",
        "watched = same_boot and self.tip and self.face.sign == face.sign and not rewound",
        "watched = same_boot and self.tip and not rewound",
    ),
    _lease(
        "a stamp that leaves no sign",
        "return replace(self, seq=self.seq + 1, renewed=now.text, ttl=ttl or self.ttl)",
        "return replace(self, renewed=now.text, ttl=ttl or self.ttl)",
    ),
    _lease(
        "what was watched under another boot still counts",
        "        same_boot = self.boot_id == now.boot_id\n",
        "        same_boot = True\n",
    ),
    Mutant(
        "what is seen dated before it was asked for",
        (
            (
                "protocol",
                "    found = yield Fetch(memory.tip)\n",
                "    now = yield Now()\n    found = yield Fetch(memory.tip)\n",
            ),
            (
                "protocol",
                "    now = yield Now()\n    kept = memory.seen(found.tip",
                "    kept = memory.seen(found.tip",
            ),
        ),
    ),
    _protocol(
        "a shorter lease time believed only once it is heard of",
        "        if record.ttl < held.record.ttl:",
        "        if False:",
    ),
    _protocol(
        "a rewind not noticed",
        "    gone = bool(memory.tip) and found.tip != memory.tip and found.descends is not True\n",
        "    gone = False\n",
    ),
    _lease(
        "a second rewind cuts the watch short",
        "            until = max(until, now.boot + self._longest(face, rewound))\n",
        "            until = now.boot + rewound\n",
    ),
    _protocol(
        "a doubtful session forgotten",
        "    return memory.face.epoch < held.record.epoch\n",
        "    return False\n",
    ),
    _protocol(
        "one's own late stamp not known",
        "    return memory.face.record is not None and memory.face.record.session == want.session\n",
        "    return False\n",
    ),
    _protocol(
        "a stale lease taken without leave",
        "    return Status.LOCKED if found.standing is Standing.STALE and not want.reclaim else None\n",
        "    return None\n",
    ),
    _protocol(
        "the write's loss answered as done",
        "    return Result(Status.OK if given_back else Status.LEASE_LOST, None, seen)\n",
        "    return Result(Status.OK, None, seen)\n",
    ),
    _protocol(
        "a lease that is never stale",
        "    if found.standing in {Standing.LIVE, Standing.UNREADABLE}:\n",
        "    if found.standing in {Standing.LIVE, Standing.STALE, Standing.UNREADABLE}:\n",
    ),
)


@contextmanager
def compiled(mutant: Mutant) -> Iterator[Code]:
    """The mutant's modules, known under names of their own while they are used."""
    texts = {name: Path(str(module.__file__)).read_text("utf-8") for name, module in _MODULES.items()}
    for name, old, new in mutant.changes:
        assert texts[name].count(old) == 1, f"{mutant.name}: {texts[name].count(old)} times in {name}.py"
        texts[name] = texts[name].replace(old, new)
    for name, text in texts.items():
        texts[name] = re.sub(r"from muniment\.state\.(lease|requests) import", r"from mutant_\1 import", text)
    made: dict[str, ModuleType] = {}
    try:
        for name in _MODULES:
            module = ModuleType(f"mutant_{name}")
            sys.modules[module.__name__] = made[name] = module
            exec(compile(texts[name], f"<{mutant.name}: {name}>", "exec"), module.__dict__)  # noqa: S102 - our own text
        yield Code(made["lease"], made["requests"], made["protocol"], mutant.honest)
    finally:
        for module in made.values():
            sys.modules.pop(module.__name__, None)


_MODULES = {"lease": lease, "requests": requests, "protocol": protocol}


def caught(code: Code) -> str:
    """What the simulation says about it; "" when it notices nothing."""
    profiles: tuple[Profile, ...] = sim.PROFILES
    for first in range(0, MOST, SEEDS):
        for profile in profiles:
            try:
                sim.wander(range(first, first + SEEDS), profile, code)
            except Violation as broken:
                return str(broken)
    return ""


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_mutant_is_caught(mutant: Mutant) -> None:
    with compiled(mutant) as code:
        assert caught(code)


# On real git


def _lease_of(repo: Repo) -> SharedLease:
    ws = open_workspace(repo.path, dict(os.environ))
    return SharedLease(ws, SharedBranch(ws, "origin", "muniment/state"))


def beside_the_users_locks(repo: Repo, other: Repo) -> None:
    """A stale tracking ref misleads nobody, and neither ref nor index is touched or waited for."""
    git = repo.path / ".git"
    assert _lease_of(other).acquire("w", 600.0).status is Status.OK
    repo.git("fetch", "-q", "origin", "+refs/heads/*:refs/remotes/origin/*")
    assert _lease_of(other).release(_kept(other)).status is Status.OK
    for name in ("index.lock", "refs/remotes/origin/muniment/state.lock"):
        (git / name).parent.mkdir(parents=True, exist_ok=True)
        (git / name).write_bytes(b"")
    before = snapshot(repo)
    assert _lease_of(repo).acquire("w", 600.0).status is Status.OK
    assert _lease_of(other).acquire("w", 600.0).status is Status.LOCKED
    assert snapshot(repo) == before


def _kept(repo: Repo) -> Held:
    held = _lease_of(repo).kept()
    assert held is not None
    return held


def test_the_users_locks_and_refs_play_no_part(repo: Repo, tmp_path: Path) -> None:
    bare = repo.bare_remote(tmp_path / "bare.git")
    beside_the_users_locks(repo, bare.clone(tmp_path / "other"))


def test_a_tracking_ref_trusted_is_caught(
    repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fetch(remote: Remote, known: Oid | None) -> Fetched:
        tip = remote._repo.git.line("rev-parse", f"refs/remotes/origin/{remote.branch}")
        real(remote, known)
        return Fetched(Oid(tip), None)

    bare = repo.bare_remote(tmp_path / "bare.git")
    other = bare.clone(tmp_path / "other")
    assert _lease_of(other).acquire("w", 600.0).status is Status.OK
    assert _lease_of(other).release(_kept(other)).status is Status.OK
    other.git("fetch", "-q", "origin", "+refs/heads/*:refs/remotes/origin/*")
    real = Remote.fetch
    monkeypatch.setattr(Remote, "fetch", fetch)
    with pytest.raises(MissingObject):  # the old commit is judged, which no look has brought
        beside_the_users_locks(repo, other)


def test_the_users_index_used_is_caught(repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def commit(door: SharedDoor, *arguments: Any, **options: Any) -> Oid:
        door.ws.repo.git.out("add", "-A", acting=True)
        return real(door, *arguments, **options)

    bare = repo.bare_remote(tmp_path / "bare.git")
    real = SharedDoor.commit
    monkeypatch.setattr(SharedDoor, "commit", commit)
    with pytest.raises(MunimentError, match=r"index\.lock"):
        beside_the_users_locks(repo, bare.clone(tmp_path / "other"))


def test_the_real_source_compiled_so_is_not_caught() -> None:
    with compiled(Mutant("none")) as code:
        for profile in sim.PROFILES:
            assert sim.wander(range(SEEDS), profile, code)
