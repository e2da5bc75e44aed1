"""Which paths Muniment owns, by their place alone: the question that a hook asks first.

No import here costs more than the settings record does: a commit that touches nothing of ours ends after
this module.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from fnmatch import fnmatchcase
from typing import Self

from muniment.config import ALLOW_LIST, COMMITTED, LOCAL, Config

STAGES = ("ideas", "backlog", "in-progress", "bugs", "refactor", "archive", "debug")
"""Folders of documents by stage, as `documents.stages.FOLDERS` has them (a test holds the two together)."""


class Kind(Enum):
    """What an owned file is."""

    LEDGER = "ledger"
    SEALED = "sealed ledger segment"
    REPORT = "report"
    REPORT_TEXT = "rendered report"
    TRIAGE = "triage file"
    PLAN = "rolling plan"
    STATE = "state"
    CONFIG = "settings"
    LOCAL_CONFIG = "this machine's settings"
    ALLOW_LIST = "allow-list"
    DOCUMENT = "document"
    GATED = "file named by gate_paths"


_REPORT_NAME = re.compile(r"\d{4}-\d{2}-\d{2}-[^/]+\Z")
_MARKDOWN = (".md", ".markdown")


@dataclass(frozen=True, slots=True)
class Owned:
    """The owned places that the settings name; every path is repository-relative with `/`.

    Attributes:
        exact: Single files and what they are.
        sealed: Folder of sealed ledger segments.
        triage: Folder of triage files.
        reviews: Folder of reports, whose names begin with a date.
        folders: Folders of documents, each with a `/` at its end.
        roots: Folders (with `/`) and files that together hold every owned path but those of `gate_paths`.
        gated: The patterns of `gate_paths`.
    """

    exact: Mapping[str, Kind]
    sealed: str
    triage: str
    reviews: str
    folders: tuple[str, ...]
    roots: tuple[str, ...]
    gated: tuple[str, ...]
    _known: dict[str, Kind | None] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def of(cls, config: Config) -> Self:
        """The places of the settings in force."""
        exact = {
            config.pending_path: Kind.DOCUMENT,
            config.roadmap_path: Kind.DOCUMENT,
            config.ledger_path: Kind.LEDGER,
            config.plan_path: Kind.PLAN,
            config.sweep_state_path: Kind.STATE,
            COMMITTED: Kind.CONFIG,
            LOCAL: Kind.LOCAL_CONFIG,
            ALLOW_LIST: Kind.ALLOW_LIST,
        }
        folders = (f"{config.goals_path}/", *(f"{config.stage_path(stage)}/" for stage in STAGES))
        return cls(
            exact=exact,
            sealed=config.sealed_path,
            triage=config.triage_path,
            reviews=config.reviews_path,
            folders=folders,
            roots=(f"{config.reviews_path}/", *exact, *folders),
            gated=tuple(path.strip("/") for path in config.gate_paths),
        )

    def kind(self, path: str) -> Kind | None:
        """What the file at `path` is to Muniment; None when it is not ours to judge."""
        if path not in self._known:
            self._known[path] = self._kind(path)
        return self._known[path]

    def _kind(self, path: str) -> Kind | None:
        if path.startswith(self.roots) and (kind := self.exact.get(path) or self._by_folder(path)):
            return kind
        return Kind.GATED if self.gated and self._is_gated(path) else None

    def any(self, paths: Iterable[str]) -> bool:
        """Whether any of `paths` is owned."""
        return any(self.kind(path) for path in paths)

    @property
    def gated_starts(self) -> tuple[str, ...]:
        """Where files of `gate_paths` can lie: each pattern's part before its first wildcard."""
        starts = (re.split(r"[*?\[]", pattern, maxsplit=1) for pattern in self.gated)
        return tuple(parts[0].rpartition("/")[0] if len(parts) > 1 else parts[0] for parts in starts)

    def _by_folder(self, path: str) -> Kind | None:
        if _under(path, self.sealed):
            return Kind.SEALED if path.endswith(".json") else None
        if _under(path, self.triage):
            return _text(path, Kind.TRIAGE)
        if _under(path, self.reviews):
            if not _REPORT_NAME.match(path, len(self.reviews) + 1):
                return None
            return Kind.REPORT if path.endswith(".json") else _text(path, Kind.REPORT_TEXT)
        return _text(path, Kind.DOCUMENT) if path.startswith(self.folders) else None

    def _is_gated(self, path: str) -> bool:
        return any(path == gated or _under(path, gated) or fnmatchcase(path, gated) for gated in self.gated)


def _under(path: str, folder: str) -> bool:
    return path.startswith(f"{folder}/")


def _text(path: str, kind: Kind) -> Kind | None:
    return kind if path.endswith(_MARKDOWN) else None
