"""Which lines begin an HTML block (a comment is one), line by line: the cheap half of `markdown.html_starts`.

Right wherever such a block begins at the left margin; it says so where it can't be sure.
"""

from __future__ import annotations

import re

_START = r"(?:\A|(?<=\n)|(?<=\r)(?!\n))"
_OPENS = r"( {0,3})(`{3,}(?=[^`\r\n]*(?:[\r\n]|\Z))|~{3,}|<)"
_OPENER = re.compile(_OPENS)
_LATER_OPENER = re.compile(r"[\r\n]" + _OPENS)
_BLANK = re.compile(r"(?:\r\n|\n|\r(?!\n))[ \t]*(?=[\r\n]|\Z)")
_LINE_END = re.compile(r"\r\n|\r|\n|\Z")
_RAW_TAG = re.compile(r"<(?:script|pre|style|textarea)(?=[\s>]|\Z)", re.IGNORECASE)
_RAW_END = re.compile(r"</(?:script|pre|style|textarea)>", re.IGNORECASE)
_TERMINATORS = (("<!--", "-->"), ("<?", "?>"), ("<![CDATA[", "]]>"), ("<!", ">"))
_BLOCK_TAG = re.compile(
    r"</?(?:address|article|aside|base|basefont|blockquote|body|caption|center|col|colgroup|dd|details|"
    r"dialog|dir|div|dl|dt|fieldset|figcaption|figure|footer|form|frame|frameset|h[1-6]|head|header|hr|"
    r"html|iframe|legend|li|link|main|menu|menuitem|nav|noframes|ol|optgroup|option|p|param|search|"
    r"section|summary|table|tbody|td|tfoot|th|thead|title|tr|track|ul)(?=[\s>]|/>|\Z)",
    re.IGNORECASE,
)


def scan(text: str, position: int) -> frozenset[int] | None:
    """Offsets of lines from `position` on that begin an HTML block outside every other block.

    None where only a parser can tell (an indented or inline-looking tag).
    """
    starts = set()
    while opener := _next_opener(text, position):
        if opener[1]:
            return None
        if opener[2] != "<":
            closing = re.compile(
                f"{_START} {{0,3}}{opener[2][0]}{{{len(opener[2])},}}[ \\t]*(?=[\\r\\n]|\\Z)"
            )
            end = closing.search(text, opener.end())
            position = end.end() if end else len(text)
            continue
        start = opener.start(2)
        end_of_block = _html_end(text, start)
        if end_of_block is None:
            return None
        if end_of_block > start:
            starts.add(start)
        position = max(end_of_block, opener.end())
    return frozenset(starts)


def _next_opener(text: str, position: int) -> re.Match[str] | None:
    """The next line at or after `position` that may open a fence or an HTML block.

    By a search for line ends: a pattern that begins with one is ten times as fast as one that looks behind.
    """
    at_start = _OPENER.match(text) if position == 0 else None
    return at_start or _LATER_OPENER.search(text, max(position - 1, 0))


def _html_end(text: str, start: int) -> int | None:
    """Where the HTML block beginning at `start` ends; `start` if none does, None if that's uncertain."""
    if _RAW_TAG.match(text, start):
        return _end_after(text, _RAW_END.search(text, start))
    for opening, closing in _TERMINATORS:
        if text.startswith(opening, start) and (opening != "<!" or "A" <= text[start + 2 : start + 3] <= "Z"):
            return _end_after(text, re.compile(re.escape(closing)).search(text, start))
    if _BLOCK_TAG.match(text, start):
        blank = _BLANK.search(text, start)
        return blank.start() if blank else len(text)
    return None if re.match(r"</?[A-Za-z]|<![a-z]", text[start : start + 3]) else start


def _end_after(text: str, match: re.Match[str] | None) -> int:
    """The end of the line that holds `match`, or of the text."""
    if not match:
        return len(text)
    ending = _LINE_END.search(text, match.end())
    return ending.start() if ending else len(text)
