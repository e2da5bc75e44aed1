"""Serve a bare repository by every way that git knows: path, file, daemon, smart HTTP, ssh."""

from __future__ import annotations

import base64
import os
import socket
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

from tests.support.repo import Repo

KINDS = ("path", "relative", "file", "daemon", "http", "ssh")
USER, PASSWORD = "robin", "sesame"


@contextmanager
def served(kind: str, bare: Repo, client: Repo, log: Path) -> Iterator[str]:
    """Set up `client`'s remote `origin` for one kind of transport; gives its URL."""
    if kind == "daemon":
        with daemon(bare) as url:
            yield _remote(client, url)
    elif kind == "http":
        with web(bare) as url:
            client.git("config", f"credential.{url}.helper", _helper(log))
            yield _remote(client, url)
    elif kind == "ssh":
        client.git("config", "core.sshCommand", str(_ssh(log)))
        yield _remote(client, f"ssh://git.example.org{bare.path}")
    else:
        urls = {
            "path": str(bare.path),
            "relative": os.path.relpath(bare.path, client.path),
            "file": bare.path.as_uri(),
        }
        yield _remote(client, urls[kind])


def _remote(client: Repo, url: str) -> str:
    client.git("config", "remote.origin.url", url)
    client.git("config", "remote.origin.fetch", "+refs/heads/*:refs/remotes/origin/*")
    return url


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def daemon(bare: Repo) -> Iterator[str]:
    """A git daemon on loopback that takes pushes."""
    port = free_port()
    command = ["git", "daemon", "--reuseaddr", "--listen=127.0.0.1", f"--port={port}", "--export-all"]
    command += ["--enable=receive-pack", f"--base-path={bare.path.parent}", str(bare.path)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    url = f"git://127.0.0.1:{port}/{bare.path.name}"
    try:
        while subprocess.run(["git", "ls-remote", url], capture_output=True, check=False).returncode:
            assert process.poll() is None, process.stderr and process.stderr.read()
        yield url
    finally:
        process.terminate()
        process.communicate()


def _helper(log: Path) -> str:
    """A credential helper that notes each question."""
    script = log.parent / "credential-helper"
    script.write_text(
        f'#!/bin/sh\necho "credential $1" >> {log}\n'
        f'[ "$1" = get ] && printf "username={USER}\\npassword={PASSWORD}\\n"\nexit 0\n'
    )
    script.chmod(0o755)
    return str(script)


def _ssh(log: Path) -> Path:
    """A stand-in for ssh that runs the server's command right here."""
    script = log.parent / "ssh"
    script.write_text(
        f'#!/bin/sh\necho "ssh $*" >> {log}\n'
        'while [ $# -gt 1 ]; do case "$1" in -o|-p) shift 2;; -*) shift;; *) break;; esac; done\n'
        'shift\nexec /bin/sh -c "$*"\n'
    )
    script.chmod(0o755)
    return script


@contextmanager
def web(bare: Repo, *, password: str = PASSWORD) -> Iterator[str]:
    """`git http-backend` behind a small web server that asks for a password."""
    bare.git("config", "http.receivepack", "true")
    expected = "Basic " + base64.b64encode(f"{USER}:{password}".encode()).decode()

    class Handler(BaseHTTPRequestHandler):
        def _serve(self) -> None:
            if self.headers.get("Authorization") != expected:
                self.send_response(401)
                self.send_header("WWW-Authenticate", 'Basic realm="git"')
                self.send_header("Content-Length", "0")
                self.end_headers()
                return
            head, _, body = _backend(bare, self, self._body()).partition(b"\r\n\r\n")
            fields = [line.split(": ", 1) for line in head.decode("latin-1").split("\r\n")]
            status = next((value for name, value in fields if name == "Status"), "200 OK")
            self.send_response(int(status.split(" ")[0]))
            for name, value in fields:
                if name != "Status":
                    self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def _body(self) -> bytes:
            if self.headers.get("Transfer-Encoding") != "chunked":
                return self.rfile.read(int(self.headers.get("Content-Length", "0")))
            parts = []
            while size := int(self.rfile.readline(), 16):
                parts.append(self.rfile.read(size))
                self.rfile.readline()
            self.rfile.readline()
            return b"".join(parts)

        do_GET = do_POST = _serve  # noqa: N815 - the library's names

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/{bare.path.name}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _backend(bare: Repo, request: BaseHTTPRequestHandler, body: bytes) -> bytes:
    asked = urlsplit(request.path)
    environment = {
        **os.environ,
        "GIT_PROJECT_ROOT": str(bare.path.parent),
        "GIT_HTTP_EXPORT_ALL": "1",
        "REQUEST_METHOD": request.command,
        "PATH_INFO": asked.path,
        "QUERY_STRING": asked.query,
        "REMOTE_USER": USER,
        "CONTENT_TYPE": request.headers.get("Content-Type", ""),
        "CONTENT_LENGTH": str(len(body)),
        "HTTP_CONTENT_ENCODING": request.headers.get("Content-Encoding", ""),
        "GIT_PROTOCOL": request.headers.get("Git-Protocol", ""),
    }
    command = ["git", "http-backend"]
    return subprocess.run(command, input=body, capture_output=True, env=environment, check=True).stdout


def logging_git(folder: Path, log: Path) -> str:
    """A `git` to put first on PATH that notes each start; gives the folder."""
    real = subprocess.run(["/bin/sh", "-c", "command -v git"], capture_output=True, text=True, check=True)
    folder.mkdir(parents=True, exist_ok=True)
    script = folder / "git"
    script.write_text(f'#!/bin/sh\necho "$*" >> {log}\nexec {real.stdout.strip()} "$@"\n')
    script.chmod(0o755)
    return str(folder)
