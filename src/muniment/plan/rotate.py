"""Where a plan that isn't ours any more goes: a dated sibling with a free name (S14)."""

from __future__ import annotations

from collections.abc import Callable


def dated_sibling(path: str, date: str, taken: Callable[[str], bool]) -> str:
    """A free path beside `path`: `NAME-DATE.EXT`, then `NAME-DATE-2.EXT` and so on.

    Args:
        path: Repository-relative path with `/`.
        date: `YYYY-MM-DD`.
        taken: Whether a path is in use, by a file of any kind or a broken link.
    """
    folder, slash, name = path.rpartition("/")
    stem, dot, extension = name.rpartition(".")
    if not stem:
        stem, dot, extension = name, "", ""
    number = 1
    while True:
        suffix = "" if number == 1 else f"-{number}"
        candidate = f"{folder}{slash}{stem}-{date}{suffix}{dot}{extension}"
        if not taken(candidate):
            return candidate
        number += 1
