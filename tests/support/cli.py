"""Run the command line in this process, as an installed command would answer."""

from __future__ import annotations

import io
import json
import sys
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from muniment.cli.main import run as run_main


@dataclass(frozen=True, slots=True)
class Result:
    """What a command printed and how it ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Stdout as exactly one JSON document."""
        return json.loads(self.out)

    def ok(self) -> Result:
        """This result, after checking that the command succeeded."""
        assert self.code == 0, f"exit {self.code}: {self.err}\n{self.out}"
        return self


class _Pipe(io.TextIOWrapper):
    """A text stream over memory that is no terminal."""

    def __init__(self, data: bytes = b"") -> None:
        super().__init__(io.BytesIO(data), encoding="utf-8", write_through=True)

    @property
    def text(self) -> str:
        self.flush()
        assert isinstance(self.buffer, io.BytesIO)
        return self.buffer.getvalue().decode("utf-8")


def muniment(*arguments: str, cwd: Path, stdin: str | bytes = b"") -> Result:
    """Run `muniment -C cwd ARGUMENTS…`; stdin is never a terminal."""
    out, err = _Pipe(), _Pipe()
    given = sys.stdin
    sys.stdin = _Pipe(stdin.encode() if isinstance(stdin, str) else stdin)
    try:
        with redirect_stdout(out), redirect_stderr(err):
            code = run_main(["-C", str(cwd), *arguments])
    finally:
        sys.stdin = given
    return Result(code, out.text, err.text)
