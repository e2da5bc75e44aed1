"""Triage files: rendered, read, formatted, edited and attacked; the reading never changes by itself (C9)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import mdformat
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from muniment.errors import Refused
from muniment.files import template_text
from muniment.ids import EntryId, Fingerprint
from muniment.intake import triage_edit
from muniment.intake.rows import (
    Action,
    Alias,
    Batch,
    Proposal,
    RelatedLine,
    Row,
    Suppressed,
    Verdict,
    Verification,
    row_digest,
)
from muniment.intake.triage_file import Said, decision_lines, parse, render
from muniment.intake.triage_lines import normal
from muniment.intake.triage_rows import Reading, read_rows
from tests.support.markdown_text import prettier, prettier_missing
from tests.support.reports import finding

FOLDER = "docs/reviews/triage"
PATH = f"{FOLDER}/b.md"
REPORT = "docs/reviews/2026-03-02-web-daily.json"
FINGERPRINT = Fingerprint("bug/code/list-loses-lines")


def row(number: int = 1, **fields: Any) -> Row:
    slug = f"list-loses-lines-{number}"
    data = fields.pop("finding", finding(slug))
    made = Row(
        row=str(number),
        fingerprint=Fingerprint(f"bug/code/{slug}"),
        finding=data,
        report=REPORT,
        value={
            "severity": "high",
            "days": 2,
            "affected": ["oak", "elm · x"],
            "roadmap": [],
            "running": "1.0",
        },
        proposed=Proposal(
            Action.NEEDS_OWNER,
            "",
            "Not verified yet. Approving it calls it real and decides: attach.",
        ),
        if_real=Proposal(Action.ATTACH, "docs/bugs/a.md:3", "An open document covers it."),
        **fields,
    )
    return replace(made, digest=row_digest("b", made))


def text_of(*rows: Row, suppressed: tuple[Suppressed, ...] = ()) -> str:
    batch = Batch("b", (REPORT,), rows, "2026-03-02T09:00:00Z", suppressed)
    return render(batch, FOLDER, template_text("triage.md"))


def read(text: str, *rows: Row) -> Reading:
    known = {(one.report, one.finding["id"]): one.finding for one in rows}
    file, problems = parse(text, PATH)
    found = read_rows(file, PATH, lambda report, native: known.get((report, native)))
    return Reading(found.rows, (*problems, *found.problems))


def as_written(text: str) -> tuple[Row, ...]:
    """The rows of a version of the file whose reports aren't at hand."""
    return read_rows(parse(text, PATH)[0], PATH).rows


def same(one: Row, other: Row) -> bool:
    return replace(one, line=0) == replace(other, line=0)


def fill(text: str, old: str, new: str, nth: int = 1) -> str:
    """The text with the nth occurrence of a line replaced."""
    parts = text.split(f"\n{old}\n")
    return f"\n{old}\n".join(parts[:nth]) + f"\n{new}\n" + f"\n{old}\n".join(parts[nth:])


FULL = row(
    verify=Verification(Verdict.REAL, "Seen it · twice", "Robin *Owner*", "bug", "space", "config"),
    also=(("docs/reviews/2026-03-03-app-daily.json", "f9"),),
    related=(
        RelatedLine("docs/bugs/a `b`.md", 3, "bugs", "duplicate", "A [title](x) · with_dots", "doc", "open"),
        RelatedLine("", 0, "history", "related", "", "commit", "landed", "a" * 40),
        RelatedLine("docs/ä ö/c:4.md", 0, "", "weak", "none", "doc", "", "b" * 40),
    ),
    alias=Alias(Fingerprint("bug/code/other"), 812, 760),
    basis=(EntryId("0" * 32), EntryId("1" * 32)),
)


def test_round_trip__every_field() -> None:
    # Free text is kept as `normal` leaves it, which is how rows are made.
    made = replace(
        FULL,
        verify=replace(FULL.verify, reason=normal(FULL.verify.reason)) if FULL.verify else None,
        related=tuple(
            replace(line, title=normal(line.title) if line.title != "none" else "") for line in FULL.related
        ),
        value={**(FULL.value or {}), "affected": ["oak", "elm · x"]},
    )
    made = replace(made, digest=row_digest("b", made))
    found = read(text_of(made, row(2)), made, row(2))
    assert not found.problems
    assert same(found.rows[0], made)
    assert same(found.rows[1], row(2))


