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
    """Judge what was asked for: the given paths, a range, what is staged, else the whole working tree.

    Args:
        ws: The workspace.
        paths: Repository-relative paths; the owned files at or below them are judged.
        revisions: `A..B`: the files of B that changed since it left A.
        staged: What the next commit would change, as it is staged.

    Raises:
        UsageProblem: Nothing is at a path, it leads outside the repository, or `revisions` is no range.
    """
    if revisions is not None:
        return check_range(ws, revisions)
    if staged:
        quick.remember(ws, Owned.of(ws.config))
    return _run(ws, scope_of(ws, paths, staged=staged))


def scope_of(ws: Workspace, paths: Sequence[str] = (), *, staged: bool) -> Scope:
    """What a check of paths, of what is staged, or of everything looks at; raises as `check` does."""
    head = ws.repo.head().commit
    if staged:
        names = frozenset(change.path for change in ws.repo.staged())
        return Scope("staged", "what is staged", names, tip=head, base=head)
    if paths:
        return Scope("paths", "the named files", _chosen(ws, paths), tip=head, base=head)
    return Scope("all", "the working tree", tip=head, base=head)


def _chosen(ws: Workspace, paths: Iterable[str]) -> frozenset[str]:
    owned = Owned.of(ws.config)
    everything = WorkingTree(ws.root, owned).paths()
    chosen: set[str] = set()
    for path in paths:
        found = {one for one in everything if path in {one, "."} or one.startswith(f"{path}/")}
        if not found and path != "." and not ws.path(path).exists() and owned.kind(path) is None:
            raise UsageProblem(f"There is no {path} here.", "Give a file or folder of this repository.")
        chosen |= found or {path}
    return frozenset(chosen)


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
    context.stamps.save(whole=scope.mode == "all")
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
        if (error.message, error.hint) not in context.snapshot.unreadable.values():  # which has its own rule
            said.append(Unknown(name, error.message, _command(error)))
    return said


def _command(error: MunimentError) -> str:
    return error.hint or "muniment --debug check"
