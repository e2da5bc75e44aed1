"""What each action does (C10): a decided row becomes changes on the desk and drafts for the ledger.

No disk, no git, no clock. A row that can't be applied raises `RowRefused` and leaves nothing behind; the
caller gives each row its own fork of the desk.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from muniment import markdown, regions
from muniment.config import Config
from muniment.errors import MunimentError, UsageProblem
from muniment.ids import EntryId, Fingerprint
from muniment.intake import wording
from muniment.intake.desk import Desk, RowRefused
from muniment.intake.rows import Action, Decision, Row
from muniment.intake.wording import Evidence
from muniment.ledger.store import Draft
from muniment.quoting import code_text

MAX_TAKEN = 1000
"""How many numbered names are tried for a new document before the row is refused."""
MARKDOWN = (".md", ".markdown", ".mdx", ".mdown")


@dataclass(frozen=True, slots=True)
class Applied:
    """What one row comes to.

    Attributes:
        row: The row.
        decision: Its decision.
        drafts: Its alias and decision entries, in this order.
        desk: The desk with its changes.
        paths: The files it changes, in order; empty for a row that only the ledger records.
    """

    row: Row
    decision: Decision
    drafts: tuple[Draft, ...]
    desk: Desk
    paths: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Context:
    """What the effects of a batch depend on besides its rows.

    Attributes:
        config: The settings in force.
        batch: The batch's id.
        template: Name → the template's text.
        evidence: Row id → the findings that the row stands for, the main one first.
        canonical: A subject → the name that the ledger keeps its decisions under.
        current: A subject → the ids of its current decisions.
        round: Row id → how many decisions of this row the ledger already holds; part of operation keys.
    """

    config: Config
    batch: str
    template: Callable[[str], str]
    evidence: Mapping[str, Sequence[Evidence]]
    canonical: Callable[[str], str]
    current: Callable[[str], tuple[EntryId, ...]]
    round: Mapping[str, int] = field(default_factory=dict)


def apply_row(row: Row, desk: Desk, context: Context) -> Applied:
    """The effects of one decided row on a fork of the desk.

    Raises:
        RowRefused: A target is missing, leads out of the repository, is no Markdown, and the like.
    """
    decision = row.decision
    if decision is None:
        raise RowRefused("It is not decided.", "Decide it: muniment triage")
    if not context.evidence.get(row.row):
        raise RowRefused("Its finding can't be read from the report any more.", "Restore the report.")
    fork = desk.fork()
    try:
        extra = _EFFECTS[decision.action](row, decision, fork, context)
    except UnicodeDecodeError as error:
        raise RowRefused("Its target is not UTF-8.", "Save it as UTF-8, or choose another target.") from error
    paths = tuple(dict.fromkeys(change.path for change in fork.log[len(desk.log) :]))
    return Applied(row, decision, (*extra, _decision_draft(row, decision, context)), fork, paths)


def _decision_draft(row: Row, decision: Decision, context: Context) -> Draft:
    data: dict[str, Any] = {
        "subject": str(row.fingerprint),
        "action": decision.action.value,
        "proposed": row.proposed.action.value if row.proposed else "",
        "target": decision.target,
        "reason": decision.reason,
        "by": decision.by,
        "channel": decision.channel,
        "verified": decision.verified,
        "batch": context.batch,
        "row": row.row,
        "verify": row.verify.verdict.value if row.verify else "",
    }
    # The row's basis, which was checked, may hold the decisions on an alias's canonical subject too.
    basis: tuple[str, ...] | None = tuple(sorted(set(row.basis) & set(context.current(row.fingerprint))))
    if decision.action is Action.DUPLICATE:
        # It follows what the earlier subject's decisions are once the batch's other rows are recorded.
        data["target"], basis = _canonical(row, decision, context), None
    number = context.round.get(row.row, 0)
    op = f"decision:{context.batch}#{row.row}" + (f"/{number}" if number else "")
    return Draft("decision", data, op, basis)


def _nothing(row: Row, decision: Decision, desk: Desk, context: Context) -> list[Draft]:  # noqa: ARG001 - one signature for all
    """`reject` and `needs-owner` are recorded in the ledger alone: suppressed, or listed."""
    return []


def _known_limitation(row: Row, decision: Decision, desk: Desk, context: Context) -> list[Draft]:  # noqa: ARG001 - as above
    """The decision links the line that covers it, which must be there; the line itself stays as it is."""
    path, line = _target(decision)
    text = _read_text(desk, path)
    if line > len(markdown.lines_of(text)):
        raise RowRefused(f"{path} has no line {line}.", "Choose the line that covers it.")
    return []


def _duplicate(row: Row, decision: Decision, desk: Desk, context: Context) -> list[Draft]:  # noqa: ARG001 - as above
    """The finding counts as seen again; another slug becomes an alias of the earlier subject (C11)."""
    canonical = _canonical(row, decision, context)
    name = str(row.fingerprint)
    if context.canonical(name) == canonical:
        return []
    if context.canonical(name) != name:
        raise RowRefused(
            f"{name} is an alias of {context.canonical(name)} already.", "Undo that batch first."
        )
    data: dict[str, Any] = {
        "alias": name,
        "canonical": canonical,
        "by": decision.by,
        "channel": decision.channel,
        "verified": decision.verified,
        "batch": context.batch,
        "row": row.row,
    }
    if row.alias is not None and str(row.alias.canonical) == canonical:
        data["score_pm"] = row.alias.score_pm
    return [Draft("alias", data, f"alias:{name}={canonical}")]


def _canonical(row: Row, decision: Decision, context: Context) -> str:
    """The earlier subject that a duplicate follows: named by the target, by the row, or by its own name."""
    for name in (decision.target, str(row.alias.canonical) if row.alias else ""):
        try:
            return context.canonical(Fingerprint.parse(name))
        except UsageProblem:
            continue
    own = context.canonical(str(row.fingerprint))
    if own != str(row.fingerprint) or context.current(own):
        return own
    raise RowRefused(
        "It names no earlier finding that it is a duplicate of.",
        "Give its fingerprint as the target (kind/layer/slug).",
    )


def _attach(row: Row, decision: Decision, desk: Desk, context: Context) -> list[Draft]:
    """Append the evidence under `Evidence from review` of the target document."""
    path, _ = _target(decision)
    if _is_record(path, context.config):
        raise RowRefused(f"{path} is kept by Muniment.", "Choose a document of yours as the target.")
    text = _read_text(desk, path)
    block = wording.evidence_blocks(context.evidence[row.row], path)
    try:
        result = regions.append_under_heading(text, wording.EVIDENCE, block)
    except MunimentError as error:
        raise RowRefused(f"{path} can't take the evidence: {error.message}", error.hint) from error
    desk.write(path, result.encode("utf-8"), f"evidence from {_sources(row, context)} added")
    return []


def _fixed_not_deployed(row: Row, decision: Decision, desk: Desk, context: Context) -> list[Draft]:
    """A line waits for proof that the fix reached the running bot; a line that waits already is confirmed."""
    _pending(row, desk, context, f"the fix ({_shown(decision, desk, context)}) reaches the bot", decision)
    return []


def _revisit(row: Row, decision: Decision, desk: Desk, context: Context) -> list[Draft]:
    """A bug that links the closed item; a pending line where it is unclear whether the fix is active."""
    shown = _shown(decision, desk, context)
    if _unclear(row):
        _pending(row, desk, context, f"whether the fix ({shown}) is active in the bot", decision)
        return []
    place = _free_place(desk, context.config.stage_path("bugs"), row.fingerprint)
    linked = _shown(decision, desk, context, place)
    words = f"Reported again although this has landed, and the running bot contains it: {linked}."
    _create(row, desk, context, place, template="bug", words=words)
    return []


def _new(row: Row, decision: Decision, desk: Desk, context: Context) -> list[Draft]:
    """A bug, an idea, or the proposal of a profile or config edit with a pending line."""
    kind = (row.verify.kind if row.verify else "") or row.fingerprint.kind
    template = {"bug": "bug", "feature": "idea", "profile": "proposal", "config": "proposal"}.get(
        kind, "idea"
    )
    folder = context.config.stage_path("bugs" if kind == "bug" else "ideas")
    place = _free_place(desk, folder, row.fingerprint)
    _create(row, desk, context, place, template=template, words="")
    if template == "proposal":
        page = context.config.pending_path
        _pending(
            row, desk, context, f"the {kind} edit {wording.named(page, place)} is made and shows", decision
        )
    return []


_Effect = Callable[[Row, Decision, Desk, Context], list[Draft]]
_EFFECTS: Mapping[Action, _Effect] = {
    Action.REJECT: _nothing,
    Action.KNOWN_LIMITATION: _known_limitation,
    Action.DUPLICATE: _duplicate,
    Action.ATTACH: _attach,
    Action.FIXED_NOT_DEPLOYED: _fixed_not_deployed,
    Action.REVISIT: _revisit,
    Action.NEW: _new,
    Action.NEEDS_OWNER: _nothing,
}


def _unclear(row: Row) -> bool:
    """Whether the proposal says that nobody knows if the running bot contains the fix."""
    return any(proposal is not None and proposal.check for proposal in (row.proposed, row.if_real))


def _create(row: Row, desk: Desk, context: Context, place: str, *, template: str, words: str) -> None:
    text = wording.document(
        context.template(f"documents/{template}.md"), row, context.evidence[row.row], place, words
    )
    desk.write(place, text.encode("utf-8"), f"new {template} from {_sources(row, context)}")


def _pending(row: Row, desk: Desk, context: Context, proof: str, decision: Decision) -> None:
    page = context.config.pending_path
    data = desk.read(page)
    text = context.template("documents/pending.md") if data is None else _decoded(page, data)
    evidence = context.evidence[row.row]
    names = list(dict.fromkeys((str(row.fingerprint), context.canonical(str(row.fingerprint)))))
    pointed = _split(decision.target)
    index = wording.find_pending(text, names, pointed[1] if pointed[0] == page else 0)
    if index is not None:
        result = wording.extend_line(text, index, wording.confirmation(evidence, page))
        desk.write(page, result.encode("utf-8"), f"line {index + 1} confirmed by {_sources(row, context)}")
        return
    item = wording.pending_line(row, evidence, page, proof)
    result = wording.append_item(text, item)
    if wording.find_pending(result, names) is None:
        raise RowRefused(f"{page} ends inside a code or HTML block.", "Close the block, then preview again.")
    desk.write(page, result.encode("utf-8"), f"line added for {row.fingerprint}")


def _free_place(desk: Desk, folder: str, fingerprint: Fingerprint) -> str:
    """The first path for a new document that nothing lies at, on disk or from an earlier row."""
    for taken in range(MAX_TAKEN):
        place = f"{folder}/{wording.slug(fingerprint, taken)}.md"
        if desk.read(place) is None:
            return place
    raise RowRefused(f"{folder} holds {MAX_TAKEN} documents of that name.", "Attach to one of them.")


def _target(decision: Decision) -> tuple[str, int]:
    path, line = _split(decision.target)
    if not path:
        raise RowRefused(
            f"{decision.action.value} needs a target.", "Give one: muniment triage override ROW --target PATH"
        )
    return path, line


def _is_record(path: str, config: Config) -> bool:
    """Whether a file is a record, or a view of records, that nothing is attached to."""
    kept = {config.plan_path, config.sweep_state_path}
    return path in kept or path.startswith((f"{config.reviews_path}/", ".muniment/"))


def _split(target: str) -> tuple[str, int]:
    """PATH or PATH:LINE as path and 1-based line; 0 without one."""
    path, colon, line = target.rpartition(":")
    return (path, int(line)) if colon and line.isascii() and line.isdigit() else (target, 0)


def _read_text(desk: Desk, path: str) -> str:
    """A target document's text; it must exist and be Markdown in UTF-8."""
    if not path.lower().endswith(MARKDOWN):
        raise RowRefused(f"{path} is no Markdown file.", "Choose a document as the target.")
    data = desk.read(path)
    if data is None:
        raise RowRefused(f"{path} does not exist.", "Choose a target that exists, then preview again.")
    return _decoded(path, data)


def _decoded(path: str, data: bytes) -> str:
    if b"\0" in data:
        raise RowRefused(f"{path} is no text file.", "Choose a document as the target.")
    return data.decode("utf-8")


def _shown(decision: Decision, desk: Desk, context: Context, place: str = "") -> str:
    """The landed work that a decision points to: a link where it is a file here, else as it was given."""
    place = place or context.config.pending_path
    path, line = _split(decision.target)
    if not path:
        raise RowRefused(f"{decision.action.value} needs the landed work as its target.")
    if path.endswith(MARKDOWN):
        _read_text(desk, path)
        return wording.named(place, path, line)
    return code_text(decision.target)


def _sources(row: Row, context: Context) -> str:
    """The findings of a row in words, for the preview."""
    first = context.evidence[row.row][0]
    more = len(context.evidence[row.row]) - 1
    return f"{first.bot} {first.date} {first.finding.id}" + (f" and {more} more" if more else "")
