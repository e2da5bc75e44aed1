"""Measure the figures of docs/benchmarks.md: `python docs/benchmarks/figures.py [NAME …] [--runs N]`.

Every figure is a ratio inside one run where there is something to compare with: CPU time (user + system) of
whole processes, the two commands in turn, medians. Needs the installed command and nothing else.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

PYTHON = sys.executable
MUNIMENT = [PYTHON, "-m", "muniment"]
# fmt: off
WORDS = (
    "list", "merge", "flour", "quantity", "reminder", "hour", "zone", "household", "recipe", "guest",
    "cupboard", "phone", "reconnect", "expiry", "invite", "history", "offline", "client", "server",
    "cache", "token", "index", "branch", "commit", "rebase", "region", "digest", "ledger", "entry",
    "report", "finding", "triage", "decision", "owner", "apply", "undo", "preview", "confirm", "batch",
    "stage", "archive", "backlog", "roadmap", "story", "goal", "milestone",
)
# fmt: on


def measure(command: Sequence[str], cwd: Path, stdin: bytes = b"") -> tuple[float, int]:
    """One run's CPU seconds (user + system, with children) and peak KiB; ends the program when it fails."""
    read, write = os.pipe()
    process = subprocess.Popen(
        command, cwd=cwd, stdin=read, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    os.close(read)
    with os.fdopen(write, "wb") as feed:
        feed.write(stdin)
    _, status, usage = os.wait4(process.pid, 0)
    said = process.stderr.read() if process.stderr else b""
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise SystemExit(
            f"{' '.join(command)}: exit {process.returncode}: {said.decode(errors='replace')[-400:]}"
        )
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss


def pair(name: str, ours: Sequence[str], theirs: Sequence[str], cwd: Path, runs: int, at_most: float) -> None:
    """Print the ratio of two commands' median CPU times, run in turn after one warm-up each."""
    measure(ours, cwd)
    measure(theirs, cwd)
    mine, other = [], []
    for _ in range(runs):
        mine.append(measure(ours, cwd)[0])
        other.append(measure(theirs, cwd)[0])
    a, b = statistics.median(mine), statistics.median(other)
    print(f"| {name} | {a / b:.2f} | {at_most} | {a * 1000:.0f} ms / {b * 1000:.0f} ms |")


def alone(name: str, command: Sequence[str], cwd: Path, runs: int, note: str, stdin: bytes = b"") -> None:
    """Print one command's median CPU time and peak memory."""
    measure(command, cwd, stdin)
    seen = [measure(command, cwd, stdin) for _ in range(runs)]
    cpu = statistics.median(value for value, _ in seen)
    memory = max(value for _, value in seen) / 1024
    print(f"| {name} | {cpu:.2f} s, {memory:.0f} MB | {note} | |")


def repository(folder: Path, files: int, text: Callable[[int], str], name: str) -> Path:
    """A committed repository of `files` files at `name` (a format string)."""
    root = folder / f"repo-{files}"
    root.mkdir()
    for number in range(files):
        target = root / name.format(number % 100, number)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text(number), encoding="utf-8")
    git = ["git", "-c", "user.name=b", "-c", "user.email=b@example.org", "-c", "commit.gpgsign=false"]
    for arguments in (["init", "-q", "-b", "main"], ["add", "."], ["commit", "-q", "-m", "Start"]):
        subprocess.run([*git, *arguments], cwd=root, check=True)
    for key, value in (("user.name", "Bench"), ("user.email", "bench@example.org")):
        subprocess.run(["git", "config", key, value], cwd=root, check=True)
    return root


def sentence(seed: int, length: int) -> str:
    """Repeatable prose."""
    chosen = random.Random(seed).choices(WORDS, k=length)
    return " ".join(chosen).capitalize() + "."


def document(number: int) -> str:
    """One Markdown document of about 80 words."""
    return (
        f"# {sentence(number, 6)}\n\n{sentence(number + 1, 40)}\n\n## Notes\n\n{sentence(number + 2, 34)}\n"
    )


def start_up(folder: Path, runs: int) -> None:
    """`--version` and `--help` against importing click."""
    base = [PYTHON, "-c", "import click"]
    for words in (["--version"], ["--help"], ["ledger", "--help"], ["apply", "--help"], ["check", "--help"]):
        pair("muniment " + " ".join(words), [*MUNIMENT, *words], base, folder, runs, 1.5)


def staged(folder: Path, runs: int) -> None:
    """`check --staged` with nothing of ours staged, in 10,000 files."""
    root = repository(folder, 10_000, lambda n: f"line {n}\n", "src/d{}/f{}.txt")
    subprocess.run([*MUNIMENT, "init"], cwd=root, check=True, stdout=subprocess.DEVNULL)
    (root / "src/d1/f1.txt").write_text("changed\n", encoding="utf-8")
    subprocess.run(["git", "add", "src"], cwd=root, check=True)
    base = [PYTHON, "-c", "import click"]
    pair("check --staged, 10,000 files", [*MUNIMENT, "check", "--staged"], base, root, runs, 2.0)


def relate(folder: Path, runs: int) -> None:
    """`relate` one finding over 1,000 documents, warm."""
    root = repository(folder, 1_000, document, "docs/ideas/d{}-{}.md")
    command = [*MUNIMENT, "relate", "merged list drops the quantity of flour", "--json"]
    alone("relate, 1,000 documents, warm", command, root, runs, "0.5 s, 150 MB")


