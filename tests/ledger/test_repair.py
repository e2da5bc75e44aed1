"""`muniment repair` on what real git operations leave of ledgers: nothing lost, nothing else added."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from muniment.ledger.conflict import read
from muniment.ledger.entries import stub, stub_digest
from muniment.ledger.segment import parse_segment
from tests.support.cli import Result, muniment
from tests.support.ledger import PATH, Document, chain, decision, entry, file, finding, spell
from tests.support.repo import Repo

X = "bug/code/x"


def repair(repo: Repo, *arguments: str) -> Result:
    """Run repair as JSON; what is staged and committed is as before."""
    before = repo.head(), repo.git("ls-files", "-s")
    done = muniment("repair", *arguments, "--json", cwd=repo.path)
    assert (repo.head(), repo.git("ls-files", "-s")) == before
    assert done.code == (1 if done.json["unresolved"] else 0), done.err
    return done


def ids(repo: Repo) -> set[str]:
    return {one["id"] for one in json.loads(repo.read(PATH))["entries"]}


def mended(repo: Repo, *entries: Document, sealed: Iterable[Document] = ()) -> None:
    """Repair leaves exactly these entries, says so, and a second run has nothing to do."""
    done = repair(repo)
    assert repo.read(PATH) == file(*entries, sealed=sealed), done.out
    assert done.json["unresolved"] == []
    assert done.json["repaired"], "it says what it did"
    assert muniment("ledger", "verify", "--json", cwd=repo.path).json["ok"] is True
    again = repair(repo)
    assert again.json == {"repaired": [], "unresolved": [], "written": []}
    assert repo.read(PATH) == file(*entries, sealed=sealed)


def put(repo: Repo, message: str, *entries: Document, sealed: Iterable[Document] = ()) -> str:
    repo.write(PATH, file(*entries, sealed=sealed))
    return repo.commit(message)


def note(text: str, *after: Document, minute: int = 30) -> Document:
    return entry("note", {"text": text}, after=after, at=f"2026-01-31T05:{minute:02}:00Z")


@pytest.fixture
def base() -> list[Document]:
    return chain(("note", {"text": "one"}), ("note", {"text": "two"}), ("note", {"text": "three"}))


@pytest.fixture
def forked(repo: Repo, base: list[Document]) -> tuple[Repo, Document, Document]:
    """Two branches that each added one entry after the same base; `main` is checked out."""
    put(repo, "Base", *base)
    ours, theirs = note("ours", base[-1]), note("theirs", base[-1])
    repo.git("checkout", "-q", "-b", "side")
    put(repo, "Theirs", *base, theirs)
    repo.git("checkout", "-q", "main")
    put(repo, "Ours", *base, ours)
    return repo, ours, theirs


def conflicting(repo: Repo, base: list[Document]) -> tuple[list[Document], list[Document]]:
    """Branches whose many new entries can't but conflict line by line."""
    put(repo, "Base", *base)
    ours = [note(f"ours {number}", base[-1], minute=number) for number in range(8)]
    theirs = [note(f"theirs {number}", base[-1], minute=number) for number in range(8)]
    repo.git("checkout", "-q", "-b", "side")
    put(repo, "Theirs", *base, *theirs)
    repo.git("checkout", "-q", "main")
    put(repo, "Ours", *base, *ours)
    return ours, theirs


# Nothing to do


def test_repair__a_whole_ledger_is_left_alone(repo: Repo, base: list[Document]) -> None:
    put(repo, "Base", *base)
    stamp = (repo.path / PATH).stat().st_mtime_ns
    assert repair(repo).json == {"repaired": [], "unresolved": [], "written": []}
    assert (repo.path / PATH).stat().st_mtime_ns == stamp
    assert "Nothing to repair" in muniment("repair", cwd=repo.path).ok().out


def test_repair__without_a_ledger_there_is_nothing_to_do(repo: Repo) -> None:
    assert repair(repo).json["repaired"] == []
    assert not (repo.path / PATH).exists()


