"""Judge a report before anything is believed of it, and find the place of its copy (C3, C7).

The order is fixed: the gate over every text in it, then the schema. A report that one of them refuses is
refused alone. The copies in the repository are never written over: equal content is the same report, other
content under the same name gets the next free name.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from muniment import reports_page
from muniment.errors import MunimentError, Problem
from muniment.files import read_bytes, template_text
from muniment.findings import MAX_REPORT_BYTES, Report, ReportError, load_json, parse_report, strings
from muniment.workspace import Workspace

if TYPE_CHECKING:
    from muniment.redact.gate import Gate, GateProblem

MAX_NUMBERED = 1000
"""How many names with a number are tried for one report."""


@dataclass(frozen=True, slots=True)
class Judged:
    """What came of one report.

    Attributes:
        report: The report; None when it is refused.
        reason: Why it is refused, in one sentence; empty when it isn't.
        problems: Everything found: dropped findings, cut texts, identifiers (never their value).
        line: Where the reason lies, 1-based; 0 when unknown.
    """

    report: Report | None
    reason: str = ""
    problems: tuple[Problem, ...] = ()
    line: int = 0


@dataclass(frozen=True, slots=True)
class Copy:
    """A report's place in the repository.

    Attributes:
        path: Repository-relative path of the data; the page lies beside it with `.md`.
        known: Whether a report with the same content lies there already.
    """

    path: str
    known: bool

    @property
    def page(self) -> str:
        """The rendered page's path."""
        return f"{self.path.removesuffix('.json')}.md"


def judge(data: bytes, path: str, gate: Gate, layers: Iterable[str]) -> Judged:
    """Gate and check one report's bytes."""
    try:
        value = load_json(data)
    except ReportError as error:
        return _refused(path, str(error), error.line)
    found = _identifier(data, value, path, gate)
    if found is not None:
        return _refused(path, found[1], found[0], rule="gate")
    report, problems = parse_report(data, path, layers)
    if report is None:
        first = problems[0]
        return Judged(None, first.message, problems, first.line)
    return Judged(report, "", problems)


def _refused(path: str, reason: str, line: int, rule: str = "report") -> Judged:
    return Judged(None, reason, (Problem(path, line, rule, reason),), line)


def _identifier(data: bytes, value: Any, path: str, gate: Gate) -> tuple[int, str] | None:
    """Line and sentence of the first identifier in a report: as its bytes stand, and as its texts read.

    JSON can spell an identifier with escapes, and a text can hold one across its lines, so both are judged.
    """
    for problem in gate.inspect(path, data, b""):
        return (
            problem.line,
            f"The gate found {what(problem)} (line {problem.line}, column {problem.column}).",
        )
    texts = dict.fromkeys(text for _, text in strings(value))
    if not gate.inspect_text("\n\n".join(texts), "report"):
        return None
    for pointer, text in strings(value):
        for problem in gate.inspect_text(text, "report"):
            return 0, f"The gate found {what(problem)} at {pointer}."
    return 0, "The gate found an identifier in its texts."


def what(problem: GateProblem) -> str:
    """A problem's kind in words, never its value."""
    return str(problem).rsplit(": ", 1)[-1]


def page(report: Report) -> str:
    """The report as Markdown, by the shipped template."""
    return reports_page.render(report, template_text("report.md"))


def place_copy(ws: Workspace, report: Report, data: bytes, taken: Iterable[str] = ()) -> Copy | None:
    """Where a report's copy lies or can lie; None when every name tried is taken.

    Args:
        ws: The repository.
        report: The parsed report, whose checked parts make the name.
        data: Its bytes.
        taken: Paths that other reports of this run have been given.
    """
    used = frozenset(taken)
    for number in range(1, MAX_NUMBERED):
        suffix = "" if number == 1 else f"-{number}"
        path = f"{ws.config.reviews_path}/{report.stem}{suffix}.json"
        copy = Copy(path, known=False)
        if path in used:
            continue
        there = _present(ws, path)
        if there is None and _present(ws, copy.page) is None:
            return copy
        if there is not None and _same(there, data):
            return Copy(path, known=True)
    return None


def _present(ws: Workspace, path: str) -> bytes | None:
    """A file's bytes, or None when nothing is there; what can't be read counts as other content."""
    target = ws.path(path)
    if not target.exists() and not target.is_symlink():
        return None
    try:
        return read_bytes(target, limit=MAX_REPORT_BYTES)
    except MunimentError:
        return b""


def _same(one: bytes, other: bytes) -> bool:
    """Equal content: the same bytes, or the same JSON in another layout (a formatter, line endings)."""
    if one == other:
        return True
    try:
        return _canonical(load_json(one)) == _canonical(load_json(other))
    except ReportError:
        return False


def _canonical(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


def load_copy(ws: Workspace, path: str) -> Report | None:
    """A report's copy in the workspace; None when it is no readable report of ours.

    Any layer is accepted: the settings may have changed since the report was taken in.
    """
    if not path.startswith(f"{ws.config.reviews_path}/") or not path.endswith(".json"):
        return None
    try:
        data = ws.read(path, limit=MAX_REPORT_BYTES)
    except MunimentError:
        return None
    return None if data is None else parse_report(data, path, None)[0]


def copies(ws: Workspace) -> Iterator[str]:
    """The paths of all reports' copies in the working tree, sorted."""
    folder = ws.root / ws.config.reviews_path
    ledger = Path(ws.config.ledger_path).name
    if not folder.is_dir():
        return
    for item in sorted(folder.glob("*.json")):
        if item.name != ledger and item.is_file() and not item.is_symlink():
            yield f"{ws.config.reviews_path}/{item.name}"
