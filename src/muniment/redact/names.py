"""Known author and display names: loading a list, and finding its names in a folded view (G12)."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from muniment.errors import UsageProblem
from muniment.redact.fold import View, fold_text
from muniment.redact.identifiers import identifier_keys
from muniment.redact.ordinary import HEBREW_WORDS, ORDINARY
from muniment.redact.spans import Span

ROLES = ("owner", "admin", "member", "bot")
_SEPARATOR = r"[ \n\r\-_.>*'/]"
_JOINABLE = 6
"""Letters from which on a name's words may be written without anything between them (`danalevi`)."""
_SHORT = 3
_HEBREW_PREFIX = re.compile(r"ו?(?:כש|לכש|מש|ש)?(?:[הבכלמ]|מה)?")  # noqa: RUF001 - Hebrew on purpose
_ARABIC_PREFIX = re.compile(r"[وف]?[بلك]?(?:ال|لل)?|ال")
_UNSPACED = (
    "CJK",
    "HIRAGANA",
    "KATAKANA",
    "HANGUL",
    "THAI",
    "LAO",
    "KHMER",
    "MYANMAR",
    "BOPOMOFO",
    "IDEOGRAPHIC",
)


@dataclass(frozen=True, slots=True)
class KnownName:
    """One known person: the name as given, a role if known, and other names and numbers of the same person.

    Attributes:
        text: The name as it stands in the list.
        role: `owner`, `admin`, `member`, `bot`, or empty.
        key: Canonical identity, shared by all of the person's names, phones and addresses.
    """

    text: str
    role: str
    key: str


@dataclass(frozen=True, slots=True)
class KnownNames:
    """A list of known names, ready to be searched for.

    Attributes:
        names: Every name and alias, in the order given.
        identities: Canonical phone, JID or e-mail key → the person's key.
        roles: Person's key → role.
    """

    names: tuple[KnownName, ...] = ()
    identities: Mapping[str, str] = field(default_factory=dict)
    roles: Mapping[str, str] = field(default_factory=dict)
    _matcher: Any = None

    @staticmethod
    def empty() -> KnownNames:
        """No names known; callers say so to the user."""
        return KnownNames()

    @staticmethod
    def parse(text: str, source: str = "the names file") -> KnownNames:
        """Read one person a line: `name`, `name<TAB>role`, or `name<TAB>role<TAB>alias<TAB>…`.

        An alias is another name, a phone number, a JID or an e-mail address of the same person.

        Raises:
            UsageProblem: A one-character name, or an unknown role; names the line, not the name.
        """
        people = []
        for number, line in enumerate(text.removeprefix("\ufeff").splitlines(), 1):
            fields = [part.strip() for part in line.split("\t")]
            if not any(fields):
                continue
            role = fields[1].lower() if len(fields) > 1 else ""
            if role and role not in ROLES:
                raise UsageProblem(
                    f"{source}:{number}: the role must be one of {', '.join(ROLES)}.",
                    "Write `name<TAB>role`; further columns are the person's other names and numbers.",
                )
            people.append((number, role, [part for part in (fields[0], *fields[2:]) if part]))
        return _build(people, source)

    @staticmethod
    def of(names: Iterable[str]) -> KnownNames:
        """A list of bare names, as `redact --batch` receives them; raises as `parse` does."""
        return _build(
            [(number, "", [name]) for number, name in enumerate(names, 1) if name.strip()], "known_names"
        )

    @staticmethod
    def union(lists: Iterable[KnownNames]) -> KnownNames:
        """Several lists as one."""
        kept = [one for one in lists if one.names or one.identities]
        if len(kept) < 2:  # noqa: PLR2004 - nothing to join
            return kept[0] if kept else KnownNames()
        names = tuple(name for one in kept for name in one.names)
        identities = {key: person for one in kept for key, person in one.identities.items()}
        roles = {person: role for one in kept for person, role in one.roles.items()}
        return KnownNames(names, identities, roles, Matcher(names) if names else None)

    def find(self, view: View) -> Iterator[Span]:
        """Every known name in the view, in no particular order."""
        if self._matcher is not None:
            yield from self._matcher.find(view)


