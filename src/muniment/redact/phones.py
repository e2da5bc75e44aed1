"""Phone numbers and WhatsApp ids in a folded view: international, national and bare forms (G12).

The shape decides. Validity by allocation tables never vetoes an international or an Israeli form, because
tables lag behind; the phone library is asked only about bare or ambiguous digit runs, and only then imported.
Facts: E.164 (at most 15 digits after `+`), the country calling codes assigned by the ITU, the Israeli
numbering plan (0 + area + 7 digits), NANP (area and exchange start with 2-9).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import re2

from muniment.redact.fold import View
from muniment.redact.jids import find_jids
from muniment.redact.spans import Span

_GAP = r"[ \-/.()~·_]"
_RUN = rf"(?:{_GAP}{{0,4}}[0-9])"
_EXTENSION = re.compile(
    r"(?:[ ,;]{0,4}(?:extension|extn|ext|int|доб|x)[.:=# ]{0,4}|#|;ext=)([0-9]{1,7})(?![0-9a-z])"
)
_CALLING_CODES = frozenset(
    """
    1 7 20 27 30 31 32 33 34 36 39 40 41 43 44 45 46 47 48 49 51 52 53 54 55 56 57 58 60 61 62 63 64 65
    66 81 82 84 86 90 91 92 93 94 95 98 211 212 213 216 218 220 221 222 223 224 225 226 227 228 229 230
    231 232 233 234 235 236 237 238 239 240 241 242 243 244 245 246 247 248 249 250 251 252 253 254 255
    256 257 258 260 261 262 263 264 265 266 267 268 269 290 291 297 298 299 350 351 352 353 354 355 356
    357 358 359 370 371 372 373 374 375 376 377 378 380 381 382 383 385 386 387 389 420 421 423 500 501
    502 503 504 505 506 507 508 509 590 591 592 593 594 595 596 597 598 599 670 672 673 674 675 676 677
    678 679 680 681 682 683 685 686 687 688 689 690 691 692 800 808 850 852 853 855 856 870 878 880 881
    882 883 886 888 960 961 962 963 964 965 966 967 968 970 971 972 973 974 975 976 977 979 992 993 994
    995 996 998
    """.split()  # noqa: SIM905 - a word list reads better than a list of strings
)
_TINY_PLANS = frozenset({"683", "690", "247", "290", "688", "677", "674"})
"""Calling codes whose whole international number can have only seven digits."""
_EXACT_TOTAL = {"1": 11, "7": 11}
MAX_DIGITS = 16
"""E.164 allows 15; one more for a national 0 kept inside (`+49 (0)…`)."""

_BARE_LEAST = 9
"""Digits from which on a bare run after a word such as "call" is a number to call."""

_INTERNATIONAL = re2.compile(rf"\+{{1,2}}[ (]{{0,2}}[1-9]{_RUN}{{5,}}")
_DOUBLE_ZERO = re2.compile(rf"00[ -]?[1-9]{_RUN}{{6,}}")
_NATIONAL = re2.compile(rf"\(?0[ -]?[1-9]{_RUN}{{6,}}")
_NINE_SEVEN_TWO = re2.compile(rf"972{_GAP}{{0,2}}(?:\(0\))?[2-9]{_RUN}{{7,}}")
_NORTH_AMERICAN = re2.compile(
    r"(?:1[ .-]?)?(?:\([2-9][0-9]{2}\)[ .-]?|[2-9][0-9]{2}[-/])[2-9][0-9]{2}-[0-9]{4}"
)
_STRONG = re2.compile(
    r"(?:wa\.me/|whatsapp[a-z./:]{0,20}/|phone[_a-z]{0,12}['\"]? ?[=:] ?|wa_?id['\"]? ?[=:] ?"
    r"|msisdn['\"]? ?[=:] ?|jid['\"]? ?[=:] ?)['\"(]?\+?([0-9]{7,15})"
)
_WEAK = re2.compile(
    r"\b(?:participant|sender|recipient|author|contact|caller|callee|from|to|user|chat|member|mobile|tel|remote)"
    r"['\"]?(?: ?[=:] ?| )['\"(]?\+?([0-9]{10,15})"
)
_MENTION = re2.compile(r"@([0-9]{10,15})\b")
_LABELS = (
    r"phone|telefon|telefono|mobile|fax|whats ?app|\btel\b|\bcell|тел|телефон|מספר|טלפון|נייד|פלאפון|וואטסאפ"
    r"|هاتف|جوال|رقم|موبايل|电话|手机|電話|携帯|전화"
)
_LABELLED = re2.compile(
    rf"(?:{_LABELS})(?: ?(?:no|nr|number|#))?['\"]?\.? ?[:=|]['\" ]{{0,4}}\n?[ \t('\"]{{0,4}}"
    rf"([0-9]{_RUN}{{5,15}})"
)
_NEAR = re2.compile(
    rf"(?:{_LABELS}|\bcall\b|\bcalled\b|\bdial|\bsms\b|\bdesk\b|\boffice\b|\breach me\b|\banswering\b"
    rf"|\bmessages? to\b|\bring\b|\bhandy\b)[^0-9\n]{{0,16}}([0-9]{_RUN}{{6,15}})"
)
_GROUPED = re.compile(
    r"0[1-9](?:([ .-])[1-9][0-9])(?:\1[1-9][0-9]){3}"  # 0X XX XX XX XX
    r"|(?![0-9]{3}[ -][0-9]{3}[ -][0-9]{3}$|[0-9]{4}[ -][0-9]{4}[ -])"
    r"[0-9]{2,4}([ -])[0-9]{2,4}(?:\2[0-9]{2,4}){1,2}"
)
"""Two to four digits a group, not all of one length: equal groups are tables and dumps."""
_DATE = re.compile(
    r"(?:19|20)[0-9]{2}[-/.][0-9]{1,2}[-/.][0-9]{1,2}"
    r"|(?<![0-9])[0-3]?[0-9][-/.][01]?[0-9][-/.](?:19|20)[0-9]{2}(?![0-9])"
)
_ZIP = re.compile(r"0[0-9]{4}-[0-9]{4}")
_ZIP_STATE = re.compile(r"(?<![^\W_])(?:ct|ma|nh|nj|ny|pr|ri|vt|vi),?[ \r\n]{1,3}\Z")
"""States whose codes begin with 0 (USPS), without ME, which is also a word to call somebody by."""
_TIMESTAMP = re.compile(
    r"(?:19|20)[0-9]{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12][0-9]|3[01])[0-9]{0,9}|1[0-9]{9}|1[0-9]{12}"
)


def find_phones(view: View) -> Iterator[Span]:
    """Every JID, phone number and bare WhatsApp id in the view, in no particular order."""
    text = view.text
    if "@" in text:
        yield from find_jids(view)
        yield from _captured(view, _MENTION, _possible, "mention")
    if "+" in text:
        yield from _international(view)
    if "00" in text:
        yield from _shaped(view, _DOUBLE_ZERO, _double_zero)
    if "0" in text:
        yield from _shaped(view, _NATIONAL, _israeli, _trunk_zero)
    if "972" in text:
        yield from _shaped(view, _NINE_SEVEN_TWO, _nine_seven_two)
    yield from _shaped(view, _NORTH_AMERICAN, _north_american)
    yield from _captured(
        view, _STRONG, lambda digits: not _TIMESTAMP.fullmatch(digits) or _valid(digits), "key"
    )
    yield from _captured(view, _WEAK, _valid, "key")
    yield from _in_context(view, _LABELLED, least=6)
    yield from _in_context(view, _NEAR, least=7)


def _international(view: View) -> Iterator[Span]:
    text = view.text
    previous_end = -1
    for match in _INTERNATIONAL.finditer(text):
        start = match.start()
        before = _before(text, start)
        if (
            before.isdigit() or (before in {".", ")"} and _before(text, start - 1).isdigit())
        ) and start != previous_end:
            continue
        end, digits = _extent(text, start, match.end(), _international_lengths)
        if end and _plausible_plus(text, start, end, digits):
            end = _with_extension(text, end)
            previous_end = end
            low, high = view.span(start, end)
            yield Span(low, high, "phone", f"tel:{_without_trunk(digits)}", "international")


def _international_lengths(digits: str) -> tuple[int, int]:
    """The least and the greatest total of digits for the calling code; (0, 0) for an unassigned one."""
    code = _calling_code(digits)
    if not code:
        return 0, 0
    exact = _EXACT_TOTAL.get(code)
    if exact:
        return exact, exact
    if code == "972":
        return (10, 13) if digits[3:4] in {"0", "1"} else (11, 12)
    return (7 if code in _TINY_PLANS else 8), MAX_DIGITS


def _plausible_plus(text: str, start: int, end: int, digits: str) -> bool:
    """Whether a `+…` of the right length is a phone number rather than a sum or build metadata."""
    if digits.startswith("1") and digits[1] in "01":
        return False
    before = _before(text, start)
    if before.isascii() and before.isalpha():
        return _valid(digits)
    spaced = text[start:end].lstrip("+").startswith(" ")
    if spaced and _before(text, start - 1 if before == " " else start).isalnum():
        return " " in text[start:end].strip("+ ") or _valid(digits)
    return True


def _without_trunk(digits: str) -> str:
    """The number without a national prefix kept inside the international form (`+972 (0)52 …`)."""
    return "972" + digits[4:] if digits.startswith("9720") else digits


def _calling_code(digits: str) -> str:
    for width in (1, 2, 3):
        if digits[:width] in _CALLING_CODES:
            return digits[:width]
    return ""


Judge = Callable[[str, int, int], "tuple[int, str] | None"]
"""Given text, start and greatest end: the number's end and its key, or None."""

