"""A small product's documents, for tests of `relate` and of documents."""

from __future__ import annotations

from tests.support.repo import Repo

FILES = {
    "docs/bugs/stale-search.md": (
        "# Search shows stale recipes after an edit\n\n"
        "When a recipe is edited, the search index keeps the old title until the nightly rebuild.\n\n"
        "## Steps\n\n1. Edit the title of a recipe.\n2. Search for the new title: nothing is found.\n"
    ),
    "docs/ideas/voice.md": (
        "# Voice notes as input\n\nMembers would like to send a voice message.\n\n"
        "## Out of scope\n\n- Speaker identification in group calls.\n- Live streaming of audio.\n"
    ),
    "docs/archive/timezone-reminders.md": (
        "# Reminders fire an hour late after daylight saving\n\n"
        "Fixed: the scheduler now stores the zone name and recomputes the instant.\n\n"
        "## Residual\n\n- Reminders created before the fix keep their offset until edited.\n"
    ),
    "docs/pending-verification.md": (
        "# Pending verification\n\n- [ ] Merging two lists keeps the amounts (fixed in 1.4.0)\n"
        "- [x] Export as PDF prints umlauts\n"
    ),
    "docs/goals/lists/goal.md": "# Shared lists\n\nTwo members keep one shopping list.\n",
    "docs/goals/lists/decisions.md": (
        "# Decisions\n\n## D-001 — Amounts are not converted between units\n\n"
        "- Category: product\n- Decided: grams and cups stay as written; no unit conversion.\n"
        "- Reasoning: conversion by ingredient is unreliable.\n- Used by: M1.1\n"
    ),
    "docs/goals/lists/roadmap.md": (
        "# Roadmap\n\n## M1 — Shared lists\n\n"
        "### M1.1 `merge-lists` — Merge shopping lists of two members\n\n"
        "- Status: done\n\n### M1.2 `share-link` — Share a list by link\n\n"
        "- Status: backlog\n- Depends on: M1.1\n"
    ),
    "CLAUDE.md": (
        "# For agents\n\n- Never message members before 8 in the morning; the owner decided this.\n"
        "- Answer in the language of the question.\n"
    ),
    "docs/reviews/2026-05-01-helper-daily.json": (
        '{"schema": "muniment.report/1", "bot": "helper", "findings": [\n'
        ' {"id": "f1", "kind": "bug", "target_layer": "prompt", "what_went_wrong": '
        '"The bot greets every member by a wrong nickname.", "proposed_improvement": "Use the profile.",\n'
        '  "excerpt": "hello chief", "fingerprint": "bug/prompt/wrong-nickname"}\n]}\n'
    ),
}


def plant(repo: Repo) -> Repo:
    """Commit the documents, and then a fix of the code."""
    for name, text in FILES.items():
        repo.write(name, text)
    repo.commit("Plant the documents")
    repo.write("src/gateway.py", "SEEN = set()\n")
    repo.commit(
        "Answer retried webhooks only once\n\nThe bot replied twice when the gateway retried a webhook.\n\n"
        "Signed-off-by: Robin Owner <robin@example.org>"
    )
    return repo
