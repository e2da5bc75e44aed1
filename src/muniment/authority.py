"""Who may decide, by channel, and what each decision rests on (C9).

What gives authority (`owners`, `require_…`) is read as it stands on the upstream default branch, never from
the branch under judgement. A name in a file is a claim. What counts:

* `terminal`: a person answered at a terminal of this machine; remembered privately in this clone.
* `file`: the decision was last changed by a commit on the upstream default branch, authored (or signed)
  by an owner.
* `flag`: a command without a terminal, on a person's machine; remembered privately; never under CI.

Everything else is `claimed`: it is shown and does nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from muniment import approval
from muniment import config as configuration
from muniment.authority_history import History, Unreachable
from muniment.authority_signature import Signed, signature, signer_is_owner
from muniment.authority_upstream import upstream
from muniment.config import Config
from muniment.errors import Refused
from muniment.git.repo import Commit, MissingObject, Oid
from muniment.intake import triage_file, triage_lines
from muniment.intake.rows import Row
from muniment.workspace import Workspace

TERMINAL, FILE, FLAG = "terminal", "file", "flag"
NOT_CI = frozenset({"", "0", "false", "no", "off"})
CI_SERVICES = (
    "BUILDKITE",
    "CIRCLECI",
    "CONTINUOUS_INTEGRATION",
    "GITHUB_ACTIONS",
    "GITLAB_CI",
    "JENKINS_URL",
    "TEAMCITY_VERSION",
    "TF_BUILD",
    "TRAVIS",
)
"""Variables by which build services say that they run a job, as each documents; not all set `CI`."""


@dataclass(frozen=True, slots=True)
class Rules:
    """What gives authority, as the upstream default branch says.

    Attributes:
        ref: The upstream default branch's full ref; None when there is none or it isn't known.
        tip: Its commit here.
        owners: E-mails or signing keys of those who may decide.
        actors: Git e-mail → public handle.
        require_verified: Flags never count.
        require_signed: A file's commits must be signed by an owner's key.
        ci: Whether this runs under continuous integration.
        unknown: Why no upstream is known; empty when it is.
        settle: The command that would make it known.
    """

    ref: str | None
    tip: Oid | None
    owners: tuple[str, ...]
    actors: Mapping[str, str]
    require_verified: bool
    require_signed: bool
    ci: bool
    unknown: str = ""
    settle: str = ""


@dataclass(frozen=True, slots=True)
class Standing:
    """What one decision rests on.

    Attributes:
        counts: Whether it may be applied.
        channel: `terminal`, `file` or `flag`.
        verified: `terminal`, `branch`, `signature`, `none`, or `claimed`.
        why: One sentence for people when it does not count.
        settle: The command that would settle or mend it; may be empty.
        by: The public handle of the owner whose commit it rests on; empty elsewhere.
        signed_by: The fingerprint of the key that signed; empty elsewhere.
        confirmable: Whether a person at a terminal can make it count.
        commit: The commit that it rests on, abbreviated; empty elsewhere.
        at: When that commit was authored, RFC 3339; empty elsewhere.
    """

    counts: bool
    channel: str
    verified: str
    why: str = ""
    settle: str = ""
    by: str = ""
    signed_by: str = ""
    confirmable: bool = False
    commit: str = ""
    at: str = ""


def rules(ws: Workspace) -> Rules:
    """Read the rules at the upstream default branch; nothing is fetched.

    Without a remote there is no upstream: then no file counts, and the committed settings of HEAD and
    those in force here both can only make the rules stricter.
    """
    ci = under_ci(ws)
    found = upstream(ws)
    ref, tip = found.ref, found.tip
    if ref and tip:
        try:
            config, problems = configuration.load_at(ws.repo, tip)
        except MissingObject as error:
            return _local(ws, ci, f"The settings on {_name(ref)} are missing here: {error}", "git fetch")
        if problems:
            why = f"The settings on {_name(ref)} have a problem: {problems[0]}"
            return _local(ws, ci, why, "muniment config show")
        return Rules(
            ref=ref,
            tip=tip,
            owners=config.owners,
            actors=config.actors,
            require_verified=config.require_verified_approvals,
            require_signed=config.require_signed_approvals,
            ci=ci,
        )
    why = "There is no remote, so no upstream default branch." if not found.settle else ""
    why = why or "The upstream default branch isn't known in this clone."
    return _local(ws, ci, why, found.settle or "git remote add origin URL && git fetch origin")


def under_ci(ws: Workspace) -> bool:
    """Whether no person is at this machine: `CI` says so, or a build service's own variable does."""
    if any(ws.environ.get(name) for name in CI_SERVICES):
        return True
    return ws.environ.get("CI", "").strip().lower() not in NOT_CI


