"""The command line's frame: global options, lazy command loading, and the one place that catches errors.

Only click is imported up front; a command's module is imported when it runs, so that help and version
stay as quick as click itself.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module

import click

from muniment import __version__

COMMANDS: dict[str, tuple[str, str]] = {
    "init": ("init:init", "Set up Muniment in this repository."),
    "config": ("config:config", "Show the settings in force and where each comes from."),
    "status": ("status:status", "What is open, waiting or broken in this repository."),
    "report": ("report:report", "Validate or render a review report."),
    "intake": ("intake:intake", "Take reports in and propose one decision per finding."),
    "triage": ("triage:triage", "Verify findings and decide what to do with each."),
    "apply": ("apply:apply", "Apply a triaged batch: preview, confirm, one commit."),
    "undo": ("undo:undo", "Undo an applied batch in one commit."),
    "plan": ("plan:plan", "Bring the rolling plan up to date with the state."),
    "relate": ("relate:relate", "Find what is already documented, decided or landed."),
    "docs": ("docs:docs", "List and search documents by stage."),
    "roadmap": ("roadmap:roadmap", "Check goals, milestones and stories."),
    "ledger": ("ledger:ledger", "Record and read decisions."),
    "state": ("state:state", "Read and write the sweep's state: a stable protocol for agents."),
    "lease": ("lease:lease", "Take, keep and give back the lease: one writer at a time."),
    "repair": ("repair:repair", "Mend ledger, state and plan after a merge or revert, losing nothing."),
    "merge-driver": ("merge_driver:merge_driver", "Merge one file of Muniment's; git calls it."),
    "textconv": ("merge_driver:textconv", "Show one file of Muniment's as text; git diff calls it."),
    "check": ("check:check", "Check everything Muniment owns: for hooks, CI and before a PR."),
    "gate": ("gate:gate", "Refuse text that still holds an identifier or a secret."),
    "redact": ("redact:redact", "Replace identifiers by stable tags."),
    "hooks": ("hooks:hooks", "Install, remove or show the git hooks."),
    "demo": ("demo:demo", "Watch the main job happen in a scratch repository."),
}


class LazyGroup(click.Group):
    """A group that knows its commands' names and short help without importing their modules."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """The command names, in the order of the work."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - same
        """Import and return one command, or None for an unknown name."""
        if cmd_name not in COMMANDS:
            return None
        module, _, attribute = COMMANDS[cmd_name][0].partition(":")
        command: click.Command = getattr(import_module(f"muniment.cli.commands.{module}"), attribute)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Resolve as click does, and suggest the nearest name for a misspelt one."""
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            import difflib  # noqa: PLC0415 - only needed for a mistake

            near = difflib.get_close_matches(args[0], list(COMMANDS), n=1)
            also = f" Did you mean {near[0]!r}?" if near else ""
            raise click.UsageError(f"No such command {args[0]!r}.{also}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - same
        """List the commands from the table, importing none of them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in COMMANDS.items()])


@click.command(
    cls=LazyGroup,
    invoke_without_command=True,
    subcommand_metavar="COMMAND [ARGS]...",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Start with `muniment demo` to watch it work, or `muniment init` in your own repository.",
)
@click.version_option(__version__, prog_name="muniment")
@click.option("-C", "directory", default=".", metavar="DIR", help="Work in the repository that DIR lies in.")
@click.option("-q", "--quiet", is_flag=True, help="Print results only, no messages.")
@click.option("--debug", is_flag=True, help="Show a traceback when Muniment itself fails.")
@click.pass_context
def cli(ctx: click.Context, directory: str, quiet: bool, debug: bool) -> None:
    """Keep a team's reports, decisions and plans in its git repository.

    Reports of what went wrong come in, each finding is verified, related to what is already known and
    decided once; documents, the plan and the ledger follow in one commit.
    """
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())
        return
    from muniment.cli.options import Invocation  # noqa: PLC0415 - not needed for --version and --help

    ctx.obj = Invocation(directory, quiet=quiet, debug=debug)


def main(argv: Sequence[str] | None = None) -> None:
    """Run the command line and exit with the contract's code."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    sys.exit(run(arguments))


def run(arguments: list[str]) -> int:
    """Run the command line; returns the exit code, prints errors, never raises for a user's mistake."""
    _use_utf8()
    try:
        result = cli.main(args=arguments, prog_name="muniment", standalone_mode=False)
        sys.stdout.flush()
    except BaseException as error:  # noqa: BLE001 - the one place that turns errors into exit codes
        from muniment.cli import output  # noqa: PLC0415 - start-up stays light

        return output.report_failure(error, _without_item(arguments))
    return result if isinstance(result, int) else 0


def _without_item(arguments: list[str]) -> list[str]:
    """The arguments less what `state` calls `--json`: there it is an item, no wish for JSON on stdout."""
    places = (at for at, word in enumerate(arguments) if not word.startswith("-"))
    command = next((arguments[at] for at in places if at == 0 or arguments[at - 1] != "-C"), "")
    return [word for word in arguments if word != "--json"] if command == "state" else arguments


def _use_utf8() -> None:
    """Text is UTF-8 whatever the locale; undecodable path bytes print as escapes, not as a crash."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    if hasattr(sys.stdin, "reconfigure"):
        sys.stdin.reconfigure(encoding="utf-8", errors="strict")
