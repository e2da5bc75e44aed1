"""The frame: exit codes, error JSON, suggestions, lazy imports, hostile text in errors."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import click
import pytest

from muniment.cli import output
from muniment.cli.main import COMMANDS, cli
from muniment.errors import CheckFailed, Problem, Refused, Unavailable, UsageProblem
from tests.support.cli import muniment

LAZY = """
import sys
from muniment.cli.main import run
run({args!r})
print(sorted(sys.modules), file=sys.stderr)
"""
HEAVY = ("pygit2", "ruamel", "markdown_it", "rapidfuzz", "phonenumbers", "re2", "ahocorasick_rs", "orjson")


@pytest.mark.parametrize("args", [["--version"], ["--help"]])
def test_start_up__imports_nothing_heavy(args: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-c", LAZY.format(args=args)], capture_output=True, text=True, check=True
    )
    loaded = done.stderr
    assert "'click'" in loaded
    assert [name for name in HEAVY if f"'{name}'" in loaded] == []


def test_commands__all_load_and_have_help() -> None:
    context = click.Context(cli)
    for name, (_, short) in COMMANDS.items():
        command = cli.get_command(context, name)
        assert command is not None, name
        assert command.help, name
        assert short.endswith("."), name


def test_unknown_command__suggests_the_near_one(tmp_path: Path) -> None:
    result = muniment("legder", cwd=tmp_path)
    assert result.code == 2
    assert "Did you mean 'ledger'?" in result.err


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (CheckFailed("No."), 1),
        (UsageProblem("No.", "Do this."), 2),
        (Refused("No."), 3),
        (Unavailable("No."), 4),
        (click.UsageError("No."), 2),
        (OSError(28, "No space left on device"), 4),
        (KeyboardInterrupt(), 130),
        (ValueError("inner"), 70),
    ],
)
def test_report_failure__prints_one_error_and_its_code(
    error: BaseException, code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert output.report_failure(error, ["--json"]) == code
    printed = capsys.readouterr()
    assert printed.err.startswith("muniment: error: ")
    assert '"error"' in printed.out
    assert "Traceback" not in printed.err


def test_report_failure__shows_a_traceback_with_debug_only(capsys: pytest.CaptureFixture[str]) -> None:
    assert output.report_failure(ValueError("inner"), ["--debug"]) == 70
    assert "ValueError: inner" in capsys.readouterr().err


def test_report_failure__lists_problems_with_file_and_line(capsys: pytest.CaptureFixture[str]) -> None:
    problems = tuple(Problem("a.md", line, "rule", f"Fault {line}.", "fix it") for line in range(1, 25))
    output.report_failure(Refused("Several.", problems=problems), [])
    printed = capsys.readouterr().err
    assert "a.md:1" in printed
    assert "and 4 more" in printed


def test_safe__leaves_no_terminal_control() -> None:
    hostile = "a\x1b[31mb\r\u202e\x07\x9bc\nd"
    assert output.safe(hostile) == "a�[31mb����c�d"
    assert output.safe("a\tb\n", lines=True) == "a\tb\n"


def test_closed_stdout__is_no_traceback() -> None:
    script = f"{sys.executable} -m muniment --help | true"
    done = subprocess.run(["sh", "-c", script], capture_output=True, text=True, check=False)
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_full_stdout__is_exit_4() -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "muniment", "--help"], stdout=full, stderr=subprocess.PIPE, check=False
        )
    assert done.returncode == 4
    assert b"Traceback" not in done.stderr


def test_no_command__is_answered_with_help(tmp_path: Path) -> None:
    alone = muniment(cwd=tmp_path)
    assert (alone.code, alone.err) == (0, "")
    assert alone.out.startswith("Usage: muniment")
    assert "triage" in alone.out
    for group in ("docs", "roadmap", "ledger"):
        bare = muniment(group, cwd=tmp_path)
        assert (bare.code, bare.out) == (2, "")
        assert bare.err.startswith(f"Usage: muniment {group}")
        assert bare.err.endswith(f"muniment: error: `muniment {group}` needs one of these commands.\n")


def test_no_repository__names_the_folder(tmp_path: Path) -> None:
    result = muniment("status", cwd=tmp_path)
    assert result.code == 2
    assert f"{tmp_path} lies in no git repository." in result.err


def test_interrupted__says_what_it_leaves(capsys: pytest.CaptureFixture[str]) -> None:
    assert output.report_failure(click.Abort("Nothing was changed."), []) == 130
    assert capsys.readouterr().err == "muniment: error: Interrupted. Nothing was changed.\n"


@pytest.mark.parametrize(
    ("count", "said"), [(0, "0 batches"), (1, "1 batch"), (2, "2 batches"), (1200, "1,200 batches")]
)
def test_number(count: int, said: str) -> None:
    assert output.number(count, "batch", "batches") == said
