"""The rules of the report schema, one small function each; every fault is half a sentence for people (C3).

Pure. A fault never repeats free text of the report, only short words where a choice was wrong.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import date
from typing import Any

from muniment.config_schema import suggestion
from muniment.errors import UsageProblem
from muniment.ids import Fingerprint

LIMIT_TEXT = 2000
"""Longest excerpt or text field kept, in characters; cutting is said."""
LIMIT_IDS = 10_000
LIMIT_WORD = 200
LIMIT_SHOWN = 20
"""Longest wrong choice repeated in a message, in characters."""

FINDING_KEYS = (
    "id",
    "kind",
    "scope",
    "target_layer",
    "severity",
    "confidence",
    "space",
    "message_ids",
    "excerpt",
    "what_went_wrong",
    "proposed_improvement",
    "fingerprint",
)
REPORT_KEYS = (
    "schema",
    "bot",
    "version",
    "commit",
    "kind",
    "date",
    "window",
    "findings",
    "coverage",
    "weekly",
)
COVERAGE_KEYS = (
    "spaces",
    "exchanges",
    "skipped",
    "suppressed",
    "dropped",
    "spawns",
    "wall_seconds",
    "cost_usd",
)
WEEKLY_KEYS = ("clusters", "sample", "recall", "precision")

_CHOICES: Mapping[str, tuple[str, ...]] = {
    "kind": ("bug", "feature", "profile", "config"),
    "scope": ("global", "space"),
    "severity": ("high", "moderate", "minor"),
}
_REPORT_KINDS = ("daily", "weekly")
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/#-]{0,99}\Z")
_BOT = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}\Z")
_COMMIT = re.compile(r"[0-9a-fA-F]{7,64}\Z")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}\Z")


def header_faults(value: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What refuses the report as a whole: (key, sentence) pairs, in the schema's order."""
    if value.get("schema") != "muniment.report/1":
        return [("schema", _schema_fault(value.get("schema")))]
    faults = [(key, f"The key {key} is missing.") for key in REPORT_KEYS[:-1] if key not in value]
    faults += [
        (key, f"Unknown key {key[:60]!r}{suggestion(key, REPORT_KEYS)}.")
        for key in value
        if key not in REPORT_KEYS
    ]
    if not faults:
        faults = [(key, f"{key} {fault}.") for key, fault in _header_values(value) if fault]
    return faults


def _schema_fault(schema: object) -> str:
    match = re.match(r"muniment\.report/([0-9]+)\Z", schema) if isinstance(schema, str) else None
    if match and int(match[1]) > 1:
        return f"It is a report of schema {match[1]}; this Muniment reads schema 1. Upgrade Muniment."
    return 'It is no report: its schema is not "muniment.report/1".'