def test_repair__entries_not_committed_yet_stay(repo: Repo, base: list[Document]) -> None:
    put(repo, "Base", *base)
    fresh = note("fresh", base[-1])
    repo.write(PATH, file(*base, fresh))
    assert repair(repo).json["repaired"] == []
    repo.write(PATH, file(*base[:-1], fresh))
    mended(repo, *base, fresh)


# Conflicts


@pytest.mark.parametrize("style", ["merge", "diff3", "zdiff3"])
def test_repair__a_merge_conflict_joins_both_sides(repo: Repo, base: list[Document], style: str) -> None:
    repo.git("config", "merge.conflictStyle", style)
    ours, theirs = conflicting(repo, base)
    repo.git("merge", "side", check=False)
    assert b"<<<<<<<" in repo.read(PATH)
    mended(repo, *base, *ours, *theirs)
    repo.git("add", PATH)
    repo.git("commit", "-q", "--no-edit")
    assert repair(repo).json["repaired"] == []


@pytest.mark.parametrize("style", ["merge", "diff3"])
def test_repair__committed_markers_without_stages(repo: Repo, base: list[Document], style: str) -> None:
    repo.git("config", "merge.conflictStyle", style)
    ours, theirs = conflicting(repo, base)
    repo.git("merge", "side", check=False)
    repo.commit("Markers and all")
    mended(repo, *base, *ours, *theirs)


def test_repair__markers_with_no_history_at_all(repo: Repo, base: list[Document]) -> None:
    ours, theirs = note("ours", base[-1]), note("theirs", base[-1])
    lines = [spell(one) for one in base]
    text = '{"schema":"muniment.ledger/1","entries":[\n' + "\n,\n".join(lines) + "\n,\n"
    text += f"<<<<<<< HEAD\n{spell(ours)}\n||||||| merged\n=======\n{spell(theirs)}\n>>>>>>> side\n]}}\n"
    repo.write(PATH, text)
    mended(repo, *base, ours, theirs)


def test_repair__squash_leaves_stages_without_a_merge_head(repo: Repo, base: list[Document]) -> None:
    ours, theirs = conflicting(repo, base)
    repo.git("merge", "--squash", "side", check=False)
    mended(repo, *base, *ours, *theirs)


def test_repair__during_a_rebase(repo: Repo, base: list[Document]) -> None:
    ours, theirs = conflicting(repo, base)
    repo.git("checkout", "-q", "side")
    repo.git("rebase", "main", check=False)
    assert (repo.path / ".git" / "rebase-merge").is_dir()
    mended(repo, *base, *ours, *theirs)
    said = muniment("repair", cwd=repo.path).ok()
    assert "Nothing to repair" in said.out


def test_repair__what_was_added_by_hand_amid_a_conflict_stays(repo: Repo, base: list[Document]) -> None:
    ours, theirs = conflicting(repo, base)
    repo.git("merge", "side", check=False)
    fresh = note("by hand", base[-1])
    text = repo.read(PATH).replace(b"=======\n", b"=======\n" + spell(fresh).encode() + b"\n,\n", 1)
    repo.write(PATH, text)
    mended(repo, *base, *ours, *theirs, fresh)


def test_repair__a_resolution_that_dropped_a_side(repo: Repo, base: list[Document]) -> None:
    ours, theirs = conflicting(repo, base)
    repo.git("merge", "side", check=False)
    repo.git("checkout", "--ours", PATH)
    mended(repo, *base, *ours, *theirs)


def test_repair__merged_with_ours_and_committed(repo: Repo, base: list[Document]) -> None:
    ours, theirs = conflicting(repo, base)
    repo.git("merge", "-q", "-s", "ours", "-m", "Ours only", "side")
    mended(repo, *base, *ours, *theirs)


def test_repair__deleted_on_one_side_of_a_merge(
    forked: tuple[Repo, Document, Document], base: list[Document]
) -> None:
    repo, ours, theirs = forked
    repo.git("rm", "-q", PATH)
    repo.commit("Gone")
    repo.git("merge", "side", check=False)
    mended(repo, *base, ours, theirs)


