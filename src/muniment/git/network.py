"""How git reaches a remote from a repository of ours as from the user's: settings, environment, time limit.

The user's remote is known to our git runs under a name of its own, with the same settings but its refspecs:
so nothing is fetched into the user's refs or tracked, while `url.*.insteadOf`, proxies and the rest apply.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import IO

from muniment.git.process import Git, Ran, encode, not_started, readable
from muniment.git.settings import Settings

Pairs = tuple[tuple[str, str], ...]

_SECTIONS = ("credential.", "http.", "url.", "protocol.", "ssh.", "safe.", "transfer.credentialsinurl")
_KEYS = frozenset({"core.sshcommand", "core.askpass", "core.gitproxy"})
_REMOTE_KEYS = frozenset(
    {"url", "pushurl", "proxy", "proxyauthmethod", "uploadpack", "receivepack", "vcs", "serveroption"}
)
_ACCUMULATING = (("credential.", ".helper"), ("http.", ".extraheader"), ("http.", ".curloptresolve"))
"""Settings whose values add up; an empty one starts afresh, so that none counts twice."""
_STALL_SECONDS = 60
"""An HTTP transfer without a byte for so long is given up, unless the user says otherwise."""
_CONNECT_SECONDS = 20
_GRACE_SECONDS = 2.0
"""Between the polite end of a git process and the other one."""
_KEPT_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class Connection:
    """One remote as our git runs see it.

    Attributes:
        alias: The remote's name in those runs.
        remote: Its settings under that name.
        settings: The user's settings for connecting, for a repository that can't see them.
    """

    alias: str
    remote: Pairs
    settings: Pairs


def connection(settings: Settings, remote: str, alias: str) -> Connection:
    """Take from the user's settings what reaching `remote` (a remote's name, or a URL or path) needs."""
    prefix = f"remote.{remote}."
    own = [(key[len(prefix) :], value) for key, value in settings.pairs if key.startswith(prefix)]
    kept = [(f"remote.{alias}.{name}", value) for name, value in own if name in _REMOTE_KEYS]
    if not any(name == "url" for name, _ in own):
        kept.append((f"remote.{alias}.url", remote))
    shared = [pair for pair in settings.pairs if pair[0] in _KEYS or pair[0].startswith(_SECTIONS)]
    fresh = [(key, "") for key in dict.fromkeys(key for key, _ in shared) if _adds_up(key)]
    return Connection(alias, tuple(kept), (*fresh, *shared))


def _adds_up(key: str) -> bool:
    return any(key.startswith(start) and key.endswith(end) for start, end in _ACCUMULATING)


def with_settings(base: Mapping[str, str], pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """An environment with more git settings: they follow those that it already gives."""
    environment = dict(base)
    try:
        count = int(environment.get("GIT_CONFIG_COUNT", "0"))
    except ValueError:
        count = 0
    for key, value in pairs:
        environment[f"GIT_CONFIG_KEY_{count}"] = key
        environment[f"GIT_CONFIG_VALUE_{count}"] = value
        count += 1
    environment["GIT_CONFIG_COUNT"] = str(count)
    return environment


def without_settings(base: Mapping[str, str]) -> dict[str, str]:
    """An environment without git settings given by environment (they are part of the user's settings)."""
    return {name: value for name, value in base.items() if not name.startswith("GIT_CONFIG_") or _file(name)}


def _file(name: str) -> bool:
    return name in {"GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM"}


def for_network(base: Mapping[str, str], settings: Settings) -> dict[str, str]:
    """An environment in which git asks nobody, speaks English, and gives up a dead connection.

    The character encoding stays, for hooks' sake. A ssh command that the user chose stays as it is.
    """
    environment = dict(base)
    encoding = environment.pop("LC_ALL", "") or environment.get("LC_CTYPE", "") or environment.get("LANG", "")
    environment |= {"GIT_TERMINAL_PROMPT": "0", "LANGUAGE": "C", "LC_MESSAGES": "C"}
    if encoding:
        environment["LC_CTYPE"] = encoding
    chosen = {"GIT_SSH_COMMAND", "GIT_SSH"} & environment.keys() or settings.get("core.sshcommand")
    if not chosen:
        environment["GIT_SSH_COMMAND"] = f"ssh -o BatchMode=yes -o ConnectTimeout={_CONNECT_SECONDS}"
    if settings.get("http.lowspeedlimit") is None:
        environment.setdefault("GIT_HTTP_LOW_SPEED_LIMIT", "1")
        environment.setdefault("GIT_HTTP_LOW_SPEED_TIME", str(_STALL_SECONDS))
    return environment


@dataclass(frozen=True, slots=True)
class Talk:
    """What git said: its exit code (negative: ended by a signal, or by us), stdout, and the whole stderr."""

    code: int
    out: str
    err: str

    def failed(self) -> Ran:
        """The same in the form that errors are made of."""
        return Ran(self.code, self.out.encode(errors="replace"), readable(self.err.encode(errors="replace")))


def talk(
    git: Git,
    arguments: Sequence[str],
    environment: Mapping[str, str],
    *,
    held: Sequence[int] = (),
    seconds: float | None = None,
) -> Talk:
    """Run git to its end, or for at most `seconds`; its children may outlive that, and keep `held` open.

    Its output goes to files, so that such a child can't make us wait.

    Raises:
        Unavailable: There is no git program.
    """
    command = ["git", "-C", str(git.directory), *arguments]
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        try:
            process = subprocess.Popen(
                [encode(part) for part in command] if os.name != "nt" else command,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                env=dict(environment),
                pass_fds=tuple(held),
            )
        except OSError as error:
            raise not_started(error) from error
        code = _ended(process, seconds)
        return Talk(code, _said(out), _said(err))


def _ended(process: subprocess.Popen[bytes], seconds: float | None) -> int:
    try:
        return process.wait(seconds)
    except subprocess.TimeoutExpired:
        return _end(process)
    except BaseException:
        _end(process)
        raise


def _end(process: subprocess.Popen[bytes]) -> int:
    """Ask git to end (it takes its lock files along), then make it; always a negative code."""
    with suppress(ProcessLookupError):
        process.terminate()
    with suppress(subprocess.TimeoutExpired):
        process.wait(_GRACE_SECONDS)
    if process.poll() is None:
        process.kill()
        process.wait()
    return -abs(process.poll() or 15)


def _said(stream: IO[bytes]) -> str:
    """The end of what was written: the part that counts comes last."""
    stream.seek(max(0, stream.seek(0, os.SEEK_END) - _KEPT_BYTES))
    return stream.read().decode("utf-8", "replace")
