"""Ledgers made with `ledger add`, merged by lines and healed, and by the driver: one set (G6, G8)."""

from __future__ import annotations

import json
import random

import pytest

from tests.support.cli import muniment
from tests.support.ledger import PATH
from tests.support.repo import Repo


def add(repo: Repo, rng: random.Random) -> str:
    kind = rng.choice(["note", "note", "finding", "alias"])
    subject = f"bug/code/x-{rng.randrange(9)}"
    data = {"text": str(rng.random()), "subject": subject}
    if kind == "alias":
        data = {"alias": f"bug/code/alias-{rng.randrange(10**9)}", "canonical": subject}
    if kind == "finding":
        data = {"subject": subject, "report": f"r-{rng.randrange(10**9)}", "title": "It breaks"}
    done = muniment("ledger", "add", "--kind", kind, "--data", json.dumps(data), "--json", cwd=repo.path).ok()
    return str(done.json["id"])


def ids(repo: Repo) -> list[str]:
    return [one["id"] for one in json.loads(repo.read(PATH))["entries"]]


@pytest.mark.parametrize("seed", range(4))
def test_ledger_add__merged_by_lines_and_repaired_or_by_the_driver(repo: Repo, seed: int) -> None:
    rng = random.Random(seed)
    muniment("init", "--merge-driver", cwd=repo.path).ok()
    union = {add(repo, rng) for _ in range(rng.choice([1, 2, 9]))}
    repo.commit("base")
    for name in ("one", "two", "three"):
        repo.git("checkout", "-q", "-b", name, "main")
        union |= {add(repo, rng) for _ in range(rng.randint(1, 3))}
        repo.commit(name)
    results = set()
    for order in (("one", "two", "three"), ("three", "two", "one")):
        repo.git("checkout", "-q", "-B", "driven", order[0])
        for name in order[1:]:
            repo.git("merge", "-q", "--no-edit", name)
        assert muniment("ledger", "verify", cwd=repo.path).code == 0
        results.add(repo.read(PATH))
    repo.write(".git/info/attributes", f"{PATH} merge=text\n")
    repo.git("checkout", "-q", "-B", "healed", "two")
    for name in ("three", "one"):
        repo.git("merge", "-q", "--no-edit", name, check=False)
        muniment("repair", cwd=repo.path).ok()
        repo.git("add", PATH)
        repo.git("commit", "-q", "--no-edit", check=False)
    results.add(repo.read(PATH))
    assert len(results) == 1
    assert sorted(union) == ids(repo)
