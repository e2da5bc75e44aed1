"""What a new text adds to an old one, for the gate: old bytes are reported by `check`, not refused (G12)."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter

from muniment.redact.rules import TAG
from muniment.redact.spans import Span

_CONTEXT_LINES = 3
_MASK = "\ufffc"


def changed(new: str, old: str) -> tuple[int, int, int]:
    """The window that holds every difference, a few lines wider: start, its end in `new`, its end in `old`.

    An identifier that old and added characters form together lies inside the window.
    """
    head = _common(new, old)
    most = min(len(new), len(old)) - head
    tail = _common(new[len(new) - most :][::-1], old[len(old) - most :][::-1]) if most else 0
    start = _lines_back(new, head)
    keep = len(new) - _lines_on(new, len(new) - tail)
    return start, len(new) - keep, len(old) - keep


def added(text: str, found: tuple[Span, ...], old: str, before: tuple[Span, ...]) -> tuple[Span, ...]:
    """Those of `found` that `old` didn't hold as often: each old occurrence of a value excuses one.

    Occurrences on lines that `old` also has are excused first.
    """
    excused = Counter((span.kind, old[span.start : span.end]) for span in before)
    old_lines = set(old.split("\n"))
    starts = line_starts(text)

    def is_new_line(span: Span) -> bool:
        first = starts[bisect_right(starts, span.start) - 1]
        stop = text.find("\n", span.end)
        lines = text[first : stop if stop >= 0 else len(text)].split("\n")
        return not all(line in old_lines for line in lines)

    fresh = []
    for span in sorted(found, key=is_new_line):
        value = (span.kind, text[span.start : span.end])
        if excused[value] > 0:
            excused[value] -= 1
        else:
            fresh.append(span)
    return tuple(sorted(fresh, key=lambda span: span.start))


def mask(text: str, spans: list[Span]) -> str:
    """The text with these spans and every tag made opaque, every position kept."""
    ranges = [(span.start, span.end) for span in spans]
    ranges += [match.span() for match in TAG.finditer(text)]
    if not ranges:
        return text
    parts: list[str] = []
    cursor = 0
    for start, end in sorted(ranges):
        if start >= cursor:
            parts += [text[cursor:start], _MASK * (end - start)]
            cursor = end
    return "".join([*parts, text[cursor:]])


def line_starts(text: str) -> list[int]:
    """The offset of every line's first character; lines end at LF."""
    starts = [0]
    position = text.find("\n")
    while position >= 0:
        starts.append(position + 1)
        position = text.find("\n", position + 1)
    return starts


def _common(one: str, other: str) -> int:
    """Length of the common prefix, by comparing ever smaller slices (memory compares, not a Python loop)."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _lines_back(text: str, position: int) -> int:
    for _ in range(_CONTEXT_LINES + 1):
        position = text.rfind("\n", 0, max(position, 0))
        if position < 0:
            return 0
    return position + 1


def _lines_on(text: str, position: int) -> int:
    for _ in range(_CONTEXT_LINES + 1):
        position = text.find("\n", position) + 1
        if position == 0:
            return len(text)
    return position
