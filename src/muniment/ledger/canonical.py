"""Canonical JSON: one spelling for every value that an entry may hold, and a strict reader (G6, pure).

The only user of orjson. Accepted values: objects, arrays, strings of Unicode scalar values, integers within
±2^53, true, false and null, nested at most 32 deep. Everything else (floats, duplicate keys, NaN, lone
surrogates) is refused by name, because two programs could read it differently and so disagree on an id.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import orjson

from muniment.errors import UsageProblem

MAX_INTEGER = 2**53
"""Greatest magnitude of an integer; beyond it, programs that read numbers as doubles disagree."""
MAX_DEPTH = 32
"""Greatest nesting of objects and arrays, the outermost counting as 1."""
MAX_ENTRY_BYTES = 64 * 1024
"""Greatest length of an entry's canonical JSON in bytes, its id included."""

_FLAT_TYPES = frozenset({str, int, bool, type(None)})
_DIGITS = 17  # 2^53 has 16 digits; a sign may precede them


class NotCanonical(UsageProblem):
    """A value that canonical JSON can't hold (exit 2); nothing was written."""

    code = "not-canonical"


def canonical(value: Any) -> bytes:
    """The one spelling of `value`: keys by code point, no spaces, non-ASCII as it is, UTF-8.

    Raises:
        NotCanonical: A float, an integer beyond ±2^53, a lone surrogate, a key that is not a string, another
            type, or nesting deeper than 32.
    """
    fault = value_fault(value)
    if fault:
        raise NotCanonical(fault)
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)


def spelled(value: Any) -> bytes:
    """As `canonical`, for a value that `value_fault` has passed already."""
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)


def value_fault(value: Any) -> str:
    """Why canonical JSON can't hold `value`, in one sentence; empty when it can."""
    stack: list[tuple[Any, int]] = [(value, 1)]
    while stack:
        item, depth = stack.pop()
        if not isinstance(item, dict | list | tuple):
            fault = _scalar_fault(item)
            if fault:
                return fault
            continue
        if depth > MAX_DEPTH:
            return f"It is nested deeper than {MAX_DEPTH} levels."
        if isinstance(item, dict):
            if not all(isinstance(key, str) for key in item):
                return "An object has a key that is not a string."
            stack.extend((key, depth) for key in item if not key.isascii())
            stack.extend((child, depth + 1) for child in item.values())
        else:
            stack.extend((child, depth + 1) for child in item)
    return ""


def _scalar_fault(item: Any) -> str:
    if isinstance(item, str):
        lone = not item.isascii() and not _is_scalar(item)
        return "A string holds a lone surrogate, which is no Unicode scalar value." if lone else ""
    if item is None or isinstance(item, bool):
        return ""
    if isinstance(item, int):
        fits = -MAX_INTEGER <= item <= MAX_INTEGER
        return "" if fits else "An integer lies beyond ±2^53; write it as a string."
    if isinstance(item, float):
        return "A number is not an integer; write parts per thousand or a string."
    return f"A value of type {type(item).__name__} has no JSON spelling."


def _is_scalar(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def is_spelled_flat(document: dict[str, Any], data: dict[str, Any], raw: bytes) -> bool:
    """Whether `raw`, from which `document` was read, is certainly canonical; False means "look closer".

    The quick way for the usual entry, whose `data` holds scalars and lists of strings.
    """
    if not _FLAT_TYPES.issuperset(map(type, data.values())):
        for item in data.values():
            kind = type(item)
            if kind is list:
                if item and set(map(type, item)) != {str}:
                    return False
            elif kind not in _FLAT_TYPES:
                return False
    if len(data) > 1 and list(data) != sorted(data):
        return False
    try:
        return orjson.dumps(document, None, orjson.OPT_STRICT_INTEGER) == raw
    except TypeError:
        return False


quick_loads = orjson.loads
"""Parse JSON fast and trustingly (doubled keys pass); raises `ValueError` for bad syntax."""


class StrictReader:
    """Reads JSON values at given offsets, noting in `faults` what canonical JSON can't hold.

    Noting instead of raising lets a reader go on behind one bad record (G18); whoever wants a single value
    uses `read_strict`.
    """

    def __init__(self) -> None:
        self.faults: list[tuple[str, str]] = []
        self._decoder = json.JSONDecoder(
            object_pairs_hook=self._object,
            parse_float=self._float,
            parse_int=self._integer,
            parse_constant=self._constant,
        )

    def value_at(self, text: str, offset: int) -> tuple[Any, int]:
        """The value that starts at `offset`, and the offset behind it.

        Raises:
            json.JSONDecodeError: Bad syntax; it knows line and column.
        """
        try:
            return self._decoder.raw_decode(text, offset)
        except RecursionError:
            message = f"nested deeper than {MAX_DEPTH} levels"
            raise json.JSONDecodeError(message, text, offset) from None

    def take_faults(self) -> tuple[tuple[str, str], ...]:
        """The faults, as (rule, sentence), noted since the last call."""
        taken = tuple(self.faults)
        self.faults.clear()
        return taken

    def _object(self, pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
        made = dict(pairs)
        if len(made) != len(pairs):
            keys = [key for key, _ in pairs]
            twice = next(key for place, key in enumerate(keys) if key in keys[:place])
            self.faults.append(("duplicate-key", f"The key {json.dumps(twice)} occurs twice in one object."))
        return made

    def _float(self, text: str) -> int:
        self.faults.append(
            ("value", f"The number {text[:24]} is not an integer; write parts per thousand or a string.")
        )
        return 0

    def _integer(self, text: str) -> int:
        if len(text) > _DIGITS or abs(int(text)) > MAX_INTEGER:
            self.faults.append(("value", f"The integer {text[:24]} lies beyond ±2^53; write it as a string."))
            return 0
        return int(text)

    def _constant(self, text: str) -> int:
        self.faults.append(("value", f"{text} is not JSON."))
        return 0


def read_strict(text: str, what: str = "The text") -> Any:
    """One JSON value that canonical JSON can hold.

    Raises:
        NotCanonical: Bad syntax (with line and column), something behind the value, or a value that
            `canonical` refuses, duplicate keys among them.
    """
    reader = StrictReader()
    start = len(text) - len(text.lstrip(" \t\r\n"))
    try:
        value, end = reader.value_at(text, start)
    except json.JSONDecodeError as error:
        place = f"line {error.lineno} column {error.colno}"
        raise NotCanonical(f"{what} is not JSON ({error.msg}, {place}).") from None
    if text[end:].strip(" \t\r\n"):
        raise NotCanonical(f"{what} has something behind the JSON value.")
    faults = reader.take_faults()
    fault = faults[0][1] if faults else value_fault(value)
    if fault:
        raise NotCanonical(f"{what}: {fault}")
    return value
