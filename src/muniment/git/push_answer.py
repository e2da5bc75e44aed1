"""What a `git push --porcelain` answered, as one of few outcomes; pure.

Trust, in this order: git's own exit code; the machine line that git prints for our ref on stdout, whose flag
and bracketed word are its own and whose reason is the server's report for that ref; git's own stderr, only
where there is no such line. What a server or its hooks print arrives on stderr after `remote: `: it can turn
nothing into landed, and nothing that may have landed into a refusal.

Wording: git's `transport.c`, `send-pack.c`, `builtin/receive-pack.c`. The machine line is never translated.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum

from muniment.git.push_phrases import (
    CUT_OFF,
    DENIED,
    FATAL,
    LOCK_FILE,
    NAME_TAKEN,
    NO_ACCESS,
    OWN_ERROR,
    POLICY,
    RACE,
    TROUBLE,
    UNREACHED,
)


class Outcome(Enum):
    """What became of a push."""

    LANDED = "landed"
    LOST_RACE = "lost-race"
    POLICY = "policy"
    PERMISSION = "permission"
    SERVER_LOCK = "server-lock"
    OFFLINE = "offline"
    UNKNOWN = "unknown"

    @property
    def definite(self) -> bool:
        """Whether the outcome is known; every definite one but `LANDED` means that nothing landed."""
        return self is not Outcome.UNKNOWN


@dataclass(frozen=True, slots=True)
class Report:
    """The machine line for one ref: its flag, git's word in brackets, and the reason in parentheses."""

    flag: str
    word: str
    reason: str


_LINE = re.compile(r"(?P<flag>[ +*=!-])\t(?P<source>[^\t:]*):(?P<ref>[^\t]*)\t(?P<rest>.*)")
_REST = re.compile(r"(?P<word>\[[^\]]*\]|[0-9a-f]+\.{2,3}[0-9a-f]+)(?: \((?P<reason>.*)\))?\s*\Z")
_LANDED = frozenset(" *+=")

_CLIENT_RACE = frozenset(
    {
        "stale info",
        "fetch first",
        "non-fast-forward",
        "needs force",
        "already exists",
        "remote ref updated since checkout",
    }
)
_REQUEST_REFUSED = re.compile(r"RPC[^\n]{0,40}HTTP (?:code = )?(?P<status>40[134]|413)\b", re.IGNORECASE)
_STATUS = re.compile(r"(?:returned error: |HTTP (?:code = )?)(?P<status>\d{3})\b", re.IGNORECASE)
_NO_ENTRY = frozenset({"401", "403", "404"})
_TOO_LARGE = "413"
_KILLED = 128
"""A shell's exit codes above this one stand for signals."""


def classify(porcelain_out: str, err: str, code: int, ref: str) -> Outcome:
    """What became of a push of one ref.

    Args:
        porcelain_out: stdout of `git push --porcelain`; a pre-push hook may have printed there first.
        err: stderr, any language.
        code: git's exit code, negative when a signal ended it.
        ref: the full name of the ref on the remote, `refs/heads/…`.
    """
    if code < 0 or code > _KILLED:
        return Outcome.UNKNOWN
    report = find_report(porcelain_out, ref)
    if report is not None and report.flag in _LANDED:
        return Outcome.LANDED if code == 0 else Outcome.UNKNOWN
    if report is not None:
        broken = CUT_OFF.search("\n".join(line for line in _own(err) if "remote unpack failed" not in line))
        return _refused(report, err) if code == 1 and not broken else Outcome.UNKNOWN
    return _unreported(porcelain_out, err, code)


def find_report(porcelain_out: str, ref: str) -> Report | None:
    """The line for `ref` after the last `To …`; None when git printed none, or was cut off within it."""
    lines = porcelain_out.replace("\r\n", "\n").split("\n")[:-1]
    starts = [number for number, line in enumerate(lines) if line.startswith("To ")]
    if not starts:
        return None
    for line in lines[starts[-1] + 1 :]:
        match = _LINE.fullmatch(line)
        if match is not None and match["ref"] == ref:
            rest = _REST.match(match["rest"])
            word, reason = (rest["word"], rest["reason"] or "") if rest else ("", match["rest"])
            return Report(match["flag"], word, reason)
    return None


def explain(porcelain_out: str, err: str, ref: str) -> str:
    """What to show a person: the reason for `ref`, and what was said about it (untrusted, unbounded)."""
    report = find_report(porcelain_out, ref)
    said = [line.removeprefix("remote:").strip() for line in _lines(err)]
    kept = [line for line in said if line and not line.startswith("hint:") and not _progress(line)]
    first = [f"{report.word} {report.reason}".strip()] if report and report.flag == "!" else []
    return "\n".join([*first, *dict.fromkeys(kept)])


