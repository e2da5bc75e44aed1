"""The triage file, `docs/reviews/triage/<batch>.md`: Markdown that people read and decide in (C7-C9).

Pure, text in and text out. Rows are found by their fixed-key list items, wherever they stand and in any
order; what stands in quotes, code or HTML is never read. Anything unclear counts as no decision, and is said.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from muniment.config_schema import suggestion
from muniment.errors import Problem
from muniment.findings import title_of
from muniment.intake.rows import Action, Batch, Row, Suppressed
from muniment.intake.triage_lines import (
    BY,
    DECISION_KEYS,
    DIGEST,
    EARLIER,
    FACT_KEYS,
    LineError,
    fact_lines,
    linked,
    read_suppressed,
    read_text,
    suppressed_text,
)
from muniment.markdown import Leaf, leaves
from muniment.quoting import code_text, inline_text, phrase, read_code, untrusted_block

BATCH_KEYS = ("batch", "created", "report")
APPROVE, DISMISS = "approve", "dismiss"
_ITEM = ("ul", "li*")
_SPAN = re.compile(r"`([^`]+)`")
_PLACE = re.compile(r"@([A-Z]+)@")
"""A place in the template; filled in one pass, so that a report's own text is never filled again."""


@dataclass(frozen=True, slots=True)
class Line:
    """One fixed-key list item: its raw value and the file lines it takes, 1-based and inclusive."""

    key: str
    raw: str
    line: int
    end: int

    @property
    def text(self) -> str:
        """The value as it reads."""
        return read_text(self.raw)


@dataclass(frozen=True, slots=True)
class Block:
    """One row's lines as they stand in the file.

    Attributes:
        row: The row's id as written.
        heading: Line of the heading above it; the line of its `row` item where there is none.
        facts: The lines that Muniment writes.
        decisions: The digest's line and the lines that people write.
    """

    row: str
    heading: int
    facts: tuple[Line, ...]
    decisions: tuple[Line, ...]

    def raw_facts(self) -> Mapping[str, Sequence[str]]:
        """Each fact key's raw values."""
        found: dict[str, list[str]] = {}
        for line in (*self.facts, *self.of(DIGEST)):
            found.setdefault(line.key, []).append(line.raw)
        return found

    def of(self, key: str) -> tuple[Line, ...]:
        """The lines with that key."""
        return tuple(line for line in (*self.facts, *self.decisions) if line.key == key)


@dataclass(frozen=True, slots=True)
class TriageFile:
    """A triage file as read, before the reports and the ledger are looked at."""

    batch: str
    created: str
    reports: tuple[str, ...]
    blocks: tuple[Block, ...]
    suppressed: tuple[Suppressed, ...]


@dataclass(frozen=True, slots=True)
class Said:
    """What a row's decision lines say: `word` is an action's word, `approve` or `dismiss`."""

    word: str
    target: str
    reason: str
    layer: str
    text: str
    by: str
    line: int


# --- writing


def render(batch: Batch, folder: str, template: str) -> str:
    """The whole file for a fresh batch; `template` is the shipped `triage.md`."""
    head = [f"- batch: {code_text(batch.batch)}", f"- created: {batch.created}"]
    head += [f"- report: {linked(report, 0, folder)}" for report in batch.reports]
    values = {
        "title": f"Triage {batch.batch}",
        "head": "\n".join(head),
        "actions": ", ".join(f"`{action.value}`" for action in Action),
        "rows": "\n\n".join(render_row(row, folder) for row in batch.rows) or "No row: nothing here is new.",
        "suppressed": _render_suppressed(batch.suppressed, folder),
    }
    text = _PLACE.sub(lambda place: values.get(place[1].lower(), place[0]), template)
    return text.rstrip("\n") + "\n"


