"""An optional third look for secrets at the gate: Betterleaks' maintained rules, when installed (G12).

Our own table (`secrets.py`) needs nothing and is always used. With the extra `secrets`, the gate of a
repository also asks Betterleaks, which knows some two hundred formats; it is slow (about 0.15 MB/s), and sees
only what is added. Its generic rules, which guess by entropy, are left out: they refuse ordinary text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib.util import find_spec

from muniment.redact.spans import Span

_GUESSING = frozenset(
    {
        "generic-api-key",
        "sourcegraph-access-token",
        "curl-auth-user",
        "hashicorp-tf-password",
        "kubernetes-secret-yaml",
    }
)
_SECONDS = 60.0


def betterleaks() -> Callable[[str], Iterator[Span]] | None:
    """A detector over Betterleaks' rules, or None when the extra isn't installed."""
    return _find if find_spec("pybetterleaks") is not None else None


def _find(text: str) -> Iterator[Span]:
    """Every secret it reports; raises when it fails or takes too long, which makes the gate refuse."""
    import pybetterleaks  # noqa: PLC0415 - loads a native library; only where it is asked

    result = pybetterleaks.scan_text(text, redact=False, timeout_seconds=_SECONDS, raise_on_error=True)
    for finding in result.findings:
        if finding.rule_id in _GUESSING:
            continue
        value = finding.secret or finding.match or ""
        start = text.find(value) if value else -1
        if start < 0:  # it reports no character offsets; refuse the whole text rather than none of it
            yield Span(0, max(1, len(text)), "secret", f"secret:{finding.rule_id}", finding.rule_id)
        while start >= 0:
            yield Span(start, start + len(value), "secret", f"secret:{value}", finding.rule_id)
            start = text.find(value, start + len(value))
