"""A ttl is kept as it was asked for, or refused: never written so that nobody can read it (G9)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muniment.errors import UsageProblem
from muniment.state.lease import LONGEST_MINUTES, SHORTEST_MINUTES, LeaseRecord, face, ttl_seconds
from tests.support.cli import muniment
from tests.support.repo import Repo


@given(st.floats(SHORTEST_MINUTES, LONGEST_MINUTES))
def test_each_ttl_that_is_taken_can_be_read_again(minutes: float) -> None:
    seconds = ttl_seconds(minutes, "it")
    kept = LeaseRecord("w", "s", 1, 1, "", "", seconds).fields()
    read = face({"lease": kept}).record
    assert read is not None
    assert read.ttl == pytest.approx(seconds, rel=1e-6, abs=1e-6)


@given(st.floats().filter(lambda minutes: not SHORTEST_MINUTES <= minutes <= LONGEST_MINUTES))
def test_any_other_is_refused(minutes: float) -> None:
    with pytest.raises(UsageProblem, match="the option is a number of minutes from"):
        ttl_seconds(minutes, "the option")


@pytest.mark.parametrize("minutes", ["0", "-1", "1e-10", "1e300", "nan", "inf"])
def test_the_option(repo: Repo, minutes: str) -> None:
    done = muniment("lease", "acquire", "--ttl-minutes", minutes, cwd=repo.path)
    assert (done.code, done.out) == (2, "")
    assert "--ttl-minutes" in done.err
    assert muniment("lease", "status", cwd=repo.path).out.startswith("FREE")


@pytest.mark.parametrize("minutes", ["0", "-5", "1e-9"])
def test_the_setting(repo: Repo, minutes: str) -> None:
    repo.write(".muniment/config.yaml", f"sweep_lease_ttl_minutes: {minutes}\n")
    done = muniment("lease", "acquire", cwd=repo.path)
    assert (done.code, done.out) == (2, "")
    assert "sweep_lease_ttl_minutes" in done.err
