"""What git calls to merge one of Muniment's files: three versions in, the semantic merge out (G8).

It reads no repository, no settings and no index, so it works wherever git merges: in a worktree, in a hook's
environment, in the middle of a rebase, in a bare repository (`git merge-tree`). A version that can't be read
is a conflict, never a reason to take the other side; a file that only has the name of one of Muniment's is
merged as git would have done.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from muniment.errors import CheckFailed, Problem, UsageProblem
from muniment.files import atomic_write, read_bytes

KINDS = ("ledger", "state", "plan")
_SEALED = re.compile(r"(?:^|/)([0-9a-f]{16})\.json\Z")
_OURS: Mapping[str, tuple[re.Pattern[bytes], ...]] = {
    "ledger": (re.compile(rb'"muniment\.ledger/\d'),),
    "state": (
        re.compile(rb"^schema_version[ \t]*:", re.MULTILINE),
        re.compile(rb"^(?:items|sources|lease|lease_epoch|last_run)[ \t]*:", re.MULTILINE),
    ),
    "plan": (
        re.compile(rb"^artifact_contract[ \t]*:", re.MULTILINE),
        re.compile(rb"<!--[ \t]*sweep-items:start"),
    ),
}
"""Kind → what stands in every file of ours, however damaged."""


@dataclass(frozen=True, slots=True)
class Versions:
    """The three versions of a file.

    Attributes:
        path: Its path in the repository, for messages and names.
        base: What both sides started from; None when there was no such file.
        ours: One side.
        theirs: The other.
    """

    path: str
    base: bytes | None
    ours: bytes
    theirs: bytes


@dataclass(frozen=True, slots=True)
class Merged:
    """The merged bytes, and what a person should know about them, in sentences."""

    data: bytes
    notes: tuple[str, ...] = ()


class Unmergeable(CheckFailed):
    """A version can't be read, so nothing was merged; the file stays as it was."""

    code = "unmergeable"


def run(kind: str, base: Path, ours: Path, theirs: Path, path: str) -> tuple[str, ...]:
    """Merge three files and write the result to `ours`; returns what a person should know.

    Args:
        kind: `ledger`, `state` or `plan`.
        base: The common version; an empty file when there is none.
        ours: The side whose file receives the result, in one step or not at all.
        theirs: The other side.
        path: The path in the repository.

    Raises:
        UsageProblem: There is no such kind.
        Unmergeable: A version can't be read; `ours` is untouched.
        CheckFailed: The file isn't Muniment's and both sides changed the same lines; `ours` then holds git's
            conflict markers, as without a driver.
        Unavailable: A file can't be read or written; `ours` is untouched.
    """
    if kind not in KINDS:
        raise UsageProblem(f"There is no merge driver {kind!r}.", f"Kinds: {', '.join(KINDS)}.")
    versions = Versions(path, read_bytes(base) or None, read_bytes(ours), read_bytes(theirs))
    if not is_ours(kind, versions):
        _as_text(base, ours, theirs, path)
        return ()
    merged = merge(kind, versions)
    if merged.data != versions.ours:
        atomic_write(ours, merged.data)
    return merged.notes


def is_ours(kind: str, versions: Versions) -> bool:
    """Whether any of the versions is one of Muniment's files, and not just of the same name."""
    found = (one for one in (versions.base, versions.ours, versions.theirs) if one)
    return any(all(sign.search(one) for sign in _OURS[kind]) for one in found)


def merge(kind: str, versions: Versions) -> Merged:
    """The semantic merge of three versions; raises `Unmergeable`."""
    by_kind: Mapping[str, Callable[[Versions], Merged]] = {
        "ledger": _sealed if _SEALED.search(versions.path) else _ledger,
        "state": _state,
        "plan": _plan,
    }
    if versions.base and not (versions.ours.strip() and versions.theirs.strip()):
        raise _unreadable(
            versions.path, "ours" if not versions.ours.strip() else "theirs", "The file is empty."
        )
    return by_kind[kind](versions)


