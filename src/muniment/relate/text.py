"""Words of a text, in any language, as the terms that matching counts (G11).

Pure and fast: raw words are counted first, and only each different word is folded and split. What comes
out is for matching alone; texts are always shown as they were written.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from functools import cache, lru_cache
from typing import Final

VERSION = 1
"""Raised with every change to the terms that a text gives: cached indexes of another version are dropped."""
MAX_CHARS = 1_000_000
"""Characters of one text that are read; what lies behind them can't match (callers say so)."""
MAX_TERM = 64
"""Longest term in characters; a longer word is cut, so that two equal long ones still match."""

# Scripts written without spaces between words: a run of these is cut into overlapping pairs.
_UNSPACED = (
    "\u0e00-\u0eff"  # Thai, Lao
    "\u1000-\u109f\u1780-\u17ff"  # Myanmar, Khmer
    "\u1100-\u11ff\u3130-\u318f\uac00-\ud7af"  # Hangul: spaced, but its particles stick to the noun
    "\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff"  # kana
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af"  # Han
)
# Vowel signs and joiners that belong to a word although `\w` leaves them out.
_MARKS = (
    "\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u0610-\u061a\u064b-\u065f\u06d6-\u06ed"
    "\u0900-\u0963\u0966-\u0dff\u0f00-\u0fff\u1a00-\u1cff\u200c\u200d"
)
_ACCENTS = (
    "[\u0300-\u036f\u0483-\u0487\u0591-\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670\u06d6-\u06ed"
    "\u00ad\u200b-\u200f\u2060\ufeff]"
)
_ASCII_WORD = re.compile(r"[A-Za-z0-9_]+")
_FOREIGN = re.compile("[^\0-\x7f\u00a0-\u00bf\u2010-\u2bff]")
"""Anything that an ASCII text with typographic quotes, dashes, arrows and signs doesn't have."""
_VOWEL = re.compile("[aeiouy]")
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|[^A-Za-z0-9_]+")

STOP_WORDS: Final = frozenset(
    """
    a about after again all also am an and any are aren as at be because been before being but by can
    cannot could couldn did didn do does doesn doing don each etc for from further had hadn has hasn
    have haven having he her here hers him his how i if in into is isn it its itself just ll may me
    might more most must my no nor not now of off on once only or other our out over own please re s
    same she should shouldn so some such t than that the their them then there these they this those
    through to too under until up us ve very was wasn we were weren what when where which while who whom
    why will with won would wouldn yes yet you your
    """.split()  # noqa: SIM905 - a list of words reads as one
)


def terms(text: str) -> Counter[str]:
    """How often each term occurs in a text; at most `MAX_CHARS` characters are read."""
    pattern, text = _prepared(text[:MAX_CHARS])
    words = Counter(pattern.findall(text))
    found: Counter[str] = Counter()
    for word, count in words.items():
        for term in split_word(word):
            found[term] += count
    return found


def _prepared(text: str) -> tuple[re.Pattern[str], str]:
    """The pattern of a word, and the text it fits; an ASCII text is neither folded nor cut into pairs."""
    if text.isascii() or not _FOREIGN.search(text):
        return _ASCII_WORD, text
    return _patterns()[0], fold(text)


@cache
def _patterns() -> tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str]]:
    """A word of any script, a character of an unspaced one, and what folding drops; slow to compile."""
    word = re.compile(f"[{_UNSPACED}]+|(?:(?![{_UNSPACED}])[\\w{_MARKS}])+")
    return word, re.compile(f"[{_UNSPACED}]"), re.compile(_ACCENTS)


def fold(text: str) -> str:
    """A text with compatibility forms unified and accents, vowel points and invisible characters dropped.

    Case stays, since it separates the parts of an identifier. Hangul and kana stay whole.
    """
    return unicodedata.normalize("NFC", _patterns()[2].sub("", unicodedata.normalize("NFKD", text)))


@lru_cache(maxsize=200_000)
def split_word(word: str) -> tuple[str, ...]:
    """The terms of one folded word: pairs of an unspaced script, or the word whole plus its parts.

    >>> split_word("parseHTTPHeader_v2")
    ('parsehttpheader_v2', 'pars', 'http', 'header')
    """
    if not word.isascii() and _patterns()[1].match(word):
        return tuple(word[at : at + 2] for at in range(len(word) - 1)) or (word,)
    whole = word.strip("_").casefold()[:MAX_TERM]
    if whole in STOP_WORDS or not whole or (len(whole) == 1 and "a" <= whole <= "z"):
        return ()
    if whole.isalpha() and (word.islower() or word[1:].islower() or word.isupper()):
        return (stem(whole),)
    parts = [part.casefold()[:MAX_TERM] for part in _PART.findall(word)]
    kept = (stem(part) for part in parts if len(part) > 1 and part not in STOP_WORDS)
    return (whole,) if len(parts) == 1 else tuple(dict.fromkeys((whole, *kept)))


def stem(word: str) -> str:
    """An English word without its commonest endings, roughly: merge, merges, merged, merging → merg.

    A word of another language loses at most such an ending, the same one wherever it stands.
    """
    if len(word) < 4 or not word.isascii() or not word.isalpha():  # noqa: PLR2004 - shorter words have no ending to drop
        return word
    word = _singular(word)
    for ending, instead in (("ation", "at"), ("ied", "y"), ("ing", ""), ("ed", "")):
        root = word.removesuffix(ending)
        if root != word and len(root) > 2 and _VOWEL.search(root) and root[-1] != "e":  # noqa: PLR2004 - what is left must be a word
            doubled = not instead and root[-1] == root[-2] and root[-1] not in "lsz"
            return root[:-1] if doubled else root + instead
    return word.removesuffix("e")


def _singular(word: str) -> str:
    if word.endswith("ies") and len(word) > 4:  # noqa: PLR2004 - not "ties" or "dies"
        return word[:-3] + "y"
    if word.endswith(("sses", "shes", "ches", "xes")):
        return word[:-2]
    return word if not word.endswith("s") or word.endswith(("ss", "us", "is")) else word[:-1]


def spellings(text: str) -> dict[str, str]:
    """Each term of a text → the word it stands for as first written, for showing what matched."""
    found: dict[str, str] = {}
    pattern, text = _prepared(text[:MAX_CHARS])
    for match in pattern.finditer(text):
        word = match[0].strip("_")[:MAX_TERM]
        made = split_word(match[0])
        paired = len(made) > 0 and not word.isascii() and _patterns()[1].match(word)
        for at, term in enumerate(made):
            found.setdefault(term, term if at or paired else word)
    return found
