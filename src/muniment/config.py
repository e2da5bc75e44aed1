"""The settings record: defaults, layering, and loading with clear problems.

Layers, later ones winning per top-level key: defaults, `.muniment/config.yaml` (committed), the person's
`$XDG_CONFIG_HOME/muniment/config.yaml`, `.muniment/config.local.yaml` (this machine). What gives authority
is never taken from here but from the upstream default branch; see `authority.py`.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from muniment.config_schema import KEYS, PERSONAL, check_value, suggestion
from muniment.errors import MunimentError, Problem
from muniment.files import atomic_write, read_bytes
from muniment.git.repo import Oid, Repository

COMMITTED = ".muniment/config.yaml"
LOCAL = ".muniment/config.local.yaml"
ALLOW_LIST = ".muniment/allow.txt"
MAX_CONFIG_BYTES = 1024 * 1024
CORRECT = "Correct it in the file; `muniment config show` lists every key with its meaning and its default."
"""What to do about a setting that can't be used: only a person knows what they meant."""
TRACKED_LOCAL = Problem(
    LOCAL,
    0,
    "local-settings",
    "This machine's settings are tracked by git: others would receive them, so they are ignored.",
    f"git rm --cached -- {LOCAL}",
)
"""A branch that commits such a file must not pass it off as the settings of whoever checks it out (C9)."""


@dataclass(frozen=True, slots=True)
class Bot:
    """A reviewed bot: its name, where its reports lie, and the file of names known to it (C7)."""

    name: str
    source: str
    known_names: str = ""


@dataclass(frozen=True, slots=True)
class Setting:
    """One key as `config show` prints it: its value, the layer it came from, and its meaning."""

    key: str
    value: Any
    source: str
    meaning: str


@dataclass(frozen=True, slots=True)
class Config:
    """The settings in force, immutable; paths are repository-relative with `/`."""

    docs_root: str = "docs"
    reviews_path: str = "docs/reviews"
    plan_path: str = "docs/plans/feedback-sweep-plan.md"
    sweep_state_path: str = "docs/feedback-sweep/state.yml"
    pending_path: str = "docs/pending-verification.md"
    roadmap_path: str = "docs/ROADMAP.md"
    goals_path: str = "docs/goals"
    default_branch: str = ""
    owners: tuple[str, ...] = ()
    actors: Mapping[str, str] = field(default_factory=dict)
    target_layers: tuple[str, ...] = ()
    bots: tuple[Bot, ...] = ()
    relate_paths: tuple[str, ...] = ()
    relate_commits: int = 5000
    version_tag: str = ""
    gate_paths: tuple[str, ...] = ()
    trust_subjects: bool = False
    require_verified_approvals: bool = False
    require_signed_approvals: bool = False
    settings: tuple[Setting, ...] = ()

    @property
    def ledger_path(self) -> str:
        """The open ledger segment."""
        return f"{self.reviews_path}/ledger.json"

    @property
    def sealed_path(self) -> str:
        """The folder of sealed ledger segments."""
        return f"{self.reviews_path}/ledger"

    @property
    def triage_path(self) -> str:
        """The folder of triage files."""
        return f"{self.reviews_path}/triage"

    def stage_path(self, stage: str) -> str:
        """The folder of one document stage (ideas, backlog, bugs, …)."""
        return f"{self.docs_root}/{stage}"

    def setting(self, key: str) -> Any:
        """Any key's value in force, also of the parts that read their own settings (sweep, review, …)."""
        return next(setting.value for setting in self.settings if setting.key == key)


def load(
    repo: Repository, environ: Mapping[str, str], commit: Oid | None = None
) -> tuple[Config, tuple[Problem, ...]]:
    """The settings in force for a working tree, and every problem found in their files.

    A key with a problem keeps its value from the layer below. With `commit` the committed layer is that
    commit's; what this person and this machine say still lies above it.
    """
    cache = repo.common_dir / "muniment" / "cache"
    personal = personal_path(environ)
    layers = (
        ("committed", COMMITTED, repo.root / COMMITTED),
        ("personal", str(personal), personal),
        ("local", LOCAL, repo.root / LOCAL),
    )
    merged: list[_Layer] = []
    problems: list[Problem] = []
    for layer, name, path in layers:
        try:
            found = _layer_bytes(repo, path, commit if layer == "committed" else None)
        except (MunimentError, OSError) as error:
            problems.append(
                Problem(name, 0, "config", f"It can't be read: {error}", "Put a readable file there.")
            )
            continue
        if found is None:
            continue
        if layer == "local" and repo.index_entries((LOCAL,)):
            problems.append(TRACKED_LOCAL)
            continue
        values, faults = _parse(found, name, layer, cache)
        merged.append(_Layer(layer, name, values, found))
        problems += faults
    config, wrong = _assemble(merged, repo.root)
    return config, (*problems, *wrong)