_LEADS = {
    _DOUBLE_ZERO: re.compile(r"(?<![0-9])00[ -]?[1-9]"),
    _NATIONAL: re.compile(r"\(?(?<![0-9])0[ -]?[1-9]"),
    _NINE_SEVEN_TWO: re.compile(r"(?<![0-9])972"),
    _NORTH_AMERICAN: re.compile(r"(?<![0-9])[(1-9]"),
}
"""How a number of each shape starts: one run of digits and separators may hold several numbers."""


def _shaped(view: View, pattern: Any, *judges: Judge) -> Iterator[Span]:
    text = view.text
    lead = _LEADS[pattern]
    for match in pattern.finditer(text):
        start, limit = match.span()
        while start < limit:
            judged = None
            if _clean_left(text, start):
                judged = next(filter(None, (judge(text, start, limit) for judge in judges)), None)
            if judged:
                end = _with_extension(text, judged[0])
                alone = text[start] == "(" and ")" not in text[start:end]  # it belongs to the sentence
                low, high = view.span(start + alone, end)
                yield Span(low, high, "phone", judged[1], "national")
            following = lead.search(text, max(judged[0] if judged else 0, start + 1), limit)
            start = following.start() if following else limit


def _double_zero(text: str, start: int, limit: int) -> tuple[int, str] | None:
    def lengths(digits: str) -> tuple[int, int]:
        least, most = _international_lengths(digits[2:])
        return (least + 2, most + 2) if least else (0, 0)

    end, digits = _extent(text, start, limit, lengths)
    number = _without_trunk(digits[2:])
    if not end or not (number.startswith("972") or _valid(number)):
        return None
    return end, f"tel:{number}"


