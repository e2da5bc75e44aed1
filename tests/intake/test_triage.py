"""Verifying and deciding rows by flags, in the file and at a terminal (C8, C9)."""

from __future__ import annotations

import os
import pty
import re
import select
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import mdformat
import pytest

from muniment.intake import records
from muniment.intake.rows import trust
from muniment.workspace import open_workspace
from tests.support.cli import Result, muniment
from tests.support.repo import Repo
from tests.support.reports import finding, write

OFFLINE = "Changes made to the list while offline are not kept; without a connection the edits disappear."
ZEBRA = "The zebra crossing has no stripes."


@pytest.fixture
def team(repo: Repo, tmp_path: Path) -> Repo:
    """A batch of three rows: one that an open bug covers, two that nothing covers."""
    repo.write("docs/bugs/offline.md", f"# Offline edits are lost\n\n{OFFLINE}\n")
    repo.commit("Documents")
    made = write(
        tmp_path / "data",
        [
            finding("offline-edits-lost", OFFLINE, severity="high"),
            finding("zebra-stripes", ZEBRA),
            finding("quiet-bell", "No bell rings at noon.", severity="minor"),
        ],
    )
    muniment("intake", str(made), cwd=repo.path).ok()
    return repo


def triage(repo: Repo, *arguments: str) -> Result:
    return muniment("triage", *arguments, cwd=repo.path)


def shown(repo: Repo) -> Any:
    return triage(repo, "show", "--json").ok().json


def row(repo: Repo, number: str = "1") -> Any:
    return next(one for one in shown(repo)["rows"] if one["row"] == number)


def file(repo: Repo) -> Path:
    (found,) = (repo.path / "docs/reviews/triage").glob("*.md")
    return found


def edit(repo: Repo, old: str, new: str, nth: int = 1) -> None:
    """Replace the nth occurrence of a piece of the triage file."""
    parts = file(repo).read_text().split(old)
    file(repo).write_text(old.join(parts[:nth]) + new + old.join(parts[nth:]))


def decision(repo: Repo, number: str = "1") -> Any:
    return row(repo, number)["decision"]


# --- verify


def test_verify__real_proposes_what_was_only_a_hypothesis(team: Repo) -> None:
    before = row(team)
    assert (before["proposed"]["action"], before["if_real"]["action"]) == ("needs-owner", "attach")
    triage(team, "verify", "1", "real", "--reason", "Seen *it*.").ok()
    found = row(team)
    assert found["verify"] == {
        "verdict": "real",
        "reason": "Seen *it*.",
        "by": "Robin Owner",
        "kind": "bug",
        "scope": "global",
        "target_layer": "code",
    }
    assert (found["proposed"]["action"], found["if_real"]) == ("attach", None)
    assert found["digest"] != before["digest"]
    assert row(team, "2")["verify"] is None


def test_verify__not_real_stops_before_relate(team: Repo) -> None:
    triage(team, "verify", "1", "not-real", "--reason", "They were joking.").ok()
    found = row(team)
    assert (found["proposed"]["action"], found["related"]) == ("reject", [])
    assert "They were joking." in found["proposed"]["reason"]


def test_verify__hints_are_re_derived(team: Repo) -> None:
    more = ("--kind", "feature", "--scope", "space", "--layer", "prompt")
    triage(team, "verify", "2", "real", "--reason", "x", *more).ok()
    found = row(team, "2")
    assert (found["verify"]["kind"], found["verify"]["scope"], found["verify"]["target_layer"]) == (
        *("feature", "space"),
        "prompt",
    )
    assert found["value"]["cost"] == "low"
    assert found["fingerprint"] == "bug/code/zebra-stripes"


