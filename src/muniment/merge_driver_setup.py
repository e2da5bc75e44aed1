"""Put the merge drivers into a clone's git configuration, and tell whether they are there (G8).

`.gitattributes` is committed and names the drivers; what a driver runs is each clone's own setting, since git
lets no repository name programs to run.
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Mapping
from pathlib import Path

from muniment.files import file_lock
from muniment.workspace import Workspace

DRIVERS: Mapping[str, str] = {
    "ledger": "Muniment: ledgers merge as sets of entries",
    "state": "Muniment: states merge by item and field",
    "plan": "Muniment: plans merge by item",
}
"""Kind → what git calls its driver."""


def settings(program: str) -> dict[str, str]:
    """The git settings that a program's drivers need.

    Args:
        program: The absolute path of the muniment program; "" for this interpreter's.
    """
    call = _call(program)
    found: dict[str, str] = {}
    for kind, words in DRIVERS.items():
        found[f"merge.muniment-{kind}.name"] = words
        # git quotes %P itself; a quote around it would become part of the path
        found[f"merge.muniment-{kind}.driver"] = f"{call.replace('%', '%%')} merge-driver {kind} %O %A %B %P"
    found["diff.muniment-ledger.textconv"] = f"{call} textconv ledger"
    return found


def _call(program: str) -> str:
    """Shell words that run the program, or whichever is on PATH once that one is gone."""
    if not program:
        return f"{shlex.quote(sys.executable)} -m muniment"
    return f'm={shlex.quote(program)}; [ -x "$m" ] || m=muniment; "$m"'


def install(ws: Workspace, program: str) -> bool:
    """Set what isn't set as it should be; whether anything changed.

    Raises:
        Refused: Another Muniment process holds the lock.
        Unavailable: git couldn't write its configuration.
    """
    with file_lock(ws.lock_path):
        missing = {key: value for key, value in settings(program).items() if ws.repo.config(key) != value}
        for key, value in missing.items():
            ws.repo.git.out("config", "--local", "--replace-all", key, value, acting=True)
    return bool(missing)


def trouble(ws: Workspace, kind: str) -> str:
    """Why a kind's driver can't run in this clone, in words that follow its name; "" when it can."""
    line = ws.repo.config(f"merge.muniment-{kind}.driver")
    if not line:
        return "is not set up in this clone"
    words = shlex.split(line.partition(";")[0].removeprefix("m="), comments=False) or [""]
    program = words[0].replace("%%", "%")
    if line.startswith("m=") or "/" in program:
        import shutil  # noqa: PLC0415 - slow to import, and every check asks here

        gone = not Path(program).is_file() and not (line.startswith("m=") and shutil.which("muniment"))
        return "calls a program that is gone" if gone else ""
    return ""
