"""Scripts and style sheets of a few pages, on the pages that use them and on no other."""

from __future__ import annotations

import re
from typing import Any

from sphinx.application import Sphinx

FILES = {
    "book/api.css": r"\A(reference/api|source)/",
    "book/claims.css": r'class="claim-row',
    "book/doctor.css": r"\Areference/doctor\n",
    "book/columns.js": r"tag_(compare-columns|choose-column)",
    "book/symbols.js": r'class="symbol-desk',
    "book/formula_numbers.js": r'class="formula-numbers',
    "book/glossary.js": r'<div class="entry"',
    "book/versions.js": r'class="versions|versions-table',
    "book/versions.css": r'class="versions|versions-table',
    "book/timeline.js": r'class="component-timeline',
    "book/timeline.css": r'class="component-timeline',
    "book/copy.js": r'class="copy"|formula-sheet',
    "book/sorting.js": r'class="[^"]*\bsortable\b',
    "book/sorting.css": r'class="[^"]*\bsortable\b',
    "book/cards.js": r'class="question-card"',
    "book/cards.css": r'class="question-card"',
    "book/back_matter.css": r'class="copy"|formula-sheet|class="entry"|class="formula-numbers|\bbeliefs\b',
}
"""Each file, and what a page that uses it has in its body, or in its name, which is the first line."""


def add_files(app: Sphinx, name: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    """Add the files that a page uses."""
    page = f"{name}\n{context.get('body', '')}"
    for file, sign in FILES.items():
        if re.search(sign, page):
            if file.endswith(".js"):
                app.add_js_file(file, defer="defer")
            else:
                app.add_css_file(file, priority=700)


def setup(app: Sphinx) -> None:
    """Connect it, behind what changes a page's body."""
    app.connect("html-page-context", add_files, priority=600)
