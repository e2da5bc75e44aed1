"""apply: preview, confirm, one commit; tokens that bind everything; refusals that change nothing (C9)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.cli import Result, muniment
from tests.support.repo import Repo
from tests.support.triage import NAME, REPORT, TRIAGE, Told, decide, intake

LEDGER = "docs/reviews/ledger.json"


@pytest.fixture
def team(repo: Repo) -> Repo:
    """A repository with an open bug and a landed one, committed."""
    repo.write("docs/bugs/lists.md", "# Lists\n\nLines get lost.\n")
    repo.write("docs/archive/done.md", "# Done\n\nLanded.\n")
    repo.commit("Documents")
    return repo


def preview(repo: Repo, *more: str) -> Result:
    return muniment("apply", "--preview", "--json", *more, cwd=repo.path)


def token(repo: Repo, *more: str) -> str:
    word = preview(repo, *more).ok().json["token"]
    assert isinstance(word, str)
    return word


def confirm(repo: Repo, word: str) -> Result:
    return muniment("apply", "--confirm", word, "--json", cwd=repo.path)


def status(repo: Repo, subject: str) -> str:
    found = muniment("ledger", "status", subject, "--json", cwd=repo.path).ok().json["status"]
    assert isinstance(found, str)
    return found


def picture(repo: Repo) -> tuple[str, str, dict[str, bytes]]:
    files = {
        path.relative_to(repo.path).as_posix(): path.read_bytes()
        for path in sorted(repo.path.rglob("*"))
        if path.is_file() and ".git" not in path.parts
    }
    return repo.head(), repo.status(), files


def test_apply__one_commit_holds_documents_ledger_report_and_triage_file(team: Repo) -> None:
    intake(team, [Told("one"), Told("two", "attach", "docs/bugs/lists.md"), Told("three", "reject")])
    decide(team, ["1", "2", "3"])
    start = team.head()
    shown = preview(team).ok().json
    assert {change["path"] for change in shown["changes"]} >= {
        "docs/bugs/one.md",
        "docs/bugs/lists.md",
        LEDGER,
    }
    done = confirm(team, shown["token"]).ok().json
    assert done["commit"] == team.head()
    assert [row["row"] for row in done["applied"]] == ["1", "2", "3"]
    assert done["refused"] == []
    assert team.git("rev-list", "--count", f"{start}..HEAD") == "1"
    changed = set(team.git("diff", "--name-only", start, "HEAD").split())
    assert changed == {
        "docs/bugs/one.md",
        "docs/bugs/lists.md",
        LEDGER,
        REPORT,
        REPORT.replace(".json", ".md"),
        TRIAGE,
    }
    assert team.status() == ""
    assert status(team, "bug/code/one") == "new"
    assert status(team, "bug/code/two") == "attach"
    assert status(team, "bug/code/three") == "reject"


def test_preview__changes_nothing(team: Repo) -> None:
    intake(team, [Told("one")])
    decide(team, ["1"])
    before = picture(team)
    preview(team).ok()
    assert picture(team) == before


def test_token__works_once(team: Repo) -> None:
    intake(team, [Told("one")])
    decide(team, ["1"])
    word = token(team)
    confirm(team, word).ok()
    head = team.head()
    again = confirm(team, word)
    assert again.code == 3
    assert again.json["error"]["code"] == "used-token"
    assert team.head() == head


@pytest.mark.parametrize("word", ["", "x", "0" * 32, "../../config", "ab" * 16])
def test_token__unknown(team: Repo, word: str) -> None:
    before = picture(team)
    assert confirm(team, word).code == 3
    assert picture(team) == before


def test_token__expires_after_24_hours(team: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    intake(team, [Told("one")])
    decide(team, ["1"])
    monkeypatch.setenv("MUNIMENT_NOW", "2026-03-04T05:06:07Z")
    word = token(team)
    monkeypatch.setenv("MUNIMENT_NOW", "2026-03-05T05:06:07Z")
    assert confirm(team, word).code == 3
    monkeypatch.setenv("MUNIMENT_NOW", "2026-03-05T05:06:06Z")
    confirm(team, word).ok()


def test_token__works_in_its_own_clone_only(team: Repo, tmp_path: Path) -> None:
    intake(team, [Told("one")])
    decide(team, ["1"])
    word = token(team)
    other = team.clone(tmp_path / "other")
    assert confirm(other, word).code == 3


def test_token__of_undo_does_not_apply(team: Repo) -> None:
    intake(team, [Told("one")])
    decide(team, ["1"])
    confirm(team, token(team)).ok()
    word = muniment("undo", "--preview", "--json", cwd=team.path).ok().json["token"]
    assert confirm(team, word).code == 3


def _edit_target(repo: Repo) -> None:
    repo.write("docs/bugs/lists.md", "# Lists\n\nMore.\n")
    repo.commit("Edit", "docs/bugs/lists.md")


def _take_name(repo: Repo) -> None:
    repo.write("docs/bugs/one.md", "# Somebody's\n")
    repo.commit("Take", "docs/bugs/one.md")


def _switch(repo: Repo) -> None:
    repo.git("switch", "-q", "-c", "elsewhere")


def _setting(repo: Repo) -> None:
    repo.write(".muniment/config.yaml", "version_tag: 'v{version}'\n")


def _template(repo: Repo) -> None:
    repo.write(".muniment/templates/documents/bug.md", "# @TITLE@\n")


def _decision(repo: Repo) -> None:
    decide(repo, ["1"], "reject", reason="no")


def _undecide(repo: Repo) -> None:
    decide(repo, ["2"], "")


def _report(repo: Repo) -> None:
    repo.write(REPORT, repo.read(REPORT).replace(b"loses", b"drops"))


def _ledger(repo: Repo) -> None:
    muniment("ledger", "add", "--kind", "note", "--data", '{"text": "x"}', cwd=repo.path).ok()


def _actor(repo: Repo) -> None:
    repo.git("config", "user.name", "Sam Other")


@pytest.mark.parametrize(
    "change",
    [_edit_target, _take_name, _switch, _setting, _template, _decision, _undecide, _report, _ledger, _actor],
)
def test_token__refuses_when_anything_it_binds_differs(team: Repo, change: object) -> None:
    intake(team, [Told("one"), Told("two", "attach", "docs/bugs/lists.md")])
    decide(team, ["1", "2"])
    word = token(team)
    assert callable(change)
    change(team)
    before = picture(team)
    refused = confirm(team, word)
    assert refused.code == 3, refused.out
    assert picture(team) == before


def test_token__binds_the_branch_name_and_not_its_commit(team: Repo) -> None:
    intake(team, [Told("one")])
    decide(team, ["1"])
    word = token(team)
    team.write("README.md", "# Other\n")
    team.commit("Elsewhere", "README.md")
    confirm(team, word).ok()
    assert team.status() == ""


def test_frozen_time__is_reused(team: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    intake(team, [Told("one")])
    decide(team, ["1"])
    monkeypatch.setenv("MUNIMENT_NOW", "2026-03-04T05:06:07Z")
    word = token(team)
    monkeypatch.setenv("MUNIMENT_NOW", "2026-03-04T09:00:00Z")
    confirm(team, word).ok()
    times = {entry["at"] for entry in muniment("ledger", "log", "--json", cwd=team.path).ok().json["entries"]}
    assert times == {"2026-03-04T05:06:07Z"}


def test_nothing_approved__says_so(team: Repo) -> None:
    intake(team, [Told("one")])
    found = preview(team)
    assert found.code == 1
    assert found.json["error"]["code"] == "nothing-approved"
    decide(team, ["1"], "dismiss")
    assert preview(team).code == 1


def test_applied_rows__are_not_applied_again(team: Repo) -> None:
    intake(team, [Told("one"), Told("two")])
    decide(team, ["1"])
    confirm(team, token(team)).ok()
    assert preview(team).code == 1
    decide(team, ["2"])
    done = confirm(team, token(team)).ok().json
    assert [row["row"] for row in done["applied"]] == ["2"]
    kinds = [entry["kind"] for entry in muniment("ledger", "log", "--json", cwd=team.path).json["entries"]]
    assert kinds.count("finding") == 2


def test_refused_row__the_others_go_on(team: Repo) -> None:
    intake(team, [Told("one", "attach", "docs/none.md"), Told("two")])
    decide(team, ["1", "2"])
    shown = preview(team).ok().json
    assert [row["row"] for row in shown["refused"]] == ["1"]
    done = confirm(team, shown["token"]).ok().json
    assert [row["row"] for row in done["applied"]] == ["2"]
    assert "does not exist" in done["refused"][0]["reason"]
    assert status(team, "bug/code/one") == "open"


@pytest.mark.parametrize(
    "target", ["../outside.md", "/etc/hosts.md", "docs/link.md", "docs/out/x.md", ".git/x.md"]
)
def test_target_outside__refuses_the_row(team: Repo, tmp_path: Path, target: str) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "x.md").write_text("# X\n")
    (tmp_path / "outside.md").write_text("# X\n")
    (team.path / "docs" / "link.md").symlink_to(tmp_path / "outside.md")
    (team.path / "docs" / "out").symlink_to(tmp_path / "outside")
    intake(team, [Told("one", "attach", target)])
    decide(team, ["1"])
    found = preview(team)
    assert found.code == 1
    assert found.json["error"]["code"] == "all-refused"
    assert (tmp_path / "outside.md").read_text() == "# X\n"


def test_dirty_target__is_refused_before_anything_is_written(team: Repo) -> None:
    intake(team, [Told("one", "attach", "docs/bugs/lists.md")])
    decide(team, ["1"])
    team.write("docs/bugs/lists.md", "# Lists\n\nMine, unsaved.\n")
    assert preview(team).code == 3
    shown = preview(team, "--include-dirty", "docs/bugs/lists.md").ok().json
    confirm(team, shown["token"]).ok()
    assert b"Mine, unsaved." in team.read("docs/bugs/lists.md")
    assert team.status() == ""


def test_staged_and_unstaged_work__stays(team: Repo) -> None:
    team.write("staged.txt", "s\n")
    team.git("add", "staged.txt")
    team.write("README.md", "# Mine\n")
    intake(team, [Told("one")])
    decide(team, ["1"])
    confirm(team, token(team)).ok()
    assert team.status().splitlines() == ["M README.md", "A  staged.txt"]


def test_stale_basis__is_refused(team: Repo) -> None:
    intake(team, [Told("one", "reject"), Told("two")])
    decide(team, ["1", "2"])
    body = '{"subject": "bug/code/one", "action": "new", "reason": "meanwhile"}'
    muniment("ledger", "add", "--kind", "decision", "--data", body, cwd=team.path).ok()
    shown = preview(team).ok().json
    assert [row["row"] for row in shown["refused"]] == ["1"]
    confirm(team, shown["token"]).ok()
    assert status(team, "bug/code/one") == "new"


def test_alias__follows_the_canonical_decision(team: Repo) -> None:
    intake(team, [Told("one", "reject")])
    decide(team, ["1"])
    confirm(team, token(team)).ok()
    later = intake(
        team,
        [Told("uno", "duplicate", "bug/code/one", canonical="bug/code/one")],
        name="2026-03-03",
        date="2026-03-03",
    )
    decide(team, ["1"], triage=later)
    confirm(team, token(team)).ok()
    found = muniment("ledger", "status", "bug/code/uno", "--json", cwd=team.path).ok().json
    assert found["status"] == "reject"
    assert found["seen"] == 2
    assert "bug/code/uno" in found["aliases"]


def test_duplicate_of_a_row_in_the_same_batch(team: Repo) -> None:
    intake(
        team,
        [Told("uno", "duplicate", "bug/code/one", canonical="bug/code/one"), Told("one")],
    )
    decide(team, ["1", "2"])
    confirm(team, token(team)).ok()
    assert status(team, "bug/code/uno") == "new"
    assert status(team, "bug/code/one") == "new"


def test_hostile_text__never_leaves_its_block(team: Repo) -> None:
    said = "x\n- decision: approve\n<!-- sweep-items:start -->\n# H\n\u202e\u001b[31mred"
    intake(team, [Told("one", said=said), Told("two", "attach", "docs/bugs/lists.md", said=said)])
    decide(team, ["1", "2"])
    shown = muniment("apply", "--preview", cwd=team.path).ok()
    assert "\u001b[31mred" not in shown.out
    assert "\u202e" not in shown.out
    confirm(team, token(team)).ok()
    for path in ("docs/bugs/one.md", "docs/bugs/lists.md"):
        assert b"<!--" not in team.read(path)


def test_gate__refuses_an_identifier_in_a_reason(team: Repo) -> None:
    intake(team, [Told("one")])
    decide(team, ["1"], "reject", reason="call +49 151 23456789")
    before = picture(team)
    found = preview(team)
    assert found.code == 1
    assert "23456789" not in found.out + found.err
    assert picture(team) == before


def test_bare_form__without_a_terminal_is_usage(team: Repo) -> None:
    assert muniment("apply", cwd=team.path).code == 2
    assert muniment("apply", "--confirm", "0" * 32, "--preview", cwd=team.path).code == 2
    assert muniment("apply", "--confirm", "0" * 32, "--batch", NAME, cwd=team.path).code == 2


def test_own_template__is_used(team: Repo) -> None:
    team.write(".muniment/templates/documents/bug.md", "# Ours: @TITLE@\n\n@PROBLEM@\n")
    intake(team, [Told("one", said="@FINGERPRINT@ stays")])
    decide(team, ["1"])
    confirm(team, token(team)).ok()
    made = team.read("docs/bugs/one.md").decode()
    assert made.startswith("# Ours: One\n")
    assert "@FINGERPRINT@ stays" in made


def test_alias_row__overridden_keeps_its_own_subject(team: Repo) -> None:
    intake(team, [Told("one", "reject")])
    decide(team, ["1"])
    confirm(team, token(team)).ok()
    later = intake(
        team,
        [Told("uno", "duplicate", "bug/code/one", canonical="bug/code/one")],
        name="2026-03-03",
        date="2026-03-03",
    )
    decide(team, ["1"], "new", reason="another thing", triage=later)
    confirm(team, token(team)).ok()
    assert status(team, "bug/code/uno") == "new"
    assert status(team, "bug/code/one") == "reject"


def test_alias_row__is_stale_once_the_canonical_subject_was_decided_anew(team: Repo) -> None:
    intake(team, [Told("one", "reject")])
    decide(team, ["1"])
    confirm(team, token(team)).ok()
    later = intake(
        team,
        [Told("uno", "duplicate", "bug/code/one", canonical="bug/code/one")],
        name="2026-03-03",
        date="2026-03-03",
    )
    decide(team, ["1"], triage=later)
    body = '{"subject": "bug/code/one", "action": "new", "reason": "meanwhile"}'
    muniment("ledger", "add", "--kind", "decision", "--data", body, cwd=team.path).ok()
    refused = preview(team, "--batch", "2026-03-03")
    assert refused.code == 1
    assert "have changed" in refused.json["error"]["problems"][0]["message"]


@pytest.mark.parametrize(
    "target", [TRIAGE, REPORT.replace(".json", ".md"), "docs/plans/feedback-sweep-plan.md"]
)
def test_attach__to_a_record_of_muniments_refuses_the_row(team: Repo, target: str) -> None:
    team.write("docs/plans/feedback-sweep-plan.md", "# Plan\n")
    team.commit("Plan", "docs/plans")
    intake(team, [Told("one", "attach", target)])
    decide(team, ["1"])
    found = preview(team)
    assert found.code == 1
    assert "kept by Muniment" in found.json["error"]["problems"][0]["message"]


def test_lines_that_count_as_none__are_said(team: Repo) -> None:
    intake(team, [Told("one"), Told("two")])
    decide(team, ["1", "2"])
    text = team.read(TRIAGE).decode()
    team.write(TRIAGE, text.replace("- decision: approve", "- decision: aprove", 1))
    shown = preview(team).ok().json
    assert [row["row"] for row in shown["rows"]] == ["2"]
    assert "approve" in shown["problems"][0]["message"]


def test_roadmap__an_attached_story_leaves_the_roadmap_readable(team: Repo) -> None:
    road = "# Roadmap\n\n## M1 One\n\n### M1.1 join\n\n- status: done\n- depends on: none\n\nJoin.\n"
    team.write("docs/goals/shared/roadmap.md", road)
    team.commit("Roadmap")
    assert muniment("roadmap", "check", cwd=team.path).code == 0
    intake(team, [Told("one", "attach", "docs/goals/shared/roadmap.md:5")])
    decide(team, ["1"])
    confirm(team, token(team)).ok()
    result = muniment("roadmap", "check", cwd=team.path)
    assert result.code == 0, result.out + result.err


def test_unborn_branch__gets_its_first_commit(make_repo: Callable[[str], Repo]) -> None:
    repo = make_repo("unborn")
    intake(repo, [Told("one")])
    decide(repo, ["1"])
    confirm(repo, token(repo)).ok()
    assert repo.git("rev-list", "--count", "HEAD") == "1"
    assert muniment("undo", "--yes", cwd=repo.path).code == 0
    assert not (repo.path / "docs/bugs/one.md").exists()


def _detach(repo: Repo) -> None:
    repo.git("switch", "-q", "--detach")


def _merge(repo: Repo) -> None:
    repo.git("switch", "-q", "-c", "side")
    repo.write("README.md", "# Side\n")
    repo.commit("Side", "README.md")
    repo.git("switch", "-q", "main")
    repo.write("README.md", "# Main\n")
    repo.commit("Main", "README.md")
    repo.git("merge", "-q", "side", check=False)


def _rejecting_hook(repo: Repo) -> None:
    hook = repo.path / ".git/hooks/pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\nexit 1\n")
    hook.chmod(0o755)


@pytest.mark.parametrize("hinder", [_detach, _merge, _rejecting_hook])
def test_git_in_no_state_to_commit__refuses_and_changes_nothing(team: Repo, hinder: object) -> None:
    assert callable(hinder)
    hinder(team)
    intake(team, [Told("one"), Told("two", "attach", "docs/bugs/lists.md")])
    decide(team, ["1", "2"])
    word = token(team)
    before = picture(team)
    assert confirm(team, word).code == 3
    assert picture(team) == before


def test_sha256_repository(tmp_path: Path) -> None:
    repo = Repo.init(tmp_path / "sha256", "--object-format=sha256")
    repo.write("docs/bugs/lists.md", "# Lists\n")
    repo.commit("Start")
    intake(repo, [Told("one"), Told("two", "attach", "docs/bugs/lists.md")])
    decide(repo, ["1", "2"])
    assert len(confirm(repo, token(repo)).ok().json["commit"]) == 64
    muniment("undo", "--yes", cwd=repo.path).ok()
    assert repo.read("docs/bugs/lists.md") == b"# Lists\n"


def test_submodule_target__refuses_the_row(team: Repo, tmp_path: Path) -> None:
    inner = Repo.init(tmp_path / "inner")
    inner.write("x.md", "# X\n")
    inner.commit("Start")
    team.git("submodule", "add", "-q", str(inner.path), "docs/inner")
    team.commit("Submodule")
    intake(team, [Told("one", "attach", "docs/inner/x.md")])
    decide(team, ["1"])
    assert preview(team).code == 1
