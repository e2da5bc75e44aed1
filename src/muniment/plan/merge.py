"""Three-way merge of the rolling plan: its items by state key, people's text by lines (G8, S13, pure).

The machine-owned region is a view of the state, so its merge only has to bring every line to where the next
`plan reconcile`, which knows the merged state, renders or drains it: lines merge by their key, and the end
marker carries the digest of what was merged. Where a hand had edited a side's region, both texts stay and
the old digest with them, so that the reconcile finds and salvages the edit. People's lines that both sides
changed are both kept, in an order that doesn't depend on whose side is called ours.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from muniment import markdown, regions, threeway
from muniment.plan.document import (
    ITEMS,
    WITHHELD,
    PlanLine,
    front_matter_values,
    read_plan,
    set_front_matter,
)
from muniment.regions import Region
from muniment.state.merge_form import SideError, dressed, plain

_MARKER = re.compile(r"^(?:<{7}|>{7}|\|{7})(?: .*)?$", re.MULTILINE)
_REQUIREMENTS = "## Requirements\n"
_STAMPS = ("date", "state")
Items = Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class _Side:
    """One version: its text, its machine-owned region with the items in it, its date and state digest."""

    text: str
    region: Region
    lines: tuple[PlanLine, ...]
    stamps: tuple[str, ...]

    @property
    def body(self) -> str:
        return self.region.body

    @property
    def rank(self) -> tuple[tuple[str, ...], str]:
        """Which of two versions the region's frame is taken from: the later one."""
        return self.stamps, self.body

    @property
    def edited(self) -> bool:
        """Whether a hand has been at the region since Muniment wrote it."""
        body = self.body.strip("\n")
        return bool(body) and regions.reading_digest(body) != self.region.digest


def merge_plan(base: str | None, ours: str, theirs: str) -> str:
    """The plan that holds what both sides did to `base`; the same whichever side is which.

    Args:
        base: What both sides started from; None when there is no such version.
        ours: One side.
        theirs: The other.

    Raises:
        SideError: A side is no plan of Muniment's or holds conflict markers, or what both did to people's
            text doesn't go together.
    """
    sides = [None if text is None else _side(name, plain(text)) for name, text in _named(base, ours, theirs)]
    old, one, other = sides
    assert one is not None and other is not None  # noqa: S101, PT018 - only the base may be absent
    if theirs in {ours, base}:
        return ours
    if ours == base:
        return theirs
    stamps = _later(old, one, other)
    outer = merge_lines(*(_outer(side, stamps) if side else "" for side in (old, one, other)))
    found, problems = regions.find(outer, "")
    place = next((region for region in found if region.name == ITEMS), None)
    if problems or place is None:
        raise SideError("ours", "Both sides changed the text around the list in ways that don't go together.")
    body, digest = _merged_region(old, one, other)
    merged = regions.replace(outer, place, body, digest)
    if read_plan(merged, "")[0] is None:
        raise SideError("ours", "Both sides changed the plan's frame in ways that don't go together.")
    return dressed(merged, (base, ours, theirs))


def _named(base: str | None, ours: str, theirs: str) -> tuple[tuple[str, str | None], ...]:
    return ("base", base), ("ours", ours), ("theirs", theirs)


def _side(name: str, text: str) -> _Side | None:
    """A version taken apart; None for a base that is no plan of ours."""
    marker = _MARKER.search(text)
    plan, problems = read_plan(text, "")
    if plan is None or marker:
        if name == "base":
            return None
        line = text.count("\n", 0, marker.start()) + 1 if marker else problems[0].line
        raise SideError(name, "It holds a git conflict marker." if marker else problems[0].message, line)
    matter = markdown.front_matter(text)
    values = front_matter_values(matter.text) if matter else {}
    return _Side(text, plan.items, plan.lines, tuple(values.get(key, "") for key in _STAMPS))


def _later(old: _Side | None, one: _Side, other: _Side) -> tuple[str, ...]:
    """The date and state digest to write: what one side alone changed, else the later date's."""
    if old and one.stamps == old.stamps:
        return other.stamps
    return one.stamps if old and other.stamps == old.stamps else max(one.stamps, other.stamps)


def _outer(side: _Side, stamps: Sequence[str]) -> str:
    """A version without its list, the front matter's machine-made values set alike."""
    region = side.region
    bare = f"{side.text[: region.body_start]}<!-- {ITEMS}:end -->{side.text[region.end :]}"
    values = {key: value for key, value in zip(_STAMPS, stamps, strict=True) if value}
    quoted = {key: f'"{value}"' if key == "state" else value for key, value in values.items()}
    return set_front_matter(bare, quoted) or bare


def _merged_region(old: _Side | None, one: _Side, other: _Side) -> tuple[str, str]:
    """The list and its digest."""
    if old and one.body == old.body:
        return other.body, other.region.digest
    if (old and other.body == old.body) or one.body == other.body:
        return one.body, one.region.digest
    edited = [side for side in (one, other) if side.edited]
    body = _merged_body(old, one, other, edited=bool(edited))
    if edited:
        return body, max(side.region.digest for side in edited)
    return body, regions.reading_digest(body.strip("\n"))


def _merged_body(base: _Side | None, one: _Side, other: _Side, *, edited: bool) -> str:
    """The frame of the later version with the merged lines in it."""
    first, second = (one, other) if one.rank >= other.rank else (other, one)
    texts = [_texts(side) if side else {} for side in (base, first, second)]
    merged = _merged_items(texts, edited=edited)
    parts = _framed(first, merged)
    absent = [key for key in texts[2] if key in merged and key not in texts[1]]
    absent += [key for key in merged if key not in texts[1] and key not in texts[2]]
    added = "".join(f"{text}\n\n" for key in absent for text in merged[key])
    if added:
        at = parts.find(_REQUIREMENTS)
        at = at + len(_REQUIREMENTS) if at >= 0 else len(parts)
        parts = f"{parts[:at].rstrip(chr(10))}\n\n{added}{parts[at:].lstrip(chr(10))}"
    if edited:
        parts += _only_there(base, first, second)
    return parts


