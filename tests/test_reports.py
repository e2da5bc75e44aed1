"""Reports: found in folders and over ssh, gated first, rendered, and copied over nothing (C3, C4, C7)."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path
from typing import Any

import mdformat
import pytest
from hypothesis import given, settings

from muniment import reports, reports_find
from muniment.findings import parse_report
from muniment.markdown import code_lines, headings, lines_of, links
from muniment.redact.gate import Gate
from muniment.redact.rules import KnownNames
from muniment.reports_find import Found, Remote, find, parse_remote, remote_command, ssh_arguments
from muniment.workspace import open_workspace
from tests.support.cli import muniment
from tests.support.markdown_text import hostile_text, prettier, prettier_missing
from tests.support.repo import Repo
from tests.support.reports import data, finding, report, write

LAYERS = ("code", "config")
PHONE = "+1 202 555 0143"


def judge(raw: bytes, **gate: Any) -> reports.Judged:
    return reports.judge(raw, "r.json", Gate(**gate), LAYERS)


def page(*findings: Any, **fields: Any) -> str:
    found = parse_report(data(findings, **fields), "r", None)[0]
    assert found is not None
    return reports.page(found)


# --- the gate comes first


@pytest.mark.parametrize(
    "made",
    [
        data([finding("a", excerpt=f"call {PHONE}")]),
        data([finding("a", space="+12025550143@s.whatsapp.net")]),
        data([finding("a", what_went_wrong="write to kim.person@firm.test")]),
        data([finding("a", colour=PHONE)]),
        data([{"id": PHONE}]),
        data([f"{PHONE}"]),
        data(version=PHONE),
        data(surprise={"deep": [PHONE]}),
        json.dumps(report([finding("a", excerpt="+1 202 555 0143")])).replace("202", "2\\u00302").encode(),
    ],
)
def test_judge__an_identifier_anywhere_refuses_before_validation(made: bytes) -> None:
    found = judge(made)
    assert found.report is None
    assert found.reason.startswith("The gate found ")
    assert "555" not in found.reason
    assert "kim" not in found.reason


def test_judge__an_identifier_across_an_escaped_line_end() -> None:
    assert judge(data([finding("a", excerpt="call +1 202\n555 0143")])).report is None


def test_judge__a_known_name() -> None:
    made = data([finding("a", excerpt="Kim Possible said so")])
    assert judge(made).report is not None
    assert judge(made, known=KnownNames.parse("Kim Possible")).report is None


def test_judge__long_message_ids_are_no_phone_numbers() -> None:
    assert judge(data([finding("a", message_ids=[1711234567, 4915112345678])])).report is not None


# --- the page


def test_page__says_everything() -> None:
    text = page(
        finding("a-b", severity="minor"),
        finding("c", severity="high", confidence=0.91, message_ids=[1, 2]),
        finding("bad", severity="urgent"),
        coverage={"spaces": {"client": 2}, "exchanges": 12, "skipped": [{"id": 3, "reason": "no reply"}]},
        weekly={"clusters": [{"fingerprint": "bug/code/c", "count": 2}], "recall": 0.5},
        kind="weekly",
    )
    assert [heading.text for heading in headings(text)][:3] == [
        "Review of web, 2026-03-02 (weekly)",
        "Findings",
        "f-c: C",
    ]
    for part in (
        "**unverified**",
        "running version: `1.0.0`",
        "exchanges: 12, skipped: 1",
        "dropped here: 1 invalid",
        "messages: 1, 2",
        "cost: not stated",
        "no reply",
        "## Weekly synthesis",
        "recall: 0.5",
    ):
        assert part in text, part


def test_page__is_a_fixed_point_of_mdformat() -> None:
    text = page(finding("a", "1. *x*\n- b\n\n# c", excerpt="a_b_c <b>\n\n```"), finding("b"), finding("c"))
    assert mdformat.text(text) == text


@pytest.mark.skipif(bool(prettier_missing()), reason=prettier_missing() or "prettier is there")
def test_page__is_a_fixed_point_of_prettier() -> None:
    text = page(finding("a", "1. *x*\n- b\n\n# c", excerpt="a_b_c <b>\n\n```"), finding("b"), finding("c"))
    assert prettier([text]) == [text]


@settings(max_examples=100, deadline=None)
@given(hostile_text(), hostile_text())
def test_page__hostile_text_stays_a_quotation(wrong: str, excerpt: str) -> None:
    wrong = wrong.encode("utf-8", "replace").decode() or "x"
    excerpt = excerpt.encode("utf-8", "replace").decode()
    plain = page(finding("a", "x", excerpt="y" if excerpt.strip() else ""))
    text = page(finding("a", wrong if wrong.strip() else "x", excerpt=excerpt, space=excerpt[:50] or "s"))
    assert [heading.text for heading in headings(text)] == [heading.text for heading in headings(plain)]
    quoted = code_lines(text)
    rest = "".join(line for number, line in enumerate(lines_of(text), 1) if number not in quoted)
    assert not links(rest)
    assert "<!--" not in text


# --- finding reports


def places(*found: Found) -> list[tuple[str, bool]]:
    return [(Path(one.origin).parent.name, one.data is not None) for one in found]


def test_find__folder(tmp_path: Path) -> None:
    write(tmp_path / "data" / "reviews", [finding("a")])
    write(tmp_path / "data" / "reviews", date="2026-03-03")
    (tmp_path / "data" / "other.json").write_text("{}")
    found = list(find("data", tmp_path, {}))
    assert places(*found) == [("2026-03-02-web-daily", True), ("2026-03-03-web-daily", True)]


def test_find__one_file_of_any_name(tmp_path: Path) -> None:
    (tmp_path / "mine.json").write_bytes(data())
    assert [one.data for one in find("mine.json", tmp_path, {})] == [data()]
    assert [one.data for one in find("~/mine.json", Path("/"), {"HOME": str(tmp_path)})] == [data()]


def test_find__what_is_no_report(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "big").mkdir()
    with (tmp_path / "big" / "report.json").open("wb") as stream:
        stream.truncate(100 * 1024 * 1024)
    (tmp_path / "pipe").mkdir()
    os.mkfifo(tmp_path / "pipe" / "report.json")
    (tmp_path / "folder" / "report.json").mkdir(parents=True)
    for place, word in (
        ("empty", "holds no report.json"),
        ("missing", "no such file"),
        ("big", "104857600 bytes"),
        ("pipe", "not a regular file"),
        ("folder", "holds no report.json"),
        ("nul\0byte", "can't be read"),
    ):
        (found,) = find(place, tmp_path, {})
        assert found.data is None
        assert word in found.reason, place


def test_find__links_in_a_folder_are_not_followed(tmp_path: Path) -> None:
    secret = write(tmp_path / "secret")
    (tmp_path / "data" / "a").mkdir(parents=True)
    (tmp_path / "data" / "a" / "report.json").symlink_to(secret)
    (tmp_path / "data" / "b").symlink_to(secret.parent)
    found = list(find("data", tmp_path, {}))
    assert [(one.data, "not followed" in one.reason) for one in found] == [(None, True), (None, True)]


# --- over ssh


@pytest.mark.parametrize(
    ("place", "remote"),
    [
        ("host:/data/reviews", Remote("", "host", "", "/data/reviews")),
        ("kim@host.example:reviews", Remote("kim", "host.example", "", "reviews")),
        ("ssh://host/data", Remote("", "host", "", "/data")),
        ("ssh://kim@host:2222/~/data", Remote("kim", "host", "2222", "~/data")),
        ("ssh://[::1]:22/x", Remote("", "::1", "22", "/x")),
        ("C:/reviews", None),
        ("./a:b", None),
        ("/a:b", None),
        ("-oProxyCommand=x:/a", None),
        ("ssh://-oProxyCommand=x/a", None),
        ("kim@-host:/a", None),
        ("-kim@host:/a", None),
        ("http://host/x", None),
    ],
)
def test_parse_remote(place: str, remote: Remote | None) -> None:
    assert parse_remote(place) == remote


def test_ssh_arguments__no_part_can_be_an_option() -> None:
    arguments = ssh_arguments(Remote("kim", "host", "22", "-rf; touch x"))
    assert arguments[arguments.index("--") :] == ["--", "host", remote_command("-rf; touch x")]
    assert "BatchMode=yes" in arguments


def fake_ssh(
    folder: Path, body: str = 'for last; do :; done\nexec sh -c "$last"\n', name: str = "ssh"
) -> dict[str, str]:
    """A program `ssh` that runs the remote command here, in `folder` as the other machine's home."""
    tools = folder / "tools"
    tools.mkdir()
    program = tools / name
    program.write_text(f'#!/bin/sh\ncd "{folder}"\nHOME="{folder}"\n{body}')
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    return {"PATH": f"{tools}:{os.environ['PATH']}", "HOME": str(folder)}