def test_repair__criss_cross(repo: Repo, base: list[Document]) -> None:
    ours, theirs = conflicting(repo, base)
    for name, tip in (("side", "main~0"), ("main", "side~1")):
        repo.git("checkout", "-q", name)
        repo.git("merge", tip, check=False)
        if repo.git("ls-files", "-u"):
            repair(repo)
            repo.git("add", PATH)
            repo.git("commit", "-q", "--no-edit")
    later = note("later", *ours, *theirs)
    repo.git("checkout", "-q", "side")
    put(repo, "Later", *base, *ours, *theirs, later)
    repo.git("checkout", "-q", "main")
    other = note("other", *ours)
    put(repo, "Other", *base, *ours, *theirs, other)
    repo.git("config", "merge.conflictStyle", "diff3")
    repo.git("merge", "side", check=False)
    repair(repo)
    assert repo.read(PATH) == file(*base, *ours, *theirs, later, other)


def test_repair__an_octopus_that_kept_ours(repo: Repo, base: list[Document]) -> None:
    put(repo, "Base", *base)
    added = [note(f"branch {number}", base[-1], minute=number) for number in range(3)]
    for number, one in enumerate(added):
        repo.git("checkout", "-q", "-b", f"side{number}", "main")
        put(repo, "Add", *base, one)
    repo.git("checkout", "-q", "main")
    repo.git("merge", "-q", "-s", "ours", "--no-commit", "side0", "side1", "side2", check=False)
    mended(repo, *base, *added)


def test_repair__a_revert_that_conflicts(repo: Repo, base: list[Document]) -> None:
    put(repo, "Base", *base)
    more = [note(f"more {number}", base[-1], minute=number) for number in range(6)]
    target = put(repo, "More", *base, *more[:3])
    put(repo, "Even more", *base, *more)
    repo.git("revert", "--no-edit", target, check=False)
    mended(repo, *base, *more)


def test_repair__in_a_linked_worktree(repo: Repo, base: list[Document], tmp_path: Path) -> None:
    ours, theirs = conflicting(repo, base)
    repo.git("worktree", "add", "-q", "-b", "linked", str(tmp_path / "linked"), "main")
    linked = Repo(tmp_path / "linked")
    linked.git("merge", "-s", "ours", "--no-commit", "side")
    mended(linked, *base, *ours, *theirs)


def test_repair__before_the_first_commit(tmp_path: Path, base: list[Document]) -> None:
    fresh = Repo.init(tmp_path / "fresh")
    fresh.write(PATH, file(*base).replace(b"\n,\n", b"\n", 1))
    done = muniment("repair", "--json", cwd=fresh.path).ok()
    assert done.json["repaired"]
    assert fresh.read(PATH) == file(*base)


# What a clean line merge can leave


def test_repair__doubled_entries_wrong_order_and_commas(repo: Repo, base: list[Document]) -> None:
    put(repo, "Base", *base)
    one, two, three = (spell(item) for item in base)
    head = '{"schema":"muniment.ledger/1","entries":[\n'
    for body in (
        f"{one}\n,\n{two}\n,\n{three}\n,\n{two}\n",
        f"{three}\n,\n{two}\n,\n{one}\n",
        f"{one}\n{two}\n,\n,\n{three}\n",
        f"{one}{two}\n,\n{three},\n",
        f"{one},{two},\n{three}\n,\n",
    ):
        repo.write(PATH, head + body + "]}\n")
        mended(repo, *base)
    repo.write(PATH, json.dumps(json.loads(file(*base)), indent=2))
    mended(repo, *base)
    repo.write(PATH, file(*base).replace(b"\n", b"\r\n"))
    mended(repo, *base)


def test_repair__a_file_cut_short_gets_its_rest_back(repo: Repo, base: list[Document]) -> None:
    put(repo, "Base", *base)
    repo.write(PATH, file(*base)[:-150])
    mended(repo, *base)
    repo.write(PATH, b"")
    mended(repo, *base)


# History


def test_repair__a_hand_made_revert_is_taken_back(repo: Repo, base: list[Document]) -> None:
    put(repo, "Base", *base)
    newest = note("newest", base[-1])
    put(repo, "Newest", *base, newest)
    repo.git("revert", "--no-edit", "HEAD")
    assert newest["id"] not in ids(repo)
    mended(repo, *base, newest)


