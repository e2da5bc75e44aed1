"""Rules of the gate: what is added holds no identifier or secret; what HEAD holds already is a note (G12)."""

from __future__ import annotations

import hashlib
import json
import shlex
from collections.abc import Iterator
from typing import TYPE_CHECKING

from muniment import __version__
from muniment.check.context import Context
from muniment.check.findings import Finding, Note
from muniment.check.paths import Kind
from muniment.config import ALLOW_LIST, COMMITTED
from muniment.errors import MunimentError, Problem
from muniment.files import atomic_write
from muniment.redact.spans import MEANINGS

if TYPE_CHECKING:
    from muniment.redact.gate import Gate, GateProblem

JUDGED = (
    Kind.LEDGER,
    Kind.SEALED,
    Kind.REPORT,
    Kind.REPORT_TEXT,
    Kind.TRIAGE,
    Kind.PLAN,
    Kind.STATE,
    Kind.DOCUMENT,
    Kind.GATED,
)
"""Everything but settings and allow-list, which hold owners' addresses and reviewed values by design."""

MAX_FRESH = 128 * 1024
"""Committed bytes looked at for the first time in one run; what is left is counted in a note."""


def added(context: Context) -> Iterator[Finding]:
    """Nothing that changed in an owned file, or in a file of `gate_paths`, adds an identifier or a secret."""
    changed = list(_changed(context))
    if not changed:
        return
    gate = _gate(context)
    for path, data, old in changed:
        problems = (
            gate.inspect_new(path, data, _gone(context)) if old is None else gate.inspect(path, data, old)
        )
        for found in problems:
            # That an owned file is not UTF-8 is said by the rule for its kind.
            if found.kind != "undecodable" or context.kinds[path] is Kind.GATED:
                yield _problem(found)


def committed(context: Context) -> Iterator[Finding]:
    """Identifiers in bytes that HEAD holds already are a note: refusing them would help nobody."""
    base = context.base
    if context.scope.mode not in {"all", "paths"} or base is None:
        return
    kinds = {path: kind for path, kind in context.base_kinds.items() if kind in JUDGED}
    wanted = {path: base.entries[path] for path in kinds if context.scope.wants(path)}
    if not wanted:
        return
    known = _Known(context)
    budget, put_off = MAX_FRESH, 0
    # Records first: they hold what bots and people sent.
    for path, entry in sorted(wanted.items(), key=lambda pair: kinds[pair[0]] is Kind.DOCUMENT):
        found = known.get(entry.oid)
        if found is None and budget <= 0:
            put_off += 1
            continue
        if found is None:
            data = context.blob(path, entry.oid) if context.scope.mode == "all" else None
            data = base.read(path) if data is None else data
            if path in base.unreadable:
                continue
            budget -= len(data or b"")
            found = known.judge(path, entry.oid, data)
        for line, what in found:
            yield Note(path, line, f"gate-{what}", f"HEAD holds {meaning(what)} here already.")
    known.save(keep={base.entries[path].oid for path in kinds})
    if put_off:
        message = (
            f"{put_off} committed files were not looked at for identifiers yet, to keep this run short; each "
            "further run looks at more, and `muniment gate PATH…` at all."
        )
        yield Note(".", 0, "gate-later", message)


class _Known:
    """What the gate said about blobs, kept by blob id while names and allowed values stay the same."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._made: Gate | None = None
        self._path = context.ws.private / "cache" / "check-gate.json"
        self._key = _rules_digest(context)
        self._fresh = False
        try:
            stored = json.loads(self._path.read_bytes())
        except (OSError, ValueError):
            stored = None
        valid = isinstance(stored, list) and len(stored) == 2 and stored[0] == self._key  # noqa: PLR2004 - a pair
        self._found: dict[str, list[tuple[int, str]]] = (
            stored[1] if valid and isinstance(stored, list) else {}
        )

    @property
    def gate(self) -> Gate:
        """The gate, built when a blob is first seen."""
        if self._made is None:
            self._made = _gate(self._context)
        return self._made

    def get(self, oid: str) -> list[tuple[int, str]] | None:
        """What was found in a blob, or None when it wasn't looked at yet."""
        found = self._found.get(oid)
        return None if found is None else [(line, kind) for line, kind in found]

    def judge(self, path: str, oid: str, data: bytes | None) -> list[tuple[int, str]]:
        """Look at a blob, and remember what was found in it."""
        seen = self.gate.inspect(path, data, b"") if data is not None else ()
        found = sorted({(one.line, one.kind) for one in seen if one.kind in MEANINGS})
        self._found[oid] = found
        self._fresh = True
        return found

    def save(self, keep: set[str]) -> None:
        """Write what was learnt, for blobs that are still there."""
        if not self._fresh:
            return
        kept = {oid: found for oid, found in self._found.items() if oid in keep}
        try:
            atomic_write(self._path, json.dumps([self._key, kept], separators=(",", ":")).encode())
        except MunimentError:
            return  # a read-only git folder only costs the cache


def _gate(context: Context) -> Gate:
    from muniment.redact.gate import gate_for  # noqa: PLC0415 - 100 ms that a clean tree doesn't need

    return gate_for(context.ws)


def _changed(context: Context) -> Iterator[tuple[str, bytes, bytes | None]]:
    """The judged files that differ from the base: path, bytes, and the base's bytes."""
    base = context.base
    for path in context.paths(*JUDGED):
        entry = base.entries.get(path) if base else None
        oid = context.oid(path)
        if oid is None or (entry and oid == entry.oid):
            continue
        data = context.snapshot.read(path)
        if data is None:
            continue
        old = base.read(path) if base else None
        if base is None or path not in base.unreadable:
            yield path, data, old


def _gone(context: Context) -> Iterator[bytes]:
    """The base's judged files that are there no more: a moved or renamed file adds nothing."""
    base = context.base
    for path, kind in context.base_kinds.items() if base else ():
        if base and kind in JUDGED and not context.snapshot.exists(path):
            yield base.read(path) or b""


def _problem(found: GateProblem) -> Problem:
    message = f"This adds {meaning(found.kind)} (column {found.column}); the value is not shown."
    if found.kind in {"undecodable", "timeout", "error"}:
        message = f"The gate could not judge this ({found.kind}), so it is refused."
    return Problem(
        found.path, found.line, f"gate-{found.kind}", message, f"muniment redact {shlex.quote(found.path)}"
    )


def meaning(kind: str) -> str:
    """What a kind of identifier or secret is called in a sentence."""
    return MEANINGS.get(kind, kind)


def _rules_digest(context: Context) -> str:
    """What decides what the gate says, without building it: version, allowed values, names, identity."""
    ws = context.ws
    authority = context.authority
    base = context.base
    if base is not None and authority == context.scope.base:
        blobs = [base.entries.get(path) for path in (ALLOW_LIST, COMMITTED)]
    else:
        blobs = [ws.repo.entry(authority, path) for path in (ALLOW_LIST, COMMITTED)] if authority else []
    names = [ws.root / bot.known_names for bot in ws.config.bots if bot.known_names]
    parts = [
        __version__,
        *(entry.oid if entry else "-" for entry in blobs),
        *(hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "-" for path in names),
        ws.repo.config("user.name") or "",
    ]
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogateescape")).hexdigest()[:32]