def _unreadable(path: str, side: str, message: str, line: int = 0, rule: str = "unmergeable") -> Unmergeable:
    """The error for a version that can't be read."""
    shown = {"base": "the common version", "ours": "our side", "theirs": "the other side"}[side]
    problem = Problem(path, line, rule, f"It can't be merged: {shown} can't be read. {message}")
    return Unmergeable(
        str(problem),
        f"Nothing was written. Mend that side, or run `muniment repair {path}`.",
        problems=(problem,),
    )


def _ledger(versions: Versions) -> Merged:
    from muniment.ledger.merge import Content, content, merge_three  # noqa: PLC0415 - only for a ledger
    from muniment.ledger.segment import parse_segment  # noqa: PLC0415 - same

    def read(side: str, data: bytes | None) -> Content:
        if data is None:
            return Content()
        segment = parse_segment(data, versions.path)
        if segment.newer:
            raise _unreadable(versions.path, side, "A newer Muniment wrote it.", rule="newer-schema")
        for fault in segment.faults:
            raise _unreadable(versions.path, side, fault.message, fault.line, fault.rule)
        try:
            return content(segment)
        except ValueError:
            raise _unreadable(versions.path, side, "It is no ledger of this version.", 1, "schema") from None

    base, ours, theirs = (read(side, getattr(versions, side)) for side in ("base", "ours", "theirs"))
    return Merged(merge_three(base, ours, theirs).render())


def _sealed(versions: Versions) -> Merged:
    """A sealed segment is named by its content, so at most one content is right."""
    name = _SEALED.search(versions.path)
    for data in (versions.ours, versions.theirs, versions.base):
        if name and data is not None and sha256(data).hexdigest().startswith(name[1]):
            return Merged(data)
    raise _unreadable(versions.path, "ours", "No version of this sealed segment is what its name says.")


def _state(versions: Versions) -> Merged:
    from muniment.state.merge_form import SideError  # noqa: PLC0415 - only for a merge
    from muniment.state.merge_text import merge_text, shared_numbers  # noqa: PLC0415 - only for a state

    base, ours, theirs = (_text(versions, side) for side in ("base", "ours", "theirs"))
    try:
        merged = merge_text(base, ours or "", theirs or "")
    except SideError as error:
        raise _unreadable(versions.path, error.side, error.message, error.line) from error
    return Merged(merged.encode(), shared_numbers(merged))


def _plan(versions: Versions) -> Merged:
    from muniment.plan.merge import merge_plan  # noqa: PLC0415 - only for a plan
    from muniment.state.merge_form import SideError  # noqa: PLC0415 - only for a merge

    base, ours, theirs = (_text(versions, side) for side in ("base", "ours", "theirs"))
    try:
        return Merged(merge_plan(base, ours or "", theirs or "").encode())
    except SideError as error:
        raise _unreadable(versions.path, error.side, error.message, error.line) from error


def _text(versions: Versions, side: str) -> str | None:
    data: bytes | None = getattr(versions, side)
    try:
        return None if data is None else data.decode()
    except UnicodeDecodeError as error:
        line = (data or b"").count(b"\n", 0, error.start) + 1
        raise _unreadable(versions.path, side, "The file is not UTF-8.", line) from error


def _as_text(base: Path, ours: Path, theirs: Path, path: str) -> None:
    """Merge somebody else's file by lines, as git does where no driver is named."""
    import subprocess  # noqa: PLC0415 - never needed for a file of ours

    names = ("-L", "ours", "-L", "base", "-L", "theirs")
    done = subprocess.run(
        ["git", "merge-file", "-p", *names, "--", str(ours), str(base), str(theirs)],
        capture_output=True,
        check=False,
    )
    if done.returncode < 0 or done.returncode > 127:  # noqa: PLR2004 - git merge-file's own bound
        raise Unmergeable(f"{path} can't be merged by lines.", "It is not one of Muniment's files.")
    atomic_write(ours, done.stdout)
    if done.returncode:
        raise CheckFailed(
            f"{path} is not one of Muniment's files, and both sides changed the same lines.",
            "Resolve the conflict as usual.",
        )


def read_for_diff(kind: str, file: Path) -> bytes:
    """A file's bytes for a textconv; raises `UsageProblem` for a kind without one, else as `read_bytes`."""
    if kind != "ledger":
        raise UsageProblem(f"There is no textconv for {kind!r}.", "Kinds: ledger.")
    return read_bytes(file)
