"""Where things stand in a state's text, found without parsing it whole. Pure.

A file of ten thousand items takes a YAML parser seconds, and an operation is about one of them. So the text
is cut by its indentation: top-level keys, and the items below theirs. `scan` also makes sure, in one linear
pass, that all of it is block YAML without a key that is there twice; where it isn't certain it answers
None, and the full parser decides.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

from muniment import yaml_io

_SEGMENT = r"[A-Za-z0-9_./@+~-]++"
_WORD = rf"[A-Za-z0-9_][A-Za-z0-9_./@+~-]*+(?::{_SEGMENT})*+"
_DOUBLE = r'"(?:[^"\\\r\n\t]++|\\["\\/bfnrt]|\\u(?![dD][89a-fA-F])[0-9a-fA-F]{4})*+"'
_SINGLE = r"'(?:[^'\r\n\t]++|'')*+'"
_KEY = rf"(?:{_WORD}|{_DOUBLE}|{_SINGLE})"
_START = r"(?:[A-Za-z0-9_(./$+^;=<\u00a1-\ud7ff\ue000-\ufdff\U00010000-\U0010ffff]|-[A-Za-z0-9.])"
_MORE = r"(?:[^\r\n:#\t]++|:(?=[^ \r\n])|(?<! )#)*+"
_PLAIN = rf"{_START}{_MORE}"
_SCALAR = rf"(?:{_PLAIN}|{_DOUBLE}[ ]*+|{_SINGLE}[ ]*+)"
_MEMBER = rf"(?:{_DOUBLE}|[A-Za-z0-9_.-]++)"
_FLOW = rf"(?:\[(?:{_MEMBER}(?:, {_MEMBER})*+)?+\]|\{{\}})"
_EMPTY = r"(?:\[\]|\{\})[ ]*+"
_NOTE = r"(?:(?<= )#[^\r\n\t]*+)?+"
_ODD = re.compile(
    "[\x00-\x08\x0b-\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\ufeff\ud800-\udfff\ufffe\uffff]|\r(?!\n)"
)
_ORDINARY = bytes(range(0x20, 0x7F)) + b"\n\r\t"
_TOP = re.compile(r"(?:\A|(?<=\n))(?=[^ #\r\n])")
_TOP_AFTER = re.compile(r"\n(?=[^ #\r\n])")
_HEAD = re.compile(rf"(?P<pad>[ ]*)(?P<key>{_KEY}):(?P<rest>[ ]*+[^\r\n]*)(?P<eol>\r?\n|\Z)")
_DEPENDENT = re.compile(r"\n[ ]+\r?\n|[|>][0-9]?\+")
"""What makes a text depend on blank lines after it: a line of spaces, a block scalar that keeps its end."""
_SPACES = re.compile(r"\n[ ]+\r?\n")
_LIST_ITEM = re.compile(r"[ ]*-(?:[ \r\n]|\Z)")
MAX_KEY = 1000


@dataclass(frozen=True, slots=True)
class Block:
    """A key with all that belongs to it: `text[start:end]`, whole lines, comments after it not included.

    Attributes:
        key: The key's text.
        start: Where its first line begins.
        body: Where the line after the key's begins.
        end: Where the last of its lines ends.
        rest: What stands on the key's line after the colon.
        pad: The spaces before the key.
    """

    key: str
    start: int
    body: int
    end: int
    rest: str
    pad: str

    @property
    def bare(self) -> bool:
        """Whether nothing but a comment stands after the key."""
        return not self.rest.strip(" ") or bool(re.match("[ ]+#", self.rest))


def sections(text: str) -> tuple[Block, ...] | None:
    """The top-level keys in their order, or None where a line at the margin is none."""
    starts = [match.end() for match in _TOP_AFTER.finditer(text)]
    if _TOP.match(text):
        starts.insert(0, 0)
    if starts and text.startswith("---", starts[0]):
        line = text[starts[0] : text.find("\n", starts[0])].rstrip("\r ")
        if line != "---":
            return None
        starts.pop(0)
    return _blocks(text, starts, len(text))


def children(text: str, parent: Block) -> tuple[Block, ...] | None:
    """The keys directly below another's, or None where they aren't plain block keys.

    Costs a pass over the block, and as much again for each key found: for single items and small sections.
    """
    pad = inner_pad(text, parent)
    if pad is None:
        return None
    if not pad:
        return ()
    pattern = _heads_at(len(pad))
    starts = [match.end() for match in pattern.finditer(text, max(parent.body - 1, 0), parent.end)]
    return _blocks(text, starts, parent.end, len(pad))


def inner_pad(text: str, parent: Block) -> str | None:
    """The indentation of the keys below another's: "" when there are none, None when it is no mapping."""
    if not parent.bare:
        return None
    line = _content_line(text, parent.body, parent.end)
    if line is None:
        return ""
    pad = line[: len(line) - len(line.lstrip(" "))]
    return pad if len(pad) > len(parent.pad) and not _LIST_ITEM.match(line) else None


