"""What applied rows write into documents: evidence, new documents, pending lines. Pure text (C10, C14).

Whatever a judge or a person said is untrusted and stands in untrusted blocks or code spans; titles come
from the fingerprint's slug, which can hold nothing but letters, digits and hyphens.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import quote

from muniment import markdown
from muniment.findings import Finding, title_of
from muniment.ids import Fingerprint
from muniment.intake.rows import Row
from muniment.quoting import code_text, untrusted_block

EVIDENCE = "Evidence from review"
"""The heading that `attach` writes under."""

_PLACE = re.compile(r"@([A-Z_]+)@")
_PLAIN_TITLE = re.compile(r"[A-Z][a-z]+(?: [a-z0-9]+)+\Z")
_ITEM = re.compile(r"[ \t]*[-*+][ \t]")
_TICKED = re.compile(r"[ \t]*[-*+][ \t]+\[[xX]\]")


@dataclass(frozen=True, slots=True)
class Evidence:
    """One finding with the report that it comes from, as the copy in the repository says.

    Attributes:
        report: The report's data file (`….json`), repository-relative.
        page: The rendered report beside it, which links point to.
    """

    report: str
    page: str
    finding: Finding
    bot: str
    version: str
    commit: str
    date: str


def evidence_blocks(evidence: Sequence[Evidence], place: str, *, told: bool = False) -> str:
    """The blocks for `Evidence from review`, to stand in the document at `place`.

    `told`: the document says already what the first finding claims, so only what was said is added.
    """
    parts = [_evidence(item, place, claim=not told or index > 0) for index, item in enumerate(evidence)]
    return "\n\n".join(parts)


def _evidence(item: Evidence, place: str, *, claim: bool) -> str:
    finding = item.finding
    head = (
        f"{running(item)}, {item.date}: {finding.severity} {finding.kind}, "
        f"finding {code_text(finding.id)} of [the report]({link(place, item.page)})."
    )
    blocks = [head]
    if claim:
        blocks.append(untrusted_block(finding.what_went_wrong))
    if finding.excerpt:
        blocks += [f"What was said in {code_text(finding.space)}:", untrusted_block(finding.excerpt)]
    return "\n\n".join(blocks)


def document(
    template: str,
    row: Row,
    evidence: Sequence[Evidence],
    place: str,
    context: str = "",
) -> str:
    """A new document from a template; every placeholder is replaced once, and text of others never again.

    Args:
        template: Markdown with `@NAME@` placeholders.
        row: The row that it comes from.
        evidence: Its findings; the first one gives the words.
        place: Where the document will lie.
        context: A paragraph of ours above the problem, or empty.
    """
    finding = evidence[0].finding
    edits = row.edits or {}
    title = title_of(row.fingerprint)
    words: Mapping[str, str] = {
        "TITLE": title,
        "YAML_TITLE": title if _PLAIN_TITLE.match(title) else f'"{title}"',
        "KIND": (row.verify.kind if row.verify else "") or finding.kind,
        "LAYER": layer(row, finding),
        "SEVERITY": finding.severity,
        "FINGERPRINT": str(row.fingerprint),
        "CONTEXT": context,
        "PROBLEM": untrusted_block(edits.get("text") or finding.what_went_wrong),
        "PROPOSAL": untrusted_block(finding.proposed_improvement),
        "EVIDENCE": evidence_blocks(evidence, place, told=True),
    }
    filled = _PLACE.sub(lambda match: words.get(match[1], match[0]), _without_empty(template, words))
    return filled.rstrip("\n") + "\n"


def _without_empty(template: str, words: Mapping[str, str]) -> str:
    """The template without lines that are nothing but an empty placeholder, nor the blank line after."""
    for name, value in words.items():
        if not value:
            template = re.sub(rf"^@{name}@\n\n?", "", template, flags=re.MULTILINE)
    return template


def layer(row: Row, finding: Finding) -> str:
    """The target layer: as a person edited it, as it was verified, or as the judge hinted."""
    edited = (row.edits or {}).get("layer", "")
    return edited or (row.verify.target_layer if row.verify else "") or finding.target_layer


def pending_line(row: Row, evidence: Sequence[Evidence], place: str, proof: str) -> str:
    """A line for the pending-verification page.

    Args:
        row: The row that waits for proof.
        evidence: Its findings.
        place: The page's own path.
        proof: What has to be seen, as Markdown of ours.
    """
    item = evidence[0]
    return (
        f"- [ ] {title_of(row.fingerprint)} ({code_text(row.fingerprint)}): {proof}; "
        f"reported {item.date} for {running(item)} ([report]({link(place, item.page)}))"
    )


def confirmation(evidence: Sequence[Evidence], place: str) -> str:
    """What is added to a pending line when the same problem is seen again."""
    item = evidence[-1]
    return f"; seen again {item.date} in {running(item)} ([report]({link(place, item.page)}))"


def running(item: Evidence) -> str:
    """A bot and its running version, as code spans."""
    version = item.version or item.commit[:10]
    return f"{code_text(item.bot)} {code_text(version)}" if version else code_text(item.bot)


def find_pending(text: str, names: Sequence[str], line: int = 0) -> int | None:
    """The 0-based line of an unticked list item that names one of the fingerprints, or of item `line`.

    Args:
        text: The pending-verification page.
        names: Fingerprints.
        line: A 1-based line that the row points to; 0 for none.
    """
    lines = markdown.lines_of(text)
    code = markdown.code_lines(text)
    spans = tuple(code_text(name) for name in names)
    for index, found in enumerate(lines):
        waits = _ITEM.match(found) and not _TICKED.match(found) and index + 1 not in code
        if waits and (index + 1 == line or any(span in found for span in spans)):
            return index
    return None


def extend_line(text: str, index: int, addition: str) -> str:
    """The text with `addition` at the end of one line, before its line ending."""
    lines = markdown.lines_of(text)
    content = lines[index].rstrip("\r\n")
    lines[index] = content.rstrip() + addition + lines[index][len(content) :]
    return "".join(lines)


def append_item(text: str, item: str) -> str:
    """The text with a list item after its last line, joined to a list that ends there.

    Everything else keeps its bytes; a missing final newline stays missing.
    """
    newline = markdown.newline_of(text)
    lines = markdown.lines_of(text)
    filled = [index for index, line in enumerate(lines) if line.strip("\ufeff \t\r\n")]
    if not filled:
        return f"{text}{item}{newline}"
    last = lines[filled[-1]]
    head, tail = "".join(lines[: filled[-1] + 1]), "".join(lines[filled[-1] + 1 :])
    listed = bool(_ITEM.match(last)) or last[:1] in {" ", "\t"}
    gap = "" if listed else newline
    if not last.endswith(("\n", "\r")):
        return f"{head}{newline}{gap}{item}"
    return f"{head}{gap}{item}{newline}{tail}"


def link(place: str, target: str) -> str:
    """A relative link from the document at `place` to the file at `target`, both repository-relative."""
    relative = posixpath.relpath(target, posixpath.dirname(place) or ".")
    return quote(relative.encode("utf-8", "surrogateescape"), safe="/-._~")


def named(place: str, target: str, line: int = 0) -> str:
    """A link that shows the target's path and line."""
    shown = f"{target}:{line}" if line else target
    readable = shown.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    return f"[{code_text(readable)}]({link(place, target)})"


def slug(fingerprint: Fingerprint, taken: int) -> str:
    """The file name for a new document: the slug, then with `-2`, `-3`, … as long as names are taken."""
    return fingerprint.slug if taken < 1 else f"{fingerprint.slug}-{taken + 1}"
