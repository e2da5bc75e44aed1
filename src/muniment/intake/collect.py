"""Intake: reports in, one proposed decision per finding, nothing committed (C7, C8).

Each report is judged alone: a refused one is named and the others go on. Copies of the reports and the
triage file are written together, through the one door, or not at all.
"""

from __future__ import annotations

import hashlib
import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from muniment import reports, reports_find
from muniment.config import ALLOW_LIST, COMMITTED
from muniment.errors import Problem, Refused, UsageProblem
from muniment.files import FileChange, template_text
from muniment.findings import Finding, Report
from muniment.intake import batches, triage_file
from muniment.intake.rows import Batch, Row, Suppressed
from muniment.intake.survey import Survey
from muniment.intake.withhold import withheld
from muniment.ledger import store
from muniment.publish import Door, open_door
from muniment.reports_find import Found
from muniment.workspace import Workspace

if TYPE_CHECKING:
    from muniment.redact.gate import Gate
    from muniment.redact.names import KnownNames

MAX_BATCHES = 1000


@dataclass(frozen=True, slots=True)
class RefusedReport:
    """A report that was not taken in, why, and what to do; `unavailable`: something outside is at fault."""

    path: str
    reason: str
    unavailable: bool = False
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What an intake did.

    Attributes:
        batch: The new batch, or the one that holds what was taken in before; None when there is neither.
        triage: Its triage file.
        reports: Paths of the copies written.
        known: Paths of the copies that were there already.
        refused: Reports that were not taken in.
        problems: Findings dropped or cut, by report.
        notes: What a person should know, one sentence each.
    """

    batch: Batch | None
    triage: str | None
    reports: tuple[str, ...] = ()
    known: tuple[str, ...] = ()
    refused: tuple[RefusedReport, ...] = ()
    problems: tuple[Problem, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def all_refused(self) -> bool:
        """Whether there was something and all of it was refused."""
        return bool(self.refused) and not self.reports and not self.known


@dataclass(frozen=True, slots=True)
class _Taken:
    """A report that passed gate and schema, with its bytes."""

    origin: str
    report: Report
    data: bytes


@dataclass
class _Judgement:
    """What became of everything that was found."""

    taken: list[_Taken] = field(default_factory=list)
    refused: list[RefusedReport] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)


def intake(
    ws: Workspace, places: Sequence[str], *, base: Path | None = None, known: KnownNames | None = None
) -> Outcome:
    """Take reports in from the given places, or from every bot of the settings.

    Args:
        ws: The repository.
        places: Files, folders or remote folders; empty for all `bots`.
        base: What relative places are relative to; the repository's top by default.
        known: Names known to the person who calls, beside those of the settings.

    Raises:
        UsageProblem: No place is given and no bot is configured.
        Refused: The ledger is not whole, or a target can't be written; nothing was.
        Unavailable: A configured file of names can't be read; nothing was taken in.
    """
    from muniment.redact.gate import gate_for  # noqa: PLC0415 - heavy, and usage errors come first

    if not places and not ws.config.bots:
        raise UsageProblem(
            "There is nowhere to take reports from.",
            "Give a PATH, or list bots in .muniment/config.yaml: bots: [{name: …, from: …}]",
        )
    gate = gate_for(ws, known)
    judged = _judge(ws, _sources(ws, places, base or ws.root), gate)
    notes = _name_notes(ws, judged.taken, given=known is not None)
    with open_door(ws) as door:
        outcome = _take_in(ws, door, gate, judged)
    return replace(outcome, notes=(*notes, *outcome.notes))


def _judge(ws: Workspace, sources: Iterable[tuple[str, Found]], gate: Gate) -> _Judgement:
    judged = _Judgement()
    for bot, found in sources:
        if found.data is None:
            judged.refused.append(RefusedReport(found.origin, found.reason, found.unavailable))
            continue
        result = reports.judge(found.data, found.origin, gate, ws.config.target_layers)
        report, reason = result.report, result.reason
        if report is not None and bot and report.bot != bot:
            reason = f"It says that it is about the bot {report.bot}, but {bot}'s reports lie there."
        if report is None or reason:
            where = f"{reason} (line {result.line})" if result.line and "line" not in reason else reason
            hint = _hint(found.origin, result.problems[0].rule) if result.report is None else ""
            judged.refused.append(RefusedReport(found.origin, where, hint=hint))
            continue
        judged.problems += result.problems
        judged.taken.append(_Taken(found.origin, report, found.data))
    judged.taken.sort(key=lambda one: (one.report.date, one.report.bot, one.report.kind, one.origin))
    return judged


def _hint(origin: str, rule: str) -> str:
    """What to do about a report that was refused, by the rule that it broke."""
    file = shlex.quote(origin) if Path(origin).is_file() else "FILE"
    if rule == "gate":
        return (
            f"Redact it where it comes from, or here: muniment redact {file} > redacted.json; take that in. "
            f"If the value may be public, have it reviewed into {ALLOW_LIST} (see docs/redaction.md)."
        )
    return f"Every problem of it: muniment report validate {file}"


def _sources(ws: Workspace, places: Sequence[str], base: Path) -> Iterable[tuple[str, Found]]:
    """Every report file with the bot whose place it came from; empty for a place given by hand."""
    for place in places:
        for found in reports_find.find(place, base, ws.environ):
            yield "", found
    for bot in ws.config.bots if not places else ():
        for found in reports_find.find(bot.source, ws.root, ws.environ):
            yield bot.name, found


def _name_notes(ws: Workspace, taken: Iterable[_Taken], *, given: bool) -> list[str]:
    """For which bots names were not checked again (C7)."""
    if given:
        return []
    checked = {bot.name for bot in ws.config.bots if bot.known_names}
    unknown = sorted({one.report.bot for one in taken} - checked)
    return [
        f"Names were not re-checked in the reports of {bot}: no known_names file is set for it. "
        "To check them, write the names into a file, one a line: "
        f"muniment gate {ws.config.reviews_path} --known FILE; "
        f"for every intake, set known_names of the bot in {COMMITTED}."
        for bot in unknown
    ]


def _take_in(ws: Workspace, door: Door, gate: Gate, judged: _Judgement) -> Outcome:
    ledger = store.load(ws)
    ledger.require_whole()
    fresh, known, refused = _place(ws, ledger, gate, judged.taken)
    base = Outcome(
        None,
        None,
        known=tuple(known),
        refused=(*judged.refused, *refused),
        problems=tuple(judged.problems),
    )
    if not fresh:
        return _nothing_new(ws, base)
    batch = _batch(ws, ledger, fresh)
    triage = batches.path_of(ws, batch.batch)
    changes = _changes(ws, fresh, known)
    batch = replace(batch, rows=tuple(withheld(gate, batch.batch, row) for row in batch.rows))
    text = triage_file.render(batch, ws.config.triage_path, template_text("triage.md"))
    changes.append(FileChange(triage, text.encode("utf-8")))
    # All of them are new here; a file that somebody made meanwhile is theirs.
    absent = dict.fromkeys(change.path for change in changes)
    door.write(door.clear(changes, gate), operation=f"intake:{batch.batch}", seen=absent)
    written = tuple(path for path in fresh if path not in known)
    return replace(base, batch=batch, triage=triage, reports=written)


def _place(
    ws: Workspace, ledger: store.Ledger, gate: Gate, taken: Iterable[_Taken]
) -> tuple[dict[str, _Taken], list[str], list[RefusedReport]]:
    """Copies to make (and copies that no batch holds), copies that are known, and what has no free name."""
    covered = batches.covering(ws)
    in_ledger = {str(entry.data.get("report")) for entry in ledger.view.live.get("finding", ())}
    fresh: dict[str, _Taken] = {}
    known: list[str] = []
    refused: list[RefusedReport] = []
    for one in taken:
        if any(other.report == one.report for other in fresh.values()):
            continue
        copy = reports.place_copy(ws, one.report, one.data, fresh)
        if copy is None:
            refused.append(RefusedReport(one.origin, "Every name for its copy is taken by other content."))
            continue
        found = gate.inspect(copy.page, reports.page(one.report).encode("utf-8"), None)
        if found:
            said = f"The gate found {reports.what(found[0])} in its page (line {found[0].line})."
            refused.append(RefusedReport(one.origin, said, hint=_hint(one.origin, "gate")))
            continue
        if copy.known:
            known.append(copy.path)
        if not copy.known or (copy.path not in covered and copy.path not in in_ledger):
            fresh[copy.path] = one
    return fresh, known, refused


def _nothing_new(ws: Workspace, outcome: Outcome) -> Outcome:
    """Everything was taken in before, or refused; a batch is named when one alone holds what is known."""
    if not outcome.known:
        return outcome
    note = "Nothing new: every report was taken in before."
    covered = batches.covering(ws)
    names = {covered[path] for path in outcome.known if path in covered}
    if len(names) != 1:
        return replace(outcome, notes=(note,))
    (name,) = names
    return replace(
        outcome,
        batch=Batch(name, (), ()),
        triage=batches.path_of(ws, name),
        notes=(f"{note} Its batch is {name}.",),
    )


def _changes(ws: Workspace, fresh: dict[str, _Taken], known: Iterable[str]) -> list[FileChange]:
    """The copies to write: data as it came, and the rendered page where none lies yet."""
    there = frozenset(known)
    changes = []
    for path, one in fresh.items():
        page = f"{path.removesuffix('.json')}.md"
        if path not in there:
            changes.append(FileChange(path, one.data))
        if not ws.path(page).exists():
            changes.append(FileChange(page, reports.page(one.report).encode("utf-8")))
    return changes


def _batch(ws: Workspace, ledger: store.Ledger, fresh: dict[str, _Taken]) -> Batch:
    """The batch of some new reports: its rows, and what got none because it was rejected before."""
    name = _name(ws, [one.data for one in fresh.values()])
    known = {path: one.report for path, one in fresh.items()}
    survey = Survey(ws, ledger, name, known)
    rows: list[Row] = []
    suppressed: list[Suppressed] = []
    for bare in gather(survey, batches.in_order(known)):
        reason = survey.suppressed(bare)
        if reason:
            suppressed += [
                Suppressed(path, native, bare.fingerprint, reason)
                for path, native in ((bare.report, str(bare.finding["id"])), *bare.also)
            ]
        else:
            rows.append(survey.fill(replace(bare, row=str(len(rows) + 1)), rows))
    return Batch(name, tuple(sorted(known)), tuple(rows), ws.timestamp(), tuple(suppressed))


def gather(survey: Survey, findings: Iterable[tuple[str, Finding]]) -> list[Row]:
    """Bare rows, one per subject: what two bots tell under one name, or a recorded alias, is one row."""
    grouped: dict[str, Row] = {}
    for path, finding in findings:
        subject = survey.canonical(finding.fingerprint)
        row = grouped.get(subject)
        if row is None:
            grouped[subject] = Row("", finding.fingerprint, finding.as_json(), path)
        else:
            grouped[subject] = replace(row, also=(*row.also, (path, finding.id)))
    return list(grouped.values())


def _name(ws: Workspace, contents: Iterable[bytes]) -> str:
    """A batch's id: the day, and a digest of what was taken in.

    Two clones that take in the same reports make the same batch; different reports never the same file.
    """
    digests = sorted(hashlib.sha256(data).hexdigest() for data in contents)
    base = f"{ws.timestamp()[:10]}-{hashlib.sha256(''.join(digests).encode()).hexdigest()[:8]}"
    for number in range(1, MAX_BATCHES):
        name = base if number == 1 else f"{base}-{number}"
        if not ws.path(batches.path_of(ws, name)).exists():
            return name
    raise Refused(f"There are {MAX_BATCHES} batches named {base}.", "Remove the ones that you don't need.")
