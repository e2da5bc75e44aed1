"""How `muniment ledger` reads its arguments and shows its answers."""

from __future__ import annotations

import json
from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import click

from muniment.cli import output
from muniment.cli.options import read_input
from muniment.errors import Refused, UsageProblem
from muniment.ids import EntryId
from muniment.ledger import describe
from muniment.ledger.canonical import read_strict
from muniment.ledger.entries import APPLIED_OPERATION
from muniment.ledger.faults import Reach
from muniment.ledger.store import Appended, Draft, Ledger

if TYPE_CHECKING:
    from muniment.ledger.entries import Entry
    from muniment.ledger.history import Verified
    from muniment.ledger.status import Subject

UNREADABLE = frozenset({"json", "conflict-markers", "encoding"})
_STATUS_STYLES = {"unknown": "bad", "contested": "bad", "open": "warn", "unseen": "dim"}
PROVEN = frozenset({"terminal", "branch", "signature"})
"""Words of `verified` that only `muniment apply` can honestly write (C9)."""
_MAX_DATA = 4 * 1024 * 1024


def draft(kind: str, data: str, op: str, basis: tuple[str, ...]) -> Draft:
    """The entry to write, from the command's arguments; raises `UsageProblem` for any that can't be."""
    if kind == "expunge":
        raise UsageProblem(
            "An expunge entry takes a body away and needs an owner's approval.",
            "Use `muniment ledger expunge ID --reason …`.",
        )
    if kind == "undo":
        raise UsageProblem(
            "An undo entry takes back what was applied and needs a preview and a person's yes.",
            "Use `muniment undo`.",
        )
    if op.startswith(APPLIED_OPERATION):
        raise UsageProblem(
            f"Keys that begin with {APPLIED_OPERATION!r} are those of `muniment apply`.",
            "Choose another --op.",
        )
    text = data
    if data == "-":
        try:
            text = read_input("-", limit=_MAX_DATA).decode("utf-8")
        except UnicodeDecodeError as error:
            raise UsageProblem("Standard input is not UTF-8.") from error
    body = read_strict(text, "--data")
    if not isinstance(body, dict):
        raise UsageProblem("--data is not a JSON object.", 'For instance: --data \'{"text": "Hello"}\'')
    shown = tuple(EntryId.parse(item) for item in basis) or None
    return Draft(kind=kind, data=body, op=op, basis=shown)


def emit_added(appended: Appended, *, as_json: bool) -> None:
    """Print the recorded entry."""
    entry = appended.entries[0]
    if entry.kind == "decision" and entry.data.get("verified") in PROVEN:
        output.say(
            "note: `verified` is kept as given; from `ledger add` it is a claim and proves no approval."
        )
    if as_json:
        output.emit_json({"id": entry.id, "added": bool(appended.changes)})
    else:
        again = "" if appended.changes else output.style("  (recorded already)", "dim")
        output.emit([_line(entry) + again])


def require_readable(found: Ledger) -> None:
    """Refuse a file that isn't JSON: a list of what is left of it would hide the rest."""
    faults = [fault for fault in found.verdict.faults if fault.rule in UNREADABLE]
    if faults:
        raise Refused(
            str(faults[0].problem()),
            "The file is untouched. Mend it, losing nothing: muniment repair",
            code=faults[0].rule,
            problems=tuple(fault.problem() for fault in faults),
        )


def emit_log(found: Ledger, kind: str | None, *, as_json: bool) -> None:
    """Print the entries in derived order; what is wrong with the set goes to stderr, or beside them."""
    entries = [entry for entry in found.entries if kind is None or entry.kind == kind]
    incomplete = sorted({fault.entry for fault in found.verdict.reaching(Reach.INCOMPLETE)})
    if as_json:
        document: dict[str, Any] = {
            "entries": [json.loads(entry.raw) for entry in entries],
            "incomplete": incomplete,
            "problems": [fault_json(fault.entry, fault.problem()) for fault in found.verdict.problems],
        }
        output.emit_json(document)
        return
    output.emit([_line(entry, found.whole.entries) for entry in entries])
    if not entries:
        output.say("No entries." if kind is None else f"No entries of kind {output.safe(kind)}.")
    if found.verdict.problems:
        output.say(output.style("The ledger has problems", "bad") + "; `muniment ledger verify` lists them.")