@pytest.mark.parametrize(
    "place", ["host:reviews", "host:~/reviews", "ssh://host/~/reviews", "host:-odd 'name' $(x)"]
)
def test_find__over_ssh_takes_reports_and_nothing_else(tmp_path: Path, place: str) -> None:
    folder = tmp_path / ("-odd 'name' $(x)" if "odd" in place else "reviews")
    write(folder, [finding("a")])
    made = write(folder, date="2026-03-03")
    (made.parent / "tags.json").write_text("private")
    found = list(find(place, tmp_path, fake_ssh(tmp_path)))
    assert [one.data is not None for one in found] == [True, True], found
    assert all(b"private" not in (one.data or b"") for one in found)


@pytest.mark.parametrize(
    ("body", "word"),
    [
        ("echo 'Permission denied (publickey).' >&2; exit 255", "Permission denied"),
        ("echo hello", "sent no archive"),
        ("exit 0", "holds no report.json"),
    ],
)
def test_find__ssh_that_fails_is_said(tmp_path: Path, body: str, word: str) -> None:
    (found,) = find("host:reviews", tmp_path, fake_ssh(tmp_path, body))
    assert found.data is None
    assert word in found.reason
    assert found.unavailable == (word != "holds no report.json")


def test_find__no_ssh_program(tmp_path: Path) -> None:
    (found,) = find("host:reviews", tmp_path, {"PATH": str(tmp_path)})
    assert (found.unavailable, "can't be run" in found.reason) == (True, True)


