"""The one wrapper around the git program: a cleaned environment, bytes in and out, no prompt, no fetch.

git hands its own variables (`GIT_DIR`, `GIT_INDEX_FILE`, `GIT_WORK_TREE`, …) to hooks, and a git started by
a hook would take them for its own; from a linked worktree that reads, or writes, the wrong repository.
So every `GIT_*` variable is dropped but those that say who, how to connect, or which settings (G16).
"""

from __future__ import annotations

import os
import subprocess
import weakref
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from muniment.errors import Unavailable, UsageProblem
from muniment.git.oid import MissingObject, Oid

_KEPT = frozenset(
    {
        "GIT_ASKPASS",
        "GIT_ATTR_NOSYSTEM",
        "GIT_CEILING_DIRECTORIES",
        "GIT_CONFIG_COUNT",
        "GIT_CONFIG_GLOBAL",
        "GIT_CONFIG_NOSYSTEM",
        "GIT_CONFIG_SYSTEM",
        "GIT_DISCOVERY_ACROSS_FILESYSTEM",
        "GIT_EXEC_PATH",
        "GIT_SSH",
        "GIT_SSH_COMMAND",
        "GIT_SSH_VARIANT",
    }
)
_KEPT_PREFIXES = (
    "GIT_AUTHOR_",
    "GIT_COMMITTER_",
    "GIT_CONFIG_KEY_",
    "GIT_CONFIG_VALUE_",
    "GIT_HTTP_",
    "GIT_LFS_",
    "GIT_PROXY_",
    "GIT_SSL_",
)
NO_FETCH = {
    "GIT_ALLOW_PROTOCOL": "none",  # stops a lazy fetch in a partial clone before git 2.44 …
    "GIT_NO_LAZY_FETCH": "1",  # … and since (G17)
}
_READING = {
    **NO_FETCH,
    "GIT_GRAFT_FILE": f"{os.devnull}/absent",
    "GIT_LITERAL_PATHSPECS": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "LANGUAGE": "C",
    "LC_ALL": "C",
}
_PIPELINE = 100
"""Requests sent ahead to `cat-file`: at most 6,500 bytes, far below any pipe's buffer, so no deadlock."""
_MESSAGE_LIMIT = 2000


def encode(text: str) -> bytes:
    """A path or name as git holds it (UTF-8, undecodable bytes back from surrogate escapes)."""
    return text.encode("utf-8", "surrogateescape")


def decode(data: bytes) -> str:
    """The inverse of `encode`."""
    return data.decode("utf-8", "surrogateescape")


def fields(output: bytes) -> list[str]:
    """The NUL-terminated fields of a `-z` answer."""
    return decode(output).split("\0")[:-1]


def clean_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """`environ` without the variables by which git would take another repository for its own (G16)."""
    return {
        name: value
        for name, value in environ.items()
        if not name.startswith("GIT_") or name in _KEPT or name.startswith(_KEPT_PREFIXES)
    }


class GitFailed(Unavailable):
    """The git program failed where it should not have; the message names the command and git's reason."""

    code = "git-failed"


class GitKilled(GitFailed):
    """A git process was killed, so it may have left its own lock files behind."""


@dataclass(frozen=True, slots=True)
class Ran:
    """What a git process answered: exit code, stdout, and stderr as text cut to a readable length."""

    code: int
    out: bytes
    err: str


class Git:
    """The git program bound to one folder and environment.

    Attributes:
        directory: Where git runs (`-C`).
        environ: The cleaned environment: what hooks, filters and signing programs receive.
        reading: The same for reads: no locks, no prompt, no fetch, no replace refs, literal paths.
        inherited: File descriptors that acting children keep open, so that a lock outlives a killed parent.
    """

    def __init__(self, directory: Path, environ: Mapping[str, str]) -> None:
        self.directory = directory
        self.environ = clean_environment(environ)
        self.reading = {**self.environ, **_READING}
        self.inherited: tuple[int, ...] = ()

    def run(
        self,
        *arguments: str | bytes,
        stdin: bytes = b"",
        env: Mapping[str, str] | None = None,
        acting: bool = False,
        options: Sequence[str] = (),
    ) -> Ran:
        """Run git to its end, whatever its exit code.

        `acting` takes the environment for commands that write or run a user's programs (filters, hooks).
        `options` come before the subcommand; `env` is laid on top.

        Raises:
            Unavailable: There is no git program.
        """
        base = self.environ if acting else self.reading
        command: list[str | bytes] = ["git", "-C", os.fsencode(self.directory), *options]
        command += [encode(part) if isinstance(part, str) else part for part in arguments]
        if os.name == "nt":  # pragma: no cover - Windows takes text arguments only
            command = [part if isinstance(part, str) else decode(part) for part in command]
        try:
            done = subprocess.run(
                command,
                input=stdin,
                capture_output=True,
                env={**base, **(env or {})},
                check=False,
                pass_fds=self.inherited if acting else (),
            )
        except OSError as error:
            raise not_started(error) from error
        return Ran(done.returncode, done.stdout, readable(done.stderr))

    def out(
        self,
        *arguments: str | bytes,
        stdin: bytes = b"",
        env: Mapping[str, str] | None = None,
        acting: bool = False,
        options: Sequence[str] = (),
    ) -> bytes:
        """Run git and return its stdout; raises `GitFailed` on any exit code but 0."""
        done = self.run(*arguments, stdin=stdin, env=env, acting=acting, options=options)
        if done.code:
            raise failed(arguments, done)
        return done.out

    def line(self, *arguments: str | bytes, acting: bool = False) -> str:
        """Run git and return its stdout without the final line break."""
        return decode(self.out(*arguments, acting=acting)).removesuffix("\n")


