"""Pages that are folders: `attention/masks/masks.md` is the page `attention/masks`.

Sphinx names a document by the path of its file. A page keeps its address when it becomes a folder, and the folder has
its code, its records and its tests beside the text.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.project import Project

from annotated_book.pages import page_of


class PageFolders(Project):
    """The documents of a book whose pages may be folders."""

    def path2doc(self, filename: Any) -> str | None:
        """The document of a file; None if it is none."""
        document = super().path2doc(filename)
        return document and page_of(Path(f"{document}.md"), Path())


def include(app: Sphinx, config: Any) -> None:
    """Take the files of listed pages out of what Jupyter Book leaves out: it looks for their paths in `_toc.yml`."""
    listed = {document.docname for document in config.external_site_map.values()}
    config.exclude_patterns = [
        path
        for path in config.exclude_patterns
        if not path.endswith(".md") or page_of(Path(path), Path()) not in listed
    ]


def name_documents(app: Sphinx) -> None:
    """Let the application name its documents so, before it looks for them."""
    app.project.__class__ = PageFolders


def offer_source(app: Sphinx, name: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    """Keep the address of a page's source, which the theme's menu offers: `_sources/attention/masks.md`."""
    if context.get("sourcename", "").endswith(".md"):
        context["sourcename"], context["page_source_suffix"] = f"{name}.md", ".md"


def setup(app: Sphinx) -> None:
    """Connect the above; what is left out is known at priority 900."""
    app.connect("config-inited", include, priority=950)
    app.connect("builder-inited", name_documents)
    app.connect("html-page-context", offer_source, priority=100)