def render_row(row: Row, folder: str) -> str:
    """One row's section, without a final newline; undecided."""
    return "\n\n".join(
        (
            f"## Row {inline_text(row.row)}: {inline_text(title_of(row.fingerprint))}",
            *_quotes(row),
            render_facts(row, folder),
            "**Decision**",
            f"- {DIGEST}: {code_text(row.digest)}\n- decision:\n- target:\n- reason:",
        )
    )


def render_facts(row: Row, folder: str) -> str:
    """A row's machine-written list, without a final newline."""
    return "\n".join(f"- {key}: {value}" for key, value in fact_lines(row, folder))


def _quotes(row: Row) -> Iterator[str]:
    finding = row.finding
    claim = f"{finding['what_went_wrong']}\n\n{finding['proposed_improvement']}".strip()
    yield f"The judge's claim and its proposal, confidence {finding['confidence']:.2f}:"
    yield untrusted_block(claim)
    if finding["excerpt"]:
        yield f"What was said in {code_text(finding['space'])}:"
        yield untrusted_block(finding["excerpt"])


def _render_suppressed(items: Iterable[Suppressed], folder: str) -> str:
    lines = [f"- suppressed: {suppressed_text(item, folder)}" for item in items]
    if not lines:
        return ""
    said = "Rejected before, and nothing new about them; they are counted and need no decision."
    return "\n\n".join(("## Suppressed", said, "\n".join(lines)))


# --- reading


@dataclass(slots=True)
class _Open:
    """A row being collected."""

    row: str
    heading: int
    facts: list[Line] = field(default_factory=list)
    decisions: list[Line] = field(default_factory=list)

    def close(self) -> Block:
        return Block(self.row, self.heading, tuple(self.facts), tuple(self.decisions))


