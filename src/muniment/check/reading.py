"""The state file as a check needs it: the raw records beside the state that is built from them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from muniment.errors import Problem

if TYPE_CHECKING:
    from muniment.state.model import State
    from muniment.yaml_io import Yaml


@dataclass(frozen=True, slots=True)
class StateReading:
    """A state file.

    Attributes:
        state: The state, or None when there is no file or nothing of it can be trusted.
        problems: What is wrong with the file, or with single items.
        document: The parsed file, for the lines of its items.
    """

    state: State | None = None
    problems: tuple[Problem, ...] = ()
    document: Yaml | None = None

    @property
    def records(self) -> Mapping[str, Mapping[str, Any]]:
        """Each item's fields as written, readable or not."""
        root = self.document.value if self.document else None
        items = root.get("items") if isinstance(root, dict) else None
        return {key: record for key, record in (items or {}).items() if isinstance(record, dict)}

    def line(self, key: str) -> int:
        """The 1-based line of an item, 0 when unknown."""
        return self.document.line("items", key) if self.document else 0


def read_state(data: bytes | None, path: str, sensitive: Collection[str] = ()) -> StateReading:
    """Read a state file; what is wrong with it comes back in the result."""
    from muniment import yaml_io  # noqa: PLC0415 - slow to import, and most commits touch no state
    from muniment.state.model import build  # noqa: PLC0415 - as above

    if data is None:
        return StateReading()
    try:
        document = yaml_io.parse(data.decode("utf-8"))
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        return StateReading(problems=(Problem(path, line, "text", "It is not UTF-8."),))
    except yaml_io.YamlError as error:
        message = f"It is not valid YAML: {error.message}"
        return StateReading(problems=(Problem(path, error.line, "state-yaml", message),))
    state, problems = build(document, path, sensitive_sources=sensitive)
    return StateReading(state, problems, document if state else None)
