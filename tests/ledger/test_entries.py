"""Ids, stubs and times of entries; the format page's vectors are checked here (G6)."""

from __future__ import annotations

import json
import re
from datetime import datetime
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from muniment.errors import UsageProblem
from muniment.ledger.canonical import MAX_ENTRY_BYTES, NotCanonical
from muniment.ledger.entries import Entry, is_time, mint, stub, stub_digest, time_key
from muniment.ledger.segment import parse_segment, quick_entry
from tests.support.ledger import decision, entry, file, identify, spell

PAGE = Path(__file__).parents[2] / "docs" / "formats" / "ledger.md"


def vectors() -> list[tuple[str, str, str]]:
    """(title, canonical JSON without id, id) of every vector on the format page."""
    text = PAGE.read_text("utf-8")
    pattern = r"^### Vector: (.+?)\n.*?```json vector\n(.+?)\n```\n.*?`id`: `([0-9a-f]{32})`"
    found = re.findall(pattern, text, re.MULTILINE | re.DOTALL)
    assert len(found) >= 6
    return [(title, body, identity) for title, body, identity in found]


@pytest.mark.parametrize(("title", "body", "identity"), vectors())
def test_mint__gives_the_ids_on_the_format_page(title: str, body: str, identity: str) -> None:
    document = json.loads(body)
    assert spell(document) == body, title
    assert identify(document) == identity
    segment = parse_segment(file({**document, "id": identity}), "l.json")
    assert not segment.faults
    assert segment.entries[0].id == identity
    if document.keys() <= {"kind", "at", "actor", "after", "op", "data", "basis"}:
        assert mint(**document) == segment.entries[0]


def test_page__its_stub_is_what_the_first_vector_becomes() -> None:
    text = PAGE.read_text("utf-8")
    _, body, identity = vectors()[0]
    stubbed = stub(mint(**json.loads(body)))
    assert stubbed.id == identity
    assert f"```json\n{stubbed.raw.decode()}\n```" in text
    assert f"`{stub_digest(stubbed)}`" in text


def test_schema__accepts_what_the_reader_accepts_and_refuses_wrong_shapes() -> None:
    validator = jsonschema.Draft202012Validator(json.loads(PAGE.with_suffix(".schema.json").read_bytes()))
    document = json.loads(example())
    assert validator.is_valid(document)
    vector = [json.loads(body) | {"id": identity} for _, body, identity in vectors()]
    assert validator.is_valid({**document, "entries": vector})
    for change in ({"at": "x"}, {"after": ["x"]}, {"data": {"x": 1.5}}, {"data": 1}, {"expunged": True}):
        assert not validator.is_valid({**document, "entries": [vector[0] | change]})
    decided = next(one for one in vector if one["kind"] == "decision")
    assert not validator.is_valid({**document, "entries": [{**decided, "data": {"subject": "x"}}]})
    assert not validator.is_valid({**document, "schema": "muniment.ledger/2"})


def example() -> str:
    found = re.search(r"```json ledger\n(.+?)```", PAGE.read_text("utf-8"), re.DOTALL)
    assert found is not None
    return found[1]


def test_page__its_whole_file_is_read_as_whole() -> None:
    segment = parse_segment(example().encode(), "ledger.json")
    assert segment.laid_out
    assert not segment.faults
    assert len(segment.entries) >= 2


def make(**members: Any) -> Entry:
    given = {"kind": "note", "data": {}, "at": "2026-01-31T04:00:00Z", "actor": "R", "after": (), "op": "x"}
    return mint(**{**given, **members})


def test_mint__is_what_the_format_says() -> None:
    by_hand = decision("bug/code/x", "reject", after=["b" * 32, "a" * 32], basis=["c" * 32])
    minted = mint(**{key: value for key, value in by_hand.items() if key != "id"})
    assert minted.raw == spell(by_hand).encode()
    assert minted.id == by_hand["id"]
    assert minted.after == ("a" * 32, "b" * 32)


def test_mint__decisions_always_carry_a_basis_and_others_none() -> None:
    assert b'"basis":[]' in make(kind="decision").raw
    assert b'"basis"' not in make().raw


@pytest.mark.parametrize("kind", ["", "x" * 65, "a\nb", "\x1b[31m"])
def test_mint__refuses_a_kind(kind: str) -> None:
    with pytest.raises(UsageProblem):
        make(kind=kind)


def test_mint__refuses_a_time_and_a_size() -> None:
    with pytest.raises(UsageProblem):
        make(at="yesterday")
    room = MAX_ENTRY_BYTES - len(make(data={"text": ""}).raw)
    assert len(make(data={"text": "x" * room}).raw) == MAX_ENTRY_BYTES
    with pytest.raises(NotCanonical):
        make(data={"text": "x" * (room + 1)})
    with pytest.raises(NotCanonical):
        make(data={"text": "é" * (room // 2 + 1)})  # bytes count, not characters


def test_stub__keeps_id_time_kind_and_links_only() -> None:
    minted = make(
        kind="decision", data={"subject": "s", "reason": "secret"}, after=["a" * 32], basis=["b" * 32]
    )
    stubbed = stub(minted)
    assert json.loads(stubbed.raw) == {
        "after": ["a" * 32],
        "at": minted.at,
        "basis": ["b" * 32],
        "expunged": True,
        "id": minted.id,
        "kind": "decision",
    }
    assert stub(stubbed) is stubbed
    assert (stubbed.actor, stubbed.op, stubbed.data) == ("", "", {})


def test_stub__keeps_links_in_bodies() -> None:
    assert stub(make(kind="undo", data={"undoes": "a" * 32, "reason": "secret"})).data == {"undoes": "a" * 32}
    listed = stub(make(kind="applied", data={"entries": ["a" * 32], "batch": "secret"}))
    assert listed.data == {"entries": ["a" * 32]}


def test_stub__reads_back_as_itself() -> None:
    stubbed = stub(make(kind="applied", data={"entries": ["a" * 32]}))
    (read,) = parse_segment(file(json.loads(stubbed.raw)), "l.json").entries
    assert read == stubbed
    assert stub_digest(read) == stub_digest(stubbed)


MOMENTS = st.datetimes(datetime.fromisoformat("1990-01-01"), datetime.fromisoformat("2100-01-01"))


@given(MOMENTS, MOMENTS)
def test_time_key__orders_as_the_instants_do(one: datetime, other: datetime) -> None:
    first, second = time_key(one.isoformat() + "Z"), time_key(other.isoformat() + "Z")
    assert (first < second, first == second) == (one < other, one == other)


def test_time_key__knows_offsets_and_fractions() -> None:
    assert time_key("2026-01-31T05:00:00+01:00") == time_key("2026-01-31T04:00:00Z")
    assert time_key("2026-01-31T04:00:00Z") < time_key("2026-01-31T04:00:00.5Z")
    assert time_key("2026-01-31T04:00:00.50Z") == time_key("2026-01-31T04:00:00.5Z")


@pytest.mark.parametrize(
    "text", ["2026-13-01T00:00:00Z", "2026-01-31", "2026-01-31T04:00:00", "", "x", "2026-01-31T24:00:00Z"]
)
def test_is_time__refuses(text: str) -> None:
    assert not is_time(text)


def test_support__builds_entries_that_read() -> None:
    made = entry("note", {"text": "x"})
    assert quick_entry(spell(made).encode()) is not None