def test_repair__a_deleted_file_is_put_back_also_after_the_commit(repo: Repo, base: list[Document]) -> None:
    put(repo, "Base", *base)
    (repo.path / PATH).unlink()
    mended(repo, *base)
    repo.git("rm", "-q", "-f", PATH)
    repo.git("commit", "-q", "-m", "Gone")
    mended(repo, *base)


def test_repair__another_branch_gives_only_what_is_named(repo: Repo, base: list[Document]) -> None:
    put(repo, "Base", *base)
    repo.git("checkout", "-q", "-b", "side")
    parent, unrelated = note("parent", base[-1]), note("unrelated", base[-1], minute=31)
    put(repo, "Parent", *base, parent, unrelated)
    picked = decision(X, "reject", after=[parent], at="2026-01-31T06:00:00Z")
    put(repo, "Picked", *base, parent, unrelated, picked)
    repo.git("checkout", "-q", "main")
    repo.write(PATH, file(*base, picked))
    verdict = muniment("ledger", "verify", "--json", cwd=repo.path)
    assert [one["rule"] for one in verdict.json["problems"]] == ["incomplete"]
    mended(repo, *base, parent, picked)


@pytest.mark.parametrize("gone", ["branch", "unreachable"])
def test_repair__a_cherry_pick_brings_its_ancestors(repo: Repo, base: list[Document], gone: str) -> None:
    put(repo, "Base", *base)
    repo.git("checkout", "-q", "-b", "side")
    parent = note("parent", base[-1])
    put(repo, "Parent", *base, parent)
    found = finding(X, "r1", after=[parent], at="2026-01-31T06:00:00Z")
    tip = put(repo, "Picked", *base, parent, found)
    repo.git("checkout", "-q", "main")
    repo.git("cherry-pick", tip, check=False)
    if gone == "unreachable":
        repair(repo, "README.md")
        repo.git("branch", "-q", "-D", "side")
        repo.git("reflog", "expire", "--expire=now", "--all")
    mended(repo, *base, parent, found)


def test_repair__a_rebase_onto_that_dropped_a_commit(repo: Repo, base: list[Document]) -> None:
    put(repo, "Base", *base)
    repo.git("checkout", "-q", "-b", "side")
    first = note("first", base[-1])
    dropped = put(repo, "First", *base, first)
    second = note("second", first, minute=40)
    put(repo, "Second", *base, first, second)
    repo.git("rebase", "--onto", "main", dropped, "side", check=False)
    mended(repo, *base, first, second)


def test_repair__what_no_object_holds_is_unresolved(repo: Repo, base: list[Document]) -> None:
    put(repo, "Base", *base)
    lonely = note("lonely", note("never seen"))
    repo.write(PATH, file(*base, lonely))
    done = repair(repo)
    (left,) = done.json["unresolved"]
    assert left["rule"] == "incomplete"
    assert left["path"] == PATH
    assert left["line"] > 1
    assert lonely["id"][:12] in left["message"]
    assert "git fetch" in left["message"]
    assert repo.read(PATH) == file(*base, lonely)
    assert done.json["repaired"] == []


def test_repair__shallow_history_is_unknown(repo: Repo, base: list[Document], tmp_path: Path) -> None:
    put(repo, "Base", *base)
    newest = note("newest", base[-1])
    put(repo, "Newest", *base, newest)
    put(repo, "Dropped", *base)
    cut = Repo(tmp_path / "cut")
    repo.git("clone", "-q", "--depth=1", f"file://{repo.path}", str(cut.path))
    done = repair(cut)
    assert [one["settle"] for one in done.json["unresolved"]] == ["git fetch --unshallow"]
    assert cut.read(PATH) == file(*base)
    cut.git("fetch", "-q", "--unshallow")
    mended(cut, *base, newest)


