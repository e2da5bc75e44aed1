"""Many operations as one write: JSON lines in, one answer for all of them (S20, G9). Pure."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

from muniment.errors import UsageProblem
from muniment.state import operations
from muniment.state.operations import Answer, View, Word
from muniment.state.overlay import Overlay
from muniment.workspace import parse_instant

Act = Callable[[View], Answer]
MAX_DEPTH = 32
_NO_LONE_SURROGATES = "A text holds half of a surrogate pair, which is no character."


def perform(view: View, acts: Iterable[Act]) -> Answer:
    """All the acts, each seeing what those before it did, or none of them.

    Returns:
        `OK` with `{"operations": how many}` and the edits of all; else the first other answer with
        `{"operation": its 1-based number}` and no edit at all.
    """
    overlay = Overlay(view)
    count = 0
    for act in acts:
        count += 1
        answer = act(overlay)
        if answer.word is not Word.OK:
            return Answer(answer.word, {"operation": count}, note=f"Operation {count}: {answer.note}")
        overlay.add(answer.edits)
    return Answer(Word.OK, {"operations": count}, overlay.edits)


def decode(data: bytes) -> str:
    """A batch's text; raises `UsageProblem` when it isn't UTF-8."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageProblem("The batch is not UTF-8.") from error


def read(text: str, *, writer: str, now: str, hidden: Collection[str] = ()) -> tuple[Act, ...]:
    """The operations in JSON lines; blank lines are passed over.

    A line is an object with `op` (`upsert-item`, `cursor-advance` or `run-record`) and that command's options
    under their own names: `{"op": "upsert-item", "source": …, "id": …, "json": {…}}`.

    Raises:
        UsageProblem: A line is no such object; the message says which.
    """
    acts = []
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            try:
                acts.append(_act(json_object(line), writer, now, hidden))
            except UsageProblem as error:
                raise UsageProblem(f"Line {number} of the batch: {error.message}", error.hint) from error
    return tuple(acts)


def _act(given: Mapping[str, Any], writer: str, now: str, hidden: Collection[str]) -> Act:
    options = {name.replace("_", "-"): value for name, value in given.items()}
    kind = options.pop("op", None)
    if options.pop("writer", writer) != writer:
        raise UsageProblem("It names another writer than the batch.")
    match kind:
        case "upsert-item":
            source, native = _words(options, "source", "id")
            fields = _mapping(options, "json")
            _nothing_else(options, "now")
            operations.require_item(source, native, fields)
            return lambda view: operations.upsert_item(view, source, native, fields, hidden=hidden)
        case "cursor-advance":
            name, to, past = _words(options, "source", "to", "past-item")
            _nothing_else(options, "now")
            operations.require_cursor(name, past, to)
            return lambda view: operations.cursor_advance(view, name, to, past)
        case "run-record":
            (outcome,) = _words(options, "outcome")
            operations.require_outcome(outcome)
            counts = _mapping(options, "counts")
            stamp = options.pop("timestamp", now)
            _nothing_else(options)
            if not isinstance(stamp, str):
                raise UsageProblem("Its timestamp is no text.")
            parse_instant(stamp)
            return lambda view: operations.run_record(view, writer, outcome, counts, stamp)
        case _:
            raise UsageProblem(
                f"{kind!r} is no operation of a batch.", "One of: upsert-item, cursor-advance, run-record."
            )


def _words(options: dict[str, Any], *names: str) -> list[str]:
    found = []
    for name in names:
        value = options.pop(name, None)
        if not isinstance(value, str) or not value:
            raise UsageProblem(f"It needs a text {name!r}.")
        found.append(value)
    return found


def _mapping(options: dict[str, Any], name: str) -> Mapping[str, Any]:
    value = options.pop(name, None)
    if not isinstance(value, dict):
        raise UsageProblem(f"It needs an object {name!r}.")
    return value


def _nothing_else(options: dict[str, Any], *allowed: str) -> None:
    left = [name for name in options if name not in allowed]
    if left:
        raise UsageProblem(f"It has {left[0]!r}, which that operation doesn't take.")


def json_object(text: str) -> dict[str, Any]:
    """A JSON object that has a YAML form; raises `UsageProblem` for anything else.

    Refused besides bad syntax: repeated keys, NaN and infinities, half surrogate pairs, nesting beyond 32.
    """
    try:
        value = json.loads(text, object_pairs_hook=_unique, parse_constant=_refuse)
    except RecursionError:
        raise UsageProblem(f"The JSON is nested deeper than {MAX_DEPTH} levels.") from None
    except ValueError as error:
        raise UsageProblem(f"Not valid JSON: {error}.") from error
    if not isinstance(value, dict):
        raise UsageProblem("The JSON is no object.")
    _require_plain(value, 1)
    return value


def _require_plain(value: Any, depth: int) -> None:
    if depth > MAX_DEPTH:
        raise UsageProblem(f"The JSON is nested deeper than {MAX_DEPTH} levels.")
    if isinstance(value, dict):
        for name, inner in value.items():
            _require_plain(name, depth)
            _require_plain(inner, depth + 1)
    elif isinstance(value, list):
        for inner in value:
            _require_plain(inner, depth + 1)
    elif isinstance(value, str):
        require_text(value)
    elif isinstance(value, float) and value in {float("inf"), float("-inf")}:
        raise UsageProblem("A number of the JSON is too large.")


def require_text(text: str) -> str:
    """The text itself; raises `UsageProblem` when it can't be written as UTF-8."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise UsageProblem(_NO_LONE_SURROGATES) from None
    return text


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        raise ValueError("a key is there twice")
    return made


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is no JSON")
