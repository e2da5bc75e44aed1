"""The lease as values: what is read, what is remembered, and when a challenger may take over."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muniment.state.lease import (
    Face,
    LeaseRecord,
    Memory,
    Standing,
    face,
    instant_of,
    judge,
    recent_after,
    usable,
)
from muniment.workspace import Instant

WALL = 1_796_000_000.0
RENEWED = "2026-11-30T00:53:20+00:00"


def now(boot: float, boot_id: str = "b", wall: float = WALL) -> Instant:
    return Instant(boot, boot_id, wall, RENEWED)


def record(ttl: float = 100.0, *, session: str = "s", epoch: int = 1, seq: int = 1) -> LeaseRecord:
    return LeaseRecord("w", session, epoch, seq, RENEWED, RENEWED, ttl)


records = st.builds(
    record,
    st.integers(1, 10_000).map(float),
    session=st.sampled_from("stu"),
    epoch=st.integers(1, 4),
    seq=st.integers(1, 3),
)
faces = st.builds(
    lambda held, epoch: Face(held, False, max(epoch, held.epoch if held else 0)),
    st.none() | records,
    st.integers(0, 5),
)
looks = st.lists(
    st.tuples(
        st.sampled_from("abc"),  # the tip
        faces,
        st.floats(0, 500),  # seconds since the look before
        st.booleans(),  # whether the machine was booted meanwhile
        st.sampled_from((0.0, 0.0, 0.0, 30.0)),  # for how long a rewind is watched
    ),
    max_size=8,
)


@given(looks, st.floats(0, 2_000))
def test_a_takeover_needs_a_whole_ttl_of_one_unchanged_stamp(looks: list[Any], waited: float) -> None:
    memory, boot, boots, since, watched = Memory(), 10.0, 0, math.inf, math.inf
    greatest, stamp = 0, None
    for tip, found, passed, booted, rewound in looks:
        boots, boot = (boots + 1, passed) if booted else (boots, boot + passed)
        moment = now(boot, f"b{boots}")
        if booted or rewound or found.sign != stamp:
            since = boot
        stamp = found.sign
        memory = memory.seen(tip, found, moment, rewound=rewound)
        greatest = max(greatest, found.epoch)
        if rewound:
            watched = boot + max(rewound, found.record.ttl if found.record else 0.0)
        elif booted:
            watched = math.inf
    said = judge(memory, now(boot + waited, f"b{boots}"), 0.0)
    assert memory.greatest == greatest
    if said.standing is Standing.STALE:
        held = memory.face.record
        assert held is not None
        assert boot + waited - since >= held.ttl
    if watched < math.inf and boot + waited < watched:
        assert said.standing is Standing.REWOUND
        assert said.retry_after > 0


@given(records, st.floats(0, 20_000), st.floats(1, 3_600))
def test_the_wall_clock_alone_needs_ttl_and_skew(held: LeaseRecord, later: float, skew: float) -> None:
    memory = Memory("a", Face(held, False, held.epoch), 10.0, "b")
    said = judge(memory, now(10.0, wall=WALL + later), skew)
    assert (said.standing is Standing.STALE) == (later > held.ttl + skew)
    assert judge(memory, now(10.0, wall=WALL + later), 0.0).standing is Standing.LIVE


@given(records)
def test_a_record_is_read_as_it_was_written(held: LeaseRecord) -> None:
    kept = replace(held, previous={"writer": "x"}, extra={"later": 1})
    read = face({"lease": kept.fields(), "lease_epoch": kept.epoch}).record
    assert read is not None
    assert replace(read, ttl=kept.ttl) == kept
    assert abs(read.ttl - kept.ttl) < 1e-6


@pytest.mark.parametrize(
    "held",
    [
        "words",
        {"session": "s", "epoch": 1},
        {"session": "", "epoch": 1, "ttl_minutes": 1},
        {"session": "s", "epoch": -1, "ttl_minutes": 1},
        {"session": "s", "epoch": True, "ttl_minutes": 1},
        {"session": "s", "epoch": 1, "ttl_minutes": math.inf},
        {"session": "s", "epoch": 1, "ttl_minutes": True},
        {"session": "s", "epoch": 1, "ttl_minutes": 10**400},
        {"session": "s", "epoch": 1, "ttl_minutes": 0},
    ],
)
def test_what_cannot_be_read_is_live(held: object) -> None:
    found = face({"lease": held, "lease_epoch": 4})
    assert found.unreadable
    assert found.epoch == 4
    memory = Memory().seen("a", found, now(0.0))
    assert judge(memory, now(10**6, wall=WALL * 2), 60.0).standing is Standing.UNREADABLE


def test_a_second_rewind_does_not_shorten_the_watch() -> None:
    memory = Memory().seen("a", Face(record(1_000.0), False, 1), now(0.0))
    memory = memory.seen("b", Face(record(10.0), False, 1), now(10.0), rewound=10.0)
    memory = memory.seen("c", Face(), now(20.0), rewound=10.0)
    assert memory.rewound_until == 1_010.0


def test_a_boot_does_not_shorten_the_watch() -> None:
    memory = Memory().seen("a", Face(record(1_000.0), False, 1), now(5_000.0))
    memory = memory.seen("b", Face(), now(5_010.0), rewound=10.0)
    memory = memory.seen("b", Face(), now(3.0, "c"))
    assert memory.rewound_until == 1_003.0


@given(st.floats(0.1, 10**6))
def test_a_holder_stops_before_its_time_is_over(ttl: float) -> None:
    assert 0 < usable(ttl) < ttl


def test_the_newest_holder_is_last() -> None:
    assert recent_after(("a", "b"), "a") == ("b", "a")
    assert len(recent_after(tuple(map(str, range(40))), "a")) == 32


@pytest.mark.parametrize("text", ["", "soon", "2026-11-30T00:53:20", "2026-13-01T00:00:00Z"])
def test_a_time_that_cannot_be_read_is_never_old(text: str) -> None:
    assert instant_of(text) is None
    memory = Memory("a", Face(replace(record(), renewed=text), False, 1), 10.0, "b")
    assert judge(memory, now(20.0, wall=WALL * 2), 60.0).standing is Standing.LIVE
