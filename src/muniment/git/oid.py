"""An object's id, and the error for an object that this clone lacks: what everything about git builds on."""

from __future__ import annotations

from muniment.errors import Unavailable


class Oid(str):
    """An object id in full lower-case hex (40 digits for SHA-1, 64 for SHA-256)."""

    __slots__ = ()

    @property
    def short(self) -> str:
        """The prefix shown to people."""
        return self[:10]


class MissingObject(Unavailable):
    """An object that this clone doesn't hold (shallow, partial or damaged): the answer is unknown."""

    code = "missing-object"
