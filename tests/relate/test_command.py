"""`muniment relate` and its batch form, as commands."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.cli import muniment
from tests.support.docs_tree import plant
from tests.support.repo import Repo

KEYS = {
    "type",
    "path",
    "line",
    "title",
    "stage",
    "status",
    "score",
    "verdict",
    "matched",
    "commit",
    "fingerprint",
}
CORPUS = [
    {"id": "a", "title": "Search shows stale recipes", "text": "after an edit the index keeps the old title"},
    {"id": "b", "title": "Reminders fire late", "text": "one hour late after daylight saving"},
    {"id": "c", "title": "検索結果が古い", "text": "編集した後"},
]


@pytest.fixture
def planted(repo: Repo) -> Repo:
    return plant(repo)


def lines(items: list[dict[str, Any]]) -> str:
    return "".join(json.dumps(item, ensure_ascii=False) + "\n" for item in items)


def test_relate__json(planted: Repo) -> None:
    answer = muniment("relate", "Share my list by a link", "--json", cwd=planted.path).ok().json
    assert set(answer) == {"abstained", "results"}
    assert answer["abstained"] is False
    first = answer["results"][0]
    assert set(first) == KEYS
    assert (first["type"], first["path"], first["line"]) == ("story", "docs/goals/lists/roadmap.md", 9)
    assert first["verdict"] in {"duplicate", "related", "weak"}
    assert 0 <= first["score"] <= 1


def test_relate__abstaining_is_no_failure(planted: Repo) -> None:
    answer = muniment("relate", "quantum chromodynamics on a lattice", "--json", cwd=planted.path).ok().json
    assert answer == {"abstained": True, "results": []}
    said = muniment("relate", "quantum chromodynamics on a lattice", cwd=planted.path).ok().out
    assert "Nothing found" in said
    assert "no proof" in said


def test_relate__text_file_and_stdin_agree(planted: Repo, tmp_path: Path) -> None:
    text = "Share my list\nby a link"
    (tmp_path / "query.txt").write_text(text)
    answers = [
        muniment("relate", text, "--json", cwd=planted.path).ok().out,
        muniment("relate", "--file", str(tmp_path / "query.txt"), "--json", cwd=planted.path).ok().out,
        muniment("relate", "-", "--json", cwd=planted.path, stdin=text).ok().out,
        muniment("relate", "--file", "-", "--json", cwd=planted.path, stdin=text).ok().out,
    ]
    assert len(set(answers)) == 1


def test_relate__limit(planted: Repo) -> None:
    answer = muniment("relate", "list lists shopping", "--limit", "1", "--json", cwd=planted.path).ok().json
    assert len(answer["results"]) == 1


def test_relate__rebuild(planted: Repo) -> None:
    before = muniment("relate", "Share my list by a link", "--json", cwd=planted.path).ok().out
    assert (
        muniment("relate", "Share my list by a link", "--rebuild", "--json", cwd=planted.path).ok().out
        == before
    )
    assert "anew" in muniment("relate", "--rebuild", cwd=planted.path).ok().err


def test_relate__for_people_names_place_and_words(planted: Repo) -> None:
    said = muniment("relate", "Share my list by a link", cwd=planted.path).ok().out
    assert "docs/goals/lists/roadmap.md:9" in said
    assert "matched: " in said


def test_relate__a_hostile_title_prints_no_escapes(planted: Repo) -> None:
    planted.write("docs/bugs/evil.md", "# Widgets \x1b[31mexplode\x07 \u202ein the warehouse\n")
    said = muniment("relate", "Widgets explode in the warehouse", cwd=planted.path).ok().out
    assert "docs/bugs/evil.md" in said
    assert not {"\x1b", "\x07", "\u202e"} & set(said)


def test_relate__a_megabyte_of_binary_is_answered(planted: Repo) -> None:
    junk = bytes(range(256)) * 4096
    assert muniment("relate", "-", "--json", cwd=planted.path, stdin=junk).ok().json["abstained"] is True


@pytest.mark.parametrize(
    ("arguments", "stdin", "code"),
    [
        ((), "", 2),
        (("   ",), "", 2),
        (("-",), "", 2),
        (("text", "--file", "x"), "", 2),
        (("--file", "absent.txt"), "", 4),
        (("text", "--docs", "x"), "", 2),
        (("text", "--limit", "0"), "", 2),
        (("text", "--semantic"), "", 4),
        (("--batch", "text"), "", 2),
        (("--batch", "--docs", "absent.jsonl"), "", 4),
        (("--batch",), "not json", 2),
        (("--batch",), '{"title": "no id"}', 2),
        (("--batch",), '{"id": 1, "title": "x", "text": "y"}', 2),
        (("--batch",), "[]", 2),
    ],
)
def test_relate__mistakes(planted: Repo, arguments: tuple[str, ...], stdin: str, code: int) -> None:
    done = muniment("relate", *arguments, cwd=planted.path, stdin=stdin)
    assert done.code == code
    assert done.err.startswith("muniment: error: ")
    as_json = muniment("relate", *arguments, "--json", cwd=planted.path, stdin=stdin)
    assert set(as_json.json["error"]) >= {"code", "message", "hint"}


def test_batch__needs_no_repository(tmp_path: Path) -> None:
    (tmp_path / "docs.jsonl").write_text(lines(CORPUS), encoding="utf-8")
    queries = [
        {"id": "1", "title": "Stale recipe in search after an edit", "text": ""},
        {"id": "2", "title": "quantum lattice", "text": ""},
        {"id": "3", "title": "古い検索結果", "text": ""},
    ]
    done = muniment(
        "relate", "--batch", "--docs", str(tmp_path / "docs.jsonl"), cwd=tmp_path, stdin=lines(queries)
    ).ok()
    answers = [json.loads(line) for line in done.out.splitlines()]
    assert [answer["id"] for answer in answers] == ["1", "2", "3"]
    assert [answer["abstained"] for answer in answers] == [False, True, False]
    assert answers[0]["ranked"][0]["id"] == "a"
    assert answers[2]["ranked"][0]["id"] == "c"
    assert set(answers[0]["ranked"][0]) == {"id", "score", "verdict"}


def test_batch__limit_bom_blank_lines_and_surrogates(tmp_path: Path) -> None:
    corpus = "\ufeff" + lines(CORPUS) + "\n\n" + '{"id": "d", "title": "\\ud800 late", "text": "late"}\n'
    (tmp_path / "docs.jsonl").write_text(corpus, encoding="utf-8")
    query = json.dumps({"id": "1", "title": "Reminders late \ud800", "text": "search"}) + "\r\n\r\n"
    done = muniment("relate", "--batch", "--docs", "docs.jsonl", "--limit", "1", cwd=tmp_path, stdin=query)
    assert done.code == 4, "DOCS is relative to where the command runs, not to -C"
    done = muniment(
        "relate", "--batch", "--docs", str(tmp_path / "docs.jsonl"), "--limit", "1", cwd=tmp_path, stdin=query
    )
    assert len(json.loads(done.ok().out)["ranked"]) == 1


def test_batch__an_empty_corpus_or_no_query(tmp_path: Path) -> None:
    (tmp_path / "docs.jsonl").write_text("")
    query = lines([{"id": "1", "title": "Reminders late", "text": ""}])
    done = muniment(
        "relate", "--batch", "--docs", str(tmp_path / "docs.jsonl"), cwd=tmp_path, stdin=query
    ).ok()
    assert json.loads(done.out) == {"id": "1", "abstained": True, "ranked": []}
    done = muniment("relate", "--batch", "--docs", str(tmp_path / "docs.jsonl"), cwd=tmp_path, stdin="").ok()
    assert done.out == ""


def test_batch__every_bad_line_is_named(tmp_path: Path) -> None:
    (tmp_path / "docs.jsonl").write_text(lines(CORPUS) + "oops\n{}\n")
    done = muniment(
        "relate", "--batch", "--docs", str(tmp_path / "docs.jsonl"), "--json", cwd=tmp_path, stdin=""
    )
    assert done.code == 2
    assert [problem["line"] for problem in done.json["error"]["problems"]] == [4, 5]


def test_batch__over_the_repository(planted: Repo) -> None:
    query = lines([{"id": "1", "title": "Share my list by a link", "text": ""}])
    answer = json.loads(muniment("relate", "--batch", cwd=planted.path, stdin=query).ok().out)
    assert answer["ranked"][0]["path"] == answer["ranked"][0]["id"] == "docs/goals/lists/roadmap.md"
