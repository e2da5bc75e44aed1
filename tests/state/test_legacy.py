"""Taking over an older tracker: forward only, nothing twice, garbage fails nothing (S18)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from muniment.errors import UsageProblem
from muniment.state import legacy
from muniment.state.operations import Answer, Word
from tests.support.state_model import Model


def imported(view: Model, value: Any, source_map: dict[str, str] | None = None) -> Answer:
    data = value if isinstance(value, bytes) else json.dumps(value).encode()
    answer = legacy.import_legacy(view, data, source_map or {})
    view.apply(answer.edits)
    return answer


LEGACY: dict[str, Any] = {
    "channels": {"C1": {"last_processed_ts": "1700000000.000100"}, "C2": {"last_processed_ts": 7}},
    "items": {"C1:9": {"title": "x", "status": "in_plan", "channel": "C1"}, "C2:3": {"title": "y"}},
}


def test_import__into_nothing() -> None:
    view = Model()
    answer = imported(view, LEGACY, {"C1": "slack"})
    assert answer.value == {"cursors_imported": 2, "items_imported": 2}
    assert view.state["sources"] == {"slack": {"cursor": "1700000000.000100"}, "C2": {"cursor": "7"}}
    assert view.state["items"]["slack:9"] == {
        "id": "9", "source": "slack", "status": "in_plan", "title": "x", "channel": "C1",
    }  # fmt: skip
    assert view.state["items"]["C2:3"]["status"] == "acknowledged", "never acknowledged again"


def test_import__again_changes_nothing() -> None:
    view = Model()
    imported(view, LEGACY)
    assert imported(view, LEGACY) == Answer(Word.OK, {"cursors_imported": 0, "items_imported": 0})


def test_import__never_goes_back_and_leaves_items_alone() -> None:
    standing: dict[str, Any] = {
        "schema_version": 1,
        "sources": {"C1": {"cursor": "1700000001.000000"}, "C2": {"cursor": "6", "sensitive": True}},
        "items": {"C1:9": {"status": "closed"}},
    }
    view = Model(standing)
    old = LEGACY | {"items": {**LEGACY["items"], "C2:4": {"body": "secret"}}}
    assert imported(view, old).value == {"cursors_imported": 1, "items_imported": 2}
    assert view.state["sources"]["C1"] == standing["sources"]["C1"]
    assert view.state["sources"]["C2"]["cursor"] == "7"
    assert view.state["items"]["C1:9"] == {"status": "closed"}
    assert "secret" not in str(view.state)


def test_import__yaml_with_a_time_stamp_as_a_number() -> None:
    view = Model()
    imported(view, b"channels:\n  C1: {last_processed_ts: 1700000000.000100}\nitems: {}\n")
    assert view.state["sources"]["C1"]["cursor"] == "1700000000.000100"


def test_import__keys_without_a_channel() -> None:
    view = Model()
    one = {"channels": {"C1": {}}, "items": {"9": {"a": 1}}}
    assert imported(view, one, {"C1": "slack"}).value["items_imported"] == 1
    assert "slack:9" in view.state["items"]
    said = {"items": {"9": {"source": "mail"}, "10": {"channel": "a:b"}, "11": {}}}
    view = Model()
    assert imported(view, said).value["items_imported"] == 1
    assert "mail:9" in view.state["items"]


def test_import__two_channels_of_one_source_take_the_later() -> None:
    view = Model()
    channels = {"A": {"last_processed_ts": "9"}, "B": {"last_processed_ts": "10"}}
    items = {"A:1": {"title": "first"}, "B:1": {"title": "second", "more": 1}}
    answer = imported(view, {"channels": channels, "items": items}, {"A": "s", "B": "s"})
    assert answer.value == {"cursors_imported": 1, "items_imported": 1}
    assert view.state["sources"]["s"]["cursor"] == "10"
    assert view.state["items"]["s:1"]["title"] == "first"


@pytest.mark.parametrize(
    "data",
    [b"", b"\xff\xfe", b"[]", b"nonsense", b"{", b"channels: 5\nitems: [1]", b"<<<<<<< x\n", b'"x"', b"null",
     b'{"channels": {"C": 5, "D": {"last_processed_ts": [1]}, "": {"last_processed_ts": "1"}}}',
     b'{"items": {"a:1": 5, "": {}, ":": {}, "a:": {}, "a:2": {"t": "\\ud800"}}}', b"[" * 100000],
)  # fmt: skip
def test_import__garbage_imports_nothing_and_fails_nothing(data: bytes) -> None:
    view = Model()
    answer = imported(view, data)
    assert answer == Answer(Word.OK, {"cursors_imported": 0, "items_imported": 0})
    assert not view.exists


def test_source_map__must_name_sources() -> None:
    assert legacy.require_map({"a": "b"}) == {"a": "b"}
    for wrong in ({"a": 1}, {"a": ""}, {"a": "x:y"}):
        with pytest.raises(UsageProblem):
            legacy.require_map(wrong)
