"""Where repair looks for entries: the index's stages, HEAD's own history, then any object of the clone (G6).

Nothing is fetched. What this clone lacks is noted as a gap, with the command that would bring it (G17).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256

from muniment import config as configuration
from muniment.errors import Unavailable
from muniment.git.objects import index_line
from muniment.git.process import fields
from muniment.git.repo import MissingObject, Oid
from muniment.ledger.assembly import sealed_path
from muniment.ledger.conflict import Reading, read
from muniment.ledger.mend import Forms
from muniment.ledger.segment import BETWEEN, CLOSE, ENTRIES, Sealed
from muniment.workspace import Workspace

_PSEUDO = ("ORIG_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "REBASE_HEAD", "FETCH_HEAD", "AUTO_MERGE")
_STAGES = (1, 2, 3)


@dataclass(frozen=True, slots=True)
class Gap:
    """Something that this clone lacks, and the command that would settle it."""

    message: str
    settle: str


@dataclass(frozen=True, slots=True)
class Version:
    """What one version of the open segment says beside its entries."""

    rows: frozenset[Sealed] = frozenset()
    extra: Mapping[str, bytes] = field(default_factory=dict)
    newer: bool = False


@dataclass(slots=True)
class Archive:
    """What was read out of git objects.

    Attributes:
        ws: The workspace that is read.
        forms: Every form of every entry found anywhere, the working tree's included.
        ids: The ids found in HEAD's own history.
        rows: The records of sealed segments found there.
        files: Sealed file name → the blobs found under that name.
        gaps: What could not be read.
        tips: What the ledger is at HEAD and, in a merge, at what is merged in.
    """

    ws: Workspace
    forms: Forms = field(default_factory=Forms)
    ids: set[str] = field(default_factory=set)
    rows: set[Sealed] = field(default_factory=set)
    files: dict[str, list[Oid]] = field(default_factory=dict)
    gaps: list[Gap] = field(default_factory=list)
    tips: list[Version] = field(default_factory=list)
    _blobs: dict[Oid, Version] = field(default_factory=dict)
    _lines: set[bytes] = field(default_factory=set)

    def note(self, error: Unavailable) -> None:
        """Note what is missing."""
        gap = Gap(error.message, (error.hint or "git fetch --all").removeprefix("To get it: ").rstrip("."))
        if gap not in self.gaps:
            self.gaps.append(gap)

    def take_commit(self, commit: Oid, path: str, found: set[str]) -> Version:
        """Read the ledger at `path` in a commit, with its sealed segments; ids go to `found`."""
        entry = self.ws.repo.entry(commit, path)
        if entry is None:
            return Version()
        if entry.oid not in self._blobs:
            reading = self._read(self.ws.repo.blob(entry.oid), path, found)
            self._blobs[entry.oid] = Version(frozenset(reading.sealed), reading.extra, reading.newer)
            self.rows |= reading.sealed
        version = self._blobs[entry.oid]
        for row in sorted(version.rows):
            self._take_sealed(commit, sealed_path(path, row.file), row, found)
        return version

    def _take_sealed(self, commit: Oid, path: str, row: Sealed, found: set[str]) -> None:
        entry = self.ws.repo.entry(commit, path)
        if entry is None or entry.oid in self._blobs:
            return
        self._read(self.ws.repo.blob(entry.oid), path, found)
        self._blobs[entry.oid] = Version()
        self.files.setdefault(row.file, []).append(entry.oid)

    def _read(self, data: bytes, path: str, found: set[str]) -> Reading:
        """Read a version of a file; lines that another version had already are not parsed again."""
        reading = read(self._fresh(data), path)
        self.forms.take(reading)
        found |= reading.ids
        return reading

    def _fresh(self, data: bytes) -> bytes:
        start = data.find(ENTRIES) + len(ENTRIES)
        if start < len(ENTRIES) or not data.endswith(CLOSE) or not data.startswith(b'{"schema"'):
            return data
        lines = [raw for raw in data[start : -len(CLOSE)].split(BETWEEN) if raw not in self._lines]
        self._lines.update(lines)
        return data[:start] + BETWEEN.join(lines) + CLOSE

    def sealed_bytes(self, row: Sealed) -> bytes | None:
        """The bytes of a sealed segment as recorded, from any commit read so far; None when none has them."""
        for oid in self.files.get(row.file, ()):
            data = self.ws.repo.blob(oid)
            if sha256(data).hexdigest() == row.sha256:
                return data
        return None


def stages(ws: Workspace, path: str) -> tuple[tuple[Reading, Reading, Reading], frozenset[Oid]] | None:
    """The base, ours and theirs of a conflict in the index, and their blobs; None when there is none.

    Raises:
        MissingObject: A side is not in this clone.
    """
    listed = map(index_line, fields(ws.repo.git.out("ls-files", "-u", "-z", "--", path)))
    found = {stage: entry.oid for stage, entry in listed if entry.path == path}
    if not found:
        return None
    base, ours, theirs = (
        read(ws.repo.blob(found[one]), path) if one in found else Reading() for one in _STAGES
    )
    return (base, ours, theirs), frozenset(found.values())


def own_history(ws: Workspace, archive: Archive) -> None:
    """Everything that was ever in the ledger on the way to HEAD and, in a merge, to what is merged in."""
    head = ws.repo.head().commit
    tips = [*([head] if head else []), *_merging(ws)]
    for tip in tips:
        archive.tips += _take(archive, tip, (), archive.ids)
    if tips:
        _walk(ws, archive, tips, archive.ids)
        _note_shallow(ws, archive, tips)


def _merging(ws: Workspace) -> Iterator[Oid]:
    """The commits of a merge under way, several for an octopus; git keeps them one a line."""
    file = ws.repo.git_dir / "MERGE_HEAD"
    for word in file.read_text("ascii").split() if file.is_file() else ():
        commit = ws.repo.resolve(word)
        if commit is not None:
            yield commit


def _note_shallow(ws: Workspace, archive: Archive, tips: list[Oid]) -> None:
    if not ws.repo.is_shallow():
        return
    for commit in ws.repo.commits(tips):
        for parent in commit.parents:
            if ws.repo.resolve(parent) is None:
                archive.gaps.append(Gap("History is cut off in this shallow clone.", "git fetch --unshallow"))
                return


def _walk(ws: Workspace, archive: Archive, tips: Iterable[Oid], found: set[str]) -> None:
    """Read every version of the ledger reachable from `tips`, wherever each commit's settings put it."""
    starts = tuple(tips)
    try:
        paths = _paths(ws, starts)
        for start in starts:
            _take(archive, start, paths, found)
        folders = (sealed_path(path, "ledger") for path in paths)
        for commit in ws.repo.commits(starts, paths=(*paths, *folders)):
            _take(archive, commit.oid, paths, found)
    except Unavailable as error:
        archive.note(error)


