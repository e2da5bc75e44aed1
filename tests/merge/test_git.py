"""Whatever git does to bring branches together, the files hold the same set (G8), with real git."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.cli import muniment
from tests.support.ledger import PATH as LEDGER
from tests.support.ledger import chain, entry, file
from tests.support.merging import FILES, World, at, world
from tests.support.repo import Repo


def merge(repo: Repo, *names: str) -> None:
    repo.git("merge", "-q", "--no-edit", *names)
    assert repo.git("ls-files", "-u") == ""


def by_merge(made: World) -> str:
    made.repo.git("checkout", "-q", "one")
    merge(made.repo, "two")
    return "HEAD"


def by_merge_the_other_way(made: World) -> str:
    made.repo.git("checkout", "-q", "two")
    merge(made.repo, "one")
    return "HEAD"


def by_rebase(made: World) -> str:
    made.repo.git("checkout", "-q", "two")
    made.repo.git("rebase", "-q", "one")
    return "HEAD"


def by_rebase_apply(made: World) -> str:
    """The patch-based rebase falls back to a three-way merge."""
    made.repo.git("checkout", "-q", "two")
    made.repo.git("rebase", "-q", "--apply", "one")
    return "HEAD"


def by_cherry_pick(made: World) -> str:
    made.repo.git("checkout", "-q", "one")
    made.repo.git("cherry-pick", "two")
    return "HEAD"


def by_stash_pop(made: World) -> str:
    repo = made.repo
    made.branches["two"].put(repo)
    repo.git("stash", "-q")
    repo.git("checkout", "-q", "one")
    repo.git("stash", "pop", "-q")
    return ""


def by_checkout_merge(made: World) -> str:
    repo = made.repo
    made.branches["two"].put(repo)
    repo.git("checkout", "-q", "-m", "one")
    return ""


def by_criss_cross(made: World) -> str:
    repo = made.repo
    repo.git("checkout", "-q", "-b", "left", "one")
    merge(repo, "two")
    repo.git("checkout", "-q", "-b", "right", "two")
    merge(repo, "one")
    repo.git("checkout", "-q", "left")
    merge(repo, "right")
    return "HEAD"


def by_worktree(made: World) -> str:
    made.repo.git("worktree", "add", "-q", "-b", "side", "../side work", "one")
    there = Repo(made.repo.path.parent / "side work")
    merge(there, "two")
    return "side"


def by_subfolder(made: World) -> str:
    made.repo.git("checkout", "-q", "one")
    merge(Repo(made.repo.path / "docs" / "reviews"), "two")
    return "HEAD"


def by_merge_tree(made: World) -> str:
    return made.repo.git("merge-tree", "--write-tree", "one", "two").split()[0]


WAYS: tuple[Callable[[World], str], ...] = (
    by_merge, by_merge_the_other_way, by_rebase, by_rebase_apply, by_cherry_pick, by_stash_pop,
    by_checkout_merge, by_criss_cross, by_worktree, by_subfolder, by_merge_tree,
)  # fmt: skip


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_two_branches__give_one_set(repo: Repo, way: Callable[[World], str]) -> None:
    made = world(repo, ("one", "two"))
    rev = way(made)
    assert at(repo, rev) == made.merged("one", "two")


def test_both_directions__give_the_same_bytes(repo: Repo) -> None:
    made = world(repo, ("one", "two"))
    by_merge(made)
    first = {name: repo.read(name) for name in FILES}
    repo.git("reset", "-q", "--hard", "HEAD^")
    by_merge_the_other_way(made)
    assert {name: repo.read(name) for name in FILES} == first


@pytest.mark.parametrize("order", [("one", "two", "three"), ("three", "one", "two"), ("two", "three", "one")])
def test_three_branches__in_any_order(repo: Repo, order: tuple[str, ...]) -> None:
    made = world(repo)
    repo.git("checkout", "-q", order[0])
    for name in order[1:]:
        merge(repo, name)
    assert at(repo) == made.merged("one", "two", "three")


def test_octopus__goes_by_lines_and_is_given_up_where_they_clash(repo: Repo) -> None:
    """git merges more than two heads without any driver, and only when every file merges cleanly."""
    made = world(repo)
    repo.git("checkout", "-q", "one")
    before = repo.head(), at(repo)
    repo.git("merge", "-q", "--no-edit", "two", "three", check=False)
    repo.git("merge", "--abort", check=False)
    repo.git("reset", "-q", "--hard")
    assert (repo.head(), at(repo)) == before
    merge(repo, "two")
    merge(repo, "three")
    assert at(repo) == made.merged("one", "two", "three")


def test_octopus__of_a_grown_ledger_gives_the_set(repo: Repo) -> None:
    muniment("init", "--merge-driver", cwd=repo.path).ok()
    grown = chain(*(("note", {"n": number}) for number in range(60)))
    order = sorted(one["id"] for one in grown)
    news = [entry("note", {"new": n}, after=[grown[-1]], at="2026-02-01T00:00:00Z") for n in range(90)]
    gaps = [(order[place], order[place + 9]) for place in (0, 20, 40)]
    apart = [next(one for one in news if low < one["id"] < high) for low, high in gaps]
    repo.write(LEDGER, file(*grown))
    repo.commit("base")
    for number, one in enumerate(apart):
        repo.git("checkout", "-q", "-b", f"b{number}", "main")
        repo.write(LEDGER, file(*grown, one))
        repo.commit(f"b{number}")
    repo.git("merge", "-q", "--no-edit", "b0", "b1")
    assert len(repo.git("rev-list", "--parents", "-1", "HEAD").split()) == 4
    assert repo.read(LEDGER) == file(*grown, *apart)


def test_rebase_of_two_commits_inside_a_hook(repo: Repo) -> None:
    """git hands hooks its own environment; a merge started there works all the same."""
    made = world(repo, ("one", "two"))
    hook = repo.path / ".git" / "hooks" / "post-checkout"
    hook.write_text("#!/bin/sh\n[ -f .merged ] || { touch .merged; git merge -q --no-edit two; }\n")
    hook.chmod(0o755)
    repo.git("checkout", "-q", "one")
    assert at(repo, "HEAD") == made.merged("one", "two")


@pytest.mark.parametrize("options", [("--object-format=sha256",), ()])
def test_other_repositories(tmp_path: Path, options: tuple[str, ...]) -> None:
    repo = Repo.init(tmp_path / "it's a % place", *options)
    if not options:
        repo.git("config", "core.autocrlf", "true")
    made = world(repo, ("one", "two"))
    by_merge(made)
    assert at(repo, "HEAD") == made.merged("one", "two")


def test_elsewhere_and_somebody_elses_file(repo: Repo) -> None:
    """Drivers go by name: ours merge wherever they lie, another tool's `state.yml` merges as before."""
    world(repo, ())
    repo.write("other dócs/state.yml", "schema_version: 1\nresources:\n  - a\n  - b\n")
    repo.write("more/state.yml", "schema_version: 1\nitems:\n  s:1:\n    status: a\n    x: 1\n")
    repo.commit("more")
    repo.git("checkout", "-q", "-b", "side")
    repo.write("other dócs/state.yml", "schema_version: 1\nresources:\n  - a\n  - c\n")
    repo.write("more/state.yml", "schema_version: 1\nitems:\n  s:1:\n    status: b\n    x: 1\n")
    repo.commit("side")
    repo.git("checkout", "-q", "main")
    repo.write("other dócs/state.yml", "schema_version: 1\nresources:\n  - a\n  - d\n")
    repo.write("more/state.yml", "schema_version: 1\nitems:\n  s:1:\n    status: a\n    x: 2\n")
    repo.commit("main")
    repo.git("merge", "-q", "--no-edit", "side", check=False)
    assert (
        repo.git("-c", "core.quotePath=off", "diff", "--name-only", "--diff-filter=U")
        == "other dócs/state.yml"
    )
    assert b"<<<<<<< ours\n  - d\n=======\n  - c\n>>>>>>> theirs\n" in repo.read("other dócs/state.yml")
    assert repo.read("more/state.yml") == b"schema_version: 1\nitems:\n  s:1:\n    status: b\n    x: 2\n"


