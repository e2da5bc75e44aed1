"""The engine on one file: lock, load, modify, write (G4, S20). Answers with a status word, whatever happens.

The lock is shared by all writers of the file, whatever path, link or worktree they come by: that of the clone
which the file lies in, where the other commands take it too; outside a repository, one on the file's folder.
Nothing is left beside the file.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from pathlib import Path

from muniment.errors import MunimentError, Refused, Unavailable, UsageProblem
from muniment.files import atomic_write, file_lock, folder_lock, read_bytes
from muniment.state import claim, operations
from muniment.state.operations import Answer, Unplaceable, View, Word
from muniment.state.text import Corrupt, NoState, StateText
from muniment.state.text import read as view_of

MAX_BYTES = 64 * 1024 * 1024
"""Largest state file, in bytes."""
WAIT_SECONDS = 30.0
"""How long a write waits for the others."""
TRIES = 3
"""How often a change is made again on a file that an editor saved meanwhile."""

Act = Callable[[View], Answer]


class StateFile:
    """A state in one file; each method answers with a status word and raises only for misuse."""

    def __init__(self, path: Path) -> None:
        """Name the file; a link stands for the file that it leads to."""
        self.path = path
        self.real = Path(os.path.realpath(path))

    def ask(self, question: Callable[[StateText | NoState], Answer]) -> Answer:
        """Answer from the file as it stands, without a lock: a write replaces it in one step."""
        return _answered(lambda: question(self._view()))

    def read(self) -> Answer:
        """The whole state."""
        return self.ask(lambda view: Answer(Word.OK, view.value()) if view.exists else Answer(Word.NO_STATE))

    def cursor(self, source: str) -> Answer:
        """A source's cursor."""
        return self.ask(lambda view: operations.cursor_get(view, source))

    def validate(self) -> Answer:
        """Take back what claims more than its evidence."""
        return self._write(
            lambda view: operations.validate(view, view.items()) if view.exists else Answer(Word.NO_STATE)
        )

    def change(self, act: Act, writer: str = "") -> Answer:  # noqa: ARG002 - it needs no lease, so no holder
        """Make a change that needs no lease."""
        return self._write(act)

    def acquire(self, writer: str, ttl_minutes: float | None, now: str) -> Answer:
        """Take the lease inside the file, or keep one's own."""
        claim.require_ttl(ttl_minutes)
        return self._write(lambda view: claim.acquire(view, writer, ttl_minutes, now))

    def release(self, writer: str) -> Answer:
        """Give it back."""
        return self._write(lambda view: claim.release(view, writer))

    def compact(self, writer: str, now: str) -> Answer:  # noqa: ARG002 - as on a shared branch
        """A file has no history to replace; always `UsageProblem`."""
        raise UsageProblem(f"{self.path} has no history of its own.", "compact needs --branch.")

    def held(self, act: Act, writer: str, now: str, *, epoch: int | None = None) -> Answer:
        """Make a change as the holder of the lease, which it stamps again."""
        return self._write(lambda view: claim.holding(view, writer, now, act, epoch=epoch))

    def unless_held(self, act: Act, writer: str | None) -> Answer:
        """Make a change that needs no lease, but stays away while another holds it."""
        return self._write(lambda view: claim.free_for(view, writer) or act(view))

    def _view(self) -> StateText | NoState:
        if not self.real.exists():
            return view_of(None)
        return view_of(bytes_of(self.real))

    def _write(self, act: Callable[[StateText | NoState], Answer]) -> Answer:
        """Load, modify and write under the lock."""

        def whole() -> Answer:
            if not self.real.parent.is_dir():
                if not act(view_of(None)).edits:
                    return act(view_of(None))
                self.real.parent.mkdir(parents=True, exist_ok=True)
            with self._lock():
                for _ in range(TRIES):
                    view = self._view()
                    answer = act(view)
                    if self._store(view, answer):
                        return answer
            raise Refused("Somebody else edits the file all the time; it is left as it is.")

        return _answered(whole)

    def _store(self, view: StateText | NoState, answer: Answer) -> bool:
        """Write what an answer changes; a file that would be the same isn't touched.

        False when somebody who knows of no lock saved the file since it was read: nothing was written then.
        """
        if not answer.edits:
            return True
        data = view.edited((*answer.edits, *view.hidden_texts()))
        if view.exists and data == view.data:
            return True
        self._sweep()
        if (bytes_of(self.real) if self.real.exists() else None) != (view.data if view.exists else None):
            return False
        mode = None if view.exists or common_folder(self.real) else 0o600
        atomic_write(self.real, data, mode=mode)
        return True

    def _sweep(self) -> None:
        """Remove what a killed write left beside the file; under the lock nobody else is writing it."""
        left = re.compile(rf"\.{re.escape(self.real.name[:100])}\.[0-9a-f]{{12}}\.tmp")
        for entry in self.real.parent.iterdir():
            if left.fullmatch(entry.name):
                with suppress(OSError):
                    entry.unlink()

    def _lock(self) -> AbstractContextManager[int]:
        common = common_folder(self.real)
        if common is not None and os.access(common, os.W_OK):
            return file_lock(common / "muniment" / "lock", wait_seconds=WAIT_SECONDS)
        return folder_lock(self.real.parent, wait_seconds=WAIT_SECONDS)


def bytes_of(path: Path) -> bytes:
    """Another file's bytes; a missing or unreadable one raises what is answered with `ERROR`."""
    try:
        return read_bytes(path, limit=MAX_BYTES)
    except UsageProblem as error:  # too large, which is nobody's misuse of the command
        raise Unavailable(error.message) from error


def common_folder(path: Path) -> Path | None:
    """The git folder that all worktrees of the clone share in which a file lies, or None outside any."""
    for folder in path.parents:
        entry = folder / ".git"
        if entry.is_dir():
            return entry
        if entry.is_file():
            return _shared_by_worktrees(entry)
    return None


def _shared_by_worktrees(pointer: Path) -> Path | None:
    """The common folder that a worktree's or submodule's `.git` file leads to."""
    words = pointer.read_text(encoding="utf-8", errors="surrogateescape").strip()
    own = pointer.parent / words.removeprefix("gitdir:").strip()
    if not words.startswith("gitdir:") or not own.is_dir():
        return None
    link = own / "commondir"
    shared = own / link.read_text(encoding="utf-8").strip() if link.is_file() else own
    return Path(os.path.realpath(shared))


def _answered(work: Callable[[], Answer]) -> Answer:
    """What work answers, its failures turned into status words; misuse stays an error."""
    try:
        return work()
    except Corrupt as error:
        return _failed(Word.CORRUPT, error.message, error.line)
    except Unplaceable as error:
        return _failed(Word.ERROR, error.message, error.line)
    except (Refused, Unavailable) as error:
        return _failed(Word.ERROR, error.message)
    except UsageProblem:
        raise
    except MunimentError as error:
        return _failed(Word.ERROR, error.message)
    except OSError as error:
        return _failed(Word.ERROR, f"{error.strerror or 'The file system failed'}.")


def _failed(word: Word, message: str, line: int = 0) -> Answer:
    where = f"line {line}: " if line else ""
    return Answer(word, {"line": line, "message": message}, note=f"{where}{message} Nothing was written.")
