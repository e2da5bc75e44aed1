"""A report's data, `report.json`: read it whole, check it against a closed schema, or say why not (C3, C4).

Pure. What a bot's judge wrote is untrusted: nothing in it is believed (the host builds the fingerprint),
a bad finding is dropped, counted and named, and a bad report is refused without touching the others.
The same rules stand as JSON Schema in `docs/formats/report.schema.json`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from muniment.errors import Problem
from muniment.findings_rules import (
    COVERAGE_KEYS,
    FINDING_KEYS,
    LIMIT_TEXT,
    REPORT_KEYS,
    WEEKLY_KEYS,
    bad_ids,
    date_fault,
    finding_fault,
    header_faults,
    key_fault,
)
from muniment.ids import Fingerprint

SCHEMA = "muniment.report/1"
MAX_REPORT_BYTES = 16 * 1024 * 1024
"""Largest report read, in bytes."""
MAX_DEPTH = 32
_SHOWN_KEY = 40
"""Longest key that a JSON pointer repeats, in characters: keys are untrusted text."""
SEVERITIES = ("high", "moderate", "minor")
"""Most severe first."""

__all__ = [
    "COVERAGE_KEYS",
    "FINDING_KEYS",
    "LIMIT_TEXT",
    "MAX_REPORT_BYTES",
    "REPORT_KEYS",
    "SCHEMA",
    "SEVERITIES",
    "WEEKLY_KEYS",
    "Finding",
    "Report",
    "ReportError",
    "date_fault",
    "load_json",
    "parse_report",
    "strings",
]


class ReportError(ValueError):
    """The bytes are no report at all; `line` is 1-based, 0 when unknown."""

    def __init__(self, message: str, line: int = 0) -> None:
        super().__init__(message)
        self.line = line


@dataclass(frozen=True, slots=True)
class Finding:
    """One claimed problem: a hypothesis until triage verifies it.

    Attributes:
        confidence: 0 to 1; shown and used for order, never a threshold.
        message_ids: Rows of the bot's database that it was judged from.
        cut: Names of the text fields that were longer than `LIMIT_TEXT` characters.
    """

    id: str
    kind: str
    scope: str
    target_layer: str
    severity: str
    confidence: float
    space: str
    message_ids: tuple[int, ...]
    excerpt: str
    what_went_wrong: str
    proposed_improvement: str
    fingerprint: Fingerprint
    cut: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """The slug as words: the only title a finding has that needs no escaping."""
        return title_of(self.fingerprint)

    def as_json(self) -> dict[str, Any]:
        """The finding in the contract's keys."""
        return {
            "id": self.id,
            "kind": self.kind,
            "scope": self.scope,
            "target_layer": self.target_layer,
            "severity": self.severity,
            "confidence": self.confidence,
            "space": self.space,
            "message_ids": list(self.message_ids),
            "excerpt": self.excerpt,
            "what_went_wrong": self.what_went_wrong,
            "proposed_improvement": self.proposed_improvement,
            "fingerprint": str(self.fingerprint),
        }


@dataclass(frozen=True, slots=True)
class Report:
    """A dated set of findings about one bot.

    Attributes:
        version: The bot's running version as it names itself; empty when unknown.
        commit: The running version's commit id; empty when unknown.
        since: Start of the window, as written; empty when not stated.
        coverage: What was looked at, as written.
        weekly: The weekly synthesis, as written; None for a daily report.
        invalid: Findings dropped here because they broke the schema.
        bad_ids: Findings dropped here because of their message ids.
    """

    bot: str
    version: str
    commit: str
    kind: str
    date: str
    since: str
    until: str
    findings: tuple[Finding, ...]
    coverage: Mapping[str, Any] = field(default_factory=dict)
    weekly: Mapping[str, Any] | None = None
    invalid: int = 0
    bad_ids: int = 0

    @property
    def stem(self) -> str:
        """The file name of the copy in the repository, without suffix: built from checked parts only."""
        return f"{self.date}-{self.bot}-{self.kind}"

    def finding(self, native: str) -> Finding | None:
        """The finding with that id, or None."""
        return next((finding for finding in self.findings if finding.id == native), None)