def _build(people: list[tuple[int, str, list[str]]], source: str) -> KnownNames:
    names: list[KnownName] = []
    identities: dict[str, str] = {}
    roles: dict[str, str] = {}
    for number, role, texts in people:
        person = f"name:{' '.join(_tokens(fold_text(texts[0]))) or texts[0]}"
        if role:
            roles[person] = role
        for text in texts:
            keys = identifier_keys(text)
            identities.update(dict.fromkeys(keys, person))
            if not keys:
                _require_length(text, f"{source}:{number}")
                names.append(KnownName(text, role, person))
    matcher = Matcher(names) if names else None
    return KnownNames(tuple(names), identities, roles, matcher)


def _require_length(text: str, where: str) -> None:
    folded = fold_text(text).strip()
    if len(folded) < 2 or not (_tokens(folded) or len(text.strip()) > 1):  # noqa: PLR2004 - one character matches everywhere
        raise UsageProblem(
            f"{where}: a name of one character would match everywhere.",
            "Leave it out, or give the person's longer name.",
        )


@dataclass(frozen=True, slots=True)
class _Form:
    """One way a name is written: the pattern before and from its longest token on, and how strict to be."""

    key: str
    before: re.Pattern[str] | None
    reach: int
    onward: re.Pattern[str]
    strict: bool
    unspaced: bool


class Matcher:
    """Finds names by their longest token (Aho-Corasick) and then checks the rest and the boundaries."""

    def __init__(self, names: Iterable[KnownName]) -> None:
        import ahocorasick_rs  # noqa: PLC0415 - no known names, no import

        forms: dict[str, list[_Form]] = {}
        for name in names:
            for anchor, form in _forms(name):
                forms.setdefault(anchor, []).append(form)
        self._forms = list(forms.values())
        self._automaton = ahocorasick_rs.AhoCorasick(list(forms))

    def find(self, view: View) -> Iterator[Span]:
        """Every name in the view; overlapping ones included, the caller merges."""
        text = view.text
        for index, anchor, _ in self._automaton.find_matches_as_indexes(text, overlapping=True):
            for form in self._forms[index]:
                start, end = _extent(form, text, anchor)
                if end and _accept(view, form, start, end):
                    low, high = view.span(start, end)
                    yield Span(low, high, "name", form.key, "name")


def _extent(form: _Form, text: str, anchor: int) -> tuple[int, int]:
    """Start and end of the whole name around its anchor token; (0, 0) when the rest isn't there."""
    onward = form.onward.match(text, anchor)
    if not onward:
        return 0, 0
    if form.before is None:
        return anchor, onward.end()
    low = max(0, anchor - form.reach)
    before = form.before.search(text[low:anchor])
    return (low + before.start(), onward.end()) if before else (0, 0)


def _forms(name: KnownName) -> Iterator[tuple[str, _Form]]:
    """A name's searchable forms, each with its anchor token."""
    folded = fold_text(name.text).strip()
    tokens = _tokens(folded)
    if not tokens:
        yield folded, _Form(name.key, None, 0, re.compile(re.escape(folded)), strict=False, unspaced=True)
        return
    joined = "".join(tokens)
    strict = joined.isascii() and (len(joined) <= _SHORT or (len(tokens) == 1 and joined in ORDINARY))
    unspaced = all(map(_is_unspaced, tokens)) and len(name.text.strip()) > 1
    least = 0 if unspaced or len(joined) >= _JOINABLE else 1
    gap = f"{_SEPARATOR}{{{least},6}}"
    yield _form(name.key, tokens, gap, strict=strict, unspaced=unspaced)
    if len(tokens) == 2 and not unspaced:  # noqa: PLR2004 - "Family, Given"
        yield _form(name.key, tokens[::-1], ", ?", strict=strict, unspaced=unspaced)


