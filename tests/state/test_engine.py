"""The engine on real files: locked, atomic, nothing else changed, nothing left behind (G2, G4)."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from muniment.errors import UsageProblem
from muniment.files import folder_lock
from muniment.state import claim, engine, operations
from muniment.state.engine import StateFile
from muniment.state.operations import Answer, Word
from muniment.yaml_io import parse
from tests.support.kill import Mode, killer
from tests.support.repo import Repo

NOW = "2026-12-01T12:00:00Z"
TEXT = (
    "# ours\r\nschema_version: 1\r\nlease:\r\n  writer: a # me\r\n  timestamp: '2026-12-01T11:59:00Z'\r\n"
    "  ttl_minutes: 60\r\n  epoch: 3\r\nitems:\r\n  s:1:\r\n    status: x # why\r\n"
)


def upsert(place: StateFile, native: str = "2", writer: str = "a", now: str = NOW) -> Answer:
    return place.held(lambda view: operations.upsert_item(view, "s", native, {"title": "new"}), writer, now)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    made = tmp_path / "data" / "state.yml"
    made.parent.mkdir()
    made.write_bytes(TEXT.encode())
    return made


def test_write__only_the_lines_concerned(file: Path) -> None:
    assert upsert(StateFile(file)).word is Word.OK
    expected = TEXT.replace("'2026-12-01T11:59:00Z'", '"2026-12-01T12:00:00Z"')
    added = '  s:2:\n    id: "2"\n    source: s\n    status: ingested\n    title: new\n'.replace("\n", "\r\n")
    assert file.read_bytes().decode() == expected + added
    assert [one.name for one in file.parent.iterdir()] == ["state.yml"], "nothing is left beside the file"


def test_write__nothing_to_change_touches_nothing(file: Path) -> None:
    upsert(StateFile(file))
    before = file.stat()
    assert upsert(StateFile(file)).word is Word.OK
    assert (file.stat().st_ino, file.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


@pytest.mark.parametrize("mode", [0o600, 0o664, 0o640])
def test_write__keeps_the_mode(file: Path, mode: int) -> None:
    file.chmod(mode)
    upsert(StateFile(file))
    assert stat.S_IMODE(file.stat().st_mode) == mode


def test_write__goes_through_a_link_and_leaves_it(file: Path, tmp_path: Path) -> None:
    link = tmp_path / "link.yml"
    link.symlink_to(file)
    assert upsert(StateFile(link)).word is Word.OK
    assert link.is_symlink()
    assert b"s:2" in file.read_bytes()


def test_write__through_a_dangling_link_makes_what_it_names(tmp_path: Path) -> None:
    (tmp_path / "link.yml").symlink_to("deep/er/state.yml")
    place = StateFile(tmp_path / "link.yml")
    assert place.read().word is Word.NO_STATE
    assert place.change(lambda view: claim.acquire(view, "a", None, NOW)).word is Word.OK
    assert stat.S_IMODE((tmp_path / "deep/er/state.yml").stat().st_mode) == 0o600, "machine-local: private"


def test_no_file__answers_and_makes_none(tmp_path: Path) -> None:
    place = StateFile(tmp_path / "no" / "state.yml")
    assert place.read().word is Word.NO_STATE
    assert place.validate().word is Word.NO_STATE
    assert place.cursor("s") == Answer(Word.OK, {"cursor": None})
    assert upsert(place).word is Word.LEASE_LOST
    assert place.change(lambda view: claim.release(view, "a")).word is Word.OK
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "text", [b"", b"<<<<<<< ours\n", b"a: 1\na: 2\n", b"\xff", b"schema_version: 1\nitems: 5\n"]
)
def test_corrupt__is_said_and_untouched(file: Path, text: bytes) -> None:
    file.write_bytes(text)
    place = StateFile(file)
    acts: list[Callable[[], Answer]] = [
        place.read,
        place.validate,
        lambda: place.cursor("s"),
        lambda: upsert(place),
    ]
    acts += [
        lambda: place.change(lambda view: claim.acquire(view, "a", None, NOW)),
        lambda: place.change(lambda view: claim.release(view, "a")),
        lambda: place.change(lambda view: operations.run_record(view, "a", "failed", {}, NOW)),
    ]
    for act in acts:
        answer = act()
        assert answer.word is Word.CORRUPT
        assert answer.value["message"]
    assert file.read_bytes() == text


def test_error__for_what_cannot_be_written_says_so(file: Path, tmp_path: Path) -> None:
    assert StateFile(tmp_path).read().word is Word.ERROR
    os.mkfifo(tmp_path / "pipe")
    assert upsert(StateFile(tmp_path / "pipe")).word is Word.ERROR
    assert StateFile(file / "below").read().word in {Word.ERROR, Word.NO_STATE}
    file.write_bytes(TEXT.encode() + b"  s:2: 5\r\n")
    answer = upsert(StateFile(file))
    assert (answer.word, answer.value["line"]) == (Word.ERROR, 11)
    assert file.read_bytes() == TEXT.encode() + b"  s:2: 5\r\n"


def test_error__a_file_too_large_is_not_called_corrupt(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "MAX_BYTES", 10)
    assert StateFile(file).read().word is Word.ERROR


def test_misuse__is_raised(file: Path) -> None:
    with pytest.raises(UsageProblem):
        upsert(StateFile(file), native="")


def test_write__what_an_editor_saves_meanwhile_stays(file: Path) -> None:
    saved = 0

    def act(view: operations.View) -> Answer:
        nonlocal saved
        if saved < 1:
            saved += 1
            file.write_bytes(file.read_bytes() + b"by_hand: yes\n")
        return operations.upsert_item(view, "inbox", "new", {"status": "ingested"})

    assert StateFile(file).change(act).word is Word.OK
    assert b"by_hand: yes\n" in file.read_bytes()
    assert "inbox:new" in parse(file.read_text()).value["items"]


def test_write__an_editor_that_never_stops_wins(file: Path) -> None:
    def act(view: operations.View) -> Answer:
        file.write_bytes(file.read_bytes() + b"# more\n")
        return operations.upsert_item(view, "inbox", "new", {"status": "ingested"})

    before = file.read_bytes()
    assert StateFile(file).change(act).word is Word.ERROR
    assert file.read_bytes() == before + b"# more\n" * engine.TRIES


def test_lock__is_the_clones_own_whatever_the_path_or_worktree(repo: Repo, tmp_path: Path) -> None:
    repo.git("worktree", "add", "-q", str(tmp_path / "tree"))
    common = repo.path / ".git"
    for place in (repo.path / "docs" / "s.yml", tmp_path / "tree" / "s.yml", common / "muniment" / "s.yml"):
        assert engine.common_folder(place) == common
    assert engine.common_folder(tmp_path / "s.yml") is None
    (tmp_path / "odd").mkdir()
    (tmp_path / "odd" / ".git").write_text("gitdir: nowhere\n")
    assert engine.common_folder(tmp_path / "odd" / "s.yml") is None
    inside = StateFile(repo.path / "docs" / "s.yml")
    assert inside.change(lambda view: claim.acquire(view, "a", None, NOW)).word is Word.OK
    assert (common / "muniment" / "lock").exists()
    assert repo.git("status", "--porcelain", "-uall").split() == ["??", "docs/s.yml"]


def test_lock__a_write_waits_and_says_when_it_gave_up(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "WAIT_SECONDS", 0.05)
    with folder_lock(file.parent):
        answer = upsert(StateFile(file))
        assert StateFile(file).read().word is Word.OK, "reading waits for nobody"
    assert answer.word is Word.ERROR
    assert file.read_bytes() == TEXT.encode()
    assert upsert(StateFile(file)).word is Word.OK


PROGRAM = """
import sys
from pathlib import Path
from muniment.state import operations
from muniment.state.engine import StateFile
for number in range(12):
    native = f"{sys.argv[2]}-{number}"
    act = lambda view: operations.upsert_item(view, "s", native, {"title": "t"})
    word = StateFile(Path(sys.argv[1])).held(act, "a", "2026-12-01T12:00:00Z").word
    assert word == "OK", word
