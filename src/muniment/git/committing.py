"""What a commit needs of the git program: identity, hooks, signing; each step apart, nothing moved by it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from muniment.errors import Refused, Unavailable, UsageProblem
from muniment.git.objects import tree_line
from muniment.git.process import Ran, decode, encode, fields
from muniment.git.program import DURABLE
from muniment.git.repo import Oid, Repository, TreeEntry

HOOKS = ("pre-commit", "prepare-commit-msg", "commit-msg")
"""The hooks of `git commit` that may change or reject, in its order (githooks(5))."""


def require_identity(repo: Repository) -> None:
    """Refuse early when git would not make a commit for want of a name or address.

    Raises:
        UsageProblem: `user.name` or `user.email` isn't set (or only guessed, with `user.useConfigOnly`).
    """
    for variable in ("GIT_AUTHOR_IDENT", "GIT_COMMITTER_IDENT"):
        if repo.git.run("var", variable).code:
            raise UsageProblem(
                "git doesn't know who you are, so nothing was written.",
                "git config user.name 'Your Name' && git config user.email you@example.org",
                code="no-identity",
            )


def hook_folder(repo: Repository) -> Path:
    """Where git looks for hooks, `core.hooksPath` honoured."""
    return repo.root / repo.git.line("rev-parse", "--git-path", "hooks")


def has_hooks(repo: Repository) -> bool:
    """Whether any hook of a commit may run; configured hooks (`hook.NAME.event`) count as some."""
    folder = hook_folder(repo)
    if any(os.access(folder / name, os.X_OK) for name in (*HOOKS, "post-commit")):
        return True
    return repo.git.run("config", "--get-regexp", r"^hook\..*\.event$").code == 0


def run_hook(repo: Repository, name: str, *arguments: str, index: Path) -> Ran:
    """Run one of the repository's hooks as `git commit` would; a hook that isn't there answers 0.

    The hook sees the private index as `GIT_INDEX_FILE`, no editor, and no terminal.
    """
    environment = {"GIT_INDEX_FILE": str(index), "GIT_EDITOR": ":", "GIT_PREFIX": ""}
    done = repo.git.run(
        "hook", "run", "--ignore-missing", name, "--", *arguments, env=environment, acting=True
    )
    if done.code == 1 and "is not a git command" in done.err:  # pragma: no cover - git before 2.36
        raise Unavailable(
            "This git can't run hooks by itself; nothing was written.", "Install git 2.36 or newer."
        )
    return done


def commit_tree(repo: Repository, tree: Oid, parent: Oid | None, message: Path, date: str) -> Oid:
    """Store a commit by the configured identity, signed when `commit.gpgSign` says so; moves no ref.

    `date` (`SECONDS +0000`) is used where the environment doesn't fix one.

    Raises:
        Unavailable: Signing failed.
    """
    sign = repo.config("commit.gpgsign") or ""
    arguments = ["commit-tree", *(("-p", parent) if parent else ()), "-F", str(message)]
    arguments += ["-S"] if sign.lower() in {"true", "yes", "on", "1"} else []
    dates = ("GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE")
    environment = {name: date for name in dates if name not in repo.git.environ}
    done = repo.git.run(*arguments, tree, env=environment, acting=True, options=DURABLE)
    if done.code:
        raise Unavailable(f"git could not make the commit: {done.err}", "Nothing was committed.")
    return Oid(decode(done.out).strip())


def changed_paths(repo: Repository, old: Oid, new: Oid) -> tuple[str, ...]:
    """Paths that differ between two trees."""
    if old == new:
        return ()
    return tuple(fields(repo.git.out("diff-tree", "-r", "-z", "--name-only", "--no-renames", old, new)))


def tree_entries(repo: Repository, tree: Oid, paths: Iterable[str]) -> Mapping[str, TreeEntry | None]:
    """What a tree holds at each of `paths`."""
    wanted = dict.fromkeys(paths)
    if not wanted:
        return {}
    listed = map(tree_line, fields(repo.git.out("ls-tree", "-r", "-z", "--full-tree", tree, "--", *wanted)))
    return wanted | {entry.path: entry for entry in listed if entry.path in wanted}


def changed_by_user(repo: Repository) -> frozenset[str]:
    """Every path with an uncommitted change, untracked files included."""
    options = ("--porcelain=v1", "-z", "--untracked-files=all", "--no-renames", "--ignore-submodules=none")
    return frozenset(record[3:] for record in fields(repo.git.out("status", *options)))


def tidy_message(data: bytes) -> str:
    """A commit message as git's `whitespace` clean-up leaves it.

    Raises:
        Refused: Not UTF-8, or nothing is left.
    """
    try:
        lines = [line.rstrip() for line in data.decode("utf-8").split("\n")]
    except UnicodeDecodeError as error:
        raise Refused("The commit message is not UTF-8 any more; a hook changed it.") from error
    kept = [line for number, line in enumerate(lines) if line or (number and lines[number - 1])]
    text = "\n".join(kept).strip("\n")
    if not text:
        raise Refused("The commit message is empty; a hook emptied it.", code="hook-changed")
    return text + "\n"


def write_message(path: Path, text: str) -> None:
    """Write the message file that hooks receive."""
    path.write_bytes(encode(text))
