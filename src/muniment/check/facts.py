"""What one Markdown file shows by itself, cached by its content: markers, regions, and candidate links.

The line scan here over-approximates links on purpose (it looks into code and comments too): a candidate
whose target is there is fine either way, and only a document with a candidate that is missing is read by the
Markdown parser. An ordinary document costs a few regular expressions.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from muniment.errors import MunimentError
from muniment.files import atomic_write

FORMAT = 4
"""Raise it when a fact's meaning changes: older cached facts are then not used."""
MAX_CACHED = 20_000
_PATH = "\0"
"""Stands for the file's path in a cached message."""

_CONFLICT = re.compile(rb"^(?:<{7}|>{7}|\|{7})(?: [^\r\n]*)?\r?$", re.MULTILINE)
_MIDDLE = re.compile(rb"^={7}\r?$", re.MULTILINE)
_MARKER = re.compile(rb"<!--[ \t]*[a-z0-9-]+:(?:start|end)\b")
_INLINE = re.compile(r"\]\(\s*(?:<([^<>\n]*)>|([^\s()<>]*(?:\([^\s()<>]*\)[^\s()<>]*)*))")
_DEFINITION = re.compile(r"\]:\s*(?:<([^<>\n]*)>|(\S+))")
_EXTERNAL = re.compile(r"(?:[a-zA-Z][a-zA-Z0-9+.-]*:|//|#|\Z)")


@dataclass(frozen=True, slots=True)
class DocumentFacts:
    """What one file shows.

    Attributes:
        faults: (line, rule, message, fix) of what is wrong with it, whatever stands elsewhere.
        targets: What its links may point to, as written, without external addresses; each once.
        unsure: Whether a link is written in a way that only the parser reads right.
    """

    faults: tuple[tuple[int, str, str, str], ...] = ()
    targets: tuple[str, ...] = ()
    unsure: bool = False


class FactsCache:
    """Facts by content, kept in one file under the git folder; losing it only costs time (G15)."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._known: dict[str, Any] | None = None
        self._used: dict[str, Any] = {}
        self._fresh = False

    def known(self, path: str, key: str) -> DocumentFacts | None:
        """The facts of a file with this blob id, if they are known; `path` only fills in messages."""
        if self._known is None:
            self._known = self._load()
        found = self._used.get(key) or self._known.get(key)
        return None if found is None else self._take(path, key, found)

    def of(self, path: str, data: bytes, key: str) -> DocumentFacts:
        """The facts of a file with these bytes and blob id; `path` only fills in messages."""
        known = self.known(path, key)
        if known is not None:
            return known
        facts = read(data)
        self._fresh = True
        return self._take(
            path, key, [[list(fault) for fault in facts.faults], list(facts.targets), facts.unsure]
        )

    def _take(self, path: str, key: str, found: Any) -> DocumentFacts:
        self._used[key] = found
        if not found[0]:
            return DocumentFacts((), tuple(found[1]), found[2])
        faults = tuple(
            (line, rule, message, fix.replace(_PATH, shlex.quote(path)))
            for line, rule, message, fix in found[0]
        )
        return DocumentFacts(faults, tuple(found[1]), found[2])

    def save(self, *, whole: bool) -> None:
        """Keep what was learnt; with `whole`, everything was looked at, and what was not seen is dropped."""
        if not self._fresh:
            return
        kept = self._used if whole else {**(self._known or {}), **self._used}
        if len(kept) > MAX_CACHED:
            kept = self._used
        try:
            atomic_write(self._path, json.dumps([FORMAT, kept], separators=(",", ":")).encode())
        except MunimentError:
            return  # a read-only git folder only costs the cache

    def _load(self) -> dict[str, Any]:
        try:
            stored = json.loads(self._path.read_bytes())
        except (OSError, ValueError):
            return {}
        if isinstance(stored, list) and len(stored) == 2 and stored[0] == FORMAT:  # noqa: PLR2004 - a pair
            return stored[1] if isinstance(stored[1], dict) else {}
        return {}


def read(data: bytes) -> DocumentFacts:
    """Look at one Markdown file."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        fault = (line, "text", "It is not UTF-8.", f"Save {_PATH} as UTF-8.")
        return DocumentFacts((*conflict_faults(data), fault))
    faults = [*conflict_faults(data), *_region_faults(data, text)]
    targets, unsure = candidates(text)
    return DocumentFacts(tuple(faults), targets, unsure)


def conflict_faults(data: bytes) -> Iterator[tuple[int, str, str, str]]:
    """The conflict markers of an unfinished merge: one fault at the first of them."""
    if b"<<<<<<<" not in data and b">>>>>>>" not in data:
        return
    found = _CONFLICT.search(data)
    if found and _MIDDLE.search(data):
        line = data.count(b"\n", 0, found.start()) + 1
        message = "It holds the conflict markers of an unfinished merge."
        yield line, "conflict-markers", message, f"Resolve them, then: git add -- {_PATH}"


def _region_faults(data: bytes, text: str) -> Iterator[tuple[int, str, str, str]]:
    """Broken markers, and hand edits inside machine-owned regions (G2, G3)."""
    if not _MARKER.search(data):
        return
    from muniment import regions  # noqa: PLC0415 - most documents have no region

    found, problems = regions.find(text, _PATH)
    for problem in problems:
        yield problem.line, problem.rule, problem.message, problem.fix
    for region in found:
        if region.name not in regions.MACHINE:
            continue
        if region.digest and regions.reading_digest(region.body) != region.digest:
            message = (
                f"The machine-owned region `{region.name}` was edited by hand; the next reconcile moves such "
                "lines to the human-owned region."
            )
            yield region.line, "hand-edit", message, "muniment plan reconcile"


def candidates(text: str) -> tuple[tuple[str, ...], bool]:
    """Everything that may be a local link target, and whether the parser has to say what the links are."""
    if "](" not in text and "]:" not in text:
        return (), False
    targets: dict[str, None] = {}
    unsure = False
    for pattern in (_INLINE, _DEFINITION):
        for match in pattern.finditer(text):
            target = match[1] if match[1] is not None else match[2]
            if _EXTERNAL.match(target):
                continue
            if "\\" in target or "&" in target:
                unsure = True
            targets[target] = None
    return tuple(targets), unsure