@pytest.mark.parametrize(
    "arguments",
    [
        ("verify", "1", "real"),
        ("verify", "1", "perhaps", "--reason", "x"),
        ("verify", "9", "real", "--reason", "x"),
        ("verify", "1", "real", "--reason", "x", "--layer", "kernel"),
        ("approve",),
        ("approve", "1", "--all"),
        ("approve", "1", "9"),
        ("override", "1", "--action", "atach", "--reason", "x"),
        ("override", "1", "--action", "attach"),
        ("override", "2", "--action", "attach", "--reason", "x"),
        ("override", "2", "--action", "duplicate", "--reason", "x"),
        ("override", "1", "--action", "attach", "--reason", "x", "--target", "docs/no.md"),
        ("override", "1", "--action", "attach", "--reason", "x", "--target", "../../etc/passwd"),
        ("override", "1", "--action", "attach", "--reason", "x", "--target", "/etc/passwd"),
        ("override", "1", "--action", "duplicate", "--reason", "x", "--target", "1"),
        ("edit", "1"),
        ("edit", "1", "--layer", "kernel"),
        ("show", "--batch", "none"),
        ("show", "--batch", "../x"),
        (),
    ],
)
def test_triage__wrong_usage_writes_nothing(team: Repo, arguments: tuple[str, ...]) -> None:
    before = file(team).read_bytes()
    assert triage(team, *arguments).code == 2
    assert file(team).read_bytes() == before


def test_triage__no_batch_at_all(repo: Repo) -> None:
    result = triage(repo, "show")
    assert result.code == 2
    assert "muniment intake" in result.err


# --- decide by flags


def test_approve__an_unverified_row_is_verified_by_it(team: Repo) -> None:
    triage(team, "approve", "1").ok()
    found = row(team)
    assert found["decision"] == {
        "action": "attach",
        "target": "docs/bugs/offline.md:1",
        "reason": found["if_real"]["reason"],
        "by": "Robin Owner",
        "channel": "flag",
        "verified": "none",
        "counts": True,
        "why": "",
    }
    assert found["verify"]["verdict"] == "real"
    assert found["verify"]["by"] == "Robin Owner"


def test_approve__all_takes_what_is_undecided(team: Repo) -> None:
    triage(team, "override", "2", "--action", "reject", "--reason", "No.").ok()
    triage(team, "dismiss", "3").ok()
    result = triage(team, "approve", "--all", "--json").ok().json
    assert [one["row"] for one in result["rows"]] == ["1"]
    assert [one["decision"] and one["decision"]["action"] for one in shown(team)["rows"]] == [
        *("attach", "reject"),
        None,
    ]
    assert row(team, "3")["dismissed"]


def test_approve__by_fingerprint_and_several(team: Repo) -> None:
    triage(team, "approve", "bug/code/zebra-stripes", "3").ok()
    assert [bool(one["decision"]) for one in shown(team)["rows"]] == [False, True, True]


def test_override__target_by_default_the_first_related(team: Repo) -> None:
    triage(team, "override", "1", "--action", "known-limitation", "--reason", "Known.").ok()
    assert decision(team)["target"] == "docs/bugs/offline.md:1"
    triage(team, "override", "1", "--action", "new", "--reason", "Another.").ok()
    assert (decision(team)["action"], decision(team)["target"]) == ("new", "")
    more = ("--target", "docs/bugs/offline.md")
    triage(team, "override", "2", "--action", "attach", "--reason", "Same.", *more).ok()
    assert decision(team, "2")["target"] == "docs/bugs/offline.md"
    triage(team, "override", "3", "--action", "duplicate", "--reason", "Same.", "--target", "2").ok()
    assert decision(team, "3")["target"] == "bug/code/zebra-stripes"


def test_override__reject_of_an_unverified_row_says_not_real(team: Repo) -> None:
    triage(team, "override", "1", "--action", "reject", "--reason", "Joking.").ok()
    assert row(team)["verify"]["verdict"] == "not-real"
    triage(team, "verify", "2", "real", "--reason", "Seen.").ok()
    triage(team, "override", "2", "--action", "reject", "--reason", "Not worth it.").ok()
    assert row(team, "2")["verify"]["verdict"] == "real"


