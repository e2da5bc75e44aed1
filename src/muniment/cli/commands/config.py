"""`muniment config`: the settings in force."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from muniment.cli import output
from muniment.cli.options import Invocation, json_option, pass_invocation, rev_option

if TYPE_CHECKING:
    from muniment.config import Setting
    from muniment.errors import Problem


@click.group()
def config() -> None:
    """Show the settings in force and where each comes from."""


@config.command()
@click.argument("keys", nargs=-1, metavar="[KEY]…")
@rev_option
@json_option
@pass_invocation
@click.pass_context
def show(
    context: click.Context, invocation: Invocation, keys: tuple[str, ...], rev: str | None, as_json: bool
) -> None:
    """Print every key (or just these) with its value, its source and its meaning.

    Sources: default, committed (.muniment/config.yaml), personal ($XDG_CONFIG_HOME/muniment/config.yaml) and
    local (.muniment/config.local.yaml). With --rev the committed ones are those of that commit. Exits with 2
    when a settings file has a problem.
    """
    workspace = invocation.at(rev)
    settings = _chosen(workspace.config.settings, keys)
    problems = workspace.config_problems
    if as_json:
        output.emit_json(_document(settings, problems))
    else:
        output.emit(line for setting in settings for line in _setting_lines(setting))
        for line in output.problem_lines(problems):
            output.say(line)
    context.exit(2 if problems else 0)


def _chosen(settings: Sequence[Setting], keys: Sequence[str]) -> list[Setting]:
    from muniment.config_schema import KEYS, suggestion  # noqa: PLC0415 - help stays light
    from muniment.errors import UsageProblem  # noqa: PLC0415 - help stays light

    for key in keys:
        if key not in KEYS:
            raise UsageProblem(f"Unknown key {key!r}{suggestion(key, KEYS)}.", "See `muniment config show`.")
    return [setting for setting in settings if not keys or setting.key in keys]


def _document(settings: Sequence[Setting], problems: Sequence[Problem]) -> dict[str, object]:
    return {
        "settings": [
            {
                "key": setting.key,
                "value": setting.value,
                "source": setting.source,
                "meaning": setting.meaning,
            }
            for setting in settings
        ],
        "problems": [output.problem_json(problem) for problem in problems],
    }


def _setting_lines(setting: Setting) -> list[str]:
    value = output.safe(json.dumps(setting.value, ensure_ascii=False))
    return [
        f"{output.style(setting.key, 'strong')}: {value}  {output.style(f'({setting.source})', 'dim')}",
        f"    {setting.meaning}",
    ]
