"""`muniment triage`: verify findings and decide what to do with each (C8, C9)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from muniment.cli.options import Invocation, json_option, pass_invocation, rev_option
from muniment.cli.output import emit, emit_json, number
from muniment.errors import UsageProblem

if TYPE_CHECKING:
    from muniment.intake.batches import Overview
    from muniment.intake.triage import Done

ACTIONS = (
    *("reject", "known-limitation", "duplicate", "attach"),
    *("fixed-not-deployed", "revisit", "new", "needs-owner"),
)


class Chosen:
    """The batch that `--batch` names, on the group or on the subcommand; None for the one that waits."""

    def __init__(self, invocation: Invocation, name: str | None) -> None:
        self.invocation = invocation
        self.name = name

    def channel(self) -> str:
        """The channel that a decision by this command speaks through (C9)."""
        from muniment import authority  # noqa: PLC0415 - help needs none of it

        rules = authority.rules(self.invocation.writable)
        return authority.channel_here(rules, at_terminal=self.invocation.interactive())


pass_chosen = click.make_pass_decorator(Chosen)


def _named(ctx: click.Context, _: click.Parameter, value: str | None) -> str | None:
    chosen = ctx.find_object(Chosen)
    if value is not None and chosen is not None:
        ctx.obj = Chosen(chosen.invocation, value)
    return value


batch_option = click.option(
    "--batch",
    metavar="B",
    callback=_named,
    expose_value=False,
    help="The batch; by default the one that waits.",
)
reason_option = click.option("--reason", default="", metavar="R", help="Why, in a sentence.")
target_option = click.option("--target", default="", metavar="PATH[:LINE]", help="A document, or its line.")
replace_option = click.option("--replace", is_flag=True, help="Replace a decision that a person made, too.")
row_argument = click.argument("row", metavar="ROW")


@click.group(invoke_without_command=True)
@click.option("--batch", "name", metavar="B", help="The batch; by default the newest one that waits.")
@pass_invocation
@click.pass_context
def triage(ctx: click.Context, invocation: Invocation, name: str | None) -> None:
    """Verify findings and decide what to do with each; without a subcommand, row by row at the terminal."""
    ctx.obj = Chosen(invocation, name)
    if ctx.invoked_subcommand is None:
        from muniment.cli import triage_prompts  # noqa: PLC0415 - help needs none of it

        triage_prompts.converse(invocation, name)


@triage.command("list")
@rev_option
@json_option
@pass_chosen
def list_batches(chosen: Chosen, rev: str | None, as_json: bool) -> None:
    """List the batches with how many rows wait in each, oldest first."""
    from muniment.intake import batches  # noqa: PLC0415 - help needs none of it

    found = batches.overview(chosen.invocation.at(rev))
    if as_json:
        emit_json(
            [
                {"batch": one.batch, "rows": one.rows, "waiting": one.waiting, **one.waits.counts()}
                for one in found
            ]
        )
    else:
        emit(_overview_line(one) for one in found)


def _overview_line(one: Overview) -> str:
    from muniment.intake import waiting  # noqa: PLC0415 - help needs none of it

    waits = waiting.said(one.waits) or "none waiting"
    return f"{one.batch}: {number(one.rows, 'row')}, {waits}{one.fault}"


@triage.command()
@batch_option
@rev_option
@json_option
@pass_chosen
def show(chosen: Chosen, rev: str | None, as_json: bool) -> None:
    """Show every row of a batch: what was verified, related, proposed and decided."""
    from muniment.cli import triage_view  # noqa: PLC0415 - help needs none of it
    from muniment.intake import batches  # noqa: PLC0415 - same

    seen = batches.look(chosen.invocation.at(rev), chosen.name)
    triage_view.show(seen, as_json=as_json)


@triage.command()
@row_argument
@click.argument("verdict", type=click.Choice(["real", "not-real", "unsure"]))
@reason_option
@click.option("--kind", type=click.Choice(["bug", "feature", "profile", "config"]), help="As re-derived.")
@click.option("--scope", type=click.Choice(["global", "space"]), help="As re-derived.")
@click.option("--layer", metavar="L", help="The target layer as re-derived.")
@replace_option
@batch_option
@json_option
@pass_chosen
def verify(
    chosen: Chosen,
    *,
    row: str,
    verdict: str,
    reason: str,
    kind: str | None,
    scope: str | None,
    layer: str | None,
    replace: bool,
    as_json: bool,
) -> None:
    """Say whether a finding is real; its proposal is worked out anew."""
    from muniment.intake import triage as acts  # noqa: PLC0415 - help needs none of it
    from muniment.intake.rows import Verdict  # noqa: PLC0415 - same

    found = acts.Verified(Verdict(verdict), reason, kind or "", scope or "", layer or "")
    ws, channel = chosen.invocation.writable, chosen.channel()
    _done(acts.verify(ws, chosen.name, row, found, channel, replacing=replace), as_json=as_json)


@triage.command()
@click.argument("rows", nargs=-1, metavar="[ROW]…")
@click.option("--all", "every", is_flag=True, help="Every row that is undecided.")
@reason_option
@replace_option
@batch_option
@json_option
@pass_chosen
def approve(
    chosen: Chosen, rows: tuple[str, ...], *, every: bool, reason: str, replace: bool, as_json: bool
) -> None:
    """Approve what is proposed; for an unverified row that is also its verification."""
    from muniment.intake import triage as acts  # noqa: PLC0415 - help needs none of it

    if bool(rows) == every:
        raise UsageProblem("Give either rows or --all.", "For example: muniment triage approve 1 3")
    ws = chosen.invocation.writable
    if every:
        done = acts.approve_all(ws, chosen.name, chosen.channel(), reason)
    else:
        choice = acts.Choice("approve", reason=reason)
        done = acts.choose(ws, chosen.name, rows, choice, chosen.channel(), replacing=replace)
    _done(done, as_json=as_json)


@triage.command()
@row_argument
@click.option("--action", required=True, type=click.Choice(ACTIONS), help="What to do instead.")
@target_option
@reason_option
@replace_option
@batch_option
@json_option
@pass_chosen
def override(
    chosen: Chosen, *, row: str, action: str, target: str, reason: str, replace: bool, as_json: bool
) -> None:
    """Decide for another action than the proposed one; the target is by default the first related."""
    from muniment.intake import triage as acts  # noqa: PLC0415 - help needs none of it

    choice = acts.Choice(action, target, reason)
    ws = chosen.invocation.writable
    done = acts.choose(ws, chosen.name, [row], choice, chosen.channel(), replacing=replace)
    _done(done, as_json=as_json)


@triage.command()
@row_argument
@target_option
@click.option("--text", default="", metavar="T", help="The problem in other words, for a new document.")
@click.option("--layer", default="", metavar="L", help="Another target layer.")
@reason_option
@replace_option
@batch_option
@json_option
@pass_chosen
def edit(
    chosen: Chosen,
    *,
    row: str,
    target: str,
    text: str,
    layer: str,
    reason: str,
    replace: bool,
    as_json: bool,
) -> None:
    """Change target, text or layer of a row's decision, approving it if it had none."""
    from muniment.intake import triage as acts  # noqa: PLC0415 - help needs none of it

    change = acts.Choice("approve", target, reason, layer, text)
    ws = chosen.invocation.writable
    done = acts.edit(ws, chosen.name, row, change, chosen.channel(), replacing=replace)
    _done(done, as_json=as_json)


