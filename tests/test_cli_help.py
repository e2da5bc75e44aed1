"""Every command has help and a mention in the docs; the whole `--help` tree is one generated page.

Write it anew with `MUNIMENT_WRITE_DOCS=1 python -m pytest tests/test_cli_help.py`, and read the diff.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from muniment.cli.main import COMMANDS, cli

DOCS = Path(__file__).parent.parent / "docs"
README = Path(__file__).parent.parent / "README.md"
REFERENCE = DOCS / "commands.md"
WRITE = bool(os.environ.get("MUNIMENT_WRITE_DOCS"))
HEAD = """\
# Commands

Every command with its options, as `--help` prints it. This page is generated from the code
(`tests/test_cli_help.py`); `mun` is the same program as `muniment`.
"""


def tree(command: click.Command, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    yield path, command
    if isinstance(command, click.Group):
        context = click.Context(command, info_name=path[-1])
        for name in command.list_commands(context):
            found = command.get_command(context, name)
            assert found is not None
            yield from tree(found, (*path, name))


ALL = list(tree(cli, ("muniment",)))
IDS = [" ".join(path) for path, _ in ALL]


def help_of(path: tuple[str, ...], command: click.Command) -> str:
    context = None
    names = cli.context_settings["help_option_names"]  # click remembers a command's help option once made
    for name in path[:-1]:
        context = click.Context(click.Group(name), info_name=name, parent=context, help_option_names=names)
    with click.Context(
        command,
        info_name=path[-1],
        parent=context,
        terminal_width=100,
        max_content_width=100,
        help_option_names=names,
    ) as own:
        return command.get_help(own).rstrip() + "\n"


def test_reference_is_the_help_tree() -> None:
    sections = [f"## {' '.join(path)}\n\n```text\n{help_of(path, command)}```\n" for path, command in ALL]
    text = "\n".join((HEAD, *sections))
    if WRITE:
        REFERENCE.write_text(text, encoding="utf-8")
    assert text == REFERENCE.read_text(encoding="utf-8"), "The help changed; write docs/commands.md anew."


@pytest.mark.parametrize(("path", "command"), ALL, ids=IDS)
def test_every_command_says_what_it_does(path: tuple[str, ...], command: click.Command) -> None:
    words = (command.help or "").split("\n", 1)[0]
    assert words.endswith((".", "!")), f"{' '.join(path)}: the first line of its help is one sentence"
    assert len(words) <= 110


@pytest.mark.parametrize(("path", "command"), ALL, ids=IDS)
def test_every_option_says_what_it_does(path: tuple[str, ...], command: click.Command) -> None:
    silent = [
        option.name for option in command.params if isinstance(option, click.Option) and not option.help
    ]
    assert not silent, f"{' '.join(path)}: no help for {silent}"


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_is_explained_outside_the_reference(name: str) -> None:
    pages = [README, *(page for page in DOCS.rglob("*.md") if page != REFERENCE)]
    text = "".join(page.read_text(encoding="utf-8") for page in pages)
    assert f"muniment {name}" in text, f"Neither the README nor a page of docs/ mentions `muniment {name}`."


@pytest.mark.parametrize("name", COMMANDS)
def test_the_table_and_the_command_agree(name: str) -> None:
    command = cli.get_command(click.Context(cli), name)
    assert command is not None
    assert command.name == name
    assert COMMANDS[name][1].endswith(".")