def channel_here(rules_here: Rules, *, at_terminal: bool) -> str:
    """The channel that a command on this machine speaks through; under CI nothing is a terminal."""
    return TERMINAL if at_terminal and not rules_here.ci else FLAG


def of_channel(rules_here: Rules, channel: str, by: str) -> Standing:
    """What an answer given now through `terminal` or `flag` is worth."""
    if channel == TERMINAL:
        return Standing(counts=True, channel=TERMINAL, verified="terminal", by=by)
    if rules_here.ci:
        why = "Under CI a flag is no approval."
        return Standing(counts=False, channel=FLAG, verified="claimed", why=why, by=by)
    if rules_here.require_verified:
        why = "require_verified_approvals is on: an approval by flag does not count."
        settle = "Decide at a terminal, or commit the decision to the upstream default branch."
        return Standing(counts=False, channel=FLAG, verified="claimed", why=why, settle=settle, by=by)
    return Standing(counts=True, channel=FLAG, verified="none", by=by)


def require(rules_here: Rules, channel: str, by: str, what: str) -> Standing:
    """The standing of an act done now (`undo`, `expunge`), or `Refused` when it has no authority."""
    standing = of_channel(rules_here, channel, by)
    if not standing.counts:
        raise Refused(
            f"{standing.why} {what} was not done.",
            standing.settle or "Run it at a terminal.",
            code="no-authority",
        )
    return standing


class Judge:
    """What the decisions of one triage file rest on; history is read once for all its rows.

    Args:
        ws: The repository.
        rules_here: From `rules`.
        path: The triage file's repository-relative path.
        data: The triage file as it is read now.
    """

    def __init__(self, ws: Workspace, rules_here: Rules, path: str, data: bytes) -> None:
        self._ws = ws
        self._rules = rules_here
        self._now = file_readings(data, path)
        self._past: History | None = None
        if rules_here.tip is not None:
            self._past = History(ws.repo, rules_here.tip, path, lambda old: file_readings(old, path))

    def standing(self, row: Row) -> Standing:
        """What a row's decision rests on: the strongest of what this clone can prove.

        `row.decision.channel` is `terminal` or `flag` only where this clone's private record holds
        exactly this decision (`intake/records.py`); everything else is a line in a file.
        """
        decision = row.decision
        if decision is None:
            return Standing(counts=False, channel=FILE, verified="claimed", why="It is not decided.")
        if decision.channel == TERMINAL:
            return of_channel(self._rules, TERMINAL, decision.by)
        filed = self._filed(row)
        if filed.counts or decision.channel != FLAG:
            return filed
        flagged = of_channel(self._rules, FLAG, decision.by)
        return flagged if flagged.counts else replace(flagged, confirmable=True)

    def _filed(self, row: Row) -> Standing:
        """What a decision line in the triage file is worth."""
        rules_here, wanted = self._rules, self._now.get(row.row)
        if rules_here.ref is None or self._past is None:
            return _claimed(
                f"{rules_here.unknown} A decision in a file can't be verified.", rules_here.settle
            )
        name = _name(rules_here.ref)
        try:
            commit = None if wanted is None else self._past.introduced(row.row, wanted)
        except Unreachable as error:
            return _claimed(f"Who decided can't be told: {error.message}", error.hint)
        if commit is None:
            return _claimed(
                f"This decision is not on {name}.", "Commit it there, or confirm it at a terminal."
            )
        if not rules_here.owners:
            return _claimed(f"{name} names no owners.", f"Add `owners` to {configuration.COMMITTED} there.")
        return _by_commit(self._ws, rules_here, commit)