@triage.command()
@click.argument("rows", nargs=-1, required=True, metavar="ROW…")
@reason_option
@replace_option
@batch_option
@json_option
@pass_chosen
def dismiss(chosen: Chosen, rows: tuple[str, ...], *, reason: str, replace: bool, as_json: bool) -> None:
    """Leave rows undecided on purpose: nothing is applied, and nothing suppressed."""
    from muniment.intake import triage as acts  # noqa: PLC0415 - help needs none of it

    choice = acts.Choice("dismiss", reason=reason)
    ws = chosen.invocation.writable
    done = acts.choose(ws, chosen.name, rows, choice, chosen.channel(), replacing=replace)
    _done(done, as_json=as_json)


@triage.command()
@click.argument("rows", nargs=-1, metavar="[ROW]…")
@replace_option
@batch_option
@json_option
@pass_chosen
def refresh(chosen: Chosen, rows: tuple[str, ...], *, replace: bool, as_json: bool) -> None:
    """Relate and propose anew, as documents and ledger are now; puts rows back that are gone."""
    from muniment.intake import triage as acts  # noqa: PLC0415 - help needs none of it

    ws, channel = chosen.invocation.writable, chosen.channel()
    _done(acts.refresh(ws, chosen.name, rows, channel, replacing=replace), as_json=as_json)


def _done(done: Done, *, as_json: bool) -> None:
    from muniment.cli import triage_view  # noqa: PLC0415 - help needs none of it

    triage_view.report(done, as_json=as_json)
