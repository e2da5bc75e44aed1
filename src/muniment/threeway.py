"""A line-level three-way merge of bytes, strict about overlaps and exact about everything else (G14).

`base` became `ours` on one side and `theirs` on the other; the answer holds both changes. Two changes
overlap when they replace or surround the same base line, or insert at the same place; then nothing is
merged and the overlaps are named by their lines in `ours`. Changes that only touch are both made.
Lines end with LF (a CR before it is part of the line); a last line without LF is a line of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher


@dataclass(frozen=True, slots=True)
class Edit:
    """Base lines `start` to `end` (0-based, end excluded) replaced by `lines`."""

    start: int
    end: int
    lines: tuple[bytes, ...]


@dataclass(frozen=True, slots=True)
class Hunk:
    """Where both sides changed the same lines: 1-based first and last line of it in `ours`."""

    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Merged:
    """The merged bytes, or None with the overlapping hunks."""

    data: bytes | None
    hunks: tuple[Hunk, ...] = ()


def merge(base: bytes, ours: bytes, theirs: bytes) -> Merged:
    """Merge two changes of one text.

    Args:
        base: What both sides started from.
        ours: The one side; the hunks of a refusal count its lines.
        theirs: The other side.
    """
    if theirs in (base, ours):
        return Merged(ours)
    if ours == base:
        return Merged(theirs)
    lines = split(base)
    left, right = edits(lines, split(ours)), edits(lines, split(theirs))
    left, right = _apart(lines, left, right), _apart(lines, right, left)
    hunks = _overlaps(left, right)
    if hunks:
        return Merged(None, hunks)
    both = sorted({*left, *right}, key=lambda edit: (edit.start, edit.end))
    return Merged(_patched(lines, both))


def split(data: bytes) -> tuple[bytes, ...]:
    """The lines of `data`, each with its LF; joined they are `data` again."""
    pieces = data.split(b"\n")
    whole = [piece + b"\n" for piece in pieces[:-1]]
    return tuple([*whole, pieces[-1]] if pieces[-1] else whole)


def edits(old: Sequence[bytes], new: Sequence[bytes]) -> tuple[Edit, ...]:
    """The changes that turn `old` into `new`, in order, never touching each other."""
    head = _common(old, new)
    tail = _common(old[head:][::-1], new[head:][::-1])
    inner_old, inner_new = old[head : len(old) - tail], new[head : len(new) - tail]
    matcher = SequenceMatcher(None, inner_old, inner_new, autojunk=False)
    return tuple(
        Edit(head + start, head + end, tuple(inner_new[first:last]))
        for tag, start, end, first, last in matcher.get_opcodes()
        if tag != "equal"
    )


def _apart(lines: Sequence[bytes], mine: Sequence[Edit], others: Sequence[Edit]) -> tuple[Edit, ...]:
    """`mine`, with each clashing insertion moved to an equivalent place where it fits, if there is one.

    Where the lines around an insertion repeat (a blank line mostly), several places mean the same text, and
    which of them a comparison finds is chance.
    """
    found: list[Edit] = []
    for number, edit in enumerate(mine):
        low = mine[number - 1].end if number else -1
        high = mine[number + 1].start if number + 1 < len(mine) else len(lines) + 1
        places = (edit, *_slides(lines, edit, low, high))
        found.append(next((one for one in places if not any(_clash(one, other) for other in others)), edit))
    return tuple(found)


def _slides(lines: Sequence[bytes], edit: Edit, low: int, high: int) -> Iterator[Edit]:
    """The other places between base lines `low` and `high`, exclusive, that give the same text."""
    if edit.start != edit.end:
        return
    place, added = edit.start, edit.lines
    while place - 1 > low and lines[place - 1] == added[-1]:
        place, added = place - 1, (added[-1], *added[:-1])
        yield Edit(place, place, added)
    place, added = edit.start, edit.lines
    while place + 1 < high and lines[place] == added[0]:
        place, added = place + 1, (*added[1:], added[0])
        yield Edit(place, place, added)


def _common(one: Sequence[bytes], other: Sequence[bytes]) -> int:
    """How many leading lines are the same."""
    count = 0
    for left, right in zip(one, other, strict=False):
        if left != right:
            break
        count += 1
    return count


def _clash(left: Edit, right: Edit) -> bool:
    if left == right:
        return False
    if left.start == left.end == right.start == right.end:
        return True  # two insertions at one place: no order is right
    if left.start == left.end:
        return right.start < left.start < right.end
    if right.start == right.end:
        return left.start < right.start < left.end
    return left.start < right.end and right.start < left.end


def _overlaps(left: Sequence[Edit], right: Sequence[Edit]) -> tuple[Hunk, ...]:
    found = []
    shift = 0  # how far `ours` has moved against the base before this edit
    for edit in left:
        if any(_clash(edit, other) for other in right):
            first = edit.start + shift + 1
            found.append(Hunk(first, max(first, first + len(edit.lines) - 1)))
        shift += len(edit.lines) - (edit.end - edit.start)
    return tuple(found)


def _patched(lines: Sequence[bytes], changes: Sequence[Edit]) -> bytes:
    out: list[bytes] = []
    at = 0
    for edit in changes:
        out += lines[at : edit.start]
        out += edit.lines
        at = max(at, edit.end)
    out += lines[at:]
    return b"".join(out)