def _line(entry: Entry, known: Mapping[str, Entry] = MappingProxyType({})) -> str:
    """One entry on one line: when, who, what kind, about what, saying what, why, and its id."""
    reason = output.safe(describe.reason(entry))
    columns = [
        output.style(entry.at[:16].replace("T", " "), "dim"),
        f"{_cut(output.safe(entry.actor), 20):<14}",
        f"{_cut(output.safe(entry.kind), 16):<9}",
    ]
    words = [
        output.style(output.safe(describe.about(entry)), "path"),
        output.style(output.safe(describe.says(entry, known)), "strong"),
        output.style(f"“{_cut(reason, 60)}”", "dim") if reason else "",
        output.style(entry.id.short, "dim"),
    ]
    return "  ".join([*columns, *(word for word in words if click.unstyle(word))])


def _cut(text: str, length: int) -> str:
    return text if len(text) <= length else text[: length - 1] + "…"


def emit_verdict(verified: Verified, *, as_json: bool) -> int:
    """Print what verification found; returns the exit code."""
    code = {True: 0, False: 1, None: 4}[verified.ok]
    if as_json:
        output.emit_json(
            {
                "ok": verified.ok,
                "problems": [fault_json(fault.entry, fault.problem()) for fault in verified.problems],
                "expunged": list(verified.expunged),
                "notes": [fault_json(fault.entry, fault.problem()) for fault in verified.notes],
                "unknown": verified.unknown,
                "settle": verified.settle,
                "entries": verified.count,
            }
        )
        return code
    output.emit(output.problem_lines(fault.problem() for fault in verified.problems))
    for fault in verified.notes:
        output.say(f"note: {output.safe(str(fault.problem()))}")
    if verified.unknown:
        output.say(output.style(output.safe(verified.unknown), "warn"))
        output.say(f"settle: {output.safe(verified.settle)}")
    elif verified.ok:
        gone = f", {len(verified.expunged)} expunged" if verified.expunged else ""
        output.emit([output.style("The ledger is whole", "good") + f": {_count(verified.count)}{gone}."])
    return code


def _count(entries: int) -> str:
    return "1 entry" if entries == 1 else f"{entries:,} entries"


def fault_json(entry: str, problem: Any) -> Mapping[str, object]:
    """A fault as `verify` prints it: the contract's keys, then where it is and what helps."""
    return {
        "entry": entry or None,
        "rule": problem.rule,
        "message": problem.message,
        "path": problem.path,
        "line": problem.line,
        "fix": problem.fix,
    }


def emit_status(ledger: Ledger, name: str, *, as_json: bool) -> None:
    """Print what is decided about a subject: what counts, and an alias's own decision besides."""
    found = ledger.view.subject(name)
    if as_json:
        output.emit_json(
            {
                "subject": found.subject,
                "status": found.status,
                "decisions": list(found.decisions),
                "aliases": list(found.aliases),
                "seen": found.seen,
                "canonical": found.canonical,
                "findings": [entry.id for entry in found.findings],
                "hint": found.hint,
            }
        )
        return
    word = output.style(found.status, _STATUS_STYLES.get(found.status, "good"))
    follows = f" (alias of {output.safe(found.canonical)})" if found.canonical != found.subject else ""
    times = f", seen in {found.seen} report{'' if found.seen == 1 else 's'}" if found.seen else ""
    lines = [f"{output.safe(found.subject)}{follows}: {word}{times}"]
    if found.hint:
        lines.append(f"  {output.safe(found.hint)}")
    lines += [f"  {_line(entry)}" for entry in found.settled]
    lines += [f"  {_line(entry)}" for entry in _own(ledger, found)]
    others = [output.safe(other) for other in found.aliases if other != found.subject]
    if others:
        lines.append(f"  also known as: {', '.join(others)}")
    output.emit(lines)


def _own(ledger: Ledger, found: Subject) -> list[Entry]:
    """What an alias's own decisions say (`duplicate`, mostly); those of other subjects are settled ones."""
    shown = {entry.id for entry in found.settled}
    if found.subject == found.canonical:
        return []
    live = ledger.view.live.get("decision", ())
    return [entry for entry in live if entry.data.get("subject") == found.subject and entry.id not in shown]
