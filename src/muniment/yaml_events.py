"""The events of a YAML 1.2 text, by the library.

What the library refuses although YAML 1.2 has it is taught here: tabs before comments, and characters that
were line breaks in YAML 1.1 only.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

_NO_BREAKS = "\x85\u2028\u2029"


class YamlError(ValueError):
    """A text that can't be read as one YAML document, and where.

    Attributes:
        message: One sentence without the file's name.
        line: 1-based line, 0 when unknown.
    """

    def __init__(self, message: str, line: int = 0) -> None:
        super().__init__(message)
        self.message = message
        self.line = line


def events(text: str) -> Iterator[Any]:
    """The parser's events, its errors turned into ours.

    U+0085, U+2028 and U+2029 are ordinary characters in YAML 1.2 and line breaks to the library, so it sees
    three characters that the text doesn't have instead.
    """
    from ruamel.yaml.error import MarkedYAMLError, YAMLError  # noqa: PLC0415 - 40 ms that most commands don't need
    from ruamel.yaml.reader import ReaderError  # noqa: PLC0415 - same

    try:
        found = [(char, _unused(text, number)) for number, char in enumerate(_NO_BREAKS) if char in text]
        there = {ord(char): standing for char, standing in found}
        back = {ord(standing): char for char, standing in found}
        for event in _parser().parse(text.translate(there)):
            if back and type(event).__name__ == "ScalarEvent":
                event.value = event.value.translate(back)
            yield event
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        words = error.problem or error.context or "bad syntax"
        raise YamlError(f"Not valid YAML: {words}.", mark.line + 1 if mark else 0) from error
    except ReaderError as error:
        line = text.count("\n", 0, error.position) + 1 if isinstance(error.position, int) else 0
        raise YamlError("Not valid YAML: a control character.", line) from error
    except (YAMLError, ValueError, TypeError, RecursionError) as error:
        if isinstance(error, YamlError):
            raise
        raise YamlError("Not valid YAML.") from error


def _unused(text: str, number: int) -> str:
    """A private-use character that isn't in a text; another one for each of a few numbers."""
    first = 0xE000 + 0x800 * number
    found = next((char for char in map(chr, range(first, first + 0x800)) if char not in text), None)
    if found is None:
        raise YamlError("Not valid YAML: the file uses too many private characters beside rare line breaks.")
    return found


def _parser() -> Any:
    """The library's parser, taught that a tab may stand before a comment or a line's end (YAML 1.2, 6.6)."""
    from ruamel.yaml import YAML  # noqa: PLC0415 - 40 ms that most commands don't need
    from ruamel.yaml.scanner import Scanner  # noqa: PLC0415 - same

    class TabScanner(Scanner):
        def scan_to_next_token(self) -> Any:
            super().scan_to_next_token()
            while self.reader.peek() == "\t" and self._ends_line():
                super().scan_to_next_token()

        def _ends_line(self) -> bool:
            """Pass blanks before a comment or the line's end; others stay for the library to judge."""
            ahead = 1
            while self.reader.peek(ahead) in " \t":
                ahead += 1
            ends: bool = self.reader.peek(ahead) in "#\r\n\0"
            if ends:
                self.reader.forward(ahead)
            return ends

    parser = YAML(typ="safe", pure=True)
    parser.Scanner = TabScanner
    return parser
