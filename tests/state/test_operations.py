"""The operations over plain dicts: what each answers, and what it changes (S12, S17, S20, G8)."""

from __future__ import annotations

from typing import Any

import pytest

from muniment.errors import UsageProblem
from muniment.state import batch, claim, operations
from muniment.state.model import Status
from muniment.state.operations import Answer, Unplaceable, Word
from tests.support.state_model import Model

NOON = "2026-12-01T12:00:00Z"
LEASE = {"writer": "a", "timestamp": NOON, "ttl_minutes": 60, "epoch": 4}


def model(**more: Any) -> Model:
    return Model({"schema_version": 1} | more)


def done(view: Model, answer: Answer) -> Model:
    assert answer.word is Word.OK, answer
    view.apply(answer.edits)
    return view


def upserted(view: Model, **fields: Any) -> dict[str, Any]:
    after = done(view, operations.upsert_item(view, "s", "1", fields))
    found: dict[str, Any] = after.state["items"]["s:1"]
    return found


def test_upsert__new_item_gets_id_source_and_status() -> None:
    assert upserted(model(), title="x") == {"id": "1", "source": "s", "status": "ingested", "title": "x"}


def test_upsert__only_the_keys_given() -> None:
    view = model(items={"s:1": {"status": "odd word", "extra": [1], "title": "x"}})
    assert upserted(view, title="y") == {"status": "odd word", "extra": [1], "title": "y"}


@pytest.mark.parametrize("word", [*Status, "whatever they call it", "CLOSED"])
def test_upsert__any_status(word: str) -> None:
    assert upserted(model(), status=str(word))["status"] == word


@pytest.mark.parametrize(
    "fields", [{"id": "2"}, {"source": "t"}, {"status": ""}, {"status": 1}, {"status": None}, {"k" * 1001: 1}]
)
def test_upsert__fields_that_contradict_the_key_are_misuse(fields: dict[str, Any]) -> None:
    with pytest.raises(UsageProblem):
        operations.upsert_item(model(), "s", "1", fields)


@pytest.mark.parametrize(("source", "native"), [("", "1"), ("s", ""), ("a:b", "1")])
def test_upsert__keys_that_cannot_be(source: str, native: str) -> None:
    with pytest.raises(UsageProblem):
        operations.upsert_item(model(), source, native, {})


@pytest.mark.parametrize("said", [True, "yes", "true  # note", 1, ["x"]])
def test_upsert__sensitive_item_stores_no_text(said: Any) -> None:
    item = upserted(model(), sensitive=said, body="secret", quote="secret", title="kept")
    assert "secret" not in str(item)
    assert item["title"] == "kept"


@pytest.mark.parametrize("said", [False, None, "", 0, []])
def test_upsert__not_sensitive(said: Any) -> None:
    assert upserted(model(), sensitive=said, body="text")["body"] == "text"


def test_upsert__becoming_sensitive_scrubs_what_is_stored() -> None:
    conflicts = [
        {"field": "body", "values": ["secret", "secret 2"]},
        {"field": "title", "values": ["p", "q"]},
    ]
    view = model(items={"s:1": {"status": "x", "body": "secret", "quote": "secret", "conflicts": conflicts}})
    item = upserted(view, sensitive=True)
    assert item == {"status": "x", "sensitive": True, "conflicts": [conflicts[1]]}


def test_upsert__no_longer_sensitive_may_store_again() -> None:
    view = model(items={"s:1": {"status": "x", "sensitive": True}})
    assert upserted(view, sensitive=False, body="b")["body"] == "b"


def test_upsert__sensitive_source() -> None:
    view = model(sources={"s": {"sensitive": "yes"}}, items={"s:1": {"status": "x", "body": "secret"}})
    assert "body" not in upserted(view, quote="secret")
    told = operations.upsert_item(model(), "s", "1", {"body": "secret"}, hidden={"s"})
    assert "body" not in told.edits[0].fields


def test_upsert__clears_the_fields_conflicts() -> None:
    conflicts = [{"field": name, "values": [1, 2]} for name in ("a~1b", "media", "title", "title/x")]
    view = model(items={"s:1": {"status": "x", "conflicts": conflicts}})
    assert upserted(view, title="t")["conflicts"] == conflicts[:2]
    assert "conflicts" not in upserted(view, **{"a/b": 1, "media": []})
    assert upserted(view, title="u", conflicts=conflicts)["conflicts"] == conflicts


