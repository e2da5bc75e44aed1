"""The driver on three files: written in one step or not at all; no side taken for want of the other."""

from __future__ import annotations

import json
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path

import pytest

from muniment.merge_driver import KINDS, Unmergeable, run
from muniment.merge_driver_setup import settings
from tests.support.cli import muniment
from tests.support.ledger import chain, entry, file
from tests.support.state_text import item, settled, state_text

NOTES = chain(("note", {"text": "a"}), ("note", {"text": "b"}))
PLAN = settled(None, state_text(item("inbox:1")))[0]
GOOD: Mapping[str, tuple[bytes, bytes, bytes]] = {
    "ledger": (
        file(*NOTES),
        file(*NOTES, entry("note", {"text": "x"}, after=NOTES[-1:])),
        file(*NOTES, entry("note", {"text": "y"}, after=NOTES[-1:])),
    ),
    "state": tuple(
        state_text(item("inbox:1", title=word), item("inbox:2", category=word)).encode() for word in "oxy"
    ),  # type: ignore[dict-item]  # three of them
    "plan": tuple(
        PLAN.replace("human-notes:start -->", f"human-notes:start -->\n\n{word}").encode() for word in "oxy"
    ),  # type: ignore[dict-item]  # three of them
}


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return tmp_path


def files(place: Path, base: bytes, ours: bytes, theirs: bytes) -> tuple[Path, Path, Path]:
    paths = (place / "O", place / "A", place / "B")
    for path, data in zip(paths, (base, ours, theirs), strict=True):
        path.write_bytes(data)
    return paths


@pytest.mark.parametrize("kind", KINDS)
def test_merges_both_ways_to_the_same_bytes(place: Path, kind: str) -> None:
    base, one, two = GOOD[kind]
    results = []
    for ours, theirs in ((one, two), (two, one)):
        paths = files(place, base, ours, theirs)
        done = muniment("merge-driver", kind, *map(str, paths), "some/path", cwd=place)
        assert done.code == 0, done.err
        results.append(paths[1].read_bytes())
    assert results[0] == results[1]
    assert results[0] not in {one, two}


@pytest.mark.parametrize("kind", KINDS)
def test_an_absent_base_is_an_empty_file(place: Path, kind: str) -> None:
    _, one, two = GOOD[kind]
    paths = files(place, b"", one, two)
    run(kind, *paths, "p")
    assert paths[1].read_bytes() not in {one, two}


def _damaged(data: bytes) -> Mapping[str, bytes]:
    half = data[: len(data) // 2]
    return {
        "markers": b"<<<<<<< HEAD\n" + data + b"=======\n>>>>>>> other\n",
        "cut off": half.rpartition(b"\n")[0] + b'\n{"',
        "empty": b"",
        "binary": data + b"\xff\xfe\x00",
    }


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("damage", ["markers", "cut off", "empty", "binary"])
@pytest.mark.parametrize("side", [1, 2])
def test_a_damaged_side_is_a_conflict(place: Path, kind: str, damage: str, side: int) -> None:
    versions = list(GOOD[kind])
    versions[side] = _damaged(versions[side])[damage]
    paths = files(place, *versions)
    done = muniment("merge-driver", kind, *map(str, paths), "some/path", cwd=place)
    assert done.code == 1
    assert "some/path" in done.err
    assert ("our side" if side == 1 else "the other side") in done.err
    assert paths[1].read_bytes() == versions[1]


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("state", b"schema_version: 1\nitems:\n  a:1:\n    status: x\n  a:1:\n    status: y\n"),
        ("state", b"schema_version: 1\nitems:\n  a:1:\n    status: x\n    status: y\n"),
        ("state", b"schema_version: 1\nitems: {}\nitems: {}\n"),
        ("state", b"schema_version: 1\nitems: []\n"),
        ("state", b"schema_version: one\nitems: {}\n"),
        ("ledger", file(*NOTES).replace(b"/1", b"/2")),
        ("ledger", file(*NOTES, NOTES[0])),
        ("ledger", file(*NOTES).replace(b'"text":"a"', b'"text":"z"')),
    ],
)
def test_a_side_that_says_two_things_or_too_much_is_a_conflict(place: Path, kind: str, text: bytes) -> None:
    base, one, _ = GOOD[kind]
    paths = files(place, base, one, text)
    with pytest.raises(Unmergeable):
        run(kind, *paths, "p")
    assert paths[1].read_bytes() == one


