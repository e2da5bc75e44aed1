"""Where reports come from: files, folders, and folders on another machine over ssh or rsync (C7).

Only files named `report.json` leave a bot's machine; what lies beside them (ids, tables of tags) stays.
Nothing is followed through a symbolic link inside a searched folder, and what is left out is said.
"""

from __future__ import annotations

import io
import os
import re
import shlex
import stat
import subprocess
import tarfile
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from muniment.errors import MunimentError, Unavailable, UsageProblem
from muniment.files import read_bytes
from muniment.findings import MAX_REPORT_BYTES

NAME = "report.json"
SECONDS = 120
"""How long another machine may take to hand its reports over, in seconds."""
MAX_FETCHED = 256 * 1024 * 1024
"""Most bytes taken from another machine in one go."""
MAX_FOUND = 10_000
"""Most reports taken from one folder in one go."""

_WORD = r"[A-Za-z0-9_][A-Za-z0-9._-]*"
_HOST = rf"(?:{_WORD}|\[[0-9A-Fa-f:.]+\])"
_URL = re.compile(rf"ssh://(?:({_WORD})@)?({_HOST})(?::([0-9]{{1,5}}))?(/.*)\Z")
_RSYNC = re.compile(rf"rsync://(?:{_WORD}@)?{_HOST}(?::[0-9]{{1,5}})?/[^/].*\Z")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_SCP = re.compile(rf"(?:({_WORD})@)?({_HOST}):(?!//)(.+)\Z")


@dataclass(frozen=True, slots=True)
class Found:
    """One report file, or why a place gave none.

    Attributes:
        origin: Where it lies, as a person would write it.
        data: Its bytes; None when `reason` says why there are none.
        reason: One sentence; empty when there are bytes.
        unavailable: Whether something outside is at fault (the machine, the network, the disk).
    """

    origin: str
    data: bytes | None
    reason: str = ""
    unavailable: bool = False


@dataclass(frozen=True, slots=True)
class Remote:
    """A folder or file on another machine; every part has been checked to be no option."""

    user: str
    host: str
    port: str
    path: str

    @property
    def shown(self) -> str:
        """The place as scp writes it."""
        return f"{self.user}@{self.host}:{self.path}" if self.user else f"{self.host}:{self.path}"


def find(place: str, base: Path, environ: Mapping[str, str]) -> Iterator[Found]:
    """Every report at a place: a file, a folder, or one on another machine.

    Other machines are written `[user@]host:path`, `ssh://[user@]host[:port]/path`, or, for a daemon,
    `rsync://[user@]host[:port]/module/path`.

    Args:
        place: As given on the command line or under a bot's `from`.
        base: What a relative local path is relative to.
        environ: For `HOME`, and for ssh itself.
    """
    local = base / expand(place, environ)
    remote = None if os.path.lexists(local) else parse_remote(place)
    if isinstance(remote, Remote):
        yield from _find_remote(remote, environ)
    elif _RSYNC.match(place) and not os.path.lexists(local):
        yield from _find_rsync(place, environ)
    elif _SCHEME.match(place) and not os.path.lexists(local):
        said = "It is no address of the form ssh://[user@]host[:port]/path or rsync://host/module/path."
        yield Found(place, None, said)
    elif local.is_dir():
        yield from _find_folder(local, place)
    else:
        yield _read(local, place)


def expand(place: str, environ: Mapping[str, str]) -> str:
    """A path with a leading `~/` replaced by this person's home."""
    home = environ.get("HOME", "")
    return f"{home}{place[1:]}" if home and (place == "~" or place.startswith("~/")) else place


def parse_remote(place: str) -> Remote | None:
    """A place on another machine, or None for a local path."""
    match = _URL.match(place)
    if match:
        user, host, port, path = match.groups()
        path = path[1:] if path.startswith("/~/") else path
        return Remote(user or "", host.strip("[]"), port or "", path)
    match = _SCP.match(place)
    if not match or len(match[2]) == 1:  # one letter is a drive of Windows
        return None
    return Remote(match[1] or "", match[2].strip("[]"), "", match[3])


def _find_folder(folder: Path, place: str) -> Iterator[Found]:
    count = 0
    for root, folders, files in os.walk(folder, onerror=None, followlinks=False):
        folders.sort()
        shown = Path(place) / Path(root).relative_to(folder)
        for name in [name for name in folders if (Path(root) / name).is_symlink()]:
            yield Found(str(shown / name), None, "It is a symbolic link to a folder; it is not followed.")
        folders[:] = [name for name in folders if name != ".git" and not (Path(root) / name).is_symlink()]
        if NAME in files:
            count += 1
            if count > MAX_FOUND:
                yield Found(place, None, f"It holds more than {MAX_FOUND} reports; the rest is left.")
                return
            yield _read(Path(root) / NAME, str(shown / NAME), follow=False)
    if not count:
        yield Found(place, None, f"It holds no {NAME}.")