def _texts(side: _Side) -> dict[str, tuple[str, ...]]:
    """State key → its items as they stand (a hand may have doubled one)."""
    found: dict[str, tuple[str, ...]] = {}
    for line in side.lines:
        found[line.key] = (*found.get(line.key, ()), line.text)
    return found


def _merged_items(
    texts: Sequence[Mapping[str, tuple[str, ...]]], *, edited: bool
) -> dict[str, tuple[str, ...]]:
    """Each key's items by the three-way rule; a line that is still there beats one that was taken off."""
    base, first, second = texts
    merged: dict[str, tuple[str, ...]] = {}
    for key in {**base, **first, **second}:
        old, one, other = (side.get(key, ()) for side in texts)
        if other in {one, old}:
            merged[key] = one
        elif one == old or not one:
            merged[key] = other
        elif not other:
            merged[key] = one
        else:
            merged[key] = _both(one, other, edited=edited)
    return {key: found for key, found in merged.items() if found}


def _both(one: tuple[str, ...], other: tuple[str, ...], *, edited: bool) -> tuple[str, ...]:
    """What stands of two texts of one item: the hidden one alone (S17); both where a hand edited one."""
    hidden = [side for side in (one, other) if any(WITHHELD in text for text in side)]
    if hidden or not edited:
        return max(hidden or (one, other))
    return tuple(sorted({*one, *other}))


def _framed(side: _Side, merged: Mapping[str, tuple[str, ...]]) -> str:
    """A body with its items replaced by the merged ones, those that are gone taken out."""
    lines = markdown.lines_of(side.body)
    parts: list[str] = []
    at = 0
    done: set[str] = set()
    for line in side.lines:
        parts += lines[at : line.line - 1]
        at = line.end
        if line.key not in done and line.key in merged:
            parts.append("\n\n".join(merged[line.key]) + "\n")
        elif at < len(lines) and not lines[at].strip():
            at += 1  # the blank line after what is taken out
        done.add(line.key)
    return "".join([*parts, *lines[at:]])


def _only_there(base: _Side | None, first: _Side, second: _Side) -> str:
    """Lines outside the items that only the second body has, so that no hand's words in it get lost."""
    known = {line.strip() for side in (base, first) if side for line in _between(side)}
    new = [line for line in _between(second) if line.strip() and line.strip() not in known]
    return "\n" + "".join(new) if new else ""


def _between(side: _Side) -> list[str]:
    """The lines of a body that belong to no item."""
    taken = {number for line in side.lines for number in range(line.line, line.end + 1)}
    return [line for number, line in enumerate(markdown.lines_of(side.body), 1) if number not in taken]


def merge_lines(base: str, ours: str, theirs: str) -> str:
    """A three-way merge by lines that keeps both texts where both sides changed the same ones.

    Args:
        base: What both started from; "" for nothing.
        ours: One side; every line ends with LF.
        theirs: The other.
    """
    lines = threeway.split(base.encode("utf-8", "surrogatepass"))
    changes = [
        threeway.edits(lines, threeway.split(side.encode("utf-8", "surrogatepass")))
        for side in (ours, theirs)
    ]
    out: list[bytes] = []
    at = 0
    for start, end, left, right in _clusters(*changes):
        out += lines[at:start]
        one, other = (_applied(lines, start, end, side) for side in (left, right))
        out += _joined(one, other, lines[start:end])
        at = end
    return b"".join([*out, *lines[at:]]).decode("utf-8", "surrogatepass")


Cluster = tuple[int, int, list[threeway.Edit], list[threeway.Edit]]


def _clusters(left: Sequence[threeway.Edit], right: Sequence[threeway.Edit]) -> list[Cluster]:
    """Stretches of the base that both sides' edits fall into, in order, those that overlap together."""
    marked = [(edit, 0) for edit in left] + [(edit, 1) for edit in right]
    found: list[Cluster] = []
    for edit, side in sorted(marked, key=lambda one: (one[0].start, one[0].end, one[1])):
        if found and (edit.start < found[-1][1] or (edit.start == edit.end == found[-1][0] == found[-1][1])):
            start, end, *sides = found.pop()
        else:
            start, end, sides = edit.start, edit.end, [[], []]
        sides[side].append(edit)
        found.append((start, max(end, edit.end), sides[0], sides[1]))
    return found


def _applied(lines: Sequence[bytes], start: int, end: int, changes: Sequence[threeway.Edit]) -> list[bytes]:
    """A stretch of the base with one side's edits made."""
    out: list[bytes] = []
    at = start
    for edit in changes:
        out += [*lines[at : edit.start], *edit.lines]
        at = edit.end
    return [*out, *lines[at:end]]


def _joined(one: list[bytes], other: list[bytes], old: Sequence[bytes]) -> list[bytes]:
    """What stands of a stretch: what one side did, else both texts with what they share given once."""
    if other in (one, list(old)):
        return one
    if one == list(old):
        return other
    head = _alike(one, other)
    tail = _alike(one[head:][::-1], other[head:][::-1])
    middles = sorted([one[head : len(one) - tail], other[head : len(other) - tail]])
    return [*one[:head], *middles[0], *middles[1], *one[len(one) - tail :]]


def _alike(one: Sequence[bytes], other: Sequence[bytes]) -> int:
    """How many leading lines are the same."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((number for number, (a, b) in pairs if a != b), min(len(one), len(other)))
