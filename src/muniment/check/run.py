"""One check: choose the files, run every rule, collect what they say (G13, G18)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from muniment.check import quick
from muniment.check.context import Context, Scope
from muniment.check.findings import Finding, Note, Outcome, Unknown
from muniment.check.paths import Owned
from muniment.check.registry import RULES
from muniment.check.snapshot import Objects, Snapshot, WorkingTree
from muniment.errors import MunimentError, Problem, Refused, Unavailable, UsageProblem
from muniment.git.repo import MissingObject
from muniment.workspace import Workspace


def check(ws: Workspace, paths: Sequence[str] = (), revisions: str | None = None, *, staged: bool) -> Outcome:
    """Judge what was asked for: the given paths, a range, what is staged, else the whole working tree."""
    if paths:
        return check_paths(ws, paths)
    if revisions is not None:
        return check_range(ws, revisions)
    return check_staged(ws) if staged else check_all(ws)


def repository_path(ws: Workspace, directory: Path, given: str) -> str:
    """A path as a person gave it in `directory`, relative to the repository; "." for the whole of it.

    Raises:
        UsageProblem: It leads outside the repository.
    """
    path = directory / given
    place = path.resolve() if path.name in {"", ".."} else path.parent.resolve() / path.name
    try:
        return place.relative_to(ws.root.resolve()).as_posix()
    except ValueError:
        raise UsageProblem(f"{given!r} is not a path inside the repository.") from None


def check_all(ws: Workspace) -> Outcome:
    """Judge every owned file of the working tree."""
    head = ws.repo.head().commit
    return _run(ws, Scope("all", "the working tree", tip=head, base=head))


def check_paths(ws: Workspace, paths: Iterable[str]) -> Outcome:
    """Judge the owned files at or below these repository-relative paths, as they are in the working tree.

    Raises:
        UsageProblem: Nothing is at a path, or it leads outside the repository.
    """
    owned = Owned.of(ws.config)
    everything = WorkingTree(ws.root, owned).paths()
    chosen: set[str] = set()
    for path in paths:
        found = {one for one in everything if path in {one, "."} or one.startswith(f"{path}/")}
        if not found and path != "." and not ws.path(path).exists() and owned.kind(path) is None:
            raise UsageProblem(f"There is no {path} here.", "Give a file or folder of this repository.")
        chosen |= found or {path}
    head = ws.repo.head().commit
    return _run(ws, Scope("paths", "the named files", frozenset(chosen), tip=head, base=head))


def check_staged(ws: Workspace, staged: Iterable[str] | None = None) -> Outcome:
    """Judge what the next commit would change, as it is staged, against HEAD."""
    names = frozenset(change.path for change in ws.repo.staged()) if staged is None else frozenset(staged)
    quick.remember(ws, Owned.of(ws.config))
    head = ws.repo.head().commit
    return _run(ws, Scope("staged", "what is staged", names, tip=head, base=head))


def check_range(ws: Workspace, given: str) -> Outcome:
    """Judge what a range of commits changes: the files of its end, against where it left its start.

    A range whose ends can't be compared in this clone gives an unknown, with the command that helps.

    Raises:
        UsageProblem: `given` is not of the form A..B.
    """
    first, dots, last = given.partition("..")
    first, last = first.removesuffix("."), last.removeprefix(".")
    if not dots or ".." in last:
        raise UsageProblem(f"{given!r} is not a range.", "Give two revisions: --range origin/main..HEAD")
    first, last = first or "HEAD", last or "HEAD"
    try:
        return _range(ws, first, last)
    except MissingObject as error:
        settle = error.hint or "git fetch --unshallow"
        return Outcome(unknown=(Unknown("range", error.message, settle),), what=f"{first}..{last}")


def _range(ws: Workspace, first: str, last: str) -> Outcome:
    what = f"{first}..{last}"
    ends = [ws.repo.resolve(name) for name in (first, last)]
    for name, commit in zip((first, last), ends, strict=True):
        if commit is None:
            why = f"{name} names no commit in this clone."
            return Outcome(unknown=(Unknown("range", why, _settle(ws, name)),), what=what)
    start, tip = ends
    assert start is not None and tip is not None  # noqa: S101, PT018 - both were just looked at
    base = ws.repo.merge_base(start, tip)
    if base is None and ws.repo.is_shallow():
        why = f"{first} and {last} have no common commit in this shallow clone."
        return Outcome(unknown=(Unknown("range", why, "git fetch --unshallow"),), what=what)
    base = base or start
    changed = frozenset(ws.repo.diff_paths(base, tip))
    return _run(ws, Scope("range", what, changed, tip=tip, base=base, named=(str(start), str(tip))))


def _settle(ws: Workspace, name: str) -> str:
    if ws.repo.is_shallow():
        return "git fetch --unshallow"
    remote, slash, branch = name.removeprefix("refs/remotes/").partition("/")
    return f"git fetch {remote} {branch}" if slash else "git fetch --all --tags"


def _snapshot(ws: Workspace, scope: Scope, owned: Owned) -> Snapshot:
    if scope.mode == "staged":
        return Objects.staged(ws.repo, owned)
    if scope.mode == "range" and scope.tip is not None:
        return Objects.commit(ws.repo, scope.tip, scope.what, owned)
    return WorkingTree(ws.root, owned)


def _run(ws: Workspace, scope: Scope) -> Outcome:
    owned = Owned.of(ws.config)
    context = Context(ws, scope, _snapshot(ws, scope, owned), owned)
    found: list[Finding] = []
    for name in RULES:
        found += _guarded(name, context)
    context.facts.save(whole=scope.mode == "all")
    return Outcome(
        problems=tuple(sorted({one for one in found if isinstance(one, Problem)})),
        unknown=tuple(sorted({one for one in found if isinstance(one, Unknown)})),
        notes=tuple(sorted({one for one in found if isinstance(one, Note)})),
        checked=sum(1 for _ in context.paths()),
        what=scope.what,
    )


def _guarded(name: str, context: Context) -> list[Finding]:
    """What a rule says; where it can't read something, that is an unknown, and the others go on (G18)."""
    said: list[Finding] = []
    try:
        for one in RULES[name](context):
            said.append(one)  # noqa: PERF402 - what was said before a failure counts
    except (Unavailable, UsageProblem, Refused) as error:
        said.append(Unknown(name, error.message, _command(error)))
    return said


def _command(error: MunimentError) -> str:
    return error.hint or "muniment --debug check"