def test_cursor_get() -> None:
    assert operations.cursor_get(Model(), "s").value == {"cursor": None}
    assert operations.cursor_get(model(), "s").value == {"cursor": None}
    assert operations.cursor_get(model(sources={"s": {"cursor": "7"}}), "s").value == {"cursor": "7"}


@pytest.mark.parametrize(
    ("standing", "to", "word"),
    [
        (None, "5", "OK"), ("5", "10", "OK"), ("10", "5", "REFUSED"), (10, "5", "REFUSED"), ("5", "5", "OK"),
        (5, "5", "OK"), ("2026-12-01T01:00:00+02:00", "2026-11-30T23:30:00Z", "OK"),
        ("2026-11-30T23:30:00Z", "2026-12-01T01:00:00+02:00", "REFUSED"),
        ("2026-11-30T23:00:00Z", "2026-12-01T01:00:00+02:00", "OK"), ("b", "a", "REFUSED"),
    ],
)  # fmt: skip
def test_cursor_advance__only_forward(standing: Any, to: str, word: str) -> None:
    view = model(sources={"s": {"cursor": standing, "kept": 1}}, items={"s:1": {"status": "x"}})
    for past in ("1", "s:1"):
        answer = operations.cursor_advance(view, "s", to, past)
        assert answer.word == word
        assert bool(answer.edits) == (word == "OK" and standing != to)


@pytest.mark.parametrize("past", ["2", "t:1", "t:9", "s:"])
def test_cursor_advance__refuses_an_item_that_the_source_does_not_have(past: str) -> None:
    items = {"s:1": {"status": "x"}, "t:1": {"status": "x"}, "s:9": {"status": "x", "source": "t"}}
    assert operations.cursor_advance(model(items=items), "s", "5", past).word is Word.REFUSED
    assert operations.cursor_advance(model(items=items), "s", "5", "9").word is Word.REFUSED


def test_cursor_advance__a_cursor_that_is_no_value() -> None:
    view = model(sources={"s": {"cursor": ["5"]}}, items={"s:1": {"status": "x"}})
    with pytest.raises(Unplaceable):
        operations.cursor_advance(view, "s", "5", "1")


def test_run_record() -> None:
    view = model(lease=LEASE, last_run={"extra": 1}, conflicts=[{"field": "last_run/outcome", "values": []}])
    after = done(view, operations.run_record(view, "b", "partial", {"n": 1}, NOON)).state
    record = {"extra": 1, "timestamp": NOON, "outcome": "partial", "writer": "b", "counts": {"n": 1}}
    assert after == {"schema_version": 1, "lease": LEASE, "last_run": record}
    with pytest.raises(UsageProblem):
        operations.run_record(view, "b", "done", {}, NOON)


def test_run_record__begins_a_state() -> None:
    after = done(Model(), operations.run_record(Model(), "b", "failed", {}, NOON)).state
    assert after["schema_version"] == 1


SHA = "a1" * 20


@pytest.mark.parametrize(
    ("evidence", "stays"),
    [
        ({}, False),
        ({"fix_ref": "#12", "verified_merge_sha": SHA}, False),
        ({"fix_ref": "", "verified_merge_sha": SHA, "verified_at": NOON}, False),
        ({"fix_ref": "#12", "verified_merge_sha": "soon", "verified_at": NOON}, False),
        ({"fix_ref": "#12", "verified_merge_sha": SHA, "verified_at": NOON}, True),
        ({"fix_ref": SHA, "verified_merge_sha": SHA, "verified_at": NOON}, True),
    ],
)
def test_validate__closed_without_evidence_returns_to_fix_pending(
    evidence: dict[str, Any], stays: bool
) -> None:
    view = model(items={"s:1": {"status": "closed"} | evidence, "s:2": {"status": "strange"}})
    answer = operations.validate(view, view.items())
    assert answer.value == {"downgraded": [] if stays else ["s:1"]}
    after = done(view, answer).state["items"]
    assert after == {
        "s:1": {"status": "closed" if stays else "fix_pending"} | evidence,
        "s:2": {"status": "strange"},
    }


def test_validate__scrubs_what_hands_made_sensitive() -> None:
    items = {
        "s:1": {"status": "x", "sensitive": "yes", "body": "secret"},
        "t:1": {"status": "x", "quote": "secret"},
        "u:1": {"status": "x", "source": "t", "quote": "secret"},
        "v:1": {"status": "x", "quote": "open"},
    }
    view = model(sources={"t": {"sensitive": True}}, items=items)
    after = done(view, operations.validate(view, view.items())).state
    assert "secret" not in str(after)
    assert after["items"]["v:1"] == items["v:1"]