def title_of(fingerprint: Fingerprint) -> str:
    """A fingerprint's slug as words with a capital: `reminder-sent-twice` → `Reminder sent twice`."""
    words = fingerprint.slug.replace("-", " ")
    return words[:1].upper() + words[1:]


def load_json(data: bytes) -> Any:
    """Read JSON that has one meaning only.

    Raises:
        ReportError: Too large, not UTF-8, a byte-order mark, not JSON, truncated, a key twice, nested
            too deep, NaN or Infinity, or a lone surrogate.
    """
    if len(data) > MAX_REPORT_BYTES:
        raise ReportError(f"It has {len(data)} bytes; at most {MAX_REPORT_BYTES} are read.")
    if data.startswith(b"\xef\xbb\xbf"):
        raise ReportError("It starts with a byte-order mark; save it as UTF-8 without one.", 1)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        kind = "binary data" if b"\0" in data[:4096] else "not UTF-8"
        raise ReportError(f"It is {kind} (byte {error.start}).", line) from error
    try:
        value = json.loads(text, object_pairs_hook=_once, parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        end = error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated string")
        what = "It ends in the middle; is it truncated?" if end else f"It is not JSON: {error.msg}."
        raise ReportError(what, error.lineno) from error
    except RecursionError as error:
        raise ReportError("It is nested too deep.") from error
    except ValueError as error:  # our own hooks, and integers of thousands of digits
        known = isinstance(error, ReportError)
        raise ReportError(str(error) if known else "A number in it is too long.", 0) from error
    _check_shape(value, MAX_DEPTH)
    return value


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise ReportError(f"The key {key[:60]!r} stands twice in one object.")
        found[key] = value
    return found


def _no_constant(word: str) -> Any:
    raise ReportError(f"{word} is not JSON.")


def _check_shape(value: Any, depth: int) -> None:
    if depth == 0:
        raise ReportError(f"It is nested deeper than {MAX_DEPTH} levels.")
    if isinstance(value, str):
        _check_text(value)
    elif isinstance(value, dict):
        for key, inner in value.items():
            _check_text(key)
            _check_shape(inner, depth - 1)
    elif isinstance(value, list):
        for inner in value:
            _check_shape(inner, depth - 1)
    elif isinstance(value, float) and abs(value) == float("inf"):
        raise ReportError("A number in it is too large.")


def _check_text(text: str) -> None:
    if not text.isascii() and re.search("[\ud800-\udfff]", text):
        raise ReportError("A text in it holds half of a surrogate pair, which is no character.")


def strings(value: Any, pointer: str = "") -> Iterable[tuple[str, str]]:
    """Every text in a JSON value, keys included, with its JSON pointer (RFC 6901), in order."""
    if isinstance(value, str):
        yield pointer, value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield f"{pointer} (a key)", key
            step = key.replace("~", "~0").replace("/", "~1") if len(key) <= _SHOWN_KEY else "…"
            yield from strings(inner, f"{pointer}/{step}")
    elif isinstance(value, list):
        for position, inner in enumerate(value):
            yield from strings(inner, f"{pointer}/{position}")


def parse_report(
    data: bytes, path: str, layers: Iterable[str] | None
) -> tuple[Report | None, tuple[Problem, ...]]:
    """Read and check one report.

    Args:
        data: The file's bytes; the gate has already passed them.
        path: For messages.
        layers: The target layers that a finding may name (`target_layers` of the settings); None for
            any, for a copy that was checked when it was taken in.

    Returns:
        The report with its valid findings, or None when the report as a whole is refused; and every
        problem. Rules: `report` (refused), `finding` and `bad-ids` (dropped), `cut` (kept, shortened).
    """
    try:
        value = load_json(data)
    except ReportError as error:
        return None, (Problem(path, error.line, "report", str(error)),)
    if not isinstance(value, dict):
        return None, (Problem(path, 1, "report", "It is not a JSON object."),)
    faults = header_faults(value)
    if faults:
        return None, tuple(Problem(path, _line(data, f'"{key}"'), "report", text) for key, text in faults)
    report = _header(value)
    return _with_findings(report, value["findings"], data, path, None if layers is None else tuple(layers))


def _header(value: Mapping[str, Any]) -> Report:
    window = value["window"] or {}
    return Report(
        bot=value["bot"],
        version=value["version"] or "",
        commit=value["commit"] or "",
        kind=value["kind"],
        date=value["date"],
        since=window.get("since") or "",
        until=window.get("until") or "",
        findings=(),
        coverage=value["coverage"],
        weekly=value.get("weekly"),
    )


def _with_findings(
    report: Report, items: list[Any], data: bytes, path: str, layers: tuple[str, ...] | None
) -> tuple[Report, tuple[Problem, ...]]:
    kept: dict[str, Finding] = {}
    problems: list[Problem] = []
    dropped = {"finding": 0, "bad-ids": 0}
    for number, item in enumerate(items):
        native = item.get("id") if isinstance(item, dict) else None
        plain = native if isinstance(native, str) and key_fault("id", native) == "" else ""
        name = f"findings[{number}] ({plain})" if plain else f"findings[{number}]"
        line = _line(data, f'"{plain}"') if plain else 0
        rule, fault = _fault(item, plain in kept, layers)
        if fault:
            dropped[rule] += 1
            problems.append(Problem(path, line, rule, f"{name} is dropped: {fault}."))
            continue
        finding = _finding(item)
        kept[plain] = finding
        problems += [
            Problem(path, line, "cut", f"{name}: {key} is cut to {LIMIT_TEXT} characters.")
            for key in finding.cut
        ]
    found = replace(
        report, findings=tuple(kept.values()), invalid=dropped["finding"], bad_ids=dropped["bad-ids"]
    )
    return found, tuple(problems)


def _fault(item: Any, again: bool, layers: tuple[str, ...] | None) -> tuple[str, str]:
    """The rule and the words for what drops a finding; the words are empty for a good one."""
    fault = finding_fault(item, layers)
    if fault or again:
        return "finding", fault or "another finding has its id"
    return "bad-ids", bad_ids(item["message_ids"])


def _finding(item: Mapping[str, Any]) -> Finding:
    texts = {key: item[key] or "" for key in ("excerpt", "what_went_wrong", "proposed_improvement")}
    return Finding(
        id=item["id"],
        kind=item["kind"],
        scope=item["scope"],
        target_layer=item["target_layer"],
        severity=item["severity"],
        confidence=float(item["confidence"]),
        space=item["space"] or "",
        message_ids=tuple(item["message_ids"]),
        excerpt=cut_text(texts["excerpt"]),
        what_went_wrong=cut_text(texts["what_went_wrong"]),
        proposed_improvement=cut_text(texts["proposed_improvement"]),
        fingerprint=Fingerprint.parse(item["fingerprint"]),
        cut=tuple(key for key, text in texts.items() if len(text) > LIMIT_TEXT),
    )


def cut_text(text: str) -> str:
    """A text at most `LIMIT_TEXT` characters long, with what was cut said at its end."""
    if len(text) <= LIMIT_TEXT:
        return text
    return f"{text[:LIMIT_TEXT]}… [{len(text) - LIMIT_TEXT} more characters cut]"


def _line(data: bytes, needle: str) -> int:
    """The 1-based line where a piece of JSON text first stands, 0 when it doesn't."""
    at = data.find(needle.encode("utf-8", "replace"))
    return data[:at].count(b"\n") + 1 if at >= 0 else 0