def _israeli(text: str, start: int, limit: int) -> tuple[int, str] | None:
    end, digits = _extent(text, start, limit, _israeli_lengths)
    if not end:
        return None
    written = text[start:end]
    if _DATE.search(written) or _numeric_row(text, start, end) or _is_zip(text, start, written):
        return None
    if written.isdigit() and digits[1] not in "57" and not _valid("972" + digits[1:]):
        return None
    return end, f"tel:972{digits[1:]}"


def _is_zip(text: str, start: int, written: str) -> bool:
    """Whether this is a ZIP+4 code after its state: every notice of the GPL ends in `MA 02110-1301`."""
    return bool(_ZIP.fullmatch(written) and _ZIP_STATE.search(text, max(0, start - 6), start))


def _israeli_lengths(digits: str) -> tuple[int, int]:
    if digits[1] == "5" or (digits[1] == "7" and digits[2:3] in set("12346789")):
        return 10, 10
    return (9, 9) if digits[1] in "23489" else (0, 0)


def _trunk_zero(text: str, start: int, limit: int) -> tuple[int, str] | None:
    """Other countries' forms with a leading 0: written in groups, one kind of separator, 9 to 11 digits."""
    end, digits = _extent(text, start, limit, lambda _: (9, 11))
    if not end or text[start] == "(":
        return None
    if not _GROUPED.fullmatch(text[start:end]):
        return None
    if _DATE.search(text[start:end]) or _numeric_row(text, start, end):
        return None
    return end, f"national:{digits}"


def _nine_seven_two(text: str, start: int, limit: int) -> tuple[int, str] | None:
    end, digits = _extent(text, start, limit, _international_lengths)
    if not end or _numeric_row(text, start, end):
        return None
    return end, f"tel:{_without_trunk(digits)}"


def _north_american(text: str, start: int, limit: int) -> tuple[int, str] | None:
    if not _clean_right(text, limit) or _numeric_row(text, start, limit):
        return None
    digits = re.sub("[^0-9]", "", text[start:limit])
    return limit, f"tel:{digits if len(digits) == 11 else '1' + digits}"  # noqa: PLR2004 - with its country code


# --- by context -------------------------------------------------------------------------------------


def _captured(view: View, pattern: Any, accept: Callable[[str], bool], rule: str) -> Iterator[Span]:
    for match in pattern.finditer(view.text):
        start, end = match.span(1)
        if _clean_right(view.text, end) and accept(match.group(1)):
            low, high = view.span(start, end)
            yield Span(low, high, "phone", f"tel:{match.group(1)}", rule)


