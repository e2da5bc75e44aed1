"""The gate over every commit of a range: what one adds and a later one takes out is pushed too (G12)."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from typing import TYPE_CHECKING

from muniment.check.context import Context
from muniment.check.findings import Finding, Unknown
from muniment.check.gating import JUDGED, meaning
from muniment.errors import Problem
from muniment.git.repo import Commit, Oid

if TYPE_CHECKING:
    from muniment.redact.gate import GateProblem

MAX_COMMITS = 5000
"""How many commits of a range, the newest, are looked at one by one; beyond that the answer is unknown."""
_WHOLE = frozenset({"undecodable", "timeout", "error"})


def commits(context: Context) -> Iterator[Finding]:
    """No commit of the range has an identifier or a secret in its message, or adds one to a judged file.

    What stands in the range's end, or stood at its start, is left to the rule `gate`. A merge is judged by
    what none of its parents has.
    """
    scope = context.scope
    if scope.mode != "range" or scope.tip is None or scope.base is None:
        return
    start = Oid(scope.named[0])
    listed = list(context.ws.repo.commits([scope.tip], hide=[start], limit=MAX_COMMITS + 1))
    if not listed:
        return
    from muniment.redact.gate import gate_for  # noqa: PLC0415 - only with a range of commits
    from muniment.redact.gate_files import gate_commit  # noqa: PLC0415 - as above

    def judged(path: str) -> bool:
        return context.owned.kind(path) in JUDGED

    gate = gate_for(context.ws)
    ends = (scope.tip, scope.base)
    for commit in listed[:MAX_COMMITS]:
        for found in gate.inspect_text(commit.message, "commit message"):
            yield _in_message(commit, found)
        for found in gate_commit(context.ws, gate, commit, judged=judged, elsewhere=ends):
            yield _in_file(commit, found)
    if len(listed) > MAX_COMMITS:
        why = f"The range has more than {MAX_COMMITS} commits; older ones were not looked at one by one."
        yield Unknown("gate-commits", why, f"muniment gate --range {shlex.quote('..'.join(scope.named))}")


def _in_message(commit: Commit, found: GateProblem) -> Problem:
    message = (
        f"The message of commit {commit.oid.short} holds {meaning(found.kind)} (line {found.line}, column "
        f"{found.column}); the value is not shown."
    )
    if found.kind in _WHOLE:
        message = f"The gate could not judge the message of commit {commit.oid.short} ({found.kind})."
    return Problem(".", 0, f"gate-{found.kind}", message, _rewrite(commit))


def _in_file(commit: Commit, found: GateProblem) -> Problem:
    message = (
        f"Commit {commit.oid.short} adds {meaning(found.kind)} here (column {found.column}), and pushing the "
        "range gives it away although a later commit takes it out; the value is not shown."
    )
    if found.kind in _WHOLE:
        message = f"The gate could not judge what commit {commit.oid.short} adds here ({found.kind})."
    return Problem(found.path, found.line, f"gate-{found.kind}", message, _rewrite(commit))


def _rewrite(commit: Commit) -> str:
    """The command that opens a commit for an edit; nothing of it was pushed yet when this is read in time."""
    start = f"{commit.oid.short}^" if commit.parents else "--root"
    return f"git rebase -i --rebase-merges {start}"
