"""The lease protocol against a simulated remote: every promise, under random and under all near schedules."""

from __future__ import annotations

from dataclasses import replace

import pytest

from muniment.state import protocol, requests
from muniment.state.lease import Face, LeaseRecord, Memory
from muniment.state.requests import Landing, Status
from muniment.workspace import Instant
from tests.support import simulated_remote as sim
from tests.support.simulated_remote import Profile

RANDOM = 5_000
"""Random schedules for each profile; with those below more than 100,000 in all."""
NEAR = 65_000
"""Schedules near the undisturbed one."""

SMALL = Profile(
    push=(1,) * 10,
    read=(1,) * 4,
    disk=(1,) * 3,
    events=(1,) * 6,
    fresh=(1, 1),
    holding=(1, 1, 1, 1),
    calls=2,
    steps=18,
)


def _named(profile: Profile) -> str:
    return next(name for name, value in vars(sim).items() if value is profile).lower()


@pytest.mark.parametrize("profile", sim.PROFILES, ids=_named)
def test_random_schedules_break_no_promise(profile: Profile) -> None:
    distinct = sim.wander(range(10_000, 10_000 + RANDOM), profile)
    assert len(distinct) > RANDOM * 0.99


def test_every_schedule_with_up_to_two_deviations_breaks_no_promise() -> None:
    assert sim.exhaust(SMALL, 2, 10**6) > 3_000


def test_schedules_with_three_deviations_break_no_promise() -> None:
    assert sim.exhaust(SMALL, 3, NEAR) == NEAR


def test_a_schedule_can_be_told_again() -> None:
    dice = sim.Dice(7)
    sim.World(dice, sim.CRASHES).run()
    script = sim.Script(dice.trace)
    sim.World(script, sim.CRASHES).run()
    assert script.trace == dice.trace


# Named steps, each once found by the simulation

NOW = Instant(50.0, "b", 1_796_000_000.0, "2026-11-30T00:53:20Z")


def record(session: str = "s", epoch: int = 3, ttl: float = 100.0) -> LeaseRecord:
    return LeaseRecord("w", session, epoch, 1, NOW.text, NOW.text, ttl)


def test_what_is_seen_is_dated_after_the_answer() -> None:
    steps = protocol.see(Memory(), 10.0)
    assert isinstance(next(steps), requests.Fetch)
    found = requests.Fetched("c1", Face(record(), False, 3))
    assert isinstance(steps.send(found), requests.Now)
    saved = steps.send(NOW)
    assert isinstance(saved, requests.Save)
    assert saved.memory.since == NOW.boot


def test_a_shorter_time_is_kept_before_it_is_pushed() -> None:
    held = requests.Held(record(), "c1", 140.0, "b")
    steps = protocol.renew(held, Memory(), ttl=20.0)
    next(steps)
    kept = steps.send(NOW)
    assert isinstance(kept, requests.Keep)
    assert kept.held is not None
    assert kept.held.deadline == NOW.boot + 18.0
    assert isinstance(steps.send(None), requests.Push)


def test_a_commit_may_have_landed_before_history_was_replaced() -> None:
    steps = protocol._found_out("c2", "c1", 3)
    next(steps)
    steps.send("c9")
    assert steps.send(
        requests.Fetched("c9", Face(None, False, 4), False, replaces=True)
    ) == requests.Contains("c9", "c1")
    with pytest.raises(StopIteration) as end:
        steps.send(False)
    assert end.value.value is None


def test_a_session_that_may_still_land_is_kept() -> None:
    held = requests.Held(record(), "c2", 140.0, "b")
    steps = protocol.write(held, Memory("c1", Face(None, False, 2), 40.0, "b", 2))
    next(steps)
    assert isinstance(steps.send(NOW), requests.Push)
    assert isinstance(steps.send(requests.Pushed("c3", Landing.LOST)), requests.Look)
    assert isinstance(steps.send("c1"), requests.Now)
    with pytest.raises(StopIteration) as end:  # no `Keep(None)` on the way
        steps.send(replace(NOW, boot=40.0))
    assert end.value.value.status is Status.LEASE_LOST