def test_repair__a_partial_clone_fetches_nothing(repo: Repo, base: list[Document], tmp_path: Path) -> None:
    put(repo, "Base", *base, note("newest", base[-1]))
    put(repo, "Dropped", *base)
    repo.git("config", "uploadpack.allowFilter", "true")
    part = Repo(tmp_path / "part")
    repo.git("clone", "-q", "--filter=blob:none", f"file://{repo.path}", str(part.path))
    before = part.git("rev-list", "--objects", "--all", "--missing=print")
    done = repair(part)
    assert part.git("rev-list", "--objects", "--all", "--missing=print") == before
    (left,) = done.json["unresolved"]
    assert left["settle"].startswith("git fetch origin ")


def test_repair__follows_a_ledger_that_moved(repo: Repo, base: list[Document]) -> None:
    put(repo, "Base", *base)
    repo.git("rm", "-q", PATH)
    repo.write(".muniment/config.yaml", "docs_root: notes\n")
    repo.write("notes/reviews/ledger.json", file(*base[:-1]))
    repo.commit("Moved, and one lost")
    against = ("ledger", "verify", "--against", "HEAD~1", "--json")
    assert [one["rule"] for one in muniment(*against, cwd=repo.path).json["problems"]] == ["removed"]
    repair(repo)
    assert repo.read("notes/reviews/ledger.json") == file(*base)


# Edited and damaged entries


def edited(data: bytes) -> bytes:
    return data.replace(b'"three"', b'"THREE"')


def test_repair__an_edited_entry_gets_its_recorded_bytes_back(repo: Repo, base: list[Document]) -> None:
    put(repo, "Base", *base)
    repo.write(PATH, edited(file(*base)))
    done = repair(repo)
    assert "as recorded" in done.json["repaired"][0]["what"]
    assert base[-1]["id"][:12] in done.json["repaired"][0]["what"]
    assert repo.read(PATH) == file(*base)


def test_repair__an_edited_entry_that_nobody_has_is_named(repo: Repo, base: list[Document]) -> None:
    put(repo, "Base", *base[:2])
    broken = edited(file(*base))
    repo.write(PATH, broken)
    done = repair(repo)
    assert {one["rule"] for one in done.json["unresolved"]} == {"id"}
    assert base[-1]["id"][:12] in done.json["unresolved"][0]["message"]
    assert done.json["unresolved"][0]["line"] > 0
    assert repo.read(PATH) == broken


def test_repair__mends_the_rest_around_an_edited_entry(repo: Repo, base: list[Document]) -> None:
    put(repo, "Base", *base[:2])
    repo.write(PATH, edited(file(*base[1:])))
    done = repair(repo)
    assert repo.read(PATH) == edited(file(*base))
    assert done.json["repaired"]
    assert {one["rule"] for one in done.json["unresolved"]} == {"id"}
    assert repair(repo).json["repaired"] == []


def test_repair__a_line_that_cannot_be_kept_stops_it(repo: Repo, base: list[Document]) -> None:
    put(repo, "Base", *base[:2])
    line = spell(base[2])
    damaged = file(*base).replace(line.encode(), line[:-40].encode())
    repo.write(PATH, damaged)
    done = repair(repo)
    assert repo.read(PATH) == damaged
    assert done.json["repaired"] == []
    assert "nothing was written" in done.json["unresolved"][0]["message"]


DAMAGE = [lambda line: line.replace('"three"', '"THREE"'), lambda line: line[:-40]]


def cut_out(repo: Repo, line: int) -> None:
    lines = repo.read(PATH).decode().splitlines(keepends=True)
    del lines[line - 1]
    repo.write(PATH, "".join(lines))
    muniment("repair", cwd=repo.path).ok()


@pytest.mark.parametrize("damage", DAMAGE, ids=["edited", "cut"])
def test_repair__a_damaged_entry_of_no_history_can_be_cut_out_as_it_says(
    repo: Repo, base: list[Document], damage: Callable[[str], str]
) -> None:
    put(repo, "Base", *base[:2])
    line = spell(base[2])
    repo.write(PATH, file(*base).replace(line.encode(), damage(line).encode()))
    (left,) = repair(repo).json["unresolved"]
    assert f"delete line {left['line']}; then run `muniment repair` again" in left["message"]
    cut_out(repo, left["line"])
    assert repo.read(PATH) == file(*base[:2])
    muniment("check", cwd=repo.path).ok()


