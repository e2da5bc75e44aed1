"""YAML in and out: what is refused, the line-by-line reader against the full parser, surgical edits."""

from __future__ import annotations

import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from muniment import yaml_events, yaml_io, yaml_lines
from muniment.yaml_io import YamlError, dump, parse, set_item_fields


def slow(text: str) -> Any:
    """The full parser's value."""
    builder = yaml_io._Builder()
    for event in yaml_events.events(text):
        builder.take(event, event.start_mark.line + 1)
    return builder.root


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("a: 1\nb: 2\na: 3\n", 3, "twice (first on line 1)"),
        ("a:\n  b: 1\n  b: [1]\n", 3, "twice"),
        ("a: {b: 1, 'b': 2}\n", 1, "twice"),
        ("a:\n\tb: 1\n", 2, "\\t"),
        ("a: 1\n---\nb: 2\n", 2, "several"),
        ("a: [\n", 2, "Not valid"),
        ("a: 1\n<<<<<<< HEAD\nb: 1\n=======\n", 2, "conflict"),
        ("a: 1\n>>>>>>> other\n", 2, "conflict"),
        ("a: 1\n||||||| base\n", 2, "conflict"),
        ("a: 1\nb: \x01\n", 2, "control"),
        ("a: 1\n\0\n", 2, "binary"),
        ("a: *b\n", 1, "no finished anchor"),
        ("a: &a [*a]\n", 1, "no finished anchor"),
        ("? [1]\n: 2\n", 1, "only plain keys"),
        ("&a x: 1\n*a : 2\n", 2, "alias is used as a key"),
        ("a: " + "[" * 100, 1, "deeper"),
        ("a: !!int x\n", 1, "!!int"),
        ("a: b: c\n", 1, "not allowed here"),
        ("a: 'x\n", 2, "Not valid"),
    ],
)
def test_parse__refuses(text: str, line: int, words: str) -> None:
    with pytest.raises(YamlError) as caught:
        parse(text)
    assert (caught.value.line, words in caught.value.message) == (line, True), caught.value.message


def test_parse__alias_bomb_is_an_error_and_quick() -> None:
    bomb = "a0: &a0 [x,x,x,x,x,x,x,x,x]\n" + "".join(
        f"a{n}: &a{n} [{','.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 12)
    )
    with pytest.raises(YamlError, match="unfold"):
        parse(bomb)


def test_parse__huge_and_binary_are_errors_and_quick() -> None:
    before = time.process_time()
    for text in ("a: [1]\n" * (16 * 1024 * 1024), "x" * (20 * 1024 * 1024), "\0" * 10_000_000):
        with pytest.raises(YamlError):
            parse(text)
    assert time.process_time() - before < 20


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", None),
        ("# only\n", None),
        ("\ufeffa: 1\n", {"a": 1}),
        ("---\na: 1\n...\n", {"a": 1}),
        ("%YAML 1.1\n---\na: yes\n", {"a": "yes"}),
        ("a: 2026-01-02\nb: 2026-01-02T03:04:05Z\n", {"a": "2026-01-02", "b": "2026-01-02T03:04:05Z"}),
        (
            "a: 0x1F\nb: 0o17\nc: 017\nd: .inf\ne: 1e3\nf: -.5\n",
            {"a": 31, "b": 15, "c": 17, "d": ".inf", "e": 1000.0, "f": -0.5},
        ),
        (
            "a: !!str 12\nb: !foo 12\nc: !!float 1\nd: !!null ''\n",
            {"a": "12", "b": "12", "c": 1.0, "d": None},
        ),
        ("a: &x {b: [1]}\nc: *x\n", {"a": {"b": [1]}, "c": {"b": [1]}}),
        ("1: a\ntrue: b\n", {"1": "a", "true": "b"}),
        ("a: |\n  x\n   y\n\nb: >-\n  c\n  d\n", {"a": "x\n y\n", "b": "c d"}),
        ("a: |\n  x\n  y", {"a": "x\ny"}),
        ("a: |\n  x\n  ", {"a": "x\n"}),
        ("a: " + "9" * 5000 + "\n", {"a": "9" * 5000}),
        ("a: \"\\u2028\"\r\nb: 'it''s'\r\n", {"a": "\u2028", "b": "it's"}),
    ],
)
def test_parse__values(text: str, value: object) -> None:
    assert parse(text).value == value


def test_parse__lines() -> None:
    plain = parse("# c\na: 1\nb:\n  c: 2\n  d:\n    - x\n    - y\n")
    assert plain.line("a") == 2
    assert plain.line("b", "c") == 4
    assert plain.line("b", "d", 1) == 7
    assert plain.line("nowhere") == 0
    assert parse("a: &x 1\nb:\n  c: *x\n").line("b", "c") == 3


