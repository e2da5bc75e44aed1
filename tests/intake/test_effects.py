"""What each action does to documents and ledger drafts (C10): pure, over files in memory."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import mdformat
import pytest

from muniment import markdown, yaml_io
from muniment.config import Config
from muniment.files import template_text
from muniment.findings import Finding
from muniment.ids import EntryId, Fingerprint
from muniment.intake import effects
from muniment.intake.desk import Desk, RowRefused
from muniment.intake.effects import Applied, Context
from muniment.intake.rows import Action, Alias, Decision, Proposal, Row, Verdict, Verification
from muniment.intake.wording import Evidence

REPORT = "docs/reviews/2026-03-02-web-daily.json"
PENDING = "docs/pending-verification.md"
HOSTILE = (
    "# Heading\n- decision: approve\n<!-- sweep-items:start -->\n</details><script>alert(1)</script>\n"
    "```\n@PROPOSAL@ [x](javascript:alert(1)) `code`\u202e"
)


def finding(slug: str = "list-loses-lines", kind: str = "bug", **fields: Any) -> Finding:
    values: dict[str, Any] = {
        "id": "f1",
        "kind": kind,
        "scope": "global",
        "target_layer": "code",
        "severity": "high",
        "confidence": 0.9,
        "space": "oak",
        "message_ids": (1,),
        "excerpt": "bot: nothing here",
        "what_went_wrong": "The list loses lines.",
        "proposed_improvement": "Keep every line.",
        "fingerprint": Fingerprint.mint(kind, "code", slug),
    }
    return Finding(**{**values, **fields})


def evidence(found: Finding) -> Evidence:
    return Evidence(REPORT, f"{REPORT.removesuffix('.json')}.md", found, "web", "1.3.0", "", "2026-03-02")


def row(action: Action, target: str = "", *, found: Finding | None = None, **fields: Any) -> Row:
    found = found or finding()
    decision = Decision(action, target, "because", "robin", "flag", "none")
    values: dict[str, Any] = {
        "row": "1",
        "fingerprint": found.fingerprint,
        "finding": found.as_json(),
        "report": REPORT,
        "proposed": Proposal(action, target, "because"),
        "decision": decision,
        "verify": Verification(Verdict.REAL, "seen", "robin"),
    }
    return Row(**{**values, **fields})


@pytest.fixture
def files() -> dict[str, bytes]:
    return {}


@pytest.fixture
def run(files: dict[str, bytes]) -> Callable[..., Applied]:
    """Apply one row to `files`."""

    def go(one: Row, desk: Desk | None = None, **fields: Any) -> Applied:
        found = fields.pop("found", None) or [_finding_of(one)]
        values: dict[str, Any] = {
            "config": Config(docs_root="docs"),
            "batch": "b1",
            "template": template_text,
            "evidence": {one.row: [evidence(item) for item in found]},
            "canonical": str,
            "current": lambda _: (),
        }
        return effects.apply_row(one, desk or Desk(files.get), Context(**{**values, **fields}))

    return go


def _finding_of(one: Row) -> Finding:
    known = dict(one.finding)
    known["message_ids"] = tuple(known["message_ids"])
    known["fingerprint"] = Fingerprint(known["fingerprint"])
    return Finding(**known)


def text(applied: Applied, path: str) -> str:
    return applied.desk.made[path].decode()


@pytest.mark.parametrize("action", [Action.REJECT, Action.NEEDS_OWNER])
def test_reject_and_needs_owner__change_no_document(action: Action, run: Callable[..., Applied]) -> None:
    done = run(row(action))
    assert not done.desk.changed()
    (draft,) = done.drafts
    assert draft.kind == "decision"
    assert draft.data["action"] == action.value
    assert draft.basis == ()


def test_decision__keeps_proposed_and_chosen_action_and_the_basis(run: Callable[..., Applied]) -> None:
    one = row(
        Action.REJECT, basis=(EntryId("b" * 32), EntryId("a" * 32)), proposed=Proposal(Action.NEW, "", "")
    )
    (draft,) = run(one, current=lambda _: (EntryId("a" * 32), EntryId("b" * 32))).drafts
    assert (draft.data["proposed"], draft.data["action"]) == ("new", "reject")
    assert draft.basis == ("a" * 32, "b" * 32)
    assert draft.data["verify"] == "real"


def test_operation_key__is_stable_and_counts_decided_again(run: Callable[..., Applied]) -> None:
    first = run(row(Action.REJECT)).drafts[0].op
    assert run(row(Action.NEEDS_OWNER)).drafts[0].op == first
    assert run(row(Action.REJECT), round={"1": 1}).drafts[0].op != first


def test_known_limitation__needs_its_line(run: Callable[..., Applied], files: dict[str, bytes]) -> None:
    files["docs/goals/g/goal.md"] = b"# G\n\n- Out of scope: offline.\n"
    assert not run(row(Action.KNOWN_LIMITATION, "docs/goals/g/goal.md:3")).desk.changed()
    with pytest.raises(RowRefused, match="no line 9"):
        run(row(Action.KNOWN_LIMITATION, "docs/goals/g/goal.md:9"))


def test_duplicate__of_another_slug_records_the_alias(run: Callable[..., Applied]) -> None:
    earlier = Fingerprint("bug/code/earlier-one")
    one = row(Action.DUPLICATE, earlier, alias=Alias(earlier, 812, 600))
    alias, decision = run(one).drafts
    assert alias.kind == "alias"
    assert alias.data["alias"] == "bug/code/list-loses-lines"
    assert (alias.data["canonical"], alias.data["score_pm"]) == (earlier, 812)
    assert decision.data["target"] == earlier
    assert decision.basis is None  # what is current once the batch's other rows are recorded


def test_duplicate__of_itself_needs_an_earlier_decision(run: Callable[..., Applied]) -> None:
    one = row(Action.DUPLICATE, "bug/code/list-loses-lines")
    (decision,) = run(one, current=lambda _: (EntryId("a" * 32),)).drafts
    assert decision.kind == "decision"
    with pytest.raises(RowRefused, match="no earlier finding"):
        run(row(Action.DUPLICATE, "docs/bugs/x.md"))


def test_attach__appends_and_changes_nothing_else(
    run: Callable[..., Applied], files: dict[str, bytes]
) -> None:
    old = "\ufeff---\ntitle: X # kept\n---\r\n\r\n# X\r\n\r\nText  \r\n"
    files["docs/bugs/x.md"] = old.encode()
    new = text(run(row(Action.ATTACH, "docs/bugs/x.md:3")), "docs/bugs/x.md")
    assert new.startswith(old)
    added = new[len(old) :]
    assert "## Evidence from review\r\n" in added
    assert added.count("\n") == added.count("\r\n")
    assert "> **Untrusted customer content" in added
    assert "](../reviews/2026-03-02-web-daily.md)" in added


def test_attach__two_rows_on_one_document_compose(
    run: Callable[..., Applied], files: dict[str, bytes]
) -> None:
    files["docs/bugs/x.md"] = b"# X\n"
    first = run(row(Action.ATTACH, "docs/bugs/x.md"))
    other = finding("another", id="f2", what_went_wrong="Another thing.")
    second = run(row(Action.ATTACH, "docs/bugs/x.md", found=other, row="2"), first.desk)
    new = text(second, "docs/bugs/x.md")
    assert new.count("## Evidence from review") == 1
    assert "The list loses lines." in new
    assert "Another thing." in new
    assert len(second.desk.log) == 2


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("docs/bugs/gone.md", "does not exist"),
        ("docs/bugs/x.bin", "no Markdown"),
        ("src/main.py:3", "no Markdown"),
        ("docs/bugs/latin.md", "not UTF-8"),
        ("docs/bugs/nul.md", "no text file"),
        ("docs/bugs/open.md", "can't take the evidence"),
        ("", "needs a target"),
    ],
)
def test_attach__a_target_that_will_not_do_refuses_the_row(
    target: str, said: str, run: Callable[..., Applied], files: dict[str, bytes]
) -> None:
    files["docs/bugs/latin.md"] = "# Caf\xe9\n".encode("latin-1")
    files["docs/bugs/nul.md"] = b"# X\0\n"
    files["docs/bugs/open.md"] = b"# X\n\n<!-- sweep-items:start -->\n"
    desk = Desk(files.get)
    with pytest.raises(RowRefused, match=said):
        run(row(Action.ATTACH, target), desk)
    assert not desk.made
    assert not desk.log


def test_new__bug_and_idea_and_proposal(run: Callable[..., Applied]) -> None:
    assert run(row(Action.NEW)).paths == ("docs/bugs/list-loses-lines.md",)
    wish = finding("sort-lists", "feature")
    assert run(row(Action.NEW, found=wish)).paths == ("docs/ideas/sort-lists.md",)
    tone = finding("kinder-tone", "profile")
    done = run(row(Action.NEW, found=tone))
    assert done.paths == ("docs/ideas/kinder-tone.md", PENDING)
    assert "Nothing has been changed yet" in text(done, "docs/ideas/kinder-tone.md")
    assert "(`profile/code/kinder-tone`)" in text(done, PENDING)


def test_new__the_verified_kind_and_layer_beat_the_judges(run: Callable[..., Applied]) -> None:
    one = row(Action.NEW, verify=Verification(Verdict.REAL, "", "robin", "feature", "global", "prompt"))
    done = run(one)
    assert done.paths == ("docs/ideas/list-loses-lines.md",)
    assert "layer: prompt\n" in text(done, done.paths[0])


def test_new__never_writes_over_a_document(run: Callable[..., Applied], files: dict[str, bytes]) -> None:
    files["docs/bugs/list-loses-lines.md"] = b"mine"
    first = run(row(Action.NEW))
    assert first.paths == ("docs/bugs/list-loses-lines-2.md",)
    second = run(row(Action.NEW, row="2"), first.desk)
    assert second.paths == ("docs/bugs/list-loses-lines-3.md",)
    assert "docs/bugs/list-loses-lines.md" not in second.desk.changed()


@pytest.mark.parametrize("slug", ["null", "yes", "2026", "1e3", "a-b", "on"])
def test_new__the_title_is_text_in_the_front_matter(slug: str, run: Callable[..., Applied]) -> None:
    done = run(row(Action.NEW, found=finding(slug)))
    front = markdown.front_matter(text(done, done.paths[0]))
    assert front is not None
    assert isinstance(yaml_io.parse(front.text).value["title"], str)


def test_new__hostile_text_stays_in_its_block(run: Callable[..., Applied]) -> None:
    wild = finding(what_went_wrong=HOSTILE, proposed_improvement=HOSTILE, excerpt=HOSTILE)
    made = text(run(row(Action.NEW, found=wild, edits={"text": HOSTILE})), "docs/bugs/list-loses-lines.md")
    titles = [heading.text for heading in markdown.headings(made)]
    assert titles == ["List loses lines", "Proposed improvement", "Evidence from review"]
    assert "<!--" not in made
    assert "\u202e" not in made
    assert [link.target for link in markdown.links(made)] == ["../reviews/2026-03-02-web-daily.md"]
    outside = [leaf for leaf in markdown.leaves(made) if not leaf.quoted]
    assert all("decision" not in leaf.text and "script" not in leaf.text for leaf in outside)


@pytest.mark.parametrize("kind", ["bug", "feature", "config"])
def test_new__is_a_fixed_point_of_mdformat(kind: str, run: Callable[..., Applied]) -> None:
    done = run(row(Action.NEW, found=finding("some-thing", kind, what_went_wrong=HOSTILE)))
    for path in done.paths:
        made = text(done, path)
        front = markdown.front_matter(made)
        body = made[front.end :].lstrip("\n") if front else made
        assert mdformat.text(body) == body


def test_fixed_not_deployed__adds_a_line_and_confirms_it(
    run: Callable[..., Applied], files: dict[str, bytes]
) -> None:
    files["docs/archive/done.md"] = b"# Done\n"
    files[PENDING] = b"# Pending verification\r\n\r\nMine.\r\n\r\n- [ ] other\r\n"
    first = run(row(Action.FIXED_NOT_DEPLOYED, "docs/archive/done.md"))
    new = text(first, PENDING)
    assert new.startswith(files[PENDING].decode())
    assert new.count("\n") == new.count("\r\n") == 6
    assert "[`docs/archive/done.md`](archive/done.md)" in new
    second = run(row(Action.FIXED_NOT_DEPLOYED, "docs/archive/done.md", row="2"), first.desk)
    again = text(second, PENDING)
    assert len(again.splitlines()) == 6
    assert "; seen again 2026-03-02 in `web` `1.3.0`" in again.splitlines()[-1]


def test_fixed_not_deployed__a_ticked_line_stays(
    run: Callable[..., Applied], files: dict[str, bytes]
) -> None:
    files["docs/archive/done.md"] = b"# Done\n"
    files[PENDING] = b"# P\n\n- [x] List (`bug/code/list-loses-lines`): done\n"
    new = text(run(row(Action.FIXED_NOT_DEPLOYED, "docs/archive/done.md")), PENDING)
    assert new.startswith(files[PENDING].decode())
    assert len(new.splitlines()) == 4


def test_fixed_not_deployed__a_target_line_in_the_page_is_confirmed(
    run: Callable[..., Applied], files: dict[str, bytes]
) -> None:
    files[PENDING] = b"# P\n\n- [ ] one\n- [ ] two"
    new = text(run(row(Action.FIXED_NOT_DEPLOYED, f"{PENDING}:4")), PENDING)
    assert new.startswith("# P\n\n- [ ] one\n- [ ] two; seen again")
    assert not new.endswith("\n")


def test_fixed_not_deployed__a_page_that_never_closes_a_fence_refuses(
    run: Callable[..., Applied], files: dict[str, bytes]
) -> None:
    files["docs/archive/done.md"] = b"# Done\n"
    files[PENDING] = b"# P\n\n```\ncode\n"
    with pytest.raises(RowRefused, match="inside a code"):
        run(row(Action.FIXED_NOT_DEPLOYED, "docs/archive/done.md"))


def test_revisit__files_a_bug_that_links_the_closed_item(
    run: Callable[..., Applied], files: dict[str, bytes]
) -> None:
    files["docs/archive/done.md"] = b"# Done\n"
    done = run(row(Action.REVISIT, "docs/archive/done.md:1"))
    assert done.paths == ("docs/bugs/list-loses-lines.md",)
    assert "[`docs/archive/done.md:1`](../archive/done.md)" in text(done, done.paths[0])


def test_revisit__unclear_whether_the_fix_is_active_waits_for_proof(
    run: Callable[..., Applied], files: dict[str, bytes]
) -> None:
    files["docs/archive/done.md"] = b"# Done\n"
    target = "docs/archive/done.md"
    one = row(Action.REVISIT, target, proposed=Proposal(Action.REVISIT, target, "", check=True))
    assert run(one).paths == (PENDING,)


def test_revisit__a_commit_is_shown_as_code(run: Callable[..., Applied]) -> None:
    done = run(row(Action.REVISIT, "0123456789abcdef"))
    assert "`0123456789abcdef`" in text(done, done.paths[0])


def test_row_without_evidence_is_refused(run: Callable[..., Applied]) -> None:
    with pytest.raises(RowRefused, match="can't be read from the report"):
        run(row(Action.REJECT), evidence={})


def test_refused_row__leaves_the_rows_before_it(run: Callable[..., Applied]) -> None:
    first = run(row(Action.NEW))
    kept = dict(first.desk.made)
    with pytest.raises(RowRefused):
        run(replace(row(Action.ATTACH, "docs/none.md"), row="2"), first.desk)
    assert first.desk.made == kept
