"""Relate many queries at once: to a corpus of JSON lines (no repository), or to a repository's index."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from muniment.errors import Problem, UsageProblem
from muniment.relate import index
from muniment.relate.inverted import build
from muniment.relate.rank import make_query, rank
from muniment.relate.text import terms
from muniment.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Text:
    """One line of a corpus or of the queries."""

    id: str
    title: str
    text: str


def read_texts(data: bytes, path: str) -> tuple[Text, ...]:
    """The texts of a JSON-lines file.

    Raises:
        UsageProblem: Some line is no text; every such line is named.
    """
    texts: list[Text] = []
    problems: list[Problem] = []
    for number, line in enumerate(data.removeprefix(b"\xef\xbb\xbf").split(b"\n"), start=1):
        if not line.strip():
            continue
        text = _read_text(line)
        if isinstance(text, Text):
            texts.append(text)
        else:
            problems.append(Problem(path, number, "relate-input", text))
    if problems:
        hint = 'Each line: {"id": "…", "title": "…", "text": "…"}. Nothing was ranked.'
        raise UsageProblem(str(problems[0]), hint, problems=tuple(problems))
    return tuple(texts)


def _read_text(line: bytes) -> Text | str:
    """One text, or what is wrong with the line."""
    try:
        value: Any = json.loads(line)
    except (ValueError, RecursionError):
        return "The line is not JSON in UTF-8."
    if not isinstance(value, dict):
        return "The line is not a JSON object."
    fields = [value.get("id"), value.get("title", ""), value.get("text", "")]
    if not all(isinstance(field, str) for field in fields) or not fields[0]:
        return 'The line needs "id", "title" and "text", all texts.'
    return Text(*(_scalar(field) for field in fields))


def _scalar(text: str) -> str:
    """A text without lone surrogates, which JSON can spell but UTF-8 can't."""
    return text.encode("utf-8", "replace").decode("utf-8")


def over_corpus(
    corpus: Sequence[Text], queries: Iterable[Text], *, limit: int
) -> Iterator[dict[str, object]]:
    """Rank the corpus for each query in turn: the contract's answer, one a query.

    `ranked` is filled also when the answer abstains: whoever measures a ranking wants to see it.
    """
    built = build((terms(text.title), terms(text.text)) for text in corpus)
    for query in queries:
        ranking = rank(
            make_query(query.title, query.text),
            [built],
            lambda _, passage: corpus[passage].title,
            lambda _, passage: corpus[passage].id,
            limit=limit,
        )
        ranked = [
            {"id": corpus[hit.passage].id, "score": round(hit.sureness, 4), "verdict": str(hit.verdict)}
            for hit in ranking.hits
        ]
        yield {"id": query.id, "abstained": ranking.abstained, "ranked": ranked}


def over_repository(
    ws: Workspace, queries: Iterable[Text], *, limit: int, rebuild: bool = False
) -> Iterator[dict[str, object]]:
    """The same over a repository's index; `id` is the path, or for a commit its id."""
    if rebuild:
        index.drop(ws)
    asked = index.refresh(ws)
    for query in queries:
        relations = index.ask(ws, asked, query.title, query.text, limit=limit, weak=True)
        ranked = [
            {
                "id": one.path or one.commit,
                "score": one.score,
                "verdict": str(one.verdict),
                "path": one.path,
                "line": one.line,
                "type": one.type,
            }
            for one in relations.results
        ]
        yield {"id": query.id, "abstained": relations.abstained, "ranked": ranked}
