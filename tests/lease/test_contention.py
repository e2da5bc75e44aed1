"""Real processes in real clones contend for one lease, while the server loses answers and refuses pushes.

The full-size harness with kills, stops, skew and outages is run for `docs/benchmarks.md`; this is its core.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.support.contending import BRANCH, interleaved, overlaps, read, start, tokens_of
from tests.support.git import hook, snapshot
from tests.support.repo import Repo

TTL, LONG = 4.0, 60.0
LOST_ANSWERS = """
[ "$1" = committed ] || exit 0
grep -q refs/heads/muniment/ || exit 0
echo x >> "$GIT_DIR/moves"
[ $(( $(wc -l < "$GIT_DIR/moves") % 4 )) = 3 ] && kill -9 $PPID
exit 0
"""
"""After each third move of the branch the server dies before it says so."""
REFUSALS = """
echo x >> "$GIT_DIR/pushes"
[ $(( $(wc -l < "$GIT_DIR/pushes") % 7 )) = 5 ] && { echo "not on a Friday" >&2; exit 1; }
exit 0
"""
IDLE = {"ttl": TTL, "writes": 2, "dies": 0, "wait": 30.0}


@pytest.fixture
def bare(repo: Repo, tmp_path: Path) -> Repo:
    made = repo.bare_remote(tmp_path / "bare.git")
    made.git("config", "core.logAllRefUpdates", "true")
    return made


def contend(bare: Repo, folder: Path, *plans: Mapping[str, object]) -> tuple[Path, list[Repo]]:
    """Run one worker a plan, each in a clone with the user's own work in it, to their ends."""
    witness, clones, workers = folder / "witness.jsonl", [], []
    for at, plan in enumerate(plans):
        clone = bare.clone(folder / f"clone{at}")
        clone.write("README.md", "an edit that is nobody's business\n")
        clones.append(clone)
        workers.append(start(clone.path, f"w{at}", witness, **{**IDLE, **plan}))
    for worker in workers:
        worker.wait(180)
    return witness, clones


def judge(bare: Repo, witness: Path, ttl: float = TTL) -> None:
    """No two at once, no acknowledged write lost, none that was answered as lost, one line of history."""
    seen = read(witness)
    assert not list(overlaps(seen.sessions, ttl)), seen.words
    landed = tokens_of(bare.git("log", "--reverse", "-p", "-U0", "--format=%H", BRANCH))
    there = set(tokens_of(bare.git("grep", "-h", "tok-", BRANCH, "--", "items")))
    assert seen.acked <= there, seen.acked - there
    assert not seen.refused & (there | set(landed))
    assert not interleaved(list(dict.fromkeys(landed)))
    assert not bare.git("rev-list", "--merges", BRANCH)
    moves = (bare.path / "logs" / "refs" / "heads" / BRANCH).read_text().splitlines()
    assert {line.split()[1] for line in moves} <= set(bare.git("rev-list", BRANCH).split())
    bare.git("fsck", "--strict")


def test_answers_get_lost_and_pushes_refused(bare: Repo, tmp_path: Path) -> None:
    hook(bare, "reference-transaction", LOST_ANSWERS)
    hook(bare, "pre-receive", REFUSALS)
    witness, clones = contend(bare, tmp_path, *[{"sessions": 2, "ttl": LONG}] * 3)
    seen = read(witness)
    judge(bare, witness, LONG)
    assert len(seen.sessions) == 6
    assert all(clone.git("status", "--porcelain") == "M README.md" for clone in clones)
    assert bare.git("show", f"{BRANCH}:state.yml").count("lease_epoch: 6\n") == 1, "nobody was robbed"


def test_one_dies_in_the_middle(bare: Repo, tmp_path: Path) -> None:
    witness, _ = contend(bare, tmp_path, {"sessions": 1, "dies": 1}, {"sessions": 1}, {"sessions": 1})
    seen = read(witness)
    judge(bare, witness)
    assert sorted(one.writer for one in seen.sessions) == ["w0", "w1", "w2"]
    dead = next(one for one in seen.sessions if one.writer == "w0")
    later = [one.begun for one in seen.sessions if one.begun > dead.begun]
    assert all(begun >= dead.stamps[-1][0] + TTL for begun in later)
    assert not later or "open STALE-RECLAIMED" in seen.words


def test_planted_locks_stop_nobody_and_stay(bare: Repo, tmp_path: Path) -> None:
    clone = bare.clone(tmp_path / "clone")
    names = (
        "index.lock",
        f"refs/remotes/origin/{BRANCH}.lock",
        "packed-refs.lock",
        "shallow.lock",
        "HEAD.lock",
    )
    for name in names:
        path = clone.path / ".git" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    before = snapshot(clone)
    worker = start(clone.path, "w", tmp_path / "witness.jsonl", **(IDLE | {"sessions": 2}))
    assert worker.wait(60) == 0
    judge(bare, tmp_path / "witness.jsonl")
    assert snapshot(clone) == before
