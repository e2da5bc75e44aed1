"""Random histories with criss-cross merges: what was written is there, or who overwrote it saw it (G8)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import permutations

from hypothesis import given, settings
from hypothesis import strategies as st

from muniment.state.merge import CONFLICTS
from muniment.state.merge_text import merge_text
from muniment.yaml_io import dump, parse

REPLICAS = 3
ITEMS = ("s:1", "s:2")
FIELDS = ("status", "title")
START = dump({"schema_version": 1, "items": {key: dict.fromkeys(FIELDS, "start") for key in ITEMS}})


@dataclass(frozen=True, slots=True)
class Commit:
    """A version with its parents and the written values that it knows of, overwritten ones apart."""

    number: int
    text: str
    parents: tuple[Commit, ...] = ()
    live: frozenset[tuple[str, str, str]] = frozenset()
    seen: frozenset[tuple[str, str, str]] = frozenset()

    def ancestors(self) -> Iterator[Commit]:
        yield self
        for parent in self.parents:
            yield from parent.ancestors()


@dataclass(slots=True)
class History:
    """Commits as git would have them, with its recursive choice of a merge base."""

    made: int = 0
    heads: list[Commit] = field(default_factory=lambda: [Commit(0, START)] * REPLICAS)

    def commit(self, text: str, parents: tuple[Commit, ...], live: frozenset[tuple[str, str, str]]) -> Commit:
        self.made += 1
        seen = live.union(*(parent.seen for parent in parents))
        return Commit(self.made, text, parents, live, seen)

    def write(self, replica: int, item: str, name: str) -> None:
        """Set a field as the engine does: the new value, the field's record of conflicts cleared."""
        head = self.heads[replica]
        value = parse(head.text).value
        token = f"v{self.made + 1}"
        record = value["items"].setdefault(item, {})
        record[name] = token
        left = [row for row in record.pop(CONFLICTS, []) if row["field"] != name]
        if left:
            record[CONFLICTS] = left
        live = frozenset(one for one in head.live if one[:2] != (item, name)) | {(item, name, token)}
        self.heads[replica] = self.commit(dump(value), (head,), live)

    def delete(self, replica: int, item: str) -> None:
        head = self.heads[replica]
        value = parse(head.text).value
        if item in value["items"]:
            del value["items"][item]
            live = frozenset(one for one in head.live if one[0] != item)
            self.heads[replica] = self.commit(dump(value), (head,), live)

    def merge(self, into: int, other: int) -> None:
        self.heads[into] = self.merged(self.heads[into], self.heads[other])

    def merged(self, one: Commit, other: Commit) -> Commit:
        if other in set(one.ancestors()):
            return one
        if one in set(other.ancestors()):
            return other
        text = self.text(one, other)
        assert text == self.text(other, one)
        gone = (one.seen - one.live) | (other.seen - other.live)
        return self.commit(text, (one, other), frozenset((one.live | other.live) - gone))

    def text(self, one: Commit, other: Commit) -> str:
        base = self.base(one, other)
        return merge_text(base.text, one.text, other.text)

    def base(self, one: Commit, other: Commit) -> Commit:
        """The best common ancestor; of several, their own merge."""
        common = set(one.ancestors()) & set(other.ancestors())
        best = [commit for commit in common if not any(commit in set(c.ancestors()) - {c} for c in common)]
        best.sort(key=lambda commit: commit.number)
        virtual = best[0]
        for commit in best[1:]:
            virtual = self.commit(self.text(virtual, commit), (virtual, commit), frozenset())
        return virtual


STEPS = st.one_of(
    st.tuples(
        st.just("write"), st.integers(0, REPLICAS - 1), st.sampled_from(ITEMS), st.sampled_from(FIELDS)
    ),
    st.tuples(st.just("delete"), st.integers(0, REPLICAS - 1), st.sampled_from(ITEMS)),
    st.tuples(st.just("merge"), st.integers(0, REPLICAS - 1), st.integers(0, REPLICAS - 1)),
    st.tuples(st.just("merge"), st.integers(0, REPLICAS - 1), st.integers(0, REPLICAS - 1)),
)


@settings(max_examples=250, deadline=None)
@given(st.lists(STEPS, max_size=14))
def test_histories__keep_what_nobody_overwrote_knowingly(steps: list[tuple[str, int, str, str]]) -> None:
    history = History()
    for word, *arguments in steps:
        getattr(history, word)(*arguments)
    for order in permutations(range(REPLICAS)):
        final = history.heads[order[0]]
        for replica in order[1:]:
            final = history.merged(final, history.heads[replica])
        items = parse(final.text).value["items"]
        for item, name, token in final.live:
            record = items[item]
            kept = [
                value for row in record.get(CONFLICTS, []) if row["field"] == name for value in row["values"]
            ]
            assert token in {record.get(name), *kept}
