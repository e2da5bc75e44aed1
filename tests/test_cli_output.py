"""The line that says that something takes long: only at a terminal, and wiped at the end."""

from __future__ import annotations

import io
import sys
import threading

import pytest

from muniment.cli import output


class Screen(io.StringIO):
    """A stderr that is a terminal, or isn't, and tells when something was written to it."""

    def __init__(self, *, terminal: bool) -> None:
        super().__init__()
        self._terminal = terminal
        self.told = threading.Event()

    def isatty(self) -> bool:
        return self._terminal

    def write(self, text: str) -> int:
        self.told.set()
        return super().write(text)


def test_waiting__at_a_terminal_it_is_shown_and_wiped(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Screen(terminal=True)
    monkeypatch.setattr(sys, "stderr", screen)
    with output.waiting("Checking", after=0.01):
        assert screen.told.wait(10)
    shown = screen.getvalue()
    assert shown.startswith("\rChecking… 0 s")
    assert shown.endswith("\r\x1b[K")


@pytest.mark.parametrize(
    ("terminal", "term", "after"), [(False, "x", 0.0), (True, "dumb", 0.0), (True, "x", 60)]
)
def test_waiting__else_nothing_is_said(
    monkeypatch: pytest.MonkeyPatch, terminal: bool, term: str, after: float
) -> None:
    screen = Screen(terminal=terminal)
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setenv("TERM", term)
    with output.waiting("Checking", after=after):
        pass
    assert screen.getvalue() == ""


def test_waiting__an_error_passes_through(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", Screen(terminal=True))
    with pytest.raises(ValueError, match="told"), output.waiting("Checking"):
        raise ValueError("told")
