"""What a rule can say: a problem, something that can't be known here, or a note (G13, G17)."""

from __future__ import annotations

from dataclasses import dataclass

from muniment.errors import Problem


@dataclass(frozen=True, slots=True, order=True)
class Unknown:
    """A question this clone can't answer, why, and the exact command that would settle it (G17)."""

    rule: str
    why: str
    settle: str


@dataclass(frozen=True, slots=True, order=True)
class Note:
    """Worth saying; it never changes the verdict."""

    path: str
    line: int
    rule: str
    message: str

    def __str__(self) -> str:
        where = f"{self.path}:{self.line}" if self.line else self.path
        return f"{where}: {self.message}" if where else self.message


Finding = Problem | Unknown | Note
"""What rules yield."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one check found, sorted, each once.

    Attributes:
        problems: What has to be mended.
        unknown: What could not be decided here.
        notes: What is worth saying.
        fixed: What `--fix` did, in words, each with its path.
        checked: How many owned files were read.
        what: What was judged, in words: the working tree, what is staged, a range.
    """

    problems: tuple[Problem, ...] = ()
    unknown: tuple[Unknown, ...] = ()
    notes: tuple[Note, ...] = ()
    fixed: tuple[tuple[str, str], ...] = ()
    checked: int = 0
    what: str = ""

    @property
    def ok(self) -> bool | None:
        """False with problems, None when something is unknown, else True."""
        if self.problems:
            return False
        return None if self.unknown else True
