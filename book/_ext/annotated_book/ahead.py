"""Chapters run side by side: what is not in the cache yet is executed ahead, one chapter on each core.

Jupyter Book would run one after the other while it reads. A chapter that fails here is left to it: it runs the chapter
again, and reports the error in its place.
"""

from __future__ import annotations

import os
import tempfile
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import suppress
from pathlib import Path
from typing import Any

from jupyter_cache import get_cache
from jupyter_cache.base import CacheBundleIn
from jupyter_cache.executors.utils import single_nb_execution
from myst_nb.core.read import create_nb_reader
from sphinx.application import Sphinx
from sphinx.util import logging

_LOGGER = logging.getLogger(__name__)


def uncached(app: Sphinx, docnames: list[str]) -> dict[Path, Any]:
    """The notebooks among these documents that have no outputs in the cache."""
    cache = get_cache(app.config.nb_execution_cache_path)
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


def execute_ahead(app: Sphinx, env: Any, docnames: list[str]) -> None:
    """Execute what is missing, and put what succeeded into the cache."""
    workers = os.cpu_count() or 1
    if app.config.nb_execution_mode != "cache" or workers < 2:
        return
    todo = uncached(app, docnames)
    if len(todo) < 2:
        return
    cache = get_cache(app.config.nb_execution_cache_path)

    def execute(path: Path) -> Any:
        # An empty folder: a chapter must not need the folder that it happens to lie in.
        with tempfile.TemporaryDirectory() as folder:
            return single_nb_execution(
                todo[path], cwd=folder, timeout=app.config.nb_execution_timeout, allow_errors=False
            )

    threads = os.environ.get("OMP_NUM_THREADS")
    os.environ["OMP_NUM_THREADS"] = threads or "1"  # one core each, which the kernels inherit
    try:
        with ThreadPoolExecutor(workers) as pool:
            running = {pool.submit(execute, path): path for path in todo}
            for done in as_completed(running):
                path, result = running[done], done.result()
                if result.err is not None:
                    continue
                _LOGGER.info("executed %s in %.1f seconds", path.name, result.time)
                bundle = CacheBundleIn(result.nb, str(path), data={"execution_seconds": result.time})
                cache.cache_notebook_bundle(bundle, check_validity=False, overwrite=True)
    finally:
        if threads is None:
            with suppress(KeyError):
                del os.environ["OMP_NUM_THREADS"]


def setup(app: Sphinx) -> None:
    """Connect the above to the moment when it is known which documents will be read."""
    app.connect("env-before-read-docs", execute_ahead)