def test_round_trip__suppressed_and_reports() -> None:
    gone = Suppressed(REPORT, "f3", Fingerprint("bug/code/x"), "rejected *before*")
    file, problems = parse(text_of(row(), suppressed=(gone,)), PATH)
    assert not problems
    assert (file.batch, file.created, file.reports) == ("b", "2026-03-02T09:00:00Z", (REPORT,))
    assert file.suppressed == (gone,)


def test_render__is_a_fixed_point_of_mdformat() -> None:
    gone = Suppressed(REPORT, "f3", Fingerprint("bug/code/x"), "rejected before")
    text = text_of(
        FULL, row(2, finding=finding("a", "1. _x_ * y\n\n> # z", excerpt="```\n- a")), suppressed=(gone,)
    )
    assert mdformat.text(text) == text


@pytest.mark.skipif(bool(prettier_missing()), reason=prettier_missing() or "prettier is there")
def test_render__prettier_changes_nothing_that_is_read() -> None:
    evil = finding("a", "1. _x_ * y\n\n> # z", excerpt="```\n- decision: approve")
    made = row(2, finding=evil)
    text = fill(text_of(FULL, made), "- decision:", "- decision: approve")
    (formatted,) = prettier([text])
    assert formatted == text
    (odd,) = prettier([fill(text.replace("\n- ", "\n*   "), "*   reason:", "*   reason: so *it* is __x__")])
    assert [one.decision is not None for one in as_written(odd)] == [True, False]


def test_render__links_lead_from_the_file_to_the_place() -> None:
    text = text_of(FULL)
    assert "[`docs/bugs/a %60b%60.md:3`](../../bugs/a%20%60b%60.md)" in text
    assert f"[`{REPORT}`](../2026-03-02-web-daily.json)" in text


def test_read__nothing_decided() -> None:
    found = read(text_of(row()), row())
    assert found.rows[0].decision is None
    assert not found.rows[0].dismissed
    assert not found.problems


@pytest.mark.parametrize("word", ["approve", "Approve.", "**approve**", "`approve`", " approve "])
def test_read__approve_takes_what_is_proposed_if_real(word: str) -> None:
    found = read(fill(text_of(row()), "- decision:", f"- decision: {word}"), row())
    decision = found.rows[0].decision
    assert decision is not None
    assert (decision.action, decision.target) == (Action.ATTACH, "docs/bugs/a.md:3")
    assert (decision.channel, decision.verified) == ("file", "claimed")


def test_read__approve_of_a_verified_row_takes_its_proposal() -> None:
    made = row(verify=Verification(Verdict.NOT_REAL, "no", "x", "bug", "space", "code"))
    made = replace(made, proposed=Proposal(Action.REJECT, "", "Not real: no"), if_real=None)
    made = replace(made, digest=row_digest("b", made))
    found = read(fill(text_of(made), "- decision:", "- decision: approve"), made)
    assert found.rows[0].decision is not None
    assert found.rows[0].decision.action is Action.REJECT


def test_read__override_with_target_and_reason() -> None:
    text = fill(text_of(row()), "- decision:", "- decision: Known limitation")
    text = fill(text, "- target:", "- target: `docs/x y.md:7`")
    found = read(fill(text, "- reason:", "- reason: It is \\*known\\*"), row())
    decision = found.rows[0].decision
    assert decision is not None
    assert (decision.action, decision.target, decision.reason) == (
        Action.KNOWN_LIMITATION,
        "docs/x y.md:7",
        "It is *known*",
    )


def test_read__dismiss() -> None:
    found = read(fill(text_of(row()), "- decision:", "- decision: dismiss"), row())
    assert found.rows[0].dismissed
    assert found.rows[0].decision is None


