"""`muniment state`: the engine protocol; line 1 is a status word, line 2 one JSON value (S12, S20, G9).

Conditions of the work exit 0, whatever the word; only misuse exits 2. Each command names its state by
`--state FILE`, or by `--branch B` for the one that is shared through a remote.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from muniment.cli.options import Invocation, pass_invocation, read_input
from muniment.cli.state_options import (
    moment,
    now_option,
    option,
    place_option,
    show,
    some_object,
    source_option,
    writer_option,
)

if TYPE_CHECKING:
    from muniment.cli.state_options import Place


@click.group()
def state() -> None:
    """Read and write the sweep's state: a stable protocol for agents.

    Line 1 of the output is one status word, line 2 (where there is one) a JSON value. LOCKED, LEASE-LOST,
    REFUSED, NO-STATE, CORRUPT and ERROR are answers: they exit 0 and change nothing. So do OFFLINE,
    REJECTED-POLICY, REMOTE-REWOUND and UNKNOWN of a shared branch. Misuse exits 2.
    The words, the file and its fields: docs/formats/state.md.
    """


@state.command()
@place_option
def read(place: Place) -> None:
    """Print the whole state."""
    show(place.read())


@state.command()
@place_option
def validate(place: Place) -> None:
    """Return closed items without evidence to fix_pending, and list them."""
    show(place.validate())


@state.command("upsert-item")
@place_option
@option("--id", "The item's id at the source.", required=True)
@source_option
@writer_option
@option("--json", "The fields to set, as a JSON object.", some_object, required=True)
@now_option
def upsert_item(
    place: Place,
    *,
    id: str,  # noqa: A002 - the option's name
    source: str,
    writer: str,
    json: Mapping[str, Any],
    now: str,
) -> None:
    """Set fields of an item, creating it if need be; re-stamps the lease."""
    from muniment.state import operations  # noqa: PLC0415 - help stays light

    operations.require_item(source, id, json)
    show(place.held(lambda view: operations.upsert_item(view, source, id, json), writer, now))


@state.command("cursor-get")
@place_option
@source_option
def cursor_get(place: Place, source: str) -> None:
    """Print a source's cursor; null without one."""
    show(place.cursor(source))


@state.command("cursor-advance")
@place_option
@source_option
@option("--to", "The new cursor.", required=True)
@option("--past-item", "The item it passes: its id at the source, or its key.", required=True)
@writer_option
@now_option
def cursor_advance(place: Place, *, source: str, to: str, past_item: str, writer: str, now: str) -> None:
    """Move a source's cursor forward, past an item that is in the state."""
    from muniment.state import operations  # noqa: PLC0415 - help stays light

    operations.require_cursor(source, past_item, to)
    show(place.held(lambda view: operations.cursor_advance(view, source, to, past_item), writer, now))


@state.command("lease-acquire")
@place_option
@writer_option
@click.option("--ttl-minutes", type=float, help="How long it holds without a write; by default 60.")
@now_option
def lease_acquire(place: Place, writer: str, ttl_minutes: float | None, now: str) -> None:
    """Take the lease that stands in the state, or keep one's own."""
    show(place.acquire(writer, ttl_minutes, now))


@state.command("lease-release")
@place_option
@writer_option
def lease_release(place: Place, writer: str) -> None:
    """Give the lease back."""
    show(place.release(writer))


@state.command("run-record")
@place_option
@writer_option
@option("--outcome", "completed, aborted-locked, partial or failed.", required=True)
@option("--counts", "Counts per source, as a JSON object.", some_object)
@option("--timestamp", "When the run ended, ISO 8601, kept as given.", moment)
def run_record(place: Place, writer: str, outcome: str, counts: Mapping[str, Any], timestamp: str) -> None:
    """Record how a run ended; needs no lease, and makes the file if there is none."""
    from muniment.state import operations  # noqa: PLC0415 - help stays light

    operations.require_outcome(outcome)
    show(place.change(lambda view: operations.run_record(view, writer, outcome, counts, timestamp), writer))


@state.command("import-legacy")
@place_option
@option("--file", "The older tracker's file, JSON or YAML.", required=True)
@option("--source-map", "Channel id to source id, as a JSON object.", some_object)
@option("--writer", "Who imports; needs no lease, but another's keeps it away.")
@pass_invocation
def import_legacy(
    invocation: Invocation, place: Place, *, file: str, source_map: Mapping[str, Any], writer: str | None
) -> None:
    """Take over cursors and items of an older tracker that aren't in the state yet."""
    from muniment.state import engine, legacy  # noqa: PLC0415 - help stays light

    sources, old = legacy.require_map(source_map), invocation.directory / file
    show(place.unless_held(lambda view: legacy.import_legacy(view, engine.bytes_of(old), sources), writer))


@state.command()
@place_option
@writer_option
@now_option
def batch(place: Place, writer: str, now: str) -> None:
    """Make many operations as one write, or none: JSON lines on standard input.

    Each line is an object with `op` (upsert-item, cursor-advance or run-record) and that command's options
    under their own names, for instance {"op": "upsert-item", "source": "inbox", "id": "7", "json": {…}}.
    """
    from muniment.state import batch as batches  # noqa: PLC0415 - help stays light

    acts = batches.read(batches.decode(read_input("-")), writer=writer, now=now)
    show(place.held(lambda view: batches.perform(view, acts), writer, now))


@state.command()
@place_option
@writer_option
@now_option
def compact(place: Place, writer: str, now: str) -> None:
    """Replace a shared branch's history by one commit, as the holder of its lease."""
    show(place.compact(writer, now))
