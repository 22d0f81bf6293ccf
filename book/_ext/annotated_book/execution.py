"""Chapters run once for each version of what they run: outputs are cached by content. And a page tells how it went.

A chapter's outputs depend on its own cells, and on the library with its model and its records. Jupyter Book keys its
cache by the cells; the folder of the cache is keyed here by the rest.
"""

from __future__ import annotations

import hashlib
import os
import platform
import shutil
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from docutils import nodes
from myst_nb.sphinx_ext import NbMetadataCollector
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

import annotated

ROOT = Path(annotated.__file__).resolve().parent.parent
_RUNS_WITH = ("torch", "numpy", "altair", "vl-convert-python", "tokenizers", "anywidget", "pandas")
_SUFFIXES = {".py", ".js", ".css", ".json", ".jsonl", ".safetensors", ".toml"}


@cache
def library_digest() -> str:
    """A digest of all that cells can reach: the library's files, and the versions of what it stands on."""
    digest = hashlib.sha256(f"{platform.python_version()} {[(p, version(p)) for p in _RUNS_WITH]}".encode())
    for path in sorted(ROOT.joinpath("annotated").rglob("*")):
        if path.suffix in _SUFFIXES and path.is_file():
            digest.update(path.relative_to(ROOT).as_posix().encode())
            digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()[:16]


def choose_cache(app: Sphinx, config: Any) -> None:
    """Give this version of the library its own cache, and drop the caches of others."""
    folder = Path(app.outdir).parent / ".executed"
    place = folder / library_digest()
    for old in folder.glob("*"):
        if old != place:
            shutil.rmtree(old)
    place.mkdir(parents=True, exist_ok=True)
    config.nb_execution_cache_path = str(place)


class ExecutionPlace(nodes.General, nodes.Element):
    """Where the table goes once every chapter has been read."""


class ExecutionStatus(SphinxDirective):
    """`{execution-status}`: each executed page with its outcome, its seconds and its moment."""

    def run(self) -> list[nodes.Node]:
        """A place for the table."""
        self.env.note_reread()  # it tells of the other pages
        return [ExecutionPlace()]


def table(head: Sequence[str], rows: Sequence[Sequence[nodes.Node]]) -> nodes.table:
    """A table with a head of plain texts, each cell one node."""
    made = nodes.table(classes=["colwidths-auto"])
    group = nodes.tgroup(cols=len(head))
    group += [nodes.colspec(colwidth=1) for _ in head]
    group += nodes.thead("", nodes.row("", *[nodes.entry("", nodes.paragraph(text=text)) for text in head]))
    group += nodes.tbody("", *[nodes.row("", *[nodes.entry("", cell) for cell in row]) for row in rows])
    made += group
    return made


def fill_table(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Put the table where the directive stood."""
    for place in list(doctree.findall(ExecutionPlace)):
        rows: list[list[nodes.Node]] = []
        total = 0.0
        data = NbMetadataCollector.get_doc_data(app.env)
        pages = app.config.external_site_map  # in the order of the table of contents
        order = [name for name in pages if data.get(name, {}).get("exec_data")]
        for name in order:
            run = data[name]["exec_data"]
            seconds = run["runtime"] or 0.0
            total += seconds
            uri = app.builder.get_relative_uri(docname, name)
            link = nodes.paragraph("", "", nodes.reference("", app.env.titles[name].astext(), refuri=uri))
            when = datetime.fromtimestamp(run["mtime"], tz=UTC).strftime("%Y-%m-%d %H:%M UTC")
            outcome = "ran, every claim held" if run["succeeded"] else "failed"
            rows.append([link, *[nodes.paragraph(text=text) for text in (outcome, f"{seconds:.1f}", when)]])
        versions = ", ".join(f"{package} {version(package)}" for package in _RUNS_WITH[:4])
        about = (
            f"{len(rows)} pages in {total:.0f} seconds on {os.cpu_count()} cores ({platform.machine()}), "
            f"Python {platform.python_version()}, {versions}; "
            f"library {annotated.__version__}, digest {library_digest()}."
        )
        place.replace_self([table(["Page", "Outcome", "Seconds", "Run at"], rows), nodes.paragraph(text=about)])


def setup(app: Sphinx) -> None:
    """Register the directive, and choose the cache before MyST-NB reads its configuration."""
    app.add_node(ExecutionPlace)
    app.add_directive("execution-status", ExecutionStatus)
    app.connect("config-inited", choose_cache)
    app.connect("doctree-resolved", fill_table)
