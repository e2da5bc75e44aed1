"""`init`: make a repository ready, changing as little as possible, and say what to do next (G2, G16).

A file of a person's is never written over: a settings file that exists stays as it is, and of
`.gitattributes` and `.gitignore` every line but Muniment's own keeps its bytes. Nothing is committed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from muniment import config as configuration
from muniment import publish
from muniment.config import Config
from muniment.errors import Refused
from muniment.files import read_bytes, template_text
from muniment.workspace import Workspace

ATTRIBUTES = ".gitattributes"
IGNORE = ".gitignore"

_START = re.compile(rb"[ \t]*# muniment:start\b[^\n]*\Z")
_END = re.compile(rb"[ \t]*# muniment:end[ \t]*\r?\Z")
_CONFLICT = re.compile(rb"^(?:<{7}|>{7}) ", re.MULTILINE)
_SPECIAL = re.compile(r"([\\*?\[\]])")


@dataclass(frozen=True, slots=True)
class Prepared:
    """What `init` did and what is left to do; every path is repository-relative."""

    created: tuple[str, ...]
    updated: tuple[str, ...]
    unchanged: tuple[str, ...]
    notes: tuple[str, ...]

    @property
    def changed(self) -> tuple[str, ...]:
        """The paths to commit."""
        return tuple(sorted(self.created + self.updated))


def prepare(ws: Workspace, *, attributes_only: bool = False) -> Prepared:
    """Write what is missing for Muniment to work in this repository; doing it again changes nothing.

    With `attributes_only` only Muniment's lines of `.gitattributes` are written.

    Raises:
        UsageProblem: The repository is bare, its settings are wrong, or a target leads outside of it.
        Refused: A target is a symbolic link or holds conflict markers, or its Muniment lines are damaged.
    """
    ws.require_config()
    wanted = {
        configuration.COMMITTED: _kept_or_new(ws, configuration.COMMITTED, "config.yaml"),
        configuration.ALLOW_LIST: _kept_or_new(ws, configuration.ALLOW_LIST, "allow.txt"),
        ATTRIBUTES: with_block(_present(ws, ATTRIBUTES) or b"", attributes_block(ws.config)),
        IGNORE: _ignoring(ws),
    }
    wanted = {path: data for path, data in wanted.items() if path == ATTRIBUTES or not attributes_only}
    found = {path: _present(ws, path) for path in wanted}
    changed = {path for path, data in wanted.items() if data != found[path]}
    if changed:
        with publish.open_door(ws) as door:
            # Judged against the file as it stands: what a person put there is not added by this run.
            door.write(
                (
                    publish.ClearedChange(path, door.gate.clear(path, data, found[path]))
                    for path, data in wanted.items()
                    if data is not None and path in changed
                ),
                seen=found,
            )
    return Prepared(
        created=tuple(sorted(path for path in changed if found[path] is None)),
        updated=tuple(sorted(path for path in changed if found[path] is not None)),
        unchanged=tuple(sorted(set(wanted) - changed)),
        notes=_notes(ws),
    )


def attributes_block(config: Config) -> bytes:
    """The managed lines of `.gitattributes`: LF endings on every platform (G2), and the merge drivers (G8).

    The drivers go by base name, since another branch may keep the files elsewhere; what only has the name is
    merged as git would.
    """
    patterns = {
        "@LEDGER@": attribute_pattern(config.ledger_path),
        "@SEALED@": attribute_pattern(config.sealed_path, "/*.json"),
        "@STATE@": attribute_pattern(config.sweep_state_path),
        "@LEDGER_NAME@": attribute_pattern(_base_name(config.ledger_path), start=""),
        "@SEALED_NAME@": attribute_pattern(_base_name(config.sealed_path), f"/{'?' * 16}.json", start="**/"),
        "@STATE_NAME@": attribute_pattern(_base_name(config.sweep_state_path), start=""),
        "@PLAN_NAME@": attribute_pattern(_base_name(config.plan_path), start=""),
    }
    text = template_text("gitattributes")
    for name, pattern in patterns.items():
        text = text.replace(name, pattern)
    return text.encode()


def _base_name(path: str) -> str:
    return path.rpartition("/")[2]


def attribute_pattern(path: str, glob: str = "", *, start: str = "/") -> str:
    """A `.gitattributes` pattern for exactly this path (gitattributes(5): quoted C-style when it must be).

    With another `start` than "/" it fits wherever that lets the path lie.
    """
    pattern = start + _SPECIAL.sub(r"\\\1", path) + glob
    if any(char in ' "\t\n' for char in pattern):
        escaped = pattern.replace("\\", "\\\\").replace('"', '\\"').replace("\t", "\\t").replace("\n", "\\n")
        return f'"{escaped}"'
    return pattern


def with_block(data: bytes, block: bytes) -> bytes:
    """`data` with Muniment's managed block set to `block` (LF lines), all other bytes as they are.

    A new block goes to the end, where git gives it precedence. It takes the file's own line endings.

    Raises:
        Refused: The block's start and end don't match up, or conflict markers stand in the file.
    """
    if _CONFLICT.search(data):
        raise Refused(f"{ATTRIBUTES} holds conflict markers.", "Resolve the merge, then run `muniment init`.")
    lines = data.split(b"\n")
    starts = [number for number, line in enumerate(lines) if _START.match(line)]
    ends = [number for number, line in enumerate(lines) if _END.match(line)]
    newline = b"\r\n" if lines[0].endswith(b"\r") else b"\n"
    fresh = block.replace(b"\n", newline)
    if not starts and not ends:
        gap = b"" if not data or data.endswith(b"\n") else newline
        return data + gap + fresh
    if len(starts) != 1 or len(ends) != 1 or starts[0] > ends[0]:
        line = (starts + ends)[0] + 1
        raise Refused(
            f"{ATTRIBUTES}:{line}: the lines between `# muniment:start` and `# muniment:end` are damaged.",
            "Delete both comment lines and what Muniment put between them, then run `muniment init`.",
        )
    before = b"".join(line + b"\n" for line in lines[: starts[0]])
    after = b"\n".join(lines[ends[0] + 1 :])
    return before + (fresh if len(lines) > ends[0] + 1 else fresh.removesuffix(newline)) + after


def _kept_or_new(ws: Workspace, path: str, template: str) -> bytes:
    present = _present(ws, path)
    return template_text(template).encode() if present is None else present


def _ignoring(ws: Workspace) -> bytes | None:
    """`.gitignore` with a line for the machine's own settings, unless git ignores them already."""
    data = _present(ws, IGNORE)
    if ws.repo.is_ignored(configuration.LOCAL):
        return data
    data = data or b""
    newline = b"\r\n" if b"\r\n" in data else b"\n"
    gap = b"" if not data or data.endswith(b"\n") else newline
    return data + gap + b"/" + configuration.LOCAL.encode() + newline


def _present(ws: Workspace, path: str) -> bytes | None:
    """A target's bytes, or None when there is none; raises `Refused` for a symbolic link or a folder."""
    target = ws.path(path)
    if target.is_symlink() or target.parent.is_symlink():
        raise Refused(f"{path} is reached through a symbolic link.", "Put a plain file or folder there.")
    if target.parent.exists() and not target.parent.is_dir():
        raise Refused(f"{target.parent.name} is a file; Muniment needs a folder of that name.")
    if not target.exists():
        return None
    if not target.is_file():
        raise Refused(f"{path} is not a plain file.")
    return read_bytes(target)


def _notes(ws: Workspace) -> tuple[str, ...]:
    """Facts worth a line: what this repository's own settings would keep from working."""
    ignored = [
        path
        for path in (configuration.COMMITTED, configuration.ALLOW_LIST, ws.config.ledger_path)
        if ws.repo.is_ignored(path)
    ]
    notes = [f"{path} is ignored by git, so nobody else would receive it." for path in ignored]
    return tuple(notes)
