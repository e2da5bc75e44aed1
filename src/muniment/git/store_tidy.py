"""Keep the private store of a shared branch small: what the tip doesn't need, and nobody made lately, goes.

Every stamp leaves a few objects behind, and git's own collection is off there (it would run while a lease is
being taken). The store is a cache: what is dropped too early is fetched again.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from muniment.git import store_folder
from muniment.git.objects import TREE_MODE
from muniment.git.oid import MissingObject, Oid
from muniment.git.shared_store import SharedStore

MANY_OBJECTS = 5000
"""So many objects beyond those kept the last time are let be."""
MANY_PACKS = 8
_SAMPLE = "17"
"""One of the 256 folders stands for all, as in `git gc --auto`."""
_KEPT = "kept"


def tidy(store: SharedStore, tip: Oid) -> bool:
    """Drop old objects that `tip` doesn't need, once there are many; whether it was time. Under the lock."""
    objects = store.folder / "objects"
    estimate = len(store_folder.listed(objects / _SAMPLE)) * 256
    if estimate <= MANY_OBJECTS + _kept(store):
        return False
    with suppress(MissingObject):  # then nothing is known for sure to be unneeded
        needed = frozenset(_needed(store, tip))
        _note_kept(store, _sweep(objects, needed))
    return True


def overgrown(store: SharedStore) -> bool:
    """Whether so many packs have come together that fetching all anew is better."""
    packs = store_folder.listed(store.folder / "objects" / "pack")
    return sum(path.suffix == ".idx" for path in packs) > MANY_PACKS


def _needed(store: SharedStore, tip: Oid) -> Iterator[Oid]:
    yield tip
    pending = [store.commit(tip).tree]
    while pending:
        tree = pending.pop()
        yield tree
        for oid, mode in store.tree(tree).values():
            if mode == TREE_MODE:
                pending.append(oid)
            else:
                yield oid


def _sweep(objects: Path, needed: frozenset[Oid]) -> int:
    """Remove loose objects that are neither needed nor young; how many are left.

    Age is told by the youngest object, so no clock is needed: what was made last is young.
    """
    found = [(oid, path, path.stat().st_mtime) for oid, path in store_folder.loose(objects)]
    newest = max((time for _, _, time in found), default=0.0)
    limit = newest - store_folder.YOUNG_SECONDS
    gone = [path for oid, path, time in found if oid not in needed and time < limit]
    for path in gone:
        with suppress(OSError):
            path.unlink()
    return len(found) - len(gone)


def _kept(store: SharedStore) -> int:
    try:
        return int((store.folder / _KEPT).read_text("ascii"))
    except (OSError, ValueError):
        return 0


def _note_kept(store: SharedStore, number: int) -> None:
    (store.folder / _KEPT).write_text(f"{number}\n", "ascii")
