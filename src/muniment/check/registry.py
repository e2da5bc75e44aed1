"""Every rule by name. A new rule is one function, one line here, one section in `docs/check.md`, one test."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from muniment.check import clone, commits, files, gating, goals, links, merges, plan, records
from muniment.check.context import Context
from muniment.check.findings import Finding

Rule = Callable[[Context], Iterator[Finding]]

RULES: Mapping[str, Rule] = {
    "config": files.settings,
    "open-journal": clone.journal,
    "local-settings": files.local_settings,
    "symbolic-link": files.plain_files,
    "conflict-markers": files.conflict_markers,
    "text": files.texts,
    "line-endings": files.line_endings,
    "ledger": records.ledger,
    "layout": records.ledger_layout,
    "removed": records.ledger_history,
    "report": records.reports,
    "triage": records.triage,
    "state": plan.state,
    "closed-without-evidence": plan.closed_items,
    "plan": plan.plan,
    "lost-in-merge": merges.merges,
    "doc-link": links.links,
    "decision-target": links.decision_targets,
    "roadmap": goals.roadmaps,
    "gate": gating.added,
    "gate-commits": commits.commits,
    "gate-committed": gating.committed,
    "upstream": clone.upstream,
    "merge-driver": clone.merge_driver,
    "unreadable": files.unreadable,
}
"""Rule → its function, in the order they run. A rule's name is what an unknown of it is called; a problem
may carry a finer name (docs/check.md lists them all)."""
