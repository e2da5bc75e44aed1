"""Changing a few lines of a triage file and nothing else (G2).

Pure, text in and text out: every byte outside the lines named stays, a person's notes and the other rows'
decisions among them. The result is read again, and must say what it was meant to say.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from muniment.errors import Refused
from muniment.intake.rows import Row
from muniment.intake.triage_file import Block, Line, TriageFile, parse, render_row
from muniment.intake.triage_lines import DECISION_KEYS, DIGEST, EARLIER, fact_lines
from muniment.markdown import lines_of, newline_of
from muniment.quoting import code_text

_EMPTY = (("decision", ""), ("target", ""), ("reason", ""))


def block_of(file: TriageFile, row: str, path: str) -> Block:
    """The one section of a row; raises `Refused` when there are several or none."""
    found = [block for block in file.blocks if block.row == row]
    if len(found) > 1:
        places = ", ".join(f"{path}:{block.heading}" for block in found)
        raise Refused(f"Row {row} stands {len(found)} times ({places}).", "Keep one of the sections.")
    if not found:
        raise Refused(f"Row {row} has no section in {path}.", "`muniment triage refresh` puts it back.")
    return found[0]


def set_facts(text: str, path: str, row: Row, folder: str) -> str:
    """The file with one row's machine-written lines replaced by those of `row`.

    A decision that is there was about another reading of the row: its words are kept as lines `earlier`,
    which decide nothing, and the row is undecided again.
    """
    block = block_of(parse(text, path)[0], row.row, path)
    text = _replace(text, block.facts, fact_lines(row, folder))
    block = block_of(parse(text, path)[0], row.row, path)
    if not block.decisions:
        return _add_decision(text, block, [(DIGEST, code_text(row.digest)), *_EMPTY])
    filled = [line for line in block.decisions if line.key != DIGEST and line.raw]
    earlier = [(EARLIER, f"{line.key}: {line.raw}") for line in filled]
    return _replace(text, block.decisions, [(DIGEST, code_text(row.digest)), *_EMPTY, *earlier])


def set_decision(text: str, path: str, row: str, pairs: Sequence[tuple[str, str]]) -> str:
    """The file with one row's decision lines set to `pairs`; keys not in them are emptied.

    Raises:
        Refused: The row has two decisions; which one is meant is for a person to say.
    """
    block = block_of(parse(text, path)[0], row, path)
    for key in DECISION_KEYS:
        filled = [line for line in block.of(key) if line.raw]
        if len(filled) > 1:
            places = ", ".join(f"{path}:{line.line}" for line in filled)
            raise Refused(f"Row {row} has {len(filled)} lines {key!r} ({places}).", "Keep one of them.")
    if block.decisions:
        return _replace(text, block.decisions, pairs)
    return _add_decision(text, block, pairs)


def _add_decision(text: str, block: Block, pairs: Sequence[tuple[str, str]]) -> str:
    """The decision's list after a row's facts, where a person deleted it."""
    lines = lines_of(text)
    at = block.facts[-1].end
    newline = newline_of(text)
    if not lines[at - 1].endswith(("\n", "\r")):
        lines[at - 1] += newline
    added = [newline, f"**Decision**{newline}", newline, *_items(pairs, "-", newline)]
    return "".join([*lines[:at], *added, *lines[at:]])


def append_row(text: str, row: Row, folder: str) -> str:
    """The file with a row's section added at its end."""
    newline = newline_of(text)
    section = render_row(row, folder).replace("\n", newline)
    return f"{text.rstrip()}{newline}{newline}{section}{newline}"


def _replace(text: str, old: Sequence[Line], pairs: Iterable[tuple[str, str]]) -> str:
    """The lines of `old` gone, and `pairs` where the first of them was."""
    lines = lines_of(text)
    first = old[0].line - 1
    lead = lines[first]
    indent = lead[: len(lead) - len(lead.lstrip())]
    bullet = lead.lstrip()[:1]
    newline = newline_of(text)
    gone = {number for line in old for number in range(line.line - 1, line.end)}
    out: list[str] = []
    for number, line in enumerate(lines):
        if number == first:
            out += [f"{indent}{item}" for item in _items(pairs, bullet, newline)]
        if number not in gone:
            out.append(line)
    if not text.endswith(("\n", "\r")) and len(lines) - 1 in gone:
        out[-1] = out[-1].removesuffix(newline)
    return "".join(out)


def _items(pairs: Iterable[tuple[str, str]], bullet: str, newline: str) -> list[str]:
    return [f"{bullet} {key}: {value}".rstrip() + newline for key, value in pairs]
