"""What a check looks at: everything, paths, what is staged, a range; and that reading writes nothing."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from muniment.check import quick
from muniment.check.paths import STAGES, Kind, Owned
from muniment.check.registry import RULES
from muniment.config import Config
from muniment.documents import stages
from muniment.errors import UsageProblem
from tests.support.checking import LEDGER, PHONE, check, ledger, notes, places, rules, state
from tests.support.cli import muniment
from tests.support.repo import Repo

BAD = "[gone](gone.md)\n"


def test_owned__kinds_by_place() -> None:
    owned = Owned.of(Config(gate_paths=("README.md", "src/*.py", "lib/")))
    kinds = {
        "docs/reviews/ledger.json": Kind.LEDGER,
        "docs/reviews/ledger/0123456789abcdef.json": Kind.SEALED,
        "docs/reviews/ledger/readme.md": None,
        "docs/reviews/2026-03-02-b-daily.json": Kind.REPORT,
        "docs/reviews/2026-03-02-b-daily.md": Kind.REPORT_TEXT,
        "docs/reviews/readme.md": None,
        "docs/reviews/triage/b.md": Kind.TRIAGE,
        "docs/reviews/triage/b.txt": None,
        "docs/plans/feedback-sweep-plan.md": Kind.PLAN,
        "docs/plans/other.md": None,
        "docs/feedback-sweep/state.yml": Kind.STATE,
        ".muniment/config.yaml": Kind.CONFIG,
        ".muniment/config.local.yaml": Kind.LOCAL_CONFIG,
        ".muniment/allow.txt": Kind.ALLOW_LIST,
        "docs/ideas/a/b.md": Kind.DOCUMENT,
        "docs/ideas/a.png": None,
        "docs/ideas.md": None,
        "docs/ROADMAP.md": Kind.DOCUMENT,
        "docs/goals/g/goal.md": Kind.DOCUMENT,
        "docs/pending-verification.md": Kind.DOCUMENT,
        "docs/guide.md": None,
        "README.md": Kind.GATED,
        "src/a/b.py": Kind.GATED,
        "lib/x": Kind.GATED,
        "other/README.md": None,
    }
    assert {path: owned.kind(path) for path in kinds} == kinds


def test_owned__stages_are_those_of_the_documents() -> None:
    assert tuple(str(stage) for stage in stages.FOLDERS) == STAGES


def test_all__untracked_files_count_and_other_repositories_inside_do_not(repo: Repo) -> None:
    repo.write("docs/bugs/a.md", BAD)
    inner = Repo.init(repo.path / "docs/bugs/inner")
    inner.write("b.md", BAD)
    assert places(check(repo)) == [("docs/bugs/a.md", 1, "doc-link")]


def test_paths__only_what_lies_there(repo: Repo) -> None:
    for name in ("docs/bugs/a.md", "docs/ideas/b.md", "docs/ideas/c.md"):
        repo.write(name, BAD)
    assert {path for path, _, _ in places(check(repo, "docs/bugs"))} == {"docs/bugs/a.md"}
    assert {path for path, _, _ in places(check(repo, "docs/ideas/b.md", "docs/bugs"))} == {
        "docs/bugs/a.md",
        "docs/ideas/b.md",
    }
    assert len(check(repo, ".").problems) == 3
    assert check(repo, "README.md").problems == ()


def test_paths__a_name_that_is_not_there_is_a_mistake(repo: Repo) -> None:
    with pytest.raises(UsageProblem, match="There is no nope"):
        check(repo, "nope")
    assert muniment("check", "../outside", cwd=repo.path).code == 2


def test_paths__are_relative_to_where_the_command_runs(repo: Repo) -> None:
    repo.write("docs/bugs/a.md", BAD)
    repo.write("docs/ideas/b.md", BAD)
    shown = muniment("check", "a.md", "--json", cwd=repo.path / "docs/bugs").json
    assert [problem["path"] for problem in shown["problems"]] == ["docs/bugs/a.md"]
    shown = muniment("check", str(repo.path / "docs/ideas"), "--json", cwd=repo.path / "docs/bugs").json
    assert [problem["path"] for problem in shown["problems"]] == ["docs/ideas/b.md"]


def test_staged__only_what_is_staged(repo: Repo) -> None:
    repo.write("docs/bugs/a.md", BAD)
    repo.commit("Old problem")
    repo.write("docs/ideas/b.md", BAD)
    repo.write("docs/ideas/c.md", BAD)
    repo.git("add", "docs/ideas/b.md")
    assert places(check(repo, staged=True)) == [("docs/ideas/b.md", 1, "doc-link")]


def test_staged__links_are_judged_in_what_is_staged(repo: Repo) -> None:
    repo.write("docs/ideas/a.md", "[b](b.md)\n")
    repo.write("docs/ideas/b.md", "# B\n")
    repo.git("add", "docs/ideas/a.md")
    assert rules(check(repo, staged=True)) == ["doc-link"], "b.md would not be in the commit"
    repo.git("add", "docs/ideas/b.md")
    assert rules(check(repo, staged=True)) == []


def test_staged__on_an_unborn_branch(tmp_path: Path) -> None:
    repo = Repo.init(tmp_path / "unborn")
    ledger(repo, notes(2))
    repo.write("docs/bugs/a.md", f"Call {PHONE}\n")
    repo.git("add", ".")
    assert rules(check(repo, staged=True)) == ["gate-phone"]
    assert rules(check(repo)) == ["gate-phone"]


def test_staged__a_hooks_own_index_is_read(repo: Repo) -> None:
    """`git commit PATH` hands its hooks a temporary index that holds just that path's change."""
    for name in ("a", "b"):
        repo.write(f"docs/bugs/{name}.md", "fine\n")
    repo.commit("Two")
    hook = repo.path / ".git/hooks/pre-commit"
    hook.write_text(f"#!/bin/sh\nexec '{sys.executable}' -m muniment check --staged --json >&2\n")
    hook.chmod(0o755)
    repo.write("docs/bugs/a.md", BAD)
    repo.write("docs/bugs/b.md", BAD)
    repo.git("add", "docs/bugs/b.md")
    done = subprocess.run(
        ["git", "commit", "-qm", "x", "docs/bugs/a.md"],
        cwd=repo.path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert '"docs/bugs/a.md"' in done.stderr
    assert '"docs/bugs/b.md"' not in done.stderr


def test_range__two_and_three_dots_and_open_ends(repo: Repo) -> None:
    start = repo.head()
    repo.git("switch", "-qc", "side")
    repo.write("docs/bugs/a.md", BAD)
    repo.commit("Bad")
    repo.git("switch", "-q", "main")
    repo.write("docs/ideas/upstream.md", BAD)
    repo.commit("Main goes on")
    for given in (f"{start}..side", "main..side", "main...side"):
        assert places(check(repo, revisions=given)) == [("docs/bugs/a.md", 1, "doc-link")], given
    repo.git("switch", "-q", "side")
    assert rules(check(repo, revisions="main..")) == ["doc-link"]


def test_range__the_working_tree_is_not_looked_at(repo: Repo) -> None:
    start = repo.head()
    repo.write("docs/bugs/a.md", "fine\n")
    repo.commit("Fine")
    repo.write("docs/bugs/a.md", BAD)
    ledger(repo, notes(2)[1:])
    assert check(repo, revisions=f"{start}..HEAD").ok is True


@pytest.mark.parametrize("given", ["main", "a..b..c", ""])
def test_range__anything_else_is_a_mistake(repo: Repo, given: str) -> None:
    with pytest.raises(UsageProblem, match="is not a range"):
        check(repo, revisions=given)


def test_range__a_missing_end_is_unknown_with_the_command(repo: Repo) -> None:
    outcome = check(repo, revisions="origin/main..HEAD")
    assert outcome.ok is None
    assert outcome.unknown[0].settle == "git fetch origin main"
    result = muniment("check", "--range", "origin/main..HEAD", "--json", cwd=repo.path)
    assert (result.code, result.json["ok"]) == (0, None)
    assert muniment("check", "--range", "origin/main..HEAD", "--require-known", cwd=repo.path).code == 4


def test_range__cut_off_history_is_unknown(repo: Repo, tmp_path: Path) -> None:
    repo.write("a", "1")
    repo.commit("One")
    repo.git("switch", "-qc", "side", "HEAD~1")
    repo.write("b", "1")
    repo.commit("Two")
    clone = Repo(tmp_path / "shallow")
    clone.path.mkdir()
    clone.git("clone", "-q", "--depth=1", "--no-single-branch", f"file://{repo.path}", ".")
    outcome = check(clone, revisions="origin/main..origin/side")
    assert (outcome.ok, outcome.unknown[0].settle) == (None, "git fetch --unshallow")


def test_only_one_of_staged_range_and_path(repo: Repo) -> None:
    for words in (
        ["--staged", "--range", "a..b"],
        ["--staged", "README.md"],
        ["--range", "a..b", "README.md"],
    ):
        assert muniment("check", *words, cwd=repo.path).code == 2


def test_json__has_the_contracts_keys(repo: Repo) -> None:
    repo.write("docs/bugs/a.md", BAD)
    result = muniment("check", "--json", cwd=repo.path)
    assert result.code == 1
    assert {"ok", "problems", "unknown", "notes"} <= result.json.keys()
    assert set(result.json["problems"][0]) == {"path", "line", "rule", "message", "fix"}
    assert result.json["ok"] is False
    (repo.path / "docs/bugs/a.md").unlink()
    assert muniment("check", "--json", cwd=repo.path).ok().json["ok"] is True


def test_require_known__problems_come_first(repo: Repo) -> None:
    repo.write(".muniment/config.yaml", "sweep_shared_branch: s\n")
    repo.write("docs/plans/feedback-sweep-plan.md", "# Plan\n")
    assert muniment("check", cwd=repo.path).code == 0
    assert muniment("check", "--require-known", cwd=repo.path).code == 4
    repo.write("docs/bugs/a.md", BAD)
    assert muniment("check", "--require-known", cwd=repo.path).code == 1


def test_text__problems_on_stdout_the_rest_on_stderr(repo: Repo) -> None:
    repo.write("docs/bugs/a.md", BAD)
    result = muniment("check", cwd=repo.path)
    assert result.out.startswith("docs/bugs/a.md:1: The link to gone.md leads to nothing")
    assert "[doc-link]" in result.out
    assert "fix: git log" in result.out
    assert "1 problem" in result.err
    assert muniment("-q", "check", cwd=repo.path).err == ""


def snapshot(repo: Repo) -> dict[str, tuple[int, bytes]]:
    """Every file but Muniment's own caches, with its time."""
    return {
        str(path): (path.stat().st_mtime_ns, path.read_bytes())
        for path in sorted(repo.path.rglob("*"))
        if path.is_file() and ".git/muniment/" not in str(path)
    }


def test_reading_writes_nothing(repo: Repo) -> None:
    ledger(repo, notes(3))
    state(repo, {"inbox:1": {"status": "analyzed"}})
    repo.write("docs/bugs/a.md", BAD)
    repo.commit("All")
    repo.write("docs/bugs/a.md", f"Call {PHONE}\n")
    repo.git("add", ".")
    before = snapshot(repo)
    for words in ([], ["--staged"], ["--range", "HEAD~1..HEAD"], ["docs"]):
        muniment("check", *words, "--json", cwd=repo.path)
    assert snapshot(repo) == before


def test_output_is_byte_stable(repo: Repo) -> None:
    ledger(repo, notes(3)[1:])
    for name in ("a", "b"):
        repo.write(f"docs/bugs/{name}.md", BAD * 3)
    first = muniment("check", "--json", cwd=repo.path).out
    assert muniment("check", "--json", cwd=repo.path).out == first


def test_quick__nothing_of_ours_staged_needs_no_parser(repo: Repo) -> None:
    repo.write(".muniment/config.yaml", "docs_root: notes\n")
    repo.commit("Settings")
    repo.write("src/a.py", "x")
    repo.write("docs/bugs/a.md", BAD)
    repo.git("add", ".")
    muniment("check", "--staged", cwd=repo.path).ok()  # caches the settings
    code = (
        "import sys; from muniment.cli.main import run; code = run(['check', '--staged']);"
        "heavy = {'pygit2', 'ruamel', 'markdown_it', 'orjson', 're2', 'phonenumbers', 'rapidfuzz'};"
        "print(code, sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=repo.path, capture_output=True, text=True, check=True
    )
    assert done.stdout == "0 []\n"


def quick_answer(repo: Repo) -> bool:
    return quick.nothing_staged(repo.path, os.environ)


def test_quick__is_declined_when_a_real_check_is_due(repo: Repo) -> None:
    assert not quick_answer(repo), "nothing is known yet"
    check(repo, staged=True)
    assert quick_answer(repo)
    repo.write("docs/bugs/a.md", "fine\n")
    repo.git("add", ".")
    assert not quick_answer(repo)
    repo.commit("Ours")
    assert quick_answer(repo)
    repo.git("rm", "-q", "docs/bugs/a.md")
    assert not quick_answer(repo)
    repo.commit("Removed")
    repo.write(".muniment/config.yaml", "docs_root: notes\n")
    assert not quick_answer(repo), "other settings name other places"
    check(repo, staged=True)
    repo.write("notes/bugs/a.md", "fine\n")
    repo.git("add", "notes")
    assert not quick_answer(repo)
    repo.commit("Ours")
    assert quick_answer(repo)
    repo.write(".muniment/config.yaml", "nope: 1\n")
    check(repo, staged=True)
    assert not quick_answer(repo)
    (repo.path / ".muniment/config.yaml").unlink()
    check(repo, staged=True)
    journal = repo.path / ".git/muniment/journal/main/intent.json"
    journal.parent.mkdir(parents=True)
    journal.write_text("{}")
    assert not quick_answer(repo)


def test_quick__a_link_in_place_of_a_folder_above_ours_is_looked_at(repo: Repo) -> None:
    check(repo, staged=True)
    (repo.path / "docs").symlink_to("elsewhere")
    repo.git("add", "docs")
    assert not quick_answer(repo)


def test_quick__gate_paths_count(repo: Repo) -> None:
    repo.write(".muniment/config.yaml", "gate_paths: ['src/*.py']\n")
    check(repo, staged=True)
    repo.write("other", "x")
    repo.git("add", "other")
    assert quick_answer(repo)
    repo.write("src/a.py", "x")
    repo.git("add", "src")
    assert not quick_answer(repo)
    repo.write(".muniment/config.yaml", "gate_paths: ['*.py']\n")
    check(repo, staged=True)
    assert not quick_answer(repo), "a pattern that can match anywhere leaves no quick way"


@pytest.mark.parametrize("junk", [b"", b"{}", b"[1, 2]", b"[1, 2, 3]", b"\xff"])
def test_quick__a_damaged_cache_is_only_a_missed_one(repo: Repo, junk: bytes) -> None:
    check(repo, staged=True)
    (repo.path / ".git/muniment/cache/quick.json").write_bytes(junk)
    assert not quick_answer(repo)
    check(repo, staged=True)
    assert quick_answer(repo)


def test_quick__in_no_repository_the_real_check_says_so(tmp_path: Path) -> None:
    assert not quick.nothing_staged(tmp_path, os.environ)
    assert muniment("check", "--staged", cwd=tmp_path).code == 2


def test_local_settings__must_not_be_committed(repo: Repo) -> None:
    repo.write(".muniment/config.local.yaml", "sweep_ack_cap: 3\n")
    assert check(repo).problems == ()
    repo.git("add", "-f", ".")
    assert rules(check(repo)) == ["local-settings"]
    assert rules(check(repo, staged=True)) == ["local-settings"]


def test_merge_driver__named_but_not_set_up_is_a_note(repo: Repo) -> None:
    repo.write(".gitattributes", f"/{LEDGER} merge=muniment-ledger\n")
    outcome = check(repo)
    assert outcome.ok is True
    assert [(note.path, note.line, note.rule) for note in outcome.notes] == [
        (".gitattributes", 1, "merge-driver")
    ]
    repo.git("config", "merge.muniment-ledger.driver", "muniment merge-driver ledger %O %A %B %P")
    assert check(repo).notes == ()


def test_works_in_every_kind_of_repository(repo: Repo, tmp_path: Path) -> None:
    ledger(repo, notes(2))
    repo.write("docs/bugs/a.md", BAD)
    repo.commit("All")
    repo.git("worktree", "add", "-q", str(tmp_path / "linked"))
    sha256 = Repo.init(tmp_path / "sha256", "--object-format=sha256")
    ledger(sha256, notes(2))
    sha256.write("docs/bugs/a.md", BAD)
    sha256.commit("All")
    partial = Repo(tmp_path / "partial")
    partial.path.mkdir()
    repo.git("config", "uploadpack.allowFilter", "true")
    partial.git("clone", "-q", "--filter=blob:none", f"file://{repo.path}", ".")
    for made in (repo, Repo(tmp_path / "linked"), sha256, partial):
        assert rules(check(made)) == ["doc-link"], made.path
        assert rules(check(made, staged=True)) == []
        made.git("checkout", "-q", "--detach")
        assert rules(check(made)) == ["doc-link"], made.path


def test_every_rule_is_named_by_what_it_does() -> None:
    for name, rule in RULES.items():
        assert rule.__doc__, name
        assert rule.__doc__.strip().endswith((".", ")")), name


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_unreadable__a_file_without_permission_is_unknown_and_hides_no_other(repo: Repo) -> None:
    repo.write("docs/bugs/a.md", "fine\n").chmod(0)
    repo.write("docs/bugs/b.md", BAD)
    outcome = check(repo)
    assert places(outcome) == [("docs/bugs/b.md", 1, "doc-link")]
    assert [(one.rule, one.settle) for one in outcome.unknown] == [("unreadable", "ls -l -- docs/bugs/a.md")]


def test_unreadable__a_missing_blob_is_unknown_and_hides_no_other(repo: Repo) -> None:
    repo.write("docs/bugs/a.md", "lost\n")
    ledger(repo, notes(1))
    repo.write("docs/bugs/b.md", BAD)
    repo.git("add", ".")
    for name in ("docs/bugs/a.md", LEDGER):
        oid = repo.git("rev-parse", f":{name}")
        (repo.path / ".git/objects" / oid[:2] / oid[2:]).unlink()
    outcome = check(repo, staged=True)
    assert places(outcome) == [("docs/bugs/b.md", 1, "doc-link")]
    assert [(one.rule, one.settle) for one in outcome.unknown] == [("unreadable", "git fsck")] * 2


@pytest.mark.parametrize(
    "name", ["a\nb.md", "-rf.md", "a b.md", "ü'\"$(touch x).md", "bad\udcff.md", "a\x1b[31m.md"]
)
def test_odd_names_are_shown_safely_and_quoted(repo: Repo, name: str) -> None:
    repo.write(f"docs/bugs/{name}", f"{BAD}\nCall {PHONE}\n")
    result = muniment("check", cwd=repo.path)
    assert result.code == 1
    assert "\x1b[31m" not in result.out + result.err
    repo.git("add", "--", ".")
    for words in (["--staged"], []):
        shown = muniment("check", "--json", *words, cwd=repo.path).json
        # A path that is no text can't be judged, so the gate refuses it.
        gate = "gate-error" if "\udcff" in name else "gate-phone"
        assert {one["rule"] for one in shown["problems"]} == {"doc-link", gate}
        fixes = [one["fix"] for one in shown["problems"] if one["rule"] == gate]
        assert not any("$(touch" in fix and "'" not in fix for fix in fixes)


def test_symbolic_links__nothing_behind_one_that_leads_outside_is_read(repo: Repo, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    (outside / "bugs").mkdir(parents=True)
    (outside / "ledger.json").write_text("{")
    (outside / "bugs/a.md").write_text(BAD)
    (repo.path / "docs").mkdir()
    (repo.path / "docs/reviews").symlink_to(outside)
    (repo.path / "docs/goals").symlink_to(outside)
    outcome = check(repo)
    assert outcome.problems == ()
    assert {one.rule for one in outcome.unknown} == {"unreadable"}
    assert "docs/reviews/ledger.json lies behind a symbolic link" in outcome.unknown[0].why


def test_a_fifo_or_socket_in_place_of_a_document_blocks_nothing(repo: Repo) -> None:
    (repo.path / "docs/bugs").mkdir(parents=True)
    os.mkfifo(repo.path / "docs/bugs/a.md")
    os.mkfifo(repo.path / ".gitattributes")
    assert check(repo).problems == ()


def test_a_document_longer_than_one_read_is_read_whole(repo: Repo) -> None:
    repo.write("docs/bugs/a.md", "word " * 300_000 + "\n\n" + BAD)
    assert places(check(repo)) == [("docs/bugs/a.md", 3, "doc-link")]
