"""The layer table of the architecture, and one place per library, over the real tree (STYLE 5)."""

from __future__ import annotations

import ast
import fnmatch
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent.parent / "src" / "muniment"

LAYERS: tuple[tuple[int, tuple[str, ...]], ...] = (
    # The first pattern that fits decides; a file that fits none fails the test below.
    (0, ("__init__.py", "*/__init__.py", "errors.py", "ids.py")),
    (1, ("files.py", "yaml_io.py", "markdown.py", "markdown_*.py", "regions.py", "regions_*.py", "git/*.py")),
    (1, ("threeway.py", "quoting.py", "yaml_lines.py", "yaml_events.py")),
    (2, ("config.py", "config_schema.py", "workspace.py")),
    (
        4,
        (
            "ledger/store*.py",
            "ledger/seal*.py",
            "ledger/repair*.py",
            "ledger/history*.py",
            "ledger/expunge*.py",
        ),
    ),
    (3, ("ledger/*.py",)),
    (4, ("state/store.py", "state/engine.py", "state/shared.py", "lease.py", "lease_*.py")),
    (3, ("state/*.py",)),
    (3, ("findings.py", "findings_*.py")),
    (4, ("redact/gate*.py", "redact/identities.py", "redact/identity.py", "redact/batch.py")),
    (3, ("redact/*.py",)),
    (
        4,
        (
            "relate/index*.py",
            "relate/cache*.py",
            "relate/corpus*.py",
            "relate/gather*.py",
            "relate/service.py",
        ),
    ),
    (3, ("relate/*.py",)),
    (4, ("plan/service.py", "plan/store.py")),
    (3, ("plan/*.py",)),
    (4, ("documents/catalogue*.py",)),
    (3, ("documents/*.py",)),
    (3, ("rooms/entries.py", "rooms/status.py", "sessions/evidence.py", "sessions/paging.py")),
    (
        3,
        ("approval.py", "intake/rows.py", "intake/triage_file.py", "intake/triage_*.py", "intake/propose.py"),
    ),
    (
        4,
        (
            "journal.py",
            "journal_*.py",
            "publish.py",
            "publish_*.py",
            "landing.py",
            "targets.py",
            "authority.py",
            "authority_*.py",
        ),
    ),
    (4, ("reports.py", "reports_*.py", "tokens.py", "verify.py", "media.py", "sources/*.py", "review/*.py")),
    (
        5,
        ("sweep/*.py", "intake/*.py", "rooms/repair.py", "check/*.py", "hooks.py", "project.py", "site/*.py"),
    ),
    (
        5,
        ("merge_driver.py", "merge_driver_*.py", "merge_repair.py"),
    ),
    (5, ("demo.py", "demo/*.py", "demo_*.py", "overview.py")),
    (6, ("cli/*.py", "cli/*/*.py", "mcp_server.py", "__main__.py")),
)

ONE_PLACE: Mapping[str, tuple[str, ...]] = {
    "pygit2": ("git/libgit*.py",),
    "ruamel": ("yaml_io.py", "yaml_events.py"),
    "markdown_it": ("markdown.py", "markdown_*.py"),
    "rapidfuzz": ("relate/rank.py",),
    "click": ("cli/*.py", "cli/*/*.py"),
    "phonenumbers": ("redact/*.py",),
    "re2": ("redact/*.py",),
    "ahocorasick_rs": ("redact/*.py",),
    "orjson": ("ledger/canonical.py",),
    "yaml": (),
    "git": (),
}
"""Library → the files that may import it; converted to our own types at that edge."""

PURE_FORBIDDEN = frozenset(
    {"subprocess", "socket", "shutil", "tempfile", "urllib", "http", "random", "secrets", "time", "os"}
)
"""What a layer-3 module, pure by definition, has no use for."""

EFFECTS: Mapping[str, str] = {
    "workspace.py": "the one place that reads clock, environment and randomness",
    "files.py": "unique temporary names",
    "demo/scene.py": "hands an environment to the commands that it runs",
}
"""Modules below the command line that may read the clock, the environment or a random source, and why."""


@dataclass(frozen=True, slots=True)
class Import:
    """One import of one module, where it stands."""

    file: str
    line: int
    module: str
    top_level: bool

    def __str__(self) -> str:
        return f"src/muniment/{self.file}:{self.line}: import {self.module}"


@cache
def layer(file: str) -> int | None:
    """The layer of a file given relative to the package, or None when the table doesn't know it."""
    for number, patterns in LAYERS:
        if any(fnmatch.fnmatchcase(file, pattern) and _same_depth(file, pattern) for pattern in patterns):
            return number
    return None


def _same_depth(file: str, pattern: str) -> bool:
    return file.count("/") == pattern.count("/")


@cache
def files() -> tuple[str, ...]:
    return tuple(sorted(path.relative_to(SOURCE).as_posix() for path in SOURCE.rglob("*.py")))


@cache
def tree_of(file: str) -> ast.Module:
    return ast.parse((SOURCE / file).read_text(encoding="utf-8"))


@cache
def imports(file: str) -> tuple[Import, ...]:
    return tuple(_imports(file))


