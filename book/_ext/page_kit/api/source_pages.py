"""The pages that hold whole modules of the library: every module of the reference, and what else a chapter shows.

They are in no list of contents and not in the index of the search; links from the reference and from listings lead to
their lines.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer
from sphinx.application import Sphinx

from page_kit.api.objects import lines_of
from page_kit.authoring.source import FOLDERS, ROOT, SOURCES, module_at, source_page
from page_kit.kept import kept

PATH, SAID, CODE = "@path@", "@said@", '<div class="highlight">@code@</div>'
"""Marks in the page that stands for all of its depth."""


def _entries(app: Sphinx, path: str) -> str:
    """A link to a module's place in the reference, if it has one, and the names in it."""
    module = module_at(path)
    entry = app.env.get_domain("py").data["modules"].get(module)  # type: ignore[attr-defined]
    if entry is None:
        return "<p>Shown from the library as it is.</p>"
    up = "../" * source_page(Path(path)).count("/")
    objects = app.env.get_domain("py").objects  # type: ignore[attr-defined]
    link = f'<a href="{up}{entry.docname}.html#{entry.node_id}">Its entry in the reference</a>'
    return f"<p>Shown from the library as it is. {link}.</p>{outline(objects, path, up)}"


def outline(objects: dict[str, Any], path: str, up: str) -> str:
    """The names of a module that the reference documents, folded: each leads to its line, and to its entry."""
    if not path.startswith(tuple(f"{folder}{package}/" for package, folder in FOLDERS.items())):
        return ""
    module = module_at(path)
    items = []
    for name, line in sorted(lines_of(module).items(), key=lambda pair: pair[1]):
        if entry := objects.get(f"{module}.{name}"):
            back = f'<a href="{up}{entry.docname}.html#{entry.node_id}" aria-label="Entry of {name}">entry</a>'
            items.append(f'<li><a href="#line-{line}"><code>{name}</code></a> {back}</li>')
    names = f"{len(items)} name{'' if len(items) == 1 else 's'} of this file"
    listed = f'<details class="source-outline"><summary>{names}</summary><ul>{"".join(items)}</ul></details>'
    return listed if items else ""


def _by_depth(app: Sphinx) -> list[list[tuple[str, str]]]:
    """The pages and their files, those in folders of one depth together."""
    sources = kept(app.env, SOURCES)
    pages = sorted(set().union(*sources.values()), key=lambda pair: (pair[0].count("/"), pair))
    return [list(group) for _, group in groupby(pages, key=lambda pair: pair[0].count("/"))]


def shells(app: Sphinx) -> Iterator[tuple[str, dict[str, Any], str]]:
    """One page of each depth, with marks for what differs: the theme needs a fifth of a second for each page."""
    body = f'<h1 class="source-title">{PATH}</h1>{SAID}<div class="highlight-python">{CODE}</div>'
    for (page, _), *_ in _by_depth(app):
        yield page, {"title": PATH, "body": body, "page_source_suffix": "", "sourcename": ""}, "page.html"


def fill_shells(app: Sphinx, error: Exception | None) -> None:
    """Write every page: its shell with its name, its sentence and its code, with a target for every line."""
    if error is not None or app.builder.format != "html":
        return
    for pages in _by_depth(app):
        first = pages[0][0]
        shell = Path(app.outdir, f"{first}.html").read_text(encoding="utf-8")
        for page, path in pages:
            formatter = HtmlFormatter(
                linenos="inline", lineanchors="line", linespans="code", anchorlinenos=True, wrapcode=True
            )
            code = highlight((ROOT / path).read_text(encoding="utf-8"), PythonLexer(), formatter)
            text = shell.replace(first, page).replace(PATH, path).replace(SAID, _entries(app, path)).replace(CODE, code)
            file = Path(app.outdir, f"{page}.html")
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")


def setup(app: Sphinx) -> None:
    """Connect the above."""
    app.connect("html-collect-pages", shells)
    app.connect("build-finished", fill_shells)