TOKENS = st.sampled_from(
    [
        "a",
        "b",
        "inbox:1",
        '"q:r"',
        "'s''t'",
        "key with space",
        "1",
        "true",
        "x" * 30,
        "- a",
        "-",
        "- k: v",
        "?",
        "é",
        "",
    ]
)
VALUES = st.sampled_from(
    [
        "", " ", " x", " 1", " 1.50", " -2", " -x", " - x", " null", " ~", " yes",
        " 'it''s'", ' "a\\nb\\u00e9"',
        ' "\\ud83d\\ude00"', " |", " |-", " |+", " >", " |2", " [1, 2]", ' {"a": 1}', ' {"a":1,"a":2}',
        " {a: 1}",
        " &x 1", " *x", " !t 1", " a: b", " a #c", " a#b", " # c", " 'x' # c", " 'x'#c", " @x", " %x", " `x",
        " x:", " 2026-01-02", " x  y ", " http://a.b/c?d#e", " “quoted”", " a\tb", "\tx",
        " [", " 'open", ' "o',
        " NaN", " [NaN]", " [1e5]", " =", " <<", " ^", " $x",
    ]
)  # fmt: skip


@st.composite
def near_yaml(draw: st.DrawFn) -> str:
    rows = []
    for _ in range(draw(st.integers(0, 8))):
        indent = " " * draw(st.sampled_from([0, 0, 0, 2, 2, 4, 1, 3]))
        kind = draw(st.integers(0, 9))
        if kind < 6:
            rows.append(f"{indent}{draw(TOKENS)}:{draw(VALUES)}")
        elif kind == 6:
            rows.append(f"{indent}-{draw(VALUES)}")
        elif kind == 7:
            rows.append(draw(st.sampled_from(["", "  ", "# c", "    # c", "---", "...", "\t", "      "])))
        else:
            rows.append(
                f"{indent}{draw(st.sampled_from(['text', 'more text', '# hash', 'a: b', '  deep', '- x']))}"
            )
    return draw(st.sampled_from(["\n", "\n", "\r\n"])).join(rows) + draw(st.sampled_from(["\n", ""]))


