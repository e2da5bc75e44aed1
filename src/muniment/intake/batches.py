"""Triage batches of the working tree, or of a commit: find, choose and load them (C7-C9).

A batch is its triage file and the reports that it names; nothing else is kept about it. What has been
applied is read from the ledger.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from muniment import authority, reports
from muniment.authority import Standing
from muniment.errors import MunimentError, Problem, Refused, Unavailable, UsageProblem
from muniment.findings import SEVERITIES, Finding, Report
from muniment.intake import acts, decided_targets, records
from muniment.intake.rows import Batch, Row, verified_by_decision
from muniment.intake.triage_file import TriageFile, parse
from muniment.intake.triage_rows import REFRESH, read_rows
from muniment.intake.waiting import NOTHING, Waiting
from muniment.intake.waiting import waiting as sort_waiting
from muniment.ledger import store
from muniment.ledger.store import Ledger
from muniment.workspace import Workspace

MAX_TRIAGE_BYTES = 64 * 1024 * 1024
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}\Z")
_CREATED = re.compile(rb"^[-*+] created: *([0-9TZ:+.-]+)", re.MULTILINE)
_REPORT = re.compile(rb"^[-*+] report: .*?`([^`\r\n]+)`", re.MULTILINE)


@dataclass(frozen=True)
class Loaded:
    """One batch as it stands.

    Attributes:
        batch: Its rows, in file order, with the decisions that the file makes (`file`, `claimed`).
        path: The triage file's repository-relative path.
        data: The file's bytes.
        file: The file's lines, for editing it.
        reports: The reports it names, by path; one that can't be read is left out.
        problems: Everything in the file that counts as none, and why.
        missing: Findings of its reports that have no row, by report path.
    """

    batch: Batch
    path: str
    data: bytes
    file: TriageFile
    reports: Mapping[str, Report]
    problems: tuple[Problem, ...]
    missing: tuple[tuple[str, Finding], ...] = ()

    @cached_property
    def text(self) -> str:
        """The file's text."""
        return self.data.decode("utf-8")

    @property
    def folder(self) -> str:
        """The folder that the triage file lies in."""
        return self.path.rpartition("/")[0]

    def row(self, name: str) -> Row:
        """A row by its id, or by its fingerprint; raises `UsageProblem` naming the rows there are."""
        found = [row for row in self.batch.rows if name in {row.row, row.fingerprint}]
        if len(found) == 1:
            return found[0]
        known = ", ".join(row.row for row in self.batch.rows) or "none"
        raise UsageProblem(
            f"Batch {self.batch.batch} has no row {name[:80]!r}.",
            f"Its rows: {known}. See `muniment triage show`.",
        )


def path_of(ws: Workspace, batch: str) -> str:
    """A batch's triage file; raises `UsageProblem` for a name that can't be one."""
    if not _NAME.match(batch):
        raise UsageProblem(f"{batch[:80]!r} is no batch.", "See `muniment triage list`.")
    return f"{ws.config.triage_path}/{batch}.md"


def names(ws: Workspace) -> tuple[str, ...]:
    """The batches there are, oldest first."""
    return tuple(name for _, name in sorted(_created(ws)))


def _created(ws: Workspace) -> Iterator[tuple[str, str]]:
    for name in ws.files(ws.config.triage_path):
        stem = name.removesuffix(".md")
        if stem != name and _NAME.match(stem):
            match = _CREATED.search(_head(ws, stem))
            yield (match[1].decode() if match else "", stem)


def _head(ws: Workspace, batch: str) -> bytes:
    try:
        return ws.read(path_of(ws, batch), limit=MAX_TRIAGE_BYTES) or b""
    except MunimentError:
        return b""


def covering(ws: Workspace) -> Mapping[str, str]:
    """Report path → the newest batch that names it, over all triage files of the working tree."""
    found: dict[str, str] = {}
    for batch in names(ws):
        for match in _REPORT.finditer(_head(ws, batch)):
            found[match[1].decode("utf-8", "replace")] = batch
    return found


def load(ws: Workspace, name: str | None = None, ledger: Ledger | None = None) -> Loaded:
    """Load a batch: the named one, else the newest that waits, else the newest.

    Args:
        ws: The repository.
        name: The batch's id.
        ledger: For choosing by default, when it is at hand.

    Raises:
        UsageProblem: There is no batch at all, or no such one.
        Refused: The file holds conflict markers, or is not UTF-8.
        Unavailable: The file can't be read.
    """
    if name is None:
        return _default(ws, ledger)
    path = path_of(ws, name)
    data = ws.read(path, limit=MAX_TRIAGE_BYTES)
    if data is None:
        there = ", ".join(names(ws)[-5:]) or "none"
        raise UsageProblem(f"There is no batch {name}: {path} does not exist.", f"Newest batches: {there}.")
    return read(ws, path, data)


