"""Taking over an older tracker's cursors and items, without going back or acting twice (S18). Pure."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from typing import Any

from muniment.errors import UsageProblem
from muniment.state import cursor, operations
from muniment.state.model import Status
from muniment.state.operations import Answer, Edit, Unplaceable, View, Word
from muniment.yaml_io import YamlError, parse


def import_legacy(
    view: View, data: bytes, source_map: Mapping[str, str], *, hidden: Collection[str] = ()
) -> Answer:
    """Take cursors and items of a legacy file that the state doesn't have yet, or that would move it forward.

    An item that is in the state stays as it is; a cursor only moves forward. An item without a status was
    dealt with by the old tracker: it counts as acknowledged, so that nothing is acknowledged again. What
    can't be read is passed over.

    Args:
        view: What stands.
        data: JSON or YAML: `channels.<id>.last_processed_ts`, `items.<key>`.
        source_map: Channel id → source id; a channel that isn't listed keeps its name.
        hidden: Sources that settings outside the state mark sensitive.
    """
    legacy = _read(data)
    channels = _mapping(legacy, "channels")
    cursors = _cursors(view, channels, source_map)
    known = {*channels, *source_map}
    items: dict[str, Edit] = {}
    for key, record in _mapping(legacy, "items").items():
        place = _place(key, record, known, source_map)
        change = _item(view, place, record, hidden) if place else None
        if change is not None:
            items.setdefault(change.key, change)
    edits = [*cursors, *items.values()]
    begin = operations.ensure_version(view) if edits else ()
    imported = {"cursors_imported": len(cursors), "items_imported": len(items)}
    return Answer(Word.OK, imported, (*begin, *edits))


def require_map(given: Mapping[str, Any]) -> Mapping[str, str]:
    """A source map, checked; raises `UsageProblem` for one that names no source."""
    for channel, source in given.items():
        if not isinstance(source, str):
            raise UsageProblem(f"The source map gives {channel!r} no name.")
        operations.item_key(source, "1")
    return {channel: str(source) for channel, source in given.items()}


def _read(data: bytes) -> Any:
    """The legacy file's value; None for garbage."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        pass
    try:
        return parse(text).value
    except YamlError:
        return None


def _mapping(value: Any, name: str) -> Mapping[str, Any]:
    found = value.get(name) if isinstance(value, dict) else None
    return found if isinstance(found, dict) else {}


def _cursors(view: View, channels: Mapping[str, Any], source_map: Mapping[str, str]) -> list[Edit]:
    found: dict[str, str] = {}
    for channel, record in channels.items():
        source = source_map.get(channel, channel)
        stamp = _stamp(record.get("last_processed_ts")) if isinstance(record, dict) else ""
        if stamp and source and ":" not in source and _writable(source):
            found[source] = cursor.later(found[source], stamp) if source in found else stamp
    edits = []
    for source, stamp in found.items():
        try:
            record = view.source(source) if view.exists else None
        except Unplaceable:
            continue
        standing = (record or {}).get("cursor")
        if standing is None or (_stamp(standing) and cursor.compare(_stamp(standing), stamp) < 0):
            changes = {"cursor": stamp} | operations.settled(record or {}, {"cursor": stamp})
            edits.append(Edit("sources", source, changes, new=record is None))
    return edits


def _stamp(value: object) -> str:
    """A cursor's text; a fraction is a chat's time stamp, which has six digits after the point."""
    if isinstance(value, bool):
        return ""
    if isinstance(value, float):
        return f"{value:.6f}"
    text = str(value) if isinstance(value, str | int) else ""
    return text if text.strip() and _writable(text) else ""


def _place(
    key: str, record: object, known: Collection[str], source_map: Mapping[str, str]
) -> tuple[str, str] | None:
    """Source and id of a legacy item: from its key, else from its fields, else from the only channel."""
    if not isinstance(record, dict):
        return None
    prefix, colon, native = key.partition(":")
    said = next((record[name] for name in ("channel", "source") if isinstance(record.get(name), str)), "")
    if colon and prefix and native and (prefix in known or prefix in source_map.values() or not said):
        channel = prefix
    else:
        channel, native = said or (next(iter(known)) if len(known) == 1 else ""), key
    source = source_map.get(channel, channel)
    usable = source and native and ":" not in source and _writable(source + native)
    return (source, native) if usable else None


def _item(
    view: View, place: tuple[str, str], record: Mapping[str, Any], hidden: Collection[str]
) -> Edit | None:
    """The edit that brings an item in, or None when the state has it or it can't be written."""
    source, native = place
    if not _writable(json.dumps(record, ensure_ascii=False)):
        return None
    try:
        if view.exists and view.item(f"{source}:{native}") is not None:
            return None
    except Unplaceable:
        return None
    status = record.get("status")
    fields = {name: value for name, value in record.items() if name not in {"id", "source", "status"}}
    shown = status if isinstance(status, str) and status.strip() else str(Status.ACKNOWLEDGED)
    answer = operations.upsert_item(view, source, native, {"status": shown} | fields, hidden=hidden)
    return answer.edits[0]


def _writable(text: str) -> bool:
    """Whether a text can be written as UTF-8."""
    return not any("\ud800" <= character <= "\udfff" for character in text)
