"""Verify and decide rows of a batch by command: the triage file changes, and nothing is applied (C8, C9).

Every act edits the lines of the rows concerned and leaves all others byte for byte. What a command of this
clone decided is noted privately as well (`records.py`); whether it counts is for `authority.py` to say.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

from muniment import authority
from muniment.errors import Refused, UsageProblem
from muniment.files import FileChange
from muniment.intake import batches, choices, decided_targets, records, triage_edit
from muniment.intake.batches import Loaded
from muniment.intake.choices import Choice as Choice  # noqa: PLC0414 - callers find it here
from muniment.intake.held import REPLACE, Holders, is_same
from muniment.intake.rows import Row, Verdict, Verification
from muniment.intake.survey import Survey
from muniment.intake.triage_file import APPROVE, DISMISS, Block, Said, decision_lines, said
from muniment.intake.triage_lines import normal
from muniment.intake.triage_rows import decide
from muniment.intake.withhold import withheld
from muniment.ledger import store
from muniment.publish import Door, open_door
from muniment.quoting import code_text
from muniment.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Done:
    """What an act left behind.

    Attributes:
        loaded: The batch as it stands now.
        rows: The ids of the rows that changed.
        notes: What a person should know, one sentence each.
    """

    loaded: Loaded
    rows: tuple[str, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Verified:
    """A verification to record: kind, scope and layer as re-derived, empty for the judge's own."""

    verdict: Verdict
    reason: str
    kind: str = ""
    scope: str = ""
    layer: str = ""


def verify(
    ws: Workspace,
    batch: str | None,
    name: str,
    found: Verified,
    channel: str = authority.TERMINAL,
    *,
    replacing: bool = False,
) -> Done:
    """Record whether a finding is real, and work its proposal out anew.

    Args:
        ws: The repository.
        batch: The batch's id; None for the one that waits.
        name: The row.
        found: The verification; its reason is needed.
        channel: Where it is said.
        replacing: Whether a flag may make a person's decision about the row lapse.

    Raises:
        UsageProblem: No such batch or row, an unknown layer, or no reason.
        Refused: The row was edited by hand, has been applied, or a person's decision would lapse.
    """
    if not found.reason.strip():
        raise UsageProblem("A verification needs a reason.", "Give --reason TEXT.")
    choices.require_layer(ws, found.layer)
    with _opened(ws, batch) as act:
        row = act.row(name)
        act.may_replace(row, channel, replacing=replacing)
        finding = row.finding
        made = Verification(
            found.verdict,
            normal(found.reason),
            normal(ws.actor),
            found.kind or str(finding["kind"]),
            found.scope or str(finding["scope"]),
            found.layer or str(finding["target_layer"]),
        )
        fresh = act.fill(replace(row, verify=made))
        act.set_row(fresh)
        return act.finish([fresh.row], channel=None)


def choose(
    ws: Workspace,
    batch: str | None,
    names: Sequence[str],
    choice: Choice,
    channel: str,
    *,
    replacing: bool = False,
) -> Done:
    """Record one decision for each of some rows; all of them, or none.

    Raises:
        UsageProblem: No such row, a missing reason, or a needed target that nothing gives.
        Refused: A row was edited by hand, has two decisions, has been applied, or holds a person's decision
            that this channel doesn't replace unless `replacing`.
    """
    with _opened(ws, batch) as act:
        for name in names:
            row = act.row(name)
            act.decide(
                row,
                choices.resolved(ws, act.loaded, act.ledger, row, choice),
                channel,
                replacing=replacing,
            )
        return act.finish([act.loaded.row(name).row for name in names], channel=channel)


def approve_all(ws: Workspace, batch: str | None, channel: str, reason: str = "") -> Done:
    """Approve every row that has neither a decision nor been dismissed or applied."""
    with _opened(ws, batch) as act:
        open_rows = [
            row
            for row in act.loaded.batch.rows
            if row.decision is None and not row.dismissed and row.row not in act.applied
        ]
        done: list[str] = []
        for row in open_rows:
            fault = act.fault(row)
            if fault:
                act.notes.append(fault)
                continue
            act.decide(row, Choice(APPROVE, reason=reason), channel)
            done.append(row.row)
        return act.finish(done, channel=channel)