# --- the lease in the file


def acquired(view: Model, writer: str, now: str = NOON, ttl: float | None = None) -> Answer:
    answer = claim.acquire(view, writer, ttl, now)
    view.apply(answer.edits)
    return answer


def test_acquire__makes_a_state() -> None:
    view = Model()
    assert acquired(view, "a").word is Word.OK
    lease = {"writer": "a", "timestamp": NOON, "ttl_minutes": 60, "epoch": 1}
    assert view.state == {"schema_version": 1, "lease": lease, "lease_epoch": 1}


def test_acquire__again_by_the_same_writer_keeps_epoch_and_ttl() -> None:
    view = model(lease=LEASE | {"ttl_minutes": 5, "mine": "x"}, lease_epoch=4)
    assert acquired(view, "a", "2026-12-01T12:01:00+00:00").word is Word.OK
    kept = {"ttl_minutes": 5, "mine": "x", "timestamp": "2026-12-01T12:01:00+00:00"}
    assert view.state["lease"] == LEASE | kept


def test_acquire__again_by_the_same_writer_after_it_ran_out_is_a_new_holding() -> None:
    view = model(lease=LEASE)
    assert acquired(view, "a", "2026-12-02T12:00:00Z").word is Word.OK
    assert view.state["lease"]["epoch"] == view.state["lease_epoch"] == 5


@pytest.mark.parametrize("now", [NOON, "2026-12-01T13:00:00Z", "2026-12-01T14:59:00+02:00", "2016-01-01"])
def test_acquire__locked_while_it_lives(now: str) -> None:
    answer = acquired(model(lease=LEASE), "b", now)
    assert (answer.word, answer.edits) == (Word.LOCKED, ())


@pytest.mark.parametrize(
    "damage",
    [
        {"timestamp": "garbage"}, {"timestamp": None}, {"timestamp": 20200101}, {"timestamp": "2036-01-01"},
        {"ttl_minutes": None}, {"ttl_minutes": "60"}, {"ttl_minutes": True}, {"ttl_minutes": 10**400},
        {"ttl_minutes": -1}, {"ttl_minutes": 1e18},
    ],
)  # fmt: skip
def test_acquire__what_cannot_be_read_is_live(damage: dict[str, Any]) -> None:
    view = model(lease=LEASE | damage)
    assert acquired(view, "b", "2026-12-09T12:00:00Z").word is Word.LOCKED


@pytest.mark.parametrize("now", ["2026-12-01T13:00:01Z", "2026-12-01T15:00:01+02:00", "2030-01-01"])
def test_acquire__stale_is_reclaimed_with_a_higher_epoch(now: str) -> None:
    view = model(lease=LEASE | {"session": "x", "seq": 9, "note": "kept"}, lease_epoch=7)
    answer = acquired(view, "b", now, 2.5)
    assert answer.word is Word.STALE_RECLAIMED
    assert answer.value == {"previous_writer": "a", "previous_timestamp": NOON}
    fields = {"writer": "b", "timestamp": now, "ttl_minutes": 2.5, "epoch": 8, "note": "kept"}
    assert view.state["lease"] == fields


def test_acquire__judges_by_the_ttl_of_the_record() -> None:
    assert (
        acquired(model(lease=LEASE | {"ttl_minutes": 600}), "b", "2026-12-01T14:00:00Z", 1).word
        is Word.LOCKED
    )


@pytest.mark.parametrize("ttl", [0.0, -1.0, float("nan"), float("inf")])
def test_acquire__ttl_that_is_no_time(ttl: float) -> None:
    with pytest.raises(UsageProblem):
        claim.acquire(model(), "a", ttl, NOON)


def test_release__leaves_the_epoch_and_the_next_one_is_higher() -> None:
    view = model(lease=LEASE)
    assert claim.release(view, "b").word is Word.LEASE_LOST
    view.apply(claim.release(view, "a").edits)
    assert view.state == {"schema_version": 1, "lease_epoch": 4}
    assert claim.release(view, "a") == Answer(Word.OK)
    assert claim.release(Model(), "a") == Answer(Word.OK)
    acquired(view, "c")
    assert view.state["lease"]["epoch"] == 5


