"""What is known of a ledger's bytes from having read them before: that they are whole, and their heads.

A cache under the common git folder, keyed by the SHA-256 of the bytes, so it is right or unused (G6: the
verdict on a set may be cached, keyed by its bytes). Deleting it costs time only.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256

from muniment.errors import MunimentError
from muniment.files import atomic_write, read_bytes
from muniment.journal import sweep_temporary
from muniment.ledger import past
from muniment.ledger.entries import Entry
from muniment.ledger.store import Ledger, committed_blob
from muniment.workspace import Workspace

VERSION = 1
_MAX_BYTES = 16 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Tip:
    """What is remembered about one content of the open segment.

    Attributes:
        digest: SHA-256 of its bytes, in hex.
        heads: The set's heads.
        kinds: The kinds of entry in it.
        committed: The blob id that HEAD had then, nothing of which it lacks; empty when HEAD had none.
        blob: Its git blob id, when known; else empty.
    """

    digest: str
    heads: tuple[str, ...]
    kinds: frozenset[str]
    committed: str
    blob: str = ""


def digest_of(data: bytes) -> str:
    """The key of a content."""
    return sha256(data).hexdigest()


def recall(ws: Workspace, digest: str) -> Tip | None:
    """What is known of the content with this digest; None when it was never read, or something is odd."""
    path = ws.private / "cache" / "ledger-tip.json"
    if not path.exists():
        return None
    try:
        found = json.loads(read_bytes(path, limit=_MAX_BYTES))
        if found["version"] != VERSION or found["digest"] != digest:
            return None
        return Tip(
            digest, tuple(found["heads"]), frozenset(found["kinds"]), found["committed"], found["blob"]
        )
    except (MunimentError, ValueError, KeyError, TypeError):
        return None


def remember(ws: Workspace, tip: Tip) -> None:
    """Keep what is known of the newest content; the previous one is forgotten."""
    document = {
        "version": VERSION,
        "digest": tip.digest,
        "heads": list(tip.heads),
        "kinds": sorted(tip.kinds),
        "committed": tip.committed,
        "blob": tip.blob,
    }
    path = ws.private / "cache" / "ledger-tip.json"
    sweep_temporary(path)
    atomic_write(path, json.dumps(document, ensure_ascii=True).encode("ascii"), mode=0o600)


def of_ledger(ws: Workspace, ledger: Ledger) -> Tip | None:
    """What a full reading tells; None unless it is one whole, plainly laid out, unsealed segment.

    Call it after `append`, which has refused a file that lacks an entry of HEAD's.
    """
    opened = ledger.whole.segments[0].segment
    verdict = ledger.verdict
    if ledger.data is None or verdict.newer or verdict.broken or verdict.incomplete:
        return None
    if opened.sealed or not opened.laid_out:
        return None
    committed = committed_blob(ws, ledger.path) or ""
    return Tip(digest_of(ledger.data), ledger.heads, _kinds(ledger.whole.entries.values()), committed)


def fits(ws: Workspace, tip: Tip) -> bool:
    """Whether HEAD still holds nothing that this content lacks, as far as blob ids tell, nor its history."""
    committed = committed_blob(ws, ws.config.ledger_path) or ""
    return committed in {"", tip.committed, tip.blob} and not past.search(ws).lost


def after(tip: Tip, entries: Iterable[Entry], data: bytes, blob: str) -> Tip:
    """What is known once entries, each after all heads, were added."""
    added = tuple(entries)
    return Tip(digest_of(data), (added[-1].id,), tip.kinds | _kinds(added), tip.committed, blob)


def _kinds(entries: Iterable[Entry]) -> frozenset[str]:
    return frozenset(entry.kind for entry in entries)
