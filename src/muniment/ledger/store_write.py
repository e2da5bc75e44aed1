"""Record an entry: load, append and write under the clone's lock, through the one door (G4, G6, G12)."""

from __future__ import annotations

from muniment.ledger.store import Appended, Draft, append, load
from muniment.publish import open_door
from muniment.workspace import Workspace


def record(ws: Workspace, draft: Draft) -> Appended:
    """Append one entry to the ledger in the working tree; commits nothing.

    Raises:
        Refused: The ledger is not whole, or another process holds the lock.
        NotCanonical: The body can't be held.
        GateRefused: An identifier or a secret would be added; nothing was written.
    """
    with open_door(ws) as door:
        appended = append(ws, load(ws), [draft])
        if appended.changes:
            door.write(door.clear(appended.changes), operation="ledger-add")
    return appended
