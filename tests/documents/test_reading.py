"""One document read: the statements it makes."""

from __future__ import annotations

import pytest

from muniment.documents.reading import TITLE_CHARS, Document, Kind, read_document, short_title
from muniment.documents.stages import Stage


def read(text: str, stage: Stage = Stage.IDEAS) -> Document:
    return read_document("docs/x.md", stage, text)


HEADINGS = [
    "Residual",
    "Residuals",
    "Out of scope",
    "Out-of-scope",
    "Known limitations",
    "Limitations",
    "Non-goals",
    "Accepted",
    "Accepted residual risk",
    "Accepted trade-offs",
    "Known issues",
    "Won't fix",
    "What is not planned",
]


@pytest.mark.parametrize("heading", HEADINGS)
def test_limiting_sections(heading: str) -> None:
    document = read(
        f"# A\n\n## {heading}\n\n- One thing.\n- Another.\n\n### Deeper\n\nA third.\n\n## Next\n\nNot this.\n"
    )
    assert [(one.kind, one.line, one.text) for one in document.statements] == [
        (Kind.LIMITATION, 5, "One thing."),
        (Kind.LIMITATION, 6, "Another."),
        (Kind.LIMITATION, 10, "A third."),
    ]
    assert document.statements[0].context == f"A / {heading}"


@pytest.mark.parametrize("heading", ["Accepted formats", "Scope", "Goals", "Residence", "Limits"])
def test_other_sections_limit_nothing(heading: str) -> None:
    assert read(f"## {heading}\n\n- One thing.\n").statements == ()


@pytest.mark.parametrize(
    "line",
    [
        "Residual: old offsets stay.", "- **Out of scope:** live audio.", "Known limitation — no iOS.",
        "> Accepted: it is slow.", "* Non-goal: a mobile app.", "Won't fix: the old client.",
    ],
)  # fmt: skip
def test_limiting_lines_anywhere(line: str) -> None:
    wanted = not line.startswith(">")  # what is quoted was said by someone else
    document = read(f"# A\n\nText.\n\n{line}\n\nMore text.\n")
    assert [one.line for one in document.statements] == ([5] if wanted else [])


def test_pending_lines() -> None:
    document = read("# P\n\nIntro.\n\n- [ ] Check a\n- [x] Done b\n- c\n", Stage.PENDING)
    assert [(one.line, one.text, str(one.standing)) for one in document.statements] == [
        (5, "Check a", "pending"),
        (6, "Done b", "landed"),
        (7, "c", "pending"),
    ]


def test_instructions_are_blocks() -> None:
    document = read("# For agents\n\nBe kind.\n\n- Never shout.\n", Stage.INSTRUCTIONS)
    assert [(one.kind, one.line, one.text) for one in document.statements] == [
        (Kind.INSTRUCTION, 3, "Be kind."),
        (Kind.INSTRUCTION, 5, "Never shout."),
    ]
    assert document.sections == ()


def test_stories_and_records_are_statements_with_ids() -> None:
    plan = read("## M1 — First\n\n### M1.1 `a-b` — Do it\n\n- Status: done\n", Stage.ROADMAP)
    assert [(one.id, one.title, str(one.standing)) for one in plan.statements] == [
        ("M1.1", "M1.1 Do it", "landed")
    ]
    records = read("# D\n\n## D-007 — So it is\n\n- Decided: yes.\n", Stage.DECISIONS)
    assert [(one.id, one.line, str(one.standing)) for one in records.statements] == [("D-007", 3, "decision")]
    assert records.sections == ()


def test_a_decisions_page_without_records_is_read_as_a_document() -> None:
    document = read("# D\n\nProse.\n", Stage.DECISIONS)
    assert document.statements == ()
    assert document.sections


def test_short_title() -> None:
    assert short_title("One sentence. Another.") == "One sentence."
    assert short_title("検索が古い。編集後も。") == "検索が古い。"
    long = short_title("word " * 100)
    assert len(long) <= TITLE_CHARS
    assert long.endswith("word…")
    assert len(short_title("x" * 500)) <= TITLE_CHARS
    assert short_title("") == ""