def _in_context(view: View, pattern: Any, *, least: int) -> Iterator[Span]:
    """A digit run of a phone's length right after a label ("phone:") or a word such as "call"."""
    text = view.text
    for match in pattern.finditer(text):
        start = match.start(1)
        if not _clean_left(text, start, colon=True):
            continue
        end, digits = _extent(text, start, match.end(1), lambda _: (least, MAX_DIGITS))
        written = text[start:end]
        if not end or _DATE.search(written) or _TIMESTAMP.fullmatch(written):
            continue
        if pattern is _NEAR and written.isdigit() and len(digits) < _BARE_LEAST:
            continue
        low, high = view.span(start, _with_extension(text, end))
        yield Span(low, high, "phone", f"national:{digits}", "context")


# --- extents and boundaries -------------------------------------------------------------------------


def _extent(text: str, start: int, limit: int, lengths: Callable[[str], tuple[int, int]]) -> tuple[int, str]:
    """The end of the number that starts at `start`, and its digits; (0, "") when no length fits.

    Grows digit group by digit group up to the greatest allowed total; the longest fitting end with a clean
    right side wins. Stops at what no phone number contains: a sentence's end, a negative number, a date.
    """
    digits = ""
    best = (0, "")
    position = start
    most = MAX_DIGITS + 2
    for group in re.finditer("[0-9]+", text[start : min(limit, start + 80)]):
        gap = text[position : start + group.start()] if digits else ""
        if gap and _breaks(gap, text, start + group.start()):
            break
        digits += group.group()
        position = start + group.end()
        if len(digits) > most:
            break
        least, longest = lengths(digits) if len(digits) > 2 else (1, most)  # noqa: PLR2004 - too few to tell
        if not least:
            break
        if len(digits) > 2 and least <= len(digits) <= longest and _clean_right(text, position):  # noqa: PLR2004 - a prefix alone is no number
            best = (position, digits)
    return best


def _breaks(gap: str, text: str, following: int) -> bool:
    if re.search(r"[.)] {2,}|\. | {4}|[ (]-$|[-/.~·_]{3}", gap) or (gap.endswith("-") and " " in gap):
        return True
    dated = _DATE.match(text, following)
    return bool(dated) and " " in gap


def _with_extension(text: str, end: int) -> int:
    match = _EXTENSION.match(text, end)
    return match.end() if match else end


def _before(text: str, position: int) -> str:
    return text[position - 1] if position > 0 else ""


def _clean_left(text: str, start: int, *, colon: bool = False) -> bool:
    """Whether a number may start here: not inside a word, a decimal, a version or a serial number."""
    before = _before(text, start)
    if not before:
        return True
    if (before.isalnum() and before.isascii()) or before in "_$€£₪%":
        return False
    earlier = _before(text, start - 1)
    if before in ".:,+/\\" and earlier.isdigit():
        return before in ",/" or colon
    if before == "-":
        return not (earlier.isascii() and earlier.isalnum())
    return before != "."


def _clean_right(text: str, end: int) -> bool:
    """Whether a number may end here: not inside a word, a decimal or a time."""
    following = text[end : end + 2]
    if not following:
        return True
    if following[0].isdigit() or (following[0].isalpha() and following[0].isascii()) or following[0] == "_":
        return bool(_EXTENSION.match(text, end))
    return not (following[0] in ".:" and following[1:].isdigit())


def _numeric_row(text: str, start: int, end: int) -> bool:
    """Whether a number written with spaces alone stands in a longer row of numbers (a table, a dump)."""
    if set(re.sub("[0-9]", "", text[start:end])) != {" "}:
        return False
    left = text[max(0, start - 2) : start]
    right = text[end : end + 2]
    return (len(left) == 2 and left[0].isdigit() and left[1] == " ") or (  # noqa: PLR2004 - a pair of neighbours
        len(right) == 2 and right[0] == " " and right[1].isdigit()  # noqa: PLR2004 - as above
    )


# --- the phone library, only for what shape can't decide --------------------------------------------


@cache
def _library() -> Any:
    import phonenumbers  # noqa: PLC0415 - only ambiguous candidates need it; its metadata loads per region

    return phonenumbers


def _valid(digits: str) -> bool:
    return _asked(digits, "is_valid_number")


def _possible(digits: str) -> bool:
    return not _TIMESTAMP.fullmatch(digits) and _asked(digits, "is_possible_number")


def _asked(digits: str, question: str) -> bool:
    library = _library()
    try:
        number = library.parse(f"+{digits}", None)
    except library.NumberParseException:
        return False
    return bool(getattr(library, question)(number))
