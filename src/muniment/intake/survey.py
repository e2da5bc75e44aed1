"""What the repository knows about a batch's findings: read once, asked for every row (C8, C10, C11)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from muniment import reports
from muniment.documents.stages import Standing
from muniment.findings import Finding, Report, title_of
from muniment.git.repo import Oid
from muniment.ids import Fingerprint
from muniment.intake.propose import (
    COVERING,
    Case,
    Contained,
    Known,
    Sighting,
    news,
    propose,
    value_points,
)
from muniment.intake.rows import Alias, RelatedLine, Row, Verdict, row_digest
from muniment.intake.running import Running, contains, running
from muniment.intake.standing_work import Landings
from muniment.intake.triage_lines import normal
from muniment.ledger.entries import Entry
from muniment.ledger.store import Ledger
from muniment.relate import index as relate_index
from muniment.relate.index import Index, Related
from muniment.relate.inverted import Inverted, build
from muniment.relate.rank import DUPLICATE_AT, make_query, rank
from muniment.relate.rank import Verdict as Likeness
from muniment.relate.text import terms
from muniment.workspace import Workspace

SHOWN = 6
"""Most related places shown on a row."""
LOOKED_AT = 20
"""Most related places looked at for each row."""
WEAK_SHOWN = 2
"""Of those, most that are hardly more than shared words."""
LACKING_SHOWN = 2
"""Most further places shown because they landed, and the running version lacks them."""
ALIAS_SHARE = 0.42
"""Least part of a finding's own weight that another slug's finding must share to be the same problem.

