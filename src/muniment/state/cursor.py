"""Which of two cursors is the later one (S4): numbers, else instants, else text. Pure."""

from __future__ import annotations

import re
from datetime import datetime

from muniment.errors import UsageProblem
from muniment.workspace import parse_instant

_FRACTION = re.compile(r"(?P<whole>[^.,]*\d{2}:?\d{2}:?\d{2})[.,](?P<digits>[0-9]+)(?P<zone>[^.,]*)\Z")


def compare(one: str, other: str) -> int:
    """Negative when `one` comes before `other`, 0 when they mean the same, positive when after.

    Two texts of ASCII digits compare as numbers of any length; two ISO 8601 instants as moments, whatever
    their zones and however many fraction digits they have (one without a zone is UTC); any others as text
    by code point.
    """
    if one == other:
        return 0
    first: object
    second: object
    if _digits(one) and _digits(other):
        first, second = _number(one), _number(other)
    else:
        first, second = _moment(one), _moment(other)
        if first is None or second is None:
            first, second = one, other
    return (first > second) - (first < second)  # type: ignore[operator]  # both are of one kind


def later(one: str, other: str) -> str:
    """The later of two cursors; of two that mean the same, the greater text, so that order is no matter."""
    order = compare(one, other)
    return max(one, other) if order == 0 else one if order > 0 else other


def kind(text: str) -> int:
    """How a cursor is ordered: 0 as a number, 1 as an instant, 2 as text.

    Across kinds `compare` is no order (9 < 10 < "1a" < 9), so whoever needs one puts the kinds first.
    """
    return 0 if _digits(text) else 1 if _moment(text) is not None else 2


def _digits(text: str) -> bool:
    return text.isascii() and text.isdigit()


def _number(text: str) -> tuple[int, str]:
    """A key that orders digit texts as the numbers they write, without making a number of them."""
    significant = text.lstrip("0")
    return len(significant), significant


def _moment(text: str) -> tuple[datetime, str] | None:
    """An instant as whole seconds and the digits after them, or None for any other text."""
    match = _FRACTION.match(text)
    whole, digits = (match["whole"] + match["zone"], match["digits"]) if match else (text, "")
    if not text.isascii():
        return None
    try:
        return parse_instant(whole.upper()), digits.rstrip("0")
    except UsageProblem:
        return None
