"""Scenarios for the kill tests: one write of the state engine in a process of its own."""

from __future__ import annotations

from pathlib import Path

from muniment.state import claim, engine, operations

NOW = "2026-12-01T12:00:00Z"


def upsert_once(folder: str) -> None:
    """Upsert one item as the holder."""
    place = engine.StateFile(Path(folder) / "state.yml")
    answer = place.held(lambda view: operations.upsert_item(view, "s", "2", {"title": "new"}), "a", NOW)
    assert answer.word in {"OK", "ERROR"}, answer


def acquire_once(folder: str) -> None:
    """Take the lease, making the file and its folder."""
    place = engine.StateFile(Path(folder) / "new" / "state.yml")
    answer = place.change(lambda view: claim.acquire(view, "a", None, NOW))
    assert answer.word in {"OK", "ERROR"}, answer
