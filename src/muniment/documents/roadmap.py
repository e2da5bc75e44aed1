"""Roadmaps: milestones, checkpoints, and stories with dependencies and a typed status (C13). Pure.

The form is described in `docs/formats/goals.md`: a story is a heading (`### M1.2 `slug` — Title`) with
`name: value` lines below it, a list item, or a row of a table.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import islice

from muniment.documents.decisions import Reference, fields_of, references
from muniment.documents.sections import MAX_LINE, Outline, Section, outline, plain
from muniment.errors import Problem

_MILESTONE = re.compile(r"(?:milestone[ \t]+)?(M\d{1,4})\b(?!\.\d)[\s:.—\u2013-]*(.*)$", re.IGNORECASE)
_STORY = re.compile(r"(?:story[ \t]+)?(M\d{1,4}\.\d{1,4})\b[\s:.—\u2013-]*(.*)$", re.IGNORECASE)
_ITEM = re.compile(r"[ \t]*[-*+][ \t]+(?:\[([ xX~/-])\][ \t]+)?(?:\*\*|__|`)?(M\d{1,4}\.\d{1,4})\b(.*)$")
_SLUG = re.compile(r"[`(\[]*([a-z0-9]+(?:-[a-z0-9]+)*)[`)\]]*(?:[\s]*[:—\u2013-][\s]*|[\s]*$)(.*)$")
_INLINE = re.compile(
    r"[(,;·|\[]?\s*(status|depends on|depends|dependencies|deps|after)\s*:\s*([^;()·|\]]*)[)\]]?",
    re.IGNORECASE,
)
_DEPENDS = ("depends on", "depends", "dependencies", "deps", "after", "blocked by")
_KNOWN = frozenset({*_DEPENDS, "status", "slug", "title", "checkpoint", "checkpoints"})
_MARKS = {"x": "done", "X": "done", "~": "in-progress", "/": "in-progress", "-": "in-progress", " ": ""}


class StoryStatus(StrEnum):
    """The typed status of a story."""

    BACKLOG = "backlog"
    IN_PROGRESS = "in-progress"
    DONE = "done"


@dataclass(frozen=True, slots=True)
class Story:
    """One story; `status_line` is where its status stands, `text` all of it, for matching."""

    id: str
    slug: str
    title: str
    line: int
    status: StoryStatus = StoryStatus.BACKLOG
    status_line: int = 0
    depends: tuple[Reference, ...] = ()
    text: str = ""

    @property
    def milestone(self) -> str:
        """The id of the milestone it belongs to."""
        return self.id.partition(".")[0]


@dataclass(frozen=True, slots=True)
class Milestone:
    """One milestone and what must hold when it is reached."""

    id: str
    title: str
    line: int
    checkpoint: str = ""


@dataclass(frozen=True, slots=True)
class Roadmap:
    """The milestones and stories of one document, in its order."""

    path: str
    milestones: tuple[Milestone, ...] = ()
    stories: tuple[Story, ...] = ()
    _by_name: Mapping[str, Story] = field(default_factory=dict, repr=False, compare=False)
    _milestone_ids: frozenset[str] = field(default=frozenset(), repr=False, compare=False)

    def story(self, name: str) -> Story | None:
        """The story of an id (`M1.2`) or slug."""
        return self._by_name.get(name) or self._by_name.get(name.upper())

    def knows(self, name: str) -> bool:
        """Whether a name is a story's id or slug, or a milestone's id."""
        return self.story(name) is not None or name.upper() in self._milestone_ids

    def blocked(self) -> tuple[Story, ...]:
        """Stories that aren't done and wait for one that isn't either."""
        waiting = (story for story in self.stories if story.status is not StoryStatus.DONE)
        return tuple(story for story in waiting if any(not done for done in self._progress(story)))

    def _progress(self, story: Story) -> Iterator[bool]:
        for name in _expanded(self, story):
            other = self.story(name)
            yield other is None or other.status is StoryStatus.DONE


def parse(text: str, path: str) -> tuple[Roadmap, tuple[Problem, ...]]:
    """Read a roadmap; problems are unknown statuses and ids that stand twice."""
    shape = outline(text)
    problems: list[Problem] = []
    milestones = _milestones(shape)
    stories: list[Story] = []
    for story, status in _stories(shape):
        known, found = _status(story, status, path)
        stories.append(known)
        problems += found
    unique, found = _unique(stories, path)
    names = {story.slug: story for story in unique if story.slug} | {story.id: story for story in unique}
    used = frozenset(one.id for one in milestones) | {story.milestone for story in unique}
    return Roadmap(path, milestones, unique, names, used), (*problems, *found)


def check(roadmap: Roadmap, elsewhere: Iterable[str] = ()) -> tuple[Problem, ...]:
    """Unknown dependencies, cycles, and a story that is done before what it depends on.

    `elsewhere` holds names of other roadmaps' stories, as `goal/M1.2`.
    """
    foreign = frozenset(elsewhere)
    problems = [
        Problem(
            roadmap.path,
            reference.line,
            "roadmap-unknown-id",
            f"{story.id} depends on {reference.name}, which no story or milestone here has.",
        )
        for story in roadmap.stories
        for reference in story.depends
        if not roadmap.knows(reference.name) and reference.name.replace(":", "/") not in foreign
    ]
    cyclic = _cycles(roadmap)
    problems += [
        Problem(
            roadmap.path,
            story.line,
            "roadmap-cycle",
            f"{' → '.join(cycle)} → {cycle[0]} depend on each other.",
        )
        for cycle in cyclic
        if (story := roadmap.story(cycle[0]))
    ]
    problems += _done_too_early(roadmap)
    return tuple(sorted(problems))


def _done_too_early(roadmap: Roadmap) -> Iterator[Problem]:
    for story in roadmap.stories:
        if story.status is not StoryStatus.DONE:
            continue
        for name in _expanded(roadmap, story):
            other = roadmap.story(name)
            if other and other.status is not StoryStatus.DONE:
                message = f"{story.id} is done, but {other.id}, which it depends on, is {other.status}."
                yield Problem(roadmap.path, story.status_line or story.line, "roadmap-status", message)


def _expanded(roadmap: Roadmap, story: Story) -> tuple[str, ...]:
    """The ids of the stories that a story depends on; a milestone stands for its stories."""
    names: list[str] = []
    for reference in story.depends:
        found = roadmap.story(reference.name)
        if found:
            names.append(found.id)
        else:
            wanted = reference.name.upper()
            names += [other.id for other in roadmap.stories if other.milestone == wanted]
    return tuple(dict.fromkeys(names))


def _cycles(roadmap: Roadmap) -> list[tuple[str, ...]]:
    """Each cycle that a walk meets, once, from its first story in the document; without recursion."""
    edges = {story.id: _expanded(roadmap, story) for story in roadmap.stories}
    order = {name: at for at, name in enumerate(edges)}
    done: set[str] = set()
    found: dict[tuple[str, ...], None] = {}
    for start, first_edges in edges.items():
        path: dict[str, Iterator[str]] = {} if start in done else {start: iter(first_edges)}
        while path:
            here = next(reversed(path))
            following = next(path[here], None)
            if following is None:
                done.add(here)
                del path[here]
            elif following in path:
                names = list(path)
                cycle = names[names.index(following) :]
                first = cycle.index(min(cycle, key=order.__getitem__))
                found[(*cycle[first:], *cycle[:first])] = None
            elif following not in done:
                path[following] = iter(edges[following])
    return list(found)


def _milestones(shape: Outline) -> tuple[Milestone, ...]:
    found: list[Milestone] = []
    for section in shape.sections:
        match = _MILESTONE.match(section.title) if section.level else None
        if match:
            fields = fields_of([section], _KNOWN)
            checkpoint = fields.get("checkpoint") or fields.get("checkpoints") or (0, "")
            found.append(Milestone(match[1].upper(), match[2].strip(), section.line, checkpoint[1]))
    return tuple(found)


def _stories(shape: Outline) -> Iterator[tuple[Story, str]]:
    """Every story with its status as written."""
    for section in shape.sections:
        match = _STORY.match(section.title) if section.level else None
        if match:
            yield _described(match[1], match[2], section, line=section.line)
            continue
        lines = section.text.split("\n")
        columns: tuple[str, ...] = ()
        for number, line in enumerate(lines, start=section.start):
            if line.lstrip().startswith("|"):
                cells = tuple(plain(cell) for cell in line.strip().strip("|").split("|"))
                story = _row(cells, columns, number)
                columns = columns or tuple(cell.lower() for cell in cells)
                if story:
                    yield story
                continue
            columns = ()
            item = _ITEM.match(line[:MAX_LINE])
            if item:
                yield _listed(item, number, lines, section.start)


def _described(name: str, rest: str, body: Section, *, line: int, mark: str = "") -> tuple[Story, str]:
    """A story from what follows its id, and the fields in the lines below."""
    fields = fields_of([body], _KNOWN)
    slug, title, inline = _slug_and_title(rest[:MAX_LINE])
    status_line, status = fields.get("status", (line, inline.get("status") or mark))
    depends: list[Reference] = list(references(line, inline.get("depends", "")))
    for word in _DEPENDS:
        depends += references(*fields.get(word, (0, "")))
    return Story(
        id=name.upper(),
        slug=fields.get("slug", (0, slug))[1],
        title=fields.get("title", (0, title))[1],
        line=line,
        status_line=status_line,
        depends=tuple(depends),
        text=body.text,
    ), status


def _listed(match: re.Match[str], line: int, lines: Sequence[str], start: int) -> tuple[Story, str]:
    """A story as a list item; the lines below that are indented are its fields."""
    indent = len(match.string) - len(match.string.lstrip())
    own: list[str] = []
    for text in islice(lines, line - start + 1, None):
        if text.strip() and len(text) - len(text.lstrip()) <= indent:
            break
        own.append(text)
    body = Section(line, 0, "", "\n".join(own), line + 1)
    return _described(match[2], match[3], body, line=line, mark=_MARKS.get(match[1] or " ", ""))


def _row(cells: tuple[str, ...], columns: tuple[str, ...], line: int) -> tuple[Story, str] | None:
    """A story as a table's row; the head of the table names the columns."""
    match = _STORY.match(cells[0]) if cells and columns else None
    if not match:
        return None
    named = dict(zip(columns, cells, strict=False))
    depends = next((named[name] for name in _DEPENDS if name in named), "")
    title = named.get("title") or named.get("story") or named.get("what") or match[2]
    return Story(
        match[1].upper(),
        named.get("slug", ""),
        title,
        line,
        status_line=line,
        depends=references(line, depends),
        text=" ".join(cells),
    ), named.get("status", "")


