"""Which commit a bot runs, and whether it contains a landed change: decided from git alone (C8, G17)."""

from __future__ import annotations

from dataclasses import dataclass, replace

from muniment.git.repo import MissingObject, Oid
from muniment.intake.propose import Contained
from muniment.intake.rows import RelatedLine
from muniment.intake.standing_work import Landings
from muniment.workspace import Workspace

PLACEHOLDER = "{version}"


@dataclass(frozen=True, slots=True)
class Running:
    """A bot's running version as git knows it.

    Attributes:
        shown: The version in words, starting with `unknown` when git can't place it.
        commit: Its commit; None when unknown.
        why: Why it is unknown, with what would settle it; empty when it is known.
    """

    shown: str
    commit: Oid | None
    why: str = ""


def running(ws: Workspace, version: str, commit: str) -> Running:
    """The commit that a bot ran: `commit` as its report states it, else exactly one tag named for it."""
    if commit:
        return _by_commit(ws, version, commit.lower())
    if not version:
        return _unknown("the report states neither version nor commit")
    tags = ws.repo.refs("refs/tags/")
    names = [name for name in _names(version, ws.config.version_tag) if f"refs/tags/{name}" in tags]
    if len(names) == 1:
        return Running(f"{version} (tag {names[0]})", tags[f"refs/tags/{names[0]}"])
    if names:
        return _unknown(f"several tags name version {version}: {', '.join(names)}")
    return _unknown(f"no tag names version {version}; set version_tag, or `git fetch --tags` may bring it")


def _by_commit(ws: Workspace, version: str, commit: str) -> Running:
    found, short = ws.repo.resolve(commit), commit[:10]
    if found is None:
        return _unknown(f"commit {short} isn't in this clone; `git fetch` may bring it")
    if not found.startswith(commit):  # git takes a ref of that name before an abbreviated id
        return _unknown(f"{short} is the name of a branch or tag here, too; the report needs the full id")
    return Running(f"{version} ({short})" if version else short, found)


def _names(version: str, pattern: str) -> list[str]:
    names = [version, f"v{version}"]
    if PLACEHOLDER in pattern:
        names.append(pattern.replace(PLACEHOLDER, version))
    return list(dict.fromkeys(names))


def _unknown(why: str) -> Running:
    return Running(f"unknown: {why}", None, why)


def contains(ws: Workspace, landings: Landings, version: Running, line: RelatedLine) -> Contained:
    """Whether the running version contains the change that landed a related line, and it still stands."""
    if version.commit is None:
        return Contained(None, version.why)
    if not line.commit:
        return Contained(None, "no commit is known to have landed it")
    landed = ws.repo.resolve(line.commit)
    if landed is None:
        return Contained(None, f"commit {line.commit[:10]}, which landed it, isn't in this clone")
    try:
        if why := landings.doubt(landed):
            return Contained(None, why)
        found = landings.holds(landed, version.commit, version.shown)
        return replace(found, docs_only=line.type != "commit" and landings.is_docs_only(landed))
    except MissingObject as error:
        return Contained(None, f"history is missing here ({error.message})")