def _take(archive: Archive, commit: Oid, paths: Sequence[str], found: set[str]) -> list[Version]:
    """Read the ledger of one commit: where it lies now, and where that commit's own settings put it."""
    try:
        places = {archive.ws.config.ledger_path}
        if len(paths) > 1:
            places.add(configuration.load_at(archive.ws.repo, commit)[0].ledger_path)
        return [archive.take_commit(commit, path, found) for path in sorted(places)]
    except MissingObject as error:
        archive.note(error)
        return []


def _paths(ws: Workspace, tips: Iterable[Oid]) -> tuple[str, ...]:
    """Every place that the settings of any of these commits gave the ledger."""
    found = {ws.config.ledger_path, configuration.Config().ledger_path}
    for commit in ws.repo.commits(tips, paths=(configuration.COMMITTED,)):
        found.add(configuration.load_at(ws.repo, commit.oid)[0].ledger_path)
    return tuple(sorted(found))


def any_object(ws: Workspace, archive: Archive) -> None:
    """Every version of the ledger in this clone: by ref or reflog, or in a commit that none reaches."""
    listed = ws.repo.git.run("rev-list", "--no-walk=unsorted", "--all", "--reflog", "--ignore-missing")
    tips = {Oid(line) for line in listed.out.decode("ascii").split()}
    tips |= {oid for name in _PSEUDO if (oid := ws.repo.resolve(name)) is not None}
    _walk(ws, archive, sorted(tips), set())
    objects = ws.repo.git.run(
        "cat-file",
        "--batch-all-objects",
        "--unordered",
        "--buffer",
        "--batch-check=%(objecttype) %(objectname)",
    ).out.decode("ascii")
    reached = ws.repo.git.run("rev-list", "--all", "--reflog", "--ignore-missing").out.decode("ascii")
    known = frozenset(reached.split())
    for line in objects.splitlines():
        kind, _, name = line.partition(" ")
        if kind == "commit" and name not in known:
            try:
                archive.take_commit(Oid(name), ws.config.ledger_path, set())
            except Unavailable:  # what nothing reaches may be half gone already
                continue
