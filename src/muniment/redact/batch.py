"""The story behind `muniment redact`: one file, or a batch of JSONL with the gate's verdicts (G12)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path

from muniment.errors import CheckFailed, MunimentError, UsageProblem
from muniment.files import read_bytes
from muniment.redact.names import KnownNames
from muniment.redact.scrub import Redaction, redact

_BATCH_NAMES = 64
"""How many different name lists a batch keeps ready."""


def load_names(path: str | None) -> KnownNames:
    """The names file given with `--known`, or no names.

    Raises:
        Unavailable: The file can't be read.
        UsageProblem: It is not UTF-8, or a line is unusable.
    """
    if path is None:
        return KnownNames.empty()
    try:
        return KnownNames.parse(read_bytes(Path(path)).decode("utf-8"), path)
    except UnicodeDecodeError as error:
        raise UsageProblem(f"{path} is not UTF-8.", "Save the names file as UTF-8.") from error


def redact_bytes(data: bytes, name: str, known: KnownNames) -> Redaction:
    """A file's redacted text.

    Raises:
        CheckFailed: An undecodable byte; nothing is printed, since part of the text can't be judged.
    """
    try:
        return redact(data.decode("utf-8"), known)
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise CheckFailed(f"{name}:{line}: a byte is not UTF-8, so the text can't be redacted.") from error


def batch(lines: Iterable[bytes]) -> Iterator[str]:
    """One JSON line out for each one in; a line that can't be judged is refused, never skipped (G18)."""
    for number, line in enumerate(lines, 1):
        if line.strip():
            yield json.dumps(_batch_item(line, number), ensure_ascii=False)


def _batch_item(line: bytes, number: int) -> dict[str, object]:
    identity: object = None
    try:
        item = json.loads(line)
        identity = item.get("id")
        text = item["text"]
        known = _known(tuple(item.get("known_names") or ()))
        if not isinstance(text, str):
            return _refused(identity, f"line {number}: text must be a string")
        return _verdicts(identity, text, known)
    except MunimentError as error:
        return _refused(identity, error.message)
    except Exception:  # noqa: BLE001 - whatever fails in judging refuses
        return _refused(identity, f"line {number}: it must be an object with id, text and known_names")


def _verdicts(identity: object, text: str, known: KnownNames) -> dict[str, object]:
    from muniment.redact.gate import Gate  # noqa: PLC0415 - redacting one file needs no gate

    gate = Gate(known)
    redacted = redact(text, known).text
    text.encode()  # a lone surrogate can't be written: refuse
    return {
        "id": identity,
        "redacted": redacted,
        "gate": "refuse" if gate.inspect_text(redacted, "text") else "pass",
        "gate_raw": "refuse" if gate.inspect_text(text, "text") else "pass",
    }


def _refused(identity: object, why: str) -> dict[str, object]:
    return {"id": identity, "redacted": "", "gate": "refuse", "gate_raw": "refuse", "error": why}


@lru_cache(maxsize=_BATCH_NAMES)
def _known(names: tuple[str, ...]) -> KnownNames:
    return KnownNames.of(names)