def _lines(err: str) -> list[str]:
    return [part for line in err.split("\n") for part in line.split("\r")]


def _own(err: str) -> list[str]:
    """What git and its transport printed themselves, without what came by the server's channel."""
    return [line for line in _lines(err) if not line.startswith("remote:")]


def _progress(line: str) -> bool:
    return (
        re.match(r"(?:Enumerating|Counting|Compressing|Writing|Resolving|Delta|Total)\b.*\d", line)
        is not None
    )


def _refused(report: Report, err: str) -> Outcome:
    """The class of a `!` line; only `[remote rejected]` carries words of the server's."""
    if report.word == "[rejected]":
        return Outcome.LOST_RACE if report.reason in _CLIENT_RACE else _by_words(report.reason)
    return _refused_there(report.reason, err) if report.word == "[remote rejected]" else Outcome.UNKNOWN


def _refused_there(reason: str, err: str) -> Outcome:
    if "unpacker error" in reason:
        return _unpacker(err)
    if NAME_TAKEN.search(reason) or re.search(r"hook declined|non-fast.forward", reason, re.IGNORECASE):
        return Outcome.POLICY
    if LOCK_FILE.search(reason):
        return Outcome.SERVER_LOCK
    return _why_not_updated(reason, err) if RACE.search(reason) else _by_words(reason)


def _by_words(reason: str) -> Outcome:
    """A reason outside git's own list: refused for sure, unless it reads like a failure half-way."""
    if DENIED.search(reason):
        return Outcome.PERMISSION
    if POLICY.search(reason):
        return Outcome.POLICY
    return Outcome.UNKNOWN if TROUBLE.search(reason) or not reason else Outcome.POLICY


def _why_not_updated(reason: str, err: str) -> Outcome:
    """Git reports a lost race, a lock left behind and a hook of the ref store alike; its stderr says which.

    Nothing landed in any case, so a server that lies here gains nothing.
    """
    if re.search(r"but expected|already exists|old value|stale|fetch first", reason, re.IGNORECASE):
        return Outcome.LOST_RACE
    said = "\n".join(line for line in _lines(err) if "cannot lock ref" in line or "updates aborted" in line)
    if NAME_TAKEN.search(said) or "aborted by hook" in said:
        return Outcome.POLICY
    if re.search(r"but expected|already exists", said):
        return Outcome.LOST_RACE
    if re.search(r"unable to create .*(?:permission denied|read-only)", said, re.IGNORECASE):
        return Outcome.PERMISSION
    return Outcome.SERVER_LOCK if LOCK_FILE.search(said) else Outcome.LOST_RACE


def _unpacker(err: str) -> Outcome:
    """The server could not take the objects; no hook had run by then, so what it said is git's own."""
    if re.search(r"exceeds|too large|quota|size limit", err, re.IGNORECASE):
        return Outcome.POLICY
    if re.search(r"unable to create temporary|permission denied|insufficient permission", err, re.IGNORECASE):
        return Outcome.PERMISSION
    return Outcome.UNKNOWN


def _unreported(porcelain_out: str, err: str, code: int) -> Outcome:
    """No line for our ref: nothing landed only where git shows that it never began to send."""
    if code == 0 or any(line.startswith("To ") for line in porcelain_out.split("\n")):
        return Outcome.UNKNOWN
    own = "\n".join(_own(err))
    refused = _REQUEST_REFUSED.search(own)
    if refused is not None and len(set(_STATUS.findall(own))) == 1:
        return Outcome.POLICY if refused["status"] == _TOO_LARGE else Outcome.PERMISSION
    if CUT_OFF.search(own.replace("hung up upon initial contact", "")):
        return Outcome.UNKNOWN
    if code == 1:
        declined = OWN_ERROR.search(own) and not FATAL.search(own)
        return Outcome.POLICY if declined else Outcome.UNKNOWN
    ended = NO_ACCESS.search(own) or UNREACHED.search(own)
    return connection_trouble(err) if ended else Outcome.UNKNOWN


def connection_trouble(err: str) -> Outcome:
    """Why a read of the remote failed: `PERMISSION`, or `OFFLINE` for everything else."""
    statuses = frozenset(_STATUS.findall("\n".join(_own(err))))
    denied = NO_ACCESS.search(err) or (statuses and statuses <= _NO_ENTRY)
    return Outcome.PERMISSION if denied else Outcome.OFFLINE
