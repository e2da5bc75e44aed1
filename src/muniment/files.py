"""Disk primitives: durable writes, exact reads, an OS lock, and the shipped templates (G2, G4)."""

from __future__ import annotations

import hashlib
import os
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from muniment.errors import Refused, Unavailable, UsageProblem

MAX_BYTES = 256 * 1024 * 1024
"""Largest file read into memory, in bytes; a larger one is a named error, never a truncation."""


@dataclass(frozen=True, slots=True)
class FileChange:
    """One file's intended final bytes, before the gate has seen them.

    Attributes:
        path: Repository-relative path with `/`.
        data: The whole new content; None deletes the file.
        mode: Git file mode; None keeps the file's own, or 0o100644 for a new one.
        moved_from: Where a new file's content comes from; what HEAD holds at that path is not new (G12).
    """

    path: str
    data: bytes | None
    mode: int | None = None
    moved_from: str = ""


def read_bytes(path: Path, *, limit: int = MAX_BYTES) -> bytes:
    """Read a whole regular file.

    Raises:
        Unavailable: The file is missing, unreadable, or not a regular file.
        UsageProblem: The file is larger than `limit` bytes.
    """
    try:
        with open(path, "rb", opener=_without_waiting) as stream:
            info = os.fstat(stream.fileno())
            if not stat.S_ISREG(info.st_mode):
                raise Unavailable(f"{path} is not a regular file.")
            if info.st_size > limit:
                raise UsageProblem(f"{path} has {info.st_size} bytes; at most {limit} are read.")
            return stream.read()
    except OSError as error:
        raise Unavailable(f"{path} can't be read: {error.strerror}.") from error


def _without_waiting(path: str, flags: int) -> int:
    """Open a file, and a pipe too without waiting for whoever writes to it."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def atomic_write(path: Path, data: bytes, *, mode: int | None = None) -> None:
    """Replace `path` by `data` so that a kill leaves the old file or the new one (G4).

    The temporary file lies in the same folder; it and the folder are fsynced. An existing file's mode
    is kept unless `mode` is given; a new file gets `mode` or 0o644.

    Raises:
        Refused: The target is a symbolic link.
        Unavailable: The disk is full, the folder is read-only, or the like; the old file stays.
    """
    if path.is_symlink():
        raise Refused(f"{path} is a symbolic link.", "Write to the file it names, or replace the link.")
    temporary = path.with_name(f".{path.name[:100]}.{os.urandom(6).hex()}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        kept = stat.S_IMODE(path.stat().st_mode) if mode is None and path.exists() else mode
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            with os.fdopen(descriptor, "wb") as stream:
                stream.write(data)
                stream.flush()
                os.fsync(stream.fileno())
            temporary.chmod(0o644 if kept is None else kept)
            temporary.replace(path)
        except BaseException:
            with suppress(OSError):
                temporary.unlink()
            raise
        sync_folder(path.parent)
    except OSError as error:
        raise Unavailable(
            f"{path} could not be written: {error.strerror}.", "The file is as it was before."
        ) from error


def sync_folder(folder: Path) -> None:
    """Make a rename or unlink in `folder` durable; a no-op where folders can't be opened (Windows)."""
    if os.name == "nt":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def file_lock(path: Path, *, wait_seconds: float = 10.0) -> Iterator[int]:
    """Hold an exclusive OS lock on `path` (created if absent, never deleted) for the block (G4).

    The kernel drops the lock when the process ends, so a killed holder blocks nobody. The block gets the
    lock's file descriptor: a child that inherits it holds the lock as well, until it ends.

    Raises:
        Refused: Another process held it for `wait_seconds` seconds.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with _held(path, os.O_RDWR | os.O_CREAT, wait_seconds) as descriptor:
        yield descriptor


@contextmanager
def folder_lock(folder: Path, *, wait_seconds: float = 10.0) -> Iterator[int]:
    """Hold an exclusive OS lock on a folder itself, which leaves nothing behind in it; else as `file_lock`.

    Windows has no such lock; a file in the folder for temporary ones, named by the folder, stands for it.
    """
    if os.name == "nt":  # pragma: no cover - exercised on Windows only
        name = hashlib.sha256(str(folder).encode("utf-8", "surrogatepass")).hexdigest()[:32]
        import tempfile  # noqa: PLC0415 - slow to import, and rarely needed

        path = Path(tempfile.gettempdir()) / f"muniment-{name}.lock"
        with file_lock(path, wait_seconds=wait_seconds) as held:
            yield held
        return
    with _held(folder, os.O_RDONLY, wait_seconds) as descriptor:
        yield descriptor


@contextmanager
def _held(path: Path, flags: int, wait_seconds: float) -> Iterator[int]:
    """Open what is to be locked, and hold its lock for the block."""
    descriptor = os.open(path, flags, 0o600)
    try:
        deadline = time.monotonic() + wait_seconds
        while not _try_lock(descriptor):
            if time.monotonic() >= deadline:
                raise Refused(
                    f"Another muniment process holds {path}.",
                    "Wait for it to end, then run the command again.",
                    code="locked",
                )
            time.sleep(0.02)
        yield descriptor
    finally:
        os.close(descriptor)


if os.name == "nt":  # pragma: no cover - exercised on Windows only

    def _try_lock(descriptor: int) -> bool:
        import msvcrt  # noqa: PLC0415 - exists on Windows only

        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined,unused-ignore]  # Windows only
        except OSError:
            return False
        return True

else:

    def _try_lock(descriptor: int) -> bool:
        import fcntl  # noqa: PLC0415 - exists on POSIX only

        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        return True


@cache
def template_text(name: str) -> str:
    """The text of a shipped template, as UTF-8 with LF line endings.

    In a wheel the templates lie inside the package; in a checkout, at the repository's top.

    Raises:
        Unavailable: No such template; the installation is damaged.
    """
    return _template(name).read_bytes().decode("utf-8").replace("\r\n", "\n")


def template_folder(name: str) -> Path:
    """A folder of shipped templates (the demo's tree), to be copied whole; raises as `template_text` does."""
    return _template(name)


def _template(name: str) -> Path:
    package = Path(__file__).parent
    for folder in (package / "templates", package.parent.parent / "templates"):
        if (folder / name).exists():
            return folder / name
    raise Unavailable(f"The template {name} is missing from this installation.", "Install muniment again.")
