"""Loading and appending over a real repository (G1, G6, G7, G18)."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from muniment.errors import MunimentError, Refused, Unavailable, UsageProblem
from muniment.ledger.segment import parse_segment, render_segment
from muniment.ledger.splice import entry_by_id, lines_with, splice
from muniment.ledger.store import Draft, append, load
from muniment.ledger.store_write import record
from muniment.publish_one import Part, Present, replace_part
from muniment.redact.gate import gate_for
from muniment.workspace import Workspace, open_workspace
from tests.support.ledger import PATH, Document, decision, entry, file, finding, identify, spell
from tests.support.repo import Repo

X, Y = "bug/code/x", "bug/code/y"


@pytest.fixture
def ws(repo: Repo) -> Workspace:
    return at(repo)


def at(repo: Repo, now: str = "2026-02-01T00:00:00Z", **more: str) -> Workspace:
    import os  # noqa: PLC0415 - the sealed environment of this test

    return open_workspace(repo.path, {**os.environ, "MUNIMENT_NOW": now, **more})


def note(text: str, op: str = "") -> Draft:
    return Draft("note", {"text": text}, op)


def test_load__without_a_file_is_empty_and_whole(ws: Workspace) -> None:
    ledger = load(ws)
    assert (ledger.entries, ledger.heads, ledger.verdict.ok, ledger.data) == ((), (), True, None)


def test_record__makes_exactly_the_pinned_bytes(repo: Repo, ws: Workspace) -> None:
    made = record(ws, note("x", op="k")).entries[0]
    by_hand = entry("note", {"text": "x"}, at="2026-02-01T00:00:00Z", op="k")
    assert made.id == by_hand["id"]
    assert repo.read(PATH) == file(by_hand)
    assert repo.status() == "?? docs/"


def test_record__comes_after_all_heads_and_never_before_them_in_time(repo: Repo, ws: Workspace) -> None:
    one = entry("note", {"n": 1}, at="2026-02-01T00:00:09Z")
    other = entry("note", {"n": 2}, at="2026-01-01T00:00:00Z")
    repo.write(PATH, file(one, other))
    made = record(ws, note("x")).entries[0]
    assert set(made.after) == {one["id"], other["id"]}
    assert made.at == "2026-02-01T00:00:09Z"


def test_record__warns_when_the_clock_jumped(repo: Repo, ws: Workspace) -> None:
    repo.write(PATH, file(entry("note", {}, at="2026-02-03T00:00:00Z")))
    noted = record(ws, note("x"))
    assert "more than a day" in noted.notes[0]
    repo.write(PATH, file(entry("note", {}, at="2026-02-01T23:00:00Z")))
    assert record(ws, note("x")).notes == ()


def test_record__a_decision_gets_the_current_ones_as_basis(repo: Repo, ws: Workspace) -> None:
    one, other = decision(X, "reject"), decision(X, "new")
    repo.write(PATH, file(one, other, decision(Y, "new")))
    made = record(ws, Draft("decision", {"subject": X, "action": "attach"})).entries[0]
    assert set(made.basis) == {one["id"], other["id"]}
    assert load(ws).view.subject(X).status == "attach"


def test_record__another_basis_is_refused(repo: Repo, ws: Workspace) -> None:
    one = decision(X, "reject")
    repo.write(PATH, file(one))
    before = repo.read(PATH)
    stale = Draft("decision", {"subject": X, "action": "new"}, basis=())
    with pytest.raises(Refused, match="have changed"):
        record(ws, stale)
    assert repo.read(PATH) == before
    good = Draft("decision", {"subject": X, "action": "new"}, basis=(one["id"],))
    assert record(ws, good).entries[0].basis == (one["id"],)


def test_record__a_retry_of_an_operation_adds_nothing(repo: Repo, ws: Workspace) -> None:
    first = record(ws, note("x", op="k"))
    record(ws, note("between"))
    before = repo.read(PATH)
    again = record(ws, note("x", op="k"))
    assert again.entries[0].id == first.entries[0].id
    assert not again.changes
    assert repo.read(PATH) == before
    assert record(ws, note("y", op="k")).changes


def test_append__links_drafts_one_after_the_other(ws: Workspace) -> None:
    drafts = [note("a"), note("b"), Draft("decision", {"subject": X, "action": "reject"})]
    drafts += [Draft("decision", {"subject": X, "action": "new"})]
    made = append(ws, load(ws), drafts)
    assert [one.after for one in made.entries[1:]] == [(one.id,) for one in made.entries[:-1]]
    assert made.entries[3].basis == (made.entries[2].id,)
    assert made.ledger.view.subject(X).status == "new"
    assert parse_segment(made.changes[0].data or b"", "l").laid_out


def test_append__an_alias_of_the_same_batch_counts_for_the_basis(repo: Repo, ws: Workspace) -> None:
    first = decision(X, "reject")
    repo.write(PATH, file(first))
    drafts = [
        Draft("alias", {"alias": Y, "canonical": X}),
        Draft("decision", {"subject": Y, "action": "duplicate"}),
    ]
    made = append(ws, load(ws), drafts)
    assert made.entries[1].basis == (first["id"],)
    assert made.ledger.view.subject(Y).status == "reject"


def test_append__an_alias_that_closes_a_cycle_is_refused(repo: Repo, ws: Workspace) -> None:
    repo.write(PATH, file(entry("alias", {"alias": X, "canonical": Y})))
    with pytest.raises(UsageProblem, match="cycle"):
        append(ws, load(ws), [Draft("alias", {"alias": Y, "canonical": X})])


def test_append__only_an_undo_may_mend_a_cycle_of_aliases(repo: Repo, ws: Workspace) -> None:
    one = entry("alias", {"alias": X, "canonical": Y})
    other = entry("alias", {"alias": Y, "canonical": X})
    done = entry("applied", {"entries": [one["id"]]}, after=[one, other])
    repo.write(PATH, file(one, other, done))
    with pytest.raises(Refused, match="alias-cycle"):
        append(ws, load(ws), [note("x")])
    mended = append(ws, load(ws), [Draft("undo", {"undoes": done["id"]})])
    repo.write(PATH, mended.changes[0].data or b"")
    assert load(ws).verdict.ok


BROKEN = [
    pytest.param(lambda data: data.replace(b'"text":"x"', b'"text":"y"', 1), "broken-ledger", id="edited"),
    pytest.param(lambda data: data[:-9], "broken-ledger", id="cut off"),
    pytest.param(lambda data: b"\xef\xbb\xbf" + data, "broken-ledger", id="byte-order mark"),
    pytest.param(lambda data: data.replace(b"x", b"\xff", 1), "broken-ledger", id="not UTF-8"),
    pytest.param(lambda data: b"<<<<<<< a\n" + data + b"=======\n>>>>>>> b\n", "broken-ledger", id="markers"),
    pytest.param(lambda data: data.replace(b"ledger/1", b"ledger/2", 1), "newer-schema", id="newer"),
    pytest.param(lambda _: b"", "broken-ledger", id="empty"),
    pytest.param(lambda _: b"\x00\x7fELF", "broken-ledger", id="binary"),
]


@pytest.mark.parametrize(("spoil", "code"), BROKEN)
def test_record__refuses_a_set_that_isnt_whole_and_leaves_it(
    repo: Repo, ws: Workspace, spoil: Callable[[bytes], bytes], code: str
) -> None:
    record(ws, note("x"))
    spoiled = spoil(repo.read(PATH))
    repo.write(PATH, spoiled)
    with pytest.raises(Refused) as caught:
        record(ws, note("more"))
    assert caught.value.code == code
    assert repo.read(PATH) == spoiled
    if code == "broken-ledger":
        assert "repair" in caught.value.hint
        assert PATH in caught.value.message


def test_record__refuses_an_incomplete_set_and_names_repair(repo: Repo, ws: Workspace) -> None:
    gone = entry("note", {"n": 1})
    repo.write(PATH, file(entry("note", {"n": 2}, after=[gone])))
    with pytest.raises(Refused) as caught:
        record(ws, note("x"))
    assert (caught.value.code, caught.value.exit_code) == ("incomplete-ledger", 3)
    assert "repair" in caught.value.hint


def test_record__an_edit_after_the_last_write_is_found_although_the_tip_is_cached(
    repo: Repo, ws: Workspace
) -> None:
    record(ws, note("one"))
    record(ws, note("two"))
    record(ws, note("three"))
    repo.write(PATH, repo.read(PATH).replace(b'"text":"two"', b'"text":"2wo"'))
    with pytest.raises(Refused):
        record(ws, note("four"))


def test_record__keeps_unknown_kinds_members_and_foreign_layouts(repo: Repo, ws: Workspace) -> None:
    strange = entry("hologram", {"x": 1}, future={"a": [1]})
    text = json.dumps({"zeta": [1], "entries": [strange], "schema": "muniment.ledger/1"}, indent=2)
    repo.write(PATH, text)
    record(ws, note("x"))
    data = repo.read(PATH)
    assert spell(strange).encode() in data.split(b"\n")
    assert data.startswith(b'{"schema":"muniment.ledger/1","zeta":[1],"entries":[\n')
    assert load(ws).verdict.ok


def test_record__the_gate_stops_an_identifier(repo: Repo, ws: Workspace) -> None:
    record(ws, note("x"))
    before = repo.read(PATH)
    for _ in range(2):  # with and without a cached tip
        with pytest.raises(MunimentError) as caught:
            record(ws, note("call +1 415 555 2671 or mail jane@customer.example"))
        assert caught.value.code == "gate-refused"
        assert repo.read(PATH) == before
        record(ws, note("fine"))
        before = repo.read(PATH)


def test_record__a_symbolic_link_is_refused(repo: Repo, ws: Workspace, tmp_path: Path) -> None:
    target = tmp_path / "elsewhere.json"
    target.write_bytes(file())
    (repo.path / "docs" / "reviews").mkdir(parents=True)
    (repo.path / PATH).symlink_to(target)
    with pytest.raises(MunimentError):
        record(ws, note("x"))
    assert target.read_bytes() == file()


def test_record__quick_and_full_reading_agree(repo: Repo, ws: Workspace) -> None:
    """The same drafts, once always from scratch and once over the cached tip, make the same file."""
    drafts = [
        finding_draft(X, "r1"),
        Draft("decision", {"subject": X, "action": "reject"}, op="d1"),
        Draft("alias", {"alias": Y, "canonical": X}, op="a1"),
        Draft("decision", {"subject": Y, "action": "new"}, op="d2"),
        Draft("hologram", {"subject": X}, op="h"),
        Draft("decision", {"subject": X, "action": "attach"}, op="d3"),
        Draft("decision", {"subject": X, "action": "attach"}, op="d3"),
        note("last", op="n"),
    ]
    for draft in drafts:
        record(ws, draft)
    quick = repo.read(PATH)
    (repo.path / PATH).unlink()
    for draft in drafts:
        (ws.private / "cache" / "ledger-tip.json").unlink(missing_ok=True)
        record(ws, draft)
    assert repo.read(PATH) == quick
    assert load(ws).verdict.ok


def finding_draft(subject: str, report: str) -> Draft:
    return Draft("finding", {"subject": subject, "report": report}, op=f"f:{report}")


def test_load__at_a_revision_needs_no_checkout(repo: Repo, ws: Workspace) -> None:
    record(ws, note("one"))
    first = repo.commit("one")
    record(ws, note("two"))
    repo.commit("two")
    record(ws, note("three"))
    assert [len(load(ws, rev).entries) for rev in (first, "HEAD~1", "HEAD", "main")] == [1, 1, 2, 2]
    assert len(load(ws).entries) == 3
    assert load(ws, "HEAD~2").data is None
    with pytest.raises(Unavailable):
        load(ws, "no-such-branch")


def test_load__reading_writes_nothing_tracked(repo: Repo, ws: Workspace) -> None:
    record(ws, note("one"))
    repo.commit("one")
    before = {path: path.stat().st_mtime_ns for path in repo.path.rglob("*") if path.is_file()}
    load(ws).view.subject(X)
    load(ws, "HEAD")
    after = {path: path.stat().st_mtime_ns for path in repo.path.rglob("*") if path.is_file()}
    assert after == before


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.text(max_size=30), max_size=12), st.lists(st.text(max_size=30), min_size=1, max_size=4))
def test_splice__is_rendering_the_whole(here: list[str], added: list[str]) -> None:
    def read(texts: list[str], what: str) -> list[Document]:
        made = {one["id"]: one for one in (entry("note", {what: spell(text)[1:-1]}) for text in texts)}
        return list(made.values())

    old, new = read(here, "old"), read(added, "new")
    data = file(*old)
    entries = parse_segment(file(*new), "l").entries
    joined = splice(data, entries)
    assert joined == file(*old, *new)
    assert joined == render_segment(parse_segment(joined, "l").entries)
    for one in (*old, *new):
        found = entry_by_id(joined, one["id"])
        assert found is not None
        assert found.raw == spell(one).encode()
    assert entry_by_id(joined, "0" * 32) is None
    assert len(list(lines_with(joined, b'"kind":"note"'))) == len(old) + len(new)


def test_support__identify_is_stable() -> None:
    assert identify(finding(X, "r1")) == finding(X, "r1")["id"]


@pytest.mark.parametrize("damage", [b"", b"{}", b"[1]", b'{"version":99}', b"\xff\xfe"])
def test_record__a_damaged_cache_costs_time_only(repo: Repo, ws: Workspace, damage: bytes) -> None:
    for text in ("one", "two"):
        record(ws, note(text))
    (ws.private / "cache" / "ledger-tip.json").write_bytes(damage)
    record(ws, note("three"))
    assert len(load(ws).entries) == 3
    assert load(ws).verdict.ok
    assert repo.status() == "?? docs/"


def test_record__our_own_writes_are_known_as_ours_and_a_persons_are_not(repo: Repo, ws: Workspace) -> None:
    from muniment import targets  # noqa: PLC0415 - only here

    for text in ("one", "two", "three"):
        record(ws, note(text))
    targets.require_clean(ws, [PATH], ())
    repo.commit("all")
    record(ws, note("four"))
    targets.require_clean(ws, [PATH], ())
    repo.write(PATH, repo.read(PATH) + b"\n")
    record(ws, note("five"))
    with pytest.raises(Refused):
        targets.require_clean(ws, [PATH], ())


def test_replace_part__writes_nothing_but_the_cleared_place(repo: Repo, ws: Workspace) -> None:
    record(ws, note("one"))
    path = repo.path / PATH
    old = path.read_bytes()
    gate = gate_for(ws)
    part = Part(2, 8, gate.clear(PATH, b"scheme", b"schema"))
    with pytest.raises(ValueError, match="outside"):
        replace_part(ws, Present(old, path.stat()), part, b"{ scheme" + old[8:])
    stat = path.stat()
    path.write_bytes(old + b"\n")
    with pytest.raises(Refused, match="someone else"):
        replace_part(ws, Present(old, stat), part, old[:2] + b"scheme" + old[8:])
    assert path.read_bytes() == old + b"\n"
    with pytest.raises(TypeError):
        replace_part(ws, Present(old, stat), Part(2, 8, b"scheme"), old)  # type: ignore[arg-type]
