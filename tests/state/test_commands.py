"""`muniment state --state FILE`: the words, the JSON, the exit codes (CONTRACT)."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.cli import Result, muniment
from tests.support.repo import Repo

NOON = "2026-12-01T12:00:00+01:00"


class Engine:
    """The commands on one file."""

    def __init__(self, folder: Path, name: str = "state.yml") -> None:
        self.folder, self.name = folder, name

    def raw(self, command: str, *options: str, stdin: str | bytes = b"") -> Result:
        return muniment("state", command, "--state", self.name, *options, cwd=self.folder, stdin=stdin)

    def __call__(self, command: str, *options: str, stdin: str | bytes = b"") -> tuple[str, Any]:
        """The word and the value."""
        result = self.raw(command, *options, stdin=stdin).ok()
        word, *more = result.out.splitlines()
        assert len(more) <= 1
        return word, json.loads(more[0]) if more else None

    def acquire(self, writer: str = "a", now: str = NOON, *more: str) -> tuple[str, Any]:
        return self("lease-acquire", "--writer", writer, "--now", now, *more)

    def upsert(self, native: str, fields: Any, writer: str = "a", now: str = NOON) -> tuple[str, Any]:
        shown = json.dumps(fields)
        given = ("--id", native, "--source", "s", "--writer", writer, "--json", shown, "--now", now)
        return self("upsert-item", *given)

    @property
    def state(self) -> Any:
        return self("read")[1]

    @property
    def path(self) -> Path:
        return self.folder / self.name


@pytest.fixture
def engine(tmp_path: Path) -> Engine:
    """An engine on a file that isn't there, outside any repository."""
    return Engine(tmp_path)


def test_everything_in_a_run(engine: Engine) -> None:
    assert engine("read") == engine("validate") == ("NO-STATE", None)
    assert engine("cursor-get", "--source", "s") == ("OK", {"cursor": None})
    assert engine.upsert("1", {})[0] == "LEASE-LOST"
    assert engine.acquire() == ("OK", None)
    assert engine.acquire() == ("OK", None)
    assert engine.acquire("b") == ("LOCKED", None)
    assert engine.upsert("1", {"title": "é\n🎉", "status": "odd"}, now="2026-12-01T12:30:00+01:00") == (
        "OK",
        None,
    )
    advance = ("cursor-advance", "--source", "s", "--writer", "a", "--now", NOON, "--past-item")
    assert engine(*advance, "1", "--to", "2026-12-01T01:00:00+02:00") == ("OK", None)
    assert engine(*advance, "1", "--to", "2026-11-30T22:59:00Z") == ("REFUSED", None)
    assert engine(*advance, "9", "--to", "2027-01-01T00:00:00Z") == ("REFUSED", None)
    assert engine("cursor-get", "--source", "s") == ("OK", {"cursor": "2026-12-01T01:00:00+02:00"})
    assert engine("validate") == ("OK", {"downgraded": []})
    assert engine("lease-release", "--writer", "b") == ("LEASE-LOST", None)
    assert engine("lease-release", "--writer", "a") == ("OK", None)
    assert engine("lease-release", "--writer", "a") == ("OK", None)
    record = ("--writer", "b", "--outcome", "partial", "--counts", '{"s": 1}', "--timestamp", NOON)
    assert engine("run-record", *record) == ("OK", None)
    assert engine.state == {
        "schema_version": 1,
        "lease_epoch": 1,
        "sources": {"s": {"cursor": "2026-12-01T01:00:00+02:00"}},
        "items": {"s:1": {"id": "1", "source": "s", "title": "é\n🎉", "status": "odd"}},
        "last_run": {"timestamp": NOON, "outcome": "partial", "writer": "b", "counts": {"s": 1}},
    }
    assert [one.name for one in engine.folder.iterdir()] == ["state.yml"]


def test_upsert__re_stamps_the_lease_verbatim(engine: Engine) -> None:
    engine.acquire(now="2026-12-01T12:00:00Z")
    engine.upsert("1", {}, now="2026-12-01T13:30:00.5+01:00")
    assert engine.state["lease"]["timestamp"] == "2026-12-01T13:30:00.5+01:00"
    assert engine.acquire("b", "2026-12-01T13:20:00Z") == ("LOCKED", None)
    word, previous = engine.acquire("b", "2026-12-01T14:00:00Z")
    assert (word, previous) == (
        "STALE-RECLAIMED",
        {"previous_writer": "a", "previous_timestamp": "2026-12-01T13:30:00.5+01:00"},
    )
    assert engine.state["lease"]["epoch"] == engine.state["lease_epoch"] == 2
    assert engine.upsert("1", {}, now="2026-12-01T14:00:00Z") == ("LEASE-LOST", None)


