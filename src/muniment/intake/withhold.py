"""Words of the repository's own that the gate refuses are not copied into a triage file (G12, C7).

An old document may hold an identifier in its title or path. That must neither stop an intake nor be
spread by it, so the title is withheld, and a place that can't be named is left out.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from muniment.intake.rows import Row, row_digest

if TYPE_CHECKING:
    from muniment.redact.gate import Gate

WITHHELD = "(withheld: the gate refuses this title)"


def withheld(gate: Gate, batch: str, row: Row) -> Row:
    """The row without related titles and places that the gate refuses; the same row when there are none."""
    words = "\n\n".join(text for line in row.related for text in (line.path, line.title))
    if not words or not gate.inspect_text(words, "related"):
        return row
    kept = []
    for line in row.related:
        if gate.inspect_text(line.path, "path"):
            continue
        refused = bool(gate.inspect_text(line.title, "title"))
        kept.append(replace(line, title=WITHHELD) if refused else line)
    cleaned = replace(row, related=tuple(kept))
    return replace(cleaned, digest=row_digest(batch, cleaned))
