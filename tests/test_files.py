"""Durable writes, exact reads, the OS lock and templates (G2, G4)."""

from __future__ import annotations

import multiprocessing
import os
import stat
from multiprocessing.synchronize import Event
from pathlib import Path

import pytest

from muniment.errors import MunimentError, Refused, Unavailable, UsageProblem
from muniment.files import atomic_write, file_lock, read_bytes, template_text


def test_atomic_write__creates_folders_and_keeps_bytes(tmp_path: Path) -> None:
    target = tmp_path / "a" / "b.txt"
    atomic_write(target, b"\xef\xbb\xbfone\r\ntwo")
    assert target.read_bytes() == b"\xef\xbb\xbfone\r\ntwo"
    assert [path.name for path in target.parent.iterdir()] == ["b.txt"], "no temporary file is left"


def test_atomic_write__keeps_the_mode_of_an_existing_file(tmp_path: Path) -> None:
    target = tmp_path / "run"
    target.write_bytes(b"old")
    target.chmod(0o755)
    atomic_write(target, b"new")
    assert stat.S_IMODE(target.stat().st_mode) == 0o755
    atomic_write(target, b"new", mode=0o600)
    assert stat.S_IMODE(target.stat().st_mode) == 0o600


def test_atomic_write__refuses_a_symbolic_link(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_bytes(b"mine")
    link = tmp_path / "link"
    link.symlink_to(victim)
    with pytest.raises(Refused):
        atomic_write(link, b"x")
    assert victim.read_bytes() == b"mine"


def test_atomic_write__names_a_folder_that_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"old")
    with pytest.raises(Unavailable, match="could not be written"):
        atomic_write(tmp_path / "file" / "below", b"x")
    assert (tmp_path / "file").read_bytes() == b"old"


def test_atomic_write__leaves_the_old_file_when_the_rename_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "a"
    target.write_bytes(b"old")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(Unavailable, match="No space left"):
        atomic_write(target, b"new")
    assert target.read_bytes() == b"old"
    assert len(list(tmp_path.iterdir())) == 1, "the temporary file is gone"


@pytest.mark.parametrize("kind", ["missing", "folder", "fifo"])
def test_read_bytes__refuses_what_is_no_regular_file(tmp_path: Path, kind: str) -> None:
    target = tmp_path / "x"
    if kind == "folder":
        target.mkdir()
    if kind == "fifo":
        target.symlink_to("/dev/null")
    with pytest.raises(Unavailable):
        read_bytes(target)


def test_read_bytes__names_size_and_limit(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"12345")
    with pytest.raises(UsageProblem, match=r"5 bytes; at most 4"):
        read_bytes(tmp_path / "x", limit=4)
    assert read_bytes(tmp_path / "x", limit=5) == b"12345"


def _hold(path: Path, held: Event, let_go: Event) -> None:
    with file_lock(path):
        held.set()
        let_go.wait(30)


def test_file_lock__is_exclusive_between_processes_and_dies_with_its_holder(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    held, let_go = context.Event(), context.Event()
    holder = context.Process(target=_hold, args=(tmp_path / "lock", held, let_go))
    holder.start()
    assert held.wait(60)
    with (
        pytest.raises(MunimentError, match="Another muniment process") as caught,
        file_lock(tmp_path / "lock", wait_seconds=0),
    ):
        pass
    assert caught.value.exit_code == 3
    holder.kill()
    holder.join(30)
    with file_lock(tmp_path / "lock", wait_seconds=5):
        assert (tmp_path / "lock").exists(), "the lock file itself is never deleted"


def test_template_text__reads_a_shipped_template_and_names_a_missing_one() -> None:
    assert template_text("demo/timezone.md").startswith("---\n")
    with pytest.raises(Unavailable, match="no-such-template"):
        template_text("no-such-template")


def test_read_bytes__does_not_wait_on_a_pipe(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(Unavailable, match="not a regular file"):
        read_bytes(tmp_path / "pipe")