Together with the ranker's own threshold for duplicates; `docs/design/triage.md` says what was measured.
"""


@dataclass(frozen=True, slots=True)
class Told:
    """An earlier finding in words, for recognising the same problem under another slug."""

    subject: str
    title: str
    text: str


@dataclass
class Survey:
    """One look at the repository.

    Attributes:
        ws: The repository.
        ledger: The ledger, loaded and whole.
        batch: The batch's id.
        reports: The batch's reports by path; they are never related to themselves.
    """

    ws: Workspace
    ledger: Ledger
    batch: str
    reports: Mapping[str, Report]
    _running: dict[str, Running] = field(default_factory=dict)

    @cached_property
    def index(self) -> Index:
        """The relate index, refreshed once."""
        return relate_index.refresh(self.ws)

    @cached_property
    def _landings(self) -> Landings:
        return Landings(self.ws)

    @cached_property
    def _sightings(self) -> Mapping[str, tuple[Sighting, ...]]:
        """Canonical subject → every sighting in the ledger, in copies not yet there, and in this batch."""
        found: dict[str, list[Sighting]] = {}
        known: set[str] = set()
        for entry in self.ledger.view.live.get("finding", ()):
            data = entry.data
            known.add(str(data.get("report")))
            sighting = Sighting(*(str(data.get(key, "")) for key in ("date", "bot", "space", "severity")))
            found.setdefault(self.canonical(str(data.get("subject"))), []).append(sighting)
        for path in reports.copies(self.ws):
            report = None if path in known or path in self.reports else reports.load_copy(self.ws, path)
            for subject, sighting in self._of(report) if report else ():
                found.setdefault(subject, []).append(sighting)
        for path, report in self.reports.items():
            for subject, sighting in self._of(report) if path not in known else ():
                found.setdefault(subject, []).append(sighting)
        return {subject: tuple(group) for subject, group in found.items()}

    def _of(self, report: Report) -> Iterator[tuple[str, Sighting]]:
        for finding in report.findings:
            yield (
                self.canonical(finding.fingerprint),
                Sighting(report.date, report.bot, finding.space, finding.severity),
            )

    def canonical(self, subject: str) -> str:
        """The name that a subject's decisions are kept under."""
        return self.ledger.view.canonical(subject)

    def known(self, row: Row) -> Known:
        """What the ledger holds about a row's subject, and what is new since."""
        subject = self.ledger.view.subject(row.fingerprint)
        earlier = [
            Sighting(*(str(entry.data.get(key, "")) for key in ("date", "bot", "space", "severity")))
            for entry in subject.findings
            if entry.data.get("report") not in self.reports
        ]
        fresh = dict.fromkeys(said for now in self._now(row) if (said := news(now, earlier)))
        if subject.suppressed and self._fix_arrived(row, subject.findings):
            fresh["the running version contains landed work on it now"] = None
        target = str(subject.settled[-1].data.get("target") or "") if subject.settled else ""
        status = subject.status
        if status == "open" and not earlier:
            status = "unseen"  # all that the ledger has are this batch's own findings
        return Known(subject.canonical, status, subject.hint, target, ", ".join(fresh))

    def _now(self, row: Row) -> Iterator[Sighting]:
        """The sightings that a row stands for."""
        for path, native in ((row.report, str(row.finding["id"])), *row.also):
            report = self.reports.get(path)
            finding = report.finding(native) if report else None
            if report and finding:
                yield Sighting(report.date, report.bot, finding.space, finding.severity)

    def _fix_arrived(self, row: Row, earlier: Sequence[Entry]) -> bool:
        """Whether landed work covers a finding, in the version that runs now and in none that ran before."""
        past = {
            (str(entry.data.get("version") or ""), str(entry.data.get("commit") or "")) for entry in earlier
        }
        before = [running(self.ws, version, commit) for version, commit in past]
        now = self.running(row)
        return any(
            contains(self.ws, self._landings, now, line).answer
            and not any(contains(self.ws, self._landings, one, line).answer for one in before)
            for line in self.related(row)
            if line.verdict in COVERING and line.status == Standing.LANDED and line.commit
        )

    def running(self, row: Row) -> Running:
        """The version that a row's bot ran."""
        if row.report not in self._running:
            report = self.reports.get(row.report)
            gone = Running("unknown: the report can't be read", None, "the report can't be read")
            self._running[row.report] = running(self.ws, report.version, report.commit) if report else gone
        return self._running[row.report]

    def related(self, row: Row) -> tuple[RelatedLine, ...]:
        """What may cover a row's finding, best first."""
        told = tell(row.fingerprint, row.finding)
        found = relate_index.ask(
            self.ws,
            self.index,
            told.title,
            told.text,
            limit=LOOKED_AT,
            fingerprint=row.fingerprint,
            exclude=set(self.reports),
        )
        lines: list[RelatedLine] = []
        weak = 0
        for result in found.results:
            weak += result.verdict is Likeness.WEAK
            if result.verdict is not Likeness.WEAK or weak <= WEAK_SHOWN:
                lines.append(self._line(result))
        lines = self._without_undoing(lines)
        further = [line for line in lines[SHOWN:] if self._is_lacking(row, line)]
        return (*lines[:SHOWN], *further[:LACKING_SHOWN])

    def _is_lacking(self, row: Row, line: RelatedLine) -> bool:
        """Whether a line is landed work that covers a finding and doesn't run: no `revisit` beside it."""
        if line.verdict not in COVERING or line.status != Standing.LANDED:
            return False
        return contains(self.ws, self._landings, self.running(row), line).answer is False

    def _without_undoing(self, lines: Sequence[RelatedLine]) -> list[RelatedLine]:
        """The lines, with commits that took another of them back without saying so as mere references."""
        commits = [line for line in lines if line.type == "commit"]
        return [
            replace(line, status=Standing.REFERENCE.value)
            if line.status == Standing.LANDED
            and line.type == "commit"
            and any(self._landings.undoes(Oid(line.commit), Oid(other.commit)) for other in commits)
            else line
            for line in lines
        ]

    def _line(self, result: Related) -> RelatedLine:
        status = str(result.status)
        if result.type == "commit" and not self._is_evidence(result.commit):
            status = Standing.REFERENCE.value
        return RelatedLine(
            path=result.path,
            line=result.line,
            stage=str(result.stage),
            verdict=str(result.verdict.value),
            title=normal(result.title)[:200].strip(),
            type=result.type,
            status=status,
            commit=result.commit,
        )

    def _is_evidence(self, commit: str) -> bool:
        """Whether a commit may have mended something: not documents alone, no revert, not taken back."""
        landed, landings = Oid(commit), self._landings
        if landings.is_docs_only(landed) or landings.is_revert(landed):
            return False
        return not landings.taken_back(landed)

    def alias(self, row: Row, before: Sequence[Row]) -> Alias | None:
        """The earlier subject that tells of the same problem under another slug (C11)."""
        own = self.canonical(row.fingerprint)
        told = tell(row.fingerprint, row.finding)
        mine = [tell(one.fingerprint, one.finding) for one in before]
        parts = self.index.records.parts
        indexes: list[Inverted] = [part.index for part in parts]
        if mine:
            indexes.append(build((terms(one.title), terms(one.text)) for one in mine))

        def subject(number: int, passage: int) -> str:
            if number >= len(parts):
                return self.canonical(mine[passage].subject)
            place = parts[number].place(passage)
            return self.canonical(place.fingerprint) if place.fingerprint else place.path

        def title(number: int, passage: int) -> str:
            return mine[passage].title if number >= len(parts) else parts[number].place(passage).title

        if not any(len(index) for index in indexes):
            return None
        ranking = rank(make_query(told.title, told.text), indexes, title, subject, limit=5)
        for hit in ranking.hits:
            canonical = subject(hit.index, hit.passage)
            if canonical == own:
                return None
            sure = hit.verdict is Likeness.DUPLICATE and hit.share >= ALIAS_SHARE
            if sure and "/" in canonical:
                score = min(1000, round(hit.sureness * 1000))
                return Alias(Fingerprint(canonical), score, round(DUPLICATE_AT * 1000))
            return None
        return None

    def fill(self, row: Row, before: Iterable[Row] | None = None) -> Row:
        """A row with everything worked out anew from its finding and verification.

        Args:
            row: Fingerprint, finding, report, also and verification are taken from it.
            before: The batch's earlier rows, to recognise an alias among; None keeps the row's alias.
        """
        alias = row.alias if before is None else self.alias(row, tuple(before))
        not_real = row.verify is not None and row.verify.verdict is Verdict.NOT_REAL
        related = () if not_real else self.related(row)
        version = self.running(row)
        layer = (row.verify.target_layer if row.verify else "") or str(row.finding["target_layer"])
        sightings = self._sightings.get(self.canonical(row.fingerprint), ())
        value = value_points(row.finding, layer, sightings, related)
        value["running"] = normal(version.shown.partition(";")[0])
        unclear: list[str] = []

        def answer(line: RelatedLine) -> Contained:
            found = contains(self.ws, self._landings, version, line)
            if found.answer is None:
                unclear.append(found.why)
            return found

        case = Case(row.finding, row.verify, related, self.known(row), alias, answer, value)
        proposed, if_real = propose(case)
        if (if_real or proposed).check and unclear and not str(value["running"]).startswith("unknown"):
            value["running"] = normal(f"unknown: {unclear[0]}".partition(";")[0])
        basis = {*self.ledger.view.current(row.fingerprint)}
        if alias:
            basis.update(self.ledger.view.current(alias.canonical))
        filled = replace(
            row,
            related=related,
            value=value,
            proposed=proposed,
            if_real=if_real,
            alias=alias,
            basis=tuple(sorted(basis)),
        )
        return replace(filled, digest=row_digest(self.batch, filled))

    def suppressed(self, row: Row) -> str:
        """Why a finding needs no row: rejected before, and nothing about it is new; else empty (C10)."""
        known = self.known(row)
        if known.status != "reject" or known.news:
            return ""
        return f"{known.subject} was rejected, and nothing about it is new"


def tell(fingerprint: Fingerprint, finding: Mapping[str, object] | Finding) -> Told:
    """A finding in the words that it is related by: its slug as title, the claim and the proposal as text."""
    data = finding.as_json() if isinstance(finding, Finding) else finding
    text = f"{data['what_went_wrong']}\n\n{data['proposed_improvement']}"
    return Told(fingerprint, title_of(fingerprint), text)
