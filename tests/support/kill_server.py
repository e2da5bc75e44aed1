"""Runs under the preloaded shim: forks a child per request line, so that nothing is imported again.

Request: `<scenario>:<function> <folder>`; answer: the child's wait status. The child leads
its own process group, which is what the shim kills.
"""

from __future__ import annotations

import importlib
import os
import sys
import traceback

WARM = ("muniment.publish", "muniment.redact.gate", "pygit2")


def serve() -> None:
    for name in WARM:
        importlib.import_module(name)
    for line in sys.stdin:
        scenario, folder = line.rstrip("\n").split(" ", 1)
        module, function = scenario.split(":")
        act = getattr(importlib.import_module(module), function)
        child = os.fork()
        if child == 0:
            os.setsid()
            code = 0
            try:
                act(folder)
            except Exception:  # noqa: BLE001 - told by the exit code
                traceback.print_exc()
                code = 3
            finally:
                sys.stderr.flush()
                os._exit(code)
        _, status = os.waitpid(child, 0)
        print(status, flush=True)  # noqa: T201 - the answer


if __name__ == "__main__":
    serve()
