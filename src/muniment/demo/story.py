"""The story that the demo tells: which commands run, on which day, by whom, and why (U2)."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from muniment.demo.scene import Scene, build, git, muniment
from muniment.errors import MunimentError


class DemoFailed(MunimentError):
    """A command of the demo did not answer as its story needs; the installation is at fault."""

    exit_code = 70
    code = "demo-failed"


@dataclass(frozen=True, slots=True)
class Step:
    """One command as shown: who ran it, its words, what it printed, and its exit code."""

    person: str
    command: str
    output: str
    code: int


@dataclass(slots=True)
class Story:
    """Runs the story; `tell` gets a heading or a remark, `show` a finished step."""

    scene: Scene
    tell: Callable[[str, str], None]
    show: Callable[[Step], None]
    steps: list[Step] = field(default_factory=list)

    def run(self, person: str, day: str, *arguments: str, expect: int = 0) -> str:
        """Run one command, show it, and return what it printed; raises `DemoFailed` on another exit code."""
        code, output = muniment(self.scene, person, day, *arguments)
        step = Step(person, "muniment " + " ".join(_quoted(word) for word in arguments), output, code)
        self.steps.append(step)
        self.show(step)
        if code != expect:
            raise DemoFailed(f"`{step.command}` ended with exit code {code}, not {expect}.")
        return output

    def ask(self, person: str, day: str, *arguments: str) -> object:
        """Run one command with `--json`, unseen, and return its document."""
        code, output = muniment(self.scene, person, day, *arguments, "--json")
        try:
            return json.loads(output)
        except ValueError as error:
            raise DemoFailed(f"`muniment {arguments[0]} --json` (exit {code}) printed no JSON.") from error

    def git(self, person: str, day: str, *arguments: str) -> None:
        """Run one git command and show it."""
        output = git(self.scene, person, day, *arguments)
        step = Step(person, "git " + " ".join(_quoted(word) for word in arguments), output, 0)
        self.steps.append(step)
        self.show(step)


def perform(folder: Path, tell: Callable[[str, str], None], show: Callable[[Step], None]) -> Scene:
    """Build the scene in `folder` and run the whole story.

    Raises:
        UsageProblem: The folder is not empty.
        DemoFailed: A command did not do what the story says.
    """
    scene = build(folder)
    story = Story(scene, tell, show)
    for chapter in (_set_up, _first_reports, _second_reports, _refused_report, _plan, _ada, _undo):
        chapter(story)
    return scene


def _set_up(story: Story) -> None:
    story.tell("chapter", "Robin sets Muniment up in the repository of Larder, a kitchen assistant")
    story.run("robin", "2026-03-02", "init")
    story.git("robin", "2026-03-02", "add", "--", ".muniment", ".gitattributes", ".gitignore")
    story.git("robin", "2026-03-02", "commit", "-q", "-m", "Set up Muniment")


def _first_reports(story: Story) -> None:
    day = "2026-03-02"
    story.tell("chapter", "Monday: the web bot's report, four findings. Each is only a claim until verified")
    story.run("robin", day, "intake", str(story.scene.reports / "larder-web-2026-03-02.json"))
    rows = dict(_rows(story, day))
    story.tell("remark", "Robin looks at each claim. One is not real: the person was thanking the bot")
    for slug in ("merged-list-drops-quantities", "expiry-reminder-wrong-hour", "reminder-sent-twice"):
        story.run(
            "robin", day, "triage", "verify", rows[slug], "real", "--reason", "Seen in the conversation."
        )
    reason = "The person liked the short answer."
    story.run("robin", day, "triage", "verify", rows["curt-answer"], "not-real", "--reason", reason)
    story.tell("remark", "v1.3.0 is what runs: git says which of the two landed fixes it contains")
    story.run("robin", day, "triage", "show")
    story.run("robin", day, "triage", "approve", "--all")
    _apply(story, day)


def _second_reports(story: Story) -> None:
    day = "2026-03-03"
    story.tell("chapter", "Tuesday: the phone bot reports the first problem again, under another name")
    story.run("robin", day, "intake", str(story.scene.reports / "larder-phone-2026-03-03.json"))
    for slug, row in _rows(story, day):
        reason = f"Read the conversation ({slug})."
        story.run("robin", day, "triage", "verify", row, "real", "--reason", reason)
    story.tell("remark", "One finding carries hostile text; it stays a quotation, whatever it says")
    story.run("robin", day, "triage", "show")
    story.run("robin", day, "triage", "approve", "--all")
    _apply(story, day)
    story.tell("remark", "The second name is an alias now: both reports count as one problem")
    story.run("robin", day, "ledger", "status", "bug/code/shopping-list-forgets-amounts")


def _refused_report(story: Story) -> None:
    day = "2026-03-04"
    story.tell("chapter", "Wednesday: a report with a phone number in it. The gate takes none of it in")
    report = str(story.scene.reports / "larder-phone-2026-03-04-weekly.json")
    story.run("robin", day, "intake", report, expect=1)


def _plan(story: Story) -> None:
    day = "2026-03-04"
    story.tell("chapter", "The rolling plan: a view of what is open, rewritten only inside its own regions")
    story.tell(
        "remark", "docs/feedback-sweep/state.yml keeps what customers wrote, here two mails; tools write it"
    )
    story.run("robin", day, "plan", "reconcile")
    story.git("robin", day, "add", "--", "docs/plans", "docs/feedback-sweep")
    story.git("robin", day, "commit", "-q", "-m", "Reconcile the plan")
    story.run("robin", day, "check")
    story.git("robin", day, "push", "-q", "origin", "main")


def _ada(story: Story) -> None:
    day = "2026-03-05"
    story.tell("chapter", "Ada pulls: before she starts, she asks what is known about her idea")
    story.git("ada", day, "pull", "-q", "--ff-only")
    story.run("ada", day, "relate", "flour has no amount after lists are merged", "--limit", "3")
    story.run("ada", day, "ledger", "verify", "--against", "origin/main")


def _undo(story: Story) -> None:
    day = "2026-03-05"
    story.tell("chapter", "Robin thinks again about Tuesday. Undo is one more commit; nothing is rewritten")
    undone = story.run("robin", day, "undo", "--yes", "--reason", "Ask the cooks first.")
    story.run("robin", day, "status")
    story.tell("remark", "The cooks agree with every decision: undoing the undo applies the batch again")
    commit = re.search(r"in commit ([0-9a-f]+)", undone)
    if not commit:
        raise DemoFailed("`muniment undo` named no commit.")
    story.run("robin", day, "undo", commit[1], "--yes", "--reason", "The cooks agree.")
    story.run("robin", day, "ledger", "log", "--kind", "undo")
    story.run("robin", day, "check")
    story.git("robin", day, "push", "-q", "origin", "main")
    story.git("ada", day, "pull", "-q", "--ff-only")


def _apply(story: Story, day: str) -> None:
    """Preview, then confirm with the token that the preview gave."""
    shown = re.search(r"--confirm ([0-9a-f]+)", story.run("robin", day, "apply", "--preview"))
    if not shown:
        raise DemoFailed("`muniment apply --preview` gave no token.")
    story.run("robin", day, "apply", "--confirm", shown[1])


def _rows(story: Story, day: str) -> Iterator[tuple[str, str]]:
    """Slug and row id of each row of the open batch."""
    shown = story.ask("robin", day, "triage", "show")
    rows = shown.get("rows", []) if isinstance(shown, dict) else shown
    for row in rows if isinstance(rows, list) else []:
        yield row["fingerprint"].split("/")[-1], row["row"]


def _quoted(word: str) -> str:
    import shlex  # noqa: PLC0415 - only for showing

    return shlex.quote(word)
