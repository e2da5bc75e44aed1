"""Rules about files as such: conflict markers, encoding, line endings, and files that must not be there."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from muniment import config as configuration
from muniment.check.context import Context
from muniment.check.facts import conflict_faults
from muniment.check.findings import Finding, Unknown
from muniment.check.paths import Kind
from muniment.errors import Problem
from muniment.git.repo import LINK_MODE

RECORDS = (Kind.LEDGER, Kind.SEALED, Kind.STATE, Kind.REPORT)
"""Files that only Muniment writes, byte for byte the same on every platform."""


def settings(context: Context) -> Iterator[Finding]:
    """Settings have known keys and values of the right type, in every layer."""
    if context.scope.mode in {"all", "paths"}:
        yield from context.ws.config_problems
        return
    mine = [problem for problem in context.ws.config_problems if problem.path != configuration.COMMITTED]
    yield from mine
    for path in context.paths(Kind.CONFIG):
        yield from configuration.parse_text(context.read(path), path, "committed")[1]


def local_settings(context: Context) -> Iterator[Finding]:
    """This machine's settings stay out of commits."""
    path = configuration.LOCAL
    if context.scope.mode in {"staged", "range"}:
        tracked = path in context.snapshot.paths() and context.scope.wants(path)
    else:
        tracked = path in context.snapshot.paths() and bool(context.ws.repo.index_entries((path,)))
    if tracked:
        yield configuration.TRACKED_LOCAL


def conflict_markers(context: Context) -> Iterator[Finding]:
    """No owned file holds the conflict markers of an unfinished merge (the ledger says so by itself)."""
    for path in context.paths():
        kind = context.kinds[path]
        if kind in {Kind.LEDGER, Kind.SEALED, Kind.STATE, Kind.CONFIG} or path in context.documents:
            continue  # their own rules say so
        for line, rule, message, fix in conflict_faults(context.read(path)):
            yield Problem(path, line, rule, message, fix.replace("\0", shlex.quote(path)))


def texts(context: Context) -> Iterator[Finding]:
    """Every owned Markdown file is UTF-8, unconflicted, with whole markers and untouched machine regions."""
    for path, facts in context.documents.items():
        for line, rule, message, fix in facts.faults:
            yield Problem(path, line, rule, message, fix)
    for path in context.paths(Kind.ALLOW_LIST):
        if context.text(path) is None and context.snapshot.read(path) is not None:
            yield Problem(path, 0, "text", "It is not UTF-8.", f"Save {path} as UTF-8.")


def plain_files(context: Context) -> Iterator[Finding]:
    """What Muniment writes is a plain file: a symbolic link would send the write elsewhere."""
    for path in context.paths(*RECORDS, Kind.PLAN, Kind.CONFIG, Kind.ALLOW_LIST, Kind.TRIAGE):
        if context.snapshot.paths()[path] == LINK_MODE:
            message = "It is a symbolic link; Muniment reads and writes plain files only."
            yield Problem(path, 0, "symbolic-link", message, "Replace the link by the file it names.")


def unreadable(context: Context) -> Iterator[Finding]:
    """Every owned file can be read; what can't be is unknown, and hides nothing else (G17, G18)."""
    for path in context.paths():
        context.oid(path)
    gone = {**context.snapshot.unreadable, **(context.base.unreadable if context.base else {})}
    for why, settle in gone.values():
        yield Unknown("unreadable", why, settle)


def line_endings(context: Context) -> Iterator[Finding]:
    """Ledger and state have LF line endings on every platform (G2)."""
    for path in context.paths(Kind.LEDGER, Kind.SEALED, Kind.STATE):
        data = context.read(path)
        if b"\r\n" in data:
            line = data.count(b"\n", 0, data.index(b"\r\n")) + 1
            message = "It has CRLF line endings; `muniment init` keeps it LF in .gitattributes."
            yield Problem(path, line, "line-endings", message, "muniment init && muniment check --fix")
