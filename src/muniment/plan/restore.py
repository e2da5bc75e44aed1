"""Put back front matter that a formatter without support for it has flattened.

mdformat without its front-matter plug-in reads the two `---` lines as a thematic break and a heading, and
joins what stands between into one line. When that line still holds every key of ours in its order, the
front matter can be rebuilt exactly; when it doesn't, the plan counts as not ours and is rotated.
"""

from __future__ import annotations

import re

from muniment import markdown

KEYS = (
    "title",
    "date",
    "topic",
    "artifact_contract",
    "artifact_readiness",
    "product_contract_source",
    "state",
)
_FLATTENED = re.compile(r"\ufeff?(?:_{3,}|---|\*\*\*)(?:\r\n|\r|\n)(?:[ \t]*(?:\r\n|\r|\n))*(?=## title: )")
_KEY = re.compile(r"(?:\A| )([A-Za-z_][A-Za-z0-9_-]*): (?=\S)")


def front_matter(text: str) -> str:
    """The text with flattened front matter put back, or the text itself."""
    opening = _FLATTENED.match(text)
    if not opening:
        return text
    lines = markdown.lines_of(text[opening.end() :])
    heading = lines[0].rstrip("\r\n")
    newline = lines[0][len(heading) :] or "\n"
    words = re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", heading.removeprefix("## "))
    marks = list(_KEY.finditer(words))
    values = {
        mark[1]: words[mark.end() : following.start() if following else len(words)]
        for mark, following in zip(marks, [*marks[1:], None], strict=True)
    }
    if len(values) != len(marks) or [key for key in values if key in KEYS] != list(KEYS):
        return text
    rows = [f"{key}: {value}" for key, value in values.items()]
    mark = "\ufeff" if text.startswith("\ufeff") else ""
    return mark + newline.join(["---", *rows, "---"]) + newline + "".join(lines[1:])
