"""Edits to the text: the lines concerned change, everything else stays byte for byte (G2)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from muniment import yaml_io
from muniment.state import claim, edit, legacy, operations, outline, spelling, text
from muniment.state.operations import REMOVE, Answer, Edit, Unplaceable, Word
from muniment.state.text import Corrupt, StateText
from tests.support.state_model import Model

CASES = Path(__file__).parent.parent / "data" / "state" / "edit.md"
NOW = "2026-12-01T12:00:00Z"


def cases() -> Iterator[tuple[str, str, str, str]]:
    """Title, text, edits and expectation of each case; a line with a dot ends a part."""
    parts: list[str] = [""]
    for line in CASES.read_text(encoding="utf-8").splitlines(keepends=True):
        if line == ".\n":
            parts.append("")
        else:
            parts[-1] += line
    for number in range(0, len(parts) - 1, 4):
        yield parts[number].strip(), parts[number + 1], parts[number + 2], parts[number + 3]


def edits(described: str) -> list[Edit]:
    """`section key` → fields, null removing one."""
    made = []
    for place, fields in json.loads(described).items():
        section, _, key = place.partition(" ") if " " in place else ("", "", place)
        shown = {name: REMOVE if value is None else value for name, value in fields.items()}
        made.append(Edit(section, key, shown, new=True))
    return made


@pytest.mark.parametrize("ending", ["\n", "\r\n"], ids=["LF", "CRLF"])
@pytest.mark.parametrize("mark", ["", "\ufeff"], ids=["no BOM", "BOM"])
@pytest.mark.parametrize(("title", "before", "change", "after"), tuple(cases()))
def test_edit__cases(  # noqa: PLR0917 - a case's parts
    title: str, before: str, change: str, after: str, ending: str, mark: str
) -> None:
    given_bytes = (mark + before).replace("\n", ending).encode()
    expected = (mark + after).replace("\n", ending)
    view = StateText(given_bytes)
    assert view.plain, title
    assert view.edited(edits(change)).decode() == expected, title


@pytest.mark.parametrize(
    ("before", "change", "after"),
    [
        ("schema_version: 1", {"": {"lease_epoch": 1}}, "schema_version: 1\nlease_epoch: 1"),
        ("schema_version: 1\nitems:\n  s:1:\n    a: b", {"items s:1": {"a": "c"}},
         "schema_version: 1\nitems:\n  s:1:\n    a: c"),
        ("# c\r\nschema_version: 1\r\nitems:\r\n  s:1:\r\n    b: |-\r\n      c", {"items s:2": {"a": "c"}},
         "# c\r\nschema_version: 1\r\nitems:\r\n  s:1:\r\n    b: |-\r\n      c\r\n  s:2:\r\n    a: c"),
        ("schema_version: 1\nitems:\n  s:1:\n    b: |\n      c", {"items s:1": {"b": "c"}},
         "schema_version: 1\nitems:\n  s:1:\n    b: |\n      c"),
        ("---\nschema_version: 1\n", {"": {"lease_epoch": 1}}, "---\nschema_version: 1\nlease_epoch: 1\n"),
        ("{schema_version: 1, items: {s:1: {status: x}}}\n", {"items s:1": {"status": "z"}},
         "{schema_version: 1, items: {s:1: {status: z}}}\n"),
        ("schema_version: 1\nitems:\n  s:1: {status: x, odd: [1]} # why\n  s:2: {status: x}\n",
         {"items s:1": {"status": "z"}},
         "schema_version: 1\nitems:\n  s:1: {status: z, odd: [1]} # why\n  s:2: {status: x}\n"),
        ("schema_version: 1\nsources:\n    s: {cursor: 4, 'x': [1]} # y\nitems:\n    s:1:\n        a: b\n",
         {"sources s": {"cursor": "5"}},
         "schema_version: 1\nsources:\n    s: {cursor: '5', 'x': [1]} # y\nitems:\n    s:1:\n        a: b\n"),
        ("schema_version: 1\nitems:\n  s:1:\n    a: &x one\n    b: *x\n    status: x\n",
         {"items s:1": {"status": "z"}},
         "schema_version: 1\nitems:\n  s:1:\n    a: &x one\n    b: *x\n    status: z\n"),
        ("schema_version: 1\nitems:\n  s:1:\n    t: >-\n      folded\n      text\n    status: x\n",
         {"items s:1": {"status": "z"}},
         "schema_version: 1\nitems:\n  s:1:\n    t: >-\n      folded\n      text\n    status: z\n"),
    ],
)  # fmt: skip
def test_edit__other_shapes(before: str, change: dict[str, Any], after: str) -> None:
    assert StateText(before.encode()).edited(edits(json.dumps(change))).decode() == after


def test_edit__what_cannot_be_kept_is_an_error_with_its_line() -> None:
    view = StateText(b"schema_version: 1\nitems:\n  s:1: &a {status: x}\n  s:2: *a\n")
    with pytest.raises(Unplaceable) as caught:
        view.edited([Edit("items", "s:2", {"status": "y"})])
    assert caught.value.line == 4


def test_edit__an_item_that_is_no_mapping_is_an_error_with_its_line_and_hides_no_other() -> None:
    view = StateText(b"schema_version: 1\nitems:\n  s:1: 5\n  s:2:\n    status: x\n  s:3:\n")
    with pytest.raises(Unplaceable) as caught:
        view.item("s:1")
    assert caught.value.line == 3
    assert view.item("s:2") == {"status": "x"}
    assert view.item("s:3") is None


@pytest.mark.parametrize(
    ("data", "line"),
    [
        (b"", 1), (b"\n \n", 1), (b"\xef\xbb\xbf", 1), (b"a: \xff\n", 1), (b"- a\n", 1), (b"text\n", 1),
        (b"items: {}\n", 0), (b"schema_version: x\n", 1), (b"schema_version: true\n", 1),
        (b"schema_version: 1.0\n", 1), (b"schema_version:\n", 1), (b"schema_version: 0\n", 1),
        (b"schema_version: 1\nitems: []\n", 2), (b"schema_version: 1\nitems:\n- a\n", 2),
        (b"schema_version: 1\nlease: x\n", 2), (b"schema_version: 1\nsources: 1\n", 2),
        (b"schema_version: 1\nlast_run: [1]\n", 2), (b"schema_version: 1\nlease_epoch: x\n", 2),
        (b"schema_version: 1\nlease_epoch: -1\n", 2),
        (b"schema_version: 1\nschema_version: 1\n", 2),
        (b"schema_version: 1\nitems:\n  a:1: {}\n  a:1: {}\n", 4),
        (b'schema_version: 1\nitems:\n  a:1: {}\n  "a:1": {}\n', 4),
        (b"schema_version: 1\nitems:\n  a:1: {}\nitems: {}\n", 4),
        (b"schema_version: 1\nitems:\n  a:1:\n    x: 1\n    y: 2\n    x: 3\n", 6),
        (b"schema_version: 1\nitems:\n  a:1:\n    x: 1\n    'x': 3\n", 5),
        (b'schema_version: 1\nitems:\n  a:1:\n    x: {"y": 1, "y": 2}\n', 4),
        (b"schema_version: 1\nitems:\n  a:1:\n    x:\n      y: 1\n      y: 2\n", 6),
        (b"schema_version: 1\nlease:\n  writer: a\n  writer: b\n", 4),
        (b"schema_version: 1\nitems:\n<<<<<<< ours\n  a:1: {}\n=======\n>>>>>>> theirs\n", 3),
        (b"schema_version: 1\n>>>>>>> theirs\n", 2), (b"schema_version: 1\n||||||| base\n", 2),
        (b'schema_version: 1\nitems:\n  a:1:\n    x: "open\n', 0), (b"schema_version: 1\n---\na: 1\n", 0),
        (b"schema_version: 1\nitems:\n  a:1:\n   x: 1\n    y: 2\n", 0), (b"a\0b: 1\n", 1),
        (b"schema_version: 1\nitems:\n  a:1:\n    x: \x01\n", 0), (b"schema_version: 1\n\tx: 1\n", 0),
        (b"schema_version: 1\nitems:\n  a:1: *gone\n", 3), (b"schema_version: 1\nitems:\n  a:1:\n- b\n", 4),
    ],
)  # fmt: skip
def test_read__corrupt(data: bytes, line: int) -> None:
    with pytest.raises(Corrupt) as caught:
        StateText(data)
    assert caught.value.line == line or not line


@pytest.mark.parametrize(
    "data",
    [
        "schema_version: 9\nnew: {x: [1]}\n", '{"schema_version": 1, "items": {"a:1": {"status": "x"}}}',
        "schema_version: 1\nitems:\nsources: ~\nlease:\nlast_run: {}\n", "# c\n\n---\nschema_version: 0x1\n",
        "schema_version: 1\nitems:\n  ? a:1\n  : status: x\n", "schema_version: 1\n...\n",
        "schema_version: 1\nitems:\n  a:1:\n    t: 🎉 party\n    u: é\n",
        "%YAML 1.2\n---\nschema_version: 1\n",
        'schema_version: 1\nitems:\n  a:1:\n    t: "over\n      lines"\n    u: !!str 5\n',
        "schema_version: 1\nitems: !!map\n  a:1: {}\n", "schema_version: 1\r\nitems:\r\n  a:1: {}\n",
        'schema_version: 1\nnote: "abc\nitems:\n  a:1:\n    t: y\nfoo: bar"\n',
    ],
)  # fmt: skip
def test_read__any_other_yaml_mapping(data: str) -> None:
    assert StateText(data.encode()).value() == yaml_io.parse(data).value


def test_read__a_comment_after_sensitive_is_no_part_of_it() -> None:
    view = StateText(b"schema_version: 1\nitems:\n  s:1:\n    sensitive: true  # note\n    status: x\n")
    answer = operations.upsert_item(view, "s", "1", {"body": "secret"})
    assert b"secret" not in view.edited(answer.edits)


@pytest.mark.parametrize("kept", ["|", "|-", "|+", ">+"])
@pytest.mark.parametrize("more", ["", "items2: 1\n", "    status: x\n"])
def test_read__spaces_at_the_end_of_a_text_belong_to_it(kept: str, more: str) -> None:
    data = f"schema_version: 1\nitems:\n  s:1:\n    body: {kept}\n      text\n         \n{more}"
    view = StateText(data.encode())
    assert view.item("s:1") == yaml_io.parse(data).value["items"]["s:1"]
    made = view.edited([Edit("items", "s:1", {"title": "t"})])
    assert StateText(made).item("s:1") == {**(view.item("s:1") or {}), "title": "t"}


def test_read__text_that_only_looks_like_items_is_no_item() -> None:
    view = StateText(b'schema_version: 1\nnote: "abc\nitems:\n  a:1:\n    t: y\nfoo: bar"\n')
    assert view.item("a:1") is None
    assert not view.plain


# --- properties: any sequence of operations means the same on text as on dicts

WORDS = st.sampled_from(
    ["a", "null", "yes", "1", "1e3", "x: y", "# no", "- a", "two\nlines", " lead", "é🎉", "", "\t", "\x7f",
     "a\n", "'", '"', "\\", "{", "*a", "&a", "!!str", "|", "2026-12-01", "0x1f", "\ufeff", "\u2028", "\r",
     "a\r\nb", "<<<<<<< x", "---", "...", "<<", "true", "1_000", "12:30", "%", "@", "`"]
) | st.text(st.characters(exclude_categories=["Cs"]), max_size=6)  # fmt: skip
FLOATS = st.floats(allow_nan=False, allow_infinity=False)
VALUES = st.recursive(
    WORDS | st.integers(-(2**60), 2**60) | st.booleans() | st.none() | FLOATS,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(WORDS, inner, max_size=2),
    max_leaves=4,
)  # fmt: skip
NAMES = st.sampled_from(["title", "body", "quote", "sensitive", "conflicts", "media", "r"]) | WORDS.filter(
    lambda one: one not in {"id", "source", "status"}
)
IDS = st.sampled_from(["1", "2", "10", "a:b", "it's", 'q"', "é", "x y"]) | WORDS.filter(bool)
FIELDS = st.dictionaries(NAMES, VALUES, max_size=3)
SOURCES = st.sampled_from(["s", "t", "null", "no"])
ACTS = st.one_of(
    st.tuples(st.just("upsert"), SOURCES, IDS, FIELDS),
    st.tuples(st.just("cursor"), SOURCES, st.sampled_from(["1", "2", "9", "x"]), IDS),
    st.tuples(st.just("acquire"), st.sampled_from(["a", "b"])),
    st.tuples(st.just("release"), st.sampled_from(["a", "b"])),
    st.tuples(st.just("run"), st.dictionaries(WORDS, st.integers(0, 9), max_size=2)),
    st.tuples(st.just("validate")),
    st.tuples(st.just("import"), st.dictionaries(IDS, FIELDS, max_size=2)),
)


def answered(view: Any, act: Any) -> Answer:  # noqa: PLR0911 - one per operation
    match act:
        case ("upsert", source, native, fields):
            return operations.upsert_item(view, source, native, fields)
        case ("cursor", source, to, native):
            return operations.cursor_advance(view, source, to, native)
        case ("acquire", writer):
            return claim.acquire(view, writer, None, NOW)
        case ("release", writer):
            return claim.release(view, writer)
        case ("run", counts):
            return operations.run_record(view, "w", "partial", counts, NOW)
        case ("import", items):
            data = {"items": {f"t:{key}": fields for key, fields in items.items()}}
            return legacy.import_legacy(view, json.dumps(data).encode(), {})
        case _:
            return operations.validate(view, view.items())


COMMENTED = """# a
schema_version: 3 # b
x: {y: 1}  # c
items:
  # d
  s:1: # e
    status: closed # f
    k: [1, 2]
    nested:
      deep: # g
        - 1

  s:2:
    status: x
    sensitive: yes # h
