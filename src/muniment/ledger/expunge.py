"""Expunging: an entry's body is replaced by a stub, on an owner's approval, for good (G6, C9).

The stub keeps id, time, kind and links, and a new entry names it and vouches for it. A body inside a sealed
segment goes with that segment: a replacement outranks it. History and other clones keep copies; purging
those is a person's work, see docs/design/ledger.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from muniment import approval, authority, tokens
from muniment.approval import Proposal, Token
from muniment.authority_signature import key_id
from muniment.errors import Refused, UsageProblem
from muniment.files import FileChange
from muniment.git.repo import Oid
from muniment.ids import EntryId
from muniment.ledger.assembly import with_entries
from muniment.ledger.entries import Entry, stub, stub_digest
from muniment.ledger.seal import changes_for, clear, sealed_segment
from muniment.ledger.segment import Sealed
from muniment.ledger.store import Draft, Ledger, append, load
from muniment.publish import Door, open_door
from muniment.workspace import Workspace, rfc3339

KIND = "expunge"


@dataclass(frozen=True, slots=True)
class Plan:
    """What expunging an entry would change.

    Attributes:
        target: The entry, in full.
        entry: The expunge entry to be recorded.
        changes: The files.
        ledger: The ledger that it was made from.
    """

    target: Entry
    entry: Entry
    changes: tuple[FileChange, ...]
    ledger: Ledger


@dataclass(frozen=True, slots=True)
class Expunged:
    """What expunging did: the entry, the expunge entry, the commit (None when it was done before)."""

    target: EntryId
    entry: EntryId | None
    commit: Oid | None


def find(ledger: Ledger, identity: str) -> Entry:
    """The entry with this id, or the only one whose id starts with it (8 digits or more).

    Raises:
        UsageProblem: There is none, or there are several.
    """
    found = [entry for key, entry in ledger.whole.entries.items() if key.startswith(identity)]
    if len(identity) < 8 or len(found) != 1:  # noqa: PLR2004 - said in the message
        how = "is not at least 8 digits of an entry's id"
        if len(identity) >= 8:  # noqa: PLR2004 - same
            how = f"fits {len(found)} entries" if found else "names no entry of this ledger"
        raise UsageProblem(f"{identity[:40]!r} {how}.", "See `muniment ledger log --json`.")
    return found[0]


def plan(ws: Workspace, identity: str, reason: str, *, terminal: bool, at: datetime | None = None) -> Plan:
    """Work out everything that expunging an entry changes; writes nothing.

    Args:
        ws: The repository.
        identity: The entry's id, or a unique prefix.
        reason: Why, in the person's words; recorded.
        terminal: Whether a person answers at a terminal.
        at: The time frozen at the preview; None for now.

    Raises:
        Refused: The ledger is not whole, or nobody here may decide this (C9).
        UsageProblem: No such entry, or an empty reason.
    """
    if not reason.strip():
        raise UsageProblem("An expunge needs a reason.", "Add --reason, without repeating what is expunged.")
    rules = authority.rules(ws)
    channel = authority.channel_here(rules, at_terminal=terminal)
    standing = authority.require(rules, channel, ws.actor, "The expunge")
    _require_owner(ws, rules)
    ledger = load(ws)
    ledger.require_whole()
    target = find(ledger, identity)
    stubbed = stub(target)
    draft = Draft(
        kind=KIND,
        data={
            "expunges": target.id,
            "stub": stub_digest(stubbed),
            "reason": reason,
            "by": ws.actor,
            "channel": standing.channel,
            "verified": standing.verified,
        },
        op=f"expunge:{target.id}",
        at=None if at is None else rfc3339(at),
    )
    made = append(ws, ledger, [draft]).entries[0]
    return Plan(target, made, _changes(ledger, stubbed, made), ledger)


def _require_owner(ws: Workspace, rules: authority.Rules) -> None:
    """Only an owner expunges (G6): whom git would name as author, or whose key it would sign with.

    Where the upstream default branch names no owners, whoever is at this machine counts.
    """
    if not rules.owners:
        return
    ident = ws.repo.git.run("var", "GIT_AUTHOR_IDENT").out.decode("utf-8", "replace")
    email = ident.rpartition("<")[2].partition(">")[0].strip().casefold()
    mine = key_id(ws.repo.config("user.signingkey") or "")
    for owner in rules.owners:
        if ("@" in owner and owner.casefold() == email) or (mine and key_id(owner) == mine):
            return
    raise Refused(
        "Only an owner may expunge, and git's author here is none of the upstream branch's `owners`.",
        "An owner runs it. Nothing was written.",
        code="no-authority",
    )


def _changes(ledger: Ledger, stubbed: Entry, made: Entry) -> tuple[FileChange, ...]:
    whole = with_entries(ledger.whole, [made])
    opened = [stubbed if entry.id == stubbed.id else entry for entry in whole.segments[0].segment.entries]
    records: list[Sealed] = []
    contents: dict[str, bytes] = {}
    for placed in whole.segments[1:]:
        record = placed.record
        if record is None:
            continue
        if any(entry.id == stubbed.id and not entry.expunged for entry in placed.segment.entries):
            kept = [stubbed if entry.id == stubbed.id else entry for entry in placed.segment.entries]
            record, data = sealed_segment(kept, [record.file, *record.replaces])
            contents[record.file] = data
        records.append(record)
    return changes_for(ledger, opened, records, contents)


def proposal(ws: Workspace, made: Plan) -> Proposal:
    """All that the preview's token binds: branch, settings, reason, every file before and after."""
    parts = {
        "branch": ws.repo.head().ref or "detached",
        "settings": approval.digest_of([[item.key, repr(item.value)] for item in ws.config.settings]),
        "reason": approval.digest_of(made.entry.data["reason"]),
    }
    for change in made.changes:
        target = ws.path(change.path)
        before = target.read_bytes() if target.is_file() else None
        parts[f"file {change.path}"] = approval.file_part(before)
        parts[f"result {change.path}"] = approval.file_part(change.data)
    return Proposal(KIND, made.target.id, parts)


