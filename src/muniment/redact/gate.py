"""The gate: nothing that holds an identifier or a secret leaves through git; it fails closed (G12).

Two paths look at the final text: the detectors on the text itself, and the same questions on a looser view
that redaction never sees (`loose.py`). Only what is added relative to the old bytes is judged. Any exception,
time-out or undecodable byte refuses. What passed is `Cleared`, a type that only this module makes.
"""

from __future__ import annotations

import time
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from muniment.errors import CheckFailed, Problem
from muniment.redact.added import added_spans, line_starts
from muniment.redact.exempt import Identities, exempt_ranges
from muniment.redact.fold import View
from muniment.redact.identifiers import find_identifiers
from muniment.redact.loose import Loose
from muniment.redact.rules import KnownNames, detect, mask
from muniment.redact.scrub import redact
from muniment.redact.spans import MEANINGS, Span, merge

if TYPE_CHECKING:  # a workspace brings the git library, which judging a text doesn't need
    from muniment.workspace import Workspace

_UNSHOWN = "(a path that the gate may not print)"
DEFAULT_SECONDS = 120.0


@dataclass(frozen=True, slots=True, order=True)
class GateProblem:
    """One thing that the gate refuses; never holds the value.

    Attributes:
        path: Repository-relative path (redacted when the path itself is the problem), or what the text is.
        line: 1-based line; 0 when the path itself, or the file as a whole, is the problem.
        column: 1-based column in characters; 0 for the file as a whole.
        kind: `phone`, `jid`, `lid`, `group`, `email`, `name`, `secret`, `undecodable`, `timeout` or `error`.
    """

    path: str
    line: int
    column: int
    kind: str

    def __str__(self) -> str:
        where = f"{self.path}:{self.line}:{self.column}" if self.line else self.path
        return f"{where}: {_MEANING.get(self.kind, self.kind)}"


_MEANING = {
    **MEANINGS,
    "undecodable": "a byte that is not UTF-8, so nothing could be judged",
    "timeout": "judging took too long, so it is refused",
    "error": "judging failed, so it is refused",
}


class GateRefused(CheckFailed):
    """The gate found something; nothing was written (exit 1).

    Attributes:
        gate_problems: Where and what kind, never the value.
    """

    code = "gate-refused"

    def __init__(self, problems: tuple[GateProblem, ...]) -> None:
        more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
        super().__init__(
            f"The gate refuses {problems[0]}{more}. Nothing was written.",
            "Run `muniment redact` on the text, or have the exact value reviewed into .muniment/allow.txt.",
            problems=tuple(
                Problem(
                    item.path,
                    item.line,
                    f"gate-{item.kind}",
                    f"{_MEANING.get(item.kind, item.kind)}, column {item.column}",
                )
                for item in problems
            ),
        )
        self.gate_problems = problems


_TOKEN = object()


class Cleared:
    """A file's final bytes that the gate has passed; only `Gate` makes one."""

    __slots__ = ("_data", "_path")

    def __init__(self, path: str, data: bytes, token: object) -> None:
        if token is not _TOKEN:
            raise TypeError("only the gate clears bytes")
        self._path = path
        self._data = data

    @property
    def path(self) -> str:
        """Repository-relative path."""
        return self._path

    @property
    def data(self) -> bytes:
        """The bytes that were judged."""
        return self._data


class ClearedText:
    """A text (a commit message, a branch name) that the gate has passed; only `Gate` makes one."""

    __slots__ = ("_text",)

    def __init__(self, text: str, token: object) -> None:
        if token is not _TOKEN:
            raise TypeError("only the gate clears text")
        self._text = text

    @property
    def text(self) -> str:
        """The text that was judged."""
        return self._text


class _TimeOut(Exception):
    """The time limit passed."""