def test_find__over_rsync(tmp_path: Path) -> None:
    made = write(tmp_path / "reviews", [finding("a")])
    body = f'for last; do :; done\nprintf "%s\\n" "$@" > asked\nmkdir -p "$last/x"\ncp "{made}" "$last/x/"\n'
    found = list(find("rsync://host/mod/reviews", tmp_path, fake_ssh(tmp_path, body, "rsync")))
    assert [(one.origin, one.data) for one in found] == [
        ("rsync://host/mod/reviews/x/report.json", made.read_bytes())
    ]
    asked = (tmp_path / "asked").read_text().split("\n")
    assert asked[asked.index("--") + 1] == "rsync://host/mod/reviews/"
    assert "--exclude=*" in asked


@pytest.mark.parametrize("place", ["rsync://-x/mod", "ftp://host/x", "ssh://host", "rsync://host//x"])
def test_find__addresses_of_other_kinds_are_said(tmp_path: Path, place: str) -> None:
    (found,) = find(place, tmp_path, {"PATH": str(tmp_path)})
    assert (found.data, "no address" in found.reason) == (None, True)


# --- copies


def copy(repo: Repo, raw: bytes) -> reports.Copy | None:
    found = parse_report(raw, "r", None)[0]
    assert found is not None
    return reports.place_copy(open_workspace(repo.path), found, raw)


