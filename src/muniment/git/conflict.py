"""The markers that git writes around the sides of a conflict: which text each line belongs to (pure)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

_MARKER = re.compile(rb"(?P<run><{7,}|\|{7,}|={7,}|>{7,})(?: .*)?\r?\n?\Z")
OURS, COMMON, THEIRS = "<", "|", ">"
"""A side by the first byte of the marker that begins or ends it; the common text is there with diff3 only."""


@dataclass(frozen=True, slots=True)
class Placed:
    """Where one line stands.

    Attributes:
        marker: The marker's first byte, `<`, `|`, `=` or `>`, where it begins or ends a side; else "".
        sides: The sides whose text it is part of; empty for such a marker.
        odd: Whether it looks like a marker, but begins or ends nothing.
    """

    marker: str
    sides: tuple[str, ...]
    odd: bool = False


def is_marker(line: bytes) -> bool:
    """Whether a line looks like a marker."""
    return _MARKER.match(line) is not None


def placed(lines: Iterable[bytes]) -> Iterator[Placed]:
    """Place each line: outside a conflict it belongs to every side.

    Only runs of one length count, from `<` over `=` to `>`; a heading's underline is none.
    """
    inside, size = "", 0
    follows = {"": "<", "<": "|=", "|": "=", ">": ">"}
    for line in lines:
        match = _MARKER.match(line)
        run = match["run"] if match else b""
        kind = chr(run[0]) if run and (not size or len(run) == size) else ""
        if not kind or kind not in follows[inside]:
            yield Placed("", (inside,) if inside else (OURS, COMMON, THEIRS), bool(run))
            continue
        size = size or len(run)
        inside = {"<": OURS, "|": COMMON, "=": THEIRS, ">": ""}[kind]
        yield Placed(kind, ())


def conflict_sides(data: bytes) -> tuple[bytes, bytes, bytes | None] | None:
    """Our text, theirs, and the common one if the markers hold it (diff3); None without a whole conflict."""
    texts: dict[str, list[bytes]] = {OURS: [], COMMON: [], THEIRS: []}
    lines = data.splitlines(keepends=True)
    seen = ""
    for line, place in zip(lines, placed(lines), strict=True):
        seen += place.marker
        for side in place.sides:
            texts[side].append(line)
    if not seen.endswith(">"):
        return None
    ours, common, theirs = (b"".join(texts[side]) for side in (OURS, COMMON, THEIRS))
    return ours, theirs, common if "|" in seen else None
