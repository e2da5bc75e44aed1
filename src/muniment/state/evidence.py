"""What a closed item must carry, and the form in which it is evidence (S10, S11). Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from muniment.errors import UsageProblem
from muniment.workspace import parse_instant

_COMMIT = re.compile(r"[0-9a-f]{7,64}")
_PULL_REQUEST = re.compile(r"#[1-9][0-9]*")


def _is_reference(text: str) -> bool:
    return bool(_PULL_REQUEST.fullmatch(text) or _COMMIT.fullmatch(text))


def _is_instant(text: str) -> bool:
    try:
        parse_instant(text)
    except UsageProblem:
        return False
    return True


EVIDENCE: Mapping[str, Callable[[str], bool]] = {
    "fix_ref": _is_reference,
    "verified_merge_sha": lambda text: bool(_COMMIT.fullmatch(text)),
    "verified_at": _is_instant,
}
"""Field → whether its text is evidence."""


def missing(item: Mapping[str, Any]) -> tuple[str, ...]:
    """The fields without which nothing shows that this item is fixed; empty when all three stand."""
    return tuple(name for name, holds in EVIDENCE.items() if not holds(str(item.get(name) or "")))
