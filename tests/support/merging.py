"""Two or three branches that changed ledger, state and plan, in a clone with the merge drivers."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from muniment.plan.document import read_plan
from muniment.state.merge import canonical, merge
from muniment.yaml_io import dump, parse
from tests.support.cli import muniment
from tests.support.ledger import PATH as LEDGER
from tests.support.ledger import Document, chain, entry, file
from tests.support.repo import Repo
from tests.support.state_text import PLAN, STATE, item, settled, state_text

FILES = (LEDGER, STATE, PLAN)
BRANCHES = ("one", "two", "three")


@dataclass(frozen=True, slots=True)
class Version:
    """One version of all three files."""

    entries: tuple[Document, ...]
    state: str
    plan: str

    @property
    def files(self) -> Mapping[str, bytes]:
        return {LEDGER: file(*self.entries), STATE: self.state.encode(), PLAN: self.plan.encode()}

    def put(self, repo: Repo) -> None:
        for name, data in self.files.items():
            repo.write(name, data)


@dataclass(frozen=True, slots=True)
class World:
    """A repository with a base on `main`, and what each branch makes of it."""

    repo: Repo
    base: Version
    branches: Mapping[str, Version] = field(default_factory=dict)

    def merged(self, *names: str) -> tuple[frozenset[str], str, frozenset[str]]:
        """What has to come of merging these branches: entry ids, state, keys on the plan."""
        ids = {one["id"] for name in names for one in self.branches[name].entries}
        old = parse(self.base.state).value
        state = parse(self.branches[names[0]].state).value
        for name in names[1:]:
            state = merge(old, state, parse(self.branches[name].state).value)
        keys = {key for name in names for key in plan_keys(self.branches[name].plan)}
        shown = [plan_keys(self.branches[name].plan) for name in names]
        gone = {key for key in plan_keys(self.base.plan) if not all(key in one for one in shown)}
        return frozenset(ids), canonical(state), frozenset(keys - gone)


def plan_keys(text: str) -> set[str]:
    plan, problems = read_plan(text, PLAN)
    assert plan is not None, problems
    return {line.key for line in plan.lines}


def content(files: Mapping[str, bytes]) -> tuple[frozenset[str], str, frozenset[str]]:
    """What three files hold, whatever their spelling; readable, without markers, nothing twice."""
    listed = [one["id"] for one in json.loads(files[LEDGER])["entries"]]
    assert len(listed) == len(set(listed))
    return (
        frozenset(listed),
        canonical(parse(files[STATE].decode()).value),
        frozenset(plan_keys(files[PLAN].decode())),
    )


def at(repo: Repo, rev: str = "") -> tuple[frozenset[str], str, frozenset[str]]:
    """The same of a revision, or of the working tree."""
    if not rev:
        return content({name: repo.read(name) for name in FILES})
    return content({name: repo.git("show", f"{rev}:{name}").encode() + b"\n" for name in FILES})


def world(repo: Repo, branches: Iterable[str] = BRANCHES, *, driver: bool = True) -> World:
    """Branches that each add an entry and an item, edit and close others, and move the cursor."""
    if driver:
        muniment("init", "--merge-driver", cwd=repo.path).ok()
    entries = tuple(chain(("note", {"text": "a"}), ("note", {"text": "b"})))
    items = [item(f"inbox:{number}", category="bug", n=number) for number in range(1, 6)]
    plan, state = settled(None, state_text(*items))
    base = Version(entries, state, plan)
    base.put(repo)
    repo.commit("base")
    made = World(repo, base, {name: _changed(base, name, place) for place, name in enumerate(branches)})
    for name, version in made.branches.items():
        repo.git("checkout", "-q", "-b", name, "main")
        version.put(repo)
        repo.commit(name)
    repo.git("checkout", "-q", "main")
    return made


def _changed(base: Version, name: str, place: int) -> Version:
    added = entry("note", {"text": name}, after=[base.entries[-1]], at=f"2026-01-31T06:0{place}:00Z")
    value: dict[str, Any] = parse(base.state).value
    items = value["items"]
    items["inbox:1"][f"only_{name}"] = place
    items["inbox:2"]["title"] = f"Title by {name}"
    items[f"inbox:{place + 3}"]["status"] = "closed"
    items[f"inbox:{place + 3}"] |= {
        "fix_ref": f"#{place}", "verified_merge_sha": f"abcdef{place}", "verified_at": "2026-01-01T00:00:00Z",
    }  # fmt: skip
    items[f"inbox:x{name}"] = item(f"inbox:x{name}")
    value["sources"]["inbox"]["cursor"] = str(10 + place)
    plan, state = settled(base.plan, dump(value), today=f"2026-12-0{place + 1}")
    return Version((*base.entries, added), state, plan)
