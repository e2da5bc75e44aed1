"""`undo`: one commit on HEAD that takes an applied batch back (G14).

Documents get the inverse three-way patch of what the batch did to them, so later edits elsewhere in them
stay; the ledger gets one `undo` entry, which makes the batch's entries fold as if absent. Undoing an undo
does the same to the undo's own patch. `git revert` is never run.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from muniment import approval, authority, publish, targets, threeway, tokens
from muniment.approval import Proposal, Token
from muniment.authority import Rules
from muniment.errors import CheckFailed, MunimentError, Problem, Refused, UsageProblem
from muniment.files import FileChange, read_bytes
from muniment.git.repo import Oid
from muniment.intake import landed
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
        entry: The id of the new `undo` entry.
        proposal: What a token binds.
    """

    target: Entry
    batch: str
    changes: tuple[FileChange, ...]
    log: tuple[Change, ...]
    before: Mapping[str, bytes | None]
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
    """What an undo did: its commit, the entry it undid, and the batch."""

    commit: str
    undoes: str
    batch: str


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
        "reason": reason,
        "include_dirty": "\n".join(dirty),
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
    return Undone(commit, token.options["target"], token.options["batch"])


def now(
    ws: Workspace, rev: str | None, *, terminal: bool, reason: str = "", include_dirty: Iterable[str] = ()
) -> Undone:
    """Preview and confirm in one, for a person who said yes (`--yes`)."""
    shown = preview(ws, rev, terminal=terminal, reason=reason, include_dirty=include_dirty)
    return confirm(ws, shown.token.token, terminal=terminal)


def _act(ws: Workspace, door: publish.Door, token: Token) -> str:
    options = token.options
    dirty = [path for path in options["include_dirty"].split("\n") if path]
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
        include_dirty=frozenset(dirty),
        may_be_dirty=frozenset({ws.config.ledger_path}),
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
    before, after, log = _documents(ws, target)
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
        "changes": [
            {"path": path, "old": _blob(ws, path, before[path]), "new": _blob(ws, path, after[path])}
            for path in sorted(after)
        ],
    }
    appended = store.append(ws, ledger, [Draft("undo", data, op=f"undo:{target.id}/{number}", at=at)])
    changes = (*(FileChange(path, after[path]) for path in sorted(after)), *appended.changes)
    lines = (*log, Change(ledger.path, f"1 entry added: undo of {target.kind} {target.id.short}"))
    targets.require_clean(ws, [change.path for change in changes], {*include_dirty, ledger.path})
    found = {**before, ledger.path: ledger.data}
    proposal = _proposal(ws, rules, target, found, changes)
    return Plan(target, batch, changes, lines, before, appended.entries[0].id, proposal)


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
        live = [entry for entry in ledger.entries if entry.kind == "applied" and entry.id not in gone]
        if not live:
            raise CheckFailed(
                "There is no applied batch to undo.", "See `muniment ledger log --kind applied`."
            )
        return live[-1]
    entry = ledger.whole.entries.get(rev) or _made_by(ws, ledger, rev)
    if entry.kind not in {"applied", "undo"}:
        raise UsageProblem(f"{rev} is a {entry.kind}; a batch (`applied`) or an `undo` can be undone.")
    if entry.expunged:
        raise Refused(f"The body of {entry.id.short} was expunged, so it can't be undone.")
    if entry.id in gone:
        raise Refused(
            f"The {entry.kind} {entry.id.short} is undone already. Nothing was written.",
            "To apply it again, undo that undo: muniment undo COMMIT-OF-THE-UNDO",
            code="already-undone",
        )
    return entry


def _made_by(ws: Workspace, ledger: Ledger, rev: str) -> Entry:
    commit = store.resolve(ws, rev)
    found = [
        ledger.whole.entries[identity]
        for identity in landed.entries_made(ws, commit, ledger.path)
        if identity in ledger.whole.entries
    ]
    acts = [entry for entry in found if entry.kind in {"applied", "undo"}]
    if not acts:
        raise UsageProblem(
            f"Commit {commit.short} applied no batch that this branch's ledger knows.",
            "See `muniment ledger log --kind applied`.",
        )
    if len(acts) > 1:
        named = ", ".join(entry.id for entry in acts)
        raise UsageProblem(
            f"Commit {commit.short} holds {len(acts)} acts: {named}.", "Name one of these ids."
        )
    return acts[0]


def _batch_of(ledger: Ledger, entry: Entry) -> str:
    """The batch that an entry belongs to, through undos of undos."""
    seen = set()
    while entry.kind == "undo" and entry.id not in seen:
        seen.add(entry.id)
        below = ledger.whole.entries.get(str(entry.data.get("undoes")))
        if below is None:
            break
        entry = below
    return str(entry.data.get("batch", ""))