def file_readings(data: bytes, path: str) -> Mapping[str, str]:
    """Row id → a digest of what a version of a triage file says was decided about what.

    It covers the row's own lines (finding, proposal, basis, digest) and the decision's; the order and
    layout of the file don't matter. Rows without one clear decision are left out. Never raises for what
    stands in the file.
    """
    found: dict[str, str] = {}
    twice: set[str] = set()
    for block in triage_file.parse(data.decode("utf-8", "replace"), path)[0].blocks:
        said, _ = triage_file.said(block, path)
        if block.row in found:
            twice.add(block.row)
        if said is None:
            continue
        try:  # as records, so that a formatter's escapes are no other decision
            facts = triage_lines.read_facts(block.raw_facts())
        except triage_lines.LineError:
            continue
        words = [said.word, said.target, said.reason, said.layer, said.text]
        found[block.row] = approval.digest_of([repr(sorted(facts.items())), words])
    return {row: digest for row, digest in found.items() if row not in twice}


def _by_commit(ws: Workspace, rules_here: Rules, commit: Commit) -> Standing:
    """Whether the commit that a file's decision comes from is an owner's."""
    email = commit.author.email
    authored = any(owner.casefold() == email.casefold() for owner in rules_here.owners if "@" in owner)
    handle = next(
        (name for known, name in rules_here.actors.items() if known.casefold() == email.casefold()), ""
    )
    made = Standing(counts=True, channel=FILE, verified="branch", by=handle)
    made = replace(made, commit=commit.oid.short, at=_at(commit))
    if authored and not rules_here.require_signed:
        return made
    signed = signature(ws, commit.oid)
    if signer_is_owner(signed, rules_here.owners, email if authored else ""):
        return replace(made, verified="signature", signed_by=signed.fingerprint)
    where = f"commit {commit.oid.short} on {_name(rules_here.ref or '')}"
    if not rules_here.require_signed:
        return _claimed(f"The author of {where} is no owner.", "An owner commits the decision.")
    return _claimed(f"{where[0].upper()}{where[1:]} {_unsigned(signed)}.", signed.settle)


def _at(commit: Commit) -> str:
    """When a commit was authored; empty for a time that no calendar has."""
    try:
        return f"{datetime.fromtimestamp(commit.author.when, UTC):%Y-%m-%dT%H:%M:%SZ}"
    except (OverflowError, OSError, ValueError):
        return ""


def _unsigned(signed: Signed) -> str:
    if signed.status == "N":
        return "is not signed, and require_signed_approvals is on"
    if signed.status == "E":
        return "is signed by a key that this machine can't check"
    return "is not validly signed by an owner's key"


def _claimed(why: str, settle: str) -> Standing:
    return Standing(counts=False, channel=FILE, verified="claimed", why=why, settle=settle, confirmable=True)


def _local(ws: Workspace, ci: bool, why: str, settle: str) -> Rules:
    """The rules where no upstream can be read: nobody is an owner, and any stricter rule holds."""
    stricter: list[Config] = [ws.config]
    head = ws.repo.head().commit
    if head is not None:
        with suppress(MissingObject):  # the settings in force were read from disk and still count
            stricter.append(configuration.load_at(ws.repo, head)[0])
    return Rules(
        ref=None,
        tip=None,
        owners=(),
        actors={},
        require_verified=any(config.require_verified_approvals for config in stricter),
        require_signed=any(config.require_signed_approvals for config in stricter),
        ci=ci,
        unknown=why,
        settle=settle,
    )


def _name(ref: str) -> str:
    return ref.removeprefix("refs/remotes/")
