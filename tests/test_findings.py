"""The report's schema: what is dropped, what is refused, and that nothing is ever believed (C3)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from muniment.findings import LIMIT_TEXT, ReportError, load_json, parse_report, strings
from tests.support.reports import data, finding, report

LAYERS = ("code", "config", "prompt", "profile")
SCHEMA = Path(__file__).parent.parent / "docs" / "formats" / "report.schema.json"


def parse(raw: bytes) -> Any:
    return parse_report(raw, "report.json", LAYERS)


def rules(raw: bytes) -> list[str]:
    return [problem.rule for problem in parse(raw)[1]]


def test_parse_report__valid() -> None:
    found, problems = parse(data([finding("a-b", severity="high"), finding("c")]))
    assert not problems
    assert [one.fingerprint for one in found.findings] == ["bug/code/a-b", "bug/code/c"]
    assert found.findings[0].title == "A b"
    assert (found.bot, found.date, found.kind, found.stem) == (
        *("web", "2026-03-02", "daily"),
        "2026-03-02-web-daily",
    )


@pytest.mark.parametrize(
    ("fields", "word"),
    [
        ({"kind": "buk"}, "did you mean bug"),
        ({"scope": "everywhere"}, "scope"),
        ({"severity": "urgent"}, "severity"),
        ({"target_layer": "kernel"}, "target_layer"),
        ({"confidence": 1.5}, "confidence"),
        ({"confidence": True}, "confidence"),
        ({"confidence": "0.5"}, "confidence"),
        ({"space": ""}, "space"),
        ({"excerpt": None}, "excerpt"),
        ({"what_went_wrong": "  "}, "what_went_wrong"),
        ({"message_ids": "7"}, "message_ids"),
        ({"id": "-rf"}, "id"),
        ({"id": "a\nb"}, "id"),
        ({"extra": 1}, "unknown key 'extra'"),
        ({"fingerprint": "bug/config/a"}, "from its kind"),
        ({"fingerprint": "feature/code/a"}, "from its kind"),
        ({"fingerprint": "bug/code/A-b"}, "slug"),
        ({"fingerprint": f"bug/code/{'a' * 61}"}, "slug"),
        ({"fingerprint": "bug/code/../../x"}, "slug"),
        ({"fingerprint": 3}, "slug"),
    ],
)
def test_parse_report__invalid_finding_is_dropped_and_counted(fields: dict[str, Any], word: str) -> None:
    found, problems = parse(data([finding("a", **fields), finding("good")]))
    assert [one.id for one in found.findings] == ["f-good"]
    assert (found.invalid, found.bad_ids) == (1, 0)
    assert [problem.rule for problem in problems] == ["finding"]
    assert word in problems[0].message


@pytest.mark.parametrize("key", ["id", "kind", "space", "fingerprint", "excerpt"])
def test_parse_report__missing_key_is_named(key: str) -> None:
    broken = finding("a")
    del broken[key]
    found, problems = parse(data([broken]))
    assert found.invalid == 1
    assert f"{key} missing" in problems[0].message


@pytest.mark.parametrize("ids", [["7"], [True], [1.5], [-1], [7, 7], [2**63]])
def test_parse_report__bad_ids_are_counted_apart(ids: list[Any]) -> None:
    found, problems = parse(data([finding("a", message_ids=ids)]))
    assert (found.invalid, found.bad_ids) == (0, 1)
    assert problems[0].rule == "bad-ids"


def test_parse_report__problem_names_the_line() -> None:
    raw = data([finding("a"), finding("b", severity="urgent")])
    line = raw[: raw.index(b'"f-b"')].count(b"\n") + 1
    assert parse(raw)[1][0].line == line


def test_parse_report__same_id_twice() -> None:
    found, _ = parse(data([finding("a"), finding("b", id="f-a")]))
    assert ([one.fingerprint.slug for one in found.findings], found.invalid) == (["a"], 1)


def test_parse_report__long_text_is_cut_and_said() -> None:
    found, problems = parse(data([finding("a", excerpt="x" * (LIMIT_TEXT + 5))]))
    assert found.findings[0].excerpt.endswith("… [5 more characters cut]")
    assert len(found.findings[0].excerpt) < LIMIT_TEXT + 40
    assert [problem.rule for problem in problems] == ["cut"]


def test_parse_report__own_layers_are_allowed() -> None:
    raw = data([finding("a", target_layer="voice")])
    assert parse(raw)[0].invalid == 1
    assert parse_report(raw, "r", (*LAYERS, "voice"))[0].invalid == 0  # type: ignore[union-attr]
    assert parse_report(raw, "r", None)[0].invalid == 0  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("fields", "word"),
    [
        ({"schema": "muniment.report/2"}, "Upgrade"),
        ({"schema": "other"}, "no report"),
        ({"bot": "../x"}, "bot"),
        ({"bot": "-rf"}, "bot"),
        ({"bot": "a/b"}, "bot"),
        ({"bot": "a\n"}, "bot"),
        ({"kind": "hourly"}, "kind"),
        ({"date": "2026-02-30"}, "calendar"),
        ({"date": "02/03/2026"}, "date"),
        ({"date": "2026-03-02\n"}, "date"),
        ({"commit": "main"}, "commit"),
        ({"version": 3}, "version"),
        ({"window": []}, "window"),
        ({"window": {"from": 1}}, "unknown key"),
        ({"findings": {}}, "findings"),
        ({"coverage": {"colour": 1}}, "unknown key"),
        ({"weekly": {"colour": 1}}, "unknown key"),
        ({"surprise": 1}, "Unknown key"),
        ({"verison": "1"}, "did you mean version"),
    ],
)
def test_parse_report__bad_header_refuses_the_report(fields: dict[str, Any], word: str) -> None:
    found, problems = parse(data([finding("a")], **fields))
    assert found is None
    assert word in problems[0].message


@pytest.mark.parametrize("key", ["schema", "bot", "version", "commit", "findings", "coverage", "window"])
def test_parse_report__missing_header_refuses_the_report(key: str) -> None:
    made = report()
    del made[key]
    assert parse(json.dumps(made).encode())[0] is None


@pytest.mark.parametrize(
    ("raw", "word"),
    [
        (b"", "truncated"),
        (data([finding("a")])[:-40], "truncated"),
        (b"\xef\xbb\xbf" + data(), "byte-order mark"),
        (b"\xff\xfe{", "not UTF-8"),
        (b"\x00\x01\xff\xfe", "binary"),
        (b'{"a": 1, "a": 2}', "twice"),
        (b'{"a": {"b": [{"c": 1, "c": 1}]}}', "twice"),
        (b'{"a": NaN}', "NaN"),
        (b'{"a": 1e999}', "too large"),
        (b'{"a": ' + b"9" * 5000 + b"}", "too long"),
        (b"[" * 100_000, "deep"),
        (b"[" * 40 + b"]" * 40, "deeper"),
        (b'{"a": "\\ud800"}', "surrogate"),
        (b"{'a': 1}", "not JSON"),
        (b"{} {}", "not JSON"),
        (b" " * (17 * 1024 * 1024), "at most"),
    ],
)
def test_load_json__refuses_what_has_no_single_meaning(raw: bytes, word: str) -> None:
    with pytest.raises(ReportError, match=word):
        load_json(raw)


def test_parse_report__not_an_object() -> None:
    assert rules(b"[]") == ["report"]


@settings(max_examples=200, deadline=None)
@given(
    st.recursive(
        st.none()
        | st.booleans()
        | st.integers()
        | st.floats(allow_nan=False, allow_infinity=False)
        | st.text(),
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=9), inner, max_size=4),
        max_leaves=12,
    ),
    st.sampled_from([*finding("a"), *report()]),
)
def test_parse_report__never_raises_for_a_wrong_value(value: Any, key: str) -> None:
    in_finding = key in finding("a")
    made = data(
        [finding("a", **{key: value}) if in_finding else finding("a")], **({} if in_finding else {key: value})
    )
    found, problems = parse(made)
    if found is not None:
        assert len(found.findings) + found.invalid + found.bad_ids == len(json.loads(made)["findings"])
        assert all(
            one.fingerprint == f"{one.kind}/{one.target_layer}/{one.fingerprint.slug}"
            for one in found.findings
        )
    else:
        assert problems


def test_schema_file__agrees_with_the_code() -> None:
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    check = jsonschema.Draft202012Validator(schema)
    assert not list(check.iter_errors(report([finding("a")])))
    for broken in (
        report([finding("a", severity="urgent")]),
        report([finding("a", extra=1)]),
        report([finding("a", fingerprint="bug/code/A")]),
        report([finding("a", message_ids=["7"])]),
        report(surprise=1),
        report(bot="../x"),
        report(date="today"),
        report(coverage={"colour": 1}),
    ):
        assert list(check.iter_errors(broken)), broken
        assert rules(json.dumps(broken).encode())


def test_strings__names_every_text_with_its_pointer() -> None:
    assert list(strings({"a": ["x", {"b/c": "y"}]})) == [
        (" (a key)", "a"),
        ("/a/0", "x"),
        ("/a/1 (a key)", "b/c"),
        ("/a/1/b~1c", "y"),
    ]
