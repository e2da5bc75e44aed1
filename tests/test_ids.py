"""Ids parse what the contract allows and nothing else."""

from __future__ import annotations

import pytest

from muniment.errors import UsageProblem
from muniment.ids import EntryId, Fingerprint, ItemKey


def test_entry_id__is_32_lower_case_hex_digits() -> None:
    assert EntryId.parse("0" * 32).short == "0" * 12
    for wrong in ("", "0" * 31, "0" * 33, "A" * 32, "g" * 32, "0" * 32 + "\n"):
        with pytest.raises(UsageProblem):
            EntryId.parse(wrong)


def test_item_key__splits_at_the_first_colon() -> None:
    key = ItemKey.parse("slack:C1:1700000000.1")
    assert (key.source, key.native) == ("slack", "C1:1700000000.1")
    for wrong in ("", "slack", "slack:", ":x"):
        with pytest.raises(UsageProblem):
            ItemKey.parse(wrong)


def test_fingerprint__has_kind_layer_and_slug() -> None:
    made = Fingerprint.mint("bug", "code", "list-drops-2-lines")
    assert (made.kind, made.layer, made.slug) == ("bug", "code", "list-drops-2-lines")
    for wrong in (
        "bug/code",
        "bug/code/Upper",
        "bug/code/a--b",
        "bug/code/-a",
        "bug/code/" + "a" * 61,
        "bug/code/a\n",
    ):
        with pytest.raises(UsageProblem):
            Fingerprint.parse(wrong)
