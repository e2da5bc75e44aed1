"""Replace identifiers by tags that are stable within one report (G12). Pure: text in, text out."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from muniment.redact.rules import KnownNames, detect, find_tags
from muniment.redact.spans import Span

_ROUNDS = 5
_BREAK = "\n\n\n"
"""Between excerpts: no identifier runs across it."""


@dataclass(frozen=True, slots=True)
class TagTable:
    """Which tag each identity has in one report; never shared between reports.

    Attributes:
        tags: Canonical identity → tag, such as `[phone-1]`.
        used: Word → highest number in use, tags found in the input included.
    """

    tags: Mapping[str, str] = field(default_factory=dict)
    used: Mapping[str, int] = field(default_factory=dict)

    def reserve(self, text: str) -> TagTable:
        """The table with the numbers of every tag that `text` already holds taken."""
        used = dict(self.used)
        for word, number in find_tags(text):
            used[word] = max(number, used.get(word, 0))
        return replace(self, used=used)


@dataclass(frozen=True, slots=True)
class Redaction:
    """A redacted text and the table that it was written with (pass it on for the report's next text)."""

    text: str
    tags: TagTable


def redact(text: str, known: KnownNames, tags: TagTable | None = None) -> Redaction:
    """Replace every phone number, WhatsApp id, e-mail address, known name and secret by its tag.

    Idempotent: redacting the result changes nothing. Give the returned table to the next text of the same
    report to keep tags stable across its fields.
    """
    table = (tags or TagTable()).reserve(text)
    spans = detect(text, known)
    for _ in range(_ROUNDS):
        if not spans:
            break
        text, table, places = _replace(text, spans, known, table)
        spans = _detect_near(
            text, places, known
        )  # a tag is a new neighbour: what it cut off may stand free now
    return Redaction(text, table)


def _replace(
    text: str, spans: tuple[Span, ...], known: KnownNames, table: TagTable
) -> tuple[str, TagTable, list[int]]:
    """The text with each span replaced by its tag, the table with new tags, and where the tags stand."""
    assigned, used = dict(table.tags), dict(table.used)
    parts: list[str] = []
    places: list[int] = []
    cursor = length = 0
    for span in spans:
        tag = assigned.get(span.key)
        if tag is None:
            word = _word(span, known)
            used[word] = used.get(word, 0) + 1
            tag = assigned[span.key] = f"[{word}-{used[word]}]"
        parts += [text[cursor : span.start], tag]
        length += span.start - cursor
        places.append(length)
        length += len(tag)
        cursor = span.end
    return "".join([*parts, text[cursor:]]), TagTable(assigned, used), places


def _detect_near(text: str, places: list[int], known: KnownNames) -> tuple[Span, ...]:
    """What the detectors see in the lines around the given places."""
    pieces: list[tuple[int, int]] = []
    for place in places:
        if pieces and place < pieces[-1][1]:
            continue
        start = text.rfind("\n", 0, max(text.rfind("\n", 0, place), 0)) + 1
        end = text.find("\n", text.find("\n", place) + 1) if text.find("\n", place) >= 0 else -1
        end = len(text) if end < 0 else end
        if pieces and start <= pieces[-1][1]:
            pieces[-1] = (pieces[-1][0], end)
        else:
            pieces.append((start, end))
    offsets: list[int] = []
    length = 0
    for start, end in pieces:
        offsets.append(length)
        length += end - start + len(_BREAK)
    found = []
    for span in detect(_BREAK.join(text[start:end] for start, end in pieces), known):
        index = bisect_right(offsets, span.start) - 1
        shift = pieces[index][0] - offsets[index]
        if span.end + shift <= pieces[index][1]:
            found.append(replace(span, start=span.start + shift, end=span.end + shift))
    return tuple(found)


def _word(span: Span, known: KnownNames) -> str:
    """The tag's word: a known person's role, else what kind of identifier it is."""
    if span.key.startswith("name:"):
        return known.roles.get(span.key, "name")
    return span.kind
