"""Names for plans that are moved aside."""

from __future__ import annotations

import pytest

from muniment.plan.rotate import dated_sibling


@pytest.mark.parametrize(
    ("path", "taken", "expected"),
    [
        ("docs/plans/plan.md", set(), "docs/plans/plan-2026-11-30.md"),
        ("plan.md", {"plan-2026-11-30.md"}, "plan-2026-11-30-2.md"),
        ("a.b/plan", set(), "a.b/plan-2026-11-30"),
        (".plan", {".plan-2026-11-30", ".plan-2026-11-30-2"}, ".plan-2026-11-30-3"),
        ("x/plan.tar.gz", set(), "x/plan.tar-2026-11-30.gz"),
    ],
)
def test_dated_sibling(path: str, taken: set[str], expected: str) -> None:
    assert dated_sibling(path, "2026-11-30", taken.__contains__) == expected
