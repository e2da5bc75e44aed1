"""Rules about this clone rather than its files: an interrupted step, a merge driver that can't run."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from muniment.check.context import Context
from muniment.check.findings import Finding, Note, Unknown
from muniment.errors import Problem, Refused
from muniment.files import file_lock

_DRIVERS = ("muniment-ledger", "muniment-state", "muniment-plan")


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
    """A merge driver that .gitattributes names is set up in this clone (G8)."""
    data = context.snapshot.read(".gitattributes")
    if data is None:
        return
    for number, line in enumerate(data.decode("utf-8", "replace").splitlines(), start=1):
        for name in _DRIVERS:
            if f"merge={name}" in line.split() and not context.ws.repo.config(f"merge.{name}.driver"):
                message = f"This clone has no merge driver {name}; plain merges are still right or detected."
                yield Note(".gitattributes", number, "merge-driver", message)