def not_started(error: OSError) -> Unavailable:
    """The error for a git program that could not be started."""
    return Unavailable(
        f"The git program could not be started: {error.strerror}.",
        "Install git (https://git-scm.com) or put it on PATH.",
        code="no-git",
    )


def failed(arguments: Sequence[str | bytes], done: Ran) -> GitFailed:
    """The error for a git command that failed where it should not have."""
    name = next((part for part in arguments if isinstance(part, str) and part[:1] != "-"), "")
    if done.code < 0:
        return GitKilled(f"git {name} was killed by signal {-done.code}.", "Run the command again.")
    missing = "missing object" in done.err or "unable to read" in done.err or "bad object" in done.err
    kind = MissingObjectFailed if missing else GitFailed
    return kind(f"git {name} failed: {done.err or f'exit code {done.code}'}")


class MissingObjectFailed(GitFailed, MissingObject):
    """A git command stopped at an object that this clone doesn't hold (G17)."""

    code = MissingObject.code


def readable(data: bytes) -> str:
    """Git's stderr as one bounded piece of text, control characters shown as spaces."""
    text = data[:_MESSAGE_LIMIT].decode("utf-8", "replace").strip()
    return "".join(char if char == "\n" or char.isprintable() else " " for char in text)


class ObjectReader:
    """One long-running `git cat-file --batch`: many object reads for the price of one process.

    It ends with this object, or with the process, whichever is first.
    """

    def __init__(self, git: Git) -> None:
        self._git = git
        self._process: subprocess.Popen[bytes] | None = None

    def get(self, oid: Oid) -> tuple[str, bytes] | None:
        """One object's type and content, or None when this clone doesn't hold it."""
        return next(self.get_many((oid,)))[1]

    def get_many(self, oids: Iterable[Oid]) -> Iterator[tuple[Oid, tuple[str, bytes] | None]]:
        """Objects in the order asked for; reads ahead a bounded number of requests."""
        pending: list[Oid] = []
        for oid in oids:
            pending.append(oid)
            if len(pending) == _PIPELINE:
                yield from self._exchange(pending)
                pending = []
        if pending:
            yield from self._exchange(pending)

    def _exchange(self, oids: list[Oid]) -> list[tuple[Oid, tuple[str, bytes] | None]]:
        """Send all requests, then read all answers; complete before anything is handed out.

        git ends at an object that is damaged, or that it would have to fetch: that one counts as absent,
        and a new process takes the rest.
        """
        answers: list[tuple[Oid, tuple[str, bytes] | None]] = []
        while len(answers) < len(oids):
            rest = oids[len(answers) :]
            process = self._started()
            assert process.stdin is not None  # noqa: S101 - opened with PIPE
            with suppress(BrokenPipeError):
                process.stdin.write("".join(f"{oid}\n" for oid in rest).encode("ascii"))
                process.stdin.flush()
            for oid in rest:
                whole, found = _answer(process)
                answers.append((oid, found))
                if not whole:
                    _stop(process)
                    self._process = None
                    break
        return answers

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is None or self._process.poll() is not None:
            command = ["git", "-C", str(self._git.directory), "cat-file", "--batch"]
            try:
                self._process = subprocess.Popen(
                    command,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL,
                    env=self._git.reading,
                )
            except OSError as error:
                raise not_started(error) from error
            weakref.finalize(self, _stop, self._process)
        return self._process


def _answer(process: subprocess.Popen[bytes]) -> tuple[bool, tuple[str, bytes] | None]:
    """One answer of `cat-file --batch`: whether it was whole, and the object's type and content."""
    assert process.stdout is not None  # noqa: S101 - opened with PIPE
    head = process.stdout.readline().split()
    if head[1:] == [b"missing"]:
        return True, None
    if len(head) != 3:  # noqa: PLR2004 - "<oid> <type> <size>"
        return False, None
    size = int(head[2])
    data = process.stdout.read(size + 1)
    return (True, (head[1].decode("ascii"), data[:-1])) if len(data) == size + 1 else (False, None)


def _stop(process: subprocess.Popen[bytes]) -> None:
    """End `cat-file` by closing its input, and wait for it."""
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            with suppress(BrokenPipeError):
                stream.close()
    process.wait()


def existing_folder(directory: Path) -> Path:
    """`directory`, or `UsageProblem` when it is no folder."""
    if not directory.is_dir():
        raise UsageProblem(
            f"{directory} is not a folder.", "Give an existing folder to -C.", code="no-folder"
        )
    return directory
