"""All detectors over all views of a text: what `redact` replaces and what the gate refuses (G12)."""

from __future__ import annotations

import re

from muniment.redact.identifiers import find_identifiers, views
from muniment.redact.names import ROLES, KnownName, KnownNames
from muniment.redact.secrets import find_secrets
from muniment.redact.spans import MEANINGS, Span, merge

__all__ = ["KINDS", "TAG", "KnownName", "KnownNames", "detect", "find_tags", "mask"]

_OPAQUE = "\ufffc"
KINDS = tuple(MEANINGS)
TAG = re.compile(rf"\[({'|'.join((*KINDS, *ROLES))})-([1-9][0-9]{{0,5}})\]")
"""A tag as `redact` writes it; such a text is opaque to every detector."""


def detect(text: str, known: KnownNames) -> tuple[Span, ...]:
    """Every identifier, known name and secret in the text: disjoint spans in order, tags left alone.

    Linear in the length of the text. A known person's phone, JID or e-mail address carries the person's key.
    """
    found: list[Span] = []
    for view in views(text):
        found += find_identifiers(view)
        found += known.find(view)
    found += find_secrets(text)
    spans = merge(_identified(span, known) for span in found)
    return tuple(piece for span in spans for piece in _outside_tags(text, span)) if "[" in text else spans


def find_tags(text: str) -> tuple[tuple[str, int], ...]:
    """The word and number of every tag that the text already holds."""
    return tuple((match.group(1), int(match.group(2))) for match in TAG.finditer(text))


def mask(text: str, spans: list[Span]) -> str:
    """The text with these spans and every tag made opaque, every position kept."""
    ranges = [(span.start, span.end) for span in spans]
    ranges += [match.span() for match in TAG.finditer(text)] if "[" in text else []
    parts: list[str] = []
    cursor = 0
    for start, end in sorted(ranges):
        if start >= cursor:
            parts += [text[cursor:start], _OPAQUE * (end - start)]
            cursor = end
    return "".join([*parts, text[cursor:]]) if parts else text


def _identified(span: Span, known: KnownNames) -> Span:
    person = known.identities.get(span.key)
    return Span(span.start, span.end, span.kind, person, span.rule) if person else span


def _outside_tags(text: str, span: Span) -> list[Span]:
    """The parts of a span outside tags, when it touches one; a tag is never part of an identifier."""
    low = max(0, span.start - 16)
    pieces = [span]
    for match in TAG.finditer(text, low, min(len(text), span.end + 16)):
        if match.end() <= span.start or match.start() >= span.end:
            continue
        last = pieces.pop()
        for start, end in ((last.start, match.start()), (match.end(), last.end)):
            if text[start:end].strip(" \n-_.,;:/()[]"):
                pieces.append(Span(start, end, span.kind, span.key, span.rule))
        if not pieces:
            return []
    return pieces