def test_a_newer_state_is_merged_without_loss(place: Path) -> None:
    base, one, two = GOOD["state"]
    paths = files(place, base, one, two.replace(b"schema_version: 1", b"schema_version: 2\nmore:\n  k: 1"))
    run("state", *paths, "p")
    merged = paths[1].read_text()
    assert "schema_version: 2\n" in merged
    assert "more:\n  k: 1\n" in merged


def test_a_sealed_segment_is_what_its_name_says(place: Path) -> None:
    good = file(*NOTES)
    name = f"docs/reviews/ledger/{sha256(good).hexdigest()[:16]}.json"
    for ours, theirs in ((good, good + b" "), (good + b" ", good)):
        paths = files(place, b"", ours, theirs)
        run("ledger", *paths, name)
        assert paths[1].read_bytes() == good
    paths = files(place, b"", good + b" ", good + b"  ")
    with pytest.raises(Unmergeable):
        run("ledger", *paths, name)
    assert paths[1].read_bytes() == good + b" "


def test_one_number_for_two_items_is_said(place: Path) -> None:
    base = state_text(item("inbox:1", r=1))
    one, two = (state_text(item("inbox:1", r=1), item(f"inbox:{key}", r=2)) for key in "ba")
    paths = files(place, base.encode(), one.encode(), two.encode())
    done = muniment("merge-driver", "state", *map(str, paths), "s.yml", cwd=place).ok()
    assert "R2 now stands for inbox:a, inbox:b" in done.err
    assert "leaves it to inbox:a" in done.err


def test_the_result_keeps_the_files_mode_and_a_failed_write_the_file(place: Path) -> None:
    paths = files(place, *GOOD["state"])
    paths[1].chmod(0o600)
    run("state", *paths, "p")
    assert paths[1].stat().st_mode & 0o777 == 0o600
    assert sorted(path.name for path in place.iterdir()) == ["A", "B", "O"]


def test_an_unknown_kind_is_wrong_usage(place: Path) -> None:
    paths = files(place, *GOOD["state"])
    assert muniment("merge-driver", "roadmap", *map(str, paths), "p", cwd=place).code == 2
    assert muniment("textconv", "state", "A", cwd=place).code == 2


def test_settings__quote_the_program_and_leave_the_path_to_git() -> None:
    found = settings("/opt/it's 100% ours/muniment")
    assert found["merge.muniment-state.driver"] == (
        "m='/opt/it'\"'\"'s 100%% ours/muniment'; [ -x \"$m\" ] || m=muniment; "
        '"$m" merge-driver state %O %A %B %P'
    )
    assert "100% ours" in found["diff.muniment-ledger.textconv"]
    assert settings("")["merge.muniment-plan.driver"].endswith("-m muniment merge-driver plan %O %A %B %P")


def test_textconv__shows_what_it_cannot_read_as_it_stands(place: Path) -> None:
    text = "<<<<<<< HEAD\nnot a ledger\n"
    (place / "l.json").write_text(text)
    assert muniment("textconv", "ledger", "l.json", cwd=place).ok().out == text
    (place / "l.json").write_bytes(
        file(*NOTES, entry("note", {"text": "\x1b[31m\n", "n": [1]}, after=NOTES[-1:]))
    )
    shown = muniment("textconv", "ledger", "l.json", cwd=place).ok().out
    assert "\x1b" not in shown
    assert "    n: [1]\n" in shown
    assert json.dumps("\x1b[31m\n") in shown
