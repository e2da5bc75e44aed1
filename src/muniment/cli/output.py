"""Wording, colour and JSON: the only module that prints, and the only one that knows exit codes' words."""

from __future__ import annotations

import errno
import json
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import click

from muniment.cli.fit import fit, short_hashes
from muniment.errors import MunimentError, Problem

__all__ = [
    "emit",
    "emit_json",
    "number",
    "problem_json",
    "problem_lines",
    "report_failure",
    "safe",
    "say",
    "short_hashes",
    "style",
    "waiting",
]

_CONTROL = dict.fromkeys(
    [
        *range(0x20),
        *range(0x7F, 0xA0),
        0x61C,
        0x200E,
        0x200F,
        *range(0x2028, 0x202F),
        *range(0x2066, 0x206A),
        0xFEFF,
    ],
    "�",
)
_CONTROL_BUT_LINES = {key: value for key, value in _CONTROL.items() if key not in {0x0A, 0x09}}

EXIT_BUG = 70
EXIT_INTERRUPTED = 130


def emit_json(document: object) -> None:
    """Print exactly one JSON document on stdout, keys in the order given."""
    click.echo(json.dumps(document, ensure_ascii=False, indent=2))


def emit(lines: Iterable[str]) -> None:
    """Print a result for people on stdout, one line each."""
    for line in lines:
        click.echo(_fitted(line, sys.stdout), color=_color(sys.stdout))


def say(text: str) -> None:
    """Tell a person something on stderr; programs read stdout."""
    click.echo(_fitted(text, sys.stderr), err=True, color=_color(sys.stderr))