def test_edit__target_text_and_layer(team: Repo) -> None:
    team.write("docs/bugs/other.md", "# Other\n")
    triage(team, "edit", "1", "--target", "docs/bugs/other.md").ok()
    assert (decision(team)["action"], decision(team)["target"]) == ("attach", "docs/bugs/other.md")
    triage(team, "override", "2", "--action", "new", "--reason", "Do it.").ok()
    triage(team, "edit", "2", "--text", "In *other*\nwords", "--layer", "prompt").ok()
    found = row(team, "2")
    assert found["edits"] == {"layer": "prompt", "text": "In *other* words"}
    assert (found["decision"]["action"], found["decision"]["reason"]) == ("new", "Do it.")


def test_dismiss__then_approve(team: Repo) -> None:
    triage(team, "dismiss", "1", "2").ok()
    assert [one["dismissed"] for one in shown(team)["rows"]] == [True, True, False]
    triage(team, "approve", "1").ok()
    assert (row(team)["dismissed"], decision(team)["action"]) == (False, "attach")


def test_batch__option_before_or_after_the_subcommand(team: Repo) -> None:
    name = shown(team)["batch"]
    triage(team, "--batch", name, "approve", "1").ok()
    triage(team, "approve", "2", "--batch", name).ok()
    assert [bool(one["decision"]) for one in shown(team)["rows"]] == [True, True, False]


def test_verify__after_a_decision_lets_it_lapse_and_keeps_its_words(team: Repo) -> None:
    triage(team, "override", "1", "--action", "new", "--reason", "I want it.").ok()
    result = triage(team, "verify", "1", "unsure", "--reason", "Not so sure.").ok()
    assert "counts as none" in result.err
    assert decision(team) is None
    assert "- earlier: reason: I want it." in file(team).read_text()


def test_flags__change_only_their_rows(team: Repo) -> None:
    edit(team, "## Row 2", "A note of mine,   with spaces.\n\n## Row 2")
    before = file(team).read_text()
    triage(team, "verify", "2", "real", "--reason", "x").ok()
    triage(team, "approve", "2").ok()
    after = file(team).read_text()
    start, end = before.index("- row: `2`"), before.index("## Row 3")
    assert after[:start] == before[:start]
    assert after.endswith(before[end:])


