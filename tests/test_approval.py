"""What a token binds, and when it still holds: pure, so every case is a table row."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muniment import approval
from muniment.approval import Finding, Proposal

AT = datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC)
PROPOSAL = Proposal(
    "apply", "b1", {"branch": "refs/heads/main", "file docs/a.md": "1", "result docs/a.md": "2"}
)
SECRET = "ab" * 16
TEXTS = st.dictionaries(st.text(max_size=8), st.text(max_size=8), max_size=4)


def minted(proposal: Proposal = PROPOSAL) -> approval.Token:
    return approval.mint(proposal, secret=SECRET, at=AT, actor="robin", options={"batch": "b1"})


def test_usable__a_fresh_token_is() -> None:
    assert approval.usable(minted(), "apply", AT).good


@pytest.mark.parametrize(
    ("token", "kind", "now", "finding"),
    [
        pytest.param(None, "apply", AT, Finding.UNKNOWN, id="unknown"),
        pytest.param(minted(), "undo", AT, Finding.OTHER_KIND, id="of-another-command"),
        pytest.param(approval.used(minted(), "c" * 40), "apply", AT, Finding.USED, id="used"),
        pytest.param(approval.used(minted(), None), "apply", AT, Finding.USED, id="used-for-nothing"),
        pytest.param(minted(), "apply", AT + timedelta(hours=24), Finding.EXPIRED, id="after-24-hours"),
        pytest.param(minted(), "apply", AT - timedelta(minutes=6), Finding.EXPIRED, id="clock-set-back"),
    ],
)
def test_usable__says_why_not(
    token: approval.Token | None, kind: str, now: datetime, finding: Finding
) -> None:
    answer = approval.usable(token, kind, now)
    assert not answer.good
    assert answer.finding is finding
    assert answer.message


def test_usable__until_the_last_second() -> None:
    assert approval.usable(minted(), "apply", AT + timedelta(hours=24) - timedelta(seconds=1)).good


def test_matches__the_same_proposal() -> None:
    assert approval.matches(minted(), PROPOSAL).good


@pytest.mark.parametrize(
    ("parts", "named"),
    [
        pytest.param({**PROPOSAL.parts, "branch": "refs/heads/x"}, "branch", id="changed"),
        pytest.param({**PROPOSAL.parts, "file docs/b.md": "absent"}, "file docs/b.md", id="added"),
        pytest.param({"branch": "1"}, "file docs/a.md", id="gone"),
        pytest.param(
            {**PROPOSAL.parts, "file docs/a.md": "9", "result docs/a.md": "9"},
            "file docs/a.md",
            id="cause-first",
        ),
    ],
)
def test_matches__names_what_differs(parts: dict[str, str], named: str) -> None:
    answer = approval.matches(minted(), Proposal("apply", "b1", parts))
    assert answer.finding is Finding.DIFFERS
    assert named in answer.message
    if named == "file docs/a.md" and "file docs/a.md" in parts:
        assert "result" not in answer.message


def test_matches__only_results_differ_still_refuses() -> None:
    answer = approval.matches(minted(), Proposal("apply", "b1", {**PROPOSAL.parts, "result docs/a.md": "3"}))
    assert answer.differs == ("result docs/a.md",)
    assert "result docs/a.md" in answer.message


@pytest.mark.parametrize(
    "other", [Proposal("undo", "b1", PROPOSAL.parts), Proposal("apply", "b2", PROPOSAL.parts)]
)
def test_matches__another_kind_or_subject_refuses(other: Proposal) -> None:
    assert not approval.matches(minted(), other).good


@given(TEXTS, TEXTS, st.text(max_size=8), st.booleans())
def test_encode__round_trip(
    parts: dict[str, str], options: dict[str, str], actor: str, terminal: bool
) -> None:
    token = approval.mint(
        Proposal("apply", "b", parts), secret=SECRET, at=AT, actor=actor, options=options, terminal=terminal
    )
    assert approval.decode(approval.encode(token)) == token


@given(TEXTS, TEXTS)
def test_digest__equal_exactly_for_equal_parts(one: dict[str, str], other: dict[str, str]) -> None:
    first, second = Proposal("apply", "b", one), Proposal("apply", "b", other)
    assert (first.digest == second.digest) == (one == other)
    assert approval.matches(approval.mint(first, secret=SECRET, at=AT, actor=""), second).good == (
        one == other
    )


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"[]",
        b"{}",
        b"\xff",
        approval.encode(minted())[:-9],
        approval.encode(minted()).replace(b"muniment.token/1", b"muniment.token/2"),
        approval.encode(minted()).replace(b'"terminal": false', b'"terminal": 1'),
        approval.encode(minted()).replace(b'"refs/heads/main"', b"7"),
    ],
)
def test_decode__anything_damaged_allows_nothing(data: bytes) -> None:
    assert approval.decode(data) is None


def test_operation__is_the_tokens_own() -> None:
    assert minted().operation != replace(minted(), token="cd" * 16).operation
