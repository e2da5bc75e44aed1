"""Where a document lies says what it is: stages, what each stands for, and which path has which."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from fnmatch import fnmatchcase
from typing import Self

from muniment.config import Config


class Standing(StrEnum):
    """What a related text stands for (the `status` of G11), by the words of the contract."""

    OPEN = "open"
    LANDED = "landed"
    DECISION = "decision"
    EARLIER_REVIEW = "earlier-review"
    PENDING = "pending"
    REFERENCE = "reference"
    """A document outside the stages: it describes, and neither asks for work nor proves any."""


class Stage(StrEnum):
    """The kinds of place that a text is found in; the first seven are folders under `docs_root`."""

    IDEAS = "ideas"
    BACKLOG = "backlog"
    IN_PROGRESS = "in-progress"
    BUGS = "bugs"
    REFACTOR = "refactor"
    ARCHIVE = "archive"
    DEBUG = "debug"
    PENDING = "pending"
    ROADMAP = "roadmap"
    GOALS = "goals"
    DECISIONS = "decisions"
    INSTRUCTIONS = "instructions"
    REFERENCE = "docs"
    REVIEWS = "reviews"
    LEDGER = "ledger"
    HISTORY = "history"

    @property
    def standing(self) -> Standing:
        """What a whole document of this stage stands for."""
        return _STANDINGS.get(self, Standing.OPEN)


FOLDERS = (
    Stage.IDEAS,
    Stage.BACKLOG,
    Stage.IN_PROGRESS,
    Stage.BUGS,
    Stage.REFACTOR,
    Stage.ARCHIVE,
    Stage.DEBUG,
)
"""Stages that are folders of documents."""

_STANDINGS = {
    Stage.ARCHIVE: Standing.LANDED,
    Stage.PENDING: Standing.PENDING,
    Stage.DECISIONS: Standing.DECISION,
    Stage.INSTRUCTIONS: Standing.DECISION,
    Stage.REFERENCE: Standing.REFERENCE,
    Stage.REVIEWS: Standing.EARLIER_REVIEW,
    Stage.LEDGER: Standing.EARLIER_REVIEW,
    Stage.HISTORY: Standing.LANDED,
}

INSTRUCTION_FILES = frozenset(
    {"claude.md", "claude.local.md", "agents.md", "agents.local.md", "agents.override.md"}
)
"""Names (in lower case) of agent instruction files, which hold owner decisions, in any folder."""

ROOT_INSTRUCTIONS = ("CLAUDE.md", "AGENTS.md")
"""Instruction files at the repository's top that are read before git tracks them."""

LOCAL_INSTRUCTIONS = (
    "CLAUDE.local.md",
    "AGENTS.local.md",
    "AGENTS.override.md",
    ".claude/CLAUDE.md",
    ".claude/CLAUDE.local.md",
)
"""Instruction files that are read although git may ignore them: they are this person's own."""

MAX_DOCUMENT = 1_000_000
"""Characters of one document that are read; the loader says so when a document is longer."""
MARKUP_SUFFIXES = (".md", ".markdown", ".mdx", ".mdown", ".rst", ".adoc", ".org")
TEXT_SUFFIXES = (*MARKUP_SUFFIXES, ".txt")
"""Under `docs_root` plain text is a document as well; elsewhere it is too often data."""


@dataclass(frozen=True, slots=True)
class Layout:
    """The configured places of documents; every path is repository-relative with `/`."""

    docs_root: str = "docs"
    reviews: str = "docs/reviews"
    plan: str = "docs/plans/feedback-sweep-plan.md"
    state: str = "docs/feedback-sweep/state.yml"
    pending: str = "docs/pending-verification.md"
    roadmap: str = "docs/ROADMAP.md"
    goals: str = "docs/goals"
    extra: tuple[str, ...] = ()

    @classmethod
    def of(cls, config: Config) -> Self:
        """The places that the settings in force name."""
        return cls(
            docs_root=config.docs_root,
            reviews=config.reviews_path,
            plan=config.plan_path,
            state=config.sweep_state_path,
            pending=config.pending_path,
            roadmap=config.roadmap_path,
            goals=config.goals_path,
            extra=tuple(path.strip("/") for path in config.relate_paths),
        )

    def folder(self, stage: Stage) -> str:
        """The folder of one of the stages in `FOLDERS`."""
        return f"{self.docs_root}/{stage}"

    def stage_of(self, path: str) -> Stage | None:
        """The stage of the document at a path; None when it is no document to read.

        Reports, triage files, the rolling plan and the state are records or views of records, and are
        not documents.
        """
        if self._is_record(path):
            return None
        name = path.rsplit("/", 1)[-1].lower()
        if name in INSTRUCTION_FILES or self._is_extra(path):
            return Stage.INSTRUCTIONS
        if not name.endswith(TEXT_SUFFIXES) or name.startswith("."):
            return None
        return {self.pending: Stage.PENDING, self.roadmap: Stage.ROADMAP}.get(path) or self._by_folder(
            path, name
        )

    def search_stage_of(self, path: str) -> Stage | None:
        """The stage that `relate` searches a path under: its own, or reference for other marked-up text."""
        stage = self.stage_of(path)
        name = path.rsplit("/", 1)[-1].lower()
        if stage or self._is_record(path) or name.startswith(".") or not name.endswith(MARKUP_SUFFIXES):
            return stage
        return Stage.REFERENCE

    def _is_record(self, path: str) -> bool:
        return path in {self.plan, self.state} or _under(path, self.reviews)

    def _by_folder(self, path: str, name: str) -> Stage | None:
        if _under(path, self.goals):
            return {"roadmap.md": Stage.ROADMAP, "decisions.md": Stage.DECISIONS}.get(name, Stage.GOALS)
        elsewhere = Stage.REFERENCE if _under(path, self.docs_root) else None
        return next((stage for stage in FOLDERS if _under(path, self.folder(stage))), elsewhere)

    def goal_of(self, path: str) -> str:
        """The slug of the goal that a path belongs to; empty for none."""
        return path[len(self.goals) + 1 :].partition("/")[0] if _under(path, self.goals) else ""

    def select(self, paths: Iterable[str]) -> tuple[tuple[str, Stage], ...]:
        """Those paths that are documents, with their stage, sorted."""
        staged = ((path, self.stage_of(path)) for path in paths)
        return tuple(sorted((path, stage) for path, stage in staged if stage is not None))

    def _is_extra(self, path: str) -> bool:
        return any(path == extra or _under(path, extra) or fnmatchcase(path, extra) for extra in self.extra)


def _under(path: str, folder: str) -> bool:
    return path.startswith(f"{folder}/")
