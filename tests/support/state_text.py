"""State files and plans for tests, built readably."""

from __future__ import annotations

from typing import Any

from muniment.plan.reconcile import Effects, Reconciled, reconcile_plan
from muniment.state.store import decode
from muniment.yaml_io import dump

PLAN = "docs/plans/feedback-sweep-plan.md"
STATE = "docs/feedback-sweep/state.yml"
TODAY = "2026-11-30"


def item(key: str, status: str = "analyzed", **fields: Any) -> dict[str, Any]:
    """One item's record."""
    source, _, native = key.partition(":")
    words = {"title": f"Title of {native}", "body": f"Body of {native}."}
    return {"id": native, "source": source, "status": status} | words | fields


def state_text(*items: dict[str, Any], **top: Any) -> str:
    """A state file with these items, in this order."""
    records = {f"{record['source']}:{record['id']}": record for record in items}
    return dump({"schema_version": 1, "sources": {"inbox": {"cursor": "1"}}, "items": records} | top)


def reconciled(
    plan: str | None, state: str, *, today: str = TODAY, last: dict[str, str] | None = None
) -> Reconciled:
    """Reconcile texts, with the last rendering given by digest."""
    history = last or {}
    effects = Effects(last_rendering=history.get)
    return reconcile_plan(plan, decode(state.encode(), STATE).state, path=PLAN, today=today, effects=effects)


def settled(plan: str | None, state: str, *, today: str = TODAY) -> tuple[str, str]:
    """Plan and state after one reconcile."""
    result = reconciled(plan, state, today=today)
    change = decode(state.encode(), STATE).with_fields(result.fields)
    new_state = state if change is None or change.data is None else change.data.decode()
    return result.text, new_state
