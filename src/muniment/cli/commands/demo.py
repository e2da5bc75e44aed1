"""`muniment demo`: watch the main job happen in a scratch repository (U2)."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import click

from muniment.cli import output
from muniment.cli.options import json_option

if TYPE_CHECKING:
    from muniment.demo.story import Step


@click.command()
@click.argument("folder", required=False, metavar="[DIR]")
@json_option
def demo(folder: str | None, as_json: bool) -> None:
    """Watch the main job happen in a scratch repository.

    Builds a small product with a remote and two clones, and runs the real commands on real reports. Nothing
    outside DIR (default: a new temporary folder) is touched; no network, no account.

    Example: muniment demo /tmp/larder
    """
    from muniment.demo.story import perform  # noqa: PLC0415 - only the demo needs it

    target = Path(folder) if folder else Path(tempfile.mkdtemp(prefix="muniment-demo-"))
    steps: list[Step] = []
    scene = perform(
        target,
        (lambda *_: None) if as_json else _tell,
        steps.append if as_json else _show,
    )
    if as_json:
        shown = [
            {"by": s.person, "command": s.command, "exit_code": s.code, "output": s.output} for s in steps
        ]
        output.emit_json({"folder": str(scene.folder), "steps": shown})
        return
    output.emit(_closing(scene.clone("robin")))


def _tell(kind: str, text: str) -> None:
    heading = kind == "chapter"
    output.emit(
        ["", output.style(f"── {text}" if heading else f"   {text}.", "strong" if heading else "dim")]
    )


def _show(step: Step) -> None:
    output.emit(["", f"{output.style(step.person, 'path')} {output.style('$ ' + step.command, 'strong')}"])
    output.emit(f"  {line}" for line in output.safe(step.output, lines=True).rstrip().splitlines())


def _closing(clone: Path) -> list[str]:
    places = (
        ("docs/reviews/triage/", "what was decided about each finding, and why"),
        ("docs/reviews/ledger.json", "every decision; `muniment ledger log` reads it"),
        ("docs/bugs/", "what became work, with its evidence quoted"),
        ("docs/pending-verification.md", "fixes that still need proof"),
        ("docs/plans/feedback-sweep-plan.md", "the rolling plan"),
    )
    return [
        "",
        output.style("── What happened", "strong"),
        "   Two reports became seven decisions, one commit each day; a third was refused for a phone number.",
        "   One finding was no problem, one a known limitation, one the same problem under another name.",
        "   One landed fix isn't deployed yet, and one didn't hold. Hostile text stayed a quotation.",
        "   Tuesday's batch was undone and applied again: two more commits, and no decision was lost.",
        output.style("── Where to look", "strong"),
        f"   cd {clone}",
        *(f"   {output.style(path.ljust(36), 'path')}{meaning}" for path, meaning in places),
        "   In your own repository: muniment init",
    ]