def _header_values(value: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    yield "bot", key_fault("bot", value["bot"])
    yield "version", _word_or_null(value["version"])
    yield "commit", _commit_fault(value["commit"])
    yield "kind", _choice(value["kind"], _REPORT_KINDS)
    yield "date", date_fault(value["date"])
    yield "window", _window_fault(value["window"])
    yield "findings", "" if isinstance(value["findings"], list) else "must be a list"
    yield "coverage", _members_fault(value["coverage"], COVERAGE_KEYS)
    weekly = value.get("weekly")
    yield "weekly", "" if weekly is None else _members_fault(weekly, WEEKLY_KEYS)


def key_fault(key: str, value: object) -> str:
    """Why a value can't be a finding's `id` or a report's `bot`; empty when it can."""
    pattern = _BOT if key == "bot" else _ID
    if isinstance(value, str) and pattern.match(value):
        return ""
    return "must be letters, digits and inner . _ -" + ("" if key == "bot" else " : / #")


def date_fault(value: object) -> str:
    """Why a value is no calendar date; empty when it is one."""
    if isinstance(value, str) and _DATE.match(value):
        try:
            date.fromisoformat(value)
        except ValueError:
            return "is not a day of the calendar"
        return ""
    return "must be a date, YYYY-MM-DD"


def _commit_fault(value: object) -> str:
    if value is None or (isinstance(value, str) and _COMMIT.match(value)):
        return ""
    return "must be a commit id in hex, or null"


def _word_or_null(value: object) -> str:
    if value is None or (isinstance(value, str) and len(value) <= LIMIT_WORD):
        return ""
    return f"must be text of at most {LIMIT_WORD} characters, or null"


def _window_fault(value: object) -> str:
    fault = _members_fault(value, ("since", "until"))
    if fault or not isinstance(value, dict):
        return fault
    return next((f"has a {key} that {bad}" for key in value if (bad := _word_or_null(value[key]))), "")


def _members_fault(value: object, known: tuple[str, ...]) -> str:
    if not isinstance(value, dict):
        return "must be an object"
    unknown = next((key for key in value if key not in known), None)
    return "" if unknown is None else f"has the unknown key {unknown[:60]!r}{suggestion(unknown, known)}"


def _choice(value: object, allowed: tuple[str, ...]) -> str:
    if isinstance(value, str) and value in allowed:
        return ""
    short = isinstance(value, str) and len(value) <= LIMIT_SHOWN
    shown = f", not {value!r}{suggestion(str(value), allowed)}" if short else ""
    words = " or ".join(filter(None, (", ".join(allowed[:-1]), allowed[-1])))
    return f"must be {words}{shown}"


def finding_fault(item: object, layers: tuple[str, ...] | None) -> str:
    """Why a finding is dropped as invalid; empty when it is not. Message ids are judged by `bad_ids`."""
    if not isinstance(item, dict):
        return "it is not an object"
    missing = [key for key in FINDING_KEYS if key not in item]
    if missing:
        return f"{', '.join(missing)} missing"
    unknown = next((key for key in item if key not in FINDING_KEYS), None)
    if unknown is not None:
        return f"unknown key {unknown[:60]!r}{suggestion(unknown, FINDING_KEYS)}"
    faults = (f"{key} {fault}" for key, fault in _finding_values(item, layers) if fault)
    return next(faults, "") or _fingerprint_fault(item)


def _finding_values(item: Mapping[str, Any], layers: tuple[str, ...] | None) -> Iterator[tuple[str, str]]:
    yield "id", key_fault("id", item["id"])
    for key, allowed in _CHOICES.items():
        yield key, _choice(item[key], allowed)
    yield "target_layer", _layer_fault(item["target_layer"], layers)
    yield "confidence", _confidence_fault(item["confidence"])
    space = item["space"]
    good = isinstance(space, str) and 0 < len(space) <= LIMIT_WORD
    yield "space", "" if good else f"must be text of 1 to {LIMIT_WORD} characters"
    for key in ("excerpt", "what_went_wrong", "proposed_improvement"):
        yield key, "" if isinstance(item[key], str) else "must be text"
    yield "what_went_wrong", "" if item["what_went_wrong"].strip() else "must not be empty"
    yield "message_ids", "" if isinstance(item["message_ids"], list) else "must be a list"


def _layer_fault(value: object, layers: tuple[str, ...] | None) -> str:
    if layers is None:
        return "" if isinstance(value, str) else "must be text"
    return _choice(value, layers) if layers else "has no allowed value: the settings list no target_layers"


def _confidence_fault(value: object) -> str:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    ok = number and 0 <= value <= 1  # type: ignore[operator]  # it is a number here
    return "" if ok else "must be a number from 0 to 1"


def _fingerprint_fault(item: Mapping[str, Any]) -> str:
    """The host rebuilds the fingerprint; one that differs is a mistake or a forgery (C3)."""
    given = item["fingerprint"]
    try:
        fingerprint = Fingerprint.parse(given) if isinstance(given, str) else None
    except UsageProblem:
        fingerprint = None
    if fingerprint is None:
        return "fingerprint must be kind/layer/slug, the slug lower-case words joined by - (at most 60)"
    built = Fingerprint.mint(item["kind"], item["target_layer"], fingerprint.slug)
    return "" if built == fingerprint else f"fingerprint must be {built}, from its kind, layer and slug"


def bad_ids(ids: list[Any]) -> str:
    """Why a finding's message ids can't be rows of a database; empty when they can."""
    if len(ids) > LIMIT_IDS:
        return f"it names more than {LIMIT_IDS} messages"
    if not all(isinstance(one, int) and not isinstance(one, bool) and 0 <= one < 2**63 for one in ids):
        return "message_ids must be whole numbers, the ids of messages"
    return "" if len(set(ids)) == len(ids) else "message_ids names a message twice"
