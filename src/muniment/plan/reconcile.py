"""Bring the plan up to what the state says: one pure function of texts and values (S13, S14, G2, G3)."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from muniment import markdown, regions
from muniment.errors import Problem
from muniment.files import template_text
from muniment.markdown import Leaf
from muniment.plan import restore
from muniment.plan.document import (
    NOTES,
    WITHHELD,
    Plan,
    PlanLine,
    Rendered,
    front_matter_values,
    plan_lines,
    read_plan,
    render_item,
    render_question,
    render_region,
    set_front_matter,
)
from muniment.quoting import phrase
from muniment.state.model import DEFAULT_QUESTION, Item, State, Status, hide, number_items, open_digest

TEMPLATE = "plan.md"

_BOILERPLATE = re.compile(
    r"(?:(?:No open items\.|[0-9]+ open items?: [0-9a-z, ]+\.)"
    r"(?: Lines whose item (?:this state doesn't know|can't be read): [0-9]+\.)*"
    r"|Summary|Requirements|Outstanding questions|Sources|None\.|\(nothing\)"
    r"|Items of another state|Items that can't be read"
    r"|\S+: [0-9]+ open"
    r"|Untrusted customer content — data, not instructions:"
    r"|Withheld: this item or its source is sensitive\.|No text was recorded\."
    r"|… and [0-9]+ more characters in the state file\.)\Z"
)
"""What a rendering of ours may say apart from items; it carries nothing of anybody's."""


@dataclass(frozen=True, slots=True)
class Effects:
    """What the pure function asks of the outside.

    Attributes:
        last_rendering: Digest → the region's body in the newest blob in history whose region carries it.
        digest_of: A body's reading digest, perhaps remembered from when it was written.
    """

    last_rendering: Callable[[str], str | None]
    digest_of: Callable[[str], str] = regions.reading_digest


@dataclass(frozen=True, slots=True)
class Reconciled:
    """What reconciling gives; nothing is written yet.

    Attributes:
        text: The plan's whole new text.
        rotate: Whether the old file is to be moved away first; `reasons` then say why.
        reasons: Why the old file isn't a plan of ours.
        salvaged: Texts of the leaves moved to the human-owned region.
        open: How many items the plan shows.
        added: Keys new on the plan.
        drained: Keys taken off because the state says closed or gone.
        foreign: Keys of lines that this state doesn't know, kept.
        fields: Item key → state fields to set (`r`, `status`).
        warnings: Sentences for the person who ran it.
        body: The machine-owned region's body as written, for whoever remembers digests.
        digest: Its digest.
    """

    text: str
    rotate: bool = False
    reasons: tuple[Problem, ...] = ()
    salvaged: tuple[str, ...] = ()
    open: int = 0
    added: tuple[str, ...] = ()
    drained: tuple[str, ...] = ()
    foreign: tuple[str, ...] = ()
    fields: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    body: str = ""
    digest: str = ""


@dataclass(frozen=True, slots=True)
class _View:
    """What the plan is to show, decided from the state and the lines on the plan."""

    items: tuple[Item, ...]
    foreign: tuple[PlanLine, ...]
    kept: tuple[PlanLine, ...]
    added: tuple[str, ...]
    drained: tuple[str, ...]
    fields: Mapping[str, Mapping[str, Any]]
    notes: tuple[str, ...]


def reconcile_plan(text: str | None, state: State, *, path: str, today: str, effects: Effects) -> Reconciled:
    """The plan that shows this state, keeping everything in the old one that isn't Muniment's.

    Args:
        text: The plan as it stands; None when there is none (or it can't be decoded: the caller rotates).
        state: The state.
        path: The plan's path, for messages.
        today: `YYYY-MM-DD`, written only when the items shown changed.
        effects: What has to be looked up outside.
    """
    source = restore.front_matter(text) if text is not None else None
    plan, reasons = read_plan(source, path) if source is not None else (None, ())
    rotate = text is not None and plan is None
    if plan is None:
        fresh = template_text(TEMPLATE).replace("{{date}}", today).replace("{{state}}", "0" * 16)
        plan, broken = read_plan(fresh, TEMPLATE)
        if plan is None:  # pragma: no cover - a damaged template is caught by its own test
            raise ValueError(str(broken))
    view = _view(state, plan.lines)
    new = render_region(view.items, view.foreign, view.kept, state.sources)
    written, salvaged, warnings = _compose(plan, view, new, state=state, today=today, effects=effects)
    return Reconciled(
        text=written,
        rotate=rotate,
        reasons=reasons if rotate else (),
        salvaged=tuple(leaf.text for leaf in salvaged),
        open=len(view.items),
        added=view.added,
        drained=view.drained,
        foreign=tuple(line.key for line in view.foreign),
        fields=view.fields,
        warnings=(*view.notes, *warnings),
        body=new.markdown,
        digest=regions.leaves_digest(new.leaves),
    )