def _slug_and_title(text: str) -> tuple[str, str, dict[str, str]]:
    """`slug — Title (status: done; depends on: M1.1)` → slug, title, what is said inline."""
    inline: dict[str, str] = {}
    for match in _INLINE.finditer(text):
        inline.setdefault("status" if match[1].lower() == "status" else "depends", match[2].strip())
    rest = _INLINE.sub("", text).strip(" \t*_:.—\u2013-;()[]")
    quoted = re.match(r"`([a-z0-9-]+)`[\s:*_—\u2013-]*(.*)$", rest)
    named = quoted or _SLUG.match(rest)
    if named and (quoted or "-" in named[1] or named[2]):
        return named[1], plain(named[2]) or named[1].replace("-", " "), inline
    return "", plain(rest), inline


def _status(story: Story, written: str, path: str) -> tuple[Story, tuple[Problem, ...]]:
    word = re.sub(r"[\s_]+", "-", plain(written).strip(" .").lower())
    if not word:
        return story, ()
    try:
        return replace(story, status=StoryStatus(word)), ()
    except ValueError:
        message = f"{story.id} has the status {written[:40]!r}; it must be backlog, in-progress or done."
        return story, (Problem(path, story.status_line or story.line, "roadmap-status-word", message),)


def _unique(stories: Iterable[Story], path: str) -> tuple[tuple[Story, ...], tuple[Problem, ...]]:
    """Each id's first story, and a problem for every other one and for a slug that two have."""
    by_id: dict[str, Story] = {}
    by_slug: dict[str, Story] = {}
    problems: list[Problem] = []
    for story in stories:
        if story.id in by_id:
            where = by_id[story.id].line
            problems.append(
                Problem(path, story.line, "roadmap-id-twice", f"{story.id} stands already on line {where}.")
            )
            continue
        by_id[story.id] = story
        if story.slug and story.slug in by_slug:
            other = by_slug[story.slug]
            message = f"{story.id} has the slug {story.slug} of {other.id} on line {other.line}."
            problems.append(Problem(path, story.line, "roadmap-slug-twice", message))
        by_slug.setdefault(story.slug, story)
    return tuple(by_id.values()), tuple(problems)
