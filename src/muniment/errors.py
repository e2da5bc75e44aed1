"""The one exception root, its few subclasses, and the record for a collected problem.

Exit codes are those of the command contract: 0 done, 1 checked and the answer is no, 2 wrong usage or
configuration, 3 refused to protect data, 4 something outside is unavailable, 70 a bug in Muniment.
"""

from __future__ import annotations

from dataclasses import dataclass


class MunimentError(Exception):
    """Something the user can act on: what happened, where, and what to do next.

    Attributes:
        message: One or two sentences; never holds an identifier or a secret.
        hint: The next step, often a command; may be empty.
        exit_code: The process's exit code.
        code: A stable word for programs, printed in the JSON error.
        problems: Details, each with file and line, where there are several.
    """

    exit_code = 1
    code = "failed"

    def __init__(
        self,
        message: str,
        hint: str = "",
        *,
        code: str | None = None,
        problems: tuple[Problem, ...] = (),
    ) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.problems = problems
        if code is not None:
            self.code = code


class CheckFailed(MunimentError):
    """Checked, and the answer is no (exit 1): the gate refuses, everything was refused."""

    exit_code = 1
    code = "check-failed"


class UsageProblem(MunimentError):
    """Wrong usage or configuration (exit 2); nothing was written."""

    exit_code = 2
    code = "usage"


class Refused(MunimentError):
    """Refused to protect data (exit 3): dirty target, stale token, broken set, no authority."""

    exit_code = 3
    code = "refused"


class Unavailable(MunimentError):
    """Something outside is unavailable (exit 4): a remote, a source, a program, a missing object."""

    exit_code = 4
    code = "unavailable"


@dataclass(frozen=True, slots=True, order=True)
class Problem:
    """One fault in a user's file; loaders collect these instead of raising (G18).

    Attributes:
        path: Repository-relative path with `/`, or the path as given outside a repository.
        line: 1-based line; 0 when the fault has no line.
        rule: Stable kebab-case name of the rule.
        message: One sentence, without any identifier or secret in it.
        fix: The command that fixes it; may be empty.
    """

    path: str
    line: int
    rule: str
    message: str
    fix: str = ""

    def __str__(self) -> str:
        where = f"{self.path}:{self.line}" if self.line else self.path
        return f"{where}: {self.message}"
