"""E-mail addresses in a folded view: plain, international, and written out ("name at host dot com"; G12)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Any

import re2

from muniment.redact.fold import View
from muniment.redact.spans import Span

_LOCAL = r"[\pL\pN._+'~-]"
_LABEL = r"[\pL\pN][\pL\pN_-]*"
_PLAIN = rf"({_LOCAL}+) ?@ ?({_LABEL}(?:\.{_LABEL})+)"
_MAILTO = rf"(?:mailto:|<)([\pL\pN.!#$%&'*+/=?^_`{{|}}~-]+)@({_LABEL}(?:\.{_LABEL})+)"
_LITERAL = rf"({_LOCAL}+)@(\[[0-9a-f:.]{{3,45}}\])"
_AT = (
    r"(?: ?[\[({<] ?(?:at|@|a|arroba|שטרודל|כרוכית|собака) ?[\])}>] ?| (?:at|arroba|שטרודל|כרוכית|собака|@) )"
)
_DOT = r"(?: ?[\[({<] ?(?:dot|\.|punto|נקודה|точка) ?[\])}>] ?| (?:dot|punto|נקודה|точка) | ?\. ?)"
_WRITTEN = rf"({_LOCAL}+)({_AT})({_LABEL}(?:{_DOT}{_LABEL})+)\b"
_COMMON_TLDS = frozenset(
    """
    com org net edu gov mil int info biz name io dev app ai me co us uk de fr es it nl be ch at se no dk fi pl
    cz ru ua il in cn jp kr au nz ca br mx ar za eu tv
    xyz online site cloud tech email museum example ie pt gr tr
    """.split()  # noqa: SIM905 - a word list reads better than a list of strings
)
_FILE_ENDINGS = frozenset(
    """
    png jpg jpeg gif svg webp ico avif css scss less js mjs cjs ts tsx jsx json map md html htm yml yaml toml
    txt lock service socket timer mount slice automount swap scope path
    """.split()  # noqa: SIM905 - same
)
_SHARED_ACCOUNTS = frozenset({"git", "hg", "svn"})
"""Logins of hosting services, the same for everyone: `git@host:group/project`."""


def find_mail(view: View) -> Iterator[Span]:
    """Every e-mail address in the view, in no particular order."""
    text = view.text
    if "@" in text:
        yield from _plain(view, _PLAIN)
        yield from _plain(view, _MAILTO)
        yield from _plain(view, _LITERAL)
    if "@" in text or " at " in text or _AT_HINT.search(text):
        yield from _written(view)


_AT_HINT = re.compile(r"[\[({<] ?(?:at|a) ?[\])}>]|arroba|שטרודל|כרוכית|собака")


@cache
def _compiled(pattern: str) -> Any:
    """The pattern, compiled when a text first needs it: these know every letter there is."""
    return re2.compile(pattern)


def _plain(view: View, pattern: str) -> Iterator[Span]:
    text = view.text
    for match in _compiled(pattern).finditer(text):
        local, domain = match.group(1), match.group(2)
        start, end = match.start(1), match.end(2)
        spaced = len(local) + len(domain) + 1 != end - start
        start, local = _trim_left(text, start, local)
        if not local or (spaced and not _is_common(domain)) or not _is_host(domain):
            continue
        if local in _SHARED_ACCOUNTS or _in_shared_path(text, start):
            continue
        yield _span(view, start, end, local, domain)


def _trim_left(text: str, start: int, local: str) -> tuple[int, str]:
    """The local part without punctuation that belongs to the sentence; empty when nothing is left."""
    kept = local.lstrip(".'+~-" if text[start - 1 : start] not in {":", "<"} else "'")
    return start + len(local) - len(kept), kept.rstrip("'")


def _in_shared_path(text: str, start: int) -> bool:
    """Whether this is a package version or a pinned action (`@scope/pkg@1.x`), not an address."""
    return text[start - 1 : start] == "@"


def _is_host(domain: str) -> bool:
    if domain.startswith("["):
        return True
    labels = domain.split(".")
    top = labels[-1]
    if len(top) < 2 or not top.replace("-", "a").isalnum() or top.isdigit():  # noqa: PLR2004 - no one-letter TLD
        return False
    if not (top[0].isalpha() and (top.isalpha() or top.startswith("xn--"))):
        return False
    if top in _FILE_ENDINGS:
        return False
    versioned = labels[0].lstrip("v").isdigit() and (len(labels) > 2 and labels[1][:1].isdigit())  # noqa: PLR2004 - a third label
    return not versioned


def _is_common(domain: str) -> bool:
    return domain.rpartition(".")[2] in _COMMON_TLDS


def _written(view: View) -> Iterator[Span]:
    text = view.text
    for match in _compiled(_WRITTEN).finditer(text):
        start, end = match.span()
        at = match.group(2)
        labels = re.split(
            r" ?[\[({<] ?(?:dot|\.|punto|נקודה|точка) ?[\])}>] ?| (?:dot|punto|נקודה|точка) | ?\. ?",
            match.group(3),
        )
        domain = ".".join(label for label in labels if label)
        bare = at in {" at ", " @ "}
        spelled = "." not in match.group(3)
        if not _is_common(domain) or (bare and at == " at " and not spelled):
            continue
        start, local = _trim_left(text, start, match.group(1))
        if local:
            yield _span(view, start, end, local, domain)


def _span(view: View, start: int, end: int, local: str, domain: str) -> Span:
    low, high = view.span(start, end)
    return Span(low, high, "email", f"mail:{local}@{domain}", "mail")
