"""Random states merged by git's lines and healed by `repair`, and by the driver: the same values (G8)."""

from __future__ import annotations

import copy
import random
from typing import Any

import pytest

from muniment.state.merge import canonical
from muniment.state.merge_text import merge_text
from muniment.yaml_io import dump, parse
from tests.support.cli import muniment
from tests.support.repo import Repo
from tests.support.state_text import STATE

WORDS = ("ingested", "analyzed", "in_plan", "fix_pending")


def record(rng: random.Random) -> dict[str, Any]:
    return {"status": rng.choice(WORDS), "title": rng.choice("ab"), "more": {"k": rng.choice("xy"), "l": 1}}


def state(rng: random.Random, size: int) -> dict[str, Any]:
    items = {f"s:{number}": record(rng) for number in range(size)}
    sources = {"s": {"cursor": "9"}}
    return {"schema_version": 1, "sources": sources, "items": items, "last_run": {"outcome": "failed"}}


def edited(rng: random.Random, base: dict[str, Any], side: str) -> str:
    value = copy.deepcopy(base)
    items = value["items"]
    for _ in range(rng.randint(1, 6)):
        key = rng.choice([*items, "s:new"])
        match rng.choice(["add", "status", "title", "nested", "close", "delete", "cursor", "run"]):
            case "add":
                items[f"s:{side}{rng.randrange(99)}"] = {"status": "ingested", "title": side}
            case "delete":
                items.pop(key, None)
            case "cursor":
                value["sources"]["s"]["cursor"] = str(rng.randint(10, 99))
            case "run":
                value["last_run"] = {"outcome": "completed", "writer": side}
            case "close" if key in items:
                items[key] |= {
                    "status": "closed",
                    "fix_ref": "#1",
                    "verified_merge_sha": side * 7,
                    "verified_at": "t",
                }
            case "nested" if "more" in items.get(key, {}):
                items[key]["more"]["k"] = side + str(rng.randrange(9))
            case word if key in items:
                items[key][word] = side + str(rng.randrange(9))
            case _:
                pass
    return dump(value)


@pytest.mark.parametrize("seed", range(24))
def test_random_states(repo: Repo, seed: int) -> None:
    rng = random.Random(seed)
    first = state(rng, rng.choice([0, 2, 8, 30]))
    versions = (dump(first), edited(rng, first, "a"), edited(rng, first, "b"))
    right = merge_text(*versions)
    muniment("init", "--merge-driver", cwd=repo.path).ok()
    for name, text in zip(("base", "one", "two"), versions, strict=True):
        repo.git("checkout", "-q", "-B", name, "base" if name != "base" else "HEAD")
        repo.write(STATE, text)
        repo.commit(name)
    repo.git("checkout", "-q", "-B", "driven", "one")
    repo.git("merge", "-q", "--no-edit", "two")
    assert repo.read(STATE).decode() == right
    repo.write(".git/info/attributes", f"{STATE} merge=text\n")
    repo.git("checkout", "-q", "-B", "healed", "one")
    repo.git("merge", "-q", "--no-edit", "two", check=False)
    for _ in range(2):
        muniment("repair", cwd=repo.path).ok()
        assert canonical(parse(repo.read(STATE).decode()).value) == canonical(parse(right).value)
