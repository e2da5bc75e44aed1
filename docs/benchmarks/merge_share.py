"""Merge ledgers without the drivers: how often lines do it cleanly, and whether `repair` heals every result.

    .venv/bin/python docs/benchmarks/merge_share.py [--sizes 20,200,1000] [--cases 100] [--seed 1] [--adds 4]

Each case branches twice from a ledger of so many entries, adds one to `--adds` entries on each side with
`muniment ledger add`, and merges three times: with git's own line merge, the same healed by `muniment
repair`, and with the driver. A line merge that git calls clean has to hold exactly the union, or `ledger
verify` has to say that it doesn't; the other two have to hold exactly the union, and the driver the same
bytes both ways. Exits 1 when any case fails.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import random
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

from muniment.cli.main import run

LEDGER = "docs/reviews/ledger.json"
IDENTITY = {
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "Bench",
    "GIT_AUTHOR_EMAIL": "bench@example.org",
    "GIT_COMMITTER_NAME": "Bench",
    "GIT_COMMITTER_EMAIL": "bench@example.org",
}


class Case:
    """One repository, used for case after case."""

    def __init__(self, root: Path, size: int, rng: random.Random) -> None:
        self.root = root
        self.rng = rng
        self.count = 0
        self.git("init", "-q", "-b", "main")
        self.muniment("init", "--merge-driver")
        for _ in range(size):
            self.add()
        self.git("add", ".")
        self.git("commit", "-q", "-m", "Base")

    def git(self, *arguments: str, check: bool = True) -> str:
        """Run git; a failure ends the script unless it is expected."""
        done = subprocess.run(["git", *arguments], cwd=self.root, capture_output=True, text=True, check=False)
        if check and done.returncode:
            raise SystemExit(f"git {' '.join(arguments)}: {done.stderr}")
        return done.stdout

    def muniment(self, *arguments: str) -> tuple[int, str]:
        """Run a command in this process: its exit code and output."""
        out = io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
            code = run(["-C", str(self.root), *arguments])
        return code, out.getvalue()

    def add(self) -> None:
        """Add one entry."""
        self.count += 1
        data = {
            "text": f"Note {self.count} {self.rng.random()}",
            "subject": f"bug/code/x-{self.rng.randrange(50)}",
        }
        code, _ = self.muniment("ledger", "add", "--kind", "note", "--data", json.dumps(data))
        if code:
            raise SystemExit("ledger add failed")

    def side(self, name: str, most: int) -> set[str]:
        """A branch from `main` with entries added; its ids."""
        self.git("checkout", "-q", "-B", name, "main")
        for _ in range(self.rng.randint(1, most)):
            self.add()
        self.git("commit", "-q", "-a", "-m", name)
        return self.ids()

    def ids(self) -> set[str]:
        """The ids in the working tree; none when one is there twice."""
        listed = [one["id"] for one in json.loads((self.root / LEDGER).read_bytes())["entries"]]
        return set(listed) if len(listed) == len(set(listed)) else set()

    def merge(self, into: str, other: str, *, driver: bool) -> bool:
        """Merge one branch into another; whether nothing was left unmerged."""
        self.git("checkout", "-q", "-f", "-B", "merged", into)
        attributes = self.root / ".git" / "info" / "attributes"
        attributes.write_text("" if driver else f"{LEDGER} merge=text\n")
        self.git("merge", "-q", "--no-edit", other, check=False)
        return not self.git("ls-files", "-u")

    def done(self) -> None:
        """Leave whatever is under way."""
        self.git("merge", "--abort", check=False)
        self.git("reset", "-q", "--hard")


def case(place: Case, most: int, tally: Counter[str]) -> None:
    """One pair of branches."""
    union = place.side("one", most) | place.side("two", most)
    clean = place.merge("one", "two", driver=False)
    tally["clean"] += clean
    if clean:
        verdict, _ = place.muniment("ledger", "verify")
        right = verdict == 0 and place.ids() == union
        tally["clean and right"] += right
        tally["clean, wrong and detected"] += not right and verdict != 0
        tally["FAILED: clean, wrong and not detected"] += not right and verdict == 0
    place.muniment("repair")
    healed = (place.root / LEDGER).read_bytes()
    tally["FAILED: repair lost or invented"] += place.ids() != union
    place.muniment("repair")
    tally["FAILED: repair again changed something"] += (place.root / LEDGER).read_bytes() != healed
    place.done()
    results = []
    for into, other in (("one", "two"), ("two", "one")):
        tally["FAILED: driver left a conflict"] += not place.merge(into, other, driver=True)
        tally["FAILED: driver lost or invented"] += place.ids() != union
        results.append((place.root / LEDGER).read_bytes())
        place.done()
    tally["FAILED: driver's bytes depend on the side"] += results[0] != results[1] or results[0] != healed


def main() -> None:
    """Measure and print; exit 1 when a case fails."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sizes", default="20,200,1000")
    parser.add_argument("--cases", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--adds", type=int, default=4)
    given = parser.parse_args()
    os.environ |= IDENTITY
    failed = False
    for size in map(int, given.sizes.split(",")):
        tally: Counter[str] = Counter()
        with tempfile.TemporaryDirectory() as folder:
            place = Case(Path(folder), size, random.Random(given.seed * 1_000_003 + size))
            for _ in range(given.cases):
                case(place, given.adds, tally)
        share = 100 * tally["clean"] / given.cases
        print(f"{size} entries, {given.cases} merges by lines: {share:.1f} % clean")
        for name, number in sorted(tally.items()):
            if number and name != "clean":
                print(f"  {name}: {number}")
                failed |= name.startswith("FAILED")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
