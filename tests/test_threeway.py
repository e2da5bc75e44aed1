"""The three-way merge behind undo: both changes or none, and never a byte of anybody else's."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muniment import threeway

LINES = st.lists(st.sampled_from([b"a\n", b"b\n", b"\n", b"c\r\n", b"> q\n"]), max_size=12)
TEXT = st.builds(lambda lines, last: b"".join(lines) + last, LINES, st.sampled_from([b"", b"end"]))


@pytest.mark.parametrize(
    ("base", "ours", "theirs", "merged"),
    [
        pytest.param(b"a\nb\nc\n", b"a\nb\nc\nd\n", b"a\nc\n", b"a\nc\nd\n", id="apart"),
        pytest.param(b"a\nb\n", b"a\nb\nnew\n", b"a\n", b"a\nnew\n", id="touching-after"),
        pytest.param(b"a\nb\n", b"a\nnew\nb\n", b"a\n", b"a\nnew\n", id="touching-before"),
        pytest.param(b"a\nb\n", b"a\n", b"a\n", b"a\n", id="the-same-change"),
        pytest.param(b"a\r\nb\r\n", b"a\r\nb\r\nc\r\n", b"b\r\n", b"b\r\nc\r\n", id="crlf"),
        pytest.param(b"a\nb", b"a\nb", b"a\nb\nc", b"a\nb\nc", id="no-final-newline"),
        pytest.param(b"a\n\nb\n", b"a\n\nnew\n\nb\n", b"a\n", b"a\n\nnew\n", id="blank-lines-before"),
        pytest.param(b"b\n\na\n", b"b\n\nnew\n\na\n", b"a\n", b"new\n\na\n", id="blank-lines-after"),
    ],
)
def test_merge__makes_both_changes(base: bytes, ours: bytes, theirs: bytes, merged: bytes) -> None:
    assert threeway.merge(base, ours, theirs).data == merged


def test_merge__names_the_overlap_by_lines_of_ours() -> None:
    answer = threeway.merge(b"a\nb\nc\n", b"zero\na\nB1\nB2\nc\n", b"a\nc\n")
    assert answer.data is None
    assert answer.hunks == (threeway.Hunk(3, 4),)


def test_merge__two_insertions_at_one_place_have_no_right_order() -> None:
    assert threeway.merge(b"a\n", b"a\nx\n", b"a\ny\n").data is None


def test_merge__an_insertion_inside_a_removed_block_overlaps() -> None:
    assert threeway.merge(b"a\nb\nc\n", b"a\nb\nnew\nc\n", b"a\n").data is None


@given(TEXT, st.lists(st.sampled_from([b"a\n", b"\n"]), min_size=1, max_size=4), st.data())
def test_slides__are_the_same_text(base: bytes, added: list[bytes], data: st.DataObject) -> None:
    lines = threeway.split(base)
    place = data.draw(st.integers(0, len(lines)))
    edit = threeway.Edit(place, place, tuple(added))
    wanted = threeway._patched(lines, (edit,))
    for other in threeway._slides(lines, edit, -1, len(lines) + 1):
        assert other != edit
        assert threeway._patched(lines, (other,)) == wanted


@given(TEXT)
def test_split__joins_to_the_same_bytes(data: bytes) -> None:
    assert b"".join(threeway.split(data)) == data


@given(TEXT, TEXT)
def test_edits__turn_the_old_into_the_new(old: bytes, new: bytes) -> None:
    lines = threeway.split(old)
    assert threeway._patched(lines, threeway.edits(lines, threeway.split(new))) == new


@given(TEXT, TEXT)
def test_merge__a_side_that_did_not_change_decides_nothing(base: bytes, other: bytes) -> None:
    assert threeway.merge(base, base, other).data == other
    assert threeway.merge(base, other, base).data == other
    assert threeway.merge(base, other, other).data == other


@given(TEXT, TEXT, TEXT)
def test_merge__is_symmetric(base: bytes, ours: bytes, theirs: bytes) -> None:
    assert threeway.merge(base, ours, theirs).data == threeway.merge(base, theirs, ours).data


@given(TEXT, LINES, LINES, LINES)
def test_merge__undoing_an_insertion_keeps_what_was_written_elsewhere(
    head: bytes, block: list[bytes], before: list[bytes], after: list[bytes]
) -> None:
    """The shape of undo: a marked block goes, everything around it stays, whatever was added there."""
    marked = b"".join(b"* " + line for line in block) + b"* end\n"
    old = b"start\n" + head.replace(b"end", b"") + b"\nstop\n"
    new = old + marked
    ours = b"".join(before) + new + b"".join(b"+ " + line for line in after)
    expected = b"".join(before) + old + b"".join(b"+ " + line for line in after)
    assert threeway.merge(new, ours, old).data == expected
