"""`docs/configuration.md` is generated from the table of settings; `docs/check.md` names every rule.

Write the page anew with `MUNIMENT_WRITE_DOCS=1 python -m pytest tests/test_docs_configuration.py`.
"""

from __future__ import annotations

import ast
import json
import os
import re
from collections.abc import Iterator
from pathlib import Path

from muniment.check.registry import RULES
from muniment.config_schema import KEYS, PERSONAL, Key

ROOT = Path(__file__).parent.parent
WRITE = bool(os.environ.get("MUNIMENT_WRITE_DOCS"))  # read before the fixtures clear it
PAGE = ROOT / "docs" / "configuration.md"
CHECK = ROOT / "docs" / "check.md"
SOURCE = ROOT / "src" / "muniment"
JUDGES = (
    "check/*.py",
    "ledger/*.py",
    "documents/roadmap.py",
    "documents/decisions.py",
    "documents/goals.py",
    "intake/batches.py",
    "intake/triage_file.py",
    "intake/triage_rows.py",
    "regions.py",
    "state/model.py",
)
"""Where problems that `check` prints are made."""
ELSEWHERE = {"plan-front-matter", "plan-markers", "plan-unreadable", "state-broken", "conflict-marker"}
HEAD = """\
# Settings

Settings are YAML. Four layers, later ones winning; a top-level key that a later layer has replaces the whole
earlier value:

| source | file | for |
|---|---|---|
| `default` | | |
| `committed` | `.muniment/config.yaml` | everyone who works in the repository |
| `personal` | `$XDG_CONFIG_HOME/muniment/config.yaml` (else `~/.config/…`) | this person: programs to run, only the keys marked below |
| `local` | `.muniment/config.local.yaml`, ignored by git | this machine |

`muniment config show` prints every key with the value in force, its source and its meaning; `muniment config show
KEY…` only some. A key with a problem (unknown, wrong type, a path that leads outside) keeps the value of the layer
below, is said with file and line, and makes the command exit with 2; commands that write refuse until it is mended.

What gives **authority** is read as it stands on the upstream default branch, never from the branch under judgement,
and is refused in personal and local files.

`docs_root` must resolve, symbolic links followed, to a folder inside the repository that is neither its root nor
under `.git`. Paths are relative to the repository's root, with `/`. A default below `docs_root` moves with it.

Changes to the settings file are yours: `muniment init` writes it once, from a template with every line commented
out, and never again.

| key | type | default | meaning |
|---|---|---|---|
"""  # noqa: E501 - a table row is one line
TAIL = """
`bots` entries have `name`, `from` (a folder, or `host:folder` over ssh) and optionally `known_names` (a
file with one name a line, or `name<TAB>role`).

`feedback_sources`, `digest`, `judge`, `members`, `review` and `transcriber` are kept and checked for their
outer shape only; this version runs none of them.
"""


def row(name: str, key: Key) -> str:
    default = f"docs_root/{key.default}" if key.under_docs else json.dumps(key.default)
    marks = [word for word, on in (("authority", key.authority), ("personal", name in PERSONAL)) if on]
    meaning = key.meaning.replace("|", "\\|") + (f" *({', '.join(marks)})*" if marks else "")
    return f"| `{name}` | {key.kind} | `{default}` | {meaning} |\n"


def test_configuration_page_is_the_table_of_keys() -> None:
    text = HEAD + "".join(row(name, key) for name, key in sorted(KEYS.items())) + TAIL
    if WRITE:
        PAGE.write_text(text, encoding="utf-8")
    assert text == PAGE.read_text(encoding="utf-8"), "The settings changed; write docs/configuration.md anew."


def named_rules() -> Iterator[tuple[str, str]]:
    """Every rule name that a judge's source gives to a problem, fault, note or unknown, and where."""
    position = {"Problem": 2, "Note": 2, "Fault": 0, "Unknown": 0, "note": 0}
    files = [file for judge in JUDGES for file in sorted(SOURCE.glob(judge))]
    for file in files:
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call):
                continue
            name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
            at = position.get(name)
            if at is None or len(node.args) <= at:
                continue
            argument = node.args[at]
            if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
                yield argument.value, f"{file.relative_to(ROOT)}:{node.lineno}"


def test_every_rule_is_explained() -> None:
    documented = set(re.findall(r"`([a-z]+(?:-[a-z]+)*)`", CHECK.read_text(encoding="utf-8")))
    absent = {rule: where for rule, where in named_rules() if rule not in documented | ELSEWHERE}
    absent |= {rule: "the registry" for rule in RULES if rule not in documented}
    assert not absent, f"docs/check.md explains no {absent}"