def edit(
    ws: Workspace, batch: str | None, name: str, change: Choice, channel: str, *, replacing: bool = False
) -> Done:
    """Change the target, text or layer of a row's decision, approving it if it had none."""
    if not (change.target or change.text or change.layer):
        raise UsageProblem("Nothing to edit.", "Give --target, --text or --layer.")
    with _opened(ws, batch) as act:
        row = act.row(name)
        choices.require_layer(ws, change.layer)
        words = act.words(row)
        before = Choice(words.word, words.target, words.reason, words.layer, words.text) if words else None
        base = before if before and before.word != DISMISS else Choice(APPROVE)
        merged = Choice(
            base.word,
            change.target or base.target,
            change.reason or base.reason,
            change.layer or base.layer,
            change.text or base.text,
        )
        act.decide(
            row,
            choices.resolved(ws, act.loaded, act.ledger, row, merged),
            channel,
            replacing=replacing,
        )
        return act.finish([row.row], channel=channel)


def confirm(ws: Workspace, batch: str | None, name: str, channel: str) -> Done:
    """Take the decision that stands in the file as one's own, as it is (an uncommitted line, C9)."""
    with _opened(ws, batch) as act:
        row = act.row(name)
        if row.decision is None:
            raise UsageProblem(f"Row {row.row} has no decision to confirm.")
        if channel != authority.TERMINAL and act.holders.said(row):
            return act.finish([row.row], channel=None)  # what a person decided stays theirs
        return act.finish([row.row], channel=channel)


def refresh(
    ws: Workspace,
    batch: str | None,
    names: Sequence[str],
    channel: str = authority.TERMINAL,
    *,
    replacing: bool = False,
) -> Done:
    """Relate and propose anew, and put back rows that are gone; decisions about changed rows lapse.

    By a flag, a row that a person decided is left as it is, and said, unless `replacing`.
    """
    with _opened(ws, batch) as act:
        done: list[str] = []
        for row in act.loaded.batch.rows:
            if (names and not {row.row, row.fingerprint} & set(names)) or row.row in act.applied:
                continue
            fresh = act.fill(row)
            if _matters(fresh) != _matters(row) or act.fault(row):
                if channel != authority.TERMINAL and not replacing and act.is_held(row):
                    continue
                act.note_hand_edit(row)
                act.set_row(fresh)
                done.append(row.row)
        if not names:
            done += act.restore()
        return act.finish(done, channel=None)


