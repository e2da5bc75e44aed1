"""Compare `muniment check` with other checkers on the same 1,000 documents.

    python -m venv peers && peers/bin/pip install whykit cartulary doorstop
    python docs/benchmarks/check_peers.py --peers peers/bin [--documents 1000] [--runs 9]

One corpus, written in the form each tool reads: the same titles, prose, headings, tables, code and links.
For whykit the documents are notes of a vault, for cartulary Markdown with a schema that resolves each
document's references, for doorstop items of one document with links (in its Markdown item format), for
Muniment documents by stage. Every tool must accept the whole corpus (exit code 0), or the script stops.

CPU time is user + system of whole processes, children included; medians of runs made in turn. `cold` starts
without the tool's own cache, `cached` with it filled; a tool without a cache has one figure.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

WORDS = """
    list merge flour quantity reminder hour zone household recipe guest cupboard phone reconnect expiry
    invite history offline client server cache token index branch commit region digest entry report
    finding decision owner preview batch stage archive backlog roadmap story goal milestone
""".split()  # noqa: SIM905 - one word a line would fill a page
STAGES = ("ideas", "backlog", "in-progress", "bugs", "refactor", "archive", "debug")


@dataclass(frozen=True, slots=True)
class Document:
    """One document of the corpus; `links` are numbers of other documents."""

    number: int
    title: str
    paragraphs: tuple[str, ...]
    links: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Tool:
    """One checker.

    Attributes:
        command: What is run.
        cwd: Where it runs.
        forget: Drops its cache; None when it has none.
        warm: How many runs fill its cache.
    """

    name: str
    command: Sequence[str]
    cwd: Path
    forget: Callable[[], None] | None
    warm: int = 1


def corpus(count: int) -> list[Document]:
    """The documents, the same on every machine."""
    chance = random.Random(7)

    def sentence(length: int) -> str:
        return " ".join(chance.choices(WORDS, k=length)).capitalize() + "."

    return [
        Document(
            number,
            sentence(5)[:-1],
            tuple(" ".join(sentence(chance.randint(8, 18)) for _ in range(4)) for _ in range(4)),
            tuple(sorted(chance.sample([other for other in range(count) if other != number], 3))),
        )
        for number in range(count)
    ]


def body(document: Document, link: Callable[[int], str]) -> str:
    """The Markdown below the front matter; `link` spells a link to another document."""
    first, second, third, fourth = document.paragraphs
    rows = "\n".join(f"| {words} | {len(words)} |" for words in first.split()[:4])
    related = "\n".join(f"- {link(number)}" for number in document.links)
    return (
        f"# {document.title}\n\n{first}\n\n## Context\n\n{second}\n\n| Word | Length |\n|---|---|\n{rows}\n\n"
        f"## Detail\n\n{third}\n\n```text\nstep {document.number}\n```\n\n{fourth}\n\n"
        f"## Related\n\n{related}\n"
    )


def write(path: Path, text: str) -> None:
    """Write a file and the folders above it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def commit(root: Path) -> None:
    """Make a folder a committed repository."""
    git = ["git", "-c", "user.name=b", "-c", "user.email=b@example.org", "-c", "commit.gpgsign=false"]
    for arguments in (["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-q", "-m", "Start"]):
        subprocess.run([*git, *arguments], cwd=root, check=True)