@pytest.mark.parametrize(
    ("old", "new", "rule", "word"),
    [
        ("- decision:", "- decision: aprove", "triage-action", "did you mean approve"),
        ("- decision:", "- decision: atach", "triage-action", "did you mean attach"),
        ("- decision:", "- decision: xyzzy", "triage-action", "use one of"),
        ("- decision:", "- decison: approve", "triage-line", "did you mean decision"),
        ("- decision:", "- decision: approve\n- decision: reject", "triage-twice", "2 lines 'decision'"),
        ("- decision:", "- decision: approve\n- decision: approve", "triage-twice", "2 lines 'decision'"),
        ("- decision:", "- decision: approve\n- target: a\n- target: b", "triage-twice", "2 lines 'target'"),
        ("- decision:", "- decision: reject", "triage-action", "needs a reason"),
        ("- decision:", "- decision: revisit\n- reason: x\n- layer: UP", "triage-action", "no target layer"),
        ("- reason:", "- reason: because", "triage-line", "no decision"),
    ],
)
def test_read__what_is_unclear_counts_as_none_and_is_said(old: str, new: str, rule: str, word: str) -> None:
    text = fill(text_of(row()), old, new)
    found = read(text, row())
    assert found.rows[0].decision is None
    assert [problem.rule for problem in found.problems] == [rule]
    assert word in found.problems[0].message
    said = new.split("\n", maxsplit=1)[0]
    assert found.problems[0].line >= text[: text.index(said)].count("\n") + 1


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("and decides: attach.", "and decides: new."),
        ("docs/bugs/a.md:3` ·", "docs/bugs/b.md:3` ·"),
        ("severity high", "severity minor"),
        ("- verified: not yet", "- verified: real · bug · global · code · y\n- by: x"),
        ("`bug/code/list-loses-lines-1`", "`bug/code/list-loses-lines-9`"),
    ],
)
def test_read__a_row_that_differs_from_its_digest_decides_nothing(old: str, new: str) -> None:
    text = fill(text_of(row()), "- decision:", "- decision: approve")
    found = read(text.replace(old, new), row())
    assert [one.decision for one in found.rows] == [None]
    assert [problem.rule for problem in found.problems] == ["triage-digest"]


def test_read__a_decision_for_another_digest_decides_nothing() -> None:
    text = fill(text_of(row()), "- decision:", "- decision: approve").replace(row().digest, "0" * 16)
    found = read(text, row())
    assert found.rows[0].decision is None
    assert [problem.rule for problem in found.problems] == ["triage-digest"]


def test_read__a_changed_report_decides_nothing() -> None:
    text = fill(text_of(row()), "- decision:", "- decision: approve")
    other = row(finding=finding("list-loses-lines-1", "Something else."))
    assert read(text, other).rows[0].decision is None


def test_read__a_report_that_is_gone() -> None:
    found = read(text_of(row()))
    assert not found.rows
    assert "holds no finding" in found.problems[0].message


def test_read__the_same_section_twice() -> None:
    text = fill(text_of(row()), "- decision:", "- decision: approve")
    section = text[text.index("## Row 1") :]
    found = read(f"{text}\n{section}", row())
    assert found.rows[0].decision is None
    assert {problem.rule for problem in found.problems} == {"triage-twice"}


def test_read__rows_in_any_order_and_notes_between() -> None:
    rows = (row(1), row(2), row(3))
    text = fill(text_of(*rows), "- decision:", "- decision: dismiss", 2)
    head, *sections = text.split("## Row ")
    mixed = head + "".join(
        f"## Row {part.rstrip()}\n\nA note.\n\n- milk\n- call Kim: soon\n\n" for part in reversed(sections)
    )
    found = read(mixed, *rows)
    assert [(one.row, one.dismissed) for one in found.rows] == [("3", False), ("2", True), ("1", False)]
    assert not found.problems


def test_read__headings_deleted() -> None:
    rows = (row(1), row(2))
    text = "\n".join(line for line in text_of(*rows).split("\n") if not line.startswith("## Row"))
    found = read(fill(text, "- decision:", "- decision: approve", 2), *rows)
    assert [one.decision is not None for one in found.rows] == [False, True]


def test_read__nonsense() -> None:
    file, problems = parse("\x00\x01 nothing\n- decision: approve\n", PATH)
    assert (file.batch, file.blocks) == ("", ())
    assert {problem.rule for problem in problems} == {"triage-line", "triage-file"}
    assert as_written(b"\xff\xfe\x00".decode("utf-8", "replace")) == ()


@pytest.mark.parametrize("newline", ["\r\n", "\r"])
@pytest.mark.parametrize("bullet", ["*", "+"])
def test_read__other_line_ends_and_bullets(newline: str, bullet: str) -> None:
    text = fill(text_of(FULL), "- decision:", "- decision: approve")
    lines = [f"{bullet}{line[1:]}" if line.startswith("- ") else line for line in text.split("\n")]
    known = replace(FULL, related=tuple(replace(line, title="") for line in FULL.related))
    assert [one.decision is not None for one in as_written(newline.join(lines))] == [True]
    assert known


