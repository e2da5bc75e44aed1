"""The state file: setting fields in place, and what is refused."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from muniment.errors import Refused
from muniment.state.model import Lease
from muniment.state.store import decode, require_free
from tests.support.state_text import STATE, item, state_text

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)


def test_with_fields__nothing_to_set_is_no_change() -> None:
    file = decode(state_text(item("inbox:1")).encode(), STATE)
    assert file.with_fields({}) is None
    assert file.with_fields({"inbox:1": {"status": "analyzed"}}) is None


def test_with_fields__keeps_comments_unknown_fields_and_a_newer_schema() -> None:
    text = (
        "# top\nschema_version: 7 # new\nitems:\n  inbox:1: # one\n    status: analyzed\n"
        "    later: {x: [1]}\n"
    )
    change = decode(text.encode(), STATE).with_fields({"inbox:1": {"r": 1, "status": "in_plan"}})
    assert change is not None
    assert change.data == (
        text.replace("# one\n", "# one\n    r: 1\n").replace("status: analyzed", "status: in_plan").encode()
    )


def test_with_fields__what_cannot_be_edited_is_refused() -> None:
    text = "schema_version: 1\nitems:\n  a:1: &x {status: analyzed, ? [k] : v}\n"
    with pytest.raises(Refused):
        decode(text.encode(), STATE)


def test_require_free__no_lease() -> None:
    require_free(None, NOON, STATE)
    with pytest.raises(Refused, match="another writer since an unknown time"):
        require_free(Lease("", "", None), NOON, STATE)
