"""The rules a set keeps as a whole: links, aliases, stubs, rooms, times (G6, G7)."""

from __future__ import annotations

from typing import Any

import pytest

from muniment.ledger.assembly import Whole, assemble
from muniment.ledger.entries import stub, stub_digest
from muniment.ledger.faults import Reach
from muniment.ledger.segment import parse_segment
from tests.support.ledger import Document, decision, entry, file, finding, spell

X, Y, Z = "bug/code/x", "bug/code/y", "bug/code/z"


def whole(*documents: Document) -> Whole:
    return assemble(file(*documents), "l.json")


def rules(*documents: Document) -> list[tuple[str, str]]:
    return [(fault.rule, fault.reach.value) for fault in whole(*documents).verdict.faults]


def stubbed(document: Document) -> tuple[Document, Document]:
    """An entry's stub and the expunge entry that vouches for it."""
    import json  # noqa: PLC0415 - only here

    (read,) = parse_segment(file(document), "l.json").entries
    made = stub(read)
    data = {"expunges": made.id, "stub": stub_digest(made), "reason": "r"}
    return json.loads(made.raw), entry("expunge", data, after=[document], at="2026-03-01T00:00:00Z")


def test_decision__names_existing_findings() -> None:
    found = finding(X, "r1")
    good = entry("decision", {"subject": X, "action": "new", "findings": [found["id"]]}, after=[found])
    assert rules(found, good) == []
    assert rules(found, entry("decision", {"subject": X, "action": "new", "findings": ["a" * 32]})) == [
        ("incomplete", "incomplete")
    ]
    note = entry("note", {"text": "x"})
    wrong = entry("decision", {"subject": X, "action": "new", "findings": [note["id"]]}, after=[note])
    assert rules(note, wrong) == [("link", "broken")]


def test_decision__without_a_finding_link_stands_by_its_subject() -> None:
    assert rules(decision(X, "reject")) == []


def test_decision__a_basis_is_a_decision() -> None:
    found = finding(X, "r1")
    assert rules(found, decision(X, "new", after=[found], basis=[found])) == [("link", "broken")]


def test_undo__names_an_application_or_an_undo() -> None:
    note = entry("note", {"text": "x"})
    assert rules(note, entry("undo", {"undoes": note["id"]}, after=[note])) == [("link", "broken")]
    done = entry("applied", {"entries": [note["id"]]}, after=[note])
    assert rules(note, done, entry("undo", {"undoes": done["id"]}, after=[done])) == []


def test_applied__lists_what_is_there() -> None:
    assert rules(entry("applied", {"entries": ["a" * 32]})) == [("incomplete", "incomplete")]


@pytest.mark.parametrize(
    "pairs", [[(X, Y), (Y, X)], [(X, X)], [(X, Y), (Y, Z), (Z, X)], [(Z, X), (X, Y), (Y, X)]]
)
def test_alias__forms_no_cycle(pairs: list[tuple[str, str]]) -> None:
    found = rules(*(entry("alias", {"alias": name, "canonical": other}) for name, other in pairs))
    assert set(found) == {("alias-cycle", "broken")}


def test_alias__a_withdrawn_one_closes_no_cycle() -> None:
    one = entry("alias", {"alias": X, "canonical": Y})
    other = entry("alias", {"alias": Y, "canonical": X})
    done = entry("applied", {"entries": [one["id"]]}, after=[one])
    assert rules(one, other, done, entry("undo", {"undoes": done["id"]}, after=[done])) == []


def test_alias__a_diamond_is_no_cycle() -> None:
    pairs = [(X, Y), (X, Z), (Y, "bug/code/w"), (Z, "bug/code/w")]
    assert rules(*(entry("alias", {"alias": name, "canonical": other}) for name, other in pairs)) == []


def test_expunge__a_stub_verifies_though_its_body_is_gone() -> None:
    note = entry("note", {"text": "secret"})
    gone, expunge = stubbed(note)
    found = whole(gone, expunge)
    assert found.verdict.faults == ()
    assert found.verdict.expunged == (note["id"],)