def ledger(folder: Path, runs: int) -> None:
    """`ledger add` and `ledger verify` at 100,000 entries, one open segment."""
    from muniment.ledger.entries import mint
    from muniment.ledger.segment import render_segment

    root = repository(folder, 1, lambda _: "x\n", "f{}-{}.txt")
    path = root / "docs/reviews/ledger.json"
    path.parent.mkdir(parents=True)
    made, heads = [], ()
    for number in range(100_000):
        entry = mint(
            kind="note",
            at=f"2026-01-{1 + number // 5000:02d}T{number % 24:02d}:00:00Z"
            if number % 5000 == 0
            else "2026-02-01T00:00:00Z",
            actor="Bench",
            after=heads,
            op=f"bench-{number}",
            data={"text": sentence(number, 12)},
        )
        heads = (entry.id,)
        made.append(entry)
    path.write_bytes(render_segment(made))
    base = [PYTHON, "-c", f"import orjson; orjson.loads(open({str(path)!r}, 'rb').read())"]
    pair("ledger verify, 100,000 entries", [*MUNIMENT, "ledger", "verify"], base, root, runs, 4)
    add = [*MUNIMENT, "ledger", "add", "--kind", "note", "--data", '{"text": "one more"}']
    pair("ledger add, 100,000 entries", add, base, root, runs, 1.5)


def redact(folder: Path, runs: int) -> None:
    """`redact` of 10 MB of Markdown with 200 names, and hostile input at two sizes."""
    names = folder / "names.txt"
    names.write_text("\n".join(f"Person{n} Surname{n}" for n in range(200)), encoding="utf-8")
    text = folder / "ten.md"
    with text.open("w", encoding="utf-8") as stream:
        number = 0
        while stream.tell() < 10_000_000:
            stream.write(document(number))
            number += 1
    command = [*MUNIMENT, "redact", str(text), "--known", str(names)]
    alone("redact, 10 MB, 200 names", command, folder, min(runs, 9), "5 s (2 MB/s)")
    for label, unit in (("0", "0"), ("@", "@"), ("a.", "a."), ("+1 ", "+1 "), ("(", "("), ("space", " ")):
        times = []
        for size in (250_000, 1_000_000):
            hostile = folder / "hostile.txt"
            hostile.write_text(unit * (size // len(unit)), encoding="utf-8")
            times.append(
                statistics.median(measure([*MUNIMENT, "redact", str(hostile)], folder)[0] for _ in range(3))
            )
        ratio = f"{times[1] / times[0]:.1f} | 4 (linear) | {times[1]:.2f} s"
        print(f"| redact, 1 MB of {label!r} against 0.25 MB | {ratio} |")


def region(folder: Path, runs: int) -> None:
    """Rewrite the region of a plan of about 1 MB."""
    root = repository(folder, 2, lambda _: "x\n", "f{}-{}.txt")
    state = root / "docs/feedback-sweep/state.yml"
    state.parent.mkdir(parents=True)
    lines = ["schema_version: 1", "items:"]
    for number in range(2_500):
        lines += [
            f"  inbox:{number}:",
            f'    id: "{number}"',
            "    source: inbox",
            "    status: analyzed",
            f"    title: {sentence(number, 8)[:-1]}",
            f"    quote: {json.dumps(sentence(number, 40))}",
            "    category: bug",
            "    actionable: true",
        ]
    state.write_text("\n".join(lines) + "\n", encoding="utf-8")
    subprocess.run([*MUNIMENT, "plan", "reconcile"], cwd=root, check=True, stdout=subprocess.DEVNULL)
    plan = root / "docs/plans/feedback-sweep-plan.md"
    size = plan.stat().st_size / 1e6
    closed = state.read_text(encoding="utf-8").replace("status: in_plan", "status: closed", 1)
    base = state.read_text(encoding="utf-8")
    for label in ("not committed yet", "committed"):  # until then the gate judges every line as added
        if label == "committed":
            git = ["git", "-c", "commit.gpgsign=false"]
            subprocess.run([*git, "add", "docs"], cwd=root, check=True)
            subprocess.run([*git, "commit", "-q", "-m", "Plan"], cwd=root, check=True)
        times = []
        for number in range(runs):
            state.write_text(closed if number % 2 == 0 else base, encoding="utf-8")
            times.append(measure([*MUNIMENT, "plan", "reconcile"], root)[0])
        print(f"| plan reconcile, {size:.1f} MB plan, {label} | {statistics.median(times):.2f} s | 1 s | |")


FIGURES = {
    "start-up": start_up,
    "staged": staged,
    "relate": relate,
    "ledger": ledger,
    "redact": redact,
    "region": region,
}


def main() -> None:
    """Run the named figures, or all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(FIGURES))
    parser.add_argument("--runs", type=int, default=9)
    given = parser.parse_args()
    print("| what | measured | at most | medians |\n|---|---|---|---|")
    for name in given.names or FIGURES:
        with tempfile.TemporaryDirectory() as folder:
            FIGURES[name](Path(folder), given.runs)
            sys.stdout.flush()


if __name__ == "__main__":
    main()
