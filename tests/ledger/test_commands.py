"""`muniment ledger …` as the contract pins it: names, JSON keys, exit codes, nothing written on refusal."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.cli import Result, muniment
from tests.support.ledger import PATH, decision, entry, file, finding, identify
from tests.support.repo import Repo

X = "bug/code/x"


def run(repo: Repo, *arguments: str, stdin: str | bytes = "") -> Result:
    return muniment("ledger", *arguments, cwd=repo.path, stdin=stdin)


def add(repo: Repo, kind: str = "note", data: object = None, *more: str) -> str:
    text = json.dumps({"text": "x"} if data is None else data)
    done = run(repo, "add", "--kind", kind, "--data", text, *more, "--json").ok()
    identity: str = done.json["id"]
    return identity


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MUNIMENT_NOW", "2026-02-01T00:00:00Z")


def test_add__answers_the_id_and_writes_exactly_the_bytes(repo: Repo) -> None:
    identity = add(repo, "decision", {"subject": X, "action": "reject"}, "--op", "k")
    by_hand = entry(
        "decision", {"subject": X, "action": "reject"}, at="2026-02-01T00:00:00Z", op="k", basis=[]
    )
    assert identity == by_hand["id"] == identify(by_hand)
    assert repo.read(PATH) == file(by_hand)
    assert repo.git("log", "--oneline").count("\n") == 0


def test_add__a_random_operation_makes_two_entries_and_a_given_one_makes_one(repo: Repo) -> None:
    assert add(repo) != add(repo)
    first = add(repo, "note", {"text": "y"}, "--op", "k")
    again = run(repo, "add", "--kind", "note", "--data", '{"text":"y"}', "--op", "k", "--json").ok()
    assert again.json == {"id": first, "added": False}
    assert len(run(repo, "log", "--json").json["entries"]) == 3


def test_add__names_the_way_to_undo_and_the_field_at_fault(repo: Repo) -> None:
    applied = add(repo, "applied", {"entries": [add(repo)]})
    before = repo.read(PATH)
    data = json.dumps({"undoes": applied})
    assert "muniment undo" in run(repo, "add", "--kind", "undo", "--data", data).err
    assert "ledger expunge" in run(repo, "add", "--kind", "expunge", "--data", "{}").err
    assert "data.alias" in run(repo, "add", "--kind", "alias", "--data", "{}").err
    assert repo.read(PATH) == before


@pytest.mark.parametrize("quick", [True, False])
def test_add__checks_what_an_entry_names(repo: Repo, quick: bool) -> None:
    note, seen = add(repo), add(repo, "finding", {"subject": X})
    add(repo, "alias", {"alias": "a", "canonical": "b"})
    before = repo.read(PATH)
    cache = repo.path / ".git" / "muniment" / "cache" / "ledger-tip.json"

    def put(kind: str, data: object) -> Result:
        if not quick:
            cache.unlink(missing_ok=True)
        return run(repo, "add", "--kind", kind, "--data", json.dumps(data))

    assert put("decision", {"subject": X, "action": "reject", "findings": [note]}).code == 2
    assert put("alias", {"alias": "b", "canonical": "a"}).code == 2
    assert put("applied", {"entries": [note[:-1] + "g"]}).code == 2
    assert repo.read(PATH) == before
    put("decision", {"subject": X, "action": "reject", "findings": [seen]}).ok()
    put("applied", {"entries": [note, seen]}).ok()
    run(repo, "verify").ok()


def test_add__takes_the_actor_and_works_from_any_folder(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MUNIMENT_ACTOR", "mona")
    (repo.path / "deep" / "er").mkdir(parents=True)
    muniment("ledger", "add", "--kind", "note", "--data", "{}", cwd=repo.path / "deep" / "er").ok()
    assert json.loads(repo.read(PATH))["entries"][0]["actor"] == "mona"


def test_add__reads_the_body_from_stdin(repo: Repo) -> None:
    run(repo, "add", "--kind", "note", "--data", "-", stdin='{"text": "grüße"}').ok()
    assert "grüße".encode() in repo.read(PATH)


@pytest.mark.parametrize(
    "data",
    [
        '{"x":1.5}',
        '{"x":1e2}',
        '{"x":NaN}',
        '{"x":9007199254740993}',
        '{"x":1,"x":2}',
        '{"x":"\\ud800"}',
        '{"x":"\udcff"}',
        "[" * 40 + "]" * 40,
        '{"x":' * 33 + "1" + "}" * 33,
        json.dumps({"x": "y" * 65_536}),
        "[]",
        "1",
        "",
        "{",
        "{} {}",
    ],
)
def test_add__anything_not_canonical_is_exit_2_and_nothing_is_written(repo: Repo, data: str) -> None:
    done = run(repo, "add", "--kind", "note", "--data", data, "--json")
    assert done.code == 2
    assert set(done.json["error"]) >= {"code", "message", "hint"}
    assert done.err.startswith("muniment: error: ")
    assert not (repo.path / PATH).exists()
    assert repo.status() == ""


@pytest.mark.parametrize(
    "arguments",
    [
        ["--kind", "", "--data", "{}"],
        ["--kind", "a\nb", "--data", "{}"],
        ["--kind", "expunge", "--data", "{}"],
        ["--kind", "undo", "--data", '{"undoes":"' + "a" * 32 + '"}'],
        ["--kind", "undo", "--data", "{}"],
        ["--kind", "decision", "--data", "{}"],
        ["--kind", "decision", "--data", '{"subject":"x","action":"y","findings":["' + "a" * 32 + '"]}'],
        ["--kind", "alias", "--data", '{"subject":"a","canonical":"b"}'],
        ["--kind", "alias", "--data", '{"alias":"a","canonical":"a"}'],
        ["--kind", "applied", "--data", "{}"],
        ["--kind", "applied", "--data", '{"entries":["' + "a" * 32 + '"]}'],
        ["--kind", "finding", "--data", '{"subject":1}'],
        ["--kind", "note"],
        ["--data", "{}"],
        ["--kind", "decision", "--data", '{"subject":"x","action":"y"}', "--basis", "zzz"],
    ],
)
def test_add__wrong_usage_is_exit_2(repo: Repo, arguments: list[str]) -> None:
    assert run(repo, "add", *arguments).code == 2
    assert not (repo.path / PATH).exists()


def test_add__a_broken_incomplete_or_newer_ledger_is_exit_3_and_untouched(repo: Repo) -> None:
    whole = file(entry("note", {"text": "x"}))
    for data in (
        whole.replace(b'"x"', b'"y"'),
        file(entry("note", {}, after=["a" * 32])),
        whole.replace(b"ledger/1", b"ledger/7"),
        whole[:-5],
    ):
        repo.write(PATH, data)
        done = run(repo, "add", "--kind", "note", "--data", "{}", "--json")
        assert done.code == 3
        assert done.json["error"]["hint"]
        assert repo.read(PATH) == data


def test_log__is_in_derived_order_with_entries_as_recorded(repo: Repo) -> None:
    first = entry("note", {"n": 1}, at="2026-02-02T00:00:00Z")
    second = entry("note", {"n": 2}, after=[first], at="2026-02-01T00:00:00Z")
    other = finding(X, "r1", at="2026-02-01T12:00:00Z")
    repo.write(PATH, file(first, second, other))
    assert run(repo, "log", "--json").ok().json == {
        "entries": [other, first, second],
        "incomplete": [],
        "problems": [],
    }
    assert run(repo, "log", "--kind", "finding", "--json").json["entries"] == [other]
    repo.commit("all")
    repo.write(PATH, file(first))
    assert run(repo, "log", "--rev", "HEAD", "--json").json["entries"] == [other, first, second]
    assert run(repo, "log", "--rev", "nope", "--json").code == 4


def test_log__for_people_is_one_line_an_entry_and_shows_no_control_characters(repo: Repo) -> None:
    add(
        repo,
        "decision",
        {"subject": X, "action": "attach", "target": "docs/a.md", "reason": "It\u001b[31m\nfits"},
    )
    add(repo, "alias", {"alias": "bug/code/y", "canonical": X})
    shown = run(repo, "log").ok().out
    assert len(shown.splitlines()) == 2
    assert "2026-02-01 00:00  Robin Owner" in shown
    assert f"{X}  attach → docs/a.md" in shown
    assert "\x1b" not in shown
    assert "bug/code/y  = bug/code/x" in shown


def test_log__says_what_is_incomplete_and_still_shows_the_rest(repo: Repo) -> None:
    child = entry("note", {"n": 2}, after=["a" * 32])
    repo.write(PATH, file(child, entry("note", {"n": 3})))
    found = run(repo, "log", "--json").ok().json
    assert found["incomplete"] == [child["id"]]
    assert len(found["entries"]) == 2


def test_log__a_file_that_is_no_json_is_a_hard_named_error(repo: Repo) -> None:
    repo.write(PATH, b"<<<<<<< HEAD\n" + file() + b"=======\n>>>>>>> x\n")
    done = run(repo, "log", "--json")
    assert done.code == 3
    assert done.json["error"]["code"] == "conflict-markers"
    assert f"{PATH}:1" in done.json["error"]["message"]


def test_verify__answers_ok_problems_and_expunged(repo: Repo) -> None:
    assert run(repo, "verify", "--json").ok().json["ok"] is True
    made = entry("note", {"text": "x"})
    repo.write(PATH, file(made).replace(b'"x"', b'"y"'))
    done = run(repo, "verify", "--json")
    assert done.code == 1
    assert done.json["ok"] is False
    (problem,) = done.json["problems"]
    assert (problem["entry"], problem["rule"]) == (made["id"], "id")
    assert problem["message"]
    assert done.json["expunged"] == []
    assert f"{PATH}:2" in run(repo, "verify").out


def test_verify__incomplete_is_its_own_rule(repo: Repo) -> None:
    child = entry("note", {}, after=["a" * 32])
    repo.write(PATH, file(child))
    done = run(repo, "verify", "--json")
    assert (done.code, [one["rule"] for one in done.json["problems"]]) == (1, ["incomplete"])


def test_verify__against_a_revision(repo: Repo) -> None:
    identity = add(repo)
    repo.commit("one")
    assert run(repo, "verify", "--against", "HEAD", "--json").ok().json["ok"] is True
    repo.write(PATH, file())
    done = run(repo, "verify", "--against", "HEAD", "--json")
    assert done.code == 1
    assert [(one["entry"], one["rule"]) for one in done.json["problems"]] == [(identity, "removed")]
    done = run(repo, "verify", "--against", "origin/main", "--json")
    assert (done.code, done.json["ok"]) == (4, None)
    assert "git fetch" in done.json["settle"]


def test_status__answers_the_pinned_keys(repo: Repo) -> None:
    found = run(repo, "status", X, "--json").ok().json
    assert (found["status"], found["seen"], found["decisions"], found["aliases"]) == ("unseen", 0, [], [])
    add(repo, "finding", {"subject": X, "report": "r1"})
    identity = add(repo, "decision", {"subject": X, "action": "reject"})
    add(repo, "alias", {"alias": "bug/code/y", "canonical": X})
    found = run(repo, "status", "bug/code/y", "--json").ok().json
    assert (found["subject"], found["canonical"], found["status"]) == ("bug/code/y", X, "reject")
    assert (found["decisions"], found["aliases"], found["seen"]) == ([identity], ["bug/code/y"], 1)
    shown = run(repo, "status", "bug/code/y").ok().out
    assert "alias of bug/code/x" in shown
    assert "reject" in shown


def test_status__of_an_alias_shows_its_own_decision_too(repo: Repo) -> None:
    first = add(repo, "decision", {"subject": X, "action": "attach", "target": "docs/bugs/x.md"})
    add(repo, "alias", {"alias": "bug/code/y", "canonical": X})
    body = {"subject": "bug/code/y", "action": "duplicate", "target": X}
    run(repo, "add", "--kind", "decision", "--data", json.dumps(body), "--basis", first).ok()
    shown = run(repo, "status", "bug/code/y").ok().out.splitlines()
    assert shown[0].startswith("bug/code/y (alias of bug/code/x): attach")
    assert [word in line for word, line in zip(("attach", "duplicate"), shown[1:], strict=True)] == [
        True,
        True,
    ]
    assert not any("duplicate" in line for line in run(repo, "status", X).ok().out.splitlines()[1:2])


def test_status_and_log__of_a_conflicted_file_say_why_and_what_mends_it(repo: Repo) -> None:
    whole = file(decision(X, "reject")).decode()
    repo.write(PATH, f"<<<<<<< ours\n{whole}=======\n{whole}>>>>>>> theirs\n")
    shown = run(repo, "status", X).ok().out
    assert "unknown" in shown
    assert "conflict markers" in shown
    assert "muniment repair" in shown
    refused = run(repo, "log")
    assert "muniment repair" in refused.err
    assert "git checkout" not in refused.err
    steps = muniment("status", "--json", cwd=repo.path).ok().json["next"]
    assert steps[0]["command"] == "muniment repair"


def test_status__contested_and_unknown_say_what_to_do(repo: Repo) -> None:
    repo.write(PATH, file(decision(X, "reject"), decision(X, "new"), entry("hologram", {"subject": "s"})))
    assert run(repo, "status", X, "--json").json["status"] == "contested"
    assert "decide it again" in run(repo, "status", X).out
    found = run(repo, "status", "s", "--json").json
    assert found["status"] == "unknown"
    assert "upgrade" in found["hint"]


def test_status__at_a_revision(repo: Repo) -> None:
    add(repo, "decision", {"subject": X, "action": "reject"})
    repo.commit("one")
    add(repo, "decision", {"subject": X, "action": "new"})
    assert run(repo, "status", X, "--rev", "HEAD", "--json").json["status"] == "reject"
    assert run(repo, "status", X, "--json").json["status"] == "new"


def test_expunge__preview_confirm_and_yes(repo: Repo) -> None:
    identity = add(repo)
    repo.commit("one")
    preview = run(repo, "expunge", identity, "--reason", "asked", "--preview", "--json").ok().json
    assert [change["path"] for change in preview["changes"]] == [PATH]
    shown = run(repo, "expunge", identity, "--reason", "asked", "--preview").ok().out
    assert "token: " in shown
    token = preview["token"]
    done = run(repo, "expunge", identity, "--reason", "asked", "--confirm", token, "--json").ok().json
    assert done["commit"] == repo.head()
    assert run(repo, "verify", "--json").ok().json["expunged"] == [identity]
    assert run(repo, "expunge", identity, "--reason", "asked", "--confirm", token, "--json").code == 3
    other = add(repo, "note", {"text": "y"})
    done = run(repo, "expunge", other, "--reason", "asked", "--yes").ok()
    assert "in commit" in done.out
    assert "history" in done.err
    assert run(repo, "expunge", other, "--reason", "asked", "--preview").code == 3


def test_expunge__without_a_terminal_needs_a_flag(repo: Repo) -> None:
    identity = add(repo)
    before = repo.read(PATH)
    assert run(repo, "expunge", identity, "--reason", "asked").code == 2
    assert run(repo, "expunge", identity, "--reason", "asked", "--yes", "--preview").code == 2
    assert run(repo, "expunge", identity, "--yes").code == 2
    assert repo.read(PATH) == before


def test_seal__says_what_it_did(repo: Repo) -> None:
    add(repo)
    assert run(repo, "seal", "--json").ok().json["sealed"] is None
    assert "Nothing to seal" in run(repo, "seal").ok().out
    sealed = run(repo, "seal", "--over", "0", "--json").ok().json
    assert sealed["sealed"]["count"] == 1
    assert (repo.path / sealed["path"]).is_file()
    add(repo)
    assert "Sealed 1" in run(repo, "seal", "--over", "0").ok().out
    assert run(repo, "verify", "--json").ok().json["entries"] == 2


def test_log__shows_every_kind_in_a_few_words(repo: Repo) -> None:
    first = finding(X, "r1")
    done = entry("applied", {"entries": [first["id"]], "batch": "2026-02-01-helper"}, after=[first])
    undone = entry("undo", {"undoes": done["id"], "reason": "Too early"}, after=[done])
    strange = entry("hologram", {"x": 1}, after=[undone])
    repo.write(PATH, file(first, done, undone, strange))
    shown = run(repo, "log").ok().out.splitlines()
    assert len(shown) == 4
    assert any("2026-02-01-helper  2 entries added" in line for line in shown)
    assert any(f"entry {done['id'][:12]}" in line and "Too early" in line for line in shown)
    assert any("It breaks" in line for line in shown)
    assert "No entries of kind none" in run(repo, "log", "--kind", "none").ok().err


def test_log__says_that_a_readable_ledger_has_problems(repo: Repo) -> None:
    repo.write(PATH, file(entry("note", {}, after=["a" * 32])))
    assert "muniment ledger verify" in run(repo, "log").ok().err


def test_verify__for_people(repo: Repo) -> None:
    identity = add(repo)
    assert "The ledger is whole: 1 entry." in run(repo, "verify").ok().out
    run(repo, "expunge", identity, "--reason", "asked", "--yes").ok()
    assert "2 entries, 1 expunged" in run(repo, "verify").ok().out
    parent = entry("note", {"n": 1}, at="2026-02-02T00:00:00Z")
    child = entry("note", {"n": 2}, at="2026-02-01T00:00:00Z", after=[parent])
    repo.write(PATH, file(parent, child))
    assert "note: " in run(repo, "verify").ok().err
    unknown = run(repo, "verify", "--against", "nowhere")
    assert unknown.code == 4
    assert "settle: git fetch" in unknown.err


def test_add__for_people(repo: Repo) -> None:
    arguments = ("add", "--kind", "note", "--data", '{"text":"Hello"}', "--op", "k")
    assert "Hello" in run(repo, *arguments).ok().out
    assert "(recorded already)" in run(repo, *arguments).ok().out
    assert run(repo, "add", "--kind", "note", "--data", "-", stdin=b"\xff").code == 2


def test_verify__a_newer_schema_is_unknown(repo: Repo) -> None:
    add(repo)
    repo.write(PATH, repo.read(PATH).replace(b"ledger/1", b"ledger/2"))
    done = run(repo, "verify", "--json")
    assert (done.code, done.json["ok"], "upgrade" in done.json["settle"]) == (4, None, True)


def test_add__warns_of_a_jump_of_more_than_a_year(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    add(repo)
    monkeypatch.setenv("MUNIMENT_NOW", "2026-12-01T00:00:00Z")
    assert "clock" not in run(repo, "add", "--kind", "note", "--data", "{}").ok().err
    monkeypatch.setenv("MUNIMENT_NOW", "2028-12-02T00:00:00Z")
    assert "clock" in run(repo, "add", "--kind", "note", "--data", "{}").ok().err


def test_expunge__is_an_owners(repo: Repo, tmp_path: Path) -> None:
    repo.write(".muniment/config.yaml", "owners: [olive@example.org]\n")
    repo.commit("Settings")
    repo.bare_remote(tmp_path / "bare.git")
    identity = add(repo)
    repo.commit("Note")
    head = repo.head()
    for how in ("--yes", "--preview"):
        assert run(repo, "expunge", identity, "--reason", "asked", how).code == 3
    assert (repo.head(), repo.status()) == (head, "")
    repo.git("config", "user.email", "Olive@example.org")
    run(repo, "expunge", identity, "--reason", "asked", "--yes").ok()