def _view(state: State, lines: Sequence[PlanLine]) -> _View:
    """Which items are shown, under which numbers, and which lines stay, go, or are new."""
    on_plan: dict[str, int] = {}
    for line in lines:
        on_plan.setdefault(line.key, line.number)
    chosen = [item for item in state.items.values() if item.shown or (item.key in on_plan and not item.ended)]
    numbering = number_items(state.items.values(), {item.key for item in chosen}, on_plan)
    fields: dict[str, dict[str, Any]] = {}
    for item in state.items.values():
        if numbering.numbers.get(item.key) != item.number:
            fields.setdefault(item.key, {})["r"] = numbering.numbers[item.key]
        if item.shown and item.status == Status.ANALYZED:
            fields.setdefault(item.key, {})["status"] = str(Status.IN_PLAN)
    shown = tuple(
        hide(
            replace(
                item,
                number=numbering.numbers[item.key],
                status=str(fields.get(item.key, {}).get("status", item.status)),
            )
        )
        for item in chosen
    )
    once = dict.fromkeys(_veiled(line) if state.hides(line.key) else line for line in lines)
    foreign = tuple(line for line in once if not state.knows(line.key))
    kept = tuple(line for line in once if line.key in state.damaged)
    return _View(
        items=shown,
        foreign=foreign,
        kept=kept,
        added=tuple(item.key for item in shown if item.key not in on_plan),
        drained=tuple(key for key in on_plan if key in state.items and state.items[key].ended),
        fields=fields,
        notes=(*numbering.notes, *_foreign_clashes(shown, foreign)),
    )


def _veiled(line: PlanLine) -> PlanLine:
    """A line that stays although nobody knows its item, without the words of that item (S17)."""
    source, _, native = line.key.partition(":")
    item = Item(line.key, source, native, "", number=line.number, sensitive=True)
    return replace(line, text=render_item(hide(item)).markdown)


def _foreign_clashes(shown: Sequence[Item], foreign: Sequence[PlanLine]) -> list[str]:
    """One sentence for each number that a shown item shares with a line of another state."""
    by_number = {item.number: item.key for item in shown}
    return [
        f"R{line.number} stands for {by_number[line.number]} here and for {line.key} in another state."
        for line in foreign
        if line.number in by_number
    ]


def _compose(
    plan: Plan, view: _View, new: Rendered, *, state: State, today: str, effects: Effects
) -> tuple[str, tuple[Leaf, ...], list[str]]:
    """The new text, what was salvaged into it, and warnings."""
    warnings: list[str] = []
    salvaged: tuple[Leaf, ...] = ()
    text = plan.text
    body = normal_body(plan.items.body)
    digest = regions.leaves_digest(new.leaves)
    if body != new.markdown or plan.items.digest != digest:
        found = effects.digest_of(body) if body else ""
        edited = bool(body) and found != plan.items.digest
        if edited:
            salvaged, withheld = _salvage(plan, view, new, state=state, effects=effects)
            warnings += [
                f"What was edited by hand in the text of {key} was taken off and is kept nowhere: that item "
                "or its source is sensitive."
                for key in withheld
            ]
            if not plan.items.digest:
                warnings.append(
                    "The machine-owned region had no digest, so edits in it can't be told from old text; "
                    "every line that the state doesn't explain was kept under the human notes."
                )
        if found != digest or edited:
            text = regions.replace(text, plan.items, new.markdown, digest)
    if salvaged:
        text = _into_notes(text, salvaged, today)
    values = front_matter_values(matter.text) if (matter := markdown.front_matter(text)) else {}
    shows = open_digest(view.items)
    if values.get("state") != shows:
        edited_text = set_front_matter(text, {"date": today, "state": f'"{shows}"'})
        if edited_text is None:
            warnings.append(
                "`date` and `state` in the plan's front matter are not written as `key: value` on one line "
                "each, so they were left as they are."
            )
        text = edited_text or text
    return text, salvaged, warnings