def _layer_bytes(repo: Repository, path: Path, commit: Oid | None) -> bytes | None:
    """A settings file's bytes on disk, or those of the committed one at a commit; None when it is absent."""
    if commit is not None:
        entry = repo.entry(commit, COMMITTED)
        return repo.blob(entry.oid) if entry else None
    if not os.path.lexists(path):  # a dangling link is a problem to report, not an absent file
        return None
    return read_bytes(path, limit=MAX_CONFIG_BYTES)


def load_at(repo: Repository, commit: Oid) -> tuple[Config, tuple[Problem, ...]]:
    """The committed settings as they stand at a commit: what gives authority is read this way (C9)."""
    entry = repo.entry(commit, COMMITTED)
    if entry is None:
        return _assemble([], repo.root)
    data = repo.blob(entry.oid)
    values, problems = _parse(data, COMMITTED, "committed", repo.common_dir / "muniment" / "cache")
    config, found = _assemble([_Layer("committed", COMMITTED, values, data)], repo.root)
    return config, (*problems, *found)


def personal_path(environ: Mapping[str, str]) -> Path:
    """This person's settings file, by the XDG base-directory rules."""
    base = environ.get("XDG_CONFIG_HOME", "")
    folder = Path(base) if base.startswith("/") else Path(environ.get("HOME", "~")).expanduser() / ".config"
    return folder / "muniment" / "config.yaml"


def _parse(data: bytes, name: str, layer: str, cache: Path) -> tuple[Mapping[str, Any], list[Problem]]:
    """One file's accepted values and its problems; a file without problems is cached by its digest.

    The cache (under the git folder, safe to drop) keeps the YAML library off the path of commit hooks.
    """
    import json  # noqa: PLC0415 - `--version` and `--help` load no settings

    digest = hashlib.sha256(f"{layer}\0{SCHEMA_DIGEST}\0".encode() + data).hexdigest()[:32]
    cached = cache / f"config-{digest}.json"
    try:
        known = json.loads(cached.read_bytes())
    except (OSError, ValueError):
        known = None
    if isinstance(known, dict):
        return known, []
    values, problems = parse_text(data, name, layer)
    if not problems:
        try:
            atomic_write(cached, json.dumps(values).encode())
        except MunimentError:
            return values, problems  # a read-only git folder only costs the cache
    return values, problems


def parse_text(data: bytes, name: str, layer: str) -> tuple[Mapping[str, Any], list[Problem]]:
    """The accepted top-level values of one settings file, and a problem per bad key, with its line."""
    from muniment import yaml_io  # noqa: PLC0415 - the YAML library is slow to import

    try:
        text = data.decode("utf-8-sig")
        loaded = yaml_io.parse(text)
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        return {}, [Problem(name, line, "config", "It is not UTF-8.", f"Save {name} as UTF-8.")]
    except yaml_io.YamlError as error:
        why = str(error).removeprefix("Not valid YAML: ")
        return {}, [Problem(name, error.line, "config", f"It is not valid YAML: {why}", CORRECT)]
    if loaded.value is None:
        return {}, []
    if not isinstance(loaded.value, dict):
        return {}, [Problem(name, 1, "config", "It must be a mapping of settings.", CORRECT)]
    accepted: dict[str, Any] = {}
    problems: list[Problem] = []
    for key, value in loaded.value.items():
        fault = _fault(key, value, layer)
        if fault:
            problems.append(Problem(name, loaded.line(key), "config", fault, CORRECT))
        else:
            accepted[key] = value
    return accepted, problems


def _fault(key: object, value: object, layer: str) -> str:
    """What is wrong with one key in one layer; empty when nothing is."""
    if not isinstance(key, str) or key not in KEYS:
        return f"Unknown key {key!r}{suggestion(str(key), KEYS)}."
    if layer == "personal" and key not in PERSONAL:
        return f"{key} belongs in {COMMITTED}, not in a person's own settings."
    if layer == "local" and KEYS[key].authority:
        return f"{key} gives authority and is read from {COMMITTED} on the upstream default branch only."
    return check_value(key, KEYS[key].kind, value)


