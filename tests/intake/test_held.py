"""A flag doesn't replace what a person decided, unless told to; targets are sound when decided (C9, G5)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from muniment.intake import batches
from muniment.intake.held import Holders
from muniment.intake.triage import Choice, choose
from muniment.workspace import open_workspace
from tests.support.cli import Result, muniment
from tests.support.repo import Repo
from tests.support.triage import NAME, TRIAGE, Told, decide, intake


@pytest.fixture
def team(repo: Repo) -> Repo:
    repo.write("docs/bugs/one.md", "# One\n")
    repo.commit("Documents")
    intake(repo, [Told("one"), Told("two", "reject")])
    return repo


def triage(repo: Repo, *arguments: str) -> Result:
    return muniment("triage", *arguments, cwd=repo.path)


def decision(repo: Repo, number: str = "1") -> Any:
    rows = triage(repo, "show", "--json").ok().json["rows"]
    found = next(one for one in rows if one["row"] == number)
    return found["decision"]


CHANGES = [
    ("override", "1", "--action", "needs-owner", "--reason", "no"),
    ("dismiss", "1"),
    ("edit", "1", "--layer", "prompt"),
    ("verify", "1", "not-real", "--reason", "no"),
    ("approve", "2", "1"),
]


@pytest.mark.parametrize("channel", ["terminal", "file"])
@pytest.mark.parametrize("arguments", CHANGES)
def test_flag__replaces_no_decision_of_a_person(team: Repo, channel: str, arguments: tuple[str, ...]) -> None:
    decide(team, ["1"], "attach", target="docs/bugs/one.md", reason="so", channel=channel)
    before = (team.read(TRIAGE), decision(team))
    refused = triage(team, *arguments, "--json")
    assert refused.code == 3
    error = refused.json["error"]
    assert error["code"] == "decided-by-a-person"
    assert "attach → docs/bugs/one.md" in error["message"]
    assert "by " in error["message"]
    assert "--replace" in error["hint"]
    assert (team.read(TRIAGE), decision(team)) == before
    done = triage(team, *arguments, "--replace", "--json").ok()
    assert any("attach → docs/bugs/one.md" in note for note in done.json["notes"])
    assert decision(team) != before[1]


def test_terminal__says_who_decided_and_when(team: Repo) -> None:
    decide(team, ["1"], channel="terminal")
    message = triage(team, *CHANGES[0], "--json").json["error"]["message"]
    assert "at a terminal by" in message
    assert " on 20" in message


@pytest.mark.parametrize("words", [("approve", "1"), ("override", "1", "--action", "new", "--reason", "so")])
def test_flag__that_says_the_same_again_changes_nothing(team: Repo, words: tuple[str, ...]) -> None:
    decide(team, ["1"], "new", reason="so", channel="terminal")
    before = (team.read(TRIAGE), decision(team))
    assert triage(team, *words, "--json").ok().json["rows"][0]["decision"]["verified"] == "terminal"
    assert (team.read(TRIAGE), decision(team)) == before
    assert before[1]["verified"] == "terminal"


def test_flag__takes_over_the_same_decision_typed_into_the_file(team: Repo) -> None:
    decide(team, ["1"], "new", reason="typed", channel="file")
    before = team.read(TRIAGE)
    triage(team, "approve", "1").ok()
    assert team.read(TRIAGE) == before
    assert (decision(team)["verified"], decision(team)["reason"]) == ("none", "typed")


def test_flag__replaces_what_a_flag_decided(team: Repo) -> None:
    triage(team, "approve", "1").ok()
    triage(team, *CHANGES[0]).ok()
    assert decision(team)["action"] == "needs-owner"
    triage(team, "dismiss", "1").ok()
    triage(team, "approve", "1").ok()
    assert decision(team)["action"] == "new"


def test_flag__undoes_no_dismissal_of_a_person(team: Repo) -> None:
    choose(open_workspace(team.path), NAME, ["1"], Choice("dismiss"), "terminal")
    refused = triage(team, "approve", "1", "--json")
    assert (refused.code, refused.json["error"]["code"]) == (3, "decided-by-a-person")
    triage(team, "dismiss", "1").ok()
    triage(team, "approve", "1", "--replace").ok()


def test_terminal__replaces_anything(team: Repo) -> None:
    decide(team, ["1"], channel="file")
    choose(open_workspace(team.path), NAME, ["1"], Choice("needs-owner", reason="no"), "terminal")
    assert decision(team)["verified"] == "terminal"


def test_flag__replaces_no_decision_that_an_owner_committed(team: Repo, tmp_path: Path) -> None:
    team.write(".muniment/config.yaml", "owners: [owner@example.org]\n")
    decide(team, ["1"], channel="file")
    team.git("add", "-A")
    team.git("-c", "user.email=owner@example.org", "commit", "-qm", "Decide")
    team.bare_remote(tmp_path / "up.git")
    assert decision(team)["verified"] == "branch"
    ws = open_workspace(team.path)
    said = Holders(ws, batches.load(ws, NAME)).said(batches.load(ws, NAME).row("1"))
    assert "committed upstream (commit " in said
    assert triage(team, *CHANGES[0]).code == 3
    assert triage(team, "approve", "1").ok()
    assert decision(team)["verified"] == "branch"


def test_refresh__by_a_flag_leaves_a_decided_row_and_says_so(team: Repo) -> None:
    decide(team, ["1", "2"], channel="terminal")
    before = team.read(TRIAGE)
    done = triage(team, "refresh", "--json").ok()
    assert team.read(TRIAGE) == before
    assert any("was left" in note and "--replace" in note for note in done.json["notes"])
    triage(team, "refresh", "--replace").ok()
    assert decision(team) is None


# --- targets


@pytest.fixture
def odd(team: Repo) -> Repo:
    """Documents under names and behind places that can and can't be written."""
    for name in ("a`b.md", "-dash.md", "new\nline.md", "real/x.md", "%41.md"):
        team.write(name, "# A\n")
    (team.path / "link").symlink_to("real")
    (team.path / "file.md").symlink_to("real/x.md")
    team.write("sub/s.md", "# S\n")
    team.git("init", "-q", "sub")
    return team