@settings(max_examples=1500, deadline=None)
@given(near_yaml())
def test_read__agrees_with_the_full_parser_on_whatever_it_takes(text: str) -> None:
    quick = yaml_lines.read(text)
    if quick is not None:
        assert quick[0] == slow(text)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**60), 2**60) | st.text(max_size=20)
    | st.sampled_from(["a\nb", "a\n\n b\n\tc", "\n", " a\nb", "a\nb ", "1.0", "null", "yes",
         "# x", "a: b", "a\r\nb"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)  # fmt: skip


@settings(max_examples=500, deadline=None)
@given(st.dictionaries(st.text(max_size=8), JSON, max_size=4))
def test_dump__reads_back(value: dict[str, object]) -> None:
    text = dump(value)
    assert parse(text).value == value
    assert slow(text) == value


STATE = """\
# the team's state
schema_version: 1 # keep
items:
  inbox:1:   # first
    id: "1"
    status: analyzed # soon
    title: 'It''s: broken'
    body: |-
      status: no
      # r: 9

  "inbox:2":
    # odd indent below
    status: "in_plan"
    zz_unknown: [1, 2]
last_run: {}
"""


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_set_fields__changes_those_lines_only(ending: str) -> None:
    text = STATE.replace("\n", ending)
    edited = yaml_io.set_fields(
        text, "items", {"inbox:1": {"status": "in_plan", "r": 3}, "inbox:2": {"r": 4}}
    )
    expected = (
        STATE.replace("status: analyzed # soon", "status: in_plan # soon")
        .replace("  inbox:1:   # first\n", "  inbox:1:   # first\n    r: 3\n")
        .replace('  "inbox:2":\n', '  "inbox:2":\n    r: 4\n')
    )
    assert edited == expected.replace("\n", ending)


def test_set_fields__by_line_costs_no_round_trip(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(yaml_io, "_round_trip", lambda *_: pytest.fail("the slow way was taken"))
    assert "r: 3" in yaml_io.set_fields(STATE, "items", {"inbox:1": {"status": "in_plan", "r": 3}})


def test_set_fields__same_values_change_nothing() -> None:
    assert yaml_io.set_fields(STATE, "items", {"inbox:1": {"status": "analyzed"}}) is STATE


@pytest.mark.parametrize(
    "text",
    [
        "items: {a: {status: x}} # flow\n",
        "items:\n  a: {status: x} # flow\n  b: {c: 1}\n",
        "items:\n  a:\n    status: >-\n      x\n      y\n    # note\n    t: 1\n",
        "items:\n  a:\n    status: &s x\n    t: *s\n",
        "\ufeffitems:\r\n  a: {status: x} # flow\r\n",
    ],
)
def test_set_fields__goes_through_a_round_trip_where_lines_are_not_enough(text: str) -> None:
    edited = yaml_io.set_item_fields(text, "items", "a", {"status": "new: one", "r": 1})
    value = parse(edited).value
    assert value["items"]["a"]["status"] == "new: one"
    assert value["items"]["a"]["r"] == 1
    assert edited.count("#") == text.count("#")
    assert edited.startswith("\ufeff") == text.startswith("\ufeff")
    assert ("\r\n" in edited) == ("\r\n" in text)


@pytest.mark.parametrize(
    "text",
    [
        "items:\n  a: 1\n",
        "items: []\n",
        "[]\n",
        "items:\n  b: {}\n",
        "a: [\n",
        "",
        "items:\n  a: &x {r: *x}\n",
    ],
)
def test_set_fields__refuses_and_names_why(text: str) -> None:
    with pytest.raises(YamlError):
        yaml_io.set_item_fields(text, "items", "a", {"r": 1})


@settings(max_examples=300, deadline=None)
@given(
    st.dictionaries(
        st.sampled_from(["inbox:1", "a b", "x:y:z", "é"]),
        st.dictionaries(st.sampled_from(["status", "r"]), st.text(max_size=9), min_size=1).flatmap(
            lambda edited: st.dictionaries(st.sampled_from(["title", "body"]), JSON).map(edited.__or__)
        ),
        min_size=1,
    ),
    JSON,
)
def test_set_fields__sets_any_value_and_keeps_the_rest(
    items: dict[str, dict[str, object]], value: object
) -> None:
    text = dump({"schema_version": 1, "items": items, "z": [1]})
    key = min(items)
    edited = yaml_io.set_item_fields(text, "items", key, {"status": value, "r": 7})
    expected = items | {key: items[key] | {"status": value, "r": 7}}
    assert parse(edited).value == {"schema_version": 1, "items": expected, "z": [1]}


@pytest.mark.parametrize("ending", ["\r", "\r\n", "\n"])
def test_set_item_fields__keeps_line_ends_of_every_kind(ending: str) -> None:
    text = "items:\n  a:1: # one\n    status: open # why\n  b:2:\n    status: open\n".replace("\n", ending)
    edited = set_item_fields(text, "items", "a:1", {"status": "closed", "r": 1})
    assert edited == text.replace("status: open # why", "status: closed # why").replace(
        f"# one{ending}", f"# one{ending}    r: 1{ending}"
    )


@pytest.mark.parametrize("odd", ["\x85", "\u2028", "\u2029"])
def test_set_item_fields__next_to_rare_line_ends_changes_nothing_else(odd: str) -> None:
    text = f'items:\n  a:1:\n    title: "x{odd}y"\n    status: open\n'
    try:
        edited = set_item_fields(text, "items", "a:1", {"status": "closed"})
    except YamlError:
        return
    assert parse(edited).value == {
        "items": {"a:1": {**parse(text).value["items"]["a:1"], "status": "closed"}}
    }


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a: 1\t# c\nb: 2\n", {"a": 1, "b": 2}),
        ("a:\t# c\n  - x \t # d\n", {"a": ["x"]}),
        ("\t# c\na: 'x'\t\n\t\nb: [1]\t# d", {"a": "x", "b": [1]}),
        ("---\t# c\r\na: x y\t#\r\n", {"a": "x y"}),
    ],
)
def test_parse__a_tab_before_a_comment_or_at_the_end(text: str, value: object) -> None:
    assert parse(text).value == value


@pytest.mark.parametrize("odd", ["\x85", "\u2028", "\u2029", "\x85\u2028\u2029"])
def test_parse__what_is_no_line_break_in_yaml_1_2(odd: str) -> None:
    text = f"a: |\n  x{odd}y\n  z\nb: >\n  x{odd}y\nc: 'x{odd}y'\nd: x{odd}y\n\"e{odd}f\": 1\n"
    found = parse(text)
    word = f"x{odd}y"
    assert found.value == {"a": f"{word}\nz\n", "b": f"{word}\n", "c": word, "d": word, f"e{odd}f": 1}
    assert [found.line(key) for key in ("a", "b", "c", "d")] == [1, 4, 6, 7]


def test_parse__private_characters_beside_them_stay() -> None:
    assert parse("a: |\n  \ue000\u2028\ue800\x85\n").value == {"a": "\ue000\u2028\ue800\x85\n"}


@pytest.mark.parametrize("blank", ["\t", " \t", "\t "])
def test_set_item_fields__keeps_a_comment_after_a_tab(blank: str) -> None:
    text = f"items:\n  a:1:{blank}# one\n    status: open{blank}# why\n    r: '1'{blank}# two\n"
    edited = set_item_fields(text, "items", "a:1", {"status": "closed", "r": 2})
    assert edited == text.replace("open", "closed").replace("'1'", "2")