def test_read__lines_wrapped_by_a_formatter() -> None:
    text = fill(text_of(row()), "- decision:", "- decision: new").replace(
        "- reason:", "- reason: a longer reason that goes on and on so that it has to be wrapped somewhere"
    )
    wrapped = mdformat.text(text, options={"wrap": 60})
    assert wrapped != text
    found = read(wrapped, row())
    assert not found.problems
    assert found.rows[0].decision is not None
    assert found.rows[0].decision.reason.endswith("wrapped somewhere")


HOSTILE = st.lists(
    st.sampled_from(
        [
            "- decision: approve", "* decision: reject", "- row: `1`", "- digest: `0000000000000000`",
            "## Row 1", "```", "~~~", "<!--", "-->", "<!-- sweep-items:end -->", "> x", "</blockquote>",
            "<details>", "---", "- batch: `evil`", "- report: [`x`](x)", "1. decision: approve",
            "    - decision: approve", "\t", "@ROWS@", "@SUPPRESSED@", "- suppressed: x", "",
            "\u2028- decision: approve", "\r- decision: approve", "\x0b- decision: approve", "[a]: b",
            "| a | b |", "<script>", "&lt;", "\\", "\u202e",
        ]
    ) | st.text(max_size=30),
    max_size=8,
).map("\n".join)  # fmt: skip


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(HOSTILE, HOSTILE, HOSTILE)
def test_read__hostile_text_changes_nothing(wrong: str, better: str, excerpt: str) -> None:
    """Whatever a finding, a related title or a reason says, only our own lines are read."""
    evil = finding(
        "list-loses-lines-1", wrong, proposed_improvement=better, excerpt=excerpt, space=excerpt[:20] or "x"
    )
    line = RelatedLine("docs/a.md", 1, "bugs", "weak", normal(wrong), "doc", "open")
    made = row(1, finding=evil, related=(line,))
    made = replace(made, if_real=Proposal(Action.NEW, "", normal(better)))
    made = replace(made, digest=row_digest("b", made))
    text = text_of(made, row(2))
    file, problems = parse(text, PATH)
    assert (file.batch, file.reports, file.suppressed) == ("b", (REPORT,), ())
    assert [block.row for block in file.blocks] == ["1", "2"]
    assert not problems
    found = read(text, made, row(2))
    assert [(one.row, one.decision, one.dismissed) for one in found.rows] == [
        ("1", None, False),
        ("2", None, False),
    ]
    assert [problem.rule for problem in found.problems] in ([], ["triage-digest"])


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(HOSTILE, HOSTILE)
def test_edit__a_decision_reads_as_it_was_made(reason: str, text: str) -> None:
    rows = (row(1), row(2))
    before = text_of(*rows)
    words = Said("new", "", normal(reason) or "x", "", normal(text), "Robin", 0)
    after = triage_edit.set_decisions(before, PATH, {"1": decision_lines(words, rows[0].digest)})
    found = read(after, *rows)
    assert found.rows[0].decision is not None
    assert found.rows[0].decision.reason == words.reason.strip()
    assert (found.rows[0].edits or {}).get("text", "") == words.text.strip()
    assert same(found.rows[1], rows[1])


def test_edit__leaves_every_other_byte() -> None:
    rows = (row(1), row(2))
    before = (
        text_of(*rows).replace("## Row 2", "My note,  with two spaces.\n\n## Row 2").replace("\n", "\r\n")
    )
    words = Said("approve", "", "", "", "", "Robin", 0)
    after = triage_edit.set_decisions(before, PATH, {"2": decision_lines(words, rows[1].digest)})
    start = before.rindex("- decision:")
    assert after[:start] == before[:start]
    assert after[start:] == "- decision: approve\r\n- target:\r\n- reason:\r\n- by: Robin\r\n"


