"""Build ledger files with nothing of Muniment in it: what the format page says, by hand."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import Any

Document = dict[str, Any]

PATH = "docs/reviews/ledger.json"


def spell(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def identify(entry: Mapping[str, Any]) -> str:
    bare = {key: value for key, value in entry.items() if key != "id"}
    return hashlib.sha256(spell(bare).encode()).hexdigest()[:32]


def entry(kind: str = "note", data: Mapping[str, Any] | None = None, **members: Any) -> Document:
    """An entry with its id; `after` and `basis` take entries or ids."""
    made: Document = {
        "kind": kind,
        "at": members.pop("at", "2026-01-31T04:00:00Z"),
        "actor": members.pop("actor", "Robin Owner"),
        "after": _ids(members.pop("after", ())),
        "data": dict(data or {}),
    }
    if kind == "decision" or "basis" in members:
        made["basis"] = _ids(members.pop("basis", ()))
    made.update(members)
    made.setdefault("op", "op-" + identify(made)[:8])
    made["id"] = identify(made)
    return made


def decision(subject: str, action: str, **members: Any) -> Document:
    data = {"subject": subject, "action": action, "proposed": action, "target": None, "reason": "Because."}
    data |= {"by": "Robin Owner", "channel": "flag", "verified": "none"}
    return entry("decision", data, **members)


def finding(subject: str, report: str, **members: Any) -> Document:
    return entry("finding", {"subject": subject, "report": report, "title": "It breaks"}, **members)


def _ids(items: Iterable[str | Document]) -> list[str]:
    return sorted({item if isinstance(item, str) else item["id"] for item in items})


def file(*entries: Document, sealed: Iterable[Document] = ()) -> bytes:
    """The pinned bytes of a segment."""
    body = "\n,\n".join(spell(item) for item in sorted(entries, key=lambda item: item["id"]))
    rows = sorted(sealed, key=lambda row: row["file"])
    listed = '"sealed":[\n' + "\n,\n".join(spell(row) for row in rows) + "\n]," if rows else ""
    return ('{"schema":"muniment.ledger/1",' + listed + '"entries":[\n' + body + "\n]}\n").encode()


def chain(*entries: tuple[str, Mapping[str, Any]]) -> list[Document]:
    """Entries one after the other, a minute apart."""
    made: list[Document] = []
    for place, (kind, data) in enumerate(entries):
        at = f"2026-01-31T{4 + place // 60:02}:{place % 60:02}:00Z"
        made.append(entry(kind, data, after=made[-1:], at=at, op=f"op-{place}"))
    return made