def muniment(root: Path, documents: Sequence[Document]) -> Tool:
    """Documents by stage, linked by relative paths."""

    def name(number: int) -> str:
        return f"{STAGES[number % len(STAGES)]}/doc-{number:04d}.md"

    texts = []
    for document in documents:
        front = f"---\ntitle: {document.title}\nowner: team\ncreated: 2026-01-31\ntags: []\n---\n\n"
        text = front + body(document, lambda other: f"[Doc {other}](../{name(other)})")
        write(root / "docs" / name(document.number), text)
        texts.append(text)
    commit(root)
    command = [sys.executable, "-m", "muniment", "check"]

    def forget() -> None:
        shutil.rmtree(root / ".git/muniment", ignore_errors=True)

    # A run looks at 128 KB of committed text for identifiers and remembers it, so several fill the cache.
    return Tool("muniment", command, root, forget, warm=2 + sum(map(len, texts)) // (128 * 1024))


def whykit(root: Path, documents: Sequence[Document], programs: Path) -> Tool:
    """Notes of a vault, linked by wikilinks, listed by a hub note."""
    program = str(programs / "whykit")
    subprocess.run([program, "init", str(root)], check=True, stdout=subprocess.DEVNULL)
    for document in documents:
        front = (
            f"---\ntitle: {document.title} {document.number:04d}\naliases: []\ntype: reference\n"
            "status: draft\nowner: team\ncreated: 2026-01-31\nlast_updated: 2026-01-31\n"
            "source_of_truth: false\nsensitivity: internal\nsource_ids: []\ntags: []\n---\n\n"
        )
        text = front + body(document, lambda other: f"[[doc-{other:04d}]]")
        write(root / "notes" / f"doc-{document.number:04d}.md", text)
    commit(root)
    command = [program, "lint", "--root", str(root)]
    return Tool("whykit", command, root, lambda: shutil.rmtree(root / ".whykit/cache", ignore_errors=True))


SCHEMA = """\
schemas:
  doc:
    primary_key: doc_id
    frontmatter:
      fields:
        document_type: { value: doc, required: true }
        doc_id: { type: doc_ref, required: true }
        title: { required: true }
    sections:
      - heading: Context
        required: true
      - heading: Detail
        required: true
      - heading: Related
        required: true
        content:
          type: ref_list
          style: unlabeled
          ref: doc
value_types:
  doc_ref: { pattern: "^DOC-[0-9]{4}$" }
"""


def cartulary(root: Path, documents: Sequence[Document], programs: Path) -> Tool:
    """Markdown with a schema: required sections, and references that must resolve."""
    write(root / "schema.yaml", SCHEMA)
    for document in documents:
        front = (
            f"---\ndocument_type: doc\ndoc_id: DOC-{document.number:04d}\ntitle: {document.title}\n---\n\n"
        )
        text = front + body(document, lambda other: f"DOC-{other:04d}")
        write(root / "docs" / f"doc-{document.number:04d}.md", text)
    command = [str(programs / "cartulary"), "-q", "schema.yaml", "docs"]
    return Tool("cartulary", command, root, None)


def doorstop(root: Path, documents: Sequence[Document], programs: Path) -> Tool:
    """Items of one document; an item links to items with smaller numbers only, since cycles are faults."""
    settings = "settings:\n  digits: 4\n  itemformat: markdown\n  prefix: DOC\n  sep: '-'\n"
    write(root / "docs" / ".doorstop.yml", settings)
    for document in documents:
        smaller = [number for number in document.links if number < document.number]
        links = "".join(f"- DOC-{number:04d}: null\n" for number in smaller)
        linked = f"links:\n{links}" if links else "links: []\n"
        front = (
            f"---\nactive: true\nderived: false\nheader: ''\nlevel: 1.{document.number + 1}\n{linked}"
            "normative: true\nref: ''\nreviewed: null\n---\n\n"
        )
        text = front + body(document, lambda other: f"DOC-{other:04d}")
        write(root / "docs" / f"DOC-{document.number:04d}.md", text)
    commit(root)
    command = [str(programs / "doorstop"), "--quiet", "--no-reformat", "--no-ref-check"]
    return Tool("doorstop", command, root, None)


def measure(tool: Tool) -> float:
    """One run's CPU seconds, children included; stops the script when the tool rejects the corpus."""
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(
            tool.command, cwd=tool.cwd, stdout=said, stderr=said, stdin=subprocess.DEVNULL
        )
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        said.seek(0)
        if process.returncode:
            text = said.read().decode(errors="replace")
            raise SystemExit(f"{tool.name} rejects the corpus (exit {process.returncode}):\n{text[-1500:]}")
    return usage.ru_utime + usage.ru_stime


def main() -> None:
    """Build the corpora, run the tools in turn, print a table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--peers", type=Path, required=True, help="folder with the other tools' programs")
    parser.add_argument("--documents", type=int, default=1000)
    parser.add_argument("--runs", type=int, default=9)
    given = parser.parse_args()
    programs = given.peers.absolute()
    with tempfile.TemporaryDirectory() as folder:
        documents = corpus(given.documents)
        top = Path(folder)
        tools = [
            muniment(top / "muniment", documents),
            *(make(top / make.__name__, documents, programs) for make in (whykit, cartulary, doorstop)),
        ]
        report(tools, given.runs, time.monotonic())


def report(tools: Sequence[Tool], runs: int, written: float) -> None:
    """Measure every tool cold, then cached, in turn, and print medians and ratios to the best other tool.

    `written` is when the corpora were finished, by the monotonic clock.
    """
    seen: dict[tuple[str, str], list[float]] = {}
    for _ in range(runs):
        for tool in tools:
            if tool.forget:
                tool.forget()
            seen.setdefault((tool.name, "cold"), []).append(measure(tool))
    cached = [tool for tool in tools if tool.forget]
    # Muniment remembers a file by its stat data once it was left alone for a minute.
    time.sleep(max(0.0, 65 - (time.monotonic() - written)))
    for tool in cached:
        for _ in range(tool.warm):
            measure(tool)
    for _ in range(runs):
        for tool in cached:
            seen.setdefault((tool.name, "cached"), []).append(measure(tool))
    medians = {key: statistics.median(values) for key, values in seen.items()}
    best = {
        cache: min(
            value for (name, kind), value in medians.items() if name != tools[0].name and kind == cache
        )
        for cache in ("cold", "cached")
    }
    print("| tool | cache | CPU, median | of the best other, cold | of the best other, cached |")
    print("|---|---|---|---|---|")
    for (name, cache), value in medians.items():
        ratios = f"{value / best['cold']:.2f} | {value / best['cached']:.2f}"
        print(f"| {name} | {cache} | {value:.2f} s | {ratios} |")


if __name__ == "__main__":
    main()
