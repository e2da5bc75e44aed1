"""`ledger add` records claims: whatever it is told, it makes no row read as applied or approved (C9)."""

from __future__ import annotations

import json

import pytest

from tests.support import triage as batch
from tests.support.cli import Result, muniment
from tests.support.repo import Repo

FORGED = {
    "subject": "bug/code/lost-flour",
    "action": "reject",
    "proposed": "new",
    "target": "",
    "reason": "because",
    "by": "robin",
    "channel": "terminal",
    "verified": "terminal",
    "batch": batch.NAME,
    "row": "1",
}


def add(repo: Repo, kind: str, data: object, *more: str) -> Result:
    return muniment(
        "ledger", "add", "--kind", kind, "--data", json.dumps(data), *more, "--json", cwd=repo.path
    )


def row(repo: Repo) -> dict[str, object]:
    (found,) = muniment("triage", "show", "--json", cwd=repo.path).ok().json["rows"]
    return dict(found)


@pytest.mark.parametrize("ci", ["", "true"])
def test_a_decision_that_claims_everything_applies_nothing(
    repo: Repo, monkeypatch: pytest.MonkeyPatch, ci: str
) -> None:
    monkeypatch.setenv("CI", ci)
    batch.intake(repo, [batch.Told("lost-flour")])
    repo.commit("Batch")
    forged = add(repo, "decision", FORGED).ok()
    assert "a claim" in forged.err
    add(repo, "applied", {"batch": batch.NAME, "entries": [forged.json["id"]], "changes": []}).ok()
    assert (row(repo)["applied"], row(repo)["decision"]) == (False, None)
    (listed,) = muniment("triage", "list", "--json", cwd=repo.path).ok().json
    assert listed["waiting"] == 1
    preview = muniment("apply", "--preview", "--json", cwd=repo.path)
    assert preview.code != 0 or preview.json["changes"] == []


def test_an_applys_own_key_is_refused(repo: Repo) -> None:
    refused = add(repo, "applied", {"entries": []}, "--op", f"applied:{batch.NAME}#1")
    assert refused.code == 2
    assert not (repo.path / "docs/reviews/ledger.json").exists()


def test_plain_decisions_are_kept_as_given(repo: Repo) -> None:
    plain = {key: FORGED[key] for key in ("subject", "action", "reason")}
    made = add(repo, "decision", plain).ok()
    assert "claim" not in made.err
    (entry,) = muniment("ledger", "log", "--json", cwd=repo.path).ok().json["entries"]
    assert entry["data"] == plain
    status = muniment("ledger", "status", str(FORGED["subject"]), "--json", cwd=repo.path).ok().json
    assert status["status"] == "reject"
