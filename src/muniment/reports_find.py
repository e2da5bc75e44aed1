"""Where reports come from: files, folders, and folders on another machine over ssh (C7).

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
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from muniment.errors import MunimentError, Unavailable, UsageProblem
from muniment.files import read_bytes
from muniment.findings import MAX_REPORT_BYTES

NAME = "report.json"
SSH_SECONDS = 120
MAX_FETCHED = 256 * 1024 * 1024
"""Most bytes taken from another machine in one go."""
MAX_FOUND = 10_000
"""Most reports taken from one folder in one go."""

_WORD = r"[A-Za-z0-9_][A-Za-z0-9._-]*"
_HOST = rf"(?:{_WORD}|\[[0-9A-Fa-f:.]+\])"
_URL = re.compile(rf"ssh://(?:({_WORD})@)?({_HOST})(?::([0-9]{{1,5}}))?(/.*)\Z")
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
    """Every report at a place: a file, a folder, `ssh://[user@]host[:port]/path` or `[user@]host:path`.

    Args:
        place: As given on the command line or under a bot's `from`.
        base: What a relative local path is relative to.
        environ: For `HOME`, and for ssh itself.
    """
    local = base / expand(place, environ)
    remote = None if os.path.lexists(local) else parse_remote(place)
    if isinstance(remote, Remote):
        yield from _find_remote(remote, environ)
    elif place.startswith("ssh://"):
        yield Found(place, None, "It is no address of the form ssh://[user@]host[:port]/path.")
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
    try:
        with subprocess.Popen(
            ssh_arguments(remote),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=dict(environ),
        ) as process:
            return _drain(process, remote)
    except OSError as error:
        raise Unavailable(f"ssh can't be run: {_words(error)}.") from error


def _drain(process: subprocess.Popen[bytes], remote: Remote) -> bytes:
    try:
        data, errors = process.communicate(timeout=SSH_SECONDS)
    except subprocess.TimeoutExpired as error:
        process.kill()
        process.communicate()
        raise Unavailable(f"{remote.host} did not answer within {SSH_SECONDS} seconds.") from error
    if process.returncode:
        last = errors.decode("utf-8", "replace").strip().rsplit("\n", 1)[-1][:200]
        said = f": {last}" if last else ""
        raise Unavailable(f"ssh to {remote.host} ended with code {process.returncode}{said}.")
    if len(data) > MAX_FETCHED:
        raise Unavailable(f"{remote.shown} holds more than {MAX_FETCHED} bytes of reports.")
    return data


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