def test_default_now__is_the_fixed_clock(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MUNIMENT_NOW", "2026-03-04T06:06:07+01:00")
    engine("lease-acquire", "--writer", "a")
    assert engine.state["lease"]["timestamp"] == "2026-03-04T05:06:07Z"
    engine("run-record", "--outcome", "failed")
    assert engine.state["last_run"]["timestamp"] == "2026-03-04T05:06:07Z"


def test_default_writer__is_unique_or_that_of_the_lease_run(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert engine("lease-acquire")[0] == "OK"
    assert engine("lease-acquire")[0] == "LOCKED"
    monkeypatch.setenv("MUNIMENT_WRITER", "runner")
    assert Engine(engine.folder, "other.yml")("lease-acquire")[0] == "OK"
    assert Engine(engine.folder, "other.yml")("lease-acquire")[0] == "OK"


def test_batch(engine: Engine) -> None:
    engine.acquire()
    lines = [
        {"op": "upsert-item", "source": "s", "id": str(number), "json": {"n": number}} for number in range(50)
    ]
    lines += [{"op": "cursor-advance", "source": "s", "to": "49", "past-item": "49"}]
    stdin = "\n".join(json.dumps(line) for line in lines)
    given = ("--writer", "a", "--now", NOON)
    assert engine("batch", *given, stdin=stdin) == ("OK", {"operations": 51})
    assert [item["n"] for item in engine.state["items"].values()] == sorted(range(50), key=str)
    before = engine.path.read_bytes()
    bad = stdin + '\n{"op": "cursor-advance", "source": "s", "to": "1", "past-item": "1"}'
    assert engine("batch", *given, stdin=bad) == ("REFUSED", {"operation": 52})
    assert engine("batch", "--writer", "b", stdin=stdin) == ("LEASE-LOST", None)
    assert engine.raw("batch", *given, stdin="{").code == 2
    assert engine.raw("batch", *given, stdin=b"\xff").code == 2
    assert engine.path.read_bytes() == before


def test_validate__downgrades(engine: Engine) -> None:
    engine.acquire()
    engine.upsert("1", {"status": "closed", "fix_ref": "#3"})
    assert engine("validate") == ("OK", {"downgraded": ["s:1"]})
    assert engine.state["items"]["s:1"]["status"] == "fix_pending"
    assert engine("validate") == ("OK", {"downgraded": []})


def test_import_legacy(engine: Engine) -> None:
    old = {"channels": {"C1": {"last_processed_ts": "17.5"}}, "items": {"C1:1": {"title": "x"}}}
    (engine.folder / "old.json").write_text(json.dumps(old))
    given = ("--file", "old.json", "--source-map", '{"C1": "slack"}')
    assert engine("import-legacy", *given) == ("OK", {"cursors_imported": 1, "items_imported": 1})
    assert engine("import-legacy", *given) == ("OK", {"cursors_imported": 0, "items_imported": 0})
    engine.acquire()
    assert engine("import-legacy", *given) == ("LEASE-LOST", None)
    assert engine("import-legacy", *given, "--writer", "b") == ("LEASE-LOST", None)
    assert engine("import-legacy", *given, "--writer", "a")[0] == "OK"
    assert engine("import-legacy", "--file", "none.json", "--writer", "a")[0] == "ERROR"


def test_corrupt_and_error__say_the_line_and_write_nothing(engine: Engine) -> None:
    for text, word, line in [
        ("schema_version: 1\nitems: {}\n=\n<<<<<<< x\n", "CORRUPT", 4),
        ("schema_version: 1\nlease: {writer: a}\nitems:\n  s:1: 5\n", "ERROR", 4),
    ]:
        engine.path.write_text(text)
        answer = engine.upsert("1", {})
        assert (answer[0], answer[1]["line"]) == (word, line)
        assert engine.path.read_text() == text


@pytest.mark.parametrize(
    "words",
    [
        ("read", "--nonsense"), ("no-such",), ("upsert-item", "--id", "1", "--source", "s", "--json", "{"),
        ("upsert-item", "--id", "1", "--source", "s", "--json", "[]"),
        ("upsert-item", "--id", "1", "--json", "{}"),
        ("upsert-item", "--id", "", "--source", "s", "--json", "{}"),
        ("upsert-item", "--id", "1", "--source", "a:b", "--json", "{}"),
        ("upsert-item", "--id", "1", "--source", "s", "--json", "{}", "--now", "noon"),
        ("upsert-item", "--id", "1", "--source", "s", "--json", "{}", "--writer", ""),
        ("upsert-item", "--id", "\udcff", "--source", "s", "--json", "{}"),
        ("upsert-item", "--id", "1", "--source", "s", "--json", '{"id": "2"}'),
        ("lease-acquire", "--ttl-minutes", "0"), ("lease-acquire", "--ttl-minutes", "nan"),
        ("lease-acquire", "--ttl-minutes", "x"), ("lease-acquire", "--now", "2026-13-01"),
        ("run-record", "--outcome", "done"), ("run-record", "--outcome", "failed", "--counts", "[]"),
        ("run-record", "--outcome", "failed", "--timestamp", "later"),
        ("cursor-advance", "--source", "s", "--to", "", "--past-item", "1"), ("cursor-get",),
        ("import-legacy",), ("import-legacy", "--file", "x", "--source-map", '{"a": 1}'),
    ],
)  # fmt: skip
def test_misuse__exits_2_and_says_nothing_on_stdout(engine: Engine, words: tuple[str, ...]) -> None:
    result = engine.raw(*words)
    assert (result.code, result.out) == (2, "")
    assert "muniment: error:" in result.err
    assert list(engine.folder.iterdir()) == []


def test_state__must_be_named(engine: Engine) -> None:
    assert muniment("state", "read", cwd=engine.folder).code == 2
    assert muniment("state", "read", "--state", "", cwd=engine.folder).code == 2


def test_paths__absolute_and_below_the_folder_of_c(engine: Engine, repo: Repo) -> None:
    assert muniment("state", "read", "--state", str(engine.path), cwd=repo.path).out == "NO-STATE\n"
    Engine(repo.path, "deep/er/s.yml").acquire()
    assert (repo.path / "deep/er/s.yml").exists()


def test_read__prints_one_line_of_json_whatever_the_text(engine: Engine) -> None:
    engine.path.write_text(
        'schema_version: 2\nx: "\\u2028\\x85\\e"\ny: .inf\nz: 2026-12-01\nw: yes\n"1": 0x1F\n',
        encoding="utf-8",
    )
    value = engine.state
    assert value == {
        "schema_version": 2,
        "x": "\u2028\x85\x1b",
        "y": ".inf",
        "z": "2026-12-01",
        "w": "yes",
        "1": 31,
    }


def test_newer_schema__is_written_and_kept(engine: Engine) -> None:
    engine.path.write_text("schema_version: 7 # theirs\nnew: {a: 1}\n")
    engine.acquire()
    assert engine.upsert("1", {"future": {"x": [1]}})[0] == "OK"
    assert engine.path.read_text().startswith("schema_version: 7 # theirs\n")
    assert engine.path.read_text().endswith("new: {a: 1}\n")
    assert engine.state["items"]["s:1"]["future"] == {"x": [1]}


def test_other_readers__see_the_same_values(engine: Engine) -> None:
    """What YAML 1.1 readers would take for booleans, nulls, numbers or nothing at all is quoted."""
    engine.acquire()
    odd = {"null": 1, "yes": "no", "1": "1e3", "on": "12:30:00", "x": "\x7f", "~": "0b1", "y": 1e-7}
    engine.upsert("1", odd)
    shown = engine.path.read_text(encoding="utf-8")
    for line in (
        '"null": 1',
        '"yes": "no"',
        '"1": "1e3"',
        '"on": "12:30:00"',
        'x: "\\u007f"',
        '"y": 1.0e-07',
    ):
        assert f"    {line}\n" in shown


def test_process__as_installed(engine: Engine) -> None:
    command = [sys.executable, "-m", "muniment", "state", "read", "--state", str(engine.path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("NO-STATE\n", "")
