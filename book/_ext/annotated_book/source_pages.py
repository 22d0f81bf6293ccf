"""The pages that hold whole modules of the library: every module of the reference, and what else a chapter shows.

They are in no list of contents and not in the index of the search; links from the reference and from listings lead to
their lines.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer
from sphinx.application import Sphinx

from annotated_book.source import ROOT, source_page


def _entries(app: Sphinx, path: str) -> str:
    """A link to a module's place in the reference, if it has one."""
    module = path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    entry = app.env.get_domain("py").data["modules"].get(module)  # type: ignore[attr-defined]
    if entry is None:
        return "Shown from the library as it is."
    up = "../" * source_page(Path(path)).count("/")
    link = f'<a href="{up}{entry.docname}.html#{entry.node_id}">Its entry in the reference</a>'
    return f"Shown from the library as it is. {link}."


def module_pages(app: Sphinx) -> Iterator[tuple[str, dict[str, Any], str]]:
    """A page for each module of the reference, and each that a chapter shows code of, with a target for every line."""
    kept = getattr(app.env, "library_sources", {})
    for page, path in sorted(set().union(*kept.values())):
        formatter = HtmlFormatter(linenos="inline", lineanchors="line", anchorlinenos=True, wrapcode=True)
        code = highlight((ROOT / path).read_text(encoding="utf-8"), PythonLexer(), formatter)
        title = f'<h1 class="source-title">{path}</h1><p>{_entries(app, path)}</p>'
        body = f'{title}<div class="highlight-python">{code}</div>'
        yield page, {"title": path, "body": body, "page_source_suffix": "", "sourcename": ""}, "page.html"


def one_sidebar(app: Sphinx, name: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    """Write the list of pages once for all pages of source in folders of one depth: it is the same on each of them."""
    make = context.get("generate_toctree_html")
    if not name.startswith("source/") or make is None:
        return
    made = app.__dict__.setdefault("annotated_sidebars", {})

    def kept(*args: Any, **options: Any) -> Any:
        key = (name.count("/"), args, tuple(sorted(options.items())))
        if key not in made:
            made[key] = make(*args, **options)
        return made[key]

    context["generate_toctree_html"] = kept


def setup(app: Sphinx) -> None:
    """Connect the above."""
    app.connect("html-collect-pages", module_pages)
    app.connect("html-page-context", one_sidebar, priority=960)
