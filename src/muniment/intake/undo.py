"""`undo`: one commit on HEAD that takes an applied batch back (G14).

Documents get the inverse three-way patch of what the batch did to them, so later edits elsewhere in them
stay; the ledger gets one `undo` entry, which makes the batch's entries fold as if absent. Undoing an undo
does the same to the undo's own patch. `git revert` is never run.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from muniment import approval, authority, publish, targets, tokens
from muniment.approval import Proposal, Token
from muniment.authority import Rules
from muniment.errors import CheckFailed, Refused, UsageProblem
from muniment.files import FileChange
from muniment.intake import acts, inverse, landed
from muniment.intake.acts import Effect
from muniment.intake.desk import Change
from muniment.ledger import store
from muniment.ledger.entries import Entry
from muniment.ledger.store import Draft, Ledger
from muniment.workspace import Workspace, rfc3339

KIND = "undo"
AGAIN = "muniment undo --preview"


@dataclass(frozen=True, slots=True)
class Plan:
    """Everything that an undo would do.

    Attributes:
        target: The `applied` or `undo` entry that is undone.
        batch: The batch's id, for people.
        changes: Every file of the commit with its final bytes; None deletes it.
        log: What is done to each file, in words.
        before: Path → the bytes now.
        seen: The same with the ledger; a file that differs when it is written is refused.
        entry: The id of the new `undo` entry.
        proposal: What a token binds.
    """

    target: Entry
    batch: str
    changes: tuple[FileChange, ...]
    log: tuple[Change, ...]
    before: Mapping[str, bytes | None]
    seen: Mapping[str, bytes | None]
    entry: str
    proposal: Proposal

    @property
    def again(self) -> bool:
        """Whether this undoes an undo, and so applies the batch again."""
        return self.target.kind == "undo"


@dataclass(frozen=True, slots=True)
class Previewed:
    """A preview: the plan and the token for it."""

    plan: Plan
    token: Token


@dataclass(frozen=True, slots=True)
class Undone:
    """What an undo did: its commit, the entry it undid, the batch, and whether that applied it again."""

    commit: str
    undoes: str
    batch: str
    again: bool = False


def preview(
    ws: Workspace, rev: str | None, *, terminal: bool, reason: str = "", include_dirty: Iterable[str] = ()
) -> Previewed:
    """Work the undo out and mint a token for it; nothing of the repository changes.

    Args:
        ws: The repository.
        rev: The commit whose batch (or undo) is undone, or an entry's id; None for the newest batch.
        terminal: Whether a person at a terminal asks.
        reason: Why, for the ledger.
        include_dirty: Paths whose uncommitted changes the person takes along.

    Raises:
        CheckFailed: There is nothing to undo.
        Refused: A later edit overlaps, a target is dirty, the ledger isn't whole, or no authority.
    """
    dirty, at = tuple(include_dirty), ws.now()
    with publish.open_door(ws) as door:
        plan = derive(ws, rev, at=rfc3339(at), terminal=terminal, reason=reason, include_dirty=dirty)
        door.clear(plan.changes)
    options = {
        "target": plan.target.id,
        "entry": plan.entry,
        "batch": plan.batch,
        "again": "yes" if plan.again else "",
        "reason": reason,
        "include_dirty": json.dumps(dirty),
    }
    channel = authority.channel_here(authority.rules(ws), at_terminal=terminal)
    return Previewed(
        plan, tokens.issue(ws, plan.proposal, at=at, options=options, terminal=channel == authority.TERMINAL)
    )


def confirm(ws: Workspace, word: str, *, terminal: bool) -> Undone:
    """Do what a preview showed, once, and only if it would still be the same.

    Raises:
        Refused: The token is unknown, used, expired, or something it binds has changed.
    """
    with publish.open_door(ws) as door:
        token = tokens.find(ws, word)
        commit = landed.finished(ws, token, KIND)
        if token is None or commit is None:
            token = tokens.require(ws, word, KIND, AGAIN)
            _require_terminal(ws, token, terminal=terminal)
            commit = _act(ws, door, token)
        tokens.spend(ws, token, commit)
    again = bool(token.options.get("again"))
    return Undone(commit, token.options["target"], token.options["batch"], again)


def now(
    ws: Workspace, rev: str | None, *, terminal: bool, reason: str = "", include_dirty: Iterable[str] = ()
) -> Undone:
    """Preview and confirm in one, for a person who said yes (`--yes`)."""
    shown = preview(ws, rev, terminal=terminal, reason=reason, include_dirty=include_dirty)
    return confirm(ws, shown.token.token, terminal=terminal)


def _act(ws: Workspace, door: publish.Door, token: Token) -> str:
    options = token.options
    dirty = frozenset(json.loads(options["include_dirty"]))
    try:
        plan = derive(
            ws,
            options["target"],
            at=rfc3339(token.at),
            terminal=token.terminal,
            reason=options["reason"],
            include_dirty=dirty,
        )
    except (CheckFailed, UsageProblem) as error:
        raise tokens.gone(error, AGAIN) from error
    answer = approval.matches(token, plan.proposal)
    if not answer.good:
        raise tokens.refusal(answer, AGAIN)
    published = door.commit(
        door.clear(plan.changes),
        _message(plan),
        operation=token.operation,
        include_dirty=dirty,
        may_be_dirty=frozenset({ws.config.ledger_path}),
        seen=plan.seen,
    )
    return published.commit or "nothing"


def _require_terminal(ws: Workspace, token: Token, *, terminal: bool) -> None:
    here = authority.channel_here(authority.rules(ws), at_terminal=terminal)
    if token.terminal and here != authority.TERMINAL:
        raise Refused(
            "This token was made at a terminal and is confirmed at one. Nothing was written.",
            f"Run it at a terminal, or preview again where you are: {AGAIN}",
            code="no-authority",
        )


def derive(
    ws: Workspace, rev: str | None, *, at: str, terminal: bool, reason: str, include_dirty: Iterable[str]
) -> Plan:
    """Work out what an undo would do now; see `preview`."""
    rules = authority.rules(ws)
    channel = authority.channel_here(rules, at_terminal=terminal)
    standing = authority.require(rules, channel, ws.actor, "The undo")
    ledger = store.load(ws)
    ledger.require_whole(mending=True)
    target = _target(ws, ledger, rev)
    effects = acts.effects_of(ledger, target)
    before, after, log = inverse.documents(ws, effects)
    batch = _batch_of(ledger, target)
    number = sum(
        1 for entry in ledger.entries if entry.kind == "undo" and entry.data.get("undoes") == target.id
    )
    data: dict[str, Any] = {
        "undoes": target.id,
        "batch": batch,
        "reason": reason,
        "by": ws.actor,
        "channel": channel,
        "verified": standing.verified,
        "changes": _exceptions(ws, effects, before, after),
    }
    appended = store.append(ws, ledger, [Draft("undo", data, op=f"undo:{target.id}/{number}", at=at)])
    changes = (*(FileChange(path, after[path]) for path in sorted(after)), *appended.changes)
    lines = (*log, Change(ledger.path, f"1 entry added: undo of {target.kind} {target.id.short}"))
    targets.require_clean(ws, [change.path for change in changes], {*include_dirty, ledger.path})
    found = {**before, ledger.path: ledger.data}
    proposal = _proposal(ws, rules, target, found, changes)
    return Plan(target, batch, changes, lines, before, found, appended.entries[0].id, proposal)


def _proposal(
    ws: Workspace,
    rules: Rules,
    target: Entry,
    found: Mapping[str, bytes | None],
    changes: Sequence[FileChange],
) -> Proposal:
    parts = landed.common_parts(ws, rules)
    parts |= {f"file {path}": approval.file_part(data) for path, data in found.items()}
    parts |= {f"result {change.path}": approval.file_part(change.data) for change in changes}
    return Proposal(KIND, target.id, parts)


def _target(ws: Workspace, ledger: Ledger, rev: str | None) -> Entry:
    """The entry to undo; a batch or an undo that is in force."""
    gone = ledger.view.withdrawn
    if rev is None:
        parts = acts.parts_of(ledger.whole.entries)
        applied = (entry for entry in ledger.entries if entry.kind == "applied")
        live = [entry for entry in applied if entry.id not in gone and entry.id not in parts]
        if not live:
            raise CheckFailed(
                "There is no applied batch to undo.", "See `muniment ledger log --kind applied`."
            )
        return live[-1]
    entry = ledger.whole.entries.get(rev) or _made_by(ws, ledger, rev)
    if entry.kind not in {"applied", "undo"}:
        raise UsageProblem(f"{rev} is a {entry.kind}; a batch (`applied`) or an `undo` can be undone.")
    if entry.id in acts.parts_of(ledger.whole.entries):
        raise UsageProblem(f"{entry.id} is only a part of its batch's record.", "Name the batch's commit.")
    if entry.expunged:
        raise Refused(f"The body of {entry.id.short} was expunged, so it can't be undone.")
    if entry.id in gone:
        raise Refused(
            f"The {entry.kind} {entry.id.short} is undone already. Nothing was written.",
            "To apply it again, undo that undo: muniment undo COMMIT-OF-THE-UNDO",
            code="already-undone",
        )
    _require_once(ledger, entry)
    return entry


def _require_once(ledger: Ledger, entry: Entry) -> None:
    """Refuse to bring a batch back that has been applied anew since: it would count, and be undone, twice."""
    first, gone = _act_below(ledger, entry), ledger.view.withdrawn
    parts = acts.parts_of(ledger.whole.entries)
    again = [
        other
        for other in ledger.entries
        if other.kind == "applied"
        and other.id != first.id
        and other.id not in gone
        and other.id not in parts
        and other.data.get("batch") == first.data.get("batch")
    ]
    if entry.kind == "undo" and first.id in gone and again:
        raise Refused(
            f"Batch {first.data.get('batch')} has been applied again since ({again[-1].id.short}), so what "
            "this undo took back must not come back as well. Nothing was written.",
            "To take the batch back, run: muniment undo",
            code="applied-again",
        )


def _made_by(ws: Workspace, ledger: Ledger, rev: str) -> Entry:
    commit = store.resolve(ws, rev)
    found = [
        ledger.whole.entries[identity]
        for identity in landed.entries_made(ws, commit, ledger.path)
        if identity in ledger.whole.entries
    ]
    parts = acts.parts_of(ledger.whole.entries)
    made = [entry for entry in found if entry.kind in {"applied", "undo"} and entry.id not in parts]
    if not made:
        raise UsageProblem(
            f"Commit {commit.short} applied no batch that this branch's ledger knows.",
            "See `muniment ledger log --kind applied`.",
        )
    if len(made) > 1:
        named = ", ".join(entry.id for entry in made)
        raise UsageProblem(
            f"Commit {commit.short} holds {len(made)} acts: {named}.", "Name one of these ids."
        )
    return made[0]


def _batch_of(ledger: Ledger, entry: Entry) -> str:
    """The batch that an entry belongs to, through undos of undos."""
    return str(_act_below(ledger, entry).data.get("batch", ""))


def _act_below(ledger: Ledger, entry: Entry) -> Entry:
    """The `applied` entry at the end of a chain of undos, as far as its entries are here."""
    seen = set()
    while entry.kind == "undo" and entry.id not in seen:
        seen.add(entry.id)
        below = ledger.whole.entries.get(str(entry.data.get("undoes")))
        if below is None:
            break
        entry = below
    return entry


def _exceptions(
    ws: Workspace,
    effects: Sequence[Effect],
    before: Mapping[str, bytes | None],
    after: Mapping[str, bytes | None],
) -> list[dict[str, str | None]]:
    """The documents for which this undo is not the exact inverse of the act, with their blobs."""
    found: list[dict[str, str | None]] = []
    for effect in effects:
        old = _blob(ws, effect.path, before[effect.path])
        new = _blob(ws, effect.path, after.get(effect.path, before[effect.path]))
        if (old, new) != (effect.new, effect.old):
            found.append({"path": effect.path, "old": old, "new": new})
    return found


def _blob(ws: Workspace, path: str, data: bytes | None) -> str | None:
    return None if data is None else ws.repo.clean(path, data)


def _message(plan: Plan) -> str:
    verb = "Apply again" if plan.again else "Undo"
    lines = [f"{verb} triage batch {landed.plain(plan.batch)}", ""]
    lines += [f"- {landed.plain(change.path)}: {change.what}" for change in plan.log]
    return "\n".join(lines)
