"""Scenarios for the kill tests: what a command does through the door, as a function of a folder."""

from __future__ import annotations

from pathlib import Path

from muniment.files import FileChange
from muniment.publish import Published, open_door
from muniment.redact.gate import Gate
from muniment.workspace import Workspace, open_workspace

OPERATION = "apply:batch-1"
CHANGES = (
    FileChange("docs/new/one.md", b"# One\n\nnew\n"),
    FileChange("docs/ledger.json", b"second\nthird\n"),
    FileChange("docs/gone.md", None),
)
WRITES = (FileChange("docs/a.md", b"a2\n"), FileChange("docs/deep/b.md", b"b2\n"))


def workspace(folder: str | Path) -> Workspace:
    return open_workspace(Path(folder))


def commit_once(folder: str) -> Published | None:
    """Commit `CHANGES`, unless the run before was killed after it had done so."""
    ws = workspace(folder)
    with open_door(ws) as door:
        done = door.recovered
        if done is not None and done.operation == OPERATION and done.outcome == "completed":
            return None
        cleared = door.clear(CHANGES, Gate())
        door.__dict__["gate"] = Gate()
        return door.commit(cleared, "Apply batch 1\n\nWith a body.", operation=OPERATION)


def write_once(folder: str) -> None:
    ws = workspace(folder)
    with open_door(ws) as door:
        door.write(door.clear(WRITES, Gate()), operation="write")
