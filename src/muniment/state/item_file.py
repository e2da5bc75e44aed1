"""One item in a file of its own, as on the state branch: where it lies, what it says, its edits. Pure.

The file is a flat mapping (`id`, `source`, `status`, …) under `items/`. Its name says its key where that is
short and the same on every file system, else the key's digest. Edits are surgical, as in a state in one file.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote

from muniment import yaml_io
from muniment.state import edit as surgery
from muniment.state.operations import REMOVE, Edit, Unplaceable, scalar_text
from muniment.state.overlay import with_fields
from muniment.state.text import same
from muniment.yaml_io import YamlError

FOLDER = "items"
_SUFFIX = ".yml"
_LONGEST_NAME = 100
_BOM = "\ufeff"
_SAFE = frozenset(b"abcdefghijklmnopqrstuvwxyz0123456789_-.")
_DIGEST = re.compile(r"[0-9a-f]{64}\Z")


def path_of(key: str) -> str:
    """Where the item of a key lies on the branch."""
    data = key.encode("utf-8", "surrogatepass")
    digest = hashlib.sha256(data).hexdigest()
    spelled = "".join(chr(byte) if byte in _SAFE else f"%{byte:02x}" for byte in data)
    fits = spelled and len(spelled) <= _LONGEST_NAME and spelled[0] != "." and not _DIGEST.match(spelled)
    return f"{FOLDER}/{digest[:2]}/{spelled if fits else digest}{_SUFFIX}"


def is_item(path: str) -> bool:
    """Whether a path of the branch is an item's file; other files are left alone."""
    return path.startswith(f"{FOLDER}/") and path.endswith(_SUFFIX)


def key_by_name(path: str) -> str:
    """The key that a file's name spells; "" where the name is a digest, or no key's."""
    name = path.rpartition("/")[2].removesuffix(_SUFFIX)
    key = unquote(name, errors="surrogateescape")
    return key if path_of(key) == path else ""


class ItemFile:
    """An item's file that was read.

    Attributes:
        path: Its path on the branch.
        fields: What it says, `id` and `source` included.
        key: The item's key.
    """

    def __init__(self, path: str, data: bytes) -> None:
        """Read a file; raises `Unplaceable` when it holds no item."""
        self.path = path
        try:
            self._whole = data.decode("utf-8")
            document = yaml_io.parse(self._whole)
        except UnicodeDecodeError as error:
            line = data.count(b"\n", 0, error.start) + 1
            raise Unplaceable(f"{path} is not UTF-8.", line) from error
        except YamlError as error:
            raise Unplaceable(f"{path}: {error.message}", error.line) from error
        if not isinstance(document.value, dict):
            raise Unplaceable(f"{path} is no mapping.", document.line() or 1)
        self.fields: Mapping[str, Any] = document.value
        self.key = key_by_name(path) or self._own_key()

    def _own_key(self) -> str:
        source, native = (scalar_text(self.fields.get(name)) for name in ("source", "id"))
        if not source or not native:
            raise Unplaceable(
                f"{self.path} says neither by its name nor by `source` and `id` what item it is."
            )
        return f"{source}:{native}"

    def edited(self, fields: Mapping[str, Any]) -> bytes:
        """The file's bytes with fields set or removed, every other byte as it is; raises `Unplaceable`."""
        wanted = with_fields(self.fields, fields)
        changed = {
            name: value
            for name, value in fields.items()
            if (name in self.fields) != (value is not REMOVE)
            or (value is not REMOVE and not same(value, self.fields[name]))
        }
        if not changed:
            return self._whole.encode("utf-8")
        mark = _BOM if self._whole.startswith(_BOM) else ""
        made = surgery.apply(self._whole.removeprefix(_BOM), (Edit("", "", changed),)) if wanted else "{}\n"
        if made is None or not _reads_as(made, wanted):
            paths = [((name,), value) for name, value in changed.items()]
            made = yaml_io.round_trip(self._whole, paths, remove=REMOVE)
            if made is None or not _reads_as(made.removeprefix(_BOM), wanted):
                raise Unplaceable(f"{self.path} can't be edited without changing more than was asked.", 1)
            return made.encode("utf-8")
        return (mark + made).encode("utf-8")


def new_item(path: str, fields: Mapping[str, Any]) -> bytes:
    """The bytes of a new item's file; raises `Unplaceable` where a value has no form that reads back."""
    wanted = with_fields(None, fields)
    made = surgery.apply("", (Edit("", "", wanted, new=True),))
    if made is None or not _reads_as(made, wanted):
        raise Unplaceable(f"{path}: the values have no form in YAML that reads back as the same.")
    return made.encode("utf-8")


def _reads_as(text: str, wanted: Mapping[str, Any]) -> bool:
    try:
        return same(yaml_io.parse(text).value, wanted)
    except YamlError:
        return False