def test_textconv__makes_a_difference_readable(repo: Repo) -> None:
    world(repo, ("one",))
    shown = repo.git("diff", "main", "one", "--", FILES[0])
    assert "+    text: one" in shown
    assert '{"actor"' not in shown


def test_check__notices_a_clone_without_the_drivers(repo: Repo, tmp_path: Path) -> None:
    world(repo, ())
    told = muniment("check", "--json", cwd=repo.path).json["notes"]
    assert not [one for one in told if one["rule"] == "merge-driver"]
    fresh = repo.clone(tmp_path / "fresh")
    result = muniment("check", "--json", cwd=fresh.path).json
    notes = [one for one in result["notes"] if one["rule"] == "merge-driver"]
    assert [one["message"].split(" (")[0] for one in notes] == [
        f"The merge driver muniment-{kind} is not set up in this clone"
        for kind in ("ledger", "state", "plan")
    ]
    fresh.git(
        "config", "merge.muniment-plan.driver", "/gone/python -m muniment merge-driver plan %O %A %B %P"
    )
    muniment("init", "--merge-driver", cwd=fresh.path).ok()
    told = muniment("check", "--json", cwd=fresh.path).json["notes"]
    assert not [one for one in told if one["rule"] == "merge-driver"]


def test_a_driver_whose_program_is_gone__is_a_conflict_and_is_noticed(repo: Repo) -> None:
    made = world(repo, ("one", "two"))
    for kind in ("ledger", "state", "plan"):
        line = f"/gone/python -m muniment merge-driver {kind} %O %A %B %P"
        repo.git("config", f"merge.muniment-{kind}.driver", line)
    repo.git("checkout", "-q", "one")
    repo.git("merge", "-q", "--no-edit", "two", check=False)
    assert repo.git("diff", "--name-only", "--diff-filter=U").split() == sorted(FILES)
    muniment("repair", cwd=repo.path).ok()
    assert at(repo) == made.merged("one", "two")
    notes = muniment("check", "--json", cwd=repo.path).json["notes"]
    assert sum("calls a program that is gone" in one["message"] for one in notes) == 3
