"""The index of a real repository: what is found, and that it follows every change."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from muniment.documents.stages import Standing
from muniment.relate import index
from muniment.relate.index import Related, Relations
from muniment.relate.rank import Verdict
from muniment.workspace import open_workspace
from tests.support.cli import muniment
from tests.support.docs_tree import plant
from tests.support.repo import Repo


@pytest.fixture
def planted(repo: Repo) -> Repo:
    return plant(repo)


def asked(repo: Repo, title: str, text: str = "", **options: object) -> Relations:
    return index.relate(open_workspace(repo.path), title, text, **options)  # type: ignore[arg-type]


def top(repo: Repo, title: str, text: str = "") -> Related:
    found = asked(repo, title, text)
    assert found.results, f"nothing found for {title!r}"
    return found.results[0]


EVERY_KIND = {
    "After an edit search shows the stale title of a recipe": ("doc", "docs/bugs/stale-search.md:1", "open"),
    "Identify the speaker in group calls": ("decision", "docs/ideas/voice.md:7", "decision"),
    "Reminder fired an hour late after daylight saving": (
        "doc",
        "docs/archive/timezone-reminders.md:1",
        "landed",
    ),
    "Amounts vanish when merging two lists": ("pending", "docs/pending-verification.md:3", "pending"),
    "Convert cups to grams between units": ("decision", "docs/goals/lists/decisions.md:3", "decision"),
    "Share my list by a link": ("story", "docs/goals/lists/roadmap.md:9", "open"),
    "It messaged members before 8 in the morning": ("decision", "CLAUDE.md:3", "decision"),
    "Greeted a member by the wrong nickname": (
        "report",
        "docs/reviews/2026-05-01-helper-daily.json:2",
        "earlier-review",
    ),
    "Bot replied twice after a retried webhook": ("commit", "src/gateway.py:0", "landed"),
}


@pytest.mark.parametrize("title", EVERY_KIND)
def test_relate__finds_every_kind_with_its_place(planted: Repo, title: str) -> None:
    found = top(planted, title)
    assert (found.type, f"{found.path}:{found.line}", found.status) == EVERY_KIND[title]
    assert found.verdict in {Verdict.DUPLICATE, Verdict.RELATED}
    assert found.matched


def test_relate__a_commit_carries_its_id_and_an_archived_document_the_commit_that_landed_it(
    planted: Repo,
) -> None:
    fix = planted.head()
    first = planted.git("rev-parse", "HEAD~1")
    assert top(planted, "Bot replied twice after a retried webhook").commit == fix
    assert top(planted, "Reminder fired an hour late after daylight saving").commit == first
    planted.write(
        "docs/archive/timezone-reminders.md", "# Reminders fire an hour late after daylight saving\n\nMore.\n"
    )
    planted.commit("Reword")
    assert top(planted, "Reminder fired an hour late after daylight saving").commit == first
    planted.git("mv", "docs/bugs/stale-search.md", "docs/archive/stale-search.md")
    moved = planted.commit("Close the bug")
    found = top(planted, "After an edit search shows the stale title of a recipe")
    assert (found.path, found.status, found.commit) == ("docs/archive/stale-search.md", "landed", moved)


def test_relate__abstains_on_what_nothing_covers(planted: Repo) -> None:
    found = asked(planted, "The database connection pool is exhausted under load")
    assert found == Relations(abstained=True, results=())


def test_relate__a_fingerprint_or_alias_in_the_ledger_is_certain(planted: Repo) -> None:
    subject, alias = "bug/code/double-reply", "bug/code/answers-twice"
    finding = {
        "subject": subject,
        "report": "r",
        "finding": "f",
        "title": "Replies come twice",
        "bot": "helper",
    }
    decision = {"subject": subject, "action": "reject", "proposed": "reject", "reason": "Works as designed"}
    for kind, data in (
        ("finding", finding),
        ("decision", decision),
        ("alias", {"alias": alias, "canonical": subject}),
    ):
        muniment("ledger", "add", "--kind", kind, "--data", json.dumps(data), cwd=planted.path).ok()
    for name in (subject, alias):
        found = asked(planted, "Something else entirely", fingerprint=name).results[0]
        assert (found.type, found.fingerprint, found.verdict, found.score) == (
            "ledger",
            subject,
            "duplicate",
            1.0,
        )
        assert (found.status, found.stage) == ("decision", "reject")
    by_meaning = top(planted, "Replies come twice")
    assert (by_meaning.type, by_meaning.fingerprint) == ("ledger", subject)
    assert by_meaning.path == "docs/reviews/ledger.json"
    assert by_meaning.line > 1


def test_relate__excluded_paths_are_no_answer(planted: Repo) -> None:
    report = "docs/reviews/2026-05-01-helper-daily.json"
    title = "The bot greets every member by a wrong nickname."
    assert top(planted, title).path == report
    found = asked(planted, title, fingerprint="bug/prompt/wrong-nickname", exclude={report})
    assert report not in {one.path for one in found.results}


def test_relate__sees_untracked_changed_moved_and_removed_files(planted: Repo) -> None:
    title = "Widgets explode in the warehouse"
    assert asked(planted, title).abstained
    planted.write("docs/bugs/widgets.md", "# Widgets explode in the warehouse\n")
    assert top(planted, title).path == "docs/bugs/widgets.md"
    planted.write("docs/bugs/widgets.md", "# Gadgets melt in the greenhouse\n")
    assert asked(planted, title).abstained
    assert top(planted, "Gadgets melt in the greenhouse").status == Standing.OPEN
    (planted.path / "docs/bugs/widgets.md").rename(planted.path / "docs/archive/widgets.md")
    found = top(planted, "Gadgets melt in the greenhouse")
    assert (found.path, found.status, found.commit) == ("docs/archive/widgets.md", Standing.LANDED, "")
    (planted.path / "docs/archive/widgets.md").unlink()
    assert asked(planted, "Gadgets melt in the greenhouse").abstained


def test_relate__a_change_of_the_same_size_and_time_is_seen(planted: Repo) -> None:
    path = planted.write("docs/bugs/twin.md", "# Widgets explode in the warehouse\n")
    stamp = path.stat()
    assert top(planted, "Widgets explode in the warehouse")
    path.write_text("# Gadgets implode at the waterside\n")
    os.utime(path, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    assert top(planted, "Gadgets implode at the waterside").path == "docs/bugs/twin.md"
    assert asked(planted, "Widgets explode in the warehouse").abstained


def test_relate__ignored_files_are_left_out_but_local_instructions_are_read(planted: Repo) -> None:
    planted.write(".gitignore", "docs/bugs/secret.md\nCLAUDE.local.md\n")
    planted.write("docs/bugs/secret.md", "# Widgets explode in the warehouse\n")
    planted.write("CLAUDE.local.md", "- Gadgets are never repaired on Sundays.\n")
    assert asked(planted, "Widgets explode in the warehouse").abstained
    assert top(planted, "Gadgets repaired on Sundays").path == "CLAUDE.local.md"


def test_relate__more_files_by_relate_paths(planted: Repo) -> None:
    planted.write("policy/owner.txt", "Gadgets are never repaired on Sundays.\n")
    assert asked(planted, "Gadgets repaired on Sundays").abstained
    planted.write(".muniment/config.yaml", "relate_paths: [policy]\n")
    found = top(planted, "Gadgets repaired on Sundays")
    assert (found.path, found.type, found.stage) == ("policy/owner.txt", "decision", "instructions")


def test_relate__marked_up_texts_elsewhere_are_for_reference(planted: Repo) -> None:
    text = "# Widgets explode in the warehouse\n\n## Out of scope\n\n- Gadgets melt in the greenhouse.\n"
    planted.write("manual/widgets.md", text)
    planted.write("manual/widgets.txt", "Kettles whistle without water.\n")
    title = "Widgets explode in the warehouse"
    assert asked(planted, title).abstained, "untracked, and not under docs_root"
    planted.git("add", "manual")
    found = top(planted, title)
    assert (found.path, found.stage, found.status) == ("manual/widgets.md", "docs", "reference")
    assert {one.type for one in asked(planted, "Gadgets melt in the greenhouse").results} == {"doc"}
    assert asked(planted, "Kettles whistle without water").abstained
    planted.write("README.md", text.replace("Gadgets", "Sprockets"))
    assert "decision" in {one.type for one in asked(planted, "Sprockets melt in the greenhouse").results}


def test_relate__follows_history(planted: Repo) -> None:
    title = "Teleport parcels through walls"
    assert asked(planted, title).abstained
    planted.git("checkout", "-q", "-b", "side")
    planted.write("src/teleport.py", "x = 1\n")
    commit = planted.commit("Teleport parcels through walls")
    assert top(planted, title).commit == commit
    planted.git("checkout", "-q", "main")
    assert asked(planted, title).abstained, "a commit that HEAD can't reach has not landed"
    planted.git("merge", "-q", "--no-ff", "-m", "Merge side", "side")
    assert top(planted, title).commit == commit


def test_relate__only_the_newest_commits_count(planted: Repo) -> None:
    title = "Bot replied twice after a retried webhook"
    planted.write(".muniment/config.yaml", "relate_commits: 1\n")
    assert top(planted, title).type == "commit"
    planted.write("src/other.py", "x = 1\n")
    planted.commit("Sort imports")
    assert asked(planted, title).abstained
    planted.write(".muniment/config.yaml", "relate_commits: 0\n")
    assert asked(planted, "Sort imports").abstained


def test_relate__filing_a_bug_is_not_landed_work(planted: Repo) -> None:
    planted.write("docs/bugs/widgets.md", "# Widgets explode\n")
    planted.commit("File: widgets explode in the warehouse")
    assert {one.type for one in asked(planted, "Widgets explode in the warehouse").results} == {"doc"}


def test_relate__in_a_shallow_clone_what_the_first_commit_changed_is_unknown(
    planted: Repo, tmp_path: Path
) -> None:
    subprocess.run(
        ["git", "clone", "-q", "--depth", "1", planted.path.as_uri(), str(tmp_path / "shallow")], check=True
    )
    shallow = Repo(tmp_path / "shallow")
    assert top(shallow, "Reminder fired an hour late after daylight saving").commit == ""
    found = top(shallow, "Bot replied twice after a retried webhook")
    assert (found.type, found.path, found.commit) == ("commit", "", planted.head())
    (said,) = asked(shallow, "Anything").skipped
    assert said.fix == "git fetch --unshallow"
    shallow.git("fetch", "-q", "--unshallow")
    assert asked(shallow, "Anything").skipped == ()
    assert top(shallow, "Reminder fired an hour late after daylight saving").commit


def test_relate__in_a_clone_without_trees_messages_are_searched(planted: Repo, tmp_path: Path) -> None:
    planted.git("config", "uploadpack.allowFilter", "true")
    source = planted.path.as_uri()
    subprocess.run(["git", "clone", "-q", "--filter=tree:0", source, str(tmp_path / "partial")], check=True)
    partial = Repo(tmp_path / "partial")
    found = asked(partial, "Bot replied twice after a retried webhook")
    assert (found.results[0].type, found.results[0].commit) == ("commit", planted.head())
    assert [one.rule for one in found.skipped] == ["relate-partial"]


def test_relate__in_a_sha256_repository(tmp_path: Path) -> None:
    repo = plant(Repo.init(tmp_path / "sha256", "--object-format=sha256"))
    found = top(repo, "Reminder fired an hour late after daylight saving")
    assert found.commit == repo.git("rev-parse", "HEAD~1")


def test_relate__links_and_names_that_are_no_text(planted: Repo) -> None:
    (planted.path / "AGENTS.md").symlink_to("CLAUDE.md")
    name = b"docs/bugs/odd\xff\n.md".decode("utf-8", "surrogateescape")
    planted.write(name, "# Widgets explode in the warehouse\n")
    assert top(planted, "Widgets explode in the warehouse").path == name
    assert asked(planted, "Anything").skipped == ()
    answer = muniment("relate", "Widgets explode in the warehouse", "--json", cwd=planted.path).ok()
    assert answer.json["results"][0]["path"] == name


def test_relate__on_an_unborn_branch(tmp_path: Path) -> None:
    repo = Repo.init(tmp_path / "unborn")
    assert asked(repo, "Widgets explode in the warehouse").abstained
    repo.write("docs/bugs/widgets.md", "# Widgets explode in the warehouse\n")
    assert top(repo, "Widgets explode in the warehouse").path == "docs/bugs/widgets.md"


def test_relate__reading_writes_nothing_but_its_cache(planted: Repo) -> None:
    def seen() -> dict[str, tuple[int, int]]:
        files = (path for path in planted.path.rglob("*") if path.is_file())
        return {
            str(path.relative_to(planted.path)): (path.stat().st_mtime_ns, path.stat().st_size)
            for path in files
            if ".git/muniment/cache" not in path.as_posix()
        }

    before = seen()
    asked(planted, "Widgets explode in the warehouse")
    assert seen() == before
    cache = {path: path.stat().st_mtime_ns for path in (planted.path / ".git/muniment/cache").rglob("*")}
    assert cache


def test_relate__a_warm_answer_equals_a_cold_one(planted: Repo) -> None:
    title = "Merged shopping lists lost an amount after an edit"
    cold = asked(planted, title)
    assert asked(planted, title) == cold
    index.drop(open_workspace(planted.path))
    assert asked(planted, title) == cold


@pytest.mark.parametrize("damage", ["empty", "cut", "flipped", "binary", "older", "folder"])
def test_relate__a_damaged_cache_is_built_again_in_silence(planted: Repo, damage: str) -> None:
    title = "Share my list by a link"
    expected = asked(planted, title)
    for name in ("documents", "records", "history"):
        (path,) = (planted.path / ".git/muniment/cache/relate").glob(f"*/{name}")
        data = path.read_bytes()
        if damage == "folder":
            path.unlink()
            path.mkdir()
            continue
        path.write_bytes(
            {
                "empty": b"",
                "cut": data[: len(data) // 2],
                "flipped": data[:-1] + bytes([data[-1] ^ 1]),
                "binary": bytes(range(256)) * 40,
                "older": data.replace(b'"version":"', b'"version":"0', 1),
            }[damage]
        )
    assert asked(planted, title) == expected


def test_relate__survives_a_cache_that_cannot_be_written(planted: Repo) -> None:
    target = planted.path / ".git/muniment/cache/relate"
    target.parent.mkdir(parents=True)
    target.write_text("a file where the folder should be")
    assert top(planted, "Share my list by a link").type == "story"


def test_relate__many_processes_at_once_agree(planted: Repo) -> None:
    command = [
        sys.executable,
        "-m",
        "muniment",
        "-C",
        str(planted.path),
        "relate",
        "Share my list by a link",
        "--json",
    ]

    def one(_: int) -> str:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    with ThreadPoolExecutor(4) as pool:
        answers = set(pool.map(one, range(6)))
    assert len(answers) == 1
    (folder,) = (planted.path / ".git/muniment/cache/relate").iterdir()
    assert {path.name for path in folder.iterdir()} == {"documents", "records", "history", "stamp"}


def test_relate__each_worktree_has_its_own_files(planted: Repo, tmp_path: Path) -> None:
    planted.git("worktree", "add", "-q", str(tmp_path / "other"))
    other = Repo(tmp_path / "other")
    other.write("docs/bugs/widgets.md", "# Widgets explode in the warehouse\n")
    title = "Widgets explode in the warehouse"
    assert top(other, title)
    assert asked(planted, title).abstained
    assert top(other, title)


def test_relate__odd_files_are_read_or_named(planted: Repo, tmp_path: Path) -> None:
    outside = tmp_path / "outside.md"
    outside.write_text("# Widgets explode in the warehouse\n")
    bugs = planted.path / "docs/bugs"
    (bugs / "link.md").symlink_to(outside)
    (bugs / "latin.md").write_bytes("# Bügeleisen überhitzt täglich\n".encode("cp1252"))
    (bugs / "bom.md").write_bytes(b"\xef\xbb\xbf# Kettles whistle without water\r\n\r\nBoth ends.\r\n")
    (bugs / "utf16.md").write_bytes("# Toasters fly over rooftops\n".encode("utf-16"))
    (bugs / "binary.md").write_bytes(b"\x89PNG\0\0\0" * 100)
    (bugs / "huge.md").write_bytes(b"# Lamps flicker in the cellar\n" + b"word " * 2_100_000)
    os.mkfifo(bugs / "pipe.md")
    assert asked(planted, "Widgets explode in the warehouse").abstained
    for title, name in (
        ("Bügeleisen überhitzt täglich", "latin.md"),
        ("Kettles whistle without water", "bom.md"),
        ("Toasters fly over rooftops", "utf16.md"),
        ("Lamps flicker in the cellar", "huge.md"),
    ):
        assert top(planted, title).path == f"docs/bugs/{name}"
    said = {(problem.path, problem.rule) for problem in asked(planted, "Anything").skipped}
    assert said == {
        ("docs/bugs/link.md", "document-link"),
        ("docs/bugs/latin.md", "document-encoding"),
        ("docs/bugs/binary.md", "document-binary"),
        ("docs/bugs/huge.md", "document-long"),
    }


def test_relate__a_long_document_is_searched_by_section(planted: Repo) -> None:
    parts = [f"## Part {number}\n\n" + f"filler{number} " * 400 + "\n" for number in range(40)]
    parts[30] += "\nWidgets explode in the warehouse when stacked.\n"
    planted.write("docs/ideas/long.md", "# A long document\n\n" + "\n".join(parts))
    found = top(planted, "Widgets explode in the warehouse")
    text = (planted.path / "docs/ideas/long.md").read_text().split("\n")
    assert found.path == "docs/ideas/long.md"
    assert text[found.line - 1] == "## Part 30"


def test_relate__odd_reports_are_no_trouble(planted: Repo) -> None:
    for name, data in (
        ("broken.json", b'{"findings": ['),
        ("list.json", b"[1, 2]"),
        ("odd.json", b'{"findings": [1, {"id": 7, "what_went_wrong": ["x"]}, {"id": "\\ud800"}]}'),
        ("deep.json", b"[" * 100_000),
    ):
        planted.write(f"docs/reviews/{name}", data)
    assert top(planted, "Share my list by a link").type == "story"


def test_relate__a_broken_ledger_hides_nothing_else(planted: Repo) -> None:
    planted.write("docs/reviews/ledger.json", b"<<<<<<< ours\nnot json\n")
    assert top(planted, "Share my list by a link").type == "story"


def test_search__shows_weak_matches_and_filters_by_stage(planted: Repo) -> None:
    ws = open_workspace(planted.path)
    assert index.search(ws, "audio", limit=5).results[0].path == "docs/ideas/voice.md"
    found = index.search(ws, "list", limit=5, stage="roadmap").results
    assert {one.stage for one in found} == {"roadmap"}


def test_split_text() -> None:
    assert index.split_text("# A title\n\nThe rest") == ("A title", "\nThe rest")
    title, rest = index.split_text("word " * 100)
    assert len(title) <= index.TITLE_CHARS
    assert rest.startswith("word word")


def test_relate__a_repository_moved_elsewhere_starts_its_cache_anew(planted: Repo, tmp_path: Path) -> None:
    top(planted, "Share my list by a link")
    shutil.move(planted.path, tmp_path / "moved")
    assert top(Repo(tmp_path / "moved"), "Share my list by a link").type == "story"
