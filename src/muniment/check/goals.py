"""Rule about goals: statuses agree with dependencies, ids are known, nothing goes round in a circle (C13)."""

from __future__ import annotations

from collections.abc import Iterator

from muniment.check.context import Context
from muniment.check.findings import Finding


def roadmaps(context: Context) -> Iterator[Finding]:
    """Roadmap statuses agree with dependencies; no cycle, unknown id, id twice, or unknown `used by`."""
    config = context.ws.config
    places = (f"{config.goals_path}/", config.roadmap_path)
    changed = context.scope.changed
    if not any(path.startswith(places) for path in (context.kinds if changed is None else changed)):
        return
    from muniment.documents import goals  # noqa: PLC0415 - only where there are goals
    from muniment.documents.reading import read_document  # noqa: PLC0415 - as above
    from muniment.documents.stages import Layout, Stage  # noqa: PLC0415 - as above

    layout = Layout.of(config)
    documents = []
    for path in context.snapshot.paths():
        stage = layout.stage_of(path)
        if stage in {Stage.ROADMAP, Stage.DECISIONS}:
            text = context.text(path)
            if text is not None:
                documents.append(read_document(path, stage, text))
    touched = {layout.goal_of(path) for path in changed} if changed is not None else set()
    for problem in goals.check(documents, layout):
        if changed is None or problem.path in changed or layout.goal_of(problem.path) in touched - {""}:
            yield problem
