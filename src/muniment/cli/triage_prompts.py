"""Triage at a terminal, row by row with plain prompts: the evidence beside what is related (C9)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import click

from muniment.cli.options import Invocation
from muniment.cli.output import emit, number, problem_lines, safe, say, short_hashes, style
from muniment.cli.triage_targets import ask_target
from muniment.cli.triage_view import quote_lines, row_lines, short
from muniment.errors import MunimentError, UsageProblem
from muniment.intake.rows import Action, approved

if TYPE_CHECKING:
    from types import ModuleType

    from muniment.intake.batches import Seen
    from muniment.intake.rows import Row
    from muniment.intake.triage import Choice, Done, Verified
    from muniment.workspace import Workspace

HELP: Mapping[str, tuple[str, str]] = {
    "a": ("approve", "take what is proposed; for a row that nobody verified this also says that it is real"),
    "o": ("override", "decide for another action, with its target and your reason"),
    "v": ("verify", "say whether it is real and why, and see what is proposed then"),
    "e": ("edit", "approve it with another target, layer or wording"),
    "d": ("dismiss", "leave it undecided on purpose: not asked again, nothing applied, nothing suppressed"),
    "s": ("skip", "leave it as it is for now, as Enter does; it is asked again next time"),
    "q": ("quit", "stop here; what was decided is kept"),
    "?": ("help", "explain the letters"),
}
"""What may be answered about a row: its letter, its word, and what it does."""
CONFIRM = ("confirm", "take the decision that stands in the file as yours")


def converse(invocation: Invocation, name: str | None) -> None:
    """Ask about every row that waits for a decision, one by one; what was decided is kept at once.

    Raises:
        UsageProblem: There is no terminal to ask at.
        click.Abort: The person interrupted it; it says what is kept.
    """
    if not invocation.interactive():
        raise UsageProblem(
            "Triage row by row needs a terminal.",
            "Use `muniment triage show`, `verify`, `approve`, `override`, or edit the triage file.",
        )
    from muniment.intake import batches  # noqa: PLC0415 - help needs none of it

    ws = invocation.writable
    seen = batches.look(ws, name)
    for line in problem_lines(seen.loaded.problems):
        say(line)
    try:
        _go_through(ws, seen)
    except click.Abort as error:
        say("")
        kept = f"What was decided so far is kept in {safe(seen.loaded.path)}; nothing was applied."
        raise click.Abort(kept) from error
    _end(ws, seen.loaded.batch.batch, given=name is not None)


def _go_through(ws: Workspace, seen: Seen) -> None:
    batch = seen.loaded.batch.batch
    asked = _asked(seen)
    rows = [row for row in seen.loaded.batch.rows if row.row in asked]
    for index, row in enumerate(rows, start=1):
        emit(["", style(f"{index} of {len(rows)}", "dim"), *quote_lines(row)])
        emit(row_lines(row, standing=seen.standings.get(row.row)))
        if not _ask(ws, batch, row.row):
            break


def _asked(seen: Seen) -> tuple[str, ...]:
    """The rows to ask about: those to decide; if there are none, on request those decided and not applied."""
    waits = seen.waiting
    if waits.to_decide or not waits.to_apply:
        return waits.to_decide
    undone = f" ({len(waits.undone)} undone)" if waits.undone else ""
    count = number(len(waits.to_apply), "row")
    emit([f"Everything is decided; {count} not applied{undone}:"])
    emit(f"  {short(row)}" for row in seen.loaded.batch.rows if row.row in waits.to_apply)
    again = click.confirm("Go through them again, to decide otherwise?", err=True)
    return waits.to_apply if again else ()


def _ask(ws: Workspace, batch: str, name: str) -> bool:
    """Ask about one row until it is decided or left; False when the person wants to stop."""
    from muniment.intake import batches  # noqa: PLC0415 - help needs none of it

    while True:
        row = batches.look(ws, batch).loaded.row(name)
        key = _key(row)
        if key in {"s", "q"}:
            left = "left as it was decided" if row.decision else "left undecided"
            say(style(f"({left})", "dim"))
            return key == "s"
        try:
            if _act(ws, batch, row, key):
                return True
        except MunimentError as error:
            say(f"{style('not done:', 'bad')} {safe(error.message)} {safe(error.hint)}".rstrip())


def _key(row: Row) -> str:
    keys = {"c": CONFIRM, **HELP} if row.decision is not None else HELP
    words = [f"[{key}]{word[1:]}" if key != "?" else "[?] help" for key, (word, _) in keys.items()]
    words[list(keys).index("a")] += _approving(row)
    say(", ".join(words))
    while True:
        answer: str = click.prompt(f"Row {row.row}", default="s", show_default=False, err=True)
        key = answer.strip().casefold()[:1]
        if key == "?":
            for line in _help(row, keys):
                say(line)
        elif key in keys:
            return key
        else:
            say("Answer with one of the letters; Enter skips, ? explains them.")


def _approving(row: Row) -> str:
    """What approving the row would do, in brackets."""
    proposal = approved(row)
    if proposal is None:
        return " (nothing is proposed)"
    target = f" → {safe(short_hashes(proposal.target))}" if proposal.target else ""
    real = "; also marks it real" if row.verify is None and row.if_real else ""
    return f" ({proposal.action.value}{target}{real})"


def _help(row: Row, keys: Mapping[str, tuple[str, str]]) -> list[str]:
    lines = [f"  {style(key, 'strong')}  {word}: {meaning}" for key, (word, meaning) in keys.items()]
    return [*lines, f"  Approving row {row.row} now means:{_approving(row)}"]


def _act(ws: Workspace, batch: str, row: Row, key: str) -> bool:
    """Do what a key stands for; True when the row is decided."""
    from muniment import authority  # noqa: PLC0415 - help needs none of it
    from muniment.intake import triage as acts  # noqa: PLC0415 - same

    channel = authority.channel_here(authority.rules(ws), at_terminal=True)
    if key == "v":
        done = acts.verify(ws, batch, row.row, _verified(acts))
        _tell(done)
        emit(row_lines(done.loaded.row(row.row)))
        return False
    if key == "c":
        done = acts.confirm(ws, batch, row.row, channel)
    elif key == "e":
        done = acts.edit(ws, batch, row.row, _edited(acts, ws, batch, row), channel)
    else:
        done = acts.choose(ws, batch, [row.row], _choice(acts, ws, batch, row, key), channel)
    _tell(done)
    emit([f"{style('decided', 'good')} {short(done.loaded.row(row.row))}"])
    return True


def _tell(done: Done) -> None:
    for note in done.notes:
        say(f"note: {safe(note)}")


def _verified(acts: ModuleType) -> Verified:
    verdict = click.prompt("Is it real?", type=click.Choice(["real", "not-real", "unsure"]), err=True)
    from muniment.intake.rows import Verdict  # noqa: PLC0415 - help needs none of it

    found: Verified = acts.Verified(Verdict(verdict), _line("Why"))
    return found


def _choice(acts: ModuleType, ws: Workspace, batch: str, row: Row, key: str) -> Choice:
    choice: Choice
    if key == "a":
        choice = acts.Choice("approve")
    elif key == "d":
        choice = acts.Choice("dismiss", reason=_line("Why (may be empty)", empty=True))
    else:
        actions = [action.value for action in Action]
        say(f"Actions: {', '.join(actions)}")
        action = click.prompt("Action", type=click.Choice(actions), show_choices=False, err=True)
        choice = ask_target(ws, batch, row, acts.Choice(action))
        choice = acts.Choice(action, choice.target, _line("Why"))
    return choice


def _edited(acts: ModuleType, ws: Workspace, batch: str, row: Row) -> Choice:
    choice: Choice = acts.Choice(
        "approve",
        ask_target(ws, batch, row, acts.Choice("approve")).target,
        "",
        _layer(ws),
        _line("The problem in other words (Enter: as it is)", empty=True),
    )
    return choice


def _layer(ws: Workspace) -> str:
    known = ws.config.target_layers
    say(f"Layers: {', '.join(known)}")
    while True:
        answer = _line("Layer (Enter: as it is)", empty=True)
        if not answer or answer in known:
            return answer
        say(f"{safe(answer)} is no layer of this repository.")


def _line(question: str, *, empty: bool = False) -> str:
    while True:
        answer: str = click.prompt(question, default="", show_default=False, err=True)
        if answer.strip() or empty:
            return answer.strip()
        say("A reason is needed.")


def _end(ws: Workspace, batch: str, *, given: bool) -> None:
    from muniment.intake import batches, waiting  # noqa: PLC0415 - help needs none of it

    waits = batches.look(ws, batch).waiting
    say(f"Batch {batch}: {waiting.said(waits) or 'nothing waits'}.")
    for command, why in waiting.steps(waits, batch if given else ""):
        say(f"next: {command} ({why})")
