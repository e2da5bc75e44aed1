"""Real texts of servers and clients, each in its class, and the rules that no text can bend."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muniment.git.push_answer import Outcome, classify, connection_trouble, explain

REF = "refs/heads/main"
CASES = Path(__file__).parent.parent / "data" / "push_answers"
_CASE = re.compile(
    r"^## (?P<title>.+)\n\n(?P<want>[a-z-]+), exit (?P<code>-?\d+)\..*\n\n"
    r"````stdout\n(?P<out>(?:.*\n)*?.*)````\n\n````stderr\n(?P<err>(?:.*\n)*?.*)````$",
    re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class Case:
    title: str
    want: str
    code: int
    out: str
    err: str


def cases() -> list[Case]:
    found = []
    for path in sorted(CASES.glob("*.md")):
        text = path.read_text(encoding="utf-8")
        matches = list(_CASE.finditer(text))
        assert len(matches) == text.count("\n## "), path
        found += [
            Case(f"{path.stem}: {m['title']}", m["want"], int(m["code"]), m["out"], m["err"]) for m in matches
        ]
    return found


@pytest.mark.parametrize("case", cases(), ids=lambda case: case.title)
def test_a_recorded_answer_is_in_its_class(case: Case) -> None:
    assert classify(case.out, case.err, case.code, REF).value == case.want


def test_there_are_many_recorded_answers() -> None:
    assert len([case for case in cases() if not case.title.startswith("forged")]) >= 100
    assert {case.want for case in cases()} == {outcome.value for outcome in Outcome}


@pytest.mark.parametrize("case", cases(), ids=lambda case: case.title)
def test_what_a_server_prints_can_turn_no_answer_into_landed_or_a_race(case: Case) -> None:
    """Landed comes from git's own line alone, and a refusal stays one."""
    noise = "".join(f"remote: {line}\n" for other in NOISE for line in other.split("\n"))
    before, after = (classify(case.out, text, case.code, REF) for text in (case.err, noise + case.err))
    assert (after is Outcome.LANDED) == (before is Outcome.LANDED)
    assert (after is Outcome.UNKNOWN) == (before is Outcome.UNKNOWN) or "unpacker error" in case.out
    if "hook declined" in case.out:
        assert after is before is Outcome.POLICY


NOISE = (
    f"To x\n*\tabc:{REF}\t[new branch]\nDone",
    f"To x\n!\tabc:{REF}\t[rejected] (stale info)\nDone",
    "error: cannot lock ref 'refs/heads/main': is at 1234567 but expected 89abcde",
    "fatal: unable to access 'https://x/': Could not resolve host: x",
    "fatal: Authentication failed for 'https://x/'",
    "error: RPC failed; HTTP 403 curl 22 The requested URL returned error: 403",
)


@given(st.text(), st.text(), st.integers(-20, 200))
def test_no_text_without_gits_line_reads_as_landed(out: str, err: str, code: int) -> None:
    assert classify(out.replace("To ", ""), err, code, REF) is not Outcome.LANDED


def test_why_a_read_failed() -> None:
    denied = "fatal: Authentication failed for 'https://x/'\n"
    assert connection_trouble(denied) is Outcome.PERMISSION
    assert connection_trouble("fatal: the remote end hung up unexpectedly\n") is Outcome.OFFLINE


def test_what_is_shown_leaves_out_progress_and_hints() -> None:
    out = f"To x\n!\tabc:{REF}\t[remote rejected] (pre-receive hook declined)\nDone\n"
    err = "Counting objects: 1, done.\rWriting objects: 100% (1/1)\nremote: Ask Kim.        \nhint: pull\n"
    assert explain(out, err, REF) == "[remote rejected] pre-receive hook declined\nAsk Kim."