# i
"""
WIDE = """lease: {}
items:
    t:9:
        status: x
        body: |-
            one

            # two
    s:1:
        status: y
sources:
    s: {cursor: 4}
schema_version: 1
last_run:
    outcome: failed # why
"""
STARTS = [
    "schema_version: 1\n",
    COMMENTED,
    WIDE,
    "schema_version: 1\nitems: {'s:1': {status: x, body: b}, \"t:1\": {status: closed}}\n",
    "schema_version: 1\nitems:\n  s:1: &a\n    status: x\n    t: >\n      folded\n",
]


@settings(max_examples=80, deadline=None)
@given(st.sampled_from(STARTS), st.booleans(), st.booleans(), st.lists(ACTS, max_size=6))
def test_operations__mean_the_same_on_text_as_on_dicts(
    start: str, crlf: bool, bom: bool, acts: list[Any]
) -> None:
    data = (("\ufeff" if bom else "") + (start.replace("\n", "\r\n") if crlf else start)).encode()
    model = Model(yaml_io.parse(start).value)
    for act in acts:
        view = StateText(data)
        answer = answered(view, act)
        assert answer == answered(model, act)
        if not answer.edits:
            continue
        try:
            made = view.edited(answer.edits)
        except Unplaceable:
            assert not view.plain, "only flow style, anchors and the like may defeat the editor"
            return
        model.apply(answer.edits)
        again = StateText(made)
        assert text.same(again.value(), model.state)
        if view.plain:
            assert again.plain, "what was quick to edit stays so"
            assert untouched(data.decode(), answer.edits) <= set(again.text.split("\n"))
        data = made


def untouched(before: str, made: tuple[Edit, ...]) -> set[str]:
    """The lines of records that no edit is about, and all comments outside of those that are."""
    plain = before.removeprefix("\ufeff")
    found = set()
    touched = {(one.section, one.key) for one in made}
    names = {name for one in made if not one.section and not one.key for name in one.fields}
    for section in outline.sections(plain) or ():
        if section.key in {"items", "sources"} and section.bare:
            for block in outline.children(plain, section) or ():
                if (section.key, block.key) not in touched:
                    found |= set(plain[block.start : block.end].split("\n"))
        elif ("", section.key) not in touched and section.key not in names | {"items", "sources"}:
            found |= set(plain[section.start : section.end].split("\n"))
    return found | {""}


LINES = st.sampled_from(
    ["schema_version: 1", "items:", "  s:1:", "  s:2: # c", '  "s:1":', "    status: x",
     "    status: 'y'", "    # c", "", "  # c", "# c", "    body: |-", "      text", "      # text",
     "    media:", "    - a", "      - b", '    k: "v" # c', '    k: "open', '      close"',
     "    t: a:b#c", "    t: a: b", "    t: &x 1", "    u: *x", "    n: {}", "    n: [1, 2]", "    e:",
     "      f: 1", "sources:", "  s:", "    cursor: 5", "lease:", "last_run: {}", "<<<<<<< x",
     "   odd: 1", "  ", "    status: x ", "    t: >-", "    t: >", "    t: 🎉 x", "    t: |+",
    "    - b: c", "    t: a #c", "\tt: 1", "    ? k",
     "- a", "---", "         ", "    t: |", "    t: |1+", "     x"]
)  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(st.lists(LINES, max_size=14))
def test_scan__never_sure_of_what_the_parser_refuses(lines: list[str]) -> None:
    data = "\n".join(["schema_version: 1", "items:", "  a:0:", "    status: x", *lines, ""])
    if outline.scan(data, data.encode()) is None:
        return
    try:
        value = yaml_io.parse(data).value
    except yaml_io.YamlError as error:
        with pytest.raises(Corrupt):
            StateText(data.encode())
        assert error.message  # noqa: PT017 - the sections beside the items are the caller's to read
        return
    if any(not isinstance(value.get(name), dict | None) for name in ("lease", "sources", "last_run")):
        return
    view = StateText(data.encode())
    for key, record in value["items"].items():
        if isinstance(record, dict):
            assert view.item(key) == record


@given(VALUES)
def test_spelling__reads_back(value: Any) -> None:
    for shown in (f"k: {spelling.value(value)}\n", spelling.field("k", value, "", "\n")):
        assert text.same(yaml_io.parse(shown).value, {"k": value})


@given(WORDS)
def test_spelling__keys_read_back(name: str) -> None:
    assert yaml_io.parse(f"{spelling.key(name)}: 1\n").value == {name: 1}


def test_edit__doubled_or_odd_layouts_are_left_to_the_parser() -> None:
    assert edit.apply("a: 1\na: 2\n", [Edit("", "", {"b": 1})]) is None
    assert edit.apply("- a\n", [Edit("", "", {"b": 1})]) is None
    assert edit.apply("items: [1]\n", [Edit("items", "s:1", {"b": 1}, new=True)]) is None


def test_hidden_texts__of_a_source_that_became_sensitive() -> None:
    data = (
        b"schema_version: 1\nsources:\n  s:\n    sensitive: true\nitems:\n"
        b"  s:1:\n    body: secret\n    status: x\n  s:2:\n    status: x\n  t:1:\n    body: open\n"
    )
    view = StateText(data)
    made = view.edited([Edit("", "", {"lease_epoch": 1}), *view.hidden_texts()])
    assert b"secret" not in made
    assert b"open" in made


def test_new_state__reads_back() -> None:
    answer = operations.run_record(Model(), "w", "partial", {}, NOW)
    assert answer.word is Word.OK
    made = text.read(None).edited(answer.edits)
    assert made.startswith(b"schema_version: 1\nlast_run:\n")
