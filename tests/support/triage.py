"""Triage batches as intake and a person leave them: a report, its page, a triage file with decisions."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from muniment.files import FileChange, template_text
from muniment.findings import parse_report
from muniment.intake import batches, records, triage_edit
from muniment.intake.rows import Action, Alias, Batch, Proposal, Row, Verdict, Verification, row_digest
from muniment.intake.triage_file import Said, decision_lines, render
from muniment.publish import open_door
from muniment.reports import page
from muniment.workspace import open_workspace
from tests.support.repo import Repo

NAME = "2026-03-02"
TRIAGE = f"docs/reviews/triage/{NAME}.md"
REPORT = "docs/reviews/2026-03-02-web-daily.json"
LAYERS = ("code", "prompt", "config")


@dataclass(frozen=True, slots=True)
class Told:
    """One finding and what is proposed for it."""

    slug: str
    action: str = "new"
    target: str = ""
    kind: str = "bug"
    said: str = "The list loses lines."
    canonical: str = ""
    fields: Mapping[str, Any] | None = None

    @property
    def fingerprint(self) -> str:
        return f"{self.kind}/code/{self.slug}"


def finding(number: int, told: Told) -> dict[str, Any]:
    return {
        "id": f"f{number}",
        "kind": told.kind,
        "scope": "global",
        "target_layer": "code",
        "severity": "high",
        "confidence": 0.9,
        "space": "oak",
        "message_ids": [number],
        "excerpt": "bot: nothing here",
        "what_went_wrong": told.said,
        "proposed_improvement": "Keep every line.",
        "fingerprint": told.fingerprint,
        **(told.fields or {}),
    }


def report(findings: Sequence[Mapping[str, Any]], bot: str = "web", date: str = "2026-03-02") -> bytes:
    body = {
        "schema": "muniment.report/1",
        "bot": bot,
        "version": "1.3.0",
        "commit": None,
        "kind": "daily",
        "date": date,
        "window": {"since": f"{date}T04:00:00Z", "until": f"{date}T05:00:00Z"},
        "findings": list(findings),
        "coverage": {
            "spaces": 1,
            "exchanges": 3,
            "skipped": [],
            "dropped": {"invalid": 0, "badIds": 0},
            "spawns": 1,
            "wall_seconds": 1,
            "cost_usd": 0,
        },
    }
    return json.dumps(body, indent=1).encode()


def intake(
    repo: Repo, told: Sequence[Told], *, name: str = NAME, bot: str = "web", date: str = "2026-03-02"
) -> str:
    """Lay a batch down as intake would, uncommitted; returns the triage file's path."""
    path = f"docs/reviews/{date}-{bot}-daily.json"
    data = report([finding(number, one) for number, one in enumerate(told, start=1)], bot, date)
    parsed, problems = parse_report(data, path, LAYERS)
    assert parsed is not None, problems
    assert len(parsed.findings) == len(told), problems
    basis = _basis(repo.path)
    rows = []
    for number, one in enumerate(told, start=1):
        found = parsed.finding(f"f{number}")
        assert found is not None
        row = Row(
            row=str(number),
            fingerprint=found.fingerprint,
            finding=found.as_json(),
            report=path,
            verify=Verification(Verdict.REAL, "seen", "robin", one.kind, "global", "code"),
            proposed=Proposal(Action(one.action), one.target, "so proposed"),
            value={"severity": "high"},
            basis=tuple(
                sorted({*basis(found.fingerprint), *(basis(one.canonical) if one.canonical else ())})
            ),
            alias=Alias(type(found.fingerprint).parse(one.canonical), 800, 600) if one.canonical else None,
        )
        rows.append(replace(row, digest=row_digest(name, row)))
    batch = Batch(name, (path,), tuple(rows), "2026-03-02T06:00:00Z")
    triage = f"docs/reviews/triage/{name}.md"
    text = render(batch, "docs/reviews/triage", template_text("triage.md"))
    files = {path: data, path.replace(".json", ".md"): page(parsed).encode(), triage: text.encode()}
    ws = open_workspace(repo.path)
    with open_door(ws) as door:
        door.write(door.clear([FileChange(*item) for item in files.items()]))
    return triage


def _basis(folder: Path) -> Any:
    from muniment.ledger import store  # noqa: PLC0415 - few builders need a ledger

    return store.load(open_workspace(folder)).view.current


def decide(
    repo: Repo,
    rows: Sequence[str],
    word: str = "approve",
    *,
    target: str = "",
    reason: str = "",
    channel: str = "flag",
    triage: str = TRIAGE,
) -> None:
    """Decide rows as a command would (`flag`, `terminal`), or by typing into the file alone (`file`)."""
    text = repo.read(triage).decode()
    ws = open_workspace(repo.path)
    before = batches.load(ws, Path(triage).stem)
    for row in rows:
        said = Said(word, target, reason, "", "", "Robin", 0)
        pairs = decision_lines(said, before.row(row).digest)
        text = triage_edit.set_decisions(text, triage, {row: pairs})
    repo.write(triage, text)
    if channel != "file":
        loaded = batches.load(ws, Path(triage).stem)
        records.keep(ws, loaded.batch.batch, [loaded.row(row) for row in rows], channel)


def approve_all(repo: Repo, triage: str = TRIAGE) -> None:
    """Approve every row of a large batch by flag, without reading the file once a row."""
    text = repo.read(triage).decode().replace("- decision:\n", "- decision: approve\n")
    repo.write(triage, text)
    ws = open_workspace(repo.path)
    loaded = batches.load(ws, Path(triage).stem)
    records.keep(ws, loaded.batch.batch, loaded.batch.rows, "flag")