@dataclass(frozen=True, slots=True)
class _Layer:
    """One settings file: its layer, its name in messages, its accepted values, and its bytes."""

    layer: str
    name: str
    values: Mapping[str, Any]
    data: bytes

    def line(self, key: str) -> int:
        """Where a key stands; read again, since only a fault needs it."""
        from muniment import yaml_io  # noqa: PLC0415 - the YAML library is slow to import

        return yaml_io.parse(self.data.decode("utf-8-sig")).line(key)


def _assemble(layers: Sequence[_Layer], root: Path) -> tuple[Config, tuple[Problem, ...]]:
    values: dict[str, tuple[Any, str]] = {key: (spec.default, "default") for key, spec in KEYS.items()}
    origin: dict[str, _Layer] = {}
    for found in layers:
        values |= {key: (value, found.layer) for key, value in found.values.items()}
        origin |= dict.fromkeys(found.values, found)
    faults: dict[str, str] = {}
    given = str(values["docs_root"][0])
    docs_root = given.removesuffix("/")
    if fault := docs_root_fault(root, docs_root, given):
        faults["docs_root"] = fault
        docs_root = "docs"
    else:  # git knows the files below a linked folder by the folder's own name
        docs_root = (root / docs_root).resolve().relative_to(root.resolve()).as_posix()
    values["docs_root"] = (docs_root, "default" if fault else values["docs_root"][1])
    for key, spec in KEYS.items():
        if not spec.under_docs:
            continue
        if values[key][1] != "default" and (fault := path_fault(str(values[key][0]))):
            faults[key] = f"{key}: {fault}"
        if values[key][1] == "default" or key in faults:
            values[key] = (f"{docs_root}/{spec.default}", "default")
    return _record(values), tuple(_located(origin.get(key), key, fault) for key, fault in faults.items())


def _located(origin: _Layer | None, key: str, fault: str) -> Problem:
    """A fault of a key where it was set; a default can be at fault too, when the folder itself is a link."""
    name, line = (origin.name, origin.line(key)) if origin else (COMMITTED, 0)
    return Problem(name, line, "config", fault, CORRECT)


def docs_root_fault(root: Path, docs_root: str, given: str) -> str:
    """Why `docs_root` is refused (symbolic links followed); empty when it is fine."""
    wrong = f"docs_root: {given!r} must be a folder inside the repository, neither its root nor under .git."
    if given.startswith("/") or not docs_root or path_fault(docs_root):
        return wrong
    real_root = root.resolve()
    real = (root / docs_root).resolve()
    if real == real_root or not real.is_relative_to(real_root) or (real.exists() and not real.is_dir()):
        return wrong
    return wrong if ".git" in (part.lower() for part in real.relative_to(real_root).parts) else ""


def path_fault(path: str) -> str:
    """Why a configured path is no repository-relative path; empty when it is one."""
    parts = path.split("/")
    if path.startswith("/") or not path or any(part in {"", ".", ".."} for part in parts):
        return f"{path!r} is not a path relative to the repository's root."
    return f"{path!r} lies under .git." if any(part.lower() == ".git" for part in parts) else ""


def _record(values: Mapping[str, tuple[Any, str]]) -> Config:
    settings = tuple(
        Setting(key, values[key][0], values[key][1], spec.meaning) for key, spec in sorted(KEYS.items())
    )

    def texts(key: str) -> tuple[str, ...]:
        return tuple(values[key][0])

    return Config(
        docs_root=values["docs_root"][0],
        reviews_path=values["reviews_path"][0],
        plan_path=values["plan_path"][0],
        sweep_state_path=values["sweep_state_path"][0],
        pending_path=values["pending_path"][0],
        roadmap_path=values["roadmap_path"][0],
        goals_path=values["goals_path"][0],
        default_branch=values["default_branch"][0],
        owners=texts("owners"),
        actors=dict(values["actors"][0]),
        target_layers=texts("target_layers"),
        bots=tuple(Bot(bot["name"], bot["from"], bot.get("known_names") or "") for bot in values["bots"][0]),
        relate_paths=texts("relate_paths"),
        relate_commits=values["relate_commits"][0],
        version_tag=values["version_tag"][0],
        gate_paths=texts("gate_paths"),
        trust_subjects=values["trust_subjects"][0],
        require_verified_approvals=values["require_verified_approvals"][0],
        require_signed_approvals=values["require_signed_approvals"][0],
        settings=settings,
    )


SCHEMA_DIGEST = hashlib.sha256(repr(sorted(KEYS.items())).encode()).hexdigest()[:16]
