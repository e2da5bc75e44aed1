"""Kill a real run at its k-th change of a file, for every k: write, rename, link, fsync, unlink, mkdir, …"""

from __future__ import annotations

import os
import shutil
import signal
import struct
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path

import pytest

_SHIM = Path(__file__).with_name("kill_shim.c")
_SERVER = Path(__file__).with_name("kill_server.py")
_PROJECT = _SHIM.parents[2]


class Mode(IntEnum):
    """What happens at the k-th change; the numbers are the shim's."""

    KILL_GROUP = 0
    KILL_ONE = 1
    FILL = 2


@dataclass(frozen=True, slots=True)
class Killer:
    """A warm process that runs scenarios (`module:function`, called with a folder) until the k-th change."""

    process: subprocess.Popen[str]
    counter: Path
    log: Path

    def run(self, scenario: str, folder: Path, *, limit: int = 0, mode: Mode = Mode.KILL_GROUP) -> bool:
        """Run to the end, to an error or to the kill; True when it was killed, False otherwise.

        An error where nothing was injected, or where everything should have died, fails the test.
        """
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        with self.counter.open("r+b") as stream:  # in place: the server has it mapped
            stream.write(struct.pack("lll", 0, limit, mode))
        self.process.stdin.write(f"{scenario} {folder}\n")
        self.process.stdin.flush()
        status = int(self.process.stdout.readline())
        if os.WIFSIGNALED(status):
            assert os.WTERMSIG(status) == signal.SIGKILL
            return True
        if os.WEXITSTATUS(status) and (mode is Mode.KILL_GROUP or not limit):
            raise AssertionError(self.log.read_text()[-3000:])
        return False

    @property
    def count(self) -> int:
        """Changes counted in the latest run."""
        return int(struct.unpack("l", self.counter.read_bytes()[:8])[0])


@contextmanager
def killer(folder: Path) -> Iterator[Killer]:
    """Compile the shim and start the server; skips the test where that is impossible."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None or not sys.platform.startswith("linux"):
        pytest.skip("killing at every write needs Linux and a C compiler")
    shim, counter, log = folder / "shim.so", folder / "counter", folder / "log"
    subprocess.run([compiler, "-O1", "-shared", "-fPIC", "-o", shim, _SHIM, "-ldl"], check=True)
    counter.write_bytes(struct.pack("lll", 0, 0, 0))
    # A coverage tool that writes its data in the server would be counted, and killed, with the rest.
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("COV_", "COVERAGE_"))}
    environment = {
        **kept,
        "LD_PRELOAD": str(shim),
        "KILL_COUNTER": str(counter),
        "PYTHONPATH": str(_PROJECT),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    with log.open("w") as stream:
        process = subprocess.Popen(
            [sys.executable, str(_SERVER)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=stream,
            text=True,
            env=environment,
            start_new_session=True,  # a kill of the server's group must never reach the test runner
        )
    try:
        yield Killer(process, counter, log)
    finally:
        with counter.open("r+b") as stream:  # off: how the server ends is no change to be killed at
            stream.write(struct.pack("lll", 0, -1, 0))
        process.communicate()
