"""Listings at one git process each, however much they list: working files, and what commits changed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from muniment.git.process import fields
from muniment.git.repo import Oid, Repository

_PATHS_AT_ONCE = 400


@dataclass(frozen=True, slots=True)
class Touched:
    """What one commit changed against its parent; a merge changes nothing by itself.

    Attributes:
        paths: Every changed path, in git's order; a rename is a removal and an addition.
        added: Those that the parent didn't have.
    """

    commit: Oid
    paths: tuple[str, ...]
    added: frozenset[str]


def tracked(repo: Repository) -> frozenset[str]:
    """Every path in the index, conflicted ones included."""
    return frozenset(fields(repo.git.out("ls-files", "-z", "--cached")))


def untracked(repo: Repository, places: Iterable[str]) -> frozenset[str]:
    """Untracked files that git doesn't ignore, at or below the given paths."""
    asked = tuple(dict.fromkeys(places))[:_PATHS_AT_ONCE]
    if not asked:
        return frozenset()
    return frozenset(fields(repo.git.out("ls-files", "-z", "--others", "--exclude-standard", "--", *asked)))


def touched(repo: Repository, commits: Iterable[Oid]) -> Iterator[Touched]:
    """What each commit changed, in the order given; merges are left out.

    Raises:
        MissingObject: A commit or tree is absent from this clone.
    """
    asked = "\n".join(commits)
    if not asked:
        return
    options = ("--stdin", "-r", "-z", "--root", "--name-status", "--no-renames", "--no-ext-diff")
    answer = iter(fields(repo.git.out("diff-tree", *options, stdin=f"{asked}\n".encode("ascii"))))
    commit = ""
    paths: list[str] = []
    added: set[str] = set()
    for field in answer:
        if len(field) > 2:  # noqa: PLR2004 - a status is one letter, a commit's id 40 or 64 digits
            if commit:
                yield Touched(Oid(commit), tuple(paths), frozenset(added))
            commit, paths, added = field, [], set()
            continue
        path = next(answer)
        paths.append(path)
        if field == "A":
            added.add(path)
    if commit:
        yield Touched(Oid(commit), tuple(paths), frozenset(added))
