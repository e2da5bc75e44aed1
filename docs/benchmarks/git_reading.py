"""Compare reading by the git program with reading by pygit2: `python docs/benchmarks/git_reading.py`.

Makes a repository of 10,000 files and 10,000 commits in a temporary folder, then prints CPU seconds (user and
system, children included, medians of nine runs) of a fresh interpreter for each question.
"""

from __future__ import annotations

import random
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

RUNS = 9
FILES = COMMITS = 10_000

_OPEN = """
import os
from itertools import islice
from pathlib import Path
from muniment.git.program import discover
repo = discover(Path("."), os.environ)
files, history = repo.resolve("files"), repo.resolve("history")
oids = [entry.oid for entry in repo.entries(files)]
"""
_LIBRARY = _OPEN + "import pygit2\nlibrary = pygit2.Repository('.')\n"
QUESTIONS = {
    "open and list": (_OPEN, _LIBRARY),
    "1,000 blobs": (
        _OPEN + "list(repo.blobs(oids[:1000]))",
        _LIBRARY + "[library[oid].data for oid in oids[:1000]]",
    ),
    "10,000 blobs": (_OPEN + "list(repo.blobs(oids))", _LIBRARY + "[library[oid].data for oid in oids]"),
    "10,000 commits": (
        _OPEN + "[one.subject for one in repo.commits([history])]",
        _LIBRARY + "order = pygit2.GIT_SORT_TOPOLOGICAL | pygit2.GIT_SORT_TIME\n"
        "[one.message for one in library.walk(history, order)]",
    ),
    "100 ancestry questions": (
        _OPEN + "[repo.is_ancestor(history, files) for _ in range(100)]",
        _LIBRARY + "[library.descendant_of(files, history) for _ in range(100)]",
    ),
}


def make(folder: Path) -> None:
    """Write the repository through `git fast-import`."""
    subprocess.run(["git", "init", "-q", folder], check=True)
    dice = random.Random(1)
    lines: list[str] = []
    for number in range(COMMITS):
        lines += [
            "commit refs/heads/history",
            f"committer A <a@example.org> {1_700_000_000 + number} +0000",
            "data 8",
            f"c{number:06}",
            f"M 100644 inline docs/f{number % 50}.md",
            "data 7",
            f"{number:06}",
        ]
    lines += ["commit refs/heads/files", "committer A <a@example.org> 1700000000 +0000", "data 1", "f"]
    for number in range(FILES):
        text = "".join(dice.choices("abcdefgh \n", k=3000))
        lines += [f"M 100644 inline d{number % 100}/{number}.md", f"data {len(text)}", text]
    feed = ("\n".join(lines) + "\n").encode()
    subprocess.run(["git", "-C", folder, "fast-import", "--quiet"], input=feed, check=True)


def seconds(code: str, folder: Path) -> float:
    """CPU seconds of one fresh interpreter."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", code], cwd=folder, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    """Measure and print one line per question."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "repository"
        make(folder)
        for question, codes in QUESTIONS.items():
            program, library = (
                statistics.median(seconds(code, folder) for _ in range(RUNS)) for code in codes
            )
            print(f"{question:24} program {program:.3f} s   pygit2 {library:.3f} s")


if __name__ == "__main__":
    main()