def child(text: str, parent: Block, key: str) -> Block | None:
    """One key below another's, found by looking for its spellings; None when it isn't there."""
    pad = inner_pad(text, parent)
    if not pad:
        return None
    found = _find(text, parent, pad, key)
    token = names(text, parent).get(key) if found is None else None
    return _find(text, parent, pad, token) if token else found


def _find(text: str, parent: Block, pad: str, token: str) -> Block | None:
    """The first block whose key is spelled so."""
    at = text.find(f"\n{pad}{token}:", max(parent.body - 1, 0), parent.end)
    while at >= 0:
        match = _HEAD.match(text, at + 1)
        if match and match["key"] == token and (not match["rest"] or match["rest"][0] == " "):
            return _block(text, at + 1, _next_head(text, match.end(), parent.end, len(pad)))
        at = text.find(f"\n{pad}{token}:", at + 1, parent.end)
    return None


@lru_cache(maxsize=4)
def names(text: str, parent: Block) -> Mapping[str, str]:
    """The keys directly below another's, in their order, each with its spelling; `""` marks a doubled one."""
    pad = inner_pad(text, parent)
    if not pad:
        return {}
    tokens = _tokens_at(len(pad)).findall(text, max(parent.body - 1, 0), parent.end)
    found = dict(zip(tokens, tokens, strict=True))
    if any("'" in token or '"' in token for token in tokens):
        found = {plain_key(token): token for token in tokens}
    return found if len(found) == len(tokens) else {**found, "": ""}


def plain_key(token: str) -> str:
    """The text of a spelled key."""
    if token[0] == '"':
        return str(json.loads(token))
    return token[1:-1].replace("''", "'") if token[0] == "'" else token


def dedent(text: str, block: Block) -> str:
    """A block as a document of its own."""
    pad = len(block.pad)
    span = text[block.start : block.end]
    return re.sub(rf"(?m)^[ ]{{1,{pad}}}", "", span) if pad else span


def scan(text: str, data: bytes) -> tuple[Block, ...] | None:
    """The top-level blocks of a text that certainly is plain YAML without doubled item keys, or None.

    Items are checked by one expression that can't take long; those of a form that it doesn't cover, by the
    parser, one by one: an item that reads well by itself holds no alias, and no quote that ends elsewhere.
    The other sections are left to the caller, which reads them anyway.

    Args:
        text: The file's text without a BOM.
        data: The same as UTF-8.
    """
    if not text.endswith("\n"):
        return None
    strange = data.translate(None, _ORDINARY)
    if strange and _ODD.search(strange.decode("utf-8")):
        return None
    if text.count("\r") != text.count("\r\n"):
        return None
    found = sections(text)
    if found is None or len({block.key for block in found}) != len(found):
        return None
    items = next((block for block in found if block.key == "items"), None)
    if items is not None:
        after = _TOP_AFTER.search(text, items.end - 1)
        # A line of spaces after the last item could belong to its text.
        if _SPACES.search(text, items.end - 1, after.end() if after else len(text)):
            return None
    return found if items is None or _sure(text, items) else None