@pytest.mark.parametrize("damage", DAMAGE, ids=["edited", "cut"])
def test_repair__a_damaged_entry_that_was_cut_out_comes_back_with_a_merge(
    repo: Repo, base: list[Document], damage: Callable[[str], str], tmp_path: Path
) -> None:
    put(repo, "Base", *base[:2])
    repo.git("clone", "-q", str(repo.path), str(tmp_path / "other"))
    other = Repo(tmp_path / "other")
    put(other, "More", *base)
    line = spell(base[2])
    repo.write(PATH, file(*base).replace(line.encode(), damage(line).encode()))
    cut_out(repo, repair(repo).json["unresolved"][0]["line"])
    repo.git("pull", "-q", "--no-rebase", "--no-edit", str(other.path), "HEAD")
    assert repo.read(PATH) == file(*base)
    muniment("check", cwd=repo.path).ok()


@pytest.mark.parametrize("content", ["{}", '{"name":"other"}', '{"schema":"muniment.ledger/9","entries":[]}'])
def test_repair__another_file_is_left_alone(repo: Repo, base: list[Document], content: str) -> None:
    put(repo, "Base", *base)
    repo.write(PATH, content)
    done = repair(repo)
    assert done.json["unresolved"]
    assert repo.read(PATH) == content.encode()


def test_repair__unknown_members_and_records_survive_every_damage(
    segmented: tuple[Repo, Document, str], base: list[Document]
) -> None:
    repo, row, _ = segmented
    later = note("later", base[-1])
    whole = file(later, sealed=[row]).replace(b'"sealed"', b'"future":{"x":1},"sealed"', 1)
    repo.write(PATH, whole)
    repo.commit("Future")
    lines = whole.splitlines(keepends=True)
    for gone in range(1, 2 ** len(lines), 3):
        kept = [line for number, line in enumerate(lines) if not gone >> number & 1]
        repo.write(PATH, b"".join(kept))
        repair(repo)
        assert repo.read(PATH) == whole, kept


def test_repair__a_ledger_whose_newest_version_is_newer_is_read_only(
    repo: Repo, base: list[Document]
) -> None:
    newer = file(*base).replace(b"ledger/1", b"ledger/2")
    repo.write(PATH, newer)
    repo.commit("Newer")
    for damaged in (newer, b"", file(*base)):
        repo.write(PATH, damaged)
        assert [one["rule"] for one in repair(repo).json["unresolved"]] == ["newer-schema"]
        assert repo.read(PATH) == damaged
    (repo.path / PATH).unlink()
    assert repair(repo).code == 1
    assert not (repo.path / PATH).exists()


# Expunged entries


def expunging(base: list[Document]) -> tuple[Document, Document]:
    """The stub of the last entry and the expunge entry that vouches for it."""
    (made,) = (one for one in parse_segment(file(*base), "").entries if one.id == base[-1]["id"])
    stubbed = stub(made)
    data = {"expunges": made.id, "stub": stub_digest(stubbed), "reason": "Asked for."}
    return json.loads(stubbed.raw), entry("expunge", data, after=[base[-1]], at="2026-01-31T07:00:00Z")


def test_repair__an_expunged_form_wins_over_a_revert(repo: Repo, base: list[Document]) -> None:
    put(repo, "Base", *base)
    stubbed, by = expunging(base)
    put(repo, "Expunge", *base[:-1], stubbed, by)
    repo.git("revert", "--no-edit", "HEAD")
    assert b'"three"' in repo.read(PATH)
    mended(repo, *base[:-1], stubbed, by)


def test_repair__a_stub_that_nobody_vouches_for_gets_its_body_back(repo: Repo, base: list[Document]) -> None:
    put(repo, "Base", *base)
    stubbed, _ = expunging(base)
    repo.write(PATH, file(*base[:-1], stubbed))
    mended(repo, *base)


