"""Reading segments of any layout, writing exactly one, and every way a file can be bad (G6, G7, G18)."""

from __future__ import annotations

import json
import random

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from muniment.ledger.assembly import assemble
from muniment.ledger.segment import Sealed, parse_segment, render_segment
from tests.support.ledger import Document, chain, decision, entry, file, finding, identify, spell

NOTES = st.lists(
    st.tuples(
        st.sampled_from(["note", "finding", "hologram", "decision"]),
        st.dictionaries(
            st.text(st.characters(exclude_categories=["Cs"]), max_size=8),
            st.text(st.characters(exclude_categories=["Cs"]), max_size=20) | st.integers(-(2**53), 2**53),
            max_size=4,
        ),
    ),
    max_size=8,
)


def small() -> list[Document]:
    first = finding("bug/code/x", "r1")
    second = decision("bug/code/x", "reject", after=[first], at="2026-01-31T05:00:00Z")
    return [first, second, entry("note", {"text": "Grüße, 世界"}, after=[second], at="2026-01-31T06:00:00Z")]


def rules(data: bytes) -> list[str]:
    return [fault.rule for fault in assemble(data, "l.json").verdict.problems]


@given(NOTES)
def test_render__round_trips_bytes(items: list[tuple[str, dict[str, str | int]]]) -> None:
    data = file(*chain(*items))
    segment = parse_segment(data, "l.json")
    assert segment.laid_out
    assert not segment.faults
    assert render_segment(segment.entries) == data


@given(NOTES, st.randoms(use_true_random=False), st.sampled_from([None, 1, 4]))
def test_parse__any_layout_and_order_is_the_same_set(
    items: list[tuple[str, dict[str, str | int]]], shuffler: random.Random, indent: int | None
) -> None:
    entries = chain(*items)
    shuffled = [dict(shuffler.sample(list(one.items()), len(one))) for one in entries]
    shuffler.shuffle(shuffled)
    text = json.dumps({"entries": shuffled, "schema": "muniment.ledger/1"}, indent=indent)
    segment = parse_segment(text.encode(), "l.json")
    assert not segment.faults
    assert render_segment(segment.entries) == file(*entries)


def test_render__sealed_and_unknown_members_stay() -> None:
    sha = "a" * 64
    row = {"file": f"ledger/{sha[:16]}.json", "sha256": sha, "count": 3, "replaces": [], "future": {"x": 1}}
    data = file(*small(), sealed=[row])
    segment = parse_segment(data, "l.json")
    assert segment.laid_out
    assert segment.sealed == (Sealed(row["file"], sha, 3, (), b'{"future":{"x":1}}'),)  # type: ignore[arg-type]
    assert render_segment(segment.entries, segment.sealed, segment.extra) == data
    other = data.replace(b',"entries"', b',"zeta":[1,{"entries":[]}],"entries"', 1)
    segment = parse_segment(other, "l.json")
    assert not segment.faults
    again = render_segment(segment.entries, segment.sealed, segment.extra)
    assert b'"zeta":[1,{"entries":[]}]' in again
    reread = parse_segment(again, "l.json")
    assert render_segment(reread.entries, reread.sealed, reread.extra) == again


@settings(max_examples=400)
@given(st.data())
def test_parse__any_edited_byte_of_an_entry_is_detected(data: st.DataObject) -> None:
    good = file(*small())
    start = good.index(b"[\n") + 2
    place = data.draw(st.integers(start, len(good) - 5))
    value = data.draw(st.integers(0, 255).filter(lambda value: value != good[place]))
    edited = good[:place] + bytes([value]) + good[place + 1 :]
    if good[place] in b"\n" and value in b" \t\r":
        return  # layout between entries is free
    assert assemble(edited, "l.json").verdict.ok is False


@pytest.mark.parametrize("gone", range(3))
def test_assemble__removal_of_a_named_entry_is_incomplete_not_broken(gone: int) -> None:
    entries = small()
    verdict = assemble(file(*(one for place, one in enumerate(entries) if place != gone)), "l.json").verdict
    named = gone < 2
    assert verdict.incomplete == named
    assert not verdict.broken
    assert [fault.rule for fault in verdict.problems] == ["incomplete"] * named


def test_assemble__an_edit_with_its_id_recomputed_leaves_its_children_incomplete() -> None:
    first, second, third = small()
    first = {**first, "data": {**first["data"], "title": "Other"}}
    first["id"] = identify(first)
    assert rules(file(first, second, third)) == ["incomplete"]


