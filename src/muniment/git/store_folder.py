"""The files of a bare repository that Muniment makes by hand: how they come, how they are read, what goes.

Formats: gitformat-loose(5), gitrepository-layout(5).
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

DAMAGED = "damaged"
"""A file of this name says that an object was found torn: whoever takes the lock makes the store anew."""
YOUNG_SECONDS = 3600.0
"""Objects made so lately, by the youngest of all, may belong to a commit that is on its way."""

_CONFIG = """\
[core]
\trepositoryformatversion = {version}
\tfilemode = true
\tbare = true
\tlogAllRefUpdates = false
\thooksPath = {nowhere}
[fetch]
\tunpackLimit = 10000
\twriteCommitGraph = false
[transfer]
\tunpackLimit = 10000
[gc]
\tauto = 0
[maintenance]
\tauto = false
"""
_CONFIG_SHA256 = "[extensions]\n\tobjectFormat = sha256\n"


def config(object_format: str) -> str:
    """The repository's own settings."""
    wide = object_format == "sha256"
    return _CONFIG.format(version=int(wide), nowhere=os.devnull) + (_CONFIG_SHA256 if wide else "")


def make(folder: Path, settings: str, object_format: str) -> None:
    """Make the repository, or make it anew: no ref, no pack, of loose objects the young and whole ones."""
    _purge(folder / "objects", object_format)
    shutil.rmtree(folder / "refs", ignore_errors=True)
    for name in ("shallow", "packed-refs", DAMAGED):
        (folder / name).unlink(missing_ok=True)
    for name in ("objects/info", "objects/pack", "refs/muniment"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    (folder / "HEAD").write_bytes(b"ref: refs/muniment/none\n")
    put(folder / "config", settings.encode("utf-8"))


def _purge(objects: Path, object_format: str) -> None:
    newest = max((path.stat().st_mtime for _, path in loose(objects)), default=0.0)
    for oid, path in list(loose(objects)):
        young = path.stat().st_mtime >= newest - YOUNG_SECONDS
        if not (young and _is_object(path, oid, object_format)):
            path.unlink(missing_ok=True)
    for entry in listed(objects):
        if len(entry.name) != 2:  # noqa: PLR2004 - the first two digits of an id
            shutil.rmtree(entry, ignore_errors=True)


def _is_object(path: Path, oid: str, object_format: str) -> bool:
    found = read_loose(path)
    if found is None:
        return False
    whole = b"%s %d\0" % (found[0].encode("ascii"), len(found[1])) + found[1]
    return hashlib.new(object_format, whole, usedforsecurity=False).hexdigest() == oid


def loose(objects: Path) -> Iterator[tuple[str, Path]]:
    """Every loose object, or what was to become one: its id by its place, and the place."""
    for folder in listed(objects):
        if len(folder.name) == 2:  # noqa: PLR2004 - as above
            yield from ((folder.name + path.name, path) for path in listed(folder))


def read_loose(path: Path) -> tuple[str, bytes] | None:
    """A loose object's type and content; None when it is absent or torn."""
    try:
        raw = zlib.decompress(path.read_bytes())
    except (OSError, zlib.error):
        return None
    head, _, data = raw.partition(b"\0")
    kind, _, size = head.partition(b" ")
    return (kind.decode("ascii"), data) if size == b"%d" % len(data) else None


def left_behind(folder: Path) -> Iterator[Path]:
    """Lock files and half-written objects of git processes that are gone: whoever asks holds the lock."""
    for place in (folder, folder / "refs", folder / "refs" / "muniment"):
        yield from (one for one in listed(place) if one.name.endswith(".lock"))
    for place in (folder / "objects", folder / "objects" / "pack"):
        for one in listed(place):
            if one.name.startswith("tmp_") or one.name.endswith(".lock"):
                if one.is_dir():
                    shutil.rmtree(one, ignore_errors=True)
                else:
                    yield one


def put(place: Path, data: bytes, mode: int = 0o644) -> None:
    """Put a file in its place, so that a kill leaves all of it or none."""
    descriptor, temporary = tempfile.mkstemp(prefix="tmp_obj_", dir=place.parent)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(data)
        Path(temporary).chmod(mode)
        Path(temporary).replace(place)
    except BaseException:
        with suppress(OSError):
            Path(temporary).unlink()
        raise


def listed(folder: Path) -> list[Path]:
    """What lies in a folder; nothing where there is none."""
    try:
        return list(folder.iterdir())
    except OSError:
        return []