def _sure(text: str, items: Block) -> bool:
    """Whether every item is plain block YAML, and no key is there twice."""
    if not items.bare:
        return items.body == items.end and items.rest.split("#")[0].strip() == "{}"
    pad = inner_pad(text, items)
    if not pad:
        return pad == ""
    tokens = names(text, items)
    if "" in tokens or max(map(len, tokens.values()), default=0) > MAX_KEY:
        return False
    first = _content_line(text, text.find("\n", items.body) + 1, items.end) or ""
    step = len(first) - len(first.lstrip(" "))
    step = step if step > len(pad) else 2 * len(pad)
    return _all_plain(text, items, len(pad), step) and _no_field_twice(text, items, len(pad), step)


def _all_plain(text: str, items: Block, pad: int, step: int) -> bool:
    """Whether the items are plain: by one expression, or one by one where it stops."""
    eol = r"(?:\r?\n)" if "\r" in text else r"\n"
    run, at = _items_at(pad, step, eol), items.body
    while at < items.end:
        match = run.match(text, at, items.end)
        at = match.end() if match else at
        if at >= items.end:
            break
        at = _line_at(text, at, items.body, pad)
        head = _HEAD.match(text, at, items.end)
        if not head or len(head["pad"]) != pad:
            return False
        end = _next_head(text, head.end(), items.end, pad)
        if _DEPENDENT.search(text, at, end) or _outdent(pad - 1).search(text, at, end):
            return False
        span = re.sub(rf"(?m)^[ ]{{1,{pad}}}", "", text[at:end])
        try:
            found = yaml_io.parse(span).value
        except yaml_io.YamlError:
            return False
        if not isinstance(found, dict) or len(found) != 1:
            return False
        at = end
    return True


def _line_at(text: str, at: int, start: int, pad: int) -> int:
    """The last line at or before one that is a key at this indentation."""
    while at > start and (_pad(text, at) != pad or text.startswith("#", at + pad)):
        at = text.rfind("\n", 0, at - 1) + 1
    return at


def _no_field_twice(text: str, items: Block, pad: int, step: int) -> bool:
    """Whether no item has a field twice: items have few different shapes, so each shape is looked at once."""
    listed = _shapes_at(pad, step).findall(text, max(items.body - 1, 0), items.end)
    return all(_distinct(shape) for shape in set("\n".join(listed).split("\n\n")))


@lru_cache(maxsize=4096)
def _distinct(shape: str) -> bool:
    fields = [plain_key(token) for token in shape.split("\n") if token]
    return len(set(fields)) == len(fields)


@cache
def _items_at(pad: int, step: int, eol: str) -> re.Pattern[str]:
    """As many plain items in a row as there are, with fields at the indentation `step`."""
    outer, inner, deep = (rf"[ ]{{{count}}}" for count in (pad, step, step + 1))
    end = rf"{_NOTE}{eol}"
    # Most values hold neither colon nor hash, and most keys are short words: they are tried first.
    plain = rf"{_START}(?:[^\r\n:#\t]*+{eol}|{_MORE}{end})"
    line = rf"(?:{plain}|(?:{_DOUBLE}|{_SINGLE}|{_FLOW})[ ]*+{end})"
    row = rf"[ ]*+[^ \r\n][^\r\n]*+{eol}"
    block = rf"[|>]-?{eol}(?P<in>{deep}[ ]*+)(?=[^ \r\n])[^\r\n]*+{eol}(?:(?P=in){row}|{eol})*+"
    entry = rf"- {_SCALAR}{end}"
    listed = rf"[ ]*+{end}(?P<li>[ ]{{{step},{step + 4}}}){entry}(?:(?P=li){entry})*+"
    one = rf"{inner}(?:[a-z_]++|{_KEY}):(?: (?:{line}|{block})|{listed})"
    # A line of more spaces than a field's indentation could belong to a text before it.
    blank = rf"(?:[ ]{{0,{step}}}{eol}|[ ]*+#[^\r\n\t]*+{eol})"
    return re.compile(rf"(?:{blank}|{outer}{_KEY}:[ ]*+{end}(?:{one}|{blank})++)*+")


