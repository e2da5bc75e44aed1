"""The two texts around a file's conflict markers (pure)."""

from __future__ import annotations

import re

_MARKER = re.compile(rb"(?P<run><{7,}|\|{7,}|={7,}|>{7,})(?: .*)?\r?\n?\Z")


def conflict_sides(data: bytes) -> tuple[bytes, bytes, bytes | None] | None:
    """Our text, theirs, and the common one where the markers hold it (diff3); None without a whole conflict.

    Only runs of one length count, from `<` over `=` to `>`; a heading's underline is none.
    """
    texts: dict[str, list[bytes]] = {"<": [], "|": [], ">": []}
    inside, size, based, seen = "", 0, False, False
    for line in data.splitlines(keepends=True):
        match = _MARKER.match(line)
        run = match["run"] if match else b""
        kind = chr(run[0]) if run and (not size or len(run) == size) else ""
        if kind == "<" and not inside:
            inside, size = "<", len(run)
        elif kind == "|" and inside == "<":
            inside, based = "|", True
        elif kind == "=" and inside in {"<", "|"}:
            inside = ">"
        elif kind == ">" and inside == ">":
            inside, seen = "", True
        else:
            for name in (inside,) if inside else tuple(texts):
                texts[name].append(line)
    if inside or not seen:
        return None
    ours, common, theirs = (b"".join(texts[name]) for name in "<|>")
    return ours, theirs, common if based else None
