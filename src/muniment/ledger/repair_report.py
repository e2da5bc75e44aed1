"""What repair tells: what is mended, what is left, and the command that would settle it (G17)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from muniment.ledger.assembly import Whole
from muniment.ledger.faults import Fault, Reach
from muniment.ledger.repair_sources import Archive
from muniment.redact.gate import GateRefused

_SHOWN = 5


@dataclass(frozen=True, slots=True)
class Repaired:
    """Something that was mended: where, and what in one sentence."""

    path: str
    what: str


@dataclass(frozen=True, slots=True)
class Unresolved:
    """Something that could not be mended here.

    Attributes:
        path: Repository-relative path.
        line: 1-based; 0 when it has no line.
        rule: As `ledger verify` names it; else `history`, `gate`, `by-hand`.
        message: One or two sentences, with what would settle it.
        settle: The command that would settle it; may be empty.
    """

    path: str
    line: int
    rule: str
    message: str
    settle: str = ""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What repair did: what is mended now, what isn't, and the files it wrote."""

    repaired: tuple[Repaired, ...] = ()
    unresolved: tuple[Unresolved, ...] = ()
    written: tuple[str, ...] = ()


def left(archive: Archive, path: str, whole: Whole) -> Iterator[Unresolved]:
    """What is still wrong with a ledger, each with what would settle it, and what could not be told."""
    for fault in whole.verdict.problems:
        yield _unresolved(archive, path, fault)
    for gap in archive.gaps:
        message = f"Not all that HEAD's history recorded can be read here: {gap.message}"
        yield Unresolved(path, 0, "history", f"{message} To settle it: {gap.settle}", gap.settle)


def way_out(line: int) -> str:
    """What a person can do about an entry that is damaged here and recorded nowhere in this clone."""
    where = f"line {line}" if line else "its line"
    return (
        f"Take the edit back, or delete {where}; then run `muniment repair` again. "
        "An entry that another clone has comes back with a merge from there; "
        "one that nobody has is recorded anew (`muniment ledger add`)."
    )


def _unresolved(archive: Archive, path: str, fault: Fault) -> Unresolved:
    settle, message = fault.fix, fault.message
    if fault.reach is Reach.INCOMPLETE or fault.rule in {"sealed", "expunge"}:
        settle = _fetch(archive)
        message = f"{message} No object of this clone settles it. To settle it: {settle}"
    elif fault.rule == "id":
        settle = f"git log -p -- {path}"
        message = (
            f"{message} This clone doesn't hold it as recorded; it was left as it is. {way_out(fault.line)}"
        )
    elif "repair" in settle:
        settle = ""
    elif settle:
        message = f"{message} To settle it: {settle}"
    return Unresolved(fault.path or path, fault.line, fault.rule, message, settle)


def _fetch(archive: Archive) -> str:
    repo = archive.ws.repo
    if archive.gaps:
        return archive.gaps[0].settle
    if repo.is_shallow():
        return "git fetch --unshallow"
    return "git fetch --all" if repo.git.run("remote").out.strip() else "git fetch OTHER-CLONE"


def gated(path: str, error: GateRefused) -> Unresolved:
    """That the gate refused what would have been put back."""
    message = f"{error.message} What would be put back is in this clone's history. {error.hint}"
    return Unresolved(path, 0, "gate", message)


def count(ids: Iterable[str]) -> str:
    """`1 entry`, `2 entries`."""
    number = len(set(ids))
    return f"{number} {'entry' if number == 1 else 'entries'}"


def names(ids: Iterable[str]) -> str:
    """The ids as shown to people, the first few of them."""
    listed = sorted(one[:12] for one in ids)
    more = f" and {len(listed) - _SHOWN} more" if len(listed) > _SHOWN else ""
    return ", ".join(listed[:_SHOWN]) + more