def held(view: Model, writer: str = "a", now: str = NOON, epoch: int | None = None) -> Answer:
    return claim.holding(
        view, writer, now, lambda seen: operations.upsert_item(seen, "s", "1", {"title": "t"}), epoch=epoch
    )


def test_holding__stamps_the_lease_again() -> None:
    view = model(lease=LEASE | {"renewed": NOON, "seq": 2})
    later = "2026-12-01T13:30:00+01:00"
    view.apply(held(view, now=later).edits)
    assert view.state["lease"] == LEASE | {"timestamp": later, "renewed": later, "seq": 3}
    assert view.state["items"]["s:1"]["title"] == "t"


@pytest.mark.parametrize(
    ("view", "writer", "now", "epoch"),
    [
        (Model(), "a", NOON, None),
        (model(), "a", NOON, None),
        (model(lease=None), "a", NOON, None),
        (model(lease=LEASE), "b", NOON, None),
        (model(lease=LEASE | {"writer": None}), "a", NOON, None),
        (model(lease=LEASE), "a", "2026-12-08T12:00:00Z", None),
        (model(lease=LEASE), "a", NOON, 3),
    ],
    ids=["no file", "no lease", "null", "another's", "unreadable", "a week past its ttl", "another epoch"],
)
def test_holding__lease_lost(view: Model, writer: str, now: str, epoch: int | None) -> None:
    answer = held(view, writer, now, epoch)
    assert (answer.word, answer.edits) == (Word.LEASE_LOST, ())


def test_holding__a_refusal_stamps_nothing() -> None:
    view = model(lease=LEASE)
    answer = claim.holding(view, "a", NOON, lambda seen: operations.cursor_advance(seen, "s", "5", "1"))
    assert (answer.word, answer.edits) == (Word.REFUSED, ())


# --- batches


def perform(view: Model, *lines: str) -> Answer:
    return batch.perform(view, batch.read("\n".join(lines), writer="a", now=NOON))


def test_batch__each_sees_what_those_before_did() -> None:
    view = model()
    answer = perform(
        view,
        '{"op": "upsert-item", "source": "s", "id": "1", "json": {"body": "secret"}}',
        "",
        '{"op": "cursor-advance", "source": "s", "to": "5", "past-item": "1"}',
        '{"op": "upsert-item", "source": "s", "id": "1", "json": {"sensitive": true}}',
        '{"op": "run-record", "outcome": "completed", "counts": {"s": 1}}',
    )
    assert answer.value == {"operations": 4}
    view.apply(answer.edits)
    assert "secret" not in str(answer.edits)
    assert view.state["sources"]["s"]["cursor"] == "5"
    assert view.state["last_run"]["writer"] == "a"


def test_batch__all_or_none() -> None:
    answer = perform(
        model(),
        '{"op": "upsert-item", "source": "s", "id": "1", "json": {}}',
        '{"op": "cursor-advance", "source": "s", "to": "5", "past_item": "2"}',
    )
    assert (answer.word, answer.value, answer.edits) == (Word.REFUSED, {"operation": 2}, ())


@pytest.mark.parametrize(
    "line",
    [
        "{", "[]", '{"op": "delete"}', '{"op": "upsert-item", "source": "s", "id": "1"}',
        '{"op": "upsert-item", "source": "s", "id": 1, "json": {}}',
        '{"op": "upsert-item", "source": "s", "id": "1", "json": {}, "x": 1}',
        '{"op": "upsert-item", "source": "s", "id": "1", "json": {"a": 1, "a": 2}}',
        '{"op": "upsert-item", "source": "s", "id": "1", "json": {"a": NaN}}',
        '{"op": "upsert-item", "source": "s", "id": "1", "json": {"a": 1e999}}',
        '{"op": "upsert-item", "source": "s", "id": "1", "json": {"a": "\\ud800"}}',
        '{"op": "upsert-item", "source": "s", "id": "1", "writer": "b", "json": {}}',
        '{"op": "run-record", "outcome": "x", "counts": {}}',
        '{"op": "cursor-advance", "source": "s", "to": "", "past-item": "1"}',
        '{"op": "upsert-item", "source": "s", "id": "1", "json": ' + '{"a":' * 40 + "1" + "}" * 41,
    ],
)  # fmt: skip
def test_batch__misuse_names_the_line(line: str) -> None:
    with pytest.raises(UsageProblem, match="Line 2 of the batch"):
        batch.read("\n" + line, writer="a", now=NOON)