def number(count: int, one: str, many: str = "") -> str:
    """A count with its noun: `1 row`, `2 rows`, `2 batches`."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


@contextmanager
def waiting(what: str, *, after: float = 1.0) -> Iterator[None]:
    """While the block runs longer than `after` seconds, one line on stderr: what is done, and for how long.

    Only at a terminal; the line is wiped when the block ends, so nothing of it stays.
    """
    stream = sys.stderr
    if not stream.isatty() or os.environ.get("TERM") == "dumb":
        yield
        return
    import threading  # noqa: PLC0415 - only at a terminal
    import time  # noqa: PLC0415 - as above

    done, started = threading.Event(), time.monotonic()

    def show() -> None:
        pause = after
        while not done.wait(pause):
            stream.write(f"\r{what}… {time.monotonic() - started:.0f} s")
            stream.flush()
            pause = 1.0

    shower = threading.Thread(target=show, daemon=True)
    shower.start()
    try:
        yield
    finally:
        done.set()
        shower.join()
        if time.monotonic() - started >= after:
            stream.write("\r\x1b[K")
            stream.flush()


def stderr_number() -> int:
    """The file descriptor of stderr, for a command whose output must not mix with a JSON document."""
    try:
        return sys.stderr.fileno()
    except (OSError, ValueError):  # stderr is no file here
        return 2


def safe(text: str, *, lines: bool = False) -> str:
    """Untrusted text for a terminal: control, escape and bidi characters become U+FFFD (C14)."""
    return text.translate(_CONTROL_BUT_LINES if lines else _CONTROL)


def style(text: str, name: str) -> str:
    """Text in one of the few styles: `strong`, `dim`, `good`, `warn`, `bad`, `path`."""
    styles: dict[str, dict[str, Any]] = {
        "strong": {"bold": True},
        "dim": {"dim": True},
        "good": {"fg": "green"},
        "warn": {"fg": "yellow"},
        "bad": {"fg": "red"},
        "path": {"fg": "cyan"},
    }
    return click.style(text, **styles[name])


def problem_lines(problems: Iterable[Problem]) -> list[str]:
    """`path:line: message [rule]`, and the fix below, for each problem."""
    lines = []
    for problem in problems:
        where = f"{problem.path}:{problem.line}" if problem.line else problem.path
        lines.append(
            f"{style(safe(where), 'path')}: {safe(problem.message)} {style(f'[{problem.rule}]', 'dim')}"
        )
        if problem.fix:
            lines.append(f"  {style('fix:', 'dim')} {safe(problem.fix)}")
    return lines


def problem_json(problem: Problem) -> dict[str, object]:
    """A problem as the contract prints it."""
    return {
        "path": problem.path,
        "line": problem.line,
        "rule": problem.rule,
        "message": problem.message,
        "fix": problem.fix,
    }


def report_failure(error: BaseException, arguments: Sequence[str]) -> int:
    """Print one error and return its exit code; a traceback only with `--debug`."""
    try:
        code = _report(error, arguments)
        sys.stdout.flush()
    except OSError:  # stdout is closed or full; the exit code is all that is left to say it with
        _silence()
        return 4
    return code


def _report(error: BaseException, arguments: Sequence[str]) -> int:  # noqa: PLR0911 - one per outcome
    as_json = "--json" in arguments
    if isinstance(error, click.exceptions.Exit):
        return error.exit_code
    if isinstance(error, KeyboardInterrupt | click.Abort):
        _fail("interrupted", f"Interrupted. {error}".rstrip(), "", as_json=as_json)
        return EXIT_INTERRUPTED
    if isinstance(error, MunimentError):
        _fail(error.code, error.message, error.hint, as_json=as_json, problems=error.problems)
        return error.exit_code
    if isinstance(error, click.UsageError) and error.ctx and _is_help(error):
        return _help(error.ctx, as_json=as_json)
    if isinstance(error, click.ClickException):
        context = getattr(error, "ctx", None)
        hint = f"Run `{context.command_path} --help`." if context else ""
        _fail("usage", error.format_message(), hint, as_json=as_json)
        return 2
    if isinstance(error, BrokenPipeError):
        _silence()
        return 0
    if isinstance(error, OSError) and error.errno in {errno.ENOSPC, errno.EACCES, errno.EROFS, errno.EIO}:
        _fail("unavailable", f"{error.strerror}: {error.filename or 'standard output'}.", "", as_json=as_json)
        return 4
    if isinstance(error, SystemExit):
        return error.code if isinstance(error.code, int) else EXIT_BUG
    if "--debug" in arguments:
        import traceback  # noqa: PLC0415 - only for a bug

        traceback.print_exception(error)
    kind = type(error).__name__
    _fail(
        "bug",
        f"Muniment failed unexpectedly ({kind}); this is a bug.",
        "Run the command again with `muniment --debug …` and report what it prints.",
        as_json=as_json,
    )
    return EXIT_BUG


def _is_help(error: click.UsageError) -> bool:
    """Whether click answers a group that was given no command; older versions print its help themselves."""
    kind = getattr(click.exceptions, "NoArgsIsHelpError", None)
    return kind is not None and isinstance(error, kind)


def _help(context: click.Context, *, as_json: bool) -> int:
    """The help of a group that was given no command, and what is wrong; exit 2."""
    say(context.get_help())
    say("")
    _fail("usage", f"`{context.command_path}` needs one of these commands.", "", as_json=as_json)
    return 2


def _fail(code: str, message: str, hint: str, *, as_json: bool, problems: Sequence[Problem] = ()) -> None:
    say(f"{style('muniment: error:', 'bad')} {safe(message, lines=True)}")
    shown = [problem for problem in problems if str(problem) not in message]
    for line in problem_lines(shown[:20]):
        say(f"  {line}")
    if len(shown) > 20:  # noqa: PLR2004 - said in the line itself
        say(f"  … and {len(shown) - 20} more.")
    if hint:
        say(f"{style('hint:', 'warn')} {safe(hint, lines=True)}")
    if as_json:
        body: dict[str, object] = {"code": code, "message": message, "hint": hint}
        if problems:
            body["problems"] = [problem_json(problem) for problem in problems]
        emit_json({"error": body})


def _fitted(text: str, stream: Any) -> str:
    """Text as the stream takes it: at a terminal long lines are broken between words."""
    if not stream.isatty():
        return text
    import shutil  # noqa: PLC0415 - only at a terminal

    width = shutil.get_terminal_size().columns
    return "\n".join(part for line in text.split("\n") for part in fit(line, width))


def _color(stream: Any) -> bool:
    return bool(stream.isatty()) and not os.environ.get("NO_COLOR")


def _silence() -> None:
    """Send what is still buffered nowhere, so that the interpreter's exit prints no complaint."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, ValueError):
        return
