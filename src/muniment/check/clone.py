"""Rules about this clone rather than its files: an interrupted step, a merge driver that can't run."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from muniment import merge_driver_setup
from muniment.check.context import Context
from muniment.check.findings import Finding, Note, Unknown
from muniment.errors import Problem, Refused
from muniment.files import file_lock


def journal(context: Context) -> Iterator[Finding]:
    """No step of an earlier run was left half done (G4)."""
    if next((context.ws.private / "journal").glob("*/intent.json"), None) is None:
        return
    from muniment.journal import Journal  # noqa: PLC0415 - only when there is one

    found = Journal(context.ws.repo, context.ws.private)
    # While its run is alive a step is not left but under way: this may be the very hook of its commit.
    if found.is_open() and not (_held(found.alive) or _held(context.ws.lock_path)):
        message = "A run was interrupted in the middle of writing several files."
        yield Problem(".", 0, "open-journal", message, "muniment check --fix")


def _held(lock: Path) -> bool:
    """Whether a living process holds a lock."""
    try:
        with file_lock(lock, wait_seconds=0):
            return False
    except Refused:
        return True


def upstream(context: Context) -> Iterator[Finding]:
    """The upstream default branch is known, or there is no remote: else nothing is compared with it (G17)."""
    if context.scope.mode == "range" or not context.kinds:
        return
    found = context.upstream
    if found.ref is None and found.settle:
        why = "The upstream default branch isn't known here: nothing was compared with it, only with HEAD."
        yield Unknown("upstream", why, found.settle)


def merge_driver(context: Context) -> Iterator[Finding]:
    """The merge drivers are named by .gitattributes, set up in this clone, and can run (G8)."""
    data = context.snapshot.read(".gitattributes") or b""
    lines = {name: number for number, name in reversed([*_named(data)])}
    said = {kind: merge_driver_setup.trouble(context.ws, kind) for kind in merge_driver_setup.DRIVERS}
    for kind, trouble in said.items():
        if (line := lines.get(kind)) and trouble:
            message = (
                f"The merge driver muniment-{kind} {trouble} (muniment init --merge-driver); "
                "plain merges are still right or detected."
            )
            yield Note(".gitattributes", line, "merge-driver", message)
    if not lines and b"# muniment:start" in data:
        message = "It names no merge driver yet (muniment init); plain merges are still right or detected."
        yield Note(".gitattributes", 0, "merge-driver", message)


def _named(data: bytes) -> Iterator[tuple[int, str]]:
    """The kinds whose drivers some lines name, each with its line."""
    for number, line in enumerate(data.decode("utf-8", "replace").splitlines(), start=1):
        words = line.split()
        yield from (
            (number, kind) for kind in merge_driver_setup.DRIVERS if f"merge=muniment-{kind}" in words
        )
