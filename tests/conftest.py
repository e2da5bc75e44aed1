"""Sealed git for every test: no user configuration, no network, fixed identity, no editor."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.support.repo import Repo

_HEARD: Mapping[signal.Signals, Any] = {
    signal.SIGINT: signal.default_int_handler,
    signal.SIGHUP: signal.SIG_DFL,
    signal.SIGQUIT: signal.SIG_DFL,
    signal.SIGTERM: signal.SIG_DFL,
}
"""What a runner may have ignored: a shell for its background jobs, `nohup` for everything that it starts.

A test's server or child would inherit that, and a test that ends it with a signal would wait for ever.
"""


@pytest.fixture(autouse=True)
def sealed(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pin HOME, XDG, identity, dates and locale; drop every variable a developer's shell may leak."""
    home = tmp_path_factory.mktemp("home")
    for number, handler in _HEARD.items():
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, handler)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _HEARD)
    for name in list(os.environ):
        if name.startswith(("GIT_", "MUNIMENT_", "XDG_")) or name in {"CI", "NO_COLOR", "EDITOR", "VISUAL"}:
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / "config"))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(home / "gitconfig"))
    monkeypatch.setenv("GIT_EDITOR", "false")
    monkeypatch.setenv("GIT_TERMINAL_PROMPT", "0")
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    monkeypatch.setenv("TZ", "UTC")
    (home / "gitconfig").write_text(
        "[user]\n\tname = Robin Owner\n\temail = robin@example.org\n"
        '[init]\n\tdefaultBranch = main\n[protocol "file"]\n\tallow = always\n'
        "[gc]\n\tauto = 0\n[maintenance]\n\tauto = false\n[advice]\n\tdetachedHead = false\n"
    )


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    """A repository with one commit on `main`, in `tmp_path/work`."""
    made = Repo.init(tmp_path / "work")
    made.write("README.md", "# Example\n")
    made.commit("Start")
    return made


@pytest.fixture
def make_repo(tmp_path: Path) -> Callable[[str], Repo]:
    """Make more repositories by name, each with no commit yet."""
    return lambda name: Repo.init(tmp_path / name)
