"""What an application is worked out from: the batch, its reports, ledger, rules, and every file read (C9)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from muniment import authority, targets
from muniment.authority import Rules
from muniment.errors import MunimentError
from muniment.files import read_bytes, template_text
from muniment.findings import Report, parse_report
from muniment.intake import batches
from muniment.intake.batches import Loaded
from muniment.intake.desk import RowRefused
from muniment.intake.effects import Context
from muniment.intake.rows import Row
from muniment.intake.wording import Evidence
from muniment.ledger import store
from muniment.ledger.store import Ledger
from muniment.workspace import Workspace

TEMPLATES = ".muniment/templates"
"""Where a repository keeps its own versions of the document templates."""


@dataclass(slots=True)
class Reader:
    """Reads files of the working tree and remembers them for the token.

    Attributes:
        found: Path → what was there; None for nothing. Shipped templates are in it by their names.
    """

    ws: Workspace
    found: dict[str, bytes | None] = field(default_factory=dict)

    def load(self, path: str) -> bytes | None:
        """A file's bytes, or None; raises `RowRefused` for what can't be a target."""
        try:
            targets.require_target(self.ws, path)
            place = self.ws.path(path)
            data = read_bytes(place) if place.exists() else None
        except MunimentError as error:
            raise RowRefused(error.message, error.hint) from error
        self.found[path] = data
        return data

    def template(self, name: str) -> str:
        """A template: the repository's own version, else the shipped one."""
        own = f"{TEMPLATES}/{name}"
        data = self.found[own] if own in self.found else self.load(own)
        if data is None:
            text = template_text(name)
            self.found[f"shipped template {name}"] = text.encode("utf-8")
            return text
        try:
            return data.decode("utf-8-sig").replace("\r\n", "\n")
        except UnicodeDecodeError as error:
            raise RowRefused(f"The template {own} is not UTF-8.", "Save it as UTF-8.") from error


@dataclass(frozen=True, slots=True)
class Situation:
    """Everything read before a batch's effects are worked out.

    Attributes:
        reports: The batch's reports that can be read, by path.
    """

    ws: Workspace
    loaded: Loaded
    ledger: Ledger
    rules: Rules
    reader: Reader
    reports: Mapping[str, Report]

    @property
    def batch(self) -> str:
        """The batch's id."""
        return self.loaded.batch.batch

    def seen(self) -> Mapping[str, bytes | None]:
        """Everything read so far: path → the bytes, None for an absent file."""
        own = {self.loaded.path: self.loaded.data, self.ledger.path: self.ledger.data}
        return {**self.reader.found, **own}

    def context(self) -> Context:
        """What the effects depend on besides rows and documents."""
        rounds: dict[str, int] = {}
        for entry in self.ledger.view.live.get("decision", ()):
            if entry.data.get("batch") == self.batch and isinstance(entry.data.get("row"), str):
                rounds[entry.data["row"]] = rounds.get(entry.data["row"], 0) + 1
        return Context(
            config=self.ws.config,
            batch=self.batch,
            template=self.reader.template,
            evidence={row.row: self._evidence(row) for row in self.loaded.batch.rows},
            canonical=self.ledger.view.canonical,
            current=self.ledger.view.current,
            round=rounds,
        )

    def _evidence(self, row: Row) -> list[Evidence]:
        """The findings that a row stands for, the main one first; those that can't be read are left out."""
        found = []
        for path, native in ((row.report, str(row.finding.get("id", ""))), *row.also):
            report = self.reports.get(path)
            finding = report.finding(native) if report else None
            if report is not None and finding is not None:
                page = f"{path.removesuffix('.json')}.md"
                found.append(
                    Evidence(path, page, finding, report.bot, report.version, report.commit, report.date)
                )
        return found


def read(ws: Workspace, name: str | None) -> Situation:
    """Read everything for a batch.

    Raises:
        Refused: The ledger is not whole.
        UsageProblem, Unavailable: There is no such batch, or a file can't be read.
    """
    ledger = store.load(ws)
    ledger.require_whole()
    loaded = batches.load(ws, name, ledger)
    reader = Reader(ws)
    reports: dict[str, Report] = {}
    for path in loaded.batch.reports:
        report = _report(reader, path)
        if report is not None:
            reports[path] = report
    return Situation(ws, loaded, ledger, authority.rules(ws), reader, reports)


def _report(reader: Reader, path: str) -> Report | None:
    """A report, or None: then its rows have no evidence and are refused one by one."""
    try:
        data = reader.load(path)
    except RowRefused:
        return None
    return None if data is None else parse_report(data, path, None)[0]
