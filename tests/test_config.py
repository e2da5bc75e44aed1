"""Settings: layers, and a clear problem with file and line for every mistake."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from muniment import config as configuration
from muniment.config import Config
from muniment.config_schema import KEYS
from muniment.errors import Problem, UsageProblem
from muniment.workspace import open_workspace
from tests.support.cli import muniment
from tests.support.repo import Repo

CONFIG = ".muniment/config.yaml"
LOCAL = ".muniment/config.local.yaml"


def load(repo: Repo) -> tuple[Config, tuple[Problem, ...]]:
    workspace = open_workspace(repo.path)
    return workspace.config, workspace.config_problems


def only_problem(repo: Repo, text: str | bytes, name: str = CONFIG) -> Problem:
    repo.write(name, text)
    _, problems = load(repo)
    assert len(problems) == 1, problems
    return problems[0]


def personal(text: str) -> Path:
    path = Path(os.environ["XDG_CONFIG_HOME"]) / "muniment" / "config.yaml"
    path.parent.mkdir(parents=True)
    path.write_text(text)
    return path


def test_no_file_gives_the_defaults(repo: Repo) -> None:
    config, problems = load(repo)
    assert problems == ()
    assert config.ledger_path == "docs/reviews/ledger.json"
    assert config.sweep_state_path == "docs/feedback-sweep/state.yml"
    assert {setting.key for setting in config.settings} == set(KEYS)
    assert {setting.source for setting in config.settings} == {"default"}


@pytest.mark.parametrize(
    "text", ["", "# nothing set\n", "---\n", "\ufeffdocs_root: docs\n", "docs_root: docs\r\n"]
)
def test_harmless_files_are_fine(repo: Repo, text: str) -> None:
    repo.write(CONFIG, text)
    assert load(repo)[1] == ()


def test_docs_root_moves_everything_under_it(repo: Repo) -> None:
    repo.write(CONFIG, "docs_root: memory/team/\nplan_path: PLAN.md\n")
    config, problems = load(repo)
    assert problems == ()
    assert config.docs_root == "memory/team"
    assert config.ledger_path == "memory/team/reviews/ledger.json"
    assert config.plan_path == "PLAN.md"
    assert config.stage_path("bugs") == "memory/team/bugs"


def test_layers__a_later_layer_replaces_the_whole_value(repo: Repo) -> None:
    repo.write(CONFIG, "bots:\n  - {name: a, from: x}\n  - {name: b, from: y}\nsweep_ack_cap: 5\n")
    repo.write(LOCAL, "bots:\n  - {name: c, from: z}\n")
    config, problems = load(repo)
    assert problems == ()
    assert [bot.name for bot in config.bots] == ["c"]
    sources = {setting.key: setting.source for setting in config.settings}
    assert (sources["bots"], sources["sweep_ack_cap"], sources["owners"]) == ("local", "committed", "default")


def test_layers__local_beats_personal_beats_committed(repo: Repo) -> None:
    repo.write(CONFIG, "judge: [a]\ndigest: [a]\ntranscriber: [a]\n")
    personal("judge: [b]\ndigest: [b]\n")
    repo.write(LOCAL, "judge: [c]\n")
    config, problems = load(repo)
    assert problems == ()
    assert [config.setting(key) for key in ("judge", "digest", "transcriber")] == [["c"], ["b"], ["a"]]


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("default_branch: main\ndoc_root: x\n", 2, ("Unknown key 'doc_root'", "did you mean docs_root?")),
        ("zzz: 1\n", 1, ("Unknown key 'zzz'.",)),
        ("\n\nowners: you@example.org\n", 3, ("owners must be a list of text, not text",)),
        ("owners:\n", 1, ("owners must be a list of text, not nothing",)),
        ("sweep_ack_cap: '5'\n", 1, ("sweep_ack_cap must be a whole number, not text",)),
        ("sweep_ack_cap: true\n", 1, ("whole number, not yes or no",)),
        ("sweep_ack_cap: -1\n", 1, ("whole number, not a number",)),
        ("sweep_lease_ttl_minutes: .inf\n", 1, ("must be a number, not text",)),
        ("trust_subjects: 'yes'\n", 1, ("trust_subjects must be yes or no, not text",)),
        ("actors: [a]\n", 1, ("actors must be a mapping of text, not a list",)),
        ("bots:\n  - from: x\n", 1, ("bots: entry 1 needs name and from",)),
        ("bots:\n  - {name: a, form: x}\n", 1, ("unknown key 'form'", "did you mean from?")),
        ("bots:\n  - {name: a, from: x}\n  - {name: a, from: y}\n", 1, ("the name 'a' stands twice",)),
        ("version_tag: release\n", 1, ("version_tag must be text with {version} in it",)),
        ("target_layers: [Code]\n", 1, ("target_layers must be a list of names",)),
        ("- a\n", 1, ("must be a mapping of settings",)),
        ("a: [1\n", 2, ("not valid YAML",)),
        ("docs_root: a\ndocs_root: b\n", 2, ("not valid YAML",)),
        ("<<<<<<< ours\ndocs_root: a\n=======\n", 1, ("not valid YAML",)),
        (b"docs_root: docs\nowners: [\xff]\n", 2, ("not UTF-8",)),
        ("\n# where\ndocs_root: /tmp\n", 3, ("docs_root: '/tmp' must be a folder inside the repository",)),
        ("x: 1\nreviews_path: ../out\n", 1, ("Unknown key 'x'",)),
    ],
)  # fmt: skip
def test_mistakes__each_says_file_line_and_what(
    repo: Repo, text: str | bytes, line: int, words: tuple[str, ...]
) -> None:
    repo.write(CONFIG, text)
    problem = load(repo)[1][0]
    assert (problem.path, problem.line, problem.rule) == (CONFIG, line, "config")
    assert all(word in problem.message for word in words), problem.message


@pytest.mark.parametrize(
    "value",
    [
        "/", "/etc", ".", "..", "../x", "a/../b", "./docs", "''", ".git", ".GIT/x", "docs/.git", "README.md",
        "a//b",
    ],
)  # fmt: skip
def test_docs_root__names_key_and_value_and_falls_back(repo: Repo, value: str) -> None:
    problem = only_problem(repo, f"docs_root: {value}\n")
    assert problem.message.startswith("docs_root: ")
    assert repr(value.strip("'")) in problem.message
    assert load(repo)[0].docs_root == "docs"


@pytest.mark.parametrize("target", ["..", ".git", "."])
def test_docs_root__symbolic_links_are_followed(repo: Repo, target: str) -> None:
    (repo.path / "link").symlink_to(target)
    assert "docs_root: 'link'" in only_problem(repo, "docs_root: link\n").message


def test_docs_root__a_link_inside_the_repository_is_fine(repo: Repo) -> None:
    (repo.path / "real").mkdir()
    (repo.path / "link").symlink_to("real")
    repo.write(CONFIG, "docs_root: link\n")
    assert load(repo)[1] == ()


@pytest.mark.parametrize("value", ["/etc/plan.md", "../plan.md", "a/.git/plan.md", "''", "a//b.md"])
def test_paths__outside_the_repository_are_refused(repo: Repo, value: str) -> None:
    problem = only_problem(repo, f"docs_root: notes\nplan_path: {value}\n")
    assert problem.message.startswith("plan_path: ")
    assert problem.line == 2
    assert load(repo)[0].plan_path == "notes/plans/feedback-sweep-plan.md"


def test_a_wrong_value_in_the_local_file_names_that_file(repo: Repo) -> None:
    problem = only_problem(repo, "\ndocs_root: ..\n", LOCAL)
    assert (problem.path, problem.line) == (LOCAL, 2)


def test_authority__is_refused_in_local_and_personal_files(repo: Repo) -> None:
    for key in ("owners", "trust_subjects", "require_verified_approvals", "require_signed_approvals"):
        value = "[a]" if key == "owners" else "true"
        assert "gives authority" in only_problem(repo, f"{key}: {value}\n", LOCAL).message
    (repo.path / LOCAL).unlink()
    personal("owners: [a]\n")
    assert "not in a person's own settings" in load(repo)[1][0].message


def test_one_bad_key_does_not_hide_the_others(repo: Repo) -> None:
    repo.write(CONFIG, "owners: 3\ndefault_branch: trunk\nnope: 1\nsweep_ack_cap: x\n")
    config, problems = load(repo)
    assert [problem.line for problem in problems] == [1, 3, 4]
    assert config.default_branch == "trunk"
    assert (config.owners, config.setting("sweep_ack_cap")) == ((), 25)


def test_unreadable__a_folder_a_dangling_link_and_a_huge_file_are_problems(repo: Repo) -> None:
    (repo.path / CONFIG).mkdir(parents=True)
    assert "can't be read" in load(repo)[1][0].message
    (repo.path / CONFIG).rmdir()
    (repo.path / CONFIG).symlink_to("nowhere")
    assert "can't be read" in load(repo)[1][0].message
    (repo.path / CONFIG).unlink()
    assert "at most" in only_problem(repo, b"#" * (configuration.MAX_CONFIG_BYTES + 1)).message


def test_writing_commands_refuse_on_a_problem(repo: Repo) -> None:
    repo.write(CONFIG, "nope: 1\nalso: 2\n")
    with pytest.raises(UsageProblem, match="Unknown key 'nope'") as caught:
        open_workspace(repo.path).require_config()
    assert len(caught.value.problems) == 2


def test_cache__second_load_reads_no_yaml(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    repo.write(CONFIG, "default_branch: trunk\n")
    load(repo)

    def fail(*_: object) -> Any:
        raise AssertionError("parsed again")

    monkeypatch.setattr(configuration, "parse_text", fail)
    assert load(repo)[0].default_branch == "trunk"


@pytest.mark.parametrize("junk", [b"", b"{", b"[]", b"\xff"])
def test_cache__a_damaged_cache_is_only_a_missed_one(repo: Repo, junk: bytes) -> None:
    repo.write(CONFIG, "default_branch: trunk\n")
    load(repo)
    for cached in (repo.path / ".git" / "muniment" / "cache").glob("config-*"):
        cached.write_bytes(junk)
    assert load(repo)[0].default_branch == "trunk"


def test_load_at__reads_the_commit_not_the_working_tree(repo: Repo) -> None:
    repo.write(CONFIG, "owners: [a@example.org]\n")
    repo.commit("Owners")
    repo.write(CONFIG, "owners: [b@example.org]\n")
    workspace = open_workspace(repo.path)
    commit = workspace.repo.head().commit
    assert commit
    assert configuration.load_at(workspace.repo, commit)[0].owners == ("a@example.org",)
    assert workspace.config.owners == ("b@example.org",)


def test_show__prints_every_key_with_value_source_and_meaning(repo: Repo) -> None:
    repo.write(CONFIG, "default_branch: trunk\n")
    shown = muniment("config", "show", "--json", cwd=repo.path).ok().json
    assert shown["problems"] == []
    by_key = {one["key"]: one for one in shown["settings"]}
    assert set(by_key) == set(KEYS)
    assert by_key["default_branch"]["value"] == "trunk"
    assert by_key["default_branch"]["source"] == "committed"
    assert all(one["meaning"] for one in shown["settings"])
    text = muniment("config", "show", cwd=repo.path).ok().out
    assert 'default_branch: "trunk"  (committed)' in text
    assert all(spec.meaning in text for spec in KEYS.values())


def test_show__only_some_keys_and_a_misspelt_one(repo: Repo) -> None:
    shown = muniment("config", "show", "docs_root", "--json", cwd=repo.path).ok().json
    assert [one["key"] for one in shown["settings"]] == ["docs_root"]
    wrong = muniment("config", "show", "doc_root", cwd=repo.path)
    assert wrong.code == 2
    assert "did you mean docs_root?" in wrong.err


def test_show__problems_exit_with_2_and_still_show_everything(repo: Repo) -> None:
    repo.write(CONFIG, "nope: 1\n")
    shown = muniment("config", "show", "--json", cwd=repo.path)
    assert shown.code == 2
    assert shown.json["problems"][0]["path"] == CONFIG
    assert len(shown.json["settings"]) == len(KEYS)
    assert f"{CONFIG}:1: Unknown key 'nope'" in muniment("config", "show", cwd=repo.path).err


def test_show__writes_nothing_outside_the_git_folder(repo: Repo) -> None:
    repo.write(CONFIG, "default_branch: trunk\n")
    repo.commit("Settings")
    muniment("config", "show", cwd=repo.path).ok()
    assert repo.status() == ""


def test_local__that_is_tracked_gives_nothing(repo: Repo) -> None:
    """A branch must not choose its own judge by committing a file that passes for this machine's (C9)."""
    repo.write(".muniment/config.local.yaml", "default_branch: fork\n")
    assert open_workspace(repo.path).config.default_branch == "fork", "untracked, it is this machine's own"
    repo.git("add", "-f", ".muniment/config.local.yaml")
    ws = open_workspace(repo.path)
    assert ws.config.default_branch == ""
    assert "tracked by git" in ws.config_problems[0].message
    assert ws.config_problems[0].fix == "git rm --cached -- .muniment/config.local.yaml"


def test_docs_root__default_that_leads_outside_is_named(repo: Repo, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (repo.path / "docs").symlink_to(tmp_path / "outside")
    result = muniment("ledger", "add", "--kind", "note", "--data", "{}", "--json", cwd=repo.path)
    assert result.code == 2
    assert "docs_root: 'docs'" in result.json["error"]["message"]
    assert list((tmp_path / "outside").iterdir()) == []


def test_docs_root__link_to_a_folder_inside_stands_for_that_folder(repo: Repo) -> None:
    (repo.path / "site" / "documentation").mkdir(parents=True)
    (repo.path / "docs").symlink_to("site/documentation")
    assert open_workspace(repo.path).config.ledger_path == "site/documentation/reviews/ledger.json"
    muniment("ledger", "add", "--kind", "note", "--data", "{}", cwd=repo.path).ok()
    assert (repo.path / "docs/reviews/ledger.json").exists()
    assert muniment("check", "--json", cwd=repo.path).ok().json["ok"] is True
