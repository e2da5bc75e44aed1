"""How the engine spells what it writes: YAML that 1.1 and 1.2 readers take for the same values. Pure.

Keys such as `null`, `yes` or `1`, numbers such as `1e-07`, and characters that some readers refuse are quoted
or written so that every reader sees what was meant.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from muniment.yaml_lines import plain_value

_PLAIN_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_./@+~-]*(?::[A-Za-z0-9_./@+~-]+)*\Z")
_PLAIN_TEXT = re.compile(r"[A-Za-z_][A-Za-z0-9_./@+-]*(?: [A-Za-z0-9_./@+-]+)*\Z")
_WORDS = ("y", "n", "yes", "no", "on", "off", "true", "false", "null")
_SPECIAL = frozenset(word for base in _WORDS for word in (base, base.title(), base.upper()))
"""Words that some reader takes for something else than text."""
_ESCAPED = re.compile("[\x7f-\xa0\u2028\u2029\ufeff\ufffe\uffff]")
_UNFIT = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
MAX_KEY = 1000
"""Longest spelling of a key: YAML takes no longer one on a line (1,024)."""


def key(name: str) -> str:
    """A mapping key: plain where every reader takes it for that text, else in double quotes."""
    return name if _PLAIN_KEY.match(name) and name not in _SPECIAL else _quoted(name)


def value(item: Any) -> str:
    """A JSON value on one line: plain where that is certain, else quoted; collections in flow style."""
    if isinstance(item, str):
        sure = _PLAIN_TEXT.match(item) and item not in _SPECIAL and isinstance(plain_value(item), str)
        return item if sure else _quoted(item)
    if isinstance(item, Mapping):
        return "{" + ", ".join(f"{_quoted(str(name))}: {_inner(one)}" for name, one in item.items()) + "}"
    if isinstance(item, list | tuple):
        return "[" + ", ".join(map(_inner, item)) + "]"
    if isinstance(item, float):
        whole, exponent, power = repr(item).partition("e")
        return f"{whole if '.' in whole or not exponent else whole + '.0'}{exponent}{power}"
    return json.dumps(item)


def _inner(item: Any) -> str:
    """A value inside a collection: every text quoted, so that the whole is JSON too."""
    return _quoted(item) if isinstance(item, str) else value(item)


def _quoted(text: str) -> str:
    return _ESCAPED.sub(lambda match: f"\\u{ord(match[0]):04x}", json.dumps(text, ensure_ascii=False))


def field(name: str, item: Any, pad: str, newline: str) -> str:
    """A field's lines: on one line, or a text of several lines as a literal block where it fits one."""
    if isinstance(item, str) and _fits_a_block(item):
        rows = "".join(f"{pad}  {row}{newline}" if row else newline for row in item.split("\n"))
        return f"{pad}{key(name)}: |-{newline}{rows}"
    return f"{pad}{key(name)}: {value(item)}{newline}"


def record(name: str, fields: Mapping[str, Any], pad: str, newline: str, step: str = "  ") -> str:
    """A key with a block mapping of fields."""
    if not fields:
        return f"{pad}{key(name)}: {{}}{newline}"
    inner = "".join(field(one, item, pad + step, newline) for one, item in fields.items())
    return f"{pad}{key(name)}:{newline}{inner}"


def _fits_a_block(text: str) -> bool:
    """Whether a text of several lines can stand as a literal block and be read back exactly."""
    rows = text.split("\n")
    return (
        len(rows) > 1
        and bool(rows[0].strip())
        and rows[0][0] not in " \t"
        and bool(rows[-1].strip())
        and not _UNFIT.search(text)
        and all(row.strip() or not row for row in rows)
    )