def preview(ws: Workspace, identity: str, reason: str, *, terminal: bool) -> tuple[Plan, Token]:
    """The plan, and a token that allows exactly it for 24 hours in this clone; raises as `plan` does."""
    at = ws.now()
    made = plan(ws, identity, reason, terminal=terminal, at=at)
    if made.target.expunged:
        raise Refused(f"Entry {made.target.id.short} is expunged already; there is nothing to approve.")
    return made, tokens.issue(ws, proposal(ws, made), terminal=terminal)


def confirm(ws: Workspace, identity: str, reason: str, word: str, *, terminal: bool) -> Expunged:
    """Do what a preview showed, or refuse when anything that the token binds has changed.

    Raises:
        Refused: The token is unknown, used, expired, or doesn't fit what is here now; or as `plan` does.
    """
    again = f"muniment ledger expunge {identity} --reason … --preview"
    with open_door(ws) as door:
        recovered = door.recovered
        token = tokens.find(ws, word)
        if token and recovered and recovered.operation == token.operation and recovered.commit:
            tokens.spend(ws, token, recovered.commit)
            return Expunged(EntryId(token.subject), None, recovered.commit)
        token = tokens.require(ws, word, KIND, again)
        made = plan(ws, identity, reason, terminal=terminal, at=token.at)
        answer = approval.matches(token, proposal(ws, made))
        if not answer.good:
            raise tokens.refusal(answer, again)
        done = _publish(ws, door, made, token.operation)
        tokens.spend(ws, token, done.commit)
        return done


def now(ws: Workspace, identity: str, reason: str, *, terminal: bool) -> Expunged:
    """Expunge without a preview: the person said yes to exactly this entry; raises as `plan` does."""
    with open_door(ws) as door:
        ledger = load(ws)
        target = find(ledger, identity)
        if target.expunged:
            return Expunged(target.id, None, None)
        return _publish(ws, door, plan(ws, identity, reason, terminal=terminal), f"{KIND}:{target.id}")


def _publish(ws: Workspace, door: Door, made: Plan, operation: str) -> Expunged:
    paths = frozenset(change.path for change in made.changes)
    message = f"Expunge ledger entry {made.target.id.short}"
    cleared = clear(ws, door, made.ledger, made.changes)
    seen = {made.ledger.path: made.ledger.data}
    done = door.commit(cleared, message, operation=operation, may_be_dirty=paths, seen=seen)
    return Expunged(made.target.id, made.entry.id, done.commit)