def test_expunge__a_stub_that_nothing_vouches_for_is_broken() -> None:
    gone, _ = stubbed(entry("note", {"text": "secret"}))
    assert rules(gone) == [("expunge", "broken")]


@pytest.mark.parametrize(
    "change", [{"kind": "decision"}, {"at": "2026-01-31T04:00:01Z"}, {"after": ["a" * 32]}]
)
def test_expunge__an_edited_stub_is_detected(change: Document) -> None:
    gone, expunge = stubbed(entry("note", {"text": "secret"}))
    assert ("expunge", "broken") in rules({**gone, **change}, expunge)


def test_expunge__a_body_that_came_back_is_detected() -> None:
    note = entry("note", {"text": "secret"})
    _, expunge = stubbed(note)
    assert rules(note, expunge) == [("expunge", "broken")]


def test_expunge__a_stub_holds_nothing_else() -> None:
    gone, expunge = stubbed(entry("note", {"text": "secret"}))
    assert parse_segment(file({**gone, "actor": "R"}, expunge), "l.json").faults[0].rule == "schema"


@pytest.mark.parametrize(
    "body",
    [
        ("decision", {}),
        ("decision", {"subject": X, "action": ""}),
        ("alias", {"alias": X}),
        ("undo", {}),
        ("applied", {"entries": "x"}),
        ("expunge", {}),
        ("finding", {"subject": 1}),
    ],
)
def test_body__a_damaged_one_is_the_problem_of_its_entry_alone(body: tuple[str, dict[str, Any]]) -> None:
    found = whole(entry(*body), decision(Y, "new"))
    assert [(fault.rule, fault.reach) for fault in found.verdict.faults] == [("body", Reach.ENTRY)]
    assert not found.verdict.broken
    assert found.verdict.ok is False


def test_times__before_a_parent_is_only_noted() -> None:
    first = entry("note", {"n": 1}, at="2026-02-01T00:00:00Z")
    second = entry("note", {"n": 2}, after=[first], at="2026-01-01T00:00:00Z")
    found = whole(first, second)
    assert [fault.rule for fault in found.verdict.notes] == ["clock"]
    assert found.verdict.ok is True


def room(kind: str, name: str = "r1", **data: Any) -> Document:
    return entry(kind, {"room": name, **data})


def test_rooms__a_resolution_names_a_request_of_its_own_candidate_and_room() -> None:
    candidate = room("candidate")
    request = room("request", candidate=candidate["id"])
    good = room("resolution", request=request["id"], candidate=candidate["id"])
    assert rules(candidate, request, good) == []
    other = room("candidate", n=2)
    crossed = room("resolution", request=request["id"], candidate=other["id"])
    assert rules(candidate, other, request, crossed) == [("room-link", "room")]
    elsewhere = room("resolution", "r2", request=request["id"], candidate=candidate["id"])
    assert set(rules(candidate, request, elsewhere)) == {("room-link", "room")}
    wrong = room("resolution", request=candidate["id"], candidate=candidate["id"])
    assert rules(candidate, wrong) == [("room-link", "room")]
    absent = room("resolution", request="a" * 32, candidate=candidate["id"])
    assert rules(candidate, absent) == [("room-link", "room")]


def test_rooms__a_broken_room_stops_that_room_alone() -> None:
    found = whole(room("resolution", request="a" * 32), decision(X, "new"))
    assert not found.verdict.broken
    assert [fault.room for fault in found.verdict.problems] == ["r1"]


def test_assemble__faults_have_path_and_line() -> None:
    absent = entry("note", {"n": 1})
    child = entry("note", {"n": 2}, after=[absent])
    data = file(child, entry("note", {"n": 3}))
    (fault,) = assemble(data, "docs/l.json").verdict.problems
    assert fault.path == "docs/l.json"
    assert data.split(b"\n")[fault.line - 1] == spell(child).encode()
