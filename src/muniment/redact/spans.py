"""The record every detector returns, and the merge of overlapping ones into disjoint spans (G12)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

MEANINGS: Mapping[str, str] = {
    "phone": "a phone number",
    "jid": "a WhatsApp id",
    "lid": "a WhatsApp id",
    "group": "a WhatsApp group id",
    "email": "an e-mail address",
    "name": "a known name",
    "secret": "a secret",
}
"""Each kind of span in words for people."""


@dataclass(frozen=True, slots=True)
class Span:
    """One identifier or secret found in a text.

    Attributes:
        start: Offset of its first character in the original text, in code points.
        end: Offset after its last character.
        kind: `phone`, `jid`, `lid`, `group`, `email`, `name` or `secret`.
        key: Canonical identity; equal keys are one person or thing and share a tag.
        rule: Which detector found it, for people who debug a refusal; never a value.
    """

    start: int
    end: int
    kind: str
    key: str
    rule: str = ""


def merge(spans: Iterable[Span]) -> tuple[Span, ...]:
    """Disjoint spans in text order; where some overlap, their union with one's identity.

    The identity is a secret's, else the longest one's. Replacing overlapping spans one by one leaves tails of
    identifiers behind; a union can't.
    """
    merged: list[Span] = []
    weight = (False, 0)
    for span in sorted(spans, key=lambda item: (item.start, -item.end)):
        if merged and span.start < merged[-1].end:
            last = merged[-1]
            best = span if _weight(span) > weight else last
            weight = max(weight, _weight(span))
            merged[-1] = replace(best, start=last.start, end=max(last.end, span.end))
        else:
            merged.append(span)
            weight = _weight(span)
    return tuple(merged)


def _weight(span: Span) -> tuple[bool, int]:
    return span.kind == "secret", span.end - span.start
