"""Rules about the state and its view, the rolling plan (S11, S13, S14)."""

from __future__ import annotations

from collections.abc import Iterator

from muniment.check.context import Context
from muniment.check.findings import Finding, Note, Unknown
from muniment.check.paths import Kind
from muniment.errors import Problem
from muniment.state.evidence import missing

_RECONCILE = "muniment plan reconcile"


def state(context: Context) -> Iterator[Finding]:
    """The state is YAML of the known shape, and every item of it can be read."""
    if context.wants_any(Kind.STATE):
        yield from context.state.problems


def closed_items(context: Context) -> Iterator[Finding]:
    """A closed item carries the whole proof: what fixed it, the merged commit, and when that was verified."""
    if not context.wants_any(Kind.STATE):
        return
    path = context.ws.config.sweep_state_path
    for key, record in context.state.records.items():
        if record.get("status") != "closed":
            continue
        wrong = missing(record)
        if wrong:
            message = (
                f"The item {key[:80]} is closed without a usable {', '.join(wrong)}: "
                "nothing shows that it is fixed."
            )
            fix = "Set its status to fix_pending until the merge is verified."
            yield Problem(path, context.state.line(key), "closed-without-evidence", message, fix)


def plan(context: Context) -> Iterator[Finding]:
    """The plan shows what the state says; lines of another state stay and are a note."""
    if not context.wants_any(Kind.PLAN, Kind.STATE):
        return
    path = context.ws.config.plan_path
    text = context.text(path)
    if context.ws.config.setting("sweep_shared_branch"):
        if text is not None:
            branch = context.ws.config.setting("sweep_shared_branch")
            why = (
                f"The state lives on the branch {branch}, so whether {path} is up to date can't be seen here."
            )
            yield Unknown("plan", why, f"git fetch origin {branch}")
        return
    known = context.state.state
    if known is None:
        if text is not None and not context.state.problems:
            where = context.ws.config.sweep_state_path
            why = f"There is no state at {where}, so nobody can say whether {path} is up to date."
            yield Unknown("plan", why, f"git log --all --oneline -- {where}")
        return
    if text is None and (context.snapshot.read(path) is not None or not _shows_any(context)):
        return  # not UTF-8, which the rule `text` says; or nothing that a plan would show
    if any(rule == "conflict-markers" for _, rule, _, _ in context.faults(path)):
        return
    yield from _compare(context, path, text)


def _shows_any(context: Context) -> bool:
    return context.state.state is not None and any(item.shown for item in context.state.state.items.values())


def _compare(context: Context, path: str, text: str | None) -> Iterator[Finding]:
    """What reconciling would change."""
    from muniment.plan.reconcile import Effects, reconcile_plan  # noqa: PLC0415 - only with plan and state

    known = context.state.state
    assert known is not None  # noqa: S101 - the caller looked
    result = reconcile_plan(
        text, known, path=path, today="0000-00-00", effects=Effects(last_rendering=lambda _: None)
    )
    for key in result.foreign:
        line = _line_of(text or "", f"`{key}`")
        yield Note(path, line, "foreign-line", f"The line of {key} belongs to another state; it stays.")
    if text is None:
        message = f"The plan is missing; the state has {result.open} items to show."
        yield Problem(path, 0, "plan", message, _RECONCILE)
    elif result.rotate:
        why = result.reasons[0].message if result.reasons else "It can't be read."
        line = result.reasons[0].line if result.reasons else 0
        message = f"This is no plan of Muniment's ({why}) The next reconcile moves it aside, untouched."
        yield Problem(path, line, "plan-rotation", message, _RECONCILE)
    elif result.text != text and (result.added or result.drained or not _edited(context, path)):
        changes = [
            f"{len(keys)} {words}"
            for keys, words in ((result.added, "to add"), (result.drained, "to take off"))
            if keys
        ]
        message = f"The plan isn't what the state would produce ({', '.join(changes) or 'texts differ'})."
        yield Problem(path, 0, "plan", message, _RECONCILE)


def _edited(context: Context, path: str) -> bool:
    return any(rule == "hand-edit" for _, rule, _, _ in context.faults(path))


def _line_of(text: str, words: str) -> int:
    at = text.find(words)
    return text.count("\n", 0, at) + 1 if at >= 0 else 0