def test_flags__under_ci_count_for_nothing(team: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", "true")
    triage(team, "approve", "1").ok()
    assert (decision(team)["counts"], decision(team)["verified"]) == (False, "claimed")
    monkeypatch.delenv("CI")
    assert (decision(team)["counts"], decision(team)["verified"]) == (False, "claimed"), "nor later"


# --- the file


def test_file__a_typed_decision_is_a_claim(team: Repo) -> None:
    edit(team, "- decision:\n", "- decision: approve\n- by: Robin Owner\n")
    assert (decision(team)["channel"], decision(team)["verified"], decision(team)["counts"]) == (
        *("file", "claimed"),
        False,
    )


def test_file__what_muniment_alone_writes_can_not_be_typed(team: Repo) -> None:
    edit(team, "- decision:\n", "- decision: approve\n- verified: terminal\n- channel: terminal\n")
    found = shown(team)
    assert [one["row"] for one in found["rows"]] == ["2", "3"]
    assert "2 lines 'verified'" in next(one["message"] for one in found["problems"] if one["line"])


def test_file__a_changed_word_is_another_decision(team: Repo) -> None:
    triage(team, "override", "1", "--action", "new", "--reason", "Do it.").ok()
    assert decision(team)["channel"] == "flag"
    edit(team, "- reason: Do it.", "- reason: Do it now.")
    assert decision(team)["channel"] == "file"
    edit(team, "- reason: Do it now.", "- reason: Do it.")
    assert decision(team)["channel"] == "flag"


def test_file__formatted_keeps_its_decisions_and_their_channel(team: Repo) -> None:
    triage(team, "override", "1", "--action", "new", "--reason", "Do *it*, now_or_never.").ok()
    file(team).write_text(mdformat.text(file(team).read_text().replace("\n- ", "\n* ")))
    assert (decision(team)["reason"], decision(team)["channel"]) == ("Do *it*, now_or_never.", "flag")


def test_file__a_hand_edited_row_is_refused_and_refresh_mends_it(team: Repo) -> None:
    edit(team, "severity high", "severity minor")
    result = triage(team, "approve", "1")
    assert result.code == 3
    assert re.search(r"docs/reviews/triage/.*\.md:\d+: Row 1 differs", result.err)
    assert triage(team, "approve", "--all", "--json").ok().json["rows"][0]["row"] == "2"
    mended = triage(team, "refresh").ok()
    assert "severity minor" in mended.err
    triage(team, "approve", "1").ok()
    assert row(team)["value"]["severity"] == "high"


def test_file__a_deleted_row_comes_back_under_its_id(team: Repo) -> None:
    text = file(team).read_text()
    cut = text[: text.index("## Row 2")] + text[text.index("## Row 3") :]
    file(team).write_text(cut)
    found = shown(team)
    assert [one["row"] for one in found["rows"]] == ["1", "3"]
    assert [problem["rule"] for problem in found["problems"]] == ["triage-missing"]
    triage(team, "refresh").ok()
    assert sorted(one["row"] for one in shown(team)["rows"]) == ["1", "2", "3"]
    assert row(team, "2")["fingerprint"] == "bug/code/zebra-stripes"
    assert shown(team)["problems"] == []


def test_file__a_ruined_row_comes_back_in_place(team: Repo) -> None:
    edit(team, "- verified: not yet", "- verified: real, I swear", 2)
    found = shown(team)
    assert [one["row"] for one in found["rows"]] == ["1", "3"]
    assert found["problems"][0]["rule"] in {"triage-missing", "triage-row"}
    triage(team, "refresh").ok()
    assert [one["row"] for one in shown(team)["rows"]] == ["1", "2", "3"]


def test_file__two_decisions_are_refused_by_flags_too(team: Repo) -> None:
    edit(team, "- decision:\n", "- decision: approve\n- decision: reject\n")
    assert shown(team)["problems"][0]["rule"] == "triage-twice"
    assert triage(team, "approve", "1").code == 3


@pytest.mark.parametrize(
    "content", [b"\xff\xfe\x00", b"", b"<<<<<<< a\n=======\n>>>>>>> b\n", b"# nothing\n"]
)
def test_file__nonsense_is_an_error_or_said(team: Repo, content: bytes) -> None:
    file(team).write_bytes(content)
    result = triage(team, "show", "--json")
    assert result.code == (3 if b"\xff" in content or b"<<" in content else 0)
    if result.code == 0:
        assert (result.json["rows"], result.json["problems"][0]["rule"]) == ([], "triage-file")
    assert triage(team, "list").code == 0


def test_refresh__sees_new_documents(team: Repo) -> None:
    triage(team, "verify", "2", "real", "--reason", "x").ok()
    assert row(team, "2")["proposed"]["action"] == "new"
    team.write("docs/bugs/zebra.md", f"# Zebra stripes\n\n{ZEBRA}\n")
    team.commit("Filed meanwhile")
    triage(team, "refresh").ok()
    assert row(team, "2")["proposed"]["action"] == "attach"
    assert triage(team, "refresh").ok().err == "Nothing changed.\n"


def test_applied_rows__are_left_alone(team: Repo) -> None:
    triage(team, "approve", "1").ok()
    token = muniment("apply", "--preview", "--json", cwd=team.path).ok().json["token"]
    muniment("apply", "--confirm", token, cwd=team.path).ok()
    assert row(team)["applied"]
    assert triage(team, "approve", "1").code == 3
    assert [one["row"] for one in triage(team, "approve", "--all", "--json").ok().json["rows"]] == ["2", "3"]


def test_records__a_damaged_note_is_no_note(team: Repo) -> None:
    triage(team, "approve", "1").ok()
    ws = open_workspace(team.path)
    batch = shown(team)["batch"]
    assert records.load(ws, batch)["1"].channel == "flag"
    (note,) = (ws.private / "decisions").iterdir()
    assert note.stat().st_mode & 0o777 == 0o600
    for damaged in (b"", b"[]", b"{}", note.read_bytes().replace(b"flag", b"king"), b"\xff"):
        note.write_bytes(damaged)
        assert "1" not in records.load(ws, batch)
        assert decision(team)["channel"] == "file"


def test_reading__writes_nothing(team: Repo) -> None:
    triage(team, "show").ok()
    before = {
        path: path.stat().st_mtime_ns for path in team.path.rglob("*") if ".git/muniment" not in str(path)
    }
    triage(team, "show", "--json").ok()
    triage(team, "list").ok()
    assert {path: path.stat().st_mtime_ns for path in before} == before


def test_names__the_owner_may_be_a_known_name(team: Repo, tmp_path: Path) -> None:
    names = tmp_path / "names.txt"
    names.write_text("Robin Owner\towner\nKim Possible\n")
    team.write(".muniment/config.yaml", f"bots: [{{name: web, from: x, known_names: {names}}}]\n")
    triage(team, "verify", "1", "real", "--reason", "Seen.").ok()
    triage(team, "approve", "1").ok()
    triage(team, "verify", "1", "unsure", "--reason", "Hm.").ok()
    assert (row(team)["verify"]["by"], row(team)["verify"]["verdict"]) == ("Robin Owner", "unsure")
    assert triage(team, "verify", "2", "real", "--reason", "Kim Possible said so.").code == 1
    assert row(team, "2")["verify"] is None


# --- the terminal


class Terminal:
    """A `muniment` process at a real terminal."""

    def __init__(self, repo: Repo, *arguments: str) -> None:
        self.main, child = pty.openpty()
        command = [sys.executable, "-m", "muniment", *arguments]
        self.process = subprocess.Popen(command, cwd=repo.path, stdin=child, stdout=child, stderr=child)
        os.close(child)
        self.seen = ""

    def until(self, words: str) -> str:
        """Read until some words appear; returns everything since the last call."""
        start = len(self.seen)
        while words not in self.seen[start:]:
            ready, _, _ = select.select([self.main], [], [], 30)
            assert ready, f"no {words!r} in {self.seen[start:]!r}"
            try:
                self.seen += os.read(self.main, 65536).decode()
            except OSError:
                break
        assert words in self.seen[start:], self.seen[start:]
        return self.seen[start:]

    def say(self, line: str) -> None:
        os.write(self.main, f"{line}\n".encode())

    def end(self) -> int:
        while True:
            try:
                data = os.read(self.main, 65536)
            except OSError:
                break
            if not data:
                break
            self.seen += data.decode()
        os.close(self.main)
        return self.process.wait(timeout=30)


def words(text: str) -> str:
    """What a terminal shows, without colours, the marks of quotations and where the lines were broken."""
    return " ".join(re.sub(r"\x1b\[[0-9;]*m", "", text).replace("│", " ").split())


def test_terminal__row_by_row(team: Repo) -> None:
    terminal = Terminal(team, "triage")
    first = words(terminal.until("Row 1:"))
    assert first.index(OFFLINE) < first.index("docs/bugs/offline.md:1")
    assert "[a]pprove (attach → docs/bugs/offline.md:1; also marks it real)" in first
    terminal.say("x")
    terminal.until("one of the letters")
    terminal.say("v")
    terminal.until("Is it real?")
    terminal.say("real")
    terminal.until("Why")
    terminal.say("I saw it.")
    assert "(attach → docs/bugs/offline.md:1)," in words(terminal.until("Row 1:"))
    terminal.say("a")
    terminal.until("Row 2:")
    terminal.say("o")
    terminal.until("Action")
    terminal.say("reject")
    terminal.until("Why")
    terminal.say("")
    terminal.until("reason is needed")
    terminal.say("Not worth it.")
    terminal.until("Row 3:")
    terminal.say("")
    assert terminal.end() == 0
    assert "(left undecided)" in terminal.seen
    assert "1 undecided, 2 decided, not applied" in terminal.seen
    assert "next: muniment apply (2 rows wait" in terminal.seen
    found = shown(team)["rows"]
    assert [one["decision"] and one["decision"]["verified"] for one in found] == [
        "terminal",
        "terminal",
        None,
    ]
    assert found[0]["verify"]["reason"] == "I saw it."
    assert found[1]["decision"]["reason"] == "Not worth it."


def test_terminal__question_mark_explains_every_letter(team: Repo) -> None:
    terminal = Terminal(team, "triage")
    terminal.until("Row 1:")
    terminal.say("?")
    explained = words(terminal.until("Row 1:"))
    for letter in ("a approve:", "o override:", "v verify:", "e edit:", "d dismiss:", "s skip:", "q quit:"):
        assert letter in explained
    terminal.say("q")
    assert terminal.end() == 0
    assert "(left undecided)" in terminal.seen


def test_terminal__target_is_offered_and_checked_before_the_reason(team: Repo) -> None:
    terminal = Terminal(team, "triage")
    terminal.until("Row 1:")
    terminal.say("o")
    assert "known-limitation" in terminal.until("Action:")
    terminal.say("attach")
    offered = words(terminal.until("offline.md:1): "))
    assert "1 docs/bugs/offline.md:1 Offline edits are lost" in offered
    terminal.say("docs/no.md")
    assert "There is no file" in words(terminal.until("offline.md:1): "))
    terminal.say("../elsewhere.md")
    assert "not a target:" in words(terminal.until("offline.md:1): "))
    terminal.say("1")
    terminal.until("Why")
    terminal.say("It is this one.")
    terminal.until("Row 2:")
    terminal.say("o")
    terminal.until("Action:")
    terminal.say("duplicate")
    terminal.until("Target:")
    terminal.say("9")
    terminal.until("not a target:")
    terminal.say("1")
    terminal.until("Why")
    terminal.say("The same.")
    terminal.until("Row 3:")
    terminal.say("q")
    assert terminal.end() == 0
    found = shown(team)["rows"]
    assert found[0]["decision"]["target"] == "docs/bugs/offline.md:1"
    assert found[1]["decision"]["target"] == found[0]["fingerprint"]


def test_terminal__interrupted_keeps_what_was_decided(team: Repo) -> None:
    terminal = Terminal(team, "triage")
    terminal.until("Row 1:")
    terminal.say("a")
    terminal.until("Row 2:")
    terminal.say("o")
    terminal.until("Action:")
    terminal.process.send_signal(signal.SIGINT)
    assert terminal.end() == 130
    assert "What was decided so far is kept" in words(terminal.seen)
    assert [bool(row["decision"]) for row in shown(team)["rows"]] == [True, False, False]


def test_terminal__what_was_undone_can_be_decided_otherwise(team: Repo) -> None:
    muniment("triage", "approve", "--all", cwd=team.path).ok()
    word = muniment("apply", "--preview", "--json", cwd=team.path).ok().json["token"]
    muniment("apply", "--confirm", word, cwd=team.path).ok()
    done = muniment("undo", "--yes", cwd=team.path).ok()
    assert "The decisions stay in the triage file" in done.err
    found = muniment("status", "--json", cwd=team.path).ok().json
    assert found["triage"][0] | {"batch": ""} == {
        "batch": "",
        "rows": 3,
        "waiting": 3,
        "undecided": 0,
        "unconfirmed": 0,
        "decided": 0,
        "undone": 3,
        "fault": "",
    }
    assert [step["command"] for step in found["next"]][:2] == ["muniment apply", "muniment triage"]
    terminal = Terminal(team, "triage")
    listed = words(terminal.until("Go through them again"))
    assert "Everything is decided; 3 rows not applied (3 undone):" in listed
    terminal.say("y")
    terminal.until("Row 1:")
    terminal.say("d")
    terminal.until("Why")
    terminal.say("")
    terminal.until("Row 2:")
    terminal.say("")
    assert "(left as it was decided)" in words(terminal.until("Row 3:"))
    terminal.say("q")
    assert terminal.end() == 0
    assert "2 undone, still decided" in terminal.seen
    assert "next: muniment apply (2 rows wait" in terminal.seen


def test_terminal__confirms_a_line_of_the_file(team: Repo) -> None:
    edit(team, "- decision:\n", "- decision: approve\n")
    assert not decision(team)["counts"]
    terminal = Terminal(team, "triage")
    terminal.until("[c]onfirm")
    terminal.say("c")
    terminal.until("Row 2:")
    terminal.say("q")
    assert terminal.end() == 0
    assert (decision(team)["verified"], decision(team)["counts"]) == ("terminal", True)


def test_terminal__a_flag_given_there_counts_as_given_there(team: Repo) -> None:
    assert Terminal(team, "triage", "approve", "1").end() == 0
    assert decision(team)["channel"] == "terminal"


def test_terminal__hostile_text_does_nothing_to_it(repo: Repo, tmp_path: Path) -> None:
    evil = "ring\x1b]0;owned\x07\x1b[2J\u202egnihton\r> a\n\x9b31m"
    muniment("intake", str(write(tmp_path, [finding("a", evil, excerpt=evil)])), cwd=repo.path).ok()
    terminal = Terminal(repo, "triage")
    terminal.until("Row 1:")
    terminal.say("q")
    assert terminal.end() == 0
    styles = re.sub(r"\x1b\[[0-9;]*m", "", terminal.seen)
    assert not set(styles) & set("\x1b\x07\u202e\x9b")


def test_terminal__edit_dismiss_and_what_can_not_be_done(team: Repo) -> None:
    terminal = Terminal(team, "triage")
    terminal.until("Row 1:")
    terminal.say("e")
    terminal.until("Target")
    terminal.say("docs/no.md")
    terminal.until("not a target:")
    terminal.say("")
    terminal.until("Layer (")
    terminal.say("nowhere")
    terminal.until("no layer of this repository")
    terminal.say("")
    terminal.until("other words")
    terminal.say("")
    terminal.until("not done:")
    terminal.until("Row 1:")
    terminal.say("e")
    terminal.until("Target")
    terminal.say("")
    terminal.until("Layer (")
    terminal.say("prompt")
    terminal.until("other words")
    terminal.say("Edits go missing.")
    terminal.until("Row 2:")
    terminal.say("d")
    terminal.until("Why")
    terminal.say("")
    terminal.until("Row 3:")
    terminal.say("q")
    assert terminal.end() == 0
    found = shown(team)["rows"]
    assert found[0]["edits"] == {"layer": "prompt", "text": "Edits go missing."}
    assert [one["dismissed"] for one in found] == [False, True, False]


def test_show__for_people(team: Repo) -> None:
    triage(team, "verify", "1", "real", "--reason", "Seen.").ok()
    triage(team, "override", "1", "--action", "reject", "--reason", "No.").ok()
    triage(team, "dismiss", "2").ok()
    edit(team, "- decision:\n", "- decision: approve\n", 1)
    result = triage(team, "show").ok()
    for part in (
        "Row 1",
        "real by Robin Owner: Seen.",
        "decision: reject (approval: flag (unsigned))",
        "dismissed",
    ):
        assert part in result.out, part
    assert "does not count yet" in result.out


def test_terminal__none_is_there(team: Repo) -> None:
    result = triage(team)
    assert result.code == 2
    assert "terminal" in result.err


@pytest.mark.parametrize("verified", ["terminal", "branch", "signature", "none", "claimed"])
def test_trust__reads_like_no_verdict_about_a_finding(verified: str) -> None:
    said = trust(verified)
    assert said.startswith("approval: ")
    assert "none" not in said
    assert "real" not in said


def test_file__says_what_approve_does(team: Repo) -> None:
    text = file(team).read_text()
    assert "records the finding as\n  real" in text
    assert "Approving it calls it real and decides: attach." in row(team)["proposed"]["reason"]
    triage(team, "verify", "1", "real", "--reason", "seen").ok()
    assert "calls it real" not in row(team)["proposed"]["reason"]
