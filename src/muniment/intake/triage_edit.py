"""Changing a few lines of a triage file and nothing else (G2).

Pure, text in and text out: every byte outside the lines named stays, a person's notes and the other rows'
decisions among them. However many rows an act changes, the file is read once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from muniment.errors import Refused
from muniment.intake.rows import Row
from muniment.intake.triage_file import Block, Line, TriageFile, parse, render_row
from muniment.intake.triage_lines import BY, DECISION_KEYS, DIGEST, EARLIER, fact_lines
from muniment.markdown import lines_of, newline_of
from muniment.quoting import code_text

Pairs = Sequence[tuple[str, str]]
"""Keys and values of list items, in order."""

_EMPTY = (("decision", ""), ("target", ""), ("reason", ""))


@dataclass(slots=True)
class _Text:
    """A file's lines with what is to be done to them, by 0-based line number."""

    lines: list[str]
    newline: str
    gone: set[int] = field(default_factory=set)
    before: dict[int, list[str]] = field(default_factory=dict)

    def replace(self, old: Sequence[Line], pairs: Pairs) -> None:
        """Put `pairs` where the first of the old lines is, indented and marked like it; drop the old ones."""
        first = min(line.line for line in old) - 1
        lead = self.lines[first]
        indent = lead[: len(lead) - len(lead.lstrip())]
        self.gone |= {number for line in old for number in range(line.line - 1, line.end)}
        items = self._items(pairs, lead.lstrip()[:1])
        self.before.setdefault(first, []).extend(f"{indent}{item}" for item in items)

    def add_decision(self, block: Block, pairs: Pairs) -> None:
        """Put a decision's list after a row's facts, where a person deleted it."""
        at = block.facts[-1].end
        if at == len(self.lines) and not self.lines[-1].endswith(("\n", "\r")):
            self.lines[-1] += self.newline
        head = [self.newline, f"**Decision**{self.newline}", self.newline]
        self.before.setdefault(at, []).extend([*head, *self._items(pairs, "-")])

    def _items(self, pairs: Pairs, bullet: str) -> list[str]:
        return [f"{bullet} {key}: {value}".rstrip() + self.newline for key, value in pairs]

    def text(self, *, final_newline: bool) -> str:
        """The file with everything done."""
        out: list[str] = []
        for number, line in enumerate([*self.lines, ""]):
            out += self.before.get(number, [])
            if number not in self.gone:
                out.append(line)
        joined = "".join(out)
        return joined if final_newline else joined.rstrip("\r\n")


def set_facts(text: str, path: str, rows: Iterable[Row], folder: str) -> str:
    """The file with the machine-written lines of some rows replaced by those given.

    A decision that is there was about another reading of the row: its words are kept as lines `earlier`,
    which decide nothing, and the row is undecided again.

    Raises:
        Refused: A row has no section, or several.
    """
    file, work = _opened(text, path)
    for row in rows:
        block = block_of(file, row.row, path)
        digest = [(DIGEST, code_text(row.digest)), *_EMPTY]
        if block.decisions:
            filled = [line for line in block.decisions if line.key not in {DIGEST, BY} and line.raw]
            earlier = [(EARLIER, f"{line.key}: {line.raw}") for line in filled]
            work.replace(block.decisions, [*digest, *earlier])
        else:
            work.add_decision(block, digest)
        work.replace(block.facts, list(fact_lines(row, folder)))
    return work.text(final_newline=_ends(text))


def set_decisions(text: str, path: str, decided: Mapping[str, Pairs]) -> str:
    """The file with the decision lines of some rows (by id) set; keys not among the pairs are emptied.

    Raises:
        Refused: A row has no section or several, or two decisions: which one is meant is for a person to say.
    """
    file, work = _opened(text, path)
    for row, pairs in decided.items():
        block = block_of(file, row, path)
        for key in DECISION_KEYS:
            filled = [line for line in block.of(key) if line.raw]
            if len(filled) > 1:
                places = ", ".join(f"{path}:{line.line}" for line in filled)
                raise Refused(f"Row {row} has {len(filled)} lines {key!r} ({places}).", "Keep one of them.")
        if block.decisions:
            work.replace(block.decisions, pairs)
        else:
            work.add_decision(block, pairs)
    return work.text(final_newline=_ends(text))


def append_row(text: str, row: Row, folder: str) -> str:
    """The file with a row's section added at its end."""
    newline = newline_of(text)
    section = render_row(row, folder).replace("\n", newline)
    return f"{text.rstrip()}{newline}{newline}{section}{newline}"


def block_of(file: TriageFile, row: str, path: str) -> Block:
    """The one section of a row; raises `Refused` when there are several or none."""
    found = [block for block in file.blocks if block.row == row]
    if len(found) > 1:
        places = ", ".join(f"{path}:{block.heading}" for block in found)
        raise Refused(f"Row {row} stands {len(found)} times ({places}).", "Keep one of the sections.")
    if not found:
        raise Refused(f"Row {row} has no section in {path}.", "`muniment triage refresh` puts it back.")
    return found[0]


def _opened(text: str, path: str) -> tuple[TriageFile, _Text]:
    return parse(text, path)[0], _Text(lines_of(text), newline_of(text))


def _ends(text: str) -> bool:
    return text.endswith(("\n", "\r"))
