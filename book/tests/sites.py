"""Sites for tests: a few pages of Markdown built with parts of the book's extension, and any folder behind a server."""

from __future__ import annotations

import functools
import http.server
import io
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any


def build_site(
    folder: Path,
    pages: dict[str, str],
    parts: Iterable[str],
    others: Iterable[str] = ("myst_parser",),
    out: Path | None = None,
    **settings: Any,
) -> tuple[Path, str]:
    """Build pages by their names; the folder of their HTML, and what was complained about.

    `parts` are of `page_kit`, which the fixture `extension` makes importable; `others` are Sphinx's own extensions.
    Without an `index` among the pages there is one that lists them. A page whose text has not changed since the last
    site in the folder is not read again.
    """
    from sphinx.application import Sphinx
    from sphinx.util.docutils import docutils_namespace

    source, out = folder / "source", out or folder / "build" / "html"
    index = "# Index\n\n```{toctree}\n" + "\n".join(pages) + "\n```\n"
    for name, text in ({"index": index} | pages).items():
        file = source / f"{name}.md"
        file.parent.mkdir(parents=True, exist_ok=True)
        if not file.exists() or file.read_text(encoding="utf-8") != text:
            file.write_text(text, encoding="utf-8")
    settings = {"myst_enable_extensions": ["colon_fence", "dollarmath"], **settings}
    settings["extensions"] = [*others, *(f"page_kit.{part}" for part in parts)]
    complaints = io.StringIO()
    with docutils_namespace():
        Sphinx(str(source), None, str(out), str(out / ".trees"), "html", settings, None, complaints).build()
    return out, complaints.getvalue()


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: Any) -> None:
        pass


@contextmanager
def served(folder: Path) -> Iterator[int]:
    """A small server of a folder on this machine, while the block lasts; its port."""
    handler = functools.partial(_Quiet, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_port
        server.shutdown()