def _read(path: Path, shown: str, *, follow: bool = True) -> Found:
    try:
        info = path.stat() if follow else path.lstat()
    except (OSError, ValueError) as error:
        missing = isinstance(error, FileNotFoundError)
        said = "There is no such file." if missing else f"It can't be read: {_words(error)}."
        return Found(shown, None, said, unavailable=not missing)
    if stat.S_ISLNK(info.st_mode):
        return Found(shown, None, "It is a symbolic link; it is not followed.")
    if not stat.S_ISREG(info.st_mode):
        return Found(shown, None, "It is not a regular file.")
    try:
        return Found(shown, read_bytes(path, limit=MAX_REPORT_BYTES))
    except UsageProblem:
        said = f"It has {info.st_size} bytes; at most {MAX_REPORT_BYTES} are read."
        return Found(shown, None, said)
    except MunimentError as error:
        return Found(shown, None, error.message, unavailable=True)


def _words(error: Exception) -> str:
    return getattr(error, "strerror", None) or type(error).__name__


def _find_remote(remote: Remote, environ: Mapping[str, str]) -> Iterator[Found]:
    try:
        archive = _fetch(remote, environ)
        found = list(_members(archive, remote))
    except Unavailable as error:
        yield Found(remote.shown, None, error.message, unavailable=True)
        return
    yield from found or [Found(remote.shown, None, f"It holds no {NAME}.")]


def ssh_arguments(remote: Remote) -> list[str]:
    """The argument list for ssh: no option can come from the address, nothing asks, no terminal."""
    options = ["-T", "-o", "BatchMode=yes", "-o", "ConnectTimeout=10"]
    if remote.port:
        options += ["-p", remote.port]
    if remote.user:
        options += ["-l", remote.user]
    return ["ssh", *options, "--", remote.host, remote_command(remote.path)]


def remote_command(path: str) -> str:
    """What the other machine's shell runs: pack every report below a path; the path is quoted."""
    if path == "~" or path.startswith("~/"):
        where = '"$HOME"' + (shlex.quote(path[1:]) if len(path) > 1 else "")
    else:
        where = shlex.quote(path if path.startswith("/") else f"./{path}")
    return f"test -e {where} && find {where} -type f -name {NAME} -exec tar cf - {{}} +"


def _fetch(remote: Remote, environ: Mapping[str, str]) -> bytes:
    """The tar archives that the other machine packed; raises `Unavailable`."""
    data = _run(ssh_arguments(remote), f"ssh to {remote.host}", environ)
    if len(data) > MAX_FETCHED:
        raise Unavailable(f"{remote.shown} holds more than {MAX_FETCHED} bytes of reports.")
    return data


def _run(arguments: list[str], what: str, environ: Mapping[str, str]) -> bytes:
    """What a program printed; raises `Unavailable` when it can't be run, fails, or takes too long."""
    try:
        done = subprocess.run(
            arguments,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
            env=dict(environ),
            timeout=SECONDS,
        )
    except subprocess.TimeoutExpired as error:
        raise Unavailable(f"{what} did not end within {SECONDS} seconds.") from error
    except OSError as error:
        raise Unavailable(f"{arguments[0]} can't be run: {_words(error)}.") from error
    if done.returncode:
        last = done.stderr.decode("utf-8", "replace").strip().rsplit("\n", 1)[-1][:200]
        raise Unavailable(f"{what} ended with code {done.returncode}" + (f": {last}" if last else "") + ".")
    return done.stdout


def rsync_arguments(place: str, folder: str) -> list[str]:
    """The argument list for rsync: reports alone, links left behind, nothing above the size limit."""
    filters = ["--include=*/", f"--include={NAME}", "--exclude=*", "--prune-empty-dirs", "--no-links"]
    options = ["-rt", "--contimeout=10", f"--max-size={MAX_REPORT_BYTES}", *filters]
    return ["rsync", *options, "--", f"{place.rstrip('/')}/", f"{folder}/"]


def _find_rsync(place: str, environ: Mapping[str, str]) -> Iterator[Found]:
    """The reports of an rsync daemon, by way of a private folder that is removed at once."""
    with tempfile.TemporaryDirectory(prefix="muniment-") as folder:
        try:
            _run(rsync_arguments(place, folder), "rsync", environ)
        except Unavailable as error:
            yield Found(place, None, error.message, unavailable=True)
            return
        for one in list(_find_folder(Path(folder), "")):
            yield replace(one, origin=f"{place.rstrip('/')}/{one.origin}".rstrip("/"))


def _members(archive: bytes, remote: Remote) -> Iterator[Found]:
    """The reports of an archive, read from memory: no name in it ever becomes a path here."""
    if not archive:
        return
    try:
        with tarfile.open(fileobj=io.BytesIO(archive), mode="r:", ignore_zeros=True) as packed:
            for member in sorted(packed.getmembers(), key=lambda member: member.name):
                shown = f"{remote.shown} ({member.name})"
                stream = packed.extractfile(member) if member.isreg() else None
                if stream is None:
                    yield Found(shown, None, "It is not a regular file.")
                elif member.size > MAX_REPORT_BYTES:
                    said = f"It has {member.size} bytes; at most {MAX_REPORT_BYTES} are read."
                    yield Found(shown, None, said)
                else:
                    yield Found(shown, stream.read())
    except (tarfile.TarError, EOFError, ValueError) as error:
        raise Unavailable(f"{remote.host} sent no archive of reports.") from error