"""


@pytest.mark.parametrize("where", ["outside a repository", "in one, by other paths"])
def test_concurrency__eight_processes_lose_nothing(
    file: Path, tmp_path: Path, repo: Repo, where: str
) -> None:
    paths = [file] * 8
    if where != "outside a repository":
        target = repo.path / "state.yml"
        shutil.copy(file, target)
        (tmp_path / "link.yml").symlink_to(target)
        (tmp_path / "folder").symlink_to(repo.path)
        paths = [target, tmp_path / "link.yml", tmp_path / "folder" / "state.yml", target] * 2
    writers = [
        subprocess.Popen([sys.executable, "-c", PROGRAM, str(path), str(number)])
        for number, path in enumerate(paths)
    ]
    assert [writer.wait() for writer in writers] == [0] * 8
    items = parse(paths[0].read_text(encoding="utf-8")).value["items"]
    assert len(items) == 8 * 12 + 1
    assert paths[0].read_bytes().startswith(b"# ours\r\n")


def test_concurrency__one_of_many_gets_the_lease(tmp_path: Path) -> None:
    answers: list[Answer] = []

    def contend(name: str) -> None:
        place = StateFile(tmp_path / "state.yml")
        answers.append(place.change(lambda view: claim.acquire(view, name, None, NOW)))

    threads = [threading.Thread(target=contend, args=(f"w{number}",)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(answer.word for answer in answers) == ["LOCKED"] * 7 + ["OK"]


@pytest.mark.parametrize("mode", [Mode.KILL_GROUP, Mode.FILL], ids=["power off", "disk full"])
def test_kill__at_every_change_leaves_the_old_or_the_new(file: Path, tmp_path: Path, mode: Mode) -> None:
    (tmp_path / "shim").mkdir()
    old = file.read_bytes()
    with killer(tmp_path / "shim") as shim:
        whole = tmp_path / "whole"
        shutil.copytree(file.parent, whole)
        assert not shim.run("tests.support.state_writing:upsert_once", whole)
        total, new = shim.count, (whole / "state.yml").read_bytes()
        assert total >= 4, "a write, a sync, a rename, a sync of the folder"
        for limit in range(1, total + 1):
            folder = tmp_path / f"run-{limit}"
            shutil.copytree(file.parent, folder)
            shim.run("tests.support.state_writing:upsert_once", folder, limit=limit, mode=mode)
            assert (folder / "state.yml").read_bytes() in {old, new}, limit
            assert not shim.run("tests.support.state_writing:upsert_once", folder)
            assert (folder / "state.yml").read_bytes() == new, limit
            assert [one.name for one in folder.iterdir()] == ["state.yml"], limit


def test_kill__while_the_file_is_made(tmp_path: Path) -> None:
    (tmp_path / "shim").mkdir()
    scenario = "tests.support.state_writing:acquire_once"
    with killer(tmp_path / "shim") as shim:
        (tmp_path / "whole").mkdir()
        assert not shim.run(scenario, tmp_path / "whole")
        total, new = shim.count, (tmp_path / "whole" / "new" / "state.yml").read_bytes()
        for limit in range(1, total + 1):
            folder = tmp_path / f"run-{limit}"
            folder.mkdir()
            assert shim.run(scenario, folder, limit=limit)
            made = folder / "new" / "state.yml"
            assert not made.exists() or made.read_bytes() == new
            assert not shim.run(scenario, folder)
            assert made.read_bytes() == new
