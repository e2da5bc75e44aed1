"""The published format: the page's example, the schema, and the code say the same."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from muniment.state import claim, operations
from muniment.state.model import Status, build
from muniment.state.operations import OUTCOMES, Word
from muniment.state.text import NoState, StateText
from muniment.yaml_io import parse

FORMATS = Path(__file__).parent.parent.parent / "docs" / "formats"


def schema() -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads((FORMATS / "state.schema.json").read_bytes())
    return loaded


def test_schema__lists_every_status() -> None:
    listed = schema()["$defs"]["item"]["properties"]["status"]["anyOf"][0]["enum"]
    assert listed == [str(status) for status in Status]
    page = (FORMATS / "state.md").read_text(encoding="utf-8")
    assert all(f"`{status}`" in page for status in Status)


def test_page_and_schema__list_every_word_and_outcome() -> None:
    page = (FORMATS / "state.md").read_text(encoding="utf-8")
    shared = {Word.OFFLINE, Word.REJECTED_POLICY, Word.REMOTE_REWOUND, Word.UNKNOWN}
    assert all(f"| `{word}` |" in page for word in set(Word) - shared)
    assert all(f"`{outcome}`" in page for outcome in OUTCOMES)
    assert schema()["properties"]["last_run"]["properties"]["outcome"]["enum"] == list(OUTCOMES)


def test_what_the_engine_writes__is_valid() -> None:
    view = NoState()
    edits = [
        *claim.acquire(view, "a", None, "2026-12-01T00:00:00Z").edits,
        *operations.upsert_item(view, "s", "1", {"title": "x"}).edits,
        *operations.run_record(view, "a", "partial", {"s": 1}, "2026-12-01T00:00:00Z").edits,
    ]
    value = StateText(view.edited(edits)).value()
    jsonschema.Draft202012Validator(schema()).validate(value)


def test_example__is_valid_and_read() -> None:
    page = (FORMATS / "state.md").read_text(encoding="utf-8")
    example = re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)[0]
    document = parse(example)
    jsonschema.Draft202012Validator(schema()).validate(document.value)
    state, problems = build(document, "x")
    assert state is not None
    assert (state.items["inbox:1"].number, problems) == (3, ())


@pytest.mark.parametrize(
    "text",
    ["a: 1", "schema_version: x", "schema_version: 1\nitems: []", "schema_version: 1\nlease: 1",
     "schema_version: 1\nitems: {'a:1': {status: x, r: 0}}", "schema_version: 1\nitems: {'a:1': {}}",
     "schema_version: 1\nitems: {'a': {status: x}}"],
)  # fmt: skip
def test_schema__and_code_refuse_the_same(text: str) -> None:
    document = parse(text)
    state, problems = build(document, "x")
    assert state is None or problems
    assert not jsonschema.Draft202012Validator(schema()).is_valid(document.value)