class _Reader:
    """One pass over the leaf blocks of a file."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.head: dict[str, list[str]] = {}
        self.blocks: list[Block] = []
        self.suppressed: list[Suppressed] = []
        self.problems: list[Problem] = []
        self._open: _Open | None = None
        self._heading = 0

    def leaf(self, leaf: Leaf) -> None:
        if not leaf.path and leaf.kind in {"h1", "h2"}:
            self.end()
            self._heading = leaf.line
        elif leaf.path == _ITEM and leaf.kind == "p":
            self._item(leaf)

    def end(self) -> None:
        if self._open:
            self.blocks.append(self._open.close())
        self._open = None

    def _item(self, leaf: Leaf) -> None:
        key, colon, raw = " ".join(leaf.raw.split("\n")).partition(":")
        key = key.strip().strip("*_`").casefold()
        line = Line(key, raw.strip(), leaf.line, leaf.end)
        if not colon:
            return
        if key == "row":
            self.end()
            self._open = _Open(line.raw.strip("`* "), self._heading or leaf.line)
            self._heading = 0
        if key == BY and self._open and not self._open.decisions:
            self._open.facts.append(replace(line, key="verifier"))
        elif key in FACT_KEYS and self._open:
            self._open.facts.append(line)
        elif key in {DIGEST, *DECISION_KEYS}:
            self._decision(line)
        elif key in BATCH_KEYS and not self._open:
            self.head.setdefault(key, []).append(line.raw)
        elif key == "suppressed":
            self._suppressed(line)
        elif self._open and " " not in key and key != EARLIER:
            self._unknown(line)

    def _decision(self, line: Line) -> None:
        if self._open:
            self._open.decisions.append(line)
        elif line.raw:
            said = f"A line {line.key!r} belongs to no row; it counts as none."
            self.problems.append(Problem(self.path, line.line, "triage-line", said))

    def _suppressed(self, line: Line) -> None:
        try:
            self.suppressed.append(read_suppressed(line.raw))
        except LineError as error:
            self.problems.append(Problem(self.path, line.line, "triage-line", f"It can't be read: {error}."))

    def _unknown(self, line: Line) -> None:
        near = suggestion(line.key, (*FACT_KEYS, DIGEST, *DECISION_KEYS))
        if near:
            said = f"Unknown line {line.key[:40]!r}{near}. It counts as none."
            self.problems.append(Problem(self.path, line.line, "triage-line", said))


def parse(text: str, path: str) -> tuple[TriageFile, tuple[Problem, ...]]:
    """Read a triage file; never raises for what people wrote in it."""
    reader = _Reader(path)
    for leaf in leaves(text):
        reader.leaf(leaf)
    reader.end()
    head = {key: [read_text(raw) for raw in values] for key, values in reader.head.items()}
    batch = head.get("batch", [""])[0].strip("`")
    if not batch:
        said = "It names no batch in a line `- batch: …`; it is no triage file, or lost its first lines."
        reader.problems.append(Problem(path, 1, "triage-file", said))
    reports = tuple(code for raw in reader.head.get("report", ()) if (code := _first_code(raw)))
    created = head.get("created", [""])[0]
    file = TriageFile(batch, created, reports, tuple(reader.blocks), tuple(reader.suppressed))
    return file, tuple(reader.problems)


def _first_code(raw: str) -> str:
    return read_code(raw.split("`")[1]) if raw.count("`") > 1 else ""


def said(block: Block, path: str) -> tuple[Said | None, tuple[Problem, ...]]:
    """What a row's decision lines say, or None and why: nothing filled in, twice, or no such action."""
    problems = []
    one: dict[str, Line] = {}
    for key in DECISION_KEYS:
        filled = [line for line in block.decisions if line.key == key and line.raw]
        if len(filled) > 1:
            places = ", ".join(str(line.line) for line in filled)
            problems.append(
                Problem(
                    path,
                    filled[1].line,
                    "triage-twice",
                    f"Row {block.row} has {len(filled)} lines {key!r} (lines {places}); they count as none.",
                    "Keep one of them.",
                )
            )
        elif filled:
            one[key] = filled[0]
    if problems or "decision" not in one:
        return None, (*problems, *_stray(block, one, path, twice=bool(problems)))
    decision = one["decision"]
    word, fault = read_word(decision.text)
    if fault:
        said = f"Row {block.row}: {fault} It counts as no decision."
        return None, (Problem(path, decision.line, "triage-action", said),)
    texts = {key: one[key].text if key in one else "" for key in DECISION_KEYS[1:]}
    if "target" in one:
        span = _SPAN.fullmatch(one["target"].raw)
        texts["target"] = read_code(span[1]) if span else texts["target"].strip("`")
    return Said(word, line=decision.line, **texts), ()


def _stray(block: Block, one: Mapping[str, Line], path: str, *, twice: bool) -> Iterator[Problem]:
    """Filled lines without a decision: likely a decision that somebody meant to make."""
    if twice:
        return
    filled = next((line for key, line in one.items() if key != BY), None)
    if filled:
        said = f"Row {block.row} has a {filled.key} and no decision; it counts as none."
        yield Problem(path, filled.line, "triage-line", said)


def read_word(text: str) -> tuple[str, str]:
    """A decision's word as people may write it, and what is wrong with it; one of them is empty.

    >>> read_word("Known limitation.")
    ('known-limitation', '')
    """
    word = "-".join(text.strip(" .*_`").casefold().replace("_", " ").split())
    words = [APPROVE, DISMISS, *(action.value for action in Action)]
    if word in words:
        return word, ""
    near = suggestion(word, words)
    return "", f"{text[:40]!r} is no action{near or '; use one of ' + ', '.join(words)}."


def decision_lines(said: Said, digest: str) -> list[tuple[str, str]]:
    """The (key, value) pairs that record a decision, by flag or in the terminal, about a row's reading."""
    pairs = [
        (DIGEST, code_text(digest)),
        ("decision", said.word),
        ("target", code_text(said.target) if said.target else ""),
        ("reason", phrase(said.reason)),
    ]
    optional = (("layer", said.layer), ("text", said.text), ("by", said.by))
    return pairs + [(key, phrase(value)) for key, value in optional if value]
