"""Goals as a whole: each roadmap against itself and the others, and decisions against stories (C13). Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from muniment.documents import roadmap
from muniment.documents.reading import Document
from muniment.documents.stages import Layout
from muniment.errors import Problem


def check(documents: Iterable[Document], layout: Layout) -> tuple[Problem, ...]:
    """Every problem of the goals: those of reading, unknown ids, cycles, early `done`, unknown `used by`.

    Ids belong to one goal (or to the roadmap across goals); another goal's story is `<goal>/M1.2`.
    """
    read = tuple(documents)
    problems = [problem for document in read for problem in document.problems]
    plans = {layout.goal_of(document.path): document.roadmap for document in read if document.roadmap}
    elsewhere = frozenset(
        f"{goal}/{name}"
        for goal, plan in plans.items()
        for story in plan.stories
        for name in (story.id, story.slug, story.milestone)
    )
    for plan in plans.values():
        problems += roadmap.check(plan, elsewhere)
    for document in read:
        problems += _used_by(document, plans, elsewhere, layout)
    return tuple(sorted(set(problems)))


def _used_by(
    document: Document, plans: Mapping[str, roadmap.Roadmap], elsewhere: frozenset[str], layout: Layout
) -> Iterable[Problem]:
    plan = plans.get(layout.goal_of(document.path)) or plans.get("")
    decided = {record.id for record in document.records}
    for record in document.records:
        for reference in record.used_by:
            known = reference.name in decided or reference.name.replace(":", "/") in elsewhere
            if known or (plan and plan.knows(reference.name)):
                continue
            message = f"{record.id} says it is used by {reference.name}, which no story or milestone has."
            yield Problem(document.path, reference.line, "decision-used-by", message)
