"""Run a check in a repository, and write the owned files that rules look at."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from muniment.check import run
from muniment.check.findings import Outcome
from muniment.ledger.entries import Entry, mint
from muniment.ledger.segment import render_segment
from muniment.workspace import open_workspace
from tests.support.repo import Repo

LEDGER = "docs/reviews/ledger.json"
STATE = "docs/feedback-sweep/state.yml"
PLAN = "docs/plans/feedback-sweep-plan.md"
PHONE = "+44 7911 " + "123456"
"""Split, so that this file passes a gate itself."""


def check(repo: Repo, *paths: str, staged: bool = False, revisions: str | None = None) -> Outcome:
    """One check, as the command line would ask for it."""
    return run.check(open_workspace(repo.path), paths, revisions, staged=staged)


def rules(outcome: Outcome) -> list[str]:
    """The rules of the problems, sorted."""
    return sorted(problem.rule for problem in outcome.problems)


def places(outcome: Outcome) -> list[tuple[str, int, str]]:
    """Path, line and rule of each problem."""
    return [(problem.path, problem.line, problem.rule) for problem in outcome.problems]


def notes(entries: int, *, start: int = 0, after: Sequence[Entry] = ()) -> list[Entry]:
    """A chain of ledger notes."""
    made: list[Entry] = []
    heads = [entry.id for entry in after]
    for number in range(start, start + entries):
        entry = mint(
            kind="note",
            data={"text": f"Note {number}"},
            at=f"2026-03-{1 + number % 28:02d}T10:00:00Z",
            actor="Robin",
            after=heads,
            op=f"note-{number}",
        )
        heads = [entry.id]
        made.append(entry)
    return made


def ledger(repo: Repo, entries: Sequence[Entry]) -> bytes:
    """Write the ledger in its own layout; returns its bytes."""
    data = render_segment(entries)
    repo.write(LEDGER, data)
    return data


def state(repo: Repo, items: Mapping[str, Mapping[str, Any]]) -> None:
    """Write a state file with these items."""
    lines = ["schema_version: 1", "sources:", "  inbox: {cursor: '9'}", "items:" if items else "items: {}"]
    for key, fields in items.items():
        source, _, native = key.partition(":")
        lines += [f"  {key}:", f"    id: '{native}'", f"    source: {source}"]
        lines += [f"    {name}: {value}" for name, value in fields.items()]
    repo.write(STATE, "\n".join(lines) + "\n")