class _Act:
    """One change of one triage file, under the clone's lock."""

    def __init__(self, ws: Workspace, door: Door, batch: str | None) -> None:
        self.ws = ws
        self.door = door
        self.ledger = store.load(ws)
        self.ledger.require_whole()
        self.loaded = batches.load(ws, batch, self.ledger)
        self.notes: list[str] = []
        self.applied = batches.applied(self.ledger, self.loaded.batch.batch)
        self._survey: Survey | None = None
        self._facts: list[Row] = []
        self._added: list[Row] = []
        self._decided: dict[str, triage_edit.Pairs] = {}
        self._left: set[str] = set()
        self.holders = Holders(ws, self.loaded)

    @property
    def survey(self) -> Survey:
        """What the repository knows, looked at once and only when a proposal is worked out."""
        if self._survey is None:
            self._survey = Survey(self.ws, self.ledger, self.loaded.batch.batch, self.loaded.reports)
        return self._survey

    def fill(self, row: Row, before: Iterable[Row] | None = None) -> Row:
        """A row worked out anew, without words of the repository that the gate refuses."""
        return withheld(self.door.gate, self.loaded.batch.batch, self.survey.fill(row, before))

    def row(self, name: str) -> Row:
        """A row that may be changed."""
        row = self.loaded.row(name)
        fault = self.fault(row)
        if fault:
            raise Refused(fault, "Put its lines back, or run `muniment triage refresh`. Nothing was written.")
        if row.row in self.applied:
            raise Refused(
                f"Row {row.row} has been applied; the ledger holds its decision.",
                "To take it back: muniment undo.",
                code="applied",
            )
        return row

    def fault(self, row: Row) -> str:
        """Why a row can't be decided as it stands in the file; empty when it can."""
        for problem in self.loaded.problems:
            named = problem.message.startswith(f"Row {row.row} ")
            if named and problem.rule in {"triage-digest", "triage-twice"}:
                return str(problem)
        return ""

    def note_hand_edit(self, row: Row) -> None:
        """Say what a hand edit of the machine-written lines was, before they are written anew."""
        if not self.fault(row):
            return
        blocks = self._blocks(row)
        for line in blocks[0].facts if blocks else ():
            self.notes.append(
                f"{self.loaded.path}:{line.line} was edited by hand or is old: {line.key}: {line.raw}"
            )

    def words(self, row: Row) -> Said | None:
        """What the row's decision lines say now."""
        blocks = self._blocks(row)
        return said(blocks[0], self.loaded.path)[0] if len(blocks) == 1 else None

    def _blocks(self, row: Row) -> list[Block]:
        return [block for block in self.loaded.file.blocks if block.row == row.row]

    def set_row(self, row: Row) -> None:
        """Write a row's machine-written lines."""
        if self.words(row) is not None:
            self.notes.append(
                f"Row {row.row} changed, so its decision counts as none; it is kept as lines `earlier`."
            )
        self._facts.append(row)

    def may_replace(self, row: Row, channel: str, *, replacing: bool) -> None:
        """Refuse what would take a person's decision away unasked; note what it takes away."""
        note = self.holders.require_replaceable(row, channel, replacing=replacing)
        self.notes += [note] if note else []

    def is_held(self, row: Row) -> bool:
        """Whether a changed row stays as it is because a person decided it; then that is noted."""
        said = self.holders.said(row)
        if said:
            self.notes.append(
                f"Row {row.row} would change, but was left: it is {said}. To refresh it: {REPLACE}."
            )
        return bool(said)

    def decide(self, row: Row, choice: Choice, channel: str, *, replacing: bool = False) -> None:
        """Write a row's decision lines, after checking that they decide it.

        The same said by a flag leaves the words as they are; what a person decided stays theirs.
        """
        by = normal(self.ws.actor)
        words = Said(
            choice.word, choice.target, normal(choice.reason), choice.layer, normal(choice.text), by, 0
        )
        result = decide(replace(row, decision=None, edits=None, dismissed=False), words)
        if isinstance(result, str):
            raise UsageProblem(f"Row {row.row}: {result}", "See `muniment triage show`. Nothing was written.")
        decided_targets.require(self.ws, result.decision)
        if channel != authority.TERMINAL and is_same(row, result, any_reason=not choice.reason):
            if self.holders.stands(row):
                self._left.add(row.row)
            return
        self.may_replace(row, channel, replacing=replacing)
        self._decided[row.row] = decision_lines(words, row.digest)

    def restore(self) -> Iterator[str]:
        """Put rows back whose section is gone, under the ids that they had."""
        taken = {row.row for row in self.loaded.batch.rows}
        taken |= {block.row for block in self.loaded.file.blocks}
        number = 0
        for path, finding in self.loaded.missing:
            number += 1
            while str(number) in taken:
                number += 1
            block = self._block_of(path, finding.id)
            name = block.row if block else str(number)
            bare = Row(name, finding.fingerprint, finding.as_json(), path)
            row = self.fill(bare, self.loaded.batch.rows)
            if block:
                self.set_row(row)
            else:
                self._added.append(row)
            taken.add(name)
            yield name

    def _block_of(self, report: str, native: str) -> Block | None:
        """The one section of a row that can't be read but still names its finding."""
        for block in self.loaded.file.blocks:
            for line in block.of("finding"):
                if code_text(report) in line.raw and line.raw.endswith(code_text(native)):
                    return block
        return None

    def _text(self) -> str:
        """The file with everything done to it; an act changes facts or decisions, never both."""
        text, path, folder = self.loaded.text, self.loaded.path, self.loaded.folder
        if self._facts:
            text = triage_edit.set_facts(text, path, self._facts, folder)
        if self._decided:
            text = triage_edit.set_decisions(text, path, self._decided)
        for row in self._added:
            text = triage_edit.append_row(text, row, folder)
        return text

    def finish(self, rows: Iterable[str], *, channel: str | None) -> Done:
        """Check, gate and write the file; note what was decided here."""
        names = tuple(rows)
        data = self._text().encode("utf-8")
        loaded = batches.read(self.ws, self.loaded.path, data)
        if data != self.loaded.data:
            change = FileChange(self.loaded.path, data)
            self.door.write(
                self.door.clear([change]),
                operation=f"triage:{loaded.batch.batch}",
                seen={self.loaded.path: self.loaded.data},
            )
        if channel is not None:
            decided = [row for row in loaded.batch.rows if row.row in names and row.row not in self._left]
            if authority.under_ci(self.ws):  # what counts for nothing now must not count later (C9)
                decided = [replace(row, decision=None, dismissed=False) for row in decided]
            records.keep(self.ws, loaded.batch.batch, decided, channel)
            loaded = batches.read(self.ws, self.loaded.path, data)
        return Done(loaded, names, tuple(self.notes))


@contextmanager
def _opened(ws: Workspace, batch: str | None) -> Iterator[_Act]:
    with open_door(ws) as door:
        yield _Act(ws, door, batch)


def _matters(row: Row) -> tuple[object, ...]:
    """What makes a refreshed row another one; hardly related places come and go with every document."""
    related = tuple((line.path, line.line) for line in row.related if line.verdict != "weak")
    return row.proposed, row.if_real, row.alias, row.basis, row.value, related
