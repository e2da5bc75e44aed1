"""Sealed segments: verified by hash, one set over all of them, expunged by replacement (G6)."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from muniment.errors import MunimentError, Refused, UsageProblem
from muniment.ledger import expunge, seal
from muniment.ledger.merge import content, merge
from muniment.ledger.order import heads
from muniment.ledger.segment import parse_segment
from muniment.ledger.store import Draft, Ledger, load
from muniment.ledger.store_write import record
from muniment.workspace import Workspace, open_workspace
from tests.support.ledger import PATH, chain, entry, file
from tests.support.repo import Repo

FOLDER = "docs/reviews/ledger"
X = "bug/code/x"


@pytest.fixture
def ws(repo: Repo) -> Workspace:
    return open_workspace(repo.path, {**os.environ, "MUNIMENT_NOW": "2026-02-01T00:00:00Z"})


def sealed_files(repo: Repo) -> list[Path]:
    return sorted((repo.path / FOLDER).glob("*.json"))


def ids(ledger: Ledger) -> set[str]:
    return set(ledger.whole.entries)


def test_seal__below_the_threshold_does_nothing(repo: Repo, ws: Workspace) -> None:
    record(ws, Draft("note", {"text": "x"}))
    before = repo.read(PATH)
    done = seal.seal(ws)
    assert (done.sealed, repo.read(PATH), sealed_files(repo)) == (None, before, [])


def test_seal__moves_a_causally_closed_prefix_over_four_megabytes(repo: Repo, ws: Workspace) -> None:
    made = chain(*(("note", {"text": "x" * 50_000, "n": place}) for place in range(100)))
    repo.write(PATH, file(*made))
    done = seal.seal(ws)
    assert done.sealed is not None
    (path,) = sealed_files(repo)
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    assert path.name == f"{digest[:16]}.json"
    listed = json.loads(repo.read(PATH))["sealed"]
    assert listed == [
        {"file": f"ledger/{path.name}", "sha256": digest, "count": done.sealed.count, "replaces": []}
    ]
    moved = {one.id: one for one in parse_segment(path.read_bytes(), "s").entries}
    assert all(parent in moved for one in moved.values() for parent in one.after)
    assert len((repo.path / PATH).read_bytes()) <= 1_100_000
    ledger = load(ws)
    assert ledger.verdict.ok
    assert [one.id for one in ledger.entries] == [one["id"] for one in made]


def test_seal__ids_links_statuses_and_appends_run_over_all_segments(repo: Repo, ws: Workspace) -> None:
    record(ws, Draft("finding", {"subject": X, "report": "r1"}))
    first = record(ws, Draft("decision", {"subject": X, "action": "reject"})).entries[0]
    before = ids(load(ws))
    seal.seal(ws, over=0)
    assert parse_segment(repo.read(PATH), "l").entries == ()
    assert ids(load(ws)) == before
    second = record(ws, Draft("decision", {"subject": X, "action": "new"})).entries[0]
    assert (second.basis, second.after) == ((first.id,), (first.id,))
    ledger = load(ws)
    assert ledger.verdict.ok
    assert (ledger.view.subject(X).status, ledger.view.subject(X).seen) == ("new", 1)
    assert heads(ledger.whole.entries.values()) == (second.id,)
    seal.seal(ws, over=0)
    assert len(sealed_files(repo)) == 2
    assert load(ws).verdict.ok


def test_seal__an_operation_in_a_sealed_segment_is_still_the_same(ws: Workspace) -> None:
    first = record(ws, Draft("note", {"text": "x"}, op="k")).entries[0]
    seal.seal(ws, over=0)
    again = record(ws, Draft("note", {"text": "x"}, op="k"))
    assert (again.entries[0].id, again.changes) == (first.id, ())


@pytest.mark.parametrize(
    ("spoil", "rule"),
    [
        (lambda data: data.replace(b'"text":"x"', b'"text":"y"'), "sealed"),
        (lambda data: data + b"\n", "sealed"),
        (lambda _: None, "sealed"),
    ],
)
def test_seal__an_edited_or_missing_segment_is_broken(
    repo: Repo, ws: Workspace, spoil: Callable[[bytes], bytes | None], rule: str
) -> None:
    record(ws, Draft("note", {"text": "x"}))
    seal.seal(ws, over=0)
    (path,) = sealed_files(repo)
    spoiled = spoil(path.read_bytes())
    if spoiled is None:
        path.unlink()
    else:
        path.write_bytes(spoiled)
    verdict = load(ws).verdict
    assert verdict.broken
    assert rule in {fault.rule for fault in verdict.problems}
    assert {fault.path for fault in verdict.problems} == {f"{FOLDER}/{path.name}"}
    with pytest.raises(Refused):
        record(ws, Draft("note", {"text": "more"}))


def test_seal__an_entry_in_several_segments_counts_once(repo: Repo, ws: Workspace) -> None:
    record(ws, Draft("note", {"text": "x"}))
    opened = parse_segment(repo.read(PATH), "l")
    seal.seal(ws, over=0)
    sealed = parse_segment(repo.read(PATH), "l").sealed
    repo.write(PATH, merge(content(opened), content(parse_segment(repo.read(PATH), "l"))).render())
    ledger = load(ws)
    assert ledger.sealed == sealed
    assert len(ledger.whole.entries) == 1
    assert ledger.verdict.ok


def test_seal__refuses_an_incomplete_set(repo: Repo, ws: Workspace) -> None:
    repo.write(PATH, file(entry("note", {}, after=["a" * 32])))
    with pytest.raises(Refused):
        seal.seal(ws, over=0)


def test_expunge__takes_the_body_keeps_the_rest_and_commits_only_its_files(repo: Repo, ws: Workspace) -> None:
    target = record(ws, Draft("note", {"text": "the secret word"})).entries[0]
    later = record(ws, Draft("note", {"text": "other"})).entries[0]
    repo.commit("both")
    repo.write("README.md", "# Mine, unsaved\n")
    done = expunge.now(ws, target.id, "asked to", terminal=False)
    assert done.commit == repo.head()
    assert repo.git("show", "--name-only", "--format=").split() == [PATH]
    assert repo.status() == "M README.md"
    assert b"secret" not in repo.read(PATH)
    ledger = load(ws)
    assert (ledger.verdict.ok, ledger.verdict.expunged) == (True, (target.id,))
    assert [one.id for one in ledger.entries][:2] == [target.id, later.id]
    entry_ = ledger.whole.entries[done.entry or ""]
    assert (entry_.kind, entry_.data["expunges"], entry_.data["verified"]) == ("expunge", target.id, "none")


def test_expunge__again_changes_nothing(repo: Repo, ws: Workspace) -> None:
    target = record(ws, Draft("note", {"text": "x"})).entries[0]
    expunge.now(ws, target.id, "asked to", terminal=False)
    before = (repo.head(), repo.read(PATH))
    assert expunge.now(ws, target.id, "asked to", terminal=False).commit is None
    assert (repo.head(), repo.read(PATH)) == before


def test_expunge__inside_a_sealed_segment_writes_a_replacement_that_outranks(
    repo: Repo, ws: Workspace
) -> None:
    target = record(ws, Draft("note", {"text": "the secret word"})).entries[0]
    other = record(ws, Draft("note", {"text": "stays"})).entries[0]
    seal.seal(ws, over=0)
    repo.commit("sealed")
    (old,) = sealed_files(repo)
    old_bytes, old_open = old.read_bytes(), repo.read(PATH)
    expunge.now(ws, target.id, "asked to", terminal=False)
    (new,) = sealed_files(repo)
    assert new != old
    assert b"secret" not in new.read_bytes() + repo.read(PATH)
    (row,) = load(ws).sealed
    assert row.replaces == (f"ledger/{old.name}",)
    assert load(ws).verdict.ok
    # A branch that still lists the old segment merges: the replacement outranks it.
    merged = merge(content(parse_segment(old_open, "l")), content(parse_segment(repo.read(PATH), "l")))
    repo.write(PATH, merged.render())
    old.write_bytes(old_bytes)
    ledger = load(ws)
    assert len(ledger.sealed) == 2
    assert (ledger.verdict.ok, ledger.verdict.expunged) == (True, (target.id,))
    assert ledger.whole.outranked[0].file == f"ledger/{old.name}"
    # A second expunge names both, and the old file goes.
    expunge.now(ws, other.id, "asked to", terminal=False)
    (newest,) = sealed_files(repo)
    assert load(ws).sealed[0].replaces == tuple(sorted((f"ledger/{old.name}", f"ledger/{new.name}")))
    assert newest not in {old, new}
    assert load(ws).verdict.ok


def test_expunge__a_plain_merge_that_brings_the_body_back_is_detected(repo: Repo, ws: Workspace) -> None:
    target = record(ws, Draft("note", {"text": "x"})).entries[0]
    body = parse_segment(repo.read(PATH), "l").entries[0]
    expunge.now(ws, target.id, "asked to", terminal=False)
    ledger = load(ws)
    back = [body, *(one for one in ledger.entries if one.id != target.id)]
    repo.write(PATH, file(*(json.loads(one.raw) for one in back)))
    assert [fault.rule for fault in load(ws).verdict.problems] == ["expunge"]
    repo.write(
        PATH,
        merge(content(parse_segment(repo.read(PATH), "l")), content(parse_segment(file(), "l"))).render(),
    )
    assert load(ws).verdict.ok


def test_expunge__preview_and_confirm_bind_everything(repo: Repo, ws: Workspace) -> None:
    target = record(ws, Draft("note", {"text": "x"})).entries[0]
    repo.commit("x")
    plan, token = expunge.preview(ws, target.id, "asked to", terminal=False)
    assert [change.path for change in plan.changes] == [PATH]
    assert repo.status() == ""
    with pytest.raises(Refused, match="reason"):
        expunge.confirm(ws, target.id, "another", token.token, terminal=False)
    done = expunge.confirm(ws, target.id, "asked to", token.token, terminal=False)
    assert done.entry == plan.entry.id
    with pytest.raises(Refused) as used:
        expunge.confirm(ws, target.id, "asked to", token.token, terminal=False)
    assert used.value.code == "used-token"


def test_expunge__a_token_is_stale_once_the_ledger_grew(repo: Repo, ws: Workspace) -> None:
    target = record(ws, Draft("note", {"text": "x"})).entries[0]
    repo.commit("x")
    _, token = expunge.preview(ws, target.id, "asked to", terminal=False)
    record(ws, Draft("note", {"text": "y"}))
    before = repo.read(PATH)
    with pytest.raises(Refused) as stale:
        expunge.confirm(ws, target.id, "asked to", token.token, terminal=False)
    assert stale.value.code == "stale-token"
    assert repo.read(PATH) == before


def test_expunge__needs_authority_a_reason_and_a_known_id(repo: Repo, ws: Workspace) -> None:
    target = record(ws, Draft("note", {"text": "x"})).entries[0]
    ci = open_workspace(repo.path, {**os.environ, "CI": "true"})
    with pytest.raises(Refused) as caught:
        expunge.now(ci, target.id, "asked to", terminal=False)
    assert caught.value.code == "no-authority"
    for identity, reason in (("f" * 32, "r"), (target.id[:4], "r"), (target.id, " ")):
        with pytest.raises(UsageProblem):
            expunge.now(ws, identity, reason, terminal=False)
    assert expunge.now(ws, target.id[:12], "r", terminal=False).target == target.id


def test_expunge__a_decision_takes_its_effect_with_it(ws: Workspace) -> None:
    first = record(ws, Draft("decision", {"subject": X, "action": "reject"})).entries[0]
    second = record(ws, Draft("decision", {"subject": X, "action": "new"})).entries[0]
    expunge.now(ws, first.id, "asked to", terminal=False)
    assert load(ws).view.subject(X).status == "new"
    expunge.now(ws, second.id, "asked to", terminal=False)
    assert load(ws).view.subject(X).status == "unseen"
    assert load(ws).verdict.ok


def test_changes__never_shrink_the_set(ws: Workspace) -> None:
    record(ws, Draft("note", {"text": "x"}))
    with pytest.raises(ValueError, match="shrink"):
        seal.changes_for(load(ws), (), (), {})


def test_seal__what_head_holds_already_is_no_reason_to_refuse(repo: Repo, ws: Workspace) -> None:
    old = entry("note", {"text": "call +1 415 555 2671"})
    other = entry("note", {"text": "fine"}, after=[old])
    repo.write(PATH, file(old, other))
    repo.commit("an identifier from before")
    seal.seal(ws, over=0)
    assert load(ws).verdict.ok
    expunge.now(ws, other["id"], "asked to", terminal=False)
    assert load(ws).verdict.ok
    expunge.now(ws, old["id"], "asked to", terminal=False)
    assert b"415" not in b"".join(path.read_bytes() for path in sealed_files(repo))


def test_seal__what_head_doesnt_hold_is_judged(repo: Repo, ws: Workspace) -> None:
    record(ws, Draft("note", {"text": "fine"}))
    repo.commit("fine")
    mine = entry("note", {"text": "call +1 415 555 2671"}, after=[one.id for one in load(ws).entries])
    repo.write(PATH, file(*(json.loads(one.raw) for one in load(ws).entries), mine))
    before = repo.read(PATH)
    with pytest.raises(MunimentError) as caught:
        seal.seal(ws, over=0)
    assert caught.value.code == "gate-refused"
    assert (repo.read(PATH), sealed_files(repo)) == (before, [])
