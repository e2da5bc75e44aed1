"""The gate's own, looser view of a text: what a reader or a renderer would put together again (G12).

Redaction looks at what is written; the gate also looks at what it reads as: comments and inline tags gone,
emphasis gone, wrapped lines joined, underscores as dashes, look-alike letters and spelled digits resolved,
base64 decoded. It never shares a view with redaction, so that a miss there is not a miss here.
"""

from __future__ import annotations

import binascii
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import chain

from muniment.redact.fold import View, ViewBuilder, decoded, fold, fold_character
from muniment.redact.secrets import find_secrets
from muniment.redact.spans import Span

_INLINE = "a|abbr|b|bdi|bdo|code|del|em|font|i|ins|kbd|mark|q|s|samp|small|span|strong|sub|sup|tt|u|wbr"
_MARKUP = re.compile(
    rf"<!--|</?(?:{_INLINE})(?:\s[^<>\n]{{0,200}})?/?>|[*`]+|~~|_"
    r"|(?:\\?(?:\r\n|\r|\n)|<br[ \t]{0,4}/?>(?:\r\n|\r|\n)?)[ \t]*(?:>[ \t]*)*(?=[0-9A-Za-z(\u0590-\u06ff])",
    re.IGNORECASE,
)
_LOOKALIKE = str.maketrans(
    "\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0456\u0458\u0455\u04bb\u0501\u051b\u051d\u0432\u043a\u043c\u043d\u0442"
    "\u03b1\u03bf\u03bd\u03c1\u03c4\u03b9\u03ba\u03c5\u03c7\u0261\u0251",
    "aeopcyxijshdqwbkmhtaovptikuxga",
)
_OTHER_LETTERS = re.compile("[\u0370-\u052f]+")
_DIGIT_WORDS = {
    word: str(value)
    for value, words in enumerate(
        ("zero oh nil", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
    )
    for word in words.split()
}
_SPELLED = re.compile(
    rf"\b(?:{'|'.join(_DIGIT_WORDS)})(?:[ ,-]{{1,2}}(?:{'|'.join(_DIGIT_WORDS)})){{6,19}}\b"
)
_SPACED_LETTERS = re.compile(r"(?<![^\W_])[^\W\d_](?: [^\W\d_]){2,40}(?![^\W_])")
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{12,}={0,2}")
_BASE64_LINES = re.compile(r"(?:[A-Za-z0-9+/]{60,76}\r?\n[ \t]{0,8}){1,200}[A-Za-z0-9+/]{0,76}={0,2}")
"""As mail and PEM wrap it: what stands on two lines is whole in neither."""
_DEEPEST = 2

Scan = Callable[[View], Iterator[Span]]


@dataclass(frozen=True, slots=True)
class Loose:
    """Finds what a set of detectors sees in the looser readings of a text."""

    scan: Scan

    def find(self, text: str, depth: int = 0) -> Iterator[Span]:
        """Spans, in the original text, of every identifier in a looser reading."""
        sources: list[View | None] = [None]
        readable = decoded(text)
        if readable is not None:
            sources.append(readable)
        for source in sources:
            loosened = _loosen(source.text if source else text, source)
            folded = fold(loosened.text, loosened)
            yield from self.scan(folded)
            yield from _hidden_secrets(text, source)
            for view in (_lookalikes(folded), _spelled(folded), _unspaced(folded)):
                if view is not None:
                    yield from self.scan(view)
        if depth < _DEEPEST:
            yield from self._encoded(text, depth)

    def _encoded(self, text: str, depth: int) -> Iterator[Span]:
        for match in chain(_BASE64.finditer(text), _BASE64_LINES.finditer(text)):
            inner = _from_base64("".join(match.group().split()))
            if inner is None:
                continue
            for span in chain(find_secrets(inner), self.find(inner, depth + 1)):
                yield replace(span, start=match.start(), end=match.end(), rule="base64")
                break


def _hidden_secrets(text: str, source: View | None) -> Iterator[Span]:
    """Secrets written with escapes, or with characters in them that don't show."""
    readable = source.text if source else text
    invisible = [character for character in set(readable) if not fold_character(character)]
    if source is None and not invisible:
        return  # then it is the text that the detectors have seen
    builder = ViewBuilder(readable, source)
    cursor = 0
    if invisible:
        for match in re.finditer(f"[{''.join(map(re.escape, invisible))}]+", readable):
            builder.copy(readable[cursor : match.start()], cursor)
            cursor = match.end()
    builder.copy(readable[cursor:], cursor)
    view = builder.build()
    for span in find_secrets(view.text):
        low, high = view.span(span.start, span.end)
        yield replace(span, start=low, end=high)


def _loosen(text: str, source: View | None) -> View:
    """The text without comments, inline tags and emphasis, and with wrapped lines joined."""
    builder = ViewBuilder(text, source)
    cursor = 0
    close = text.find("-->")
    for match in _MARKUP.finditer(text):
        start, end = match.span()
        if start < cursor:
            continue
        token = match.group()
        if token == "<!--":  # noqa: S105 - markup
            while 0 <= close < end:
                close = text.find("-->", close + 3)
            if close < 0:
                continue
            builder.copy(text[cursor:start], cursor)
            cursor = close + 3
            continue
        builder.copy(text[cursor:start], cursor)
        if token == "_":  # noqa: S105 - markup
            builder.atom("-", start, end)
        elif token[-1:].isspace() or token[0] in "\r\n\\" or token[:3].lower() == "<br":
            builder.atom(" " if _is_wrap(text, start, end) else "\n", start, end)
        cursor = end
    builder.copy(text[cursor:], cursor)
    return builder.build()


def _is_wrap(text: str, start: int, end: int) -> bool:
    """Whether a line break is one inside a paragraph, not one between rows of numbers or list items."""
    before, after = text[start - 1 : start], text[end : end + 1]
    if after.isdigit() or after == "(":
        line = text[text.rfind("\n", 0, start) + 1 : start].strip()
        return (before.isdigit() and not line.isdigit()) or before in {"+", "-"}
    return before.isalnum() or before in {"-", ".", "@"}


def _lookalikes(view: View) -> View | None:
    """The view with Cyrillic and Greek letters that look Latin read as Latin, in words that mix scripts."""
    text = view.text
    if text.isascii():
        return None
    parts: list[str] = []
    cursor = 0
    for match in _OTHER_LETTERS.finditer(text):
        if _is_latin(text[match.start() - 1 : match.start()]) or _is_latin(
            text[match.end() : match.end() + 1]
        ):
            parts += [text[cursor : match.start()], match.group().translate(_LOOKALIKE)]
            cursor = match.end()
    return replace(view, text="".join([*parts, text[cursor:]])) if parts else None


def _is_latin(character: str) -> bool:
    return character.isascii() and character.isalpha()


def _spelled(view: View) -> View | None:
    """The passages with digits spelled as words, as digits; None when there are none."""
    return _passages(
        view, _SPELLED, lambda text: "".join(_DIGIT_WORDS[word] for word in re.findall("[a-z]+", text))
    )


def _unspaced(view: View) -> View | None:
    """The passages of single letters with spaces between them, closed up; None when there are none."""
    return _passages(view, _SPACED_LETTERS, lambda text: text.replace(" ", ""))


def _passages(view: View, pattern: re.Pattern[str], rewrite: Callable[[str], str]) -> View | None:
    builder = ViewBuilder(view.text, view)
    found = False
    for match in pattern.finditer(view.text):
        found = True
        builder.atom("\n", match.start(), match.end())
        builder.atom(rewrite(match.group()), match.start(), match.end())
    return builder.build() if found else None


def _from_base64(token: str) -> str | None:
    """The text that a base64 or base64url token holds, or None when it holds no readable text."""
    body = token.rstrip("=").replace("-", "+").replace("_", "/")
    if len(body) % 4 == 1:
        return None
    try:
        text = binascii.a2b_base64(body + "=" * (-len(body) % 4)).decode("utf-8")
    except (binascii.Error, UnicodeDecodeError):
        return None
    return text if text.isprintable() or text.replace("\n", "").replace("\t", "").isprintable() else None
