"""Merges without the drivers, and what `repair` makes of whatever they leave (G8), with real git."""

from __future__ import annotations

from typing import Any

import pytest

from muniment.state.merge_text import merge_text
from muniment.yaml_io import parse
from tests.support.cli import muniment
from tests.support.ledger import PATH as LEDGER
from tests.support.merging import FILES, World, at, world
from tests.support.repo import Repo
from tests.support.state_text import PLAN, STATE, item, state_text


def repair(repo: Repo, *paths: str) -> Any:
    """Repair once, which stages and commits nothing, and again, which changes nothing."""
    before = repo.head(), repo.git("ls-files", "-s")
    done = muniment("repair", *paths, "--json", cwd=repo.path)
    assert done.code == (1 if done.json["unresolved"] else 0), done.err
    stand = {name: repo.read(name) for name in FILES if (repo.path / name).exists()}
    again = muniment("repair", *paths, "--json", cwd=repo.path).json
    assert again["repaired"] == []
    assert {name: repo.read(name) for name in FILES if (repo.path / name).exists()} == stand
    assert (repo.head(), repo.git("ls-files", "-s")) == before
    return done.json


def plain_merge(made: World, one: str, *others: str) -> bool:
    """Merge without a driver; whether git called it clean."""
    made.repo.git("checkout", "-q", one)
    made.repo.git("merge", "-q", "--no-edit", *others, check=False)
    return not made.repo.git("ls-files", "-u")


@pytest.mark.parametrize("style", ["merge", "diff3", "zdiff3"])
def test_under_way__the_sides_come_from_the_index(repo: Repo, style: str) -> None:
    made = world(repo, ("one", "two"), driver=False)
    repo.git("config", "merge.conflictStyle", style)
    assert not plain_merge(made, "one", "two")
    assert b"<<<<<<<" in repo.read(STATE)
    done = repair(repo)
    assert done["unresolved"] == []
    assert at(repo) == made.merged("one", "two")
    repo.git("add", ".")
    repo.git("commit", "-q", "--no-edit")
    assert repair(repo) == {"repaired": [], "unresolved": [], "written": []}
    assert at(repo, "HEAD") == made.merged("one", "two")


@pytest.mark.parametrize("operation", ["rebase", "cherry-pick", "stash"])
def test_under_way__other_operations(repo: Repo, operation: str) -> None:
    made = world(repo, ("one", "two"), driver=False)
    if operation == "stash":
        made.branches["two"].put(repo)
        repo.git("stash", "-q")
        repo.git("checkout", "-q", "one")
        repo.git("stash", "pop", "-q", check=False)
    elif operation == "rebase":
        repo.git("checkout", "-q", "two")
        repo.git("rebase", "-q", "one", check=False)
    else:
        repo.git("checkout", "-q", "one")
        repo.git("cherry-pick", "two", check=False)
    assert repo.git("ls-files", "-u")
    assert repair(repo)["unresolved"] == []
    assert at(repo) == made.merged("one", "two")


def test_markers__that_were_committed(repo: Repo) -> None:
    made = world(repo, ("one", "two"), driver=False)
    plain_merge(made, "one", "two")
    repo.git("add", ".")
    repo.git("commit", "-q", "--no-edit")
    repo.write("later.txt", "x")
    repo.commit("Later")
    assert repair(repo)["unresolved"] == []
    ids, state, keys = at(repo)
    assert (ids, keys) == made.merged("one", "two")[::2]
    assert parse(state).value["items"].keys() == parse(made.merged("one", "two")[1]).value["items"].keys()


def test_hand_edits__around_the_markers_stay(repo: Repo) -> None:
    made = world(repo, ("one", "two"), driver=False)
    plain_merge(made, "one", "two")
    repo.write(
        STATE, repo.read(STATE).replace(b"schema_version: 1\n", b"schema_version: 1\nby_hand: yes it is\n")
    )
    assert repair(repo, STATE)["unresolved"] == []
    assert parse(repo.read(STATE).decode()).value["by_hand"] == "yes it is"


def test_a_resolution_by_hand__is_left_alone_unless_it_lost_something(repo: Repo) -> None:
    made = world(repo, ("one", "two"), driver=False)
    plain_merge(made, "one", "two")
    versions = (made.base.state, made.branches["one"].state, made.branches["two"].state)
    chosen = merge_text(*versions).replace("title: Title by two\n", "title: Title by one\n")
    repo.write(STATE, chosen)
    assert repair(repo, STATE) == {"repaired": [], "unresolved": [], "written": []}
    assert repo.read(STATE).decode() == chosen
    repo.write(STATE, made.branches["one"].state)
    assert repair(repo, STATE)["written"] == [STATE]
    assert parse(repo.read(STATE).decode()).value == parse(merge_text(*versions)).value


def wrong_merge(repo: Repo) -> tuple[str, str, str]:
    """A merge commit that is clean and wrong: a field is gone, an edit is on another item."""
    world(repo, (), driver=False)
    base = state_text(*(item(f"inbox:{number}", n=0) for number in range(1, 7)))
    one = base.replace("title: Title of 2", "title: Better")
    two = base.replace("title: Title of 5", "title: Worse").replace("Body of 6.", "More of 6.")
    repo.write(STATE, base)
    repo.commit("six")
    repo.git("checkout", "-q", "-b", "one")
    repo.write(STATE, one)
    repo.commit("one")
    repo.git("checkout", "-q", "-b", "two", "main")
    repo.write(STATE, two)
    repo.commit("two")
    repo.git("merge", "-q", "--no-commit", "--no-ff", "one")
    wrong = base.replace("title: Title of 5", "title: Worse").replace("title: Title of 3", "title: Better")
    repo.write(STATE, wrong.replace("Title of 1", "Also decided in the merge"))
    repo.git("add", ".")
    repo.git("commit", "-q", "-m", "Merge wrongly")
    return base, one, two