def test_parse__an_edited_entry_is_named_with_its_line() -> None:
    data = file(*small()).replace(b'"action":"reject"', b'"action":"accept"')
    (fault,) = assemble(data, "docs/l.json").verdict.problems[:1]
    bad = next(one for one in small() if one["kind"] == "decision")
    assert (fault.rule, fault.entry, fault.path) == ("id", bad["id"], "docs/l.json")
    assert b'"action":"accept"' in data.split(b"\n")[fault.line - 1]


def test_parse__one_bad_entry_hides_no_other() -> None:
    data = file(*small()).replace(b"Gr\xc3\xbc\xc3\x9fe", b"Gr\xc3\xbc\xc3\x9fa")
    segment = parse_segment(data, "l.json")
    assert len(segment.entries) == 2
    assert [fault.rule for fault in segment.faults] == ["id"]


def test_parse__a_damaged_line_hides_no_other() -> None:
    data = file(*small()).replace(b'"kind":"note"', b'"kind":"no', 1)
    segment = parse_segment(data, "l.json")
    assert len(segment.entries) == 2
    assert [fault.rule for fault in segment.faults] == ["json"]


MARKED = b"<<<<<<< HEAD\n%s\n=======\n%s\n>>>>>>> other\n"


@pytest.mark.parametrize(
    ("data", "rule", "line"),
    [
        (b"", "json", 1),
        (b"\n\n", "json", 3),
        (b"null", "json", 1),
        (b"[]", "json", 1),
        (b"{}", "schema", 1),
        (b'{"schema":"muniment.ledger/1"}', "schema", 1),
        (b'{"schema":"muniment.ledger/0","entries":[]}', "schema", 1),
        (b'{"schema":"other/1","entries":[]}', "schema", 1),
        (b'{"schema":1,"entries":[]}', "schema", 1),
        (b'{"schema":"muniment.ledger/1","entries":{}}', "schema", 1),
        (b'{"schema":"muniment.ledger/1","entries":[1]}', "schema", 1),
        (b'{"schema":"muniment.ledger/1","entries":[\n{}]}', "schema", 2),
        (b'{"schema":"muniment.ledger/1","entries":[],"entries":[]}', "duplicate-key", 1),
        (b'{"schema":"muniment.ledger/1",\n"schema":"muniment.ledger/1","entries":[]}', "duplicate-key", 2),
        (b'{"schema":"muniment.ledger/1","entries":[]} x', "json", 1),
        (b'{"schema":"muniment.ledger/1","entries":[]', "json", 1),
        (b'\xef\xbb\xbf{"schema":"muniment.ledger/1","entries":[]}', "encoding", 1),
        (b'{"schema":"muniment.ledger/1",\n"entries":["\xff"]}', "encoding", 2),
        (b"\x00\x01\x02\x7fELF\xff\xfe", "encoding", 1),
        (b'{"schema":"muniment.ledger/1","x":1.5,"entries":[]}', "value", 1),
        (b'{"schema":"muniment.ledger/1","x":"\\ud800","entries":[]}', "value", 1),
        (b'{"schema":"muniment.ledger/1","sealed":{},"entries":[]}', "sealed", 1),
        (b'{"schema":"muniment.ledger/1","sealed":[{"file":"../x"}],"entries":[]}', "sealed", 1),
        (b'{"schema":"muniment.ledger/1","entries":[\n' + b"[" * 100_000, "json", 2),
    ],
)
def test_parse__bad_files_are_named_with_line(data: bytes, rule: str, line: int) -> None:
    fault = parse_segment(data, "docs/l.json").faults[0]
    assert (fault.rule, fault.at("docs/l.json").path, fault.line) == (rule, "docs/l.json", line)


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        ({"at": "yesterday"}, "schema"),
        ({"after": ["b" * 32, "a" * 32]}, "schema"),
        ({"after": ["a" * 32, "a" * 32]}, "schema"),
        ({"after": "a" * 32}, "schema"),
        ({"after": ["x"]}, "schema"),
        ({"basis": ["x"]}, "schema"),
        ({"kind": ""}, "schema"),
        ({"kind": 1}, "schema"),
        ({"op": None}, "schema"),
        ({"data": []}, "schema"),
        ({"data": {"x": 1.5}}, "value"),
        ({"data": {"x": 2**53 + 1}}, "value"),
        ({"data": {"x": "y" * 70_000}}, "value"),
        ({"expunged": False}, "schema"),
    ],
)
def test_parse__an_entry_of_a_wrong_shape_is_a_problem_even_with_a_right_id(
    change: Document, rule: str
) -> None:
    bad = {**entry("note", {"text": "x"}), **change}
    bad["id"] = identify(bad)
    good = entry("note", {"text": "fine"})
    segment = parse_segment(file(good, bad), "l.json")
    assert [fault.rule for fault in segment.faults] == [rule]
    assert [one.id for one in segment.entries] == [good["id"]]


