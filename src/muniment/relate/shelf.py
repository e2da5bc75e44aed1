"""A shelf: passages of one kind with their index, where each came from, and the file that caches them.

The bytes are a checksum, one line of JSON, and the parts' arrays; anything that doesn't check out reads as
None and is built again. Nothing here touches the disk.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from zlib import crc32

from muniment import __version__
from muniment.relate.inverted import Inverted, build, revise
from muniment.relate.place import Passage, Place
from muniment.relate.text import VERSION as TEXT_VERSION

FORMAT = 3
"""Raised with every change to the cached form or to what is read from a file."""
_VERSION = f"{__version__} {FORMAT} {TEXT_VERSION}"


@dataclass(frozen=True, slots=True)
class Part:
    """One index and, in the same numbering, the places it leads to, as JSON lines until one is shown."""

    index: Inverted
    places: Sequence[bytes]

    def place(self, passage: int) -> Place:
        """The place of a passage."""
        return Place.from_json(self.places[passage])


@dataclass(frozen=True, slots=True)
class Source:
    """One thing that passages came from (a file, a commit, the ledger).

    Attributes:
        key: What it held: a git blob id, or another digest.
        facts: Anything its reader wants back, as JSON.
        counts: How many passages of each part it gave.
    """

    key: str
    facts: Any
    counts: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Addition:
    """A source to add, with its passages of each part."""

    name: str
    key: str
    facts: Any
    passages: tuple[tuple[Passage, ...], ...]


@dataclass(frozen=True, slots=True)
class Shelf:
    """Sources in the order of their passages, the parts, and whatever the refresher wants back as JSON."""

    sources: Mapping[str, Source] = field(default_factory=dict)
    parts: tuple[Part, ...] = ()
    facts: Any = None

    def to_bytes(self) -> bytes:
        """The cached form."""
        blocks: list[bytes] = []
        for part in self.parts:
            blocks += (part.index.to_bytes(), b"\n".join(part.places))
        head = {
            "version": _VERSION,
            "facts": self.facts,
            "sources": [
                [name, source.key, source.facts, source.counts] for name, source in self.sources.items()
            ],
            "blocks": [len(block) for block in blocks],
        }
        body = json.dumps(head, separators=(",", ":")).encode() + b"\n" + b"".join(blocks)
        return crc32(body).to_bytes(4, "big") + body

    @classmethod
    def from_bytes(cls, data: bytes) -> Shelf | None:
        """Read the cached form; None for anything damaged or of another version."""
        if crc32(memoryview(data)[4:]) != int.from_bytes(data[:4], "big"):
            return None
        end = data.find(b"\n", 4)
        try:
            head = json.loads(data[4:end])
        except ValueError:
            return None
        if not isinstance(head, dict) or head.get("version") != _VERSION:
            return None
        parts: list[Part] = []
        view = memoryview(data)
        at = end + 1
        for size, wide in zip(head["blocks"][0::2], head["blocks"][1::2], strict=True):
            index = Inverted.from_bytes(view[at : at + size])
            lines = bytes(view[at + size : at + size + wide])
            if index is None:
                return None
            parts.append(Part(index, lines.split(b"\n") if lines else []))
            at += size + wide
        sources = {name: Source(key, facts, tuple(counts)) for name, key, facts, counts in head["sources"]}
        return cls(sources, tuple(parts), head["facts"])

    def revised(self, keep: Iterable[str], additions: Sequence[Addition], facts: Any, *, parts: int) -> Shelf:
        """A shelf of the kept sources, in the given order, and then the added ones."""
        names = tuple(keep)
        sources = {name: self.sources[name] for name in names}
        for added in additions:
            counts = tuple(len(passages) for passages in added.passages)
            sources[added.name] = Source(added.key, added.facts, counts)
        made = tuple(
            self._revised_part(number, names, [added.passages[number] for added in additions])
            for number in range(parts)
        )
        return Shelf(sources, made, facts)

    def _revised_part(
        self, number: int, names: Sequence[str], additions: Sequence[Sequence[Passage]]
    ) -> Part:
        first: dict[str, int] = {}
        at = 0
        for name, source in self.sources.items():
            first[name] = at
            at += source.counts[number]
        kept = [
            passage
            for name in names
            for passage in range(first[name], first[name] + self.sources[name].counts[number])
        ]
        added = [passage for passages in additions for passage in passages]
        counted = [(passage.in_title, passage.in_body) for passage in added]
        places = [passage.place.to_json() for passage in added]
        if not kept:
            return Part(build(counted), places)
        old = self.parts[number]
        return Part(revise(old.index, kept, counted), [*(old.places[was] for was in kept), *places])
