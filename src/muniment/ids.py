"""Typed ids: ledger entries, state items, findings. Each is a `str` with a `parse` beside it."""

from __future__ import annotations

import re
from typing import Self

from muniment.errors import UsageProblem

_ENTRY = re.compile(r"[0-9a-f]{32}\Z")
_FINGERPRINT = re.compile(r"([a-z]+)/([a-z][a-z0-9_-]*)/([a-z0-9]+(?:-[a-z0-9]+)*)\Z")
MAX_SLUG = 60


class EntryId(str):
    """A ledger entry's id: the first 32 hex digits of the SHA-256 of its canonical JSON (G6)."""

    __slots__ = ()

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read an entry id; raises `UsageProblem` for anything else."""
        if not _ENTRY.match(text):
            raise UsageProblem(f"{text!r} is not an entry id (32 lower-case hex digits).")
        return cls(text)

    @property
    def short(self) -> str:
        """The prefix shown to people; never used as a key."""
        return self[:12]


class ItemKey(str):
    """A state item's key, `<source>:<id>` (S12); the id may itself hold colons."""

    __slots__ = ()

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read an item key; raises `UsageProblem` when source or id is empty."""
        source, colon, native = text.partition(":")
        if not (source and colon and native):
            raise UsageProblem(f"{text!r} is not an item key (<source>:<id>).")
        return cls(text)

    @property
    def source(self) -> str:
        """The source's id."""
        return self.partition(":")[0]

    @property
    def native(self) -> str:
        """The id at the source."""
        return self.partition(":")[2]


class Fingerprint(str):
    """A finding's fingerprint, `kind/layer/slug`, built by the host (C3)."""

    __slots__ = ()

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read a fingerprint; raises `UsageProblem` when a part is malformed or the slug too long."""
        match = _FINGERPRINT.match(text)
        if not match or len(match[3]) > MAX_SLUG:
            raise UsageProblem(f"{text!r} is not a fingerprint (kind/layer/slug).")
        return cls(text)

    @classmethod
    def mint(cls, kind: str, layer: str, slug: str) -> Self:
        """Build a fingerprint from its parts; raises `UsageProblem` as `parse` does."""
        return cls.parse(f"{kind}/{layer}/{slug}")

    @property
    def kind(self) -> str:
        """The finding's kind: bug, feature, profile or config."""
        return self.split("/")[0]

    @property
    def layer(self) -> str:
        """The target layer."""
        return self.split("/")[1]

    @property
    def slug(self) -> str:
        """The slug, at most 60 characters."""
        return self.split("/")[2]
