"""What the gate lets pass by exact value: reviewed values, git identities, handles in their fields (G12)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

_JSON_FIELD = re.compile(r'"(?:actor|by|writer)"[ \t]{0,4}:[ \t]{0,4}"((?:[^"\\\n]|\\.){1,200})"')
_YAML_FIELD = re.compile(
    r"(?m)^[ \t]{0,40}(?:- )?(?:actor|by|writer):[ \t]{1,4}"
    r"(['\"]?)([^'\"\n#][^'\"\n]{0,199}?)\1[ \t]{0,20}\r?$"
)
_TRAILER = re.compile(
    r"(?im)^(?:[a-z]{2,20}-)?[a-z]{2,20}-by:[ \t]{0,4}"
    r"(([^<>\n]{1,200}?)[ \t]{0,4}<([^<>\n]{1,200})>)[ \t]*\r?$"
)


def no_history() -> frozenset[tuple[str, str]]:
    """No commit authors known."""
    return frozenset()


@dataclass(frozen=True, slots=True)
class Identities:
    """Who may be named, and where.

    Attributes:
        handles: Exact values allowed in `actor`, `by` and `writer`: handles of `actors`, the git user's name.
        people: (name, e-mail) pairs of git identities allowed in a message's trailers.
        history: More such pairs, read only when a trailer needs it: the authors in this clone's history.
    """

    handles: frozenset[str] = frozenset()
    people: frozenset[tuple[str, str]] = frozenset()
    history: Callable[[], frozenset[tuple[str, str]]] = no_history


def parse_allow_list(text: str) -> frozenset[str]:
    """Reviewed exact values, one a line; blank lines and lines starting with `# ` are comments."""
    lines = (line.strip() for line in text.removeprefix("\ufeff").splitlines())
    return frozenset(line for line in lines if line and not line.startswith("# ") and line != "#")


def exempt_ranges(
    text: str, allow: frozenset[str], identities: Identities, *, trailers: bool
) -> tuple[tuple[int, int], ...]:
    """The ranges of a text in which an exact value may stand; `trailers` for a commit message."""
    ranges = [*_values(text, allow), *_fields(text, identities.handles)]
    if trailers:
        ranges += _trailers(text, identities)
    return tuple(sorted(set(ranges)))


def _values(text: str, allow: frozenset[str]) -> Iterator[tuple[int, int]]:
    for value in allow:
        position = text.find(value)
        while position >= 0:
            yield position, position + len(value)
            position = text.find(value, position + len(value))


def _fields(text: str, handles: frozenset[str]) -> Iterator[tuple[int, int]]:
    if not handles:
        return
    for pattern, group in ((_JSON_FIELD, 1), (_YAML_FIELD, 2)):
        for match in pattern.finditer(text):
            if match.group(group) in handles:
                yield match.span(group)


def _trailers(text: str, identities: Identities) -> Iterator[tuple[int, int]]:
    for match in _TRAILER.finditer(text):
        pair = (match.group(2).strip(), match.group(3).strip())
        if pair in identities.people or pair in identities.history():
            yield match.span(1)
