"""Identifiers that need no list: phone numbers, WhatsApp ids and e-mail addresses (G12)."""

from __future__ import annotations

from collections.abc import Iterator

from muniment.redact.fold import View, decoded, fold
from muniment.redact.mail import find_mail
from muniment.redact.phones import find_phones
from muniment.redact.spans import Span


def views(text: str) -> tuple[View, ...]:
    """The folded views of a text: as written and, where it holds escapes, with those decoded."""
    plain = fold(text)
    readable = decoded(text)
    return (plain,) if readable is None else (plain, fold(readable.text, readable))


def find_identifiers(view: View) -> Iterator[Span]:
    """Every identifier in one view, in no particular order; overlapping ones included."""
    yield from find_phones(view)
    yield from find_mail(view)


def identifier_keys(text: str) -> tuple[str, ...]:
    """The canonical keys when `text` as a whole is an identifier, else empty."""
    stripped = text.strip()
    if not any(character.isdigit() or character == "@" for character in stripped):
        return ()
    found = [span for view in views(stripped) for span in find_identifiers(view)]
    return tuple({span.key: None for span in found if span.end - span.start >= len(stripped) - 1})
