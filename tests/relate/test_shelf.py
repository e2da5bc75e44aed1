"""The cached form of a shelf, and when a file's signature is trusted."""

from __future__ import annotations

import pytest

from muniment.relate.index_files import SLACK_NS, _trusted
from muniment.relate.place import Passage, Place
from muniment.relate.shelf import Addition, Shelf, Source
from muniment.relate.text import terms


def addition(name: str, *titles: str) -> Addition:
    passages = tuple(
        Passage(Place("doc", name, line, title, "bugs", "open"), terms(title), terms("body"))
        for line, title in enumerate(titles, start=1)
    )
    return Addition(name, f"key of {name}", [name], (passages,))


def shown(shelf: Shelf) -> list[tuple[str, int, str]]:
    (part,) = shelf.parts
    places = [part.place(number) for number in range(len(part.index))]
    return [(place.path, place.line, place.title) for place in places]


def test_shelf__round_trips() -> None:
    made = Shelf().revised([], [addition("a", "Stale search", "検索")], {"x": 1}, parts=1)
    read = Shelf.from_bytes(made.to_bytes())
    assert read is not None
    assert (shown(read), read.facts, dict(read.sources)) == (shown(made), made.facts, dict(made.sources))


def test_shelf__drops_and_adds_sources_whole() -> None:
    made = Shelf().revised(
        [], [addition("a", "One", "Two"), addition("b"), addition("c", "Three")], None, parts=1
    )
    read = Shelf.from_bytes(made.to_bytes())
    assert read is not None
    revised = read.revised(["b", "c"], [addition("a", "Four")], None, parts=1)
    assert shown(revised) == [("c", 1, "Three"), ("a", 1, "Four")]
    assert list(revised.sources) == ["b", "c", "a"]
    assert shown(revised.revised([], [], None, parts=1)) == []


def test_shelf__any_flipped_byte_is_noticed() -> None:
    data = Shelf().revised([], [addition("a", "Stale search")], None, parts=1).to_bytes()
    for at in range(len(data)):
        assert Shelf.from_bytes(data[:at] + bytes([data[at] ^ 0x40]) + data[at + 1 :]) is None, at


@pytest.mark.parametrize("end", [0, 1, 4, 5, 30])
def test_shelf__a_cut_file_is_noticed(end: int) -> None:
    data = Shelf().revised([], [addition("a", "Stale search")], None, parts=1).to_bytes()
    assert Shelf.from_bytes(data[:end]) is None


def test_trusted__only_the_same_signature_of_a_file_that_had_settled() -> None:
    source = Source("key", [[5, 1000, 7, 8], []], (1,))
    settled = 1000 + SLACK_NS + 1
    assert _trusted(source, (5, 1000, 7, 8), settled)
    assert not _trusted(source, (5, 1000, 7, 8), settled - 1), "it may have changed again within one tick"
    assert not _trusted(source, (5, 999, 7, 8), settled), "another time"
    assert not _trusted(source, (6, 1000, 7, 8), settled), "another size"
