"""An entry in a few words for people: what it is about and what it says (pure; text stays untrusted)."""

from __future__ import annotations

from collections.abc import Mapping

from muniment.ids import EntryId
from muniment.ledger.entries import Entry, links, subjects


def about(entry: Entry) -> str:
    """What an entry is about: its subject, or the entry that it names."""
    if entry.kind == "alias":
        return str(entry.data.get("alias", ""))
    named = subjects(entry)
    if named:
        return named[0]
    for field in ("undoes", "expunges"):
        targets = links(entry, field)
        if targets:
            return f"entry {targets[0].short}"
    batch = entry.data.get("batch") or entry.data.get("room")
    return batch if isinstance(batch, str) else ""


def made_by(act: Entry, known: Mapping[str, Entry]) -> int:
    """How many entries an act made, its own `applied` entry and the parts of a large one included."""
    listed = links(act, "entries")
    parts = (known[one] for one in listed if one in known and known[one].kind == "applied")
    return 1 + len(listed) + sum(len(links(part, "entries")) for part in parts)


def says(entry: Entry, known: Mapping[str, Entry]) -> str:
    """What an entry says, in one line without its reason; `known` are the entries that it may list."""
    if entry.expunged:
        return "(expunged)"
    data = entry.data
    if entry.kind == "decision":
        target = data.get("target")
        return f"{data.get('action', '')}{f' → {target}' if target else ''}"
    if entry.kind == "alias":
        return f"= {data.get('canonical', '')}"
    if entry.kind == "applied":
        count = made_by(entry, known)
        return f"{count} {'entry' if count == 1 else 'entries'} added"
    if entry.kind in {"finding", "note"}:
        text = data.get("title") or data.get("text") or data.get("report") or ""
        return text if isinstance(text, str) else ""
    return ""


def reason(entry: Entry) -> str:
    """Why, in the writer's own words; empty when there is none."""
    found = entry.data.get("reason")
    return found if isinstance(found, str) else ""


def short(identity: str) -> str:
    """An id's prefix as shown to people."""
    return EntryId(identity).short
