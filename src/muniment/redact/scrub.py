"""Replace identifiers by tags that are stable within one report (G12). Pure: text in, text out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from muniment.redact.rules import KnownNames, detect, find_tags
from muniment.redact.spans import Span


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

    def assign(self, key: str, word: str) -> TagTable:
        """The table with a tag for `key`: the one it has, or the next number of `word`."""
        if key in self.tags:
            return self
        number = self.used.get(word, 0) + 1
        return TagTable({**self.tags, key: f"[{word}-{number}]"}, {**self.used, word: number})


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
    assigned = dict(table.tags)
    used = dict(table.used)
    parts: list[str] = []
    cursor = 0
    for span in detect(text, known):
        tag = assigned.get(span.key)
        if tag is None:
            word = _word(span, known)
            used[word] = used.get(word, 0) + 1
            tag = assigned[span.key] = f"[{word}-{used[word]}]"
        parts += [text[cursor : span.start], tag]
        cursor = span.end
    return Redaction("".join([*parts, text[cursor:]]), TagTable(assigned, used))


def _word(span: Span, known: KnownNames) -> str:
    """The tag's word: a known person's role, else what kind of identifier it is."""
    if span.key.startswith("name:"):
        return known.roles.get(span.key, "name")
    return span.kind
