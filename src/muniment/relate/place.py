"""What a match leads to, and the terms that it is found by. Pure, and light: every question needs it."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Place:
    """What is shown of a passage that was found.

    Attributes:
        type: `doc`, `story`, `decision`, `pending`, `ledger`, `report` or `commit`.
        path: Repository-relative; empty where there is no file.
        line: 1-based; 0 where there is none.
        commit: The commit itself, or for a ledger's or a report's passage nothing.
        fingerprint: The fingerprint of a ledger's subject or a report's finding.
    """

    type: str
    path: str
    line: int
    title: str
    stage: str
    status: str
    commit: str = ""
    fingerprint: str = ""

    def to_json(self) -> bytes:
        """One line of JSON."""
        row = [
            self.type,
            self.path,
            self.line,
            self.title,
            self.stage,
            self.status,
            self.commit,
            self.fingerprint,
        ]
        return json.dumps(row, separators=(",", ":")).encode()

    @classmethod
    def from_json(cls, line: bytes) -> Place:
        """Read `to_json`'s line."""
        return cls(*json.loads(line))


@dataclass(frozen=True, slots=True)
class Passage:
    """A place with the terms that it is found by."""

    place: Place
    in_title: Counter[str]
    in_body: Counter[str]


def exact_term(key: str) -> str:
    """A term for a whole fingerprint, which no text's words can equal."""
    return f"={key}"
