"""Options and context that commands share."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from muniment.errors import UsageProblem

if TYPE_CHECKING:
    from muniment.workspace import Workspace

Function = TypeVar("Function", bound=Callable[..., Any])


class Invocation:
    """What the global options said; the repository is opened on first use."""

    def __init__(self, directory: str, *, quiet: bool = False, debug: bool = False) -> None:
        self.directory = Path(directory)
        self.quiet = quiet
        self.debug = debug
        self._workspace: Workspace | None = None

    @property
    def workspace(self) -> Workspace:
        """The repository that the command works in; raises `UsageProblem` when there is none."""
        if self._workspace is None:
            from muniment.workspace import open_workspace  # noqa: PLC0415 - help opens no repository

            self._workspace = open_workspace(self.directory)
        return self._workspace

    def at(self, rev: str | None) -> Workspace:
        """The repository as of a commit (`--rev`), or as it is now; raises `UsageProblem` for no commit."""
        return self.workspace.at(rev)

    @property
    def writable(self) -> Workspace:
        """The same, refusing when a settings file has a problem: nothing is written on a guess."""
        self.workspace.require_config()
        return self.workspace

    def interactive(self) -> bool:
        """Whether a person can be asked: stdin and stderr are terminals."""
        return sys.stdin.isatty() and sys.stderr.isatty()


pass_invocation = click.make_pass_decorator(Invocation)


def json_option(function: Function) -> Function:
    """`--json`: exactly one JSON document on stdout; the flag arrives as `as_json`."""
    return click.option("--json", "as_json", is_flag=True, help="Print one JSON document on stdout.")(
        function
    )


def rev_option(function: Function) -> Function:
    """`--rev REV`: read the files of that commit, without a checkout (G1)."""
    return click.option("--rev", metavar="REV", default=None, help="Read as of this commit.")(function)


def read_input(name: str, *, limit: int = 256 * 1024 * 1024) -> bytes:
    """The bytes of a file argument, `-` meaning standard input; raises as `files.read_bytes` does."""
    from muniment.files import read_bytes  # noqa: PLC0415 - only commands with a file argument need it

    if name != "-":
        return read_bytes(Path(name), limit=limit)
    data = sys.stdin.buffer.read(limit + 1)
    if len(data) > limit:
        raise UsageProblem(f"Standard input is longer than {limit} bytes.")
    return data


def running_program() -> str:
    """The muniment program to call later: the one running now, else the one beside Python, else ""."""
    import shutil  # noqa: PLC0415 - only where something is installed

    given = Path(sys.argv[0]) if sys.argv else Path()
    found = shutil.which(given) if given.name in {"muniment", "mun"} else None
    beside = Path(sys.executable).with_name("muniment")
    return str(Path(found).absolute()) if found else str(beside) if beside.is_file() else ""
