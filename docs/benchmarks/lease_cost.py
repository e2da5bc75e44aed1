"""What a lease costs: `muniment lease acquire` against one fetch and one push, `LOCKED` against one look.

Run: python docs/benchmarks/lease_cost.py [--rounds 15] [--transport file|git]
Two clones of a small repository and a bare remote on this machine. Each round times, in turn, the git
commands and ours; printed are medians in seconds, their ratio, and how many git processes one call starts (by
a `git` on PATH that counts).
"""

from __future__ import annotations

import argparse
import os
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

BRANCH = "muniment/state"
WHO = {
    f"GIT_{role}_{part}": "b@example.org" for role in ("AUTHOR", "COMMITTER") for part in ("NAME", "EMAIL")
}


def run(*command: str, cwd: Path, env: dict[str, str], ok: bool = True) -> float:
    """Seconds that a command took."""
    began = time.perf_counter()
    done = subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, check=False)
    if ok and done.returncode:
        raise SystemExit(f"{command}: {done.stdout}{done.stderr}")
    return time.perf_counter() - began


@contextmanager
def served(root: Path, transport: str) -> Iterator[str]:
    """The remote's URL."""
    if transport == "file":
        yield (root / "bare.git").as_uri()
        return
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    options = (
        "--reuseaddr",
        "--export-all",
        "--enable=receive-pack",
        f"--port={port}",
        f"--base-path={root}",
    )
    daemon = subprocess.Popen(["git", "daemon", "--listen=127.0.0.1", *options, str(root)])
    url = f"git://127.0.0.1:{port}/bare.git"
    try:
        while subprocess.run(["git", "ls-remote", "-q", url], capture_output=True, check=False).returncode:
            time.sleep(0.05)
        yield url
    finally:
        daemon.terminate()
        daemon.wait()


def counting(root: Path) -> tuple[Path, Path]:
    """A folder with a `git` that notes each start, and the file of its notes."""
    folder, notes = root / "bin", root / "starts"
    folder.mkdir()
    real = shutil.which("git")
    (folder / "git").write_text(f'#!/bin/sh\necho "$*" >> {notes}\nexec {real} "$@"\n')
    (folder / "git").chmod(0o755)
    return folder, notes


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--transport", choices=("file", "git"), default="file")
    given = parser.parse_args()
    root = Path(tempfile.mkdtemp(prefix="lease-cost-"))
    env = {**os.environ, **WHO, "GIT_CONFIG_NOSYSTEM": "1"}
    muniment = [str(Path(sys.executable).with_name("muniment"))]
    run("git", "init", "-q", "--bare", "-b", "main", "bare.git", cwd=root, env=env)
    with served(root, given.transport) as url:
        for name in ("ours", "other"):
            run("git", "clone", "-q", url, name, cwd=root, env=env)
        ours, other = root / "ours", root / "other"
        run("git", "commit", "-q", "--allow-empty", "-m", "Start", cwd=ours, env=env)
        run("git", "push", "-q", "origin", "HEAD:main", cwd=ours, env=env)

        def lease(where: Path, *words: str, ok: bool = True, env: dict[str, str] = env) -> float:
            return run(*muniment, "lease", *words, "--branch", BRANCH, cwd=where, env=env, ok=ok)

        def by_git() -> float:
            run("git", "commit", "-q", "--allow-empty", "-m", "More", cwd=ours, env=env)
            fetch = run("git", "fetch", "-q", "origin", cwd=ours, env=env)
            return fetch + run("git", "push", "-q", "origin", "HEAD:main", cwd=ours, env=env)

        def acquired() -> float:
            spent = lease(ours, "acquire", "--writer", "w")
            lease(ours, "release", "--writer", "w")
            return spent

        compare("acquire / (git fetch + git push)", acquired, by_git, given.rounds)
        lease(other, "acquire", "--writer", "o")
        lease(ours, "acquire", "--writer", "w", ok=False)
        compare(
            "LOCKED, tip known / git ls-remote",
            lambda: lease(ours, "acquire", "--writer", "w", ok=False),
            lambda: run("git", "ls-remote", "origin", f"refs/heads/{BRANCH}", cwd=ours, env=env),
            given.rounds,
        )
        start = statistics.median(run(*muniment, "--version", cwd=ours, env=env) for _ in range(given.rounds))
        print(f"start of the program (muniment --version): {start:.3f} s")
        folder, notes = counting(root)
        counted = {**env, "PATH": f"{folder}{os.pathsep}{env['PATH']}"}
        lease(other, "release", "--writer", "o")
        for words in (("acquire",), ("renew",), ("release",)):
            notes.unlink(missing_ok=True)
            lease(ours, *words, "--writer", "w", env=counted)
            started = [line for line in notes.read_text().splitlines() if line]
            print(f"git processes of {' '.join(words)}: {len(started)}")
    shutil.rmtree(root, ignore_errors=True)


def compare(what: str, ours: Callable[[], float], theirs: Callable[[], float], rounds: int) -> None:
    """Print both medians and their ratio, taken in turn."""
    pairs = [(ours(), theirs()) for _ in range(rounds)]
    mine, others = (statistics.median(side) for side in zip(*pairs, strict=True))
    print(f"{what}: {mine:.3f} s / {others:.3f} s = {mine / others:.2f}")


if __name__ == "__main__":
    main()
