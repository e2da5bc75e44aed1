"""Rules about what documents cite: links, and the targets of decisions in the ledger."""

from __future__ import annotations

import posixpath
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping
from urllib.parse import unquote

from muniment.check.context import Context
from muniment.check.findings import Finding, Note, Unknown
from muniment.check.paths import Kind
from muniment.errors import Problem
from muniment.git.repo import MissingObject, Oid

_PLAIN = re.compile(r"(?:\.\./)*(?!\.)[^/%#?]+(?:/(?!\.)[^/%#?]+)*\Z")
"""A target of plain names after any number of `../`."""
MAX_REFS = 100
"""Branches looked at for a target that is absent here; more are said as a note."""
MAX_HISTORY = 5_000
"""Commits looked at for where a target went."""


def links(context: Context) -> Iterator[Finding]:
    """Links of owned documents lead somewhere; moves are followed, and absence on this branch is a note."""
    missing: dict[str, list[tuple[str, int, str]]] = {}
    for path, facts in context.documents.items():
        if context.kinds[path] not in {Kind.DOCUMENT, Kind.PLAN}:
            continue
        if not facts.unsure and all(_is_there(context, path, target) for target in facts.targets):
            continue
        for line, written in _real_links(context, path):
            place = resolve(path, written)
            if place is None:
                yield Note(path, line, "doc-link", f"The link to {written} leads outside the repository.")
            elif place and not context.snapshot.exists(place):
                missing.setdefault(place, []).append((path, line, written))
    if missing:
        yield from _explain(context, missing)


def resolve(path: str, target: str) -> str | None:
    """The repository-relative path that a link in `path` leads to; "": the document itself, None: outside."""
    bare = target if _PLAIN.match(target) else unquote(target.partition("#")[0].partition("?")[0])
    if not bare:
        return ""
    if _PLAIN.match(bare):  # nearly every link, and a document may have thousands
        end, up = path.rfind("/"), 0
        while bare.startswith("../", up):
            if end < 0:
                return None
            end, up = path.rfind("/", 0, end), up + 3
        return path[: end + 1] + bare[up:]
    base = "" if bare.startswith("/") else posixpath.dirname(path)
    place = posixpath.normpath(posixpath.join(base, bare.lstrip("/") if bare.startswith("/") else bare))
    if place == ".":
        return ""
    return None if place == ".." or place.startswith("../") else place


def _is_there(context: Context, path: str, target: str) -> bool:
    place = resolve(path, target)
    if place is None:
        return False
    return not place or place in context.snapshot.paths() or context.snapshot.exists(place)


def _real_links(context: Context, path: str) -> Iterator[tuple[int, str]]:
    """The local links as CommonMark has them, with their lines."""
    from muniment import markdown  # noqa: PLC0415 - only for a document with a doubtful link

    for link in markdown.links(context.text(path) or ""):
        scheme = link.target.partition(":")[0]
        external = ":" in link.target and scheme.isascii() and scheme.replace("+", "").isalnum()
        if link.target and not external and not link.target.startswith(("#", "//")):
            yield link.line, link.target


def _explain(context: Context, missing: Mapping[str, list[tuple[str, int, str]]]) -> Iterator[Finding]:
    """Why each target isn't here: moved, on another branch, unknown, or gone."""
    moved = _moved(context, missing)
    other = _elsewhere(context, [place for place in missing if place not in moved])
    shallow = context.ws.repo.is_shallow()
    for place, citations in sorted(missing.items()):
        for path, line, written in citations:
            if place in moved:
                yield Note(path, line, "doc-link", f"The target of {written} has moved to {moved[place]}.")
            elif place in other:
                message = f"The target of {written} is not on this branch; it is on {other[place]}."
                yield Note(path, line, "doc-link", message)
            elif shallow:
                why = f"{path}:{line} links to {written}, absent here; in a shallow clone it may have moved."
                yield Unknown("doc-link", why, "git fetch --unshallow")
            else:
                message = f"The link to {written} leads to nothing: there is no {place}."
                yield Problem(path, line, "doc-link", message, f"git log --oneline -- {shlex.quote(place)}")


def _moved(context: Context, missing: Iterable[str]) -> dict[str, str]:
    """Where targets went: the only document of the same name, or the same content at another path."""
    by_name: dict[str, list[str]] = {}
    for path in context.snapshot.paths():
        by_name.setdefault(posixpath.basename(path), []).append(path)
    found: dict[str, str] = {}
    for place in missing:
        same = by_name.get(posixpath.basename(place), [])
        if len(same) == 1 and context.owned.kind(place) is Kind.DOCUMENT:
            found[place] = same[0]
    rest = [place for place in missing if place not in found]
    return found | _moved_in_history(context, rest)


def _moved_in_history(context: Context, missing: list[str]) -> dict[str, str]:
    """Targets whose last content stands unchanged at another path of the files under judgement."""
    tip = context.scope.tip
    if tip is None or not missing:
        return {}
    repo = context.ws.repo
    last: dict[str, Oid] = {}
    try:
        for commit in repo.commits([tip], paths=missing, limit=MAX_HISTORY):
            for place in missing:
                if place in last or not commit.parents or repo.entry(commit.oid, place):
                    continue
                before = repo.entry(commit.parents[0], place)
                if before:
                    last[place] = before.oid
            if len(last) == len(missing):
                break
        now = {entry.oid: entry.path for entry in repo.entries(tip)} if last else {}
    except MissingObject:
        return {}
    moved = {place: now[oid] for place, oid in last.items() if oid in now}
    return {place: path for place, path in moved.items() if context.snapshot.exists(path)}


def _elsewhere(context: Context, missing: list[str]) -> dict[str, str]:
    """Targets that another branch of this clone has, and which."""
    if not missing:
        return {}
    repo = context.ws.repo
    names = {**repo.refs("refs/heads/"), **repo.refs("refs/remotes/")}
    found: dict[str, str] = {}
    for name, commit in sorted(names.items())[:MAX_REFS]:
        for place in missing:
            if place in found:
                continue
            try:
                there = repo.entry(commit, place) or next(iter(repo.entries(commit, place)), None)
            except MissingObject:
                continue
            if there:
                found[place] = name.removeprefix("refs/heads/").removeprefix("refs/remotes/")
    return found


def decision_targets(context: Context) -> Iterator[Finding]:
    """What decisions in the ledger point to is still there: a note, since an entry can't be edited."""
    if context.scope.mode != "all" or not context.wants_any(Kind.LEDGER) or context.ledger.verdict.broken:
        return
    targets: dict[str, tuple[str, str]] = {}
    for entry in context.ledger.entries.values():
        target = entry.data.get("target") if entry.kind == "decision" else None
        # A duplicate's target is a ledger subject, and landed work may be named by its commit.
        if isinstance(target, str) and target and entry.data.get("action") != "duplicate":
            place = target.rpartition(":")[0] if target.rpartition(":")[2].isdigit() else target
            if "/" in place and resolve("", place) == place and not context.snapshot.exists(place):
                targets.setdefault(place, (entry.id.short, target))
    moved = _moved(context, targets) if targets else {}
    for place, (entry_id, target) in sorted(targets.items()):
        if place not in moved:
            message = f"Decision {entry_id} points to {target}, which isn't here any more."
            yield Note(context.ws.config.ledger_path, 0, "decision-target", message)
