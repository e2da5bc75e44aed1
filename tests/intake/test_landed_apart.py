"""Several landed commits cover a finding, and the running version contains some of them only (C8, C10)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from muniment.intake.survey import SHOWN
from tests.support.cli import muniment
from tests.support.repo import Repo
from tests.support.reports import finding, write

SAID = "The frost warning was sent in the morning, long after the frost had killed the tomatoes."
FEATURE = "Send a frost warning in the morning before frost can kill the tomatoes"
FIX = "Fix frost warning that was sent in the morning long after the frost"
REMOTE = "Frost warnings in the morning know the tomatoes"
"""Less like the finding than the other two."""


def code(repo: Repo, text: str, message: str, path: str = "src/frost.py") -> str:
    repo.write(path, text)
    return repo.commit(message)


def archive(repo: Repo, title: str) -> str:
    repo.write("docs/archive/frost.md", f"# {title}\n\n{SAID}\n")
    return repo.commit("Put away what is done")


def proposed(repo: Repo, folder: Path, version: str = "1.0.0", commit: str | None = None) -> Any:
    write(folder, [finding("frost-warning-late", SAID)], version=version, commit=commit)
    muniment("intake", str(folder), cwd=repo.path).ok()
    made = muniment("triage", "verify", "1", "real", "--reason", "seen", "--json", cwd=repo.path).ok()
    row = made.json["rows"][0]
    return row["proposed"] | {"related": {line["commit"]: line["verdict"] for line in row["related"]}}


def verdicts(found: Any, *commits: str) -> list[str]:
    return [found["related"][commit] for commit in commits]


@pytest.mark.parametrize("by", ["tag", "commit"])
def test_later_work_that_is_more_like_it__is_proposed_and_both_are_named(
    repo: Repo, tmp_path: Path, by: str
) -> None:
    inside = code(repo, "warn = 1\n", FEATURE)
    repo.git("tag", "v1.0.0")
    later = code(repo, "warn = 2\n", FIX)
    found = proposed(repo, tmp_path / "in", commit=inside if by == "commit" else None)
    assert verdicts(found, later, inside) == ["related", "related"]
    assert (found["action"], found["target"]) == ("fixed-not-deployed", later)
    assert f"lacks it ({later[:10]})" in found["reason"]
    assert f"contains other work: {inside[:10]}" in found["reason"]


@pytest.mark.parametrize("by", ["tag", "commit"])
def test_later_work_that_is_less_like_it__is_unclear_and_never_called_fixed(
    repo: Repo, tmp_path: Path, by: str
) -> None:
    inside = code(repo, "warn = 1\n", FIX)
    repo.git("tag", "v1.0.0")
    later = code(repo, "warn = 2\n", FEATURE)
    found = proposed(repo, tmp_path / "in", commit=inside if by == "commit" else None)
    assert (found["action"], found["check"], found["target"]) == ("revisit", True, later)
    assert later[:10] in found["reason"]
    assert inside[:10] in found["reason"]


def test_later_work_that_runs_too__is_a_revisit(repo: Repo, tmp_path: Path) -> None:
    code(repo, "warn = 1\n", FEATURE)
    code(repo, "warn = 2\n", FIX)
    repo.git("tag", "v1.0.0")
    assert proposed(repo, tmp_path / "in")["action"] == "revisit"


def test_unknown_version__claims_nothing(repo: Repo, tmp_path: Path) -> None:
    code(repo, "warn = 1\n", FEATURE)
    code(repo, "warn = 2\n", FIX)
    found = proposed(repo, tmp_path / "in", version="9.9.9")
    assert (found["action"], found["check"]) == ("revisit", True)


def test_later_work_that_is_hardly_related__changes_nothing_and_is_noted(repo: Repo, tmp_path: Path) -> None:
    code(repo, "warn = 1\n", FEATURE)
    inside = code(repo, "warn = 2\n", FIX)
    repo.git("tag", "v1.0.0")
    later = code(repo, "sun = 1\n", REMOTE, "src/sun.py")
    found = proposed(repo, tmp_path / "in")
    assert verdicts(found, later) == ["weak"]
    assert (found["action"], found["check"], found["target"]) == ("revisit", False, inside)
    assert f"lacks other hardly related work: {later[:10]}" in found["reason"]


def test_later_fix_that_was_reverted__does_not_count(repo: Repo, tmp_path: Path) -> None:
    inside = code(repo, "warn = 1\n", FEATURE)
    repo.git("tag", "v1.0.0")
    code(repo, "warn = 2\n", FIX)
    repo.git("revert", "--no-edit", "HEAD")
    found = proposed(repo, tmp_path / "in")
    assert (found["action"], found["target"]) == ("revisit", inside)


@pytest.mark.parametrize("words", ["", "Take the frost warning that was sent in the morning away again"])
def test_later_revert_of_what_runs__is_no_fix(repo: Repo, tmp_path: Path, words: str) -> None:
    code(repo, "warn = 0\n", "Start")
    code(repo, "warn = 1\n", FEATURE)
    repo.git("tag", "v1.0.0")
    if words:
        code(repo, "warn = 0\n", words)
    else:
        repo.git("revert", "--no-edit", "HEAD")
    assert proposed(repo, tmp_path / "in")["action"] == "new"


def test_fix_that_a_backport_brought__runs(repo: Repo, tmp_path: Path) -> None:
    code(repo, "warn = 1\n", FEATURE)
    repo.git("branch", "release")
    code(repo, "warn = 2\n", FIX)
    repo.git("switch", "-q", "release")
    repo.git("cherry-pick", "-x", "main")
    repo.git("tag", "v1.0.1")
    repo.git("switch", "-q", "main")
    assert proposed(repo, tmp_path / "in", version="1.0.1")["action"] == "revisit"


def test_archived_document_that_runs__does_not_hide_a_later_fix(repo: Repo, tmp_path: Path) -> None:
    archive(repo, "Frost warning in the morning")
    repo.git("tag", "v1.0.0")
    later = code(repo, "warn = 2\n", FIX)
    found = proposed(repo, tmp_path / "in")
    assert (found["action"], found["target"]) == ("fixed-not-deployed", later)


def test_document_archived_after_the_release_of_its_fix__is_unclear(repo: Repo, tmp_path: Path) -> None:
    inside = code(repo, "warn = 2\n", FIX)
    repo.git("tag", "v1.0.0")
    archive(repo, "Frost warning in the morning")
    found = proposed(repo, tmp_path / "in")
    assert (found["action"], found["check"]) == ("revisit", True)
    assert inside[:10] in found["reason"]


def test_later_fix_below_many_others__is_still_shown(repo: Repo, tmp_path: Path) -> None:
    for number in range(30):
        code(repo, f"x = {number}\n", f"Mend lamp number {number}", f"src/lamp{number}.py")
    for number, room in enumerate(("oak", "elm", "fir", "yew", "ash", "bay", "fig", "gum")):
        code(repo, f"warn = {number}\n", f"{FIX} had killed the tomatoes, {room}")
    repo.git("tag", "v1.0.0")
    later = code(repo, "warn = 9\n", FEATURE)
    found = proposed(repo, tmp_path / "in")
    assert list(found["related"]).index(later) >= SHOWN
    assert (found["action"], found["check"]) == ("revisit", True)


def test_known_problem__is_not_reopened_on_the_evidence_of_the_feature(repo: Repo, tmp_path: Path) -> None:
    code(repo, "warn = 1\n", FEATURE)
    repo.git("tag", "v1.0.0")
    code(repo, "warn = 2\n", FIX)
    proposed(repo, tmp_path / "in")
    muniment("triage", "approve", "1", cwd=repo.path).ok()
    token = muniment("apply", "--preview", "--json", cwd=repo.path).ok().json["token"]
    muniment("apply", "--confirm", token, cwd=repo.path).ok()
    write(tmp_path / "again", [finding("frost-warning-late", SAID)], date="2026-03-05")
    muniment("intake", str(tmp_path / "again"), cwd=repo.path).ok()
    made = muniment("triage", "verify", "1", "real", "--reason", "seen", "--json", cwd=repo.path).ok()
    assert made.json["rows"][0]["proposed"]["action"] == "duplicate"
