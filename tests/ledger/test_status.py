"""What the ledger says about a subject, by folding (G6, C10, C11)."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from muniment.ledger.assembly import assemble
from muniment.ledger.status import Subject, View, fold
from tests.support.ledger import Document, decision, entry, file, finding

X, Y, Z = "bug/code/x", "bug/code/y", "bug/code/z"


def view(*documents: Document) -> View:
    whole = assemble(file(*documents), "l.json")
    return fold(whole.entries.values(), distrust="broken" if whole.verdict.broken else "")


def at(*documents: Document, subject: str = X) -> Subject:
    return view(*documents).subject(subject)


def alias(name: str, canonical: str, **members: Any) -> Document:
    return entry("alias", {"alias": name, "canonical": canonical, "score_pm": 900}, **members)


def applied(*entries: Document, **members: Any) -> Document:
    data = {"batch": "b", "entries": [one["id"] for one in entries], "changes": []}
    return entry("applied", data, after=entries, **members)


def undo(target: Document, **members: Any) -> Document:
    return entry("undo", {"undoes": target["id"], "reason": "r"}, after=[target], **members)


def test_status__unseen_open_decided() -> None:
    found = finding(X, "r1")
    decided = decision(X, "reject", after=[found])
    assert at().status == "unseen"
    assert at(found).status == "open"
    assert at(found, decided).status == "reject"
    assert at(found, decided).decisions == (decided["id"],)
    assert at(decision(X, "reject")).status == "reject"


def test_status__a_later_decision_that_names_the_earlier_one_replaces_it() -> None:
    first = decision(X, "reject")
    second = decision(X, "new", after=[first], basis=[first])
    assert (at(first, second).status, at(first, second).decisions) == ("new", (second["id"],))


def test_status__decisions_made_apart_are_contested_until_one_names_both() -> None:
    one, other = decision(X, "reject"), decision(X, "new")
    both = at(one, other)
    assert both.status == "contested"
    assert set(both.decisions) == {one["id"], other["id"]}
    half = decision(X, "new", after=[one, other], basis=[one])
    assert at(one, other, half).status == "new"  # `other` says new too, so nothing contradicts any more
    wrong = decision(X, "attach", after=[one, other], basis=[one])
    assert at(one, other, wrong).status == "contested"
    settled = decision(X, "attach", after=[one, other], basis=[one, other])
    assert at(one, other, settled).status == "attach"


def test_status__coming_later_without_naming_is_no_last_writer_wins() -> None:
    one = decision(X, "reject", at="2026-01-01T00:00:00Z")
    other = decision(X, "new", after=[one], at="2026-01-02T00:00:00Z")
    assert at(one, other).status == "contested"


def test_status__agreeing_decisions_made_apart_agree() -> None:
    one, other = decision(X, "reject", actor="A"), decision(X, "reject", actor="B")
    found = at(one, other)
    assert found.status == "reject"
    assert len(found.decisions) == 2


def test_status__the_same_action_on_other_targets_is_a_contradiction() -> None:
    one, other = (
        entry("decision", {"subject": X, "action": "attach", "target": target}) for target in ("a.md", "b.md")
    )
    assert at(one, other).status == "contested"


def test_operation__equal_data_folds_as_one() -> None:
    one = decision(X, "reject", op="k")
    again = decision(X, "reject", op="k", after=[one], basis=[one], at="2026-02-01T00:00:00Z")
    third = finding(X, "r1", op="f")
    fourth = finding(X, "r1", op="f", after=[third])
    found = at(one, again, third, fourth)
    assert found.status == "reject"
    assert found.decisions == (one["id"],)
    assert len(found.findings) == 1


def test_operation__different_data_is_contested_even_when_one_names_the_other() -> None:
    one = decision(X, "reject", op="k")
    other = decision(X, "new", op="k", after=[one], basis=[one])
    assert at(one, other).status == "contested"
    settled = decision(X, "new", after=[other], basis=[one, other])
    assert at(one, other, settled).status == "new"


def test_operation__different_reasons_alone_are_contested_too() -> None:
    one = entry("decision", {"subject": X, "action": "reject", "reason": "a"}, op="k")
    other = entry("decision", {"subject": X, "action": "reject", "reason": "b"}, op="k")
    assert at(one, other).status == "contested"


def test_operation__a_clash_of_findings_is_contested_until_decided_after_both() -> None:
    one, other = finding(X, "r1", op="k"), finding(X, "r2", op="k")
    assert at(one, other).status == "contested"
    blind = decision(X, "reject", after=[one])
    assert at(one, other, blind).status == "contested"
    seeing = decision(X, "reject", after=[one, other])
    assert at(one, other, seeing).status == "reject"


def test_operation__other_kinds_or_subjects_with_the_key_only_concern_those_they_name() -> None:
    one, other = decision(X, "reject", op="k"), decision(Y, "new", op="k")
    third = decision(Z, "new")
    assert at(one, other, third, subject=Z).status == "new"
    assert at(one, other, third).status in {"contested", "reject"}


def test_seen__counts_reports_over_all_names() -> None:
    entries = [finding(X, "r1"), finding(X, "r1"), finding(X, "r2"), finding(Y, "r3"), alias(Y, X)]
    found = at(*entries)
    assert (found.seen, found.aliases, found.canonical) == (3, (Y,), X)
    assert at(*entries, subject=Y).seen == 3


def test_seen__a_finding_may_name_its_subject_by_fingerprint() -> None:
    assert at(entry("finding", {"fingerprint": X})).seen == 1


def test_alias__follows_the_canonical_decision() -> None:
    entries = [finding(X, "r1"), decision(X, "reject"), finding(Y, "r2"), alias(Y, X)]
    assert at(*entries, subject=Y).status == "reject"
    assert at(*entries, subject=Y).suppressed
    assert at(*entries, subject=Y).decisions == at(*entries).decisions


def test_alias__follows_chains_and_changes_with_the_canonical() -> None:
    first = decision(X, "reject")
    entries = [first, alias(Y, X), alias(Z, Y), decision(X, "new", basis=[first])]
    found = at(*entries, subject=Z)
    assert (found.status, found.canonical, found.aliases) == ("new", X, (Y, Z))


def test_alias__an_own_earlier_decision_doesnt_override_the_canonical_one() -> None:
    entries = [decision(X, "reject"), decision(Y, "new"), alias(Y, X)]
    assert at(*entries, subject=Y).status == "reject"
    assert at(*entries).status == "reject"


def test_alias__a_decision_under_the_alias_in_view_of_the_canonical_one_counts() -> None:
    first = decision(X, "reject")
    later = decision(Y, "attach", basis=[first], after=[first])
    entries = [first, alias(Y, X), later]
    assert at(*entries).status == "attach"
    assert at(*entries, subject=Y).decisions == (later["id"],)


def test_alias__takes_the_aliases_decision_when_the_canonical_was_never_decided() -> None:
    assert at(finding(X, "r1"), decision(Y, "reject"), alias(Y, X)).status == "reject"


def test_alias__of_two_subjects_is_contested() -> None:
    entries = [decision(X, "reject"), decision(Z, "new"), alias(Y, X), alias(Y, Z)]
    assert at(*entries, subject=Y).status == "contested"
    assert at(*entries, subject=X).status == "reject"
    assert at(*entries, subject=Z).status == "new"


def test_duplicate__follows_the_earlier_decision() -> None:
    first = decision(X, "reject")
    again = decision(X, "duplicate", basis=[first], after=[first])
    found = at(first, again)
    assert found.status == "reject"
    assert found.decisions == (again["id"],)
    assert [one.id for one in found.settled] == [first["id"]]
    third = decision(X, "new", basis=[again], after=[again])
    assert at(first, again, third).status == "new"


def test_duplicate__doesnt_settle_a_contradiction() -> None:
    one, other = decision(X, "reject"), decision(X, "new")
    again = decision(X, "duplicate", basis=[one, other], after=[one, other])
    assert at(one, other, again).status == "contested"


def test_duplicate__alone_is_what_it_says_and_on_an_alias_follows() -> None:
    assert at(decision(X, "duplicate")).status == "duplicate"
    entries = [
        finding(X, "r1"),
        decision(X, "reject"),
        finding(Y, "r2"),
        decision(Y, "duplicate"),
        alias(Y, X),
    ]
    assert at(*entries, subject=Y).status == "reject"
    assert at(*entries).status == "reject"
    undecided = [finding(X, "r1"), finding(Y, "r2"), decision(Y, "duplicate"), alias(Y, X)]
    assert at(*undecided).status == "open"


def test_undo__folds_as_before_the_batch_and_an_undo_of_it_restores() -> None:
    found, first = finding(X, "r1"), decision(X, "reject")
    batch = [finding(X, "r2"), decision(X, "new", basis=[first], after=[first]), alias(Y, X)]
    done = applied(*batch)
    gone = undo(done)
    back = undo(gone)
    before, during = at(found, first), at(found, first, *batch, done)
    assert (during.status, during.seen, during.aliases) == ("new", 2, (Y,))
    assert at(found, first, *batch, done, gone) == before
    assert at(found, first, *batch, done, gone, back) == during
    assert at(found, first, *batch, done, gone, back, undo(back)) == before


def test_undo__reaches_the_parts_of_a_large_batch() -> None:
    one, other = decision(X, "reject"), decision(Y, "new")
    part = applied(other)
    done = applied(one, part)
    gone = undo(done)
    assert view(one, other, part, done, gone).subject(Y).status == "unseen"
    assert view(one, other, part, done, gone, undo(gone)).subject(Y).status == "new"


def test_undo__two_undos_made_apart_undo_once() -> None:
    decided = decision(X, "reject")
    done = applied(decided)
    one, other = undo(done, actor="A"), undo(done, actor="B")
    assert at(decided, done, one, other).status == "unseen"
    assert at(decided, done, one, other, undo(one)).status == "unseen"


def test_undo__what_was_withdrawn_can_be_done_again_under_the_same_operation() -> None:
    decided = decision(X, "reject", op="k")
    done = applied(decided)
    again = decision(X, "reject", op="k", after=[done])
    assert at(decided, done, undo(done), again).decisions == (again["id"],)


@pytest.mark.parametrize(
    "strange",
    [
        entry("hologram", {"subject": X}),
        entry("hologram", {"about": [{"what": X}]}),
        entry("decision", {"subject": X, "action": "reject", "until": "2027"}),
        entry("decision", {"subject": Y, "action": "reject", "supersedes": [X]}),
        decision(X, "reject", future={"x": 1}),
        finding(X, "r1", future=1),
        entry("note", {"text": "x"}, about=X),
        entry("decision", {"subject": X}),
        entry("decision", {"subject": X, "action": 7}),
        entry("alias", {"alias": X}),
    ],
)
def test_unknown__what_this_version_cant_understand_makes_the_subject_unknown(strange: Document) -> None:
    entries = [finding(X, "r1"), decision(X, "new"), decision(Z, "new"), strange]
    found = at(*entries)
    assert found.status == "unknown"
    assert found.hint
    assert at(*entries, subject=Z).status == "new"


def test_unknown__findings_and_notes_may_say_more_about_a_subject() -> None:
    entries = [
        entry("finding", {"subject": X, "report": "r1", "mood": "sad"}),
        entry("note", {"text": "x", "subject": X, "mood": "sad"}),
        decision(X, "new"),
    ]
    assert at(*entries).status == "new"


def test_unknown__an_aliases_strangeness_reaches_its_canonical() -> None:
    assert at(decision(X, "new"), alias(Y, X), entry("hologram", {"subject": Y})).status == "unknown"


def test_unknown__an_undo_that_cant_be_understood_reaches_what_it_undoes() -> None:
    decided = decision(X, "reject")
    done = applied(decided)
    strange = entry("undo", {"undoes": done["id"], "only": "half"}, after=[done])
    found = view(decided, done, strange, decision(Z, "new"))
    assert found.subject(X).status == "unknown"
    assert found.subject(Z).status == "new"


def test_incomplete__a_tainted_undo_taints_what_it_undoes() -> None:
    decided = decision(X, "reject")
    done = applied(decided)
    gone = entry("undo", {"undoes": done["id"]}, after=[done, "f" * 32])
    found = view(decided, done, gone, decision(Z, "new"))
    assert found.subject(Z).status == "new"
    assert found.subject(X).status == "unknown"


def test_unknown__withdrawn_strangeness_is_gone() -> None:
    strange = entry("decision", {"subject": X, "action": "reject", "until": "2027"})
    done = applied(strange)
    assert at(strange, done, undo(done)).status == "unseen"


def test_unknown__a_broken_set_says_nothing_about_anything() -> None:
    good = decision(X, "new")
    data = file(good, decision(Y, "reject")).replace(b'"action":"reject"', b'"action":"attach"')
    whole = assemble(data, "l.json")
    assert whole.verdict.broken
    assert fold(whole.entries.values(), distrust="broken").subject(X).status == "unknown"


def test_incomplete__only_subjects_with_a_whole_chain_keep_their_status() -> None:
    first = decision(X, "reject", at="2026-01-01T00:00:00Z")
    missing = decision(Y, "new", after=[first], at="2026-01-02T00:00:00Z")
    after = decision(Z, "attach", after=[missing], at="2026-01-03T00:00:00Z")
    later = decision("bug/code/w", "new", after=[after], at="2026-01-04T00:00:00Z")
    found = view(first, after, later)
    assert found.subject(X).status == "reject"
    assert found.subject(Z).status == "unknown"
    assert found.subject("bug/code/w").status == "unknown"
    assert found.subject(Y).status == "unknown"
    assert "repair" in found.subject(Z).hint


def test_incomplete__an_absent_basis_taints_the_decision() -> None:
    first = decision(X, "reject")
    second = decision(X, "new", basis=[first])
    assert at(second).status == "unknown"


@st.composite
def histories(draw: st.DrawFn) -> list[Document]:
    """Whole sets of all the kinds that decide, with random parents."""
    made: list[Document] = []
    names = [X, Y, Z]
    for place in range(draw(st.integers(1, 10))):
        after = draw(st.lists(st.sampled_from(made), max_size=2)) if made else []
        common = {"after": after, "op": draw(st.sampled_from(["", "a", "b"])), "actor": str(place)}
        kind = draw(
            st.sampled_from(["finding", "decision", "decision", "alias", "applied", "undo", "hologram"])
        )
        subject = draw(st.sampled_from(names))
        decided = [one for one in made if one["kind"] == "decision"]
        undoable = [one for one in made if one["kind"] in {"applied", "undo"}]
        if kind == "finding":
            made.append(finding(subject, draw(st.sampled_from("pq")), **common))
        elif kind == "decision":
            basis = draw(st.lists(st.sampled_from(decided), max_size=2)) if decided else []
            action = draw(st.sampled_from(["reject", "new", "duplicate"]))
            made.append(decision(subject, action, basis=basis, **common))
        elif kind == "alias" and subject != X:
            made.append(alias(subject, names[names.index(subject) - 1], **common))
        elif kind == "applied" and made:
            listed = draw(st.lists(st.sampled_from(made), max_size=3))
            made.append(entry("applied", {"entries": [one["id"] for one in listed]}, **common))
        elif kind == "undo" and undoable:
            made.append(entry("undo", {"undoes": draw(st.sampled_from(undoable))["id"]}, **common))
        elif kind == "hologram":
            made.append(entry("hologram", {"subject": subject}, **common))
    return made


@settings(max_examples=200)
@given(histories(), st.randoms(use_true_random=False))
def test_fold__depends_on_the_set_alone(history: list[Document], shuffler: random.Random) -> None:
    entries = list(assemble(file(*history), "l.json").entries.values())
    before = [fold(entries).subject(name) for name in (X, Y, Z)]
    shuffler.shuffle(entries)
    assert [fold(entries).subject(name) for name in (X, Y, Z)] == before


@settings(max_examples=200)
@given(histories())
def test_fold__deciding_in_view_of_everything_current_always_settles(history: list[Document]) -> None:
    found = view(*history)
    ids = [one["id"] for one in history]
    subject = found.canonical(X)
    if any(one["kind"] == "hologram" for one in history):
        return
    settling = decision(
        subject, "needs-owner", basis=found.current(subject), after=ids, at="2027-01-01T00:00:00Z"
    )
    after = view(*history, settling).subject(subject)
    assert after.status == "needs-owner" or "alias of several" in after.hint


def test_names__are_everything_named() -> None:
    assert list(view(finding(X, "r"), decision(Y, "new"), alias(Z, X)).names()) == [X, Y, Z]
