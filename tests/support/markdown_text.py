"""Hostile Markdown for properties, and the two formatters that people run over our files."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path

from hypothesis import strategies as st

ALPHABET = (
    *"\\`*_{}[]()#+-.!<>&|~$^=:\"'@/%,;? \t\n\r",
    *"ab12éß日",
    "\u2028",
    "\u2029",
    "\x85",
    "\x0b",
    "\x00",
    "\x1b",
    "\u202e",
    "\u2066",
    "\u200b",
    "\u200d",
    "\u00a0",
    "\u3000",
    "\ufeff",
    "<!-- sweep-items:end -->",
    "<!-- human-notes:start -->",
    "<!--",
    "-->",
    "```",
    "~~~",
    "\n---\n",
    "\n\n",
    "\r\n",
    "[x]: y\n",
    "](z)",
    "https://e.x/y_z",
    "www.e.x",
    "&amp;",
    "&#10;",
    "**R1**",
    " · state `k:1` · ",
    "<div>",
    "1. ",
    "word ",
)
PIECES = st.sampled_from(ALPHABET)


def hostile_text() -> st.SearchStrategy[str]:
    """Text that tries to be more than text."""
    return st.lists(PIECES, max_size=14).map("".join)


@cache
def prettier_program() -> tuple[str, ...]:
    """How to run prettier 3 here, or () when it can't be had.

    `MUNIMENT_TEST_PRETTIER` names the program; else it is installed once through npm into the user's
    cache folder, and found there afterwards.
    """
    named = os.environ.get("MUNIMENT_TEST_PRETTIER")
    if named:
        return (named,)
    found = shutil.which("prettier")
    if found:
        return (found,)
    npm = shutil.which("npm")
    if not npm:
        return ()
    folder = Path(tempfile.gettempdir()) / f"muniment-test-prettier-{os.getuid()}"
    program = folder / "node_modules" / ".bin" / "prettier"
    if not program.exists():
        _install(npm, folder)
    return (str(program),) if program.exists() else ()


def _install(npm: str, folder: Path) -> None:
    """Install prettier into a folder of its own, then give it its name, so that two runs don't meet."""
    made = Path(tempfile.mkdtemp(prefix=f"{folder.name}-"))
    quick = ["--no-audit", "--no-fund", "--silent", "--fetch-retries=0", "--fetch-timeout=30000"]
    with suppress(OSError, subprocess.TimeoutExpired):
        command = [npm, "install", *quick, "--prefix", str(made), "prettier@3"]
        subprocess.run(command, check=False, capture_output=True, timeout=120)
        made.rename(folder)
    shutil.rmtree(made, ignore_errors=True)


def prettier_missing() -> str:
    """Why prettier's tests can't run; "" when they can."""
    return "" if prettier_program() else "prettier 3 is not installed and npm can't install it"


def prettier(documents: Sequence[str]) -> list[str]:
    """Documents as prettier's defaults write them."""
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder) / f"{number:04}.md" for number in range(len(documents))]
        for file, document in zip(files, documents, strict=True):
            file.write_bytes(document.encode())
        command = [*prettier_program(), "--no-config", "--log-level", "warn", "--write", *map(str, files)]
        subprocess.run(command, check=True, capture_output=True, timeout=120)
        return [file.read_bytes().decode() for file in files]
