"""What `muniment repair` was asked to mend: the ledger by path or by default, and what it can't mend yet."""

from __future__ import annotations

from collections.abc import Sequence

from muniment.ledger.conflict import read
from muniment.ledger.repair import repair_ledger
from muniment.ledger.repair_report import Outcome, Unresolved
from muniment.ledger.store import read_here
from muniment.workspace import Workspace

_BY_HAND = "It has an unfinished merge; `repair` mends the ledger only, as yet. Resolve it by hand, then: "


def repair(ws: Workspace, paths: Sequence[str] = ()) -> Outcome:
    """Mend what `paths` (repository-relative files or folders; none means everything) name.

    State and plan are looked at and reported when a merge left them unfinished; they are not written.

    Raises:
        Refused, Unavailable: As `repair_ledger` does.
    """
    config = ws.config
    done = Outcome()
    if _asked(paths, config.ledger_path) or any(_within(path, config.sealed_path) for path in paths):
        done = repair_ledger(ws)
    conflicted = frozenset(ws.repo.conflicted())
    left = [*done.unresolved]
    others = [path for path in (config.sweep_state_path, config.plan_path) if _asked(paths, path)]
    known = {config.ledger_path, config.sweep_state_path, config.plan_path}
    others += [path for path in paths if path not in known and path in conflicted]
    for path in dict.fromkeys(others):
        if path in conflicted or _marked(ws, path):
            add = f"git add -- {path}"
            left.append(Unresolved(path, 0, "by-hand", f"{_BY_HAND}{add}", add))
    return Outcome(done.repaired, tuple(left), done.written)


def _asked(paths: Sequence[str], path: str) -> bool:
    return not paths or any(given == "." or _within(path, given) for given in paths)


def _within(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def _marked(ws: Workspace, path: str) -> bool:
    data = read_here(ws, path)
    return data is not None and read(data, path).marked