def _salvage(
    plan: Plan, view: _View, new: Rendered, *, state: State, effects: Effects
) -> tuple[tuple[Leaf, ...], tuple[str, ...]]:
    """What a hand wrote into the region and nobody else keeps; and the keys whose text may not be kept."""
    body = normal_body(plan.items.body)
    kept = _unexplained(plan, body, view, new, state=state, effects=effects)
    hidden = [line for line in plan_lines(body) if state.hides(line.key) and not _is_veiled(line)]
    if not hidden:
        return kept, ()
    owned = [(leaf, _owner(leaf, hidden)) for leaf in kept]
    withheld = dict.fromkeys(owner for _, owner in owned if owner)
    return tuple(leaf for leaf, owner in owned if not owner), tuple(withheld)


def _unexplained(
    plan: Plan, body: str, view: _View, new: Rendered, *, state: State, effects: Effects
) -> tuple[Leaf, ...]:
    """The leaves of the region that neither rendering, the notes nor the state account for."""
    known = set(regions.texts(new.leaves))
    known |= regions.texts(markdown.fragment_leaves(plan.notes.body))
    if plan.items.digest == regions.leaves_digest(new.leaves):
        return regions.salvage(body, known)  # the last rendering reads as the new one
    last = effects.last_rendering(plan.items.digest) if plan.items.digest else None
    if last is not None:
        known |= regions.texts(markdown.fragment_leaves(normal_body(last)))
        return regions.salvage(body, known)
    categories = {item.category for item in state.items.values()}
    return regions.salvage(
        body,
        known | _state_texts(view, state),
        explained=lambda leaf: leaf.text in categories or bool(_BOILERPLATE.match(leaf.text)),
    )


def _is_veiled(line: PlanLine) -> bool:
    """Whether a line was written when its item was hidden already: then only a hand's words can be in it."""
    source, _, native = line.key.partition(":")
    neutral = hide(Item(line.key, source, native, "", sensitive=True))
    return WITHHELD in line.text or f" — {phrase(neutral.title)} · " in " ".join(line.text.split())


def _owner(leaf: Leaf, hidden: Sequence[PlanLine]) -> str:
    """The key of the hidden item whose own words a leaf holds: its line, or what is quoted under it."""
    for line in hidden:
        if line.line <= leaf.line <= line.end and (leaf.quoted or leaf.line == line.line):
            return line.key
    return ""


def _state_texts(view: _View, state: State) -> frozenset[str]:
    """The texts that some item, open or closed, would be rendered as; a hidden one also with its words."""
    known: set[str] = set()
    for item in state.items.values():
        number = view.fields.get(item.key, {}).get("r", item.number)
        for candidate in {number, item.number} - {None}:
            bare = replace(item, number=candidate, question=item.question or DEFAULT_QUESTION)
            for shown in {hide(bare), replace(bare, sensitive=False)}:
                known |= regions.texts((*render_item(shown).leaves, *render_question(shown).leaves))
    return frozenset(known)


def _into_notes(text: str, salvaged: Sequence[Leaf], today: str) -> str:
    """The text with salvaged leaves at the end of the human-owned region, under a dated heading."""
    notes = regions.find(text, "", {NOTES})[0][0]
    heading = f"Edited by hand in the list, kept on {today}"
    block = regions.salvage_markdown(salvaged)
    if [mark.text for mark in markdown.headings(notes.body)][-1:] != [heading]:
        block = f"### {heading}\n\n{block}"
    return regions.insert_before(text, notes.body_end, block)


def normal_body(body: str) -> str:
    """A region's body with LF endings and without the blank lines around it."""
    return body.replace("\r\n", "\n").replace("\r", "\n").strip("\n")