def _form(key: str, tokens: list[str], gap: str, *, strict: bool, unspaced: bool) -> tuple[str, _Form]:
    place = max(range(len(tokens)), key=lambda index: (len(tokens[index]), -index))
    escaped = [re.escape(token) for token in tokens]
    before = re.compile(gap.join([*escaped[:place], ""]) + r"\Z") if place else None
    reach = sum(len(token) + 6 for token in tokens[:place])
    onward = re.compile(gap.join(escaped[place:]))
    return tokens[place], _Form(key, before, reach, onward, strict, unspaced)


def _tokens(folded: str) -> list[str]:
    """The words of a folded name, punctuation and symbols left out."""
    return re.findall(r"[^\W_]+", folded)


def _is_unspaced(token: str) -> bool:
    return all(unicodedata.name(character, "").startswith(_UNSPACED) for character in token)


def _accept(view: View, form: _Form, start: int, end: int) -> bool:
    if not view.aligned(start, end):
        return False
    text = view.text
    if form.unspaced:
        return not "\u11a8" <= text[end : end + 1] <= "\u11ff"  # a final consonant would change the syllable
    if not _starts_token(view, form, start) or not _ends_token(view, form, end):
        return False
    return not form.strict or _capitalised(view, start, end, mention=text[start - 1 : start] == "@")


def _starts_token(view: View, form: _Form, start: int) -> bool:
    if start == 0:
        return True
    before, first = view.text[start - 1], view.text[start]
    if not _joins(before, first):
        return not (form.strict and before == "_" and view.text[max(0, start - 2)].isalnum())
    script = _script(first)
    if script == "HEBREW":
        return _prefixed(view.text, start, _HEBREW_PREFIX, form)
    if script == "ARABIC":
        return _prefixed(view.text, start, _ARABIC_PREFIX, form)
    return not form.strict and before.isalpha() and _is_upper(view, start) and not _is_upper(view, start - 1)


def _prefixed(text: str, start: int, prefixes: re.Pattern[str], form: _Form) -> bool:
    """Whether only grammatical prefixes stand between the word's start and the name."""
    begin = start
    while begin > 0 and start - begin < 6 and _joins(text[begin - 1], text[start]):  # noqa: PLR2004 - longest prefix
        begin -= 1
    if begin > 0 and _joins(text[begin - 1], text[start]):
        return False
    name = form.key.removeprefix("name:")
    prefix = text[begin:start]
    if len(name) < _SHORT or (name in HEBREW_WORDS and "ה" in prefix):
        return False
    return prefixes.fullmatch(prefix) is not None


def _ends_token(view: View, form: _Form, end: int) -> bool:
    if end == len(view.text):
        return True
    last, after = view.text[end - 1], view.text[end]
    if not _joins(last, after):
        return not (form.strict and after == "_" and view.text[end + 1 : end + 2].isalnum())
    if form.strict or len(form.key) < len("name:") + 4:
        return False
    if after.isdigit():
        return True
    return _is_upper(view, end) and not _is_upper(view, end - 1)


def _joins(one: str, other: str) -> bool:
    """Whether two neighbouring characters belong to one word: both word characters, of one script."""
    if not (one.isalnum() and other.isalnum()):
        return False
    if one.isdigit() or other.isdigit():
        return True
    return _script(one) == _script(other)


@lru_cache(maxsize=4096)
def _script(character: str) -> str:
    if character.isascii():
        return "LATIN"
    word = unicodedata.name(character, "?").split(" ", 1)[0]
    return "CJK" if word in _UNSPACED else word


def _is_upper(view: View, position: int) -> bool:
    return view.unfolded(position).isupper()


def _capitalised(view: View, start: int, end: int, *, mention: bool) -> bool:
    """Whether the token is written with a capital first letter alone, or as a mention (`@will`)."""
    if mention and view.text[end : end + 1] not in {".", "(", "/"}:
        return True
    first = view.unfolded(start)
    return first.isupper() and not any(view.unfolded(place).isupper() for place in range(start + 1, end))
