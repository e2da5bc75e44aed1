"""Reports as a bot's review writes them, and the folders that they lie in."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

SLUG_WORDS = {"bug": "code", "feature": "code", "profile": "prompt", "config": "config"}


def finding(slug: str, wrong: str = "The list loses its lines.", /, **fields: Any) -> dict[str, Any]:
    """One valid finding; `fields` replace or add any key, the fingerprint follows kind and layer."""
    made: dict[str, Any] = {
        "id": f"f-{slug}"[:40],
        "kind": "bug",
        "scope": "global",
        "target_layer": "code",
        "severity": "moderate",
        "confidence": 0.5,
        "space": "oak",
        "message_ids": [7],
        "excerpt": "bot: here you are",
        "what_went_wrong": wrong,
        "proposed_improvement": "Do it right.",
        **fields,
    }
    made.setdefault("fingerprint", f"{made['kind']}/{made['target_layer']}/{slug}")
    return made


def report(findings: Sequence[Any] = (), /, **fields: Any) -> dict[str, Any]:
    """One valid report; `fields` replace or add any key."""
    return {
        "schema": "muniment.report/1",
        "bot": "web",
        "version": "1.0.0",
        "commit": None,
        "kind": "daily",
        "date": "2026-03-02",
        "window": {"since": "2026-03-01T04:00:00Z", "until": "2026-03-02T04:00:00Z"},
        "findings": list(findings),
        "coverage": {
            "spaces": 2,
            "exchanges": 9,
            "skipped": [],
            "dropped": {"invalid": 0, "badIds": 0},
            "spawns": 1,
            "wall_seconds": 3,
            "cost_usd": 0.01,
        },
        "weekly": None,
        **fields,
    }


def data(findings: Sequence[Any] = (), /, **fields: Any) -> bytes:
    """A report as bytes."""
    return json.dumps(report(findings, **fields), indent=2).encode()


def write(folder: Path, findings: Sequence[Any] = (), /, **fields: Any) -> Path:
    """A report in a folder of its own below `folder`, as a review leaves it; returns its path."""
    made = report(findings, **fields)
    path = folder / f"{made['date']}-{made['bot']}-{made['kind']}" / "report.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(json.dumps(made, indent=2).encode())
    return path