def test_edit__facts_changed_keep_the_old_decision_as_a_note() -> None:
    made = row(1)
    text = fill(text_of(made), "- decision:", "- decision: approve")
    text = fill(text, "- reason:", "- reason: I am sure")
    fresh = replace(made, verify=Verification(Verdict.UNSURE, "hm", "x", "bug", "space", "code"))
    fresh = replace(fresh, digest=row_digest("b", fresh))
    after = triage_edit.set_facts(text, PATH, [fresh], FOLDER)
    found = read(after, made)
    assert not found.problems
    assert found.rows[0].verify == fresh.verify
    assert found.rows[0].decision is None
    assert "- earlier: decision: approve\n- earlier: reason: I am sure\n" in after


def test_edit__decision_lines_deleted_by_hand_come_back() -> None:
    made = row(1)
    text = text_of(made)
    cut = text[: text.index("- decision:")]
    words = Said("dismiss", "", "", "", "", "Robin", 0)
    after = triage_edit.set_decisions(cut, PATH, {"1": decision_lines(words, made.digest)})
    assert read(after, made).rows[0].dismissed


@pytest.mark.parametrize("ending", ["", "\n", "\n\nA note.\n"])
def test_edit__a_whole_decision_list_deleted_by_hand_comes_back(ending: str) -> None:
    made = row(1)
    cut = text_of(made)
    cut = cut[: cut.index("\n\n**Decision**")] + ending
    words = Said("dismiss", "", "", "", "", "Robin", 0)
    after = triage_edit.set_decisions(cut, PATH, {"1": decision_lines(words, made.digest)})
    assert read(after, made).rows[0].dismissed
    mended = triage_edit.set_facts(cut, PATH, [made], FOLDER)
    found = read(mended, made)
    assert (found.problems, same(found.rows[0], made)) == ((), True)
    assert after.startswith(cut.rstrip("\n").removesuffix("A note.").rstrip("\n"))
    assert mended.endswith(ending.removeprefix("\n"))


def test_edit__an_unclear_row_is_refused() -> None:
    text = text_of(row(1))
    words = decision_lines(Said("dismiss", "", "", "", "", "", 0), row(1).digest)
    twice = fill(text, "- decision:", "- decision: new\n- decision: reject")
    section = text[text.index("## Row 1") :]
    for broken, name in ((twice, "1"), (f"{text}\n{section}", "1"), (text, "2")):
        with pytest.raises(Refused):
            triage_edit.set_decisions(broken, PATH, {name: words})


@pytest.mark.parametrize(
    ("old", "new", "word"),
    [
        ("- row: `1`", "- row: `1`\n- value: none", "2 lines 'value'"),
        ("- verified: not yet", "- checked: not yet", "'verified' is missing"),
        ("- verified: not yet", "- verified: real", "incomplete"),
        ("- verified: not yet", "- verified: maybe · bug · global · code · x", "no verdict"),
        ("- finding: `bug/code/list-loses-lines-1` ·", "- finding: `x` ·", "not a fingerprint"),
        ("- finding: `bug/code/list-loses-lines-1` ·", "- finding: bug/code/x ·", "back-ticks"),
        ("- proposed: needs-owner", "- proposed: dance", "no action"),
        ("- proposed: needs-owner · none ·", "- proposed: needs-owner", "needs action, target"),
        ("- verified: not yet", "- verified: not yet\n- alias: `bug/code/x`", "score and threshold"),
        ("- verified: not yet", "- verified: not yet\n- alias: `x` · score 1 · threshold 1", "fingerprint"),
        ("- verified: not yet", "- verified: not yet\n- related: x", "incomplete"),
        ("- verified: not yet", "- verified: not yet\n- related: a · b · c · d · e · f", "no place"),
        ("- verified: not yet", "- verified: not yet\n- also: x", "a source needs"),
    ],
)
def test_read__a_row_that_can_not_be_read_is_undecided_and_said(old: str, new: str, word: str) -> None:
    text = fill(text_of(row()), "- decision:", "- decision: approve")
    assert old in text
    found = read(text.replace(old, new), row())
    assert not found.rows
    assert [problem.rule for problem in found.problems] == ["triage-row"]
    assert word in found.problems[0].message


def test_read__a_suppressed_line_that_can_not_be_read_is_said() -> None:
    _, problems = parse(text_of(row()) + "\n## Suppressed\n\n- suppressed: x\n", PATH)
    assert [problem.rule for problem in problems] == ["triage-line"]


def test_read__an_older_version_without_its_reports() -> None:
    text = fill(text_of(row(1), row(2)), "- decision:", "- decision: approve", 2)
    assert [one.decision is not None for one in as_written(text)] == [False, True]