def read(ws: Workspace, path: str, data: bytes) -> Loaded:
    """A batch from its triage file's bytes; raises as `load` does."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        hint = "Save it as UTF-8; nothing was read from it."
        raise Refused(f"{path}:{line}: It is not UTF-8.", hint) from error
    marks = re.search(r"^(?:<{7}|>{7}) ", text, re.MULTILINE)
    if marks:
        line = text.count("\n", 0, marks.start()) + 1
        raise Refused(f"{path}:{line}: It holds conflict markers.", "Resolve them; nothing was read from it.")
    file, problems = parse(text, path)
    known = {report: found for report in file.reports if (found := reports.load_copy(ws, report))}
    lost = [
        Problem(path, 0, "triage-report", f"{report} can't be read.", f"git checkout -- {report}")
        for report in file.reports
        if report not in known
    ]
    reading = read_rows(file, path, lambda report, native: _finding(known.get(report), native))
    stem = path.rpartition("/")[2].removesuffix(".md")
    if file.batch and file.batch != stem:
        said = f"It says that it is batch {file.batch[:80]}; its name counts."
        lost.append(Problem(path, 1, "triage-file", said, "Rename the file."))
    rows = records.recognised(reading.rows, records.load(ws, stem))
    batch = Batch(stem, file.reports, rows, file.created, file.suppressed)
    missing = tuple(_missing(batch, known))
    faults = [
        *problems,
        *reading.problems,
        *decided_targets.faults(ws, path, reading.rows),
        *lost,
        *_said_missing(missing, path),
    ]
    return Loaded(batch, path, data, file, known, tuple(sorted(faults)), missing)


def _finding(report: Report | None, native: str) -> Mapping[str, object] | None:
    finding = report.finding(native) if report else None
    return finding.as_json() if finding else None


def _missing(batch: Batch, known: Mapping[str, Report]) -> Iterator[tuple[str, Finding]]:
    """Findings without a row, in the order that intake gives rows in."""
    have = {(row.report, str(row.finding["id"])) for row in batch.rows}
    have |= {pair for row in batch.rows for pair in row.also}
    have |= {(item.report, item.finding) for item in batch.suppressed}
    for path, finding in in_order(known):
        if (path, finding.id) not in have:
            yield path, finding


def in_order(known: Mapping[str, Report]) -> list[tuple[str, Finding]]:
    """Every finding of some reports, by severity, confidence, report and place in it."""
    found = [(path, finding) for path in sorted(known) for finding in known[path].findings]
    return sorted(found, key=lambda one: (SEVERITIES.index(one[1].severity), -one[1].confidence))


def _said_missing(missing: Sequence[tuple[str, Finding]], path: str) -> Iterator[Problem]:
    for report, finding in missing:
        said = f"Finding {finding.id} of {report} has no row that can be read; it counts as undecided."
        yield Problem(path, 0, "triage-missing", said, REFRESH)


def _default(ws: Workspace, ledger: Ledger | None) -> Loaded:
    every = names(ws)
    if not every:
        where = f"in {ws.commit.short}" if ws.commit else "here"
        raise UsageProblem(
            f"There is no triage batch {where}.", "Take a report in first: muniment intake PATH"
        )
    ledger = ledger or store.load(ws)
    first: MunimentError | None = None
    for name in reversed(every):
        try:
            loaded = load(ws, name)
        except (Refused, Unavailable) as error:
            first = first or error
            continue
        if waiting(loaded, ledger).names:
            return loaded
    if first is not None:
        raise first
    return load(ws, every[-1])


def waiting(loaded: Loaded, ledger: Ledger, standings: Mapping[str, Standing] | None = None) -> Waiting:
    """What of a batch waits, and for what; without standings every decision counts."""
    missing = [finding.id for _, finding in loaded.missing]
    rows = loaded.batch.rows
    return sort_waiting(ledger, loaded.batch.batch, rows, missing=missing, standings=standings)


def applied(ledger: Ledger, batch: str) -> frozenset[str]:
    """The ids of a batch's rows that an apply recorded a decision for which still counts."""
    return frozenset(str(entry.data.get("row")) for entry in acts.decisions_of(ledger, batch))


def standings(ws: Workspace, loaded: Loaded) -> tuple[Loaded, Mapping[str, Standing]]:
    """The batch with each decision's channel and verification as they count here, and why (C9)."""
    decided = [row for row in loaded.batch.rows if row.decision is not None]
    if not decided:
        return loaded, {}
    judge = authority.Judge(ws, authority.rules(ws), loaded.path, loaded.data)
    found = {row.row: judge.standing(row) for row in decided}
    rows = tuple(_as_standing(row, found.get(row.row)) for row in loaded.batch.rows)
    return replace(loaded, batch=replace(loaded.batch, rows=rows)), found


def _as_standing(row: Row, standing: Standing | None) -> Row:
    if row.decision is None or standing is None:
        return row
    decision = replace(
        row.decision,
        by=standing.by or row.decision.by,
        channel=standing.channel,
        verified=standing.verified,
    )
    decided = replace(row, decision=decision)
    return replace(decided, verify=verified_by_decision(decided))


@dataclass(frozen=True, slots=True)
class Seen:
    """A batch for showing: decisions as they count here, and which rows the ledger holds."""

    loaded: Loaded
    applied: frozenset[str]
    standings: Mapping[str, Standing]
    waiting: Waiting = NOTHING


def look(ws: Workspace, name: str | None) -> Seen:
    """A batch with the standing of every decision; raises as `load` does."""
    ledger = store.load(ws)
    loaded, found = standings(ws, load(ws, name, ledger))
    return Seen(loaded, applied(ledger, loaded.batch.batch), found, waiting(loaded, ledger, found))


@dataclass(frozen=True, slots=True)
class Overview:
    """One batch in a list; `fault` says, after a colon, why it can't be read."""

    batch: str
    rows: int
    waits: Waiting = NOTHING
    fault: str = ""

    @property
    def waiting(self) -> int:
        """How many rows wait for a decision or for being applied."""
        return len(self.waits.names)


def overview(ws: Workspace) -> tuple[Overview, ...]:
    """Every batch of the working tree, oldest first; one that can't be read hides no other (G18)."""
    ledger = store.load(ws)
    found = []
    for name in names(ws):
        try:
            loaded = load(ws, name)
            waits = waiting(loaded, ledger)
            if waits.to_apply and ws.commit is None:  # who decided is asked only where it matters
                waits = waiting(loaded, ledger, standings(ws, loaded)[1])
        except MunimentError as error:
            found.append(Overview(name, 0, fault=f": {error.message}"))
        else:
            found.append(Overview(name, len(loaded.batch.rows), waits))
    return tuple(found)
