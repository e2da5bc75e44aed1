"""The fixed-key lines of a triage file: records to lines and back, exactly (C9).

Pure. A line is a list item `- key: value`. Values that programs need exactly (paths, ids, fingerprints)
stand in code spans, words from fixed sets stand bare, free text comes last and is escaped, so that what is
read back is what was meant, also after a Markdown formatter has been over the file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import quote

from muniment.errors import UsageProblem
from muniment.ids import EntryId, Fingerprint
from muniment.intake.rows import Action, Alias, Proposal, RelatedLine, Row, Suppressed, Verdict, Verification
from muniment.quoting import code_text, phrase, read_code, visible

SEPARATOR = " · "
NONE = "none"
CHECK = " as a pending check"
FACT_KEYS = (
    "row",
    "finding",
    "also",
    "value",
    "verified",
    "verifier",
    "alias",
    "related",
    "proposed",
    "if-real",
    "basis",
)
"""Lines that Muniment writes, in their order; the row's digest covers them.

`verifier` is written `by`, as is whoever decided: the gate lets a person's own name stand in that field.
"""
BY = "by"
DIGEST = "digest"
"""The line above the decision that says which reading of the row it is for."""
EARLIER = "earlier"
"""What a decision about an earlier reading said; kept for people, read by nobody."""
DECISION_KEYS = ("decision", "target", "reason", "layer", "text", BY)
"""Lines that people write; everything in them is theirs."""

_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")
_CODE = re.compile(r"`([^`]*)`")
_SPACES = re.compile(r"\s+")


class LineError(ValueError):
    """A fixed-key line that Muniment didn't write so."""


def normal(text: str) -> str:
    """Free text as a line keeps it: one line, hidden characters shown, without the separator's dot."""
    return visible(_SPACES.sub(" ", text).strip()).replace("·", "-")


def read_text(raw: str) -> str:
    """What a reader sees of escaped free text."""
    return _ESCAPED.sub(r"\1", _SPACES.sub(" ", raw)).strip()


def split(raw: str, most: int) -> list[str]:
    """A value's parts at ` · ` outside code spans, at most `most` of them (the rest stays in the last)."""
    parts: list[str] = []
    start = position = 0
    in_code = False
    while position < len(raw) and len(parts) < most - 1:
        if raw[position] == "`":
            in_code = not in_code
        elif raw[position] == "\\" and not in_code:
            position += 1
        elif not in_code and raw.startswith(SEPARATOR, position):
            parts.append(raw[start:position])
            position += len(SEPARATOR)
            start = position
            continue
        position += 1
    return [*(part.strip() for part in parts), raw[start:].strip()]


def fact_lines(row: Row, folder: str) -> Iterator[tuple[str, str]]:
    """A row's machine-written (key, value) pairs, in order; `folder` is the triage file's own."""
    yield "row", code_text(row.row)
    yield "finding", _finding_value(row.fingerprint, row.report, str(row.finding["id"]), folder)
    for report, native in row.also:
        yield "also", _source(report, native, folder)
    yield "value", _value_text(row.value or {})
    yield "verified", _verified_text(row.verify)
    if row.verify:
        yield BY, phrase(row.verify.by)
    if row.alias:
        scores = f"score {row.alias.score_pm}{SEPARATOR}threshold {row.alias.threshold_pm}"
        yield "alias", f"{code_text(row.alias.canonical)}{SEPARATOR}{scores}"
    for related in row.related:
        yield "related", _related_text(related, folder)
    if row.proposed:
        yield "proposed", _proposal_text(row.proposed)
    if row.if_real:
        yield "if-real", _proposal_text(row.if_real)
    if row.basis:
        yield "basis", ", ".join(code_text(entry) for entry in row.basis)


