"""Read the state file, and set fields of its items without touching any other byte (S13, G2)."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from muniment.errors import MunimentError, Problem, Refused, Unavailable, UsageProblem
from muniment.files import FileChange, read_bytes
from muniment.state.model import Lease, State, build, is_sensitive
from muniment.workspace import Workspace, parse_instant
from muniment.yaml_io import Yaml, YamlError, parse, set_fields

MAX_BYTES = 64 * 1024 * 1024
"""Largest state file read, in bytes."""


@dataclass(frozen=True, slots=True)
class StateFile:
    """The state with the text it was read from.

    Attributes:
        path: Repository-relative path.
        text: The file's text, BOM and line endings included.
        document: The same as plain values.
        state: The state; items that can't be read are in `state.damaged`.
        problems: What is wrong with single items.
    """

    path: str
    text: str
    document: Yaml
    state: State
    problems: tuple[Problem, ...] = ()

    def with_fields(self, changes: Mapping[str, Mapping[str, Any]]) -> FileChange | None:
        """The file with fields of items set; None when that changes nothing.

        Raises:
            Refused: The file's YAML can't be edited without changing more than that.
        """
        try:
            edited = set_fields(self.text, "items", changes, document=self.document) if changes else self.text
        except YamlError as error:
            raise Refused(
                f"{self.path}: {error.message}", "Write the items as block mappings; nothing was written."
            ) from error
        return None if edited == self.text else FileChange(self.path, edited.encode("utf-8"))


def load(ws: Workspace) -> StateFile:
    """Read the state file of the working tree.

    Raises:
        Unavailable: There is none, or it can't be read.
        Refused: It is no plain file, not UTF-8, not YAML, holds conflict markers, or has a wrong shape.
        UsageProblem: It is too large, or lies where this version doesn't keep a state.
    """
    path = local_path(ws)
    file = ws.path(path)
    if not file.exists() and not file.is_symlink():
        raise Unavailable(
            f"There is no state at {path}, so nobody can say what is open.",
            "Check `sweep_state_path` in .muniment/config.yaml, or start with a file that says "
            "`schema_version: 1` and `items: {}`.",
            code="no-state",
        )
    if not (file.is_file() or file.is_dir()):
        raise Refused(
            f"The state {path} is no plain file, so it isn't read.",
            "Put a file there, or name its path in `sweep_state_path`. Nothing was written.",
        )
    return decode(read_bytes(file, limit=MAX_BYTES), path, sensitive_sources(ws))


def local_path(ws: Workspace) -> str:
    """Where the state of local mode lies, relative to the repository.

    Raises:
        UsageProblem: The settings say shared mode, or a place outside the repository.
    """
    if ws.config.setting("sweep_shared_branch"):
        raise UsageProblem(
            "`sweep_shared_branch` is set: state and plan live on that branch, which this version doesn't "
            "read or write yet.",
            "Unset it to keep state and plan in the working tree.",
        )
    path = ws.config.sweep_state_path
    if Path(path).is_absolute():
        raise UsageProblem(
            f"`sweep_state_path` is {path!r}, outside the repository; this version keeps state and plan in "
            "the working tree only.",
            "Give a path inside the repository.",
        )
    return path


def decode(data: bytes, path: str, sensitive: Collection[str] = ()) -> StateFile:
    """The state in a file's bytes; raises `Refused` naming file and line."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise _broken(path, line, "The file is not UTF-8.") from error
    try:
        document = parse(text)
    except YamlError as error:
        raise _broken(path, error.line, error.message) from error
    state, problems = build(document, path, sensitive_sources=sensitive)
    if state is None:
        raise _broken(path, problems[0].line, problems[0].message)
    return StateFile(path, text, document, state, problems)


def sensitive_sources(ws: Workspace) -> frozenset[str]:
    """Ids of the sources that the settings mark sensitive."""
    listed = ws.config.setting("feedback_sources") or ()
    return frozenset(
        str(source["id"]) for source in listed if is_sensitive(source) and source.get("id") is not None
    )


def require_free(lease: Lease | None, now: datetime, path: str, writer: str = "") -> None:
    """Raise `Refused` while another's lease stands in the state file and isn't provably stale (G9).

    Stale means that its readable timestamp lies more than its ttl in the past; an unreadable or future
    one is live.
    """
    if lease is None or _stale(lease, now) or (writer and lease.writer == writer):
        return
    raise Refused(
        f"{path} is held by {lease.writer or 'another writer'} since {lease.timestamp or 'an unknown time'}.",
        "Wait until that run has released it, then run the command again.",
        code="locked",
    )


def _stale(lease: Lease, now: datetime) -> bool:
    """Whether a lease's own words prove that it has run out."""
    try:
        taken = parse_instant(lease.timestamp)
    except MunimentError:
        return False
    return lease.ttl_minutes is not None and now - taken > timedelta(minutes=lease.ttl_minutes)


def _broken(path: str, line: int, message: str) -> Refused:
    """The refusal for a file that can't be trusted as a whole."""
    problem = Problem(path, line, "state-broken", message, "Mend the file, or restore it from git.")
    return Refused(
        str(problem), problem.fix + " Nothing was written.", code="state-broken", problems=(problem,)
    )
