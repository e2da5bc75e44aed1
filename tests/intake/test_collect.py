"""Intake over real repositories: what is copied, proposed, refused and suppressed (C7, C8, C10)."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.support.cli import Result, muniment
from tests.support.repo import Repo
from tests.support.reports import data, finding, write

COPY = "docs/reviews/2026-03-02-web-daily.json"
OFFLINE = "Changes made to the list while offline are not kept; without a connection the edits disappear."


def intake(repo: Repo, *places: Path | str) -> Result:
    return muniment("intake", *(str(place) for place in places), "--json", cwd=repo.path)


def taken(repo: Repo, folder: Path, *findings: Any, **fields: Any) -> Any:
    return intake(repo, write(folder, findings, **fields)).ok().json


def rows(repo: Repo, *more: str) -> dict[str, Any]:
    shown = muniment("triage", "show", "--json", *more, cwd=repo.path).ok().json
    return {row["fingerprint"].split("/")[-1]: row for row in shown["rows"]}


def verified(repo: Repo, slug: str, verdict: str = "real", *more: str) -> Any:
    row = rows(repo)[slug]["row"]
    made = muniment("triage", "verify", row, verdict, "--reason", "seen", "--json", *more, cwd=repo.path)
    return made.ok().json["rows"][0]


def settle(repo: Repo, *decide: str) -> None:
    """Decide and apply everything that waits."""
    muniment("triage", *(decide or ("approve", "--all")), cwd=repo.path).ok()
    token = muniment("apply", "--preview", "--json", cwd=repo.path).ok().json["token"]
    muniment("apply", "--confirm", token, cwd=repo.path).ok()


@pytest.fixture
def team(repo: Repo) -> Repo:
    repo.write("docs/bugs/offline.md", f"# Offline edits are lost\n\n{OFFLINE}\n")
    repo.commit("Documents")
    return repo


def test_intake__copies_data_and_page_and_proposes(team: Repo, tmp_path: Path) -> None:
    made = write(tmp_path / "data", [finding("offline-edits-lost", OFFLINE), finding("b", "Zebra crossing.")])
    result = intake(team, tmp_path / "data").ok().json
    assert team.read(COPY) == made.read_bytes()
    assert b"# Review of `web`" in team.read(COPY.replace(".json", ".md"))
    assert result["reports"] == [COPY]
    assert (result["refused"], len(result["rows"])) == ([], 2)
    assert result["triage"] == f"docs/reviews/triage/{result['batch']}.md"
    by_slug = {row["fingerprint"].split("/")[-1]: row for row in result["rows"]}
    row = by_slug["offline-edits-lost"]
    assert row["verify"] is None
    assert row["decision"] is None
    assert row["proposed"]["action"] == "needs-owner"
    assert row["if_real"]["action"] == "attach"
    assert row["if_real"]["target"].startswith("docs/bugs/offline.md:")
    assert row["related"][0]["path"] == "docs/bugs/offline.md"
    assert by_slug["b"]["if_real"]["action"] == "new"
    assert row["finding"] == finding("offline-edits-lost", OFFLINE)
    assert set(row) >= {
        "row",
        "fingerprint",
        "finding",
        "verify",
        "related",
        "proposed",
        "decision",
        "value",
        "digest",
    }
    assert verified(team, "offline-edits-lost")["proposed"]["action"] == "attach"


def test_intake__commits_and_stages_nothing(team: Repo, tmp_path: Path) -> None:
    before = (team.head(), team.git("diff", "--cached"), team.git("ls-files"))
    taken(team, tmp_path, finding("a"))
    assert (team.head(), team.git("diff", "--cached"), team.git("ls-files")) == before
    assert team.status() == "?? docs/reviews/"


def test_intake__again_adds_nothing(team: Repo, tmp_path: Path) -> None:
    first = taken(team, tmp_path, finding("a"))
    before = {path: path.read_bytes() for path in (team.path / "docs").rglob("*.*")}
    again = taken(team, tmp_path, finding("a"))
    assert (again["reports"], again["rows"], again["refused"]) == ([], [], [])
    assert (again["known"], again["batch"]) == ([COPY], first["batch"])
    assert {path: path.read_bytes() for path in (team.path / "docs").rglob("*.*")} == before


def test_intake__other_content_of_the_same_name_is_never_written_over(team: Repo, tmp_path: Path) -> None:
    taken(team, tmp_path / "one", finding("a"))
    first = team.read(COPY)
    result = taken(team, tmp_path / "two", finding("b", "Something else entirely."))
    assert team.read(COPY) == first
    assert result["reports"] == [COPY.replace(".json", "-2.json")]


def test_intake__a_copy_without_a_batch_gets_one(team: Repo, tmp_path: Path) -> None:
    first = taken(team, tmp_path, finding("a"))
    (team.path / first["triage"]).unlink()
    again = taken(team, tmp_path, finding("a"))
    assert (again["reports"], len(again["rows"])) == ([], 1)
    assert again["batch"] == first["batch"]


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (data([finding("x")])[:50], "truncated"),
        (b"\xef\xbb\xbf" + data(), "byte-order mark"),
        (b"\xff\x00", "UTF-8|binary"),
        (b'{"schema": "muniment.report/1", "schema": "x"}', "twice"),
        (data([finding("x", excerpt="+1 202 555 0143")]), "phone number"),
        (data(bot="../../x"), "bot"),
        (data(date="2026-99-99"), "date"),
    ],
)
def test_intake__a_bad_report_is_refused_alone(team: Repo, tmp_path: Path, raw: bytes, reason: str) -> None:
    bad = tmp_path / "data" / "bad" / "report.json"
    bad.parent.mkdir(parents=True)
    bad.write_bytes(raw)
    alone = intake(team, tmp_path / "data")
    assert (alone.code, alone.json["reports"], alone.json["batch"]) == (1, [], None)
    assert not (team.path / "docs/reviews").exists()
    write(tmp_path / "data", [finding("good")])
    result = intake(team, tmp_path / "data").ok().json
    assert result["reports"] == [COPY]
    ((path, said),) = [(one["path"], one["reason"]) for one in result["refused"]]
    assert path == str(bad)
    assert any(word in said for word in reason.split("|"))
    assert "555" not in said


def test_intake__hundred_megabytes(team: Repo, tmp_path: Path) -> None:
    big = tmp_path / "report.json"
    with big.open("wb") as stream:
        stream.truncate(100 * 1024 * 1024)
    result = intake(team, big)
    assert result.code == 1
    assert "at most" in result.json["refused"][0]["reason"]


def test_intake__dropped_findings_are_counted(team: Repo, tmp_path: Path) -> None:
    result = taken(team, tmp_path, finding("a"), finding("b", severity="x"), finding("c", message_ids=["1"]))
    assert [row["fingerprint"] for row in result["rows"]] == ["bug/code/a"]
    assert [problem["rule"] for problem in result["problems"]] == ["finding", "bad-ids"]
    page = team.read(COPY.replace(".json", ".md")).decode()
    assert "dropped here: 1 invalid, 1 with wrong message ids" in page


def test_intake__two_bots_tell_the_same(team: Repo, tmp_path: Path) -> None:
    write(tmp_path, [finding("a", OFFLINE)])
    write(tmp_path, [finding("a", OFFLINE, space="elm")], bot="app")
    result = intake(team, tmp_path).ok().json
    (row,) = result["rows"]
    assert row["also"] == [{"report": COPY, "finding": "f-a"}]
    assert (row["value"]["bots"], row["value"]["spaces"], row["value"]["days"]) == (2, 2, 1)
    assert sorted(result["reports"]) == [COPY.replace("web", "app"), COPY]


def test_intake__two_bots_tell_the_same_under_two_slugs(team: Repo, tmp_path: Path) -> None:
    write(tmp_path, [finding("offline-edits-lost", OFFLINE, severity="high")])
    write(tmp_path, [finding("edits-vanish-offline", OFFLINE)], bot="app")
    first, second = intake(team, tmp_path).ok().json["rows"]
    assert first["alias"] is None
    assert second["alias"]["canonical"] == first["fingerprint"]
    assert second["alias"]["score"] >= second["alias"]["threshold"]
    assert (second["if_real"]["action"], second["if_real"]["target"]) == ("duplicate", first["fingerprint"])


def test_intake__another_slug_becomes_an_alias_and_follows(team: Repo, tmp_path: Path) -> None:
    taken(team, tmp_path, finding("offline-edits-lost", OFFLINE))
    settle(team)
    (row,) = taken(team, tmp_path, finding("edits-vanish-offline", OFFLINE), date="2026-03-03")["rows"]
    assert (row["if_real"]["action"], row["if_real"]["target"]) == (
        "duplicate",
        "bug/code/offline-edits-lost",
    )
    settle(team)
    result = taken(team, tmp_path, finding("edits-vanish-offline", OFFLINE), date="2026-03-04")
    assert result["rows"][0]["if_real"]["target"] == "bug/code/offline-edits-lost"
    assert result["rows"][0]["alias"] is None
    assert result["rows"][0]["value"]["days"] == 3


def test_intake__a_rejected_finding_is_suppressed_until_there_is_news(team: Repo, tmp_path: Path) -> None:
    taken(team, tmp_path, finding("a"))
    settle(team, "override", "1", "--action", "reject", "--reason", "Not worth it.")
    again = taken(team, tmp_path, finding("a"), finding("b", "A zebra."), date="2026-03-03")
    assert [row["fingerprint"] for row in again["rows"]] == ["bug/code/b"]
    assert [item["fingerprint"] for item in again["suppressed"]] == ["bug/code/a"]
    assert b"## Suppressed" in team.read(again["triage"])
    for number, fields in enumerate(({"space": "elm"}, {"severity": "high"})):
        (row,) = taken(team, tmp_path, finding("a", **fields), date=f"2026-04-0{number + 1}")["rows"]
        assert row["if_real"]["action"] == "needs-owner"
        assert "new evidence" in row["if_real"]["reason"]
    (row,) = taken(team, tmp_path, finding("a"), bot="app", date="2026-04-03")["rows"]
    assert "another bot" in row["if_real"]["reason"]


@pytest.fixture
def released(repo: Repo) -> Repo:
    """v1.0.0 lacks the fix for offline edits; v1.1.0 contains it."""
    repo.git("tag", "v1.0.0")
    repo.write("src/sync.py", "keep = True\n")
    repo.write("docs/archive/offline.md", f"# Offline edits are lost\n\n{OFFLINE}\n")
    repo.commit("Keep offline edits")
    repo.git("tag", "v1.1.0")
    return repo


@pytest.mark.parametrize(
    ("version", "action"),
    [
        ("1.0.0", "fixed-not-deployed"),
        ("v1.0.0", "fixed-not-deployed"),
        ("1.1.0", "revisit"),
        ("9.9", "revisit"),
    ],
)
def test_intake__landed_work_by_the_tag_that_runs(
    released: Repo, tmp_path: Path, version: str, action: str
) -> None:
    taken(released, tmp_path, finding("edits-gone", OFFLINE), version=version)
    row = verified(released, "edits-gone")
    assert row["proposed"]["action"] == action
    assert row["proposed"]["target"].startswith("docs/archive/offline.md")
    assert row["proposed"]["check"] == (version == "9.9")
    assert row["value"]["running"].startswith("unknown") == (version == "9.9")


@pytest.mark.parametrize(
    ("fields", "action", "why"),
    [
        ({"version": "9.9", "commit": "OLD"}, "fixed-not-deployed", "lacks it"),
        ({"version": "1.1.0", "commit": "f" * 40}, "revisit", "isn't in this clone"),
        ({"version": "2"}, "revisit", "several tags name version 2"),
        ({"version": "7"}, "revisit", "contains it"),
        ({"version": None}, "revisit", "states neither version nor commit"),
    ],
)
def test_intake__running_version_by_commit_pattern_and_ambiguity(
    released: Repo, tmp_path: Path, fields: dict[str, Any], action: str, why: str
) -> None:
    released.write(".muniment/config.yaml", "version_tag: app-{version}\n")
    for tag in ("2", "v2", "app-7"):
        released.git("tag", tag, "v1.1.0")
    old = released.git("rev-parse", "v1.0.0")
    given = {key: old if value == "OLD" else value for key, value in fields.items()}
    taken(released, tmp_path, finding("edits-gone", OFFLINE), **given)
    proposed = verified(released, "edits-gone")["proposed"]
    assert (proposed["action"], proposed["check"]) == (action, action == "revisit" and why != "contains it")
    assert why in proposed["reason"]


def test_intake__a_commit_that_only_filed_the_problem_is_no_landed_work(repo: Repo, tmp_path: Path) -> None:
    repo.write("docs/notes.md", "x\n")
    repo.commit(f"Offline edits are lost\n\n{OFFLINE}")
    repo.git("tag", "v1.0.0")
    taken(repo, tmp_path, finding("offline-edits-are-lost", OFFLINE))
    assert verified(repo, "offline-edits-are-lost")["proposed"]["action"] == "new"


# --- bots


def configure(repo: Repo, text: str) -> None:
    repo.write(".muniment/config.yaml", text)
    repo.commit("Settings")


def test_intake__all_bots_without_a_path(team: Repo, tmp_path: Path) -> None:
    write(tmp_path / "web", [finding("a")])
    write(tmp_path / "app", [finding("b", "A zebra.")], bot="app")
    names = tmp_path / "names.txt"
    names.write_text("Kim Possible\n")
    configure(
        team,
        f"bots:\n  - {{name: web, from: {tmp_path / 'web'}, known_names: {names}}}\n"
        f"  - {{name: app, from: {tmp_path / 'app'}}}\n",
    )
    result = intake(team)
    assert len(result.ok().json["reports"]) == 2
    (note,) = result.json["notes"]
    assert note.startswith(
        "Names were not re-checked in the reports of app: no known_names file is set for it."
    )
    (command,) = re.findall(r"muniment (gate \S+ --known) FILE", note)
    assert muniment(*command.split(), str(names), cwd=team.path).code in {0, 1}
    assert "not re-checked in the reports of app" in result.err


def test_intake__a_known_name_refuses_the_report(team: Repo, tmp_path: Path) -> None:
    names = tmp_path / "names.txt"
    names.write_text("Kim Possible\n")
    write(tmp_path / "web", [finding("a", excerpt="[Kim Possible]: hi")])
    configure(team, f"bots: [{{name: web, from: {tmp_path / 'web'}, known_names: {names}}}]\n")
    result = intake(team)
    assert result.code == 1
    assert "Kim" not in result.out + result.err
    assert "muniment redact" in result.json["refused"][0]["hint"]
    assert ".muniment/allow.txt" in result.json["refused"][0]["hint"]
    names.unlink()
    assert intake(team).code == 4


def test_intake__names_given_by_hand(team: Repo, tmp_path: Path) -> None:
    (tmp_path / "names.txt").write_text("Kim Possible\n")
    made = write(tmp_path / "web", [finding("a", excerpt="[Kim Possible]: hi")])
    more = ("--known", str(tmp_path / "names.txt"))
    assert muniment("intake", str(made), *more, cwd=team.path).code == 1
    assert "not re-checked" in intake(team, made).ok().err


def test_intake__a_report_in_another_bots_folder_is_refused(team: Repo, tmp_path: Path) -> None:
    write(tmp_path / "web", [finding("a")], bot="app")
    configure(team, f"bots: [{{name: web, from: {tmp_path / 'web'}}}]\n")
    result = intake(team)
    assert result.code == 1
    assert "about the bot app" in result.json["refused"][0]["reason"]


def test_intake__a_bot_out_of_reach_does_not_stop_the_others(team: Repo, tmp_path: Path) -> None:
    write(tmp_path / "web", [finding("a")])
    configure(
        team,
        f"bots: [{{name: gone, from: {tmp_path / 'gone'}}}, {{name: web, from: {tmp_path / 'web'}}}]\n",
    )
    result = intake(team).ok().json
    assert result["reports"] == [COPY]
    assert [one["path"] for one in result["refused"]] == [str(tmp_path / "gone")]


def test_intake__nowhere_to_look(team: Repo) -> None:
    assert intake(team).code == 2


# --- hostile and odd surroundings


def test_intake__hostile_text_decides_nothing(team: Repo, tmp_path: Path) -> None:
    evil = "x\n\n- decision: approve\n- row: `1`\n\n## Row 1: evil\n\n```\n<!-- sweep-items:end -->"
    taken(team, tmp_path, finding("a", evil, excerpt=evil, proposed_improvement=evil))
    shown = muniment("triage", "show", "--json", cwd=team.path).ok().json
    assert [(row["row"], row["decision"]) for row in shown["rows"]] == [("1", None)]
    assert shown["problems"] == []


def test_intake__an_identifier_in_an_old_document_is_not_copied(team: Repo, tmp_path: Path) -> None:
    team.write(
        "docs/bugs/call.md", "# Call +1 202 555 0143 about wombat burrows\n\nWombat burrows collapse.\n"
    )
    team.commit("Old document")
    result = taken(team, tmp_path, finding("wombat-burrows", "Wombat burrows collapse."))
    assert "555" not in team.read(result["triage"]).decode()
    assert any("withheld" in line["title"] for line in result["rows"][0]["related"])
    assert verified(team, "wombat-burrows")["proposed"]["action"] == "attach"
    assert "555" not in team.read(result["triage"]).decode()


def test_intake__reviews_folder_that_leads_outside(team: Repo, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (team.path / "docs/reviews").symlink_to(tmp_path / "outside")
    result = intake(team, write(tmp_path, [finding("a")]))
    assert result.code in {2, 3}
    assert list((tmp_path / "outside").iterdir()) == []


def test_intake__broken_ledger_refuses(team: Repo, tmp_path: Path) -> None:
    team.write("docs/reviews/ledger.json", '{"schema":"muniment.ledger/1","entries":[{"id":"x"}]}')
    assert intake(team, write(tmp_path, [finding("a")])).code == 3
    assert not (team.path / COPY).exists()


def test_intake__unborn_branch_and_subfolder(make_repo: Any, tmp_path: Path) -> None:
    fresh = make_repo("fresh")
    (fresh.path / "sub").mkdir()
    made = write(tmp_path, [finding("a")])
    result = muniment("intake", str(made), "--json", cwd=fresh.path / "sub").ok().json
    assert result["reports"] == [COPY]
    local = write(fresh.path / "sub" / "data", [finding("b", "A zebra.")], date="2026-03-03")
    assert muniment("intake", "data", "--json", cwd=fresh.path / "sub").ok().json["reports"], local


def test_intake__own_docs_root(make_repo: Any, tmp_path: Path) -> None:
    fresh = make_repo("fresh")
    fresh.write(".muniment/config.yaml", "docs_root: notes/dev\ntarget_layers: [voice]\n")
    result = taken(fresh, tmp_path, finding("a", target_layer="voice"), finding("b"))
    assert result["reports"] == ["notes/dev/reviews/2026-03-02-web-daily.json"]
    assert [row["fingerprint"] for row in result["rows"]] == ["bug/voice/a"]


def test_intake__two_clones_make_the_same_batch(
    team: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MUNIMENT_NOW", "2026-03-02T10:00:00Z")
    other = team.clone(tmp_path / "other")
    made = write(tmp_path / "data", [finding("a", OFFLINE)])
    one, two = intake(team, made).ok().json, intake(other, made).ok().json
    assert one["batch"] == two["batch"]
    assert team.read(one["triage"]) == other.read(two["triage"])


def test_intake__people_read(team: Repo, tmp_path: Path) -> None:
    made = write(tmp_path, [finding("a")])
    result = muniment("intake", str(made), cwd=team.path).ok()
    assert "row 1: bug/code/a (moderate), if it is real: new" in result.out
    assert json.loads(muniment("triage", "list", "--json", cwd=team.path).ok().out)[0]["waiting"] == 1