@cache
def names(file: str) -> Mapping[str, list[int]]:
    """Every dotted name in a file, and its lines."""
    found: dict[str, list[int]] = {}
    for node in ast.walk(tree_of(file)):
        if isinstance(node, ast.Name):
            found.setdefault(node.id, []).append(node.lineno)
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            found.setdefault(f"{node.value.id}.{node.attr}", []).append(node.lineno)
    return found


def _imports(file: str) -> Iterator[Import]:
    for node, top_level in _nodes(tree_of(file), top_level=True):
        if isinstance(node, ast.Import):
            yield from (Import(file, node.lineno, alias.name, top_level) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"src/muniment/{file}:{node.lineno}: a relative import; write it out."
            module = node.module or ""
            for alias in node.names:
                inner = f"{module}.{alias.name}"
                yield Import(file, node.lineno, inner if target(inner) else module, top_level)


def _nodes(node: ast.AST, *, top_level: bool) -> Iterator[tuple[ast.AST, bool]]:
    """Every node, and whether it runs when the module is imported; annotations' imports don't run."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING":
            continue
        inside = top_level and not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        yield child, inside
        yield from _nodes(child, top_level=inside)


@cache
def target(module: str) -> str | None:
    """The file of one of our modules, or None for anything else."""
    if module != "muniment" and not module.startswith("muniment."):
        return None
    inner = module.removeprefix("muniment").lstrip(".").replace(".", "/")
    for candidate in (f"{inner}.py", f"{inner}/__init__.py".lstrip("/")):
        if (SOURCE / candidate).is_file():
            return candidate
    return None


@cache
def ours() -> tuple[tuple[Import, str], ...]:
    """Every import of one of our files by another."""
    return tuple(
        (found, aimed)
        for file in files()
        for found in imports(file)
        if (aimed := target(found.module)) and aimed != file
    )


def test_every_file_has_a_layer() -> None:
    unknown = [f"src/muniment/{file}" for file in files() if layer(file) is None]
    assert not unknown, "Give each its layer in tests/test_layers.py:\n" + "\n".join(unknown)


def test_no_file_imports_from_a_higher_layer() -> None:
    upward = [
        f"{found}  (layer {layer(found.file)} must not import layer {layer(aimed)})"
        for found, aimed in ours()
        if (layer(found.file) or 0) < (layer(aimed) or 0)
    ]
    assert not upward, "Imports that go upward:\n" + "\n".join(upward)


def test_no_cycles_between_files() -> None:
    graph: dict[str, set[str]] = {file: set() for file in files()}
    for found, aimed in ours():
        if not aimed.endswith("__init__.py"):
            graph[found.file].add(aimed)
    cycles = [" -> ".join(cycle) for cycle in _cycles(graph)]
    assert not cycles, "Import cycles (imports inside functions count too):\n" + "\n".join(cycles)


def _cycles(graph: Mapping[str, set[str]]) -> list[list[str]]:
    found: list[list[str]] = []
    done: set[str] = set()

    def visit(file: str, trail: list[str]) -> None:
        if file in trail:
            found.append([*trail[trail.index(file) :], file])
        elif file not in done:
            for aimed in sorted(graph[file]):
                visit(aimed, [*trail, file])
            done.add(file)

    for file in graph:
        visit(file, [])
    return found


def test_each_library_is_imported_in_one_place() -> None:
    wrong = [
        f"{found}  (only in {', '.join(ONE_PLACE[library]) or 'no file'})"
        for file in files()
        for found in imports(file)
        if (library := found.module.split(".")[0]) in ONE_PLACE
        and not any(fnmatch.fnmatchcase(file, pattern) for pattern in ONE_PLACE[library])
    ]
    assert not wrong, "Libraries imported outside their one place:\n" + "\n".join(wrong)


def test_pure_modules_reach_no_outside() -> None:
    wrong = [
        str(found)
        for file in files()
        if layer(file) == 3
        for found in imports(file)
        if found.module.split(".")[0] in PURE_FORBIDDEN and found.module != "urllib.parse"
    ]
    assert not wrong, "Layer 3 is pure: no disk, process, network, clock or randomness:\n" + "\n".join(wrong)


@pytest.mark.parametrize(
    "call",
    [
        "datetime.now", "datetime.utcnow", "datetime.today", "date.today", "time.time",
        "time.time_ns", "os.environ", "os.getenv", "os.chdir", "uuid.uuid4", "secrets.token_hex",
        "getpass.getuser", "random.random", "print", "sys.exit",
    ],
)  # fmt: skip
def test_time_environment_and_randomness_are_arguments(call: str) -> None:
    wrong = [
        f"src/muniment/{file}:{line}: {call}"
        for file in files()
        if file not in EFFECTS
        and not file.startswith("cli/")
        and file not in {"mcp_server.py", "__main__.py"}
        for line in names(file).get(call, ())
    ]
    assert not wrong, "These come through Workspace, or belong to the command line:\n" + "\n".join(wrong)


def test_the_command_frame_starts_light() -> None:
    """`--version` and `--help` import click and nothing else that is heavy."""
    heavy = set(ONE_PLACE) - {"click"}
    wrong = [
        str(found)
        for file in ("__init__.py", "__main__.py", "cli/main.py", "errors.py", "files.py", "config.py")
        for found in imports(file)
        if found.top_level and found.module.split(".")[0] in heavy
    ]
    assert not wrong, "\n".join(wrong)