def test_parse__doubled_keys_in_an_entry_are_a_problem_although_its_bytes_hash_to_its_id() -> None:
    made = entry("note", {"text": "x"})
    doubled = spell({key: value for key, value in made.items() if key != "id"}).replace(
        '"text":"x"', '"text":"x","text":"y"'
    )
    import hashlib  # noqa: PLC0415 - one forgery

    identity = hashlib.sha256(doubled.encode()).hexdigest()[:32]
    line = doubled.replace('"kind"', f'"id":"{identity}","kind"')
    data = file(made).replace(spell(made).encode(), line.encode())
    assert "duplicate-key" in rules(data)


def test_parse__an_id_over_a_non_canonical_spelling_is_a_problem() -> None:
    import hashlib  # noqa: PLC0415 - one forgery

    made = entry("note", {"b": 1, "a": 2})
    bare = spell({key: value for key, value in made.items() if key != "id"})
    odd = bare.replace('{"a":2,"b":1}', '{"b":1,"a":2}')
    assert odd != bare
    identity = hashlib.sha256(odd.encode()).hexdigest()[:32]
    line = odd.replace('"kind"', f'"id":"{identity}","kind"')
    assert rules(file(made).replace(spell(made).encode(), line.encode())) == ["id"]


def test_parse__the_same_entry_twice_in_one_segment_is_a_problem() -> None:
    first, second, third = small()
    data = file(first, second, third, third)
    faults = [fault for fault in assemble(data, "l.json").verdict.problems if fault.rule == "repeated"]
    assert [fault.entry for fault in faults] == [third["id"]]
    assert faults[0].fix == "muniment repair"


@pytest.mark.parametrize("eol", [b"\n", b"\r\n"])
def test_parse__conflict_markers_are_a_hard_named_error(eol: bytes) -> None:
    first, second, third = small()
    lines = file(first, second).split(b"\n")
    marked = MARKED % (spell(second).encode(), spell(third).encode())
    data = b"\n".join([*lines[:2], b",", *marked.split(b"\n")[:-1], *lines[-3:]]).replace(b"\n", eol)
    segment = parse_segment(data, "l.json")
    fault = segment.faults[0]
    assert fault.rule == "conflict-markers"
    assert data.split(b"\n")[fault.line - 1].startswith(b"<<<<<<<")
    assert {one.id for one in segment.entries} >= {second["id"], third["id"]}


def test_parse__text_in_a_body_that_looks_like_a_marker_is_only_text() -> None:
    made = entry("note", {"text": "<<<<<<< HEAD\n=======\n>>>>>>> x"})
    assert rules(file(made)) == []


@given(st.integers(0, 10_000))
@example(0)
def test_parse__a_file_cut_off_anywhere_is_broken(cut: int) -> None:
    data = file(*small())
    if cut < len(data) - 1:
        assert assemble(data[:cut], "l.json").verdict.broken


@given(st.binary(max_size=200))
def test_parse__never_raises_and_never_calls_noise_a_ledger(data: bytes) -> None:
    assert parse_segment(data, "l.json").faults


def test_parse__a_nested_id_does_not_fool_the_quick_reader() -> None:
    made = entry("note", {"z": {"a": 1, "id": "0" * 32}})
    unknown = entry("note", {}, zeta={"a": 1, "id": "0" * 32})
    segment = parse_segment(file(made, unknown), "l.json")
    assert not segment.faults
    assert {one.id for one in segment.entries} == {made["id"], unknown["id"]}


def test_parse__unknown_kinds_and_members_are_kept_byte_for_byte() -> None:
    strange = entry("hologram", {"depth": [1, {"x": None}]}, future={"a": ["b"]}, zeta="z")
    data = file(strange)
    segment = parse_segment(data, "l.json")
    assert render_segment(segment.entries) == data
    assert segment.entries[0].unknown == ("future", "zeta")


def test_parse__a_newer_schema_is_said_and_read() -> None:
    data = file(*small()).replace(b"ledger/1", b"ledger/2", 1)
    segment = parse_segment(data, "l.json")
    assert (segment.schema, segment.newer, len(segment.entries)) == (2, True, 3)
    verdict = assemble(data, "l.json").verdict
    assert verdict.newer
    assert verdict.ok is None


def test_parse__a_hundred_megabytes_of_brackets_or_one_string_end_soon() -> None:
    fault = parse_segment(b"[" * 10_000_000, "l.json").faults[0]
    assert fault.rule == "json"
    huge = b'{"schema":"muniment.ledger/1","entries":["' + b"x" * 10_000_000 + b'"]}'
    assert parse_segment(huge, "l.json").faults[0].rule == "schema"
