"""WhatsApp ids in a folded view: of people, linked devices, groups and services (G12)."""

from __future__ import annotations

import re
from collections.abc import Iterator

import re2

from muniment.redact.fold import View
from muniment.redact.spans import Span

_JID = re2.compile(
    r"\+?[0-9]{5,20}(?:[-_.:][0-9]{1,20}){0,3} ?@ ?"
    r"(s\.whatsapp\.net|whatsapp\.net|c\.us|g\.us|lid|hosted\.lid|hosted|bot|broadcast|newsletter|call)\b"
)


def find_jids(view: View) -> Iterator[Span]:
    """Every WhatsApp id in the view, in order: of a person, a linked device, a group or a service."""
    for match in _JID.finditer(view.text):
        start, end = match.span()
        if view.text[max(0, start - 1) : start].isdigit():
            continue
        user = match.group().lstrip("+").partition("@")[0].strip()
        server = match.group(1)
        low, high = view.span(start, end)
        if server == "g.us" or "-" in user:
            yield Span(low, high, "group", f"group:{user}", "jid")
        elif server in {"lid", "hosted.lid"}:
            yield Span(low, high, "lid", f"lid:{re.split('[:_.]', user)[0]}", "jid")
        elif server in {"broadcast", "newsletter", "bot", "call"}:
            yield Span(low, high, "jid", f"{server}:{user}", "jid")
        else:
            yield Span(low, high, "jid", f"tel:{re.split('[:_.]', user)[0]}", "jid")