def _documents(
    ws: Workspace, target: Entry
) -> tuple[dict[str, bytes | None], dict[str, bytes | None], list[Change]]:
    """Each document as it is now and as it will be, and what is done to it; or `Refused` with the hunks."""
    before: dict[str, bytes | None] = {}
    after: dict[str, bytes | None] = {}
    log: list[Change] = []
    problems: list[Problem] = []
    for path, old, new in _recorded(target):
        targets.require_plain(ws, (path,))
        place = ws.path(path)
        now_there = read_bytes(place) if place.exists() else None
        before[path] = now_there
        merged = _inverse(ws, path, old, new, now_there)
        if isinstance(merged, list):
            problems += merged
        elif merged.data != now_there:
            after[path] = merged.data
            log.append(Change(path, _what(now_there, merged.data)))
    if problems:
        raise Refused(
            f"Later edits overlap with what would be undone: {problems[0]} Nothing was written.",
            "Edit these places by hand, or undo the later batch first.",
            code="overlap",
            problems=tuple(problems),
        )
    return before, after, log


@dataclass(frozen=True, slots=True)
class _Result:
    data: bytes | None


def _inverse(
    ws: Workspace, path: str, old: Oid | None, new: Oid | None, present: bytes | None
) -> _Result | list[Problem]:
    """The document with the batch's change taken out, or the places where that can't be done."""
    try:
        base, back = _as_here(ws, path, new, present), _as_here(ws, path, old, present)
    except MunimentError as error:
        return [_overlap(path, 0, f"The text before the batch isn't in this clone: {error}")]
    if present == base or (present == back and present is not None):
        return _Result(back)
    if present is None:
        return _gone(ws, path, back)
    if base is None:
        return [_overlap(path, 1, "The batch's undo removed it, and a file of that name was made since.")]
    return _merged(path, base, present, back)


def _merged(path: str, base: bytes, present: bytes, back: bytes | None) -> _Result | list[Problem]:
    """The three-way patch of a document that was edited since, or its overlaps."""
    if back is None:
        edits = threeway.edits(threeway.split(base), threeway.split(present))
        lines = [edit.start + 1 for edit in edits]
        return [_overlap(path, line, "It was edited after the batch created it.") for line in lines]
    merged = threeway.merge(base, present, back)
    if merged.data is not None:
        return _Result(merged.data)
    return [
        _overlap(path, hunk.first, f"Lines {hunk.first}-{hunk.last} were edited after the batch.")
        for hunk in merged.hunks
    ]


def _as_here(ws: Workspace, path: str, blob: Oid | None, present: bytes | None) -> bytes | None:
    """A blob's bytes with the line endings that the file has here, whatever a checkout would give it now."""
    if blob is None:
        return None
    data = ws.repo.blob(blob)
    converted = present is None or (b"\r\n" in data) != (b"\r\n" in present)
    return ws.repo.smudge(path, blob) if converted else data


def _gone(ws: Workspace, path: str, back: bytes | None) -> _Result | list[Problem]:
    """A document that the batch touched is not there any more: moved, or deleted."""
    head = ws.repo.head().commit
    name = posixpath.basename(path)
    root = ws.config.docs_root
    twins = (
        []
        if head is None
        else [entry.path for entry in ws.repo.entries(head, root) if posixpath.basename(entry.path) == name]
    )
    if twins:
        return [_overlap(path, 0, f"It was moved after the batch, it seems to {twins[0]}.")]
    if back is None:
        return _Result(None)  # created by the batch and deleted since: what undo would do is done
    return [_overlap(path, 0, "It was deleted after the batch.")]


def _overlap(path: str, line: int, message: str) -> Problem:
    return Problem(path, line, "undo-overlap", message)


def _what(now_there: bytes | None, then: bytes | None) -> str:
    if then is None:
        return "deleted, as the batch created it"
    if now_there is None:
        return "created again"
    return "what the batch changed is taken back"


def _recorded(target: Entry) -> list[tuple[str, Oid | None, Oid | None]]:
    """The (path, old blob, new blob) of each document that an act changed; raises `Refused` when damaged."""
    found = []
    listed = target.data.get("changes", [])
    for change in listed if isinstance(listed, list) else [None]:
        if not isinstance(change, dict) or not isinstance(change.get("path"), str):
            raise Refused(f"The {target.kind} {target.id.short} doesn't say what it changed.")
        sides = (change.get("old"), change.get("new"))
        if not all(side is None or isinstance(side, str) for side in sides):
            raise Refused(f"The {target.kind} {target.id.short} doesn't say what it changed.")
        found.append((change["path"], *(None if side is None else Oid(side) for side in sides)))
    return found


def _blob(ws: Workspace, path: str, data: bytes | None) -> str | None:
    return None if data is None else ws.repo.clean(path, data)


def _message(plan: Plan) -> str:
    verb = "Apply again" if plan.again else "Undo"
    lines = [f"{verb} triage batch {landed.plain(plan.batch)}", ""]
    lines += [f"- {landed.plain(change.path)}: {change.what}" for change in plan.log]
    return "\n".join(lines)
