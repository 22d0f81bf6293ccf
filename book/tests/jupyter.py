"""A real JupyterLab for tests: its server, in a home of its own, and what is asked of its page."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import time
import urllib.request
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

PATIENCE = 150  # seconds; a busy machine is no failure
OURS = ("anywidget", "vega", "training", "widget", "altair")
"""Words of console errors that are ours: JupyterLab has some of its own."""


class Server(NamedTuple):
    """A running JupyterLab, and the folder that it shows."""

    address: str
    folder: Path

    def kernels(self) -> list[str]:
        with urllib.request.urlopen(f"{self.address}/api/kernels") as answer:
            return [kernel["id"] for kernel in json.load(answer)]

    def end_kernel(self, kernel: str) -> None:
        """End a kernel as JupyterLab's own 'shut down' does: its process is killed."""
        request = urllib.request.Request(f"{self.address}/api/kernels/{kernel}", method="DELETE")
        urllib.request.urlopen(request).close()

    def is_ours(self, url: str) -> bool:
        """Whether a page that asks for this asks nobody but this server."""
        return url.startswith((self.address, self.address.replace("http", "ws", 1), "data:", "blob:"))


class Complaints:
    """What a page asks of others, and which errors of ours its console shows."""

    def __init__(self, page: Any, server: Server) -> None:
        self._foreign: list[str] = []
        self._errors: list[str] = []
        page.on("request", lambda request: server.is_ours(request.url) or self._foreign.append(request.url))
        page.on("pageerror", lambda error: self._errors.append(str(error)))
        page.on("console", lambda message: message.type == "error" and self._errors.append(message.text))

    def take(self) -> list[str]:
        """Those since the last time."""
        taken = self._foreign + [error for error in self._errors if any(name in error.lower() for name in OURS)]
        self._foreign.clear()
        self._errors.clear()
        return taken


def skip(message: str) -> None:
    warnings.warn(message, stacklevel=1)
    pytest.skip(message)


@contextlib.contextmanager
def jupyterlab_server(home: Path, repository: Path) -> Iterator[Server]:
    """JupyterLab in a folder `work` of `home`, with one kernel: this Python, which has the library."""
    try:
        import jupyterlab  # noqa: F401
    except ImportError:
        skip("no jupyterlab here (extra `dev`): nothing is tested in a real notebook")
    folder = home / "work"
    folder.mkdir()
    kernel = home / "data" / "kernels" / "python3"
    kernel.mkdir(parents=True)
    argv = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    spec = {"argv": argv, "display_name": "Python 3", "language": "python"}
    (kernel / "kernel.json").write_text(json.dumps(spec))
    page_config = home / "config" / "labconfig" / "page_config.json"
    page_config.parent.mkdir(parents=True)
    page_config.write_text('{"disabledExtensions": {"@jupyterlab/apputils-extension:announcements": true}}')
    command = [sys.executable, "-m", "jupyterlab", *(f"--{name}={value}" for name, value in _options(folder).items())]
    with (home / "server.txt").open("wb") as output:
        environment = _environment(home, repository)
        server = subprocess.Popen(command, env=environment, stdout=output, stderr=subprocess.STDOUT, cwd=folder)
    try:
        yield Server(_address(server, home), folder)
    finally:
        server.terminate()
        try:
            server.wait(30)
        except subprocess.TimeoutExpired:
            server.kill()


def _environment(home: Path, repository: Path) -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name != "ANNOTATED_BOOK"} | {
        "HOME": str(home),
        "JUPYTER_CONFIG_DIR": str(home / "config"),
        "JUPYTER_DATA_DIR": str(home / "data"),
        "JUPYTER_RUNTIME_DIR": str(home / "runtime"),
        "PYTHONPATH": f"{repository}{os.pathsep}{repository / 'book'}",
        "PYDEVD_DISABLE_FILE_VALIDATION": "1",
        "OMP_NUM_THREADS": "1",
    }


def _options(folder: Path) -> dict[str, str]:
    return {
        "ServerApp.open_browser": "False",
        "ServerApp.port": "0",
        "ServerApp.ip": "127.0.0.1",
        "ServerApp.allow_root": "True",
        "ServerApp.root_dir": str(folder),
        "IdentityProvider.token": "",
        "ServerApp.disable_check_xsrf": "True",
        "LabApp.news_url": "None",
        "LabApp.check_for_updates_class": "jupyterlab.NeverCheckForUpdate",
        "LabApp.extension_manager": "readonly",
        "LabApp.expose_app_in_browser": "True",
    }


def _address(server: subprocess.Popen, home: Path) -> str:
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline and server.poll() is None:
        for file in (home / "runtime").glob("jpserver-*.json"):
            try:
                return json.loads(file.read_text())["url"].rstrip("/")
            except ValueError:
                pass
        time.sleep(0.1)
    raise AssertionError(f"JupyterLab did not start:\n{(home / 'server.txt').read_text()}")


def until(condition: Callable[[], Any], what: str, seconds: float = PATIENCE) -> Any:
    deadline = time.monotonic() + seconds
    while not (result := condition()):
        assert time.monotonic() < deadline, f"not within {seconds} seconds: {what}"
        time.sleep(0.1)
    return result
