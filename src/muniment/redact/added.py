"""What a new text adds to an old one, for the gate: old bytes are reported by `check`, not refused (G12)."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from itertools import pairwise

from muniment.redact.spans import Span

_CONTEXT_LINES = 3
Find = Callable[[str], tuple[Span, ...]]


def added_spans(new: str, old: str, find: Find) -> tuple[Span, ...]:
    """What `find` sees in `new` that `old` doesn't already hold; positions are those in `new`.

    Only added lines, lines that newly stand side by side, and a few lines around them are looked at. An
    identifier counts when it touches an added line or spans a new joint, unless the same value stood as
    often on the lines that were removed: a line that was moved, or edited elsewhere, adds nothing.
    """
    fresh, gone = _compare(new, old)
    found = [span for span in fresh.find(find) if fresh.touches(span)]
    if not found:
        return ()
    excused = Counter(
        (span.kind, old[span.start : span.end]) for span in gone.find(find) if gone.touches(span)
    )
    kept = []
    for span in found:
        value = (span.kind, new[span.start : span.end])
        if excused[value] > 0:
            excused[value] -= 1
        else:
            kept.append(span)
    return tuple(kept)


@dataclass(frozen=True, slots=True)
class _Side:
    """One text's lines, and which of them differ from the other text.

    Attributes:
        text: The text.
        starts: The offset of every line, and of the text's end.
        lines: Indexes of the lines that only this text has.
        joints: Indexes of shared lines that follow another line than they did in the other text.
    """

    text: str
    starts: list[int]
    lines: frozenset[int]
    joints: frozenset[int]

    def find(self, find: Find) -> Iterable[Span]:
        """Spans seen in the differing lines and their context, at their place in the text."""
        for first, last in self._windows():
            low, high = self.starts[first], self.starts[last]
            for span in find(self.text[low:high]):
                yield replace(span, start=span.start + low, end=span.end + low)

    def touches(self, span: Span) -> bool:
        """Whether a span has a part on a differing line, or runs across a new joint."""
        first = bisect_right(self.starts, span.start) - 1
        last = bisect_right(self.starts, span.end - 1) - 1
        return any(line in self.lines for line in range(first, last + 1)) or any(
            line in self.joints for line in range(first + 1, last + 1)
        )

    def _windows(self) -> list[tuple[int, int]]:
        count = len(self.starts) - 1
        windows: list[tuple[int, int]] = []
        for line in sorted(self.lines | self.joints):
            low, high = max(0, line - _CONTEXT_LINES), min(count, line + _CONTEXT_LINES + 1)
            if windows and low <= windows[-1][1]:
                windows[-1] = (windows[-1][0], high)
            else:
                windows.append((low, high))
        return windows


def _compare(new: str, old: str) -> tuple[_Side, _Side]:
    head = _common(new, old)
    head = new.rfind("\n", 0, head) + 1
    most = min(len(new), len(old)) - head
    tail = _common(new[len(new) - most :][::-1], old[len(old) - most :][::-1]) if most else 0
    cut = new.find("\n", len(new) - tail)
    tail = len(new) - cut - 1 if cut >= 0 else 0
    new_lines, new_side = _lines(new, head, len(new) - tail)
    old_lines, old_side = _lines(old, head, len(old) - tail)
    left = Counter(old_lines)
    only_new = []
    for index, line in enumerate(new_lines):
        if left[line] > 0:
            left[line] -= 1
        else:
            only_new.append(index)
    only_old = []
    for index in range(len(old_lines) - 1, -1, -1):
        if left[old_lines[index]] > 0:
            left[old_lines[index]] -= 1
            only_old.append(index)
    pairs = set(pairwise(old_lines))
    joints = [
        index for index in range(1, len(new_lines)) if (new_lines[index - 1], new_lines[index]) not in pairs
    ]
    return new_side(only_new, joints), old_side(only_old, [])


Build = Callable[[list[int], list[int]], _Side]


def _lines(text: str, start: int, stop: int) -> tuple[list[str], Build]:
    """The lines between two offsets, with one line before and after, and a maker of their side."""
    starts = line_starts(text)
    first = max(0, bisect_right(starts, start) - 2)
    last = min(len(starts), bisect_right(starts, max(start, stop - 1)) + 1)
    lines = text[starts[first] : starts[last] if last < len(starts) else len(text)].split("\n")
    if len(lines) > last - first:
        lines.pop()

    def build(differing: list[int], joints: list[int]) -> _Side:
        ends = [*starts, len(text)]
        return _Side(
            text,
            ends,
            frozenset(first + line for line in differing),
            frozenset(first + line for line in joints),
        )

    return lines, build


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