def test_place_copy__same_content_is_known_other_content_gets_the_next_name(repo: Repo) -> None:
    raw = data([finding("a")])
    assert copy(repo, raw) == reports.Copy("docs/reviews/2026-03-02-web-daily.json", known=False)
    repo.write("docs/reviews/2026-03-02-web-daily.json", raw)
    assert copy(repo, raw) == reports.Copy("docs/reviews/2026-03-02-web-daily.json", known=True)
    laid_out = json.dumps(json.loads(raw), indent=4, sort_keys=True).replace("\n", "\r\n").encode()
    assert copy(repo, laid_out) == reports.Copy("docs/reviews/2026-03-02-web-daily.json", known=True)
    other = data([finding("b")])
    assert copy(repo, other) == reports.Copy("docs/reviews/2026-03-02-web-daily-2.json", known=False)
    repo.write("docs/reviews/2026-03-02-web-daily-2.md", "mine")
    assert copy(repo, other) == reports.Copy("docs/reviews/2026-03-02-web-daily-3.json", known=False)


def test_place_copy__a_link_at_its_place_is_other_content(repo: Repo, tmp_path: Path) -> None:
    raw = data()
    (tmp_path / "elsewhere").write_bytes(b"{}")
    (repo.path / "docs" / "reviews").mkdir(parents=True)
    (repo.path / "docs/reviews/2026-03-02-web-daily.json").symlink_to("nothing-there")
    assert copy(repo, raw) == reports.Copy("docs/reviews/2026-03-02-web-daily-2.json", known=False)


# --- the command


def test_report_validate__outside_a_repository(tmp_path: Path) -> None:
    (tmp_path / "r.json").write_bytes(data([finding("a")]))
    result = muniment("report", "validate", str(tmp_path / "r.json"), "--json", cwd=tmp_path)
    assert result.code == 0
    assert (result.json["ok"], result.json["findings"], result.json["problems"]) == (True, 1, [])


@pytest.mark.parametrize(
    ("made", "reason"),
    [
        (data([finding("a", severity="x")]), ""),
        (data([finding("a")])[:-9], "truncated"),
        (data([finding("a", excerpt=PHONE)]), "gate"),
    ],
)
def test_report_validate__problems_are_exit_1(tmp_path: Path, made: bytes, reason: str) -> None:
    (tmp_path / "r.json").write_bytes(made)
    result = muniment("report", "validate", str(tmp_path / "r.json"), "--json", cwd=tmp_path)
    assert (result.code, result.json["ok"]) == (1, False)
    assert reason in result.json["reason"]
    assert result.json["problems"]


def test_report_render(tmp_path: Path) -> None:
    (tmp_path / "r.json").write_bytes(data([finding("a")]))
    result = muniment("report", "render", str(tmp_path / "r.json"), cwd=tmp_path).ok()
    assert result.out == page(finding("a"))
    assert muniment("report", "render", "-", cwd=tmp_path, stdin=data([finding("a")])).out == result.out


def test_report__for_people_and_in_a_repository(repo: Repo) -> None:
    repo.write(".muniment/config.yaml", "target_layers: [voice]\n")
    repo.write("r.json", data([finding("a"), finding("b", target_layer="voice", excerpt="x" * 3000)]))
    result = muniment("report", "validate", "r.json", cwd=repo.path)
    assert result.code == 1
    assert "1 findings are valid, 1 dropped" in result.err
    assert "is cut to 2000" in result.out
    repo.write("r.json", b"[]")
    result = muniment("report", "validate", str(repo.path / "r.json"), cwd=repo.path)
    assert "refused as a whole" in result.err
    assert muniment("report", "render", str(repo.path / "r.json"), cwd=repo.path).code == 1


def test_report__missing_file(tmp_path: Path) -> None:
    assert muniment("report", "validate", str(tmp_path / "no.json"), "--json", cwd=tmp_path).code == 4
    assert reports_find.NAME == "report.json"
