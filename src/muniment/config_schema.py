"""Every settings key: its type, default, layer rules and meaning, in one table."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Key:
    """One setting.

    Attributes:
        kind: The type's name in messages; a checker in `check_value` belongs to it.
        default: The value without any file.
        meaning: One line for people.
        authority: Whether it gives authority (read from the upstream default branch only, C9).
        under_docs: Whether the default is relative to `docs_root`.
    """

    kind: str
    default: Any
    meaning: str
    authority: bool = False
    under_docs: bool = False


_LAYERS = ("code", "config", "prompt", "profile", "preference", "skill", "task", "tool", "docs")

KEYS: Mapping[str, Key] = {
    "actors": Key("mapping of text", {}, "Git e-mail → public handle, used in `actor`, `by` and `writer`."),
    "bots": Key("list of bots", (), "Bots whose reports `intake` collects: name, from, known_names."),
    "default_branch": Key("text", "", "The upstream default branch; empty: the remote's HEAD decides."),
    "digest": Key("anything", None, "Program that a review's digest is handed to."),
    "docs_root": Key("text", "docs", "Folder that everything under docs/ moves to."),
    "feedback_sources": Key("list of mappings", (), "Where feedback comes from; shared with other tools."),
    "gate_paths": Key("list of text", (), "More paths whose changed lines `check` passes through the gate."),
    "goals_path": Key("text", "goals", "Folder of goals.", under_docs=True),
    "judge": Key("anything", None, "Program that judges conversations."),
    "members": Key("anything", None, "Agents that produce candidates in rooms."),
    "owners": Key("list of text", (), "E-mails or signing keys of those who may decide.", authority=True),
    "pending_path": Key("text", "pending-verification.md", "Fixes waiting for proof.", under_docs=True),
    "plan_path": Key("text", "plans/feedback-sweep-plan.md", "The rolling plan.", under_docs=True),
    "relate_commits": Key("whole number", 5000, "How many of the newest commits `relate` reads."),
    "relate_paths": Key("list of text", (), "More files that hold owner decisions, for `relate`."),
    "require_signed_approvals": Key("yes or no", False, "Only signed commits approve.", authority=True),
    "require_verified_approvals": Key(
        "yes or no",
        False,
        "Approvals by flag, outside a terminal, never count.",
        authority=True,
    ),
    "review": Key("anything", None, "Settings of the conversation review."),
    "reviews_path": Key("text", "reviews", "Reports, ledger and triage files.", under_docs=True),
    "roadmap_path": Key("text", "ROADMAP.md", "The roadmap across goals.", under_docs=True),
    "sweep_ack_cap": Key("whole number", 25, "New acknowledgements per source and run."),
    "sweep_branch": Key("text", "", "Branch that a sweep commits on; empty: the default branch."),
    "sweep_lease_ttl_minutes": Key("number", 60, "How long a lease lives without renewal, in minutes."),
    "sweep_max_clock_skew_minutes": Key("number", 1440, "Clock difference allowed for, in minutes; 0: off."),
    "sweep_retry_ceiling": Key("whole number", 3, "Tries before an item counts as stuck."),
    "sweep_shared_branch": Key("text or no", "", "State branch shared through the remote; empty: off."),
    "sweep_state_path": Key("text", "feedback-sweep/state.yml", "The state file.", under_docs=True),
    "target_layers": Key("list of layer names", _LAYERS, "Layers that a finding may name."),
    "transcriber": Key("anything", None, "Program that transcribes recordings."),
    "trust_subjects": Key(
        "yes or no",
        False,
        "A pull-request number in a commit subject closes items.",
        authority=True,
    ),
    "version_tag": Key("tag pattern", "", "Tag pattern of a release, with {version} in it."),
}

PERSONAL = frozenset({"digest", "judge", "members", "review", "transcriber"})
"""Keys a person's own settings may hold: programs to run, and switches."""

_LAYER = re.compile(r"[a-z][a-z0-9_-]*\Z")
_MEANT = {
    "list of layer names": "a list of names, each of lower-case letters, digits, _ and -, a letter first",
    "tag pattern": "text with {version} in it exactly once",
}
_BOT_KEYS = ("name", "from", "known_names")


def suggestion(word: str, known: Iterable[str]) -> str:
    """` (did you mean X?)` for a near miss, to be set before a sentence's end; or nothing."""
    import difflib  # noqa: PLC0415 - only needed for a mistake

    near = difflib.get_close_matches(word, list(known), n=1, cutoff=0.6)
    return f" (did you mean {near[0]}?)" if near else ""


def check_value(key: str, kind: str, value: object) -> str:
    """What is wrong with a value for a key of `kind`; empty when nothing is."""
    good = _GOOD[kind](value)
    if not good:
        article = "a " if kind.startswith(("list", "mapping", "number", "tag", "whole")) else ""
        meant = _MEANT.get(kind, article + kind)
        return f"{key} must be {meant}" + ("." if kind in _MEANT else f", not {_shown(value)}.")
    return _bots_fault(value) if kind == "list of bots" else ""


def _texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


_GOOD: Mapping[str, Callable[[Any], bool]] = {
    "text": lambda v: isinstance(v, str),
    "text or no": lambda v: isinstance(v, str) or v is False,
    "yes or no": lambda v: isinstance(v, bool),
    "whole number": lambda v: isinstance(v, int) and not isinstance(v, bool) and v >= 0,
    "number": lambda v: isinstance(v, int | float) and not isinstance(v, bool) and v >= 0,
    "list of text": _texts,
    "list of layer names": lambda v: _texts(v) and all(_LAYER.match(name) for name in v),
    "tag pattern": lambda v: isinstance(v, str) and (not v or v.count("{version}") == 1),
    "mapping of text": lambda v: isinstance(v, dict) and _texts([*v, *v.values()]),
    "list of mappings": lambda v: isinstance(v, list) and all(isinstance(item, dict) for item in v),
    "list of bots": lambda v: isinstance(v, list),
    "anything": lambda _: True,
}


def _shown(value: object) -> str:
    names = {dict: "a mapping", list: "a list", str: "text", bool: "yes or no", int: "a number"}
    return "nothing" if value is None else names.get(type(value), "a number")


def _bots_fault(bots: object) -> str:
    seen: set[str] = set()
    for number, bot in enumerate(bots if isinstance(bots, list) else [], start=1):
        if not isinstance(bot, dict):
            return f"bots: entry {number} must be a mapping with name and from."
        for name, value in bot.items():
            if name not in _BOT_KEYS:
                return f"bots: entry {number} has the unknown key {name!r}{suggestion(str(name), _BOT_KEYS)}."
            if not isinstance(value, str) or not value:
                return f"bots: entry {number}: {name} must be text."
        if "name" not in bot or "from" not in bot:
            return f"bots: entry {number} needs name and from."
        if bot["name"] in seen:
            return f"bots: the name {bot['name']!r} stands twice."
        seen.add(bot["name"])
    return ""