@cache
def _heads_at(pad: int) -> re.Pattern[str]:
    return re.compile(rf"\n(?=[ ]{{{pad}}}[^ #\r\n])")


@cache
def _tokens_at(pad: int) -> re.Pattern[str]:
    return re.compile(rf"\n[ ]{{{pad}}}({_KEY}):(?=[ \r\n])")


@cache
def _shapes_at(pad: int, step: int) -> re.Pattern[str]:
    """Finds a field's spelled name, or "" for the first line of an item."""
    return re.compile(rf"\n[ ]{{{pad}}}(?:[ ]{{{step - pad}}}([a-z_]++|{_KEY}):|(?=[^ #\r\n]))")


def _next_head(text: str, at: int, end: int, pad: int) -> int:
    """Where the next key at this indentation or a lesser one begins."""
    match = _outdent(pad).search(text, max(at - 1, 0), end)
    while match and _LIST_ITEM.match(text, match.end()):
        match = _outdent(pad).search(text, match.end(), end)
    return match.end() if match else end


@cache
def _outdent(pad: int) -> re.Pattern[str]:
    return re.compile(rf"\n(?=[ ]{{0,{pad}}}[^ #\r\n])")


def _blocks(text: str, starts: Sequence[int], end: int, pad: int = 0) -> tuple[Block, ...] | None:
    """Blocks by where they start; None when one doesn't begin with a key."""
    heads = [at for at in starts if not _LIST_ITEM.match(text, at)]
    made = []
    for number, at in enumerate(heads):
        block = _block(text, at, heads[number + 1] if number + 1 < len(heads) else end)
        if block is None or len(block.pad) != pad:
            return None
        made.append(block)
    return tuple(made)


def _block(text: str, start: int, end: int) -> Block | None:
    """The block that starts here and ends before `end`, without the blank lines and comments after it."""
    match = _HEAD.match(text, start)
    if not match or (match["rest"] and match["rest"][0] != " "):
        return None
    trimmed = end
    while trimmed > match.end():
        line = text.rfind("\n", start, trimmed - 1) + 1
        stripped = text[line:trimmed].strip(" \r\n")
        if stripped and not (stripped[0] == "#" and _pad(text, line) <= len(match["pad"])):
            break
        trimmed = line
    return Block(
        plain_key(match["key"]), start, match.end(), max(trimmed, match.end()), match["rest"], match["pad"]
    )


def _pad(text: str, line: int) -> int:
    at = line
    while text.startswith(" ", at):
        at += 1
    return at - line


def _content_line(text: str, start: int, end: int) -> str | None:
    """The first line that is neither blank nor a comment."""
    at = start
    while at < end:
        stop = text.find("\n", at, end)
        stop = end if stop < 0 else stop + 1
        line = text[at:stop]
        if line.strip(" \r\n") and not line.lstrip(" ").startswith("#"):
            return line
        at = stop
    return None


def comments(text: str, block: Block) -> Iterator[str]:
    """The comments of a block of one-line values, each on a line of its own."""
    for line in text[block.start : block.end].splitlines(keepends=True):
        stripped = line.lstrip(" ")
        if stripped.startswith("#"):
            yield line
            continue
        match = _ONE_LINE.fullmatch(line)
        if match and match["note"]:
            yield f"{block.pad}{match['note']}{match['eol']}"


_ONE_LINE = re.compile(
    rf"[ ]*{_KEY}:(?:[ ]+(?:{_SCALAR}|{_EMPTY}))?+[ ]*+(?P<note>(?<= )#[^\r\n]*+)?+(?P<eol>\r?\n|\Z)"
)
