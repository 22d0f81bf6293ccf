"""Chapters run side by side: what is not in the cache yet is executed before the pages are read, one on each core.

Jupyter Book would run one after the other while it reads, each in a kernel that imports torch and Altair anew. Here
kernels are forked from a process that has them (`kernel_fork`). A chapter that fails is left to Jupyter Book: it runs
the chapter again, and reports the error in its place.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from jupyter_cache.base import CacheBundleIn
from jupyter_cache.executors.utils import ExecutionResult, single_nb_execution
from jupyter_client import AsyncKernelManager
from myst_nb.core.read import create_nb_reader
from sphinx.application import Sphinx
from sphinx.util import logging
from traitlets import CaselessStrEnum, Unicode

from page_kit.running import kernel_fork
from page_kit.running.output_cache import OutputCache, dependencies

IMPORTED_AHEAD = (
    "torch torch._dynamo torch.distributed.tensor torch.testing numpy pandas altair vl_convert tokenizers "
    "safetensors.torch sacrebleu anywidget ipywidgets rich IPython"
).split()
"""What several chapters import, or what torch imports for them: an optimiser's first step asks for `torch._dynamo`, a
comparison of tensors for `torch.distributed.tensor`; each takes more than two seconds."""
_LOGGER = logging.getLogger(__name__)


def uncached(app: Sphinx, docnames: list[str]) -> dict[Path, Any]:
    """The notebooks among these documents that have no outputs in the cache."""
    cache = OutputCache(app.config.nb_execution_cache_path)
    found: dict[Path, Any] = {}
    for docname in docnames:
        path = Path(app.env.doc2path(docname))
        text = path.read_text(encoding="utf-8")
        reader = create_nb_reader(str(path), app.env.myst_config, app.env.mystnb_config, text)
        if reader is None:
            continue
        notebook = reader.read(text)
        try:
            cache.match_cache_notebook(notebook)
        except KeyError:
            found[path] = notebook
    return found


@contextmanager
def fork_server() -> Iterator[str]:
    """A process that forks kernels, while the block lasts; the address of its socket."""
    with tempfile.TemporaryDirectory() as folder:
        address = str(Path(folder, "kernels"))
        command = [sys.executable, kernel_fork.__file__, "serve", address, *IMPORTED_AHEAD]
        variables = {"OMP_NUM_THREADS": "1", **os.environ}  # one core each, which the kernels inherit
        with subprocess.Popen(command, stdin=subprocess.PIPE, env=variables) as server:
            try:
                while not os.path.exists(address) and server.poll() is None:  # it listens before it imports
                    time.sleep(0.02)
                yield address
            finally:
                assert server.stdin is not None
                server.stdin.close()


def forked_kernel(address: str, trace: Path) -> type[AsyncKernelManager]:
    """The manager of a kernel that the server forks, and that notes in a file what it opens."""

    class ForkedKernelManager(AsyncKernelManager):
        # By files: a port that is free may be another kernel's before this one binds it.
        transport = CaselessStrEnum(["tcp", "ipc"], default_value="ipc")
        ip = Unicode(f"{trace}-ipc")

        def format_kernel_cmd(self, extra_arguments: list[str] | None = None) -> list[str]:
            start = [sys.executable, "-S", kernel_fork.__file__, "start"]
            return [*start, address, str(trace), self.connection_file]

    return ForkedKernelManager


def execute(notebook: Any, timeout: int, address: str) -> tuple[ExecutionResult, dict[str, str]]:
    """Run a notebook; what came of it, and the files of the repository that it read, with their digests."""
    # An empty folder: a chapter must not need the folder that it happens to lie in.
    with tempfile.TemporaryDirectory() as folder, tempfile.NamedTemporaryFile() as trace:
        manager, start = forked_kernel(address, Path(trace.name)), time.time()
        result = single_nb_execution(
            notebook, cwd=folder, timeout=timeout, allow_errors=False, kernel_manager_class=manager
        )
        return result, dependencies(Path(trace.name).read_text(encoding="utf-8").splitlines(), start)


def execute_ahead(app: Sphinx, env: Any, docnames: list[str]) -> None:
    """Execute what is missing, and put what succeeded into the cache."""
    todo = uncached(app, docnames) if app.config.nb_execution_mode == "cache" and hasattr(os, "fork") else {}
    if not todo:
        return
    cache, timeout = OutputCache(app.config.nb_execution_cache_path), app.config.nb_execution_timeout
    with fork_server() as address, ThreadPoolExecutor(os.cpu_count()) as pool:
        longest_first = sorted(todo, key=lambda path: -len(todo[path].cells))  # or one core waits for the last
        running = {pool.submit(execute, todo[path], timeout, address): path for path in longest_first}
        for done in as_completed(running):
            path = running[done]
            if done.exception() is not None:  # its kernel could not be started or ended
                _LOGGER.info("%s is left to Jupyter Book: %r", path.name, done.exception())
                continue
            result, read = done.result()
            if result.err is not None:
                _LOGGER.info("%s failed, and is left to Jupyter Book: %s", path.name, result.err)
                continue
            _LOGGER.info("executed %s in %.1f seconds", path.name, result.time)
            bundle = CacheBundleIn(result.nb, str(path), data={"execution_seconds": result.time, "read": read})
            cache.cache_notebook_bundle(bundle, check_validity=False, overwrite=True)


def setup(app: Sphinx) -> None:
    """Connect the above to the moment when it is known which documents will be read."""
    app.connect("env-before-read-docs", execute_ahead)