@dataclass(frozen=True, slots=True)
class Gate:
    """Judges bytes, paths and messages against known names and what may pass by exact value.

    Attributes:
        known: Names to refuse; empty means that names are not checked, which callers say.
        allow: Exact values that may stand anywhere.
        identities: Who may be named in trailers and in `actor`, `by` and `writer`.
        seconds: Time limit for one file, in seconds.
        clock: A monotonic clock, in seconds.
        also: One more detector over the text as it is, where one is installed (`gate_leaks.py`).
    """

    known: KnownNames = field(default_factory=KnownNames.empty)
    allow: frozenset[str] = frozenset()
    identities: Identities = field(default_factory=Identities)
    seconds: float = DEFAULT_SECONDS
    clock: Callable[[], float] = time.monotonic
    also: Callable[[str], Iterator[Span]] | None = None

    def clear(self, path: str, data: bytes, old: bytes | None) -> Cleared:
        """The bytes as cleared, judged by what they add to `old` (None: a new file, its path judged too).

        Raises:
            GateRefused: Something was found, or could not be judged.
        """
        problems = self.inspect(path, data, old)
        if problems:
            raise GateRefused(problems)
        return Cleared(path, data, _TOKEN)

    def clear_new(self, path: str, data: bytes, gone: Iterable[bytes]) -> Cleared:
        """A new file's bytes as cleared, `gone` as in `inspect_new`; raises as `clear` does."""
        problems = self.inspect_new(path, data, gone)
        if problems:
            raise GateRefused(problems)
        return Cleared(path, data, _TOKEN)

    def clear_text(self, text: str, what: str = "commit message") -> ClearedText:
        """A message, branch name or the like as cleared; raises as `clear` does."""
        problems = self.inspect_text(text, what)
        if problems:
            raise GateRefused(problems)
        return ClearedText(text, _TOKEN)

    def inspect(self, path: str, data: bytes, old: bytes | None) -> tuple[GateProblem, ...]:
        """What would be refused, in order; never raises for anything in the data."""
        try:
            path.encode()
            own = self._judge(path, trailers=False) if old is None else ()
            found = (*(GateProblem("", 0, 0, span.kind) for span in own), *self._inspect_bytes(data, old))
        except _TimeOut:
            found = (GateProblem("", 0, 0, "timeout"),)
        except Exception:  # noqa: BLE001 - whatever fails in judging refuses
            found = (GateProblem("", 0, 0, "error"),)
        if not found:
            return ()
        shown = self._shown_path(path)
        return tuple(replace(problem, path=shown) for problem in found)

    def inspect_new(self, path: str, data: bytes, gone: Iterable[bytes]) -> tuple[GateProblem, ...]:
        """As `inspect`, for a new file in a change that takes other files away: what was theirs only moved.

        Args:
            path: The new file's path, judged in any case.
            data: Its bytes.
            gone: The bytes of the files that the change takes away; asked for only when it matters.
        """
        found = self.inspect(path, data, None)
        pieces = list(gone) if found else []
        own = tuple(item for item in found if not item.column)
        if data in pieces:
            return own
        old = b"\n".join(pieces)
        return (*own, *self.inspect(path, data, old)) if old else found

    def inspect_text(self, text: str, what: str = "commit message") -> tuple[GateProblem, ...]:
        """As `inspect`, for a text that is wholly new."""
        try:
            text.encode()
            found = self._judge(text, trailers=what == "commit message")
            return _located(what, text, found)
        except UnicodeEncodeError:
            return (GateProblem(what, 0, 0, "undecodable"),)
        except _TimeOut:
            return (GateProblem(what, 0, 0, "timeout"),)
        except Exception:  # noqa: BLE001 - whatever fails in judging refuses
            return (GateProblem(what, 0, 0, "error"),)

    def _inspect_bytes(self, data: bytes, old: bytes | None) -> tuple[GateProblem, ...]:
        """What the bytes add, still without a path."""
        if data == old:  # nothing is added, readable or not (a plan moved aside untouched, S14)
            return ()
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError as error:
            before = data[: error.start]
            column = len(before) - (before.rfind(b"\n") + 1) + 1
            return (GateProblem("", before.count(b"\n") + 1, column, "undecodable"),)
        deadline = self.clock() + self.seconds

        def find(part: str) -> tuple[Span, ...]:
            return self._find(part, deadline, trailers=False)

        found = find(text) if old is None else added_spans(text, old.decode("utf-8", "replace"), find)
        return _located("", text, found)

    def _judge(self, text: str, *, trailers: bool) -> tuple[Span, ...]:
        return self._find(text, self.clock() + self.seconds, trailers=trailers)

    def _find(self, text: str, deadline: float, *, trailers: bool) -> tuple[Span, ...]:
        """Everything refusable in a text, by both paths, exempt values left out."""
        ranges = exempt_ranges(text, self.allow, self.identities, trailers=trailers)
        strict = detect(text, self.known)
        self._check(deadline)
        further = self.also(text) if self.also and text else ()
        kept = [span for span in (*strict, *further) if not _within(span, ranges)]
        loose = self._loosely(mask(text, [span for span in strict if _within(span, ranges)]))
        self._check(deadline)
        return merge([*kept, *(span for span in loose if not _within(span, ranges))])

    def _loosely(self, text: str) -> Iterator[Span]:
        def scan(view: View) -> Iterator[Span]:
            yield from find_identifiers(view)
            yield from self.known.find(view)

        return Loose(scan).find(text)

    def _check(self, deadline: float) -> None:
        if self.clock() > deadline:
            raise _TimeOut

    def _shown_path(self, path: str) -> str:
        """The path as messages may print it: identifiers in it replaced, or not at all when that fails."""
        try:
            path.encode()
            if not self._judge(path, trailers=False):
                return path
            shown = redact(path, self.known).text
            return _UNSHOWN if self._judge(shown, trailers=False) else shown
        except Exception:  # noqa: BLE001 - what can't be judged isn't printed
            return _UNSHOWN


def gate_for(ws: Workspace, known: KnownNames | None = None) -> Gate:
    """The gate of a repository: reviewed values and `actors` as they stand on the upstream default branch.

    Without any remote, HEAD stands in for it; with a remote whose default branch isn't known here, nothing
    is allowed (absent knowledge is no permission). `known` is added to the names that `bots` configure.

    Raises:
        Unavailable: A configured names file can't be read.
    """
    from muniment.redact.gate_leaks import betterleaks  # noqa: PLC0415 - only a repository's gate asks it
    from muniment.redact.gate_setup import allowed, configured_names  # noqa: PLC0415 - needs a repository

    allow, identities = allowed(ws)
    return Gate(configured_names(ws, known), allow, identities, also=betterleaks())


def _within(span: Span, ranges: tuple[tuple[int, int], ...]) -> bool:
    return any(start <= span.start and span.end <= end for start, end in ranges)


def _located(path: str, text: str, spans: tuple[Span, ...]) -> tuple[GateProblem, ...]:
    if not spans:
        return ()
    lines = line_starts(text)
    located = []
    for span in spans:
        line = bisect_right(lines, span.start)
        located.append(GateProblem(path, line, span.start - lines[line - 1] + 1, span.kind))
    return tuple(located)