def test_clean_and_wrong__is_put_right_from_the_parents(repo: Repo) -> None:
    wrong_merge(repo)
    later = repo.read(STATE).decode().replace("title: Title of 4", "title: Written later")
    repo.write(STATE, f"# kept\n{later}")
    repo.commit("Later")
    done = repair(repo)
    assert [one["path"] for one in done["repaired"]] == [STATE]
    items = parse(repo.read(STATE).decode()).value["items"]
    assert items["inbox:2"]["title"] == "Better"
    assert items["inbox:3"]["title"] == "Title of 3"
    assert items["inbox:1"]["title"] == "Also decided in the merge"
    assert items["inbox:6"]["body"] == "More of 6."
    assert items["inbox:4"]["title"] == "Written later"
    assert repo.read(STATE).startswith(b"# kept\n")


def test_clean_and_wrong__what_was_written_since_stays(repo: Repo) -> None:
    wrong_merge(repo)
    repo.write(STATE, repo.read(STATE).replace(b"title: Title of 2", b"title: Chosen since"))
    repair(repo)
    items = parse(repo.read(STATE).decode()).value["items"]
    assert items["inbox:2"]["title"] == "Chosen since"
    assert items["inbox:6"]["body"] == "More of 6."


def test_clean_and_wrong__check_says_so(repo: Repo) -> None:
    wrong_merge(repo)
    problems = muniment("check", "--json", cwd=repo.path).json["problems"]
    found = [one for one in problems if one["rule"] == "lost-in-merge"]
    assert [(one["path"], one["fix"]) for one in found] == [(STATE, f"muniment repair {STATE}")]
    repair(repo)
    problems = muniment("check", "--json", cwd=repo.path).json["problems"]
    assert not [one for one in problems if one["rule"] == "lost-in-merge"]


@pytest.mark.parametrize("option", ["-Xours", "-Xtheirs", "-sours"])
def test_a_side_that_was_dropped__comes_back(repo: Repo, option: str) -> None:
    made = world(repo, ("one", "two"), driver=False)
    repo.git("checkout", "-q", "one")
    repo.git("merge", "-q", "--no-edit", option, "two")
    repair(repo, STATE)
    items = parse(repo.read(STATE).decode()).value["items"]
    assert {"inbox:xone", "inbox:xtwo"} <= items.keys()
    assert items["inbox:1"]["only_one"] == 0
    assert items["inbox:1"]["only_two"] == 1
    assert items["inbox:3"]["status"] == items["inbox:4"]["status"] == "closed"
    assert items["inbox:2"]["title"] in {"Title by one", "Title by two"}
    assert made.branches


def test_clean__right_merges_need_no_repair(repo: Repo) -> None:
    world(repo, (), driver=False)
    base = state_text(*(item(f"inbox:{number}", n=0) for number in range(1, 9)))
    repo.write(STATE, base)
    repo.commit("eight")
    for name, number in (("one", 2), ("two", 7)):
        repo.git("checkout", "-q", "-b", name, "main")
        repo.write(STATE, base.replace(f"Title of {number}", f"By {name}"))
        repo.commit(name)
    repo.git("merge", "-q", "--no-edit", "one")
    assert repair(repo) == {"repaired": [], "unresolved": [], "written": []}


def test_deleted_on_one_side__is_left_to_a_person(repo: Repo) -> None:
    made = world(repo, ("one", "two"), driver=False)
    repo.git("checkout", "-q", "two")
    repo.git("rm", "-q", STATE, PLAN)
    repo.git("commit", "-q", "-m", "Away")
    repo.git("merge", "-q", "--no-edit", "one", check=False)
    done = repair(repo, STATE)
    assert [(one["path"], one["rule"]) for one in done["unresolved"]] == [(STATE, "by-hand")]
    assert repo.read(STATE).decode() == made.branches["one"].state


def test_a_side_that_cannot_be_read__is_named(repo: Repo) -> None:
    world(repo, ("one", "two"), driver=False)
    repo.git("checkout", "-q", "two")
    repo.write(STATE, repo.read(STATE).replace(b"schema_version: 1", b"schema_version: 1\nschema_version: 1"))
    repo.commit("Broken")
    repo.git("merge", "-q", "--no-edit", "one", check=False)
    before = repo.read(STATE)
    done = repair(repo, STATE)
    assert [(one["path"], one["line"], one["rule"]) for one in done["unresolved"]] == [
        (STATE, 2, "unmergeable")
    ]
    assert repo.read(STATE) == before


def test_somebody_elses_file__is_left_alone(repo: Repo) -> None:
    text = "<<<<<<< HEAD\na: 1\n=======\na: 2\n>>>>>>> side\n"
    repo.write(STATE, text)
    done = repair(repo)
    assert [(one["path"], one["rule"]) for one in done["unresolved"]] == [(STATE, "by-hand")]
    assert repo.read(STATE).decode() == text
    assert LEDGER not in done["written"]


@pytest.mark.parametrize("text", ["", "- x\n", "schema_version: 1\nitems: 5\n"])
def test_a_state_that_nobody_can_read__is_left_by_name(repo: Repo, text: str) -> None:
    repo.write(STATE, text)
    found = repair(repo)
    assert [(one["path"], one["rule"]) for one in found["unresolved"]] == [(STATE, "state-shape")]