def test_repair__an_expunged_ancestor_comes_as_its_stub(repo: Repo, base: list[Document]) -> None:
    put(repo, "Base", *base[:2])
    repo.git("checkout", "-q", "-b", "side")
    stubbed, by = expunging(base)
    put(repo, "Three", *base)
    put(repo, "Expunge", *base[:2], stubbed, by)
    repo.git("checkout", "-q", "main")
    later = note("later", base[-1])
    repo.write(PATH, file(*base[:2], later))
    mended(repo, *base[:2], stubbed, by, later)


# Sealed segments


@pytest.fixture
def segmented(repo: Repo, base: list[Document]) -> tuple[Repo, Document, str]:
    """A ledger whose entries are all sealed but one; the record and the file's path."""
    put(repo, "Base", *base)
    made = muniment("ledger", "seal", "--over", "0", "--json", cwd=repo.path).ok().json
    repo.commit("Seal")
    row = json.loads(repo.read(PATH))["sealed"][0]
    return repo, row, made["path"]


@pytest.mark.parametrize("how", ["removed", "edited", "crlf", "removed and committed"])
def test_repair__a_sealed_segment_is_restored(segmented: tuple[Repo, Document, str], how: str) -> None:
    repo, row, path = segmented
    right = repo.read(path)
    if how == "edited":
        repo.write(path, edited(right))
    elif how == "crlf":
        repo.write(path, right.replace(b"\n", b"\r\n"))
    else:
        (repo.path / path).unlink()
    if how.endswith("committed"):
        repo.commit("Gone")
    done = repair(repo)
    assert [one["path"] for one in done.json["repaired"]] == [path]
    assert repo.read(path) == right
    assert repair(repo).json["repaired"] == []
    assert json.loads(repo.read(PATH))["sealed"] == [row]


def test_repair__a_sealed_segment_that_is_nowhere_is_unresolved(repo: Repo, base: list[Document]) -> None:
    row = {"file": f"ledger/{'ab' * 8}.json", "sha256": "ab" * 32, "count": 1, "replaces": []}
    put(repo, "Base", *base, sealed=[row])
    done = repair(repo)
    assert [one["rule"] for one in done.json["unresolved"]] == ["sealed"]
    assert repo.read(PATH) == file(*base, sealed=[row])


def test_repair__the_list_of_segments_merges_as_a_set(
    segmented: tuple[Repo, Document, str], base: list[Document]
) -> None:
    repo, row, path = segmented
    repo.git("checkout", "-q", "-b", "side", "HEAD~1")
    theirs = note("theirs", base[-1])
    put(repo, "Theirs", *base, theirs)
    muniment("ledger", "seal", "--over", "0", cwd=repo.path).ok()
    repo.commit("Seal differently")
    (other,) = json.loads(repo.read(PATH))["sealed"]
    repo.git("checkout", "-q", "main")
    repo.git("merge", "side", check=False)
    assert repo.git("ls-files", "-u")
    mended(repo, sealed=[row, other])
    assert (repo.path / path).is_file()


def test_repair__a_reverted_seal_and_a_dropped_list(
    segmented: tuple[Repo, Document, str], base: list[Document]
) -> None:
    repo, row, path = segmented
    repo.write(PATH, file())
    (repo.path / path).unlink()
    repo.commit("All gone")
    repair(repo)
    assert repo.read(PATH) == file(sealed=[row])
    assert {one["id"] for one in json.loads(repo.read(path))["entries"]} == {one["id"] for one in base}
    repo.git("checkout", "-q", ".")
    repo.git("clean", "-qfd")
    repo.git("revert", "--no-edit", "HEAD", "HEAD~1")
    assert repair(repo).json["repaired"] == []
    assert repo.read(PATH) == file(*base)


def test_repair__an_expunge_reaches_into_a_restored_segment(
    segmented: tuple[Repo, Document, str], base: list[Document]
) -> None:
    repo, row, path = segmented
    muniment("ledger", "expunge", base[-1]["id"], "--reason", "Asked", "--yes", cwd=repo.path).ok()
    after = repo.read(PATH)
    (fresh,) = json.loads(after)["sealed"]
    repo.git("revert", "--no-edit", "HEAD")
    assert b'"three"' in repo.read(path)
    assert repair(repo).json["unresolved"] == []
    assert repo.read(PATH) == after
    assert b'"three"' not in repo.read(f"docs/reviews/{fresh['file']}")
    assert not (repo.path / path).exists()
    assert fresh["replaces"] == [row["file"]]
    assert repair(repo).json["repaired"] == []