BAD = [
    ("new\nline.md", "control character"),
    ("link/x.md", "behind the symbolic link"),
    ("file.md", "symbolic link"),
    ("sub/s.md", "submodule or nested repository"),
    ("../x.md", "not a path inside"),
    (".git/config", "under .git"),
    ("x" * 300 + ".md", "can't be a target"),
]


@pytest.mark.parametrize(("target", "said"), BAD)
@pytest.mark.parametrize("action", ["attach", "revisit"])
def test_target__that_can_not_be_written_is_refused_when_decided(
    odd: Repo, target: str, said: str, action: str
) -> None:
    before = odd.read(TRIAGE)
    refused = triage(
        odd, "override", "1", "--action", action, f"--target={target}", "--reason", "so", "--json"
    )
    assert refused.code in {2, 3}
    assert said in refused.json["error"]["message"]
    assert odd.read(TRIAGE) == before


@pytest.mark.parametrize(("target", "said"), BAD)
def test_target__that_can_not_be_written_is_said_of_a_file(odd: Repo, target: str, said: str) -> None:
    decide(odd, ["1"], "attach", target=target, reason="so", channel="file")
    shown = triage(odd, "show", "--json").ok().json
    (problem,) = [one for one in shown["problems"] if one["rule"] == "triage-target"]
    assert said in problem["message"]
    assert problem["line"] > 0


@pytest.mark.parametrize("target", ["a`b.md", "-dash.md", "%41.md"])
def test_target__with_an_odd_name_is_applied_as_decided(odd: Repo, target: str) -> None:
    odd.git("add", "--", "a`b.md", "-dash.md", "%41.md")
    odd.git("commit", "-qm", "Odd names")
    triage(odd, "override", "1", "--action", "attach", f"--target={target}", "--reason", "so").ok()
    assert decision(odd)["target"] == target
    token = muniment("apply", "--preview", "--json", cwd=odd.path).ok().json["token"]
    muniment("apply", "--confirm", token, cwd=odd.path).ok()
    assert b"Evidence from review" in odd.read(target)
