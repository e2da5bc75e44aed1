"""Git's own object formats, read from raw bytes; pure, and shared by both implementations.

Formats: git's `Documentation/gitformat-*` and the "Git Internals" chapter of the Git book.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping

from muniment.errors import Refused, UsageProblem
from muniment.git.process import decode, encode
from muniment.git.repo import Commit, Oid, Signature, TreeEntry

EMPTY_TREE = {
    "sha1": Oid("4b825dc642cb6eb9a060e54bf8d69288fbee4904"),
    "sha256": Oid("6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321"),
}
"""git knows the empty tree by its id even where it was never stored."""

TREE_MODE = 0o040000
_HEX_DIGITS = {"sha1": 40, "sha256": 64}
_SIGNATURE = re.compile(rb"(?P<name>.*?) ?<(?P<email>[^>]*)>(?: (?P<when>-?\d+) (?P<zone>[+-]\d{4}))?\s*\Z")


def null_oid(object_format: str) -> Oid:
    """The all-zero id that stands for "no object" in git's commands."""
    return Oid("0" * _HEX_DIGITS[object_format])


def parse_tree(data: bytes, object_format: str) -> Iterator[tuple[str, int, Oid]]:
    """The (name, mode, id) of each entry of a raw tree object, in the tree's order."""
    width = _HEX_DIGITS[object_format] // 2
    position = 0
    while position < len(data):
        space = data.index(b" ", position)
        end = data.index(b"\0", space)
        yield (
            decode(data[space + 1 : end]),
            int(data[position:space], 8),
            Oid(data[end + 1 : end + 1 + width].hex()),
        )
        position = end + 1 + width


def parse_commit(oid: Oid, data: bytes) -> Commit:
    """A raw commit object as a record; the message in its declared encoding, else UTF-8 with replacement."""
    header, _, message = data.partition(b"\n\n")
    tree, parents, encoding = Oid(""), [], "utf-8"
    author = committer = Signature("", "", 0)
    for line in header.split(b"\n"):
        name, _, value = line.partition(b" ")
        if name == b"tree":
            tree = Oid(value.decode("ascii"))
        elif name == b"parent":
            parents.append(Oid(value.decode("ascii")))
        elif name == b"author":
            author = parse_signature(value)
        elif name == b"committer":
            committer = parse_signature(value)
        elif name == b"encoding":
            encoding = value.decode("ascii", "replace")
    return Commit(oid, tree, tuple(parents), author, committer, _text(message, encoding))


def parse_signature(value: bytes) -> Signature:
    """`Name <email> seconds +hhmm` as a record; what is malformed reads as empty, never as an error."""
    match = _SIGNATURE.match(value)
    if match is None:
        return Signature(value.decode("utf-8", "replace"), "", 0)
    zone = match["zone"] or b"+0000"
    minutes = int(zone[1:3]) * 60 + int(zone[3:5])
    return Signature(
        match["name"].decode("utf-8", "replace"),
        match["email"].decode("utf-8", "replace"),
        int(match["when"] or 0),
        -minutes if zone[:1] == b"-" else minutes,
    )


def _text(data: bytes, encoding: str) -> str:
    try:
        return data.decode(encoding, "replace")
    except LookupError:
        return data.decode("utf-8", "replace")


def index_line(record: str) -> tuple[int, TreeEntry]:
    """One record of `ls-files --stage -z` as (stage, entry)."""
    head, _, path = record.partition("\t")
    mode, oid, stage = head.split(" ")
    return int(stage), TreeEntry(path, int(mode, 8), Oid(oid))


def tree_line(record: str) -> TreeEntry:
    """One record of `ls-tree -r -z` as an entry."""
    head, _, path = record.partition("\t")
    mode, _, oid = head.split(" ")
    return TreeEntry(path, int(mode, 8), Oid(oid))


def blob_oid(data: bytes, object_format: str) -> Oid:
    """The id of a blob holding exactly these bytes, without storing it."""
    return Oid(hashlib.new(object_format, b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest())


Sets = Mapping[str, tuple[Oid, int] | None]
"""Paths with the (blob, mode) they get, or None to remove them."""


def edit_tree(
    base: Oid | None,
    changes: Sets,
    read: Callable[[Oid], bytes],
    write: Callable[[bytes], Oid],
    object_format: str,
) -> Oid:
    """Store a tree like the tree `base` (None: empty) with files set or (None) removed.

    Removals come first, so that a file may make way for a folder of the same name, or the reverse.
    Folders left empty vanish.

    Raises:
        Refused: A file would replace a folder, or a folder a file, that wasn't removed by `changes`.
    """
    here, below = _by_folder(changes)
    listed = {name: (oid, mode) for name, mode, oid in parse_tree(read(base), object_format)} if base else {}
    for name, value in here.items():
        if value is None and name in listed and listed[name][1] != TREE_MODE:
            del listed[name]
    for name, inner in below.items():
        old = listed.get(name)
        if old is not None and old[1] != TREE_MODE:
            if any(inner.values()):
                raise Refused(f"{name!r} is a file in the commit; a folder can't replace it.")
            continue
        listed[name] = edit_tree(old and old[0], inner, read, write, object_format), TREE_MODE
        if listed[name][0] == EMPTY_TREE[object_format]:
            del listed[name]
    for name, value in here.items():
        if value is not None:
            if listed.get(name, value)[1] == TREE_MODE:
                raise Refused(f"{name!r} is a folder in the commit; a file can't replace it.")
            listed[name] = value
    return write(format_tree(listed))


def _by_folder(changes: Sets) -> tuple[Sets, Mapping[str, Sets]]:
    """Changes of this folder's own files, and per subfolder the changes below it."""
    here: dict[str, tuple[Oid, int] | None] = {}
    below: dict[str, dict[str, tuple[Oid, int] | None]] = {}
    for path, value in changes.items():
        name, slash, rest = path.partition("/")
        if slash:
            below.setdefault(name, {})[rest] = value
        else:
            here[name] = value
    return here, below


def format_tree(entries: Mapping[str, tuple[Oid, int]]) -> bytes:
    """A raw tree object; git sorts names bytewise, a folder's as if it ended in `/`."""
    rows = [(encode(name), oid, mode) for name, (oid, mode) in entries.items()]
    rows.sort(key=lambda row: row[0] + b"/" if row[2] == TREE_MODE else row[0])
    return b"".join(b"%o %s\0" % (mode, name) + bytes.fromhex(oid) for name, oid, mode in rows)


def format_commit(
    tree: Oid, parents: Iterable[Oid], message: str, author: Signature, committer: Signature
) -> bytes:
    """A raw commit object in UTF-8; raises `UsageProblem` for a name or address git can't hold."""
    lines = [f"tree {tree}", *(f"parent {parent}" for parent in parents)]
    lines += [f"author {_stamp(author)}", f"committer {_stamp(committer)}", ""]
    return encode("\n".join(lines) + "\n" + message)


def _stamp(who: Signature) -> str:
    if any(char in who.name + who.email for char in "<>\n\0") or not who.name.strip():
        raise UsageProblem("A commit's author needs a name without line breaks or angle brackets.")
    sign = "-" if who.offset < 0 else "+"
    hours, minutes = divmod(abs(who.offset), 60)
    return f"{who.name} <{who.email}> {who.when} {sign}{hours:02}{minutes:02}"
