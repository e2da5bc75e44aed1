"""The gate of a repository, and both commands as a user runs them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from muniment.errors import Unavailable
from muniment.redact.gate import gate_for
from muniment.redact.spans import Span
from muniment.workspace import open_workspace
from tests.support.cli import muniment
from tests.support.repo import Repo

PHONE = "052-" + "2345678"
MAIL = "rina@" + "example.com"


def refused(repo: Repo, text: str) -> bool:
    return gate_for(open_workspace(repo.path)).inspect("docs/x.md", text.encode(), None) != ()


def test_gate_for__without_a_remote_head_gives_the_allow_list(repo: Repo) -> None:
    repo.write(".muniment/allow.txt", f"{MAIL}\n")
    assert refused(repo, MAIL), "the working tree gives nothing"
    repo.commit("Allow an address")
    assert not refused(repo, MAIL)
    assert refused(repo, PHONE)


def test_gate_for__with_a_remote_only_its_default_branch_counts(repo: Repo, tmp_path: Path) -> None:
    repo.bare_remote(tmp_path / "remote.git")
    repo.git("checkout", "-q", "-b", "feature")
    repo.write(".muniment/allow.txt", f"{MAIL}\n")
    repo.write(".muniment/config.yaml", "default_branch: feature\n")
    repo.commit("Allow what I like")
    repo.git("push", "-q", "origin", "feature")
    assert refused(repo, MAIL)
    repo.git("push", "-q", "origin", "feature:main")
    repo.git("fetch", "-q", "origin")
    assert not refused(repo, MAIL)


def test_gate_for__an_unknown_default_branch_allows_nothing(repo: Repo) -> None:
    repo.write(".muniment/allow.txt", f"{MAIL}\n")
    repo.commit("Allow an address")
    repo.git("remote", "add", "origin", "file:///nowhere")
    assert refused(repo, MAIL)


def test_gate_for__actors_and_the_git_user(repo: Repo) -> None:
    repo.write(".muniment/config.yaml", f"actors:\n  {MAIL}: rina\n")
    repo.commit("Name the actors")
    names = repo.path.parent / "names.txt"
    names.write_text("rina\nRobin Owner\n")
    repo.write(".muniment/config.local.yaml", f"bots: [{{name: b, from: /x, known_names: {names}}}]\n")
    assert not refused(repo, '{"actor":"rina","by":"Robin Owner"}')
    assert refused(repo, '{"title":"rina"}')


def test_gate_for__a_names_file_that_cannot_be_read_refuses(repo: Repo) -> None:
    repo.write(".muniment/config.local.yaml", "bots: [{name: b, from: /x, known_names: missing.txt}]\n")
    with pytest.raises(Unavailable, match=r"missing\.txt"):
        gate_for(open_workspace(repo.path))


def test_gate_for__asks_the_further_rule_set_where_it_is_installed(repo: Repo) -> None:
    pytest.importorskip("pybetterleaks")
    token = "gh" + "p_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"
    gate = gate_for(open_workspace(repo.path))
    assert gate.also is not None
    text = f"אחת\nשתיים {token}\npassword=localDevPassword\n"  # noqa: RUF001 - Hebrew on purpose
    assert [text[span.start : span.end] for span in gate.also(text)] == [token]


def test_gate_for__a_failing_further_rule_set_refuses(repo: Repo) -> None:
    def fail(_: str) -> Iterator[Span]:
        raise RuntimeError("the native library failed")

    gate = replace(gate_for(open_workspace(repo.path)), also=fail)
    assert [item.kind for item in gate.inspect("a.md", b"fine\n", None)] == ["error"]


def test_gate_command__paths_need_no_repository(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "x.md").write_text(f"fine\nring {PHONE} or Rina\n")
    (tmp_path / "a" / "y.md").write_text("fine\n")
    (tmp_path / "names").write_text("Rina\n")
    target = str(tmp_path / "a")
    result = muniment("gate", target, "--known", str(tmp_path / "names"), "--json", cwd=tmp_path)
    assert result.code == 1
    assert result.json == {
        "ok": False,
        "problems": [
            {"path": f"{target}/x.md", "line": 2, "column": 6, "kind": "phone"},
            {"path": f"{target}/x.md", "line": 2, "column": 21, "kind": "name"},
        ],
    }
    assert PHONE not in result.out + result.err
    clean = muniment("gate", f"{target}/y.md", "--json", cwd=tmp_path).ok()
    assert clean.json == {"ok": True, "problems": []}
    assert "names were not checked" in clean.err


def test_gate_command__wrong_usage(tmp_path: Path) -> None:
    assert muniment("gate", cwd=tmp_path).code == 2
    assert muniment("gate", "missing.md", cwd=tmp_path).code == 4
    assert muniment("gate", "--range", "A..B", cwd=tmp_path).code == 2


def test_gate_command__a_range_is_judged_commit_by_commit(repo: Repo) -> None:
    base = repo.head()
    repo.write("notes.md", f"ring {PHONE}\n")
    repo.commit("Add a note")
    repo.write("notes.md", "ring them\n")
    repo.commit(f"Take {MAIL} out")
    result = muniment("gate", "--range", f"{base}..HEAD", "--json", cwd=repo.path)
    assert result.code == 1
    assert sorted((item["path"], item["kind"]) for item in result.json["problems"]) == [
        ("commit message", "email"),
        ("notes.md", "phone"),
    ]
    after = muniment("gate", "--range", "HEAD..HEAD", "--json", cwd=repo.path).ok()
    assert after.json == {"ok": True, "problems": []}
    assert muniment("gate", "--range", "nowhere..HEAD", cwd=repo.path).code == 2
    assert muniment("gate", "--range", "HEAD", cwd=repo.path).code == 2


def test_gate_command__a_merge_adds_only_what_no_parent_has(repo: Repo) -> None:
    repo.write("old.md", f"{PHONE}\n")
    base = repo.commit("Old")
    repo.git("checkout", "-q", "-b", "side", "HEAD~1")
    repo.write("side.md", "fine\n")
    repo.commit("Side")
    repo.git("merge", "-q", "--no-edit", "main")
    assert muniment("gate", "--range", f"{base}..HEAD", cwd=repo.path).code == 0


def test_redact_command__prints_the_text_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "names").write_text("Rina\towner\n")
    (tmp_path / "in.md").write_bytes(f"Rina: {PHONE}\r\nno final newline".encode())
    result = muniment(
        "redact", str(tmp_path / "in.md"), "--known", str(tmp_path / "names"), cwd=tmp_path
    ).ok()
    assert result.out == "[owner-1]: [phone-1]\r\nno final newline"
    assert muniment("redact", cwd=tmp_path, stdin=PHONE).ok().out == "[phone-1]"
    assert muniment("redact", "--json", cwd=tmp_path, stdin=PHONE).ok().json == {"text": "[phone-1]"}
    assert muniment("redact", cwd=tmp_path, stdin=b"\xff").code == 1
    assert muniment("redact", "--known", "missing", cwd=tmp_path).code == 4


def test_redact_command__batch(tmp_path: Path) -> None:
    lines = [
        json.dumps({"id": 1, "text": f"Rina {PHONE}", "known_names": ["Rina"]}),
        json.dumps({"id": 2, "text": "fine", "known_names": []}),
        "not json",
        "",
        json.dumps({"id": 3, "text": "MDUyLTIzNDU2Nzg="}),
        json.dumps({"id": 4, "text": "x", "known_names": ["y"]}),
        json.dumps({"id": 5, "text": 7}),
        '{"id": 6, "text": "\\ud800"}',
    ]
    result = muniment("redact", "--batch", cwd=tmp_path, stdin="\n".join(lines)).ok()
    out = [json.loads(line) for line in result.out.splitlines()]
    assert out[0] == {"id": 1, "redacted": "[name-1] [phone-1]", "gate": "pass", "gate_raw": "refuse"}
    assert out[1] == {"id": 2, "redacted": "fine", "gate": "pass", "gate_raw": "pass"}
    assert [(item["id"], item["gate"], item["gate_raw"]) for item in out[2:]] == [
        (None, "refuse", "refuse"),
        (3, "refuse", "refuse"),
        (4, "refuse", "refuse"),
        (5, "refuse", "refuse"),
        (6, "refuse", "refuse"),
    ]


def test_gate_command__a_renamed_file_adds_nothing(repo: Repo) -> None:
    repo.write("notes.md", "Call +972522345678\n")
    start = repo.commit("Notes")
    repo.git("mv", "notes.md", "other.md")
    repo.commit("Rename")
    assert muniment("gate", "--range", f"{start}..HEAD", cwd=repo.path).code == 0
    repo.git("mv", "other.md", "third.md")
    repo.write("third.md", "Call +972522345678 or +972522345679\n")
    repo.commit("Rename and add")
    assert muniment("gate", "--range", f"{start}..HEAD", cwd=repo.path).code == 1