# The command


def test_repair__paths(repo: Repo, base: list[Document]) -> None:
    put(repo, "Base", *base)
    repo.write(PATH, file(*base[:-1]))
    assert repair(repo, "README.md").json["repaired"] == []
    state = "docs/feedback-sweep/state.yml"
    repo.write(state, "<<<<<<< HEAD\na: 1\n=======\na: 2\n>>>>>>> side\n")
    done = repair(repo, state)
    assert [(one["path"], one["rule"]) for one in done.json["unresolved"]] == [(state, "by-hand")]
    assert repo.read(PATH) == file(*base[:-1])
    done = repair(repo, "docs")
    assert repo.read(PATH) == file(*base)
    assert [one["path"] for one in done.json["unresolved"]] == [state]


def test_repair__says_what_comes_next(forked: tuple[Repo, Document, Document]) -> None:
    repo, _, _ = forked
    repo.git("merge", "-q", "-s", "ours", "--no-commit", "side")
    said = muniment("repair", cwd=repo.path).ok()
    assert f"git add -- {PATH}" in said.err
    assert "git merge --continue" in said.err
    assert said.out.count("\n") == 1


def test_repair__the_gate_still_judges_what_comes_back(repo: Repo, base: list[Document]) -> None:
    leak = note("call +41 79 555 01 23", base[-1])
    put(repo, "Before there was a gate", *base, leak)
    put(repo, "Dropped", *base)
    done = repair(repo)
    assert "gate" in [one["rule"] for one in done.json["unresolved"]]
    assert "555" not in done.out
    assert repo.read(PATH) == file(*base)


def test_repair__two_lines_run_together_keep_the_text_of_the_one_that_was_never_committed(
    repo: Repo, base: list[Document]
) -> None:
    put(repo, "Base", *base)
    fresh, known = spell(note("only here", base[-1])), spell(base[0])
    glued = fresh[: fresh.index('"id"') + 20] + known[30:]
    repo.write(PATH, file(*base).replace(known.encode(), glued.encode()))
    done = repair(repo)
    assert b"only here" in repo.read(PATH)
    assert done.json["unresolved"]


# Properties

_CHAIN = chain(*[("note", {"text": f"line {number}"}) for number in range(12)])


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sets(st.integers(0, 60), max_size=25))
def test_repair__any_lines_removed_come_back_byte_for_byte(committed: Repo, gone: set[int]) -> None:
    whole = file(*_CHAIN)
    lines = whole.splitlines(keepends=True)
    committed.write(PATH, b"".join(line for number, line in enumerate(lines) if number not in gone))
    done = muniment("repair", "--json", cwd=committed.path)
    if 0 in gone and lines[0] not in committed.read(PATH) and done.code:
        pytest.fail(done.out)
    assert done.json["unresolved"] == []
    assert committed.read(PATH) == whole


@pytest.fixture(scope="module")
def committed(tmp_path_factory: pytest.TempPathFactory) -> Repo:
    made = Repo.init(tmp_path_factory.mktemp("lines"))
    made.git("config", "user.name", "Robin Owner")
    made.git("config", "user.email", "robin@example.org")
    made.write(PATH, file(*_CHAIN))
    made.commit("Base")
    return made


@given(st.lists(st.sampled_from(["ours", "theirs", "both"]), min_size=1, max_size=12))
def test_read__loses_no_line_of_either_side(where: list[str]) -> None:
    entries = _CHAIN[: len(where)]
    text = ""
    for place, one in zip(where, entries, strict=True):
        mine, other = (spell(one) + "\n,\n" if place in {name, "both"} else "" for name in ("ours", "theirs"))
        text += spell(one) + "\n,\n" if place == "both" else f"<<<<<<< a\n{mine}=======\n{other}>>>>>>> b\n"
    found = read(text.encode(), PATH)
    assert found.ids == {one["id"] for one in entries}
    assert not found.strays