def read_facts(facts: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    """The fields of a `Row` that its fact lines hold; raises `LineError` naming what is wrong.

    `facts` maps each key to the raw values of its lines. `finding` (the data) and `line` are not in it.
    """
    for key in (*FACT_KEYS, DIGEST):
        several = key in {"also", "related"}
        if len(facts.get(key, ())) > 1 and not several:
            raise LineError(f"it has {len(facts[key])} lines {key!r}; one is right")
    needed = ("row", "finding", "value", "verified", "proposed", DIGEST)
    missing = [key for key in needed if key not in facts]
    if missing:
        raise LineError(f"the line {missing[0]!r} is missing")
    one = {key: values[0] for key, values in facts.items() if values}
    fingerprint, report, native = _read_finding(one["finding"])
    return {
        "row": _code(one["row"]),
        "fingerprint": fingerprint,
        "report": report,
        "native": native,
        "also": tuple(_read_source(raw) for raw in facts.get("also", ())),
        "value": _read_value(one["value"]),
        "verify": _read_verified(one["verified"], read_text(one.get("verifier", ""))),
        "alias": _read_alias(one["alias"]) if "alias" in one else None,
        "related": tuple(_read_related(raw) for raw in facts.get("related", ())),
        "proposed": _read_proposal(one["proposed"]),
        "if_real": _read_proposal(one["if-real"]) if "if-real" in one else None,
        "basis": tuple(EntryId(entry) for entry in _codes(one.get("basis", ""))),
        "digest": _code(one[DIGEST]),
    }


def suppressed_text(item: Suppressed, folder: str) -> str:
    """The value of a `suppressed` line."""
    where = _finding_value(item.fingerprint, item.report, item.finding, folder)
    return f"{where}{SEPARATOR}{phrase(item.reason)}"


def read_suppressed(raw: str) -> Suppressed:
    """Read a `suppressed` line's value; raises `LineError`."""
    parts = split(raw, 4)
    if len(parts) != 4:  # noqa: PLR2004 - fingerprint, report, finding, reason
        raise LineError("a suppressed line needs fingerprint, report, finding and reason")
    fingerprint, report, native = _read_finding(SEPARATOR.join(parts[:3]))
    return Suppressed(report, native, fingerprint, read_text(parts[3]))


def linked(path: str, line: int, folder: str) -> str:
    """A repository path as a link from a file in `folder`, its text a code span `PATH[:LINE]`."""
    shown = f"{path}:{line}" if line else path
    steps = folder.split("/")
    parts = path.split("/")
    common = 0
    while common < min(len(steps), len(parts) - 1) and steps[common] == parts[common]:
        common += 1
    target = "/".join([".."] * (len(steps) - common) + parts[common:])
    address = quote(target.encode("utf-8", "surrogateescape"), safe="/-._~")
    return f"[{code_text(_decoded(shown))}]({address})"


def _decoded(path: str) -> str:
    """A path whose undecodable bytes (surrogate escapes) are shown, since UTF-8 can't hold them."""
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _finding_value(fingerprint: Fingerprint, report: str, native: str, folder: str) -> str:
    return f"{code_text(fingerprint)}{SEPARATOR}{_source(report, native, folder)}"


def _source(report: str, native: str, folder: str) -> str:
    return f"{linked(report, 0, folder)}{SEPARATOR}{code_text(native)}"


def _read_finding(raw: str) -> tuple[Fingerprint, str, str]:
    parts = split(raw, 2)
    if len(parts) != 2:  # noqa: PLR2004 - fingerprint, source
        raise LineError("the line 'finding' needs fingerprint, report and finding id")
    try:
        fingerprint = Fingerprint.parse(_code(parts[0]))
    except UsageProblem as error:
        raise LineError(error.message) from error
    return (fingerprint, *_read_source(parts[1]))


def _read_source(raw: str) -> tuple[str, str]:
    codes = _codes(raw)
    if len(codes) != 2:  # noqa: PLR2004 - report path, finding id
        raise LineError("a source needs the report's path and the finding's id")
    return codes[0], codes[1]


def _value_text(value: Mapping[str, Any]) -> str:
    parts = []
    for key, point in value.items():
        if isinstance(point, list | tuple):
            parts.append(f"{key} {', '.join(code_text(str(one)) for one in point) or NONE}")
        else:
            parts.append(f"{key} {phrase(str(point))}")
    return SEPARATOR.join(parts) or NONE


def _read_value(raw: str) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for part in split(raw, 100):
        key, _, rest = part.partition(" ")
        if key == NONE and not rest:
            continue
        if rest.startswith("`") or rest == NONE:
            value[key] = _codes(rest)
        else:
            value[key] = int(rest) if rest.isdigit() else read_text(rest)
    return value


def _verified_text(verify: Verification | None) -> str:
    if verify is None:
        return "not yet"
    parts = (verify.kind or NONE, verify.scope or NONE, verify.target_layer or NONE)
    return SEPARATOR.join((verify.verdict.value, *parts, phrase(verify.reason) or NONE))


def _read_verified(raw: str, by: str) -> Verification | None:
    if raw == "not yet":
        return None
    parts = split(raw, 5)
    if len(parts) != 5:  # noqa: PLR2004 - see _verified_text
        raise LineError("the line 'verified' is incomplete; `muniment triage verify` writes it")
    try:
        verdict = Verdict(parts[0])
    except ValueError as error:
        raise LineError(f"{parts[0][:40]!r} is no verdict; use real, not-real or unsure") from error
    kind, scope, layer = ("" if part == NONE else part for part in parts[1:4])
    return Verification(verdict, _or_empty(parts[4]), by, kind, scope, layer)


def _read_alias(raw: str) -> Alias:
    parts = split(raw, 3)
    scores = [re.fullmatch(r"(?:score|threshold) ([0-9]{1,4})", part) for part in parts[1:]]
    if len(scores) != 2 or not all(scores):  # noqa: PLR2004 - score, threshold
        raise LineError("the line 'alias' needs fingerprint, score and threshold")
    try:
        canonical = Fingerprint.parse(_code(parts[0]))
    except UsageProblem as error:
        raise LineError(error.message) from error
    return Alias(canonical, *(int(score[1]) for score in scores if score))


def _related_text(line: RelatedLine, folder: str) -> str:
    words = (line.verdict, line.stage or NONE, line.status or NONE, line.type)
    place = linked(line.path, line.line, folder) if line.path else NONE
    if line.commit:
        place += f" at {code_text(line.commit)}"
    return SEPARATOR.join((*words, place, phrase(line.title) or NONE))


def _read_related(raw: str) -> RelatedLine:
    parts = split(raw, 6)
    if len(parts) != 6:  # noqa: PLR2004 - see _related_text
        raise LineError("a line 'related' is incomplete")
    codes = [*([""] if parts[4].startswith(NONE) else []), *_codes(parts[4])]
    if not codes:
        raise LineError("a line 'related' names no place")
    path, _, number = codes[0].rpartition(":")
    if not path or not number.isdigit():
        path, number = codes[0], "0"
    verdict, stage, status, kind = parts[:4]
    return RelatedLine(
        path=path,
        line=int(number),
        stage="" if stage == NONE else stage,
        verdict=verdict,
        title=_or_empty(parts[5]),
        type=kind,
        status="" if status == NONE else status,
        commit=codes[1] if len(codes) > 1 else "",
    )


def _proposal_text(proposal: Proposal) -> str:
    action = proposal.action.value + (CHECK if proposal.check else "")
    target = code_text(proposal.target) if proposal.target else NONE
    return SEPARATOR.join((action, target, phrase(proposal.reason) or NONE))


def _read_proposal(raw: str) -> Proposal:
    parts = split(raw, 3)
    if len(parts) != 3:  # noqa: PLR2004 - action, target, reason
        raise LineError("a proposal needs action, target and reason")
    try:
        action = Action(parts[0].removesuffix(CHECK))
    except ValueError as error:
        raise LineError(f"{parts[0][:40]!r} is no action") from error
    target = "" if parts[1] == NONE else _code(parts[1])
    return Proposal(action, target, _or_empty(parts[2]), check=parts[0].endswith(CHECK))


def _or_empty(raw: str) -> str:
    return "" if raw == NONE else read_text(raw)


def _code(raw: str) -> str:
    match = _CODE.fullmatch(raw.strip())
    if not match:
        raise LineError(f"{raw[:60]!r} must stand between back-ticks")
    return read_code(match[1])


def _codes(raw: str) -> list[str]:
    return [read_code(match[1]) for match in _CODE.finditer(raw)]
