"""What merges of texts share: their outer form (byte order mark, line endings), and the error (G2, pure)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any


class SideError(ValueError):
    """A version that can't be merged because it can't be read, or not with certainty.

    Attributes:
        side: `base`, `ours` or `theirs`.
        message: One sentence without the file's name.
        line: 1-based line, 0 when unknown.
    """

    def __init__(self, side: str, message: str, line: int = 0) -> None:
        super().__init__(message)
        self.side = side
        self.message = message
        self.line = line


def plain(text: str) -> str:
    """A text with LF endings, one at its end, and without a byte order mark."""
    body = text.removeprefix("\ufeff").replace("\r\n", "\n")
    return body if body.endswith("\n") or not body else body + "\n"


def dressed(merged: str, texts: Sequence[str | None]) -> str:
    """The merged text in the form of its versions.

    Args:
        merged: Text as `plain` gives it.
        texts: Base, ours and theirs as they stand; a form that one side changed is that side's.
    """

    def decided(facet: Callable[[str], bool]) -> bool:
        base, ours, theirs = (None if text is None else facet(text) for text in texts)
        return bool(ours if ours == theirs else base is not None and not base)

    if decided(lambda text: not text.endswith("\n")):
        merged = merged.removesuffix("\n")
    if decided(lambda text: "\r\n" in text):
        merged = merged.replace("\n", "\r\n")
    return ("\ufeff" if decided(lambda text: text.startswith("\ufeff")) else "") + merged


def pick(base: Any, ours: Any, theirs: Any) -> Any:
    """The three-way rule for things of which one has to stand: the greater of two changes."""
    if theirs in {ours, base}:
        return ours
    return theirs if ours == base else max(ours, theirs)
