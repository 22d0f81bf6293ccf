"""The left sidebar: the book's mark, and the sections of the open page under its link.

The theme lists a page's sections in a column of their own; here that column belongs to notes.
"""

from __future__ import annotations

import html
import re
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

from page_kit.formulas.tex import mathml

MARK = (
    '<svg class="glyph" viewBox="0 0 32 32" fill="none" stroke="currentColor" stroke-width="1.7" aria-hidden="true" '
    'stroke-linecap="round" stroke-linejoin="round"><rect x="3" y="11.5" width="11" height="16.5" rx="2.4"/>'
    '<rect x="18" y="5" width="11" height="23" rx="2.4"/>'
    '<path d="M8.5 11.5V8.2q0-2 2-2h2.7q2 0 2 2v6.4q0 1.9 1.9 1.9H18"/>'
    '<path d="M8.5 31v-3M23.5 31v-3M23.5 5V1" opacity=".75"/><g stroke="none">'
    '<rect class="part-code" x="5.6" y="21.6" width="5.8" height="3.6" rx=".8"/>'
    '<rect class="part-paper" x="5.6" y="14.6" width="5.8" height="3.6" rx=".8"/>'
    '<rect class="part-code" x="20.6" y="21.6" width="5.8" height="3.6" rx=".8"/>'
    '<rect class="part-code" x="20.6" y="14.7" width="5.8" height="3.6" rx=".8"/>'
    '<rect class="part-ours" x="20.6" y="7.8" width="5.8" height="3.6" rx=".8"/></g></svg>'
)
"""The book's mark: figure 1 of the paper as a glyph, two stacks and the way from one to the other."""
_MODULE = re.compile(r"^annotated(?:_grader)?\.(?:\w+\.)*(?=\w+$)")
_HERE = re.compile(r'(<a class="current reference internal" href="#">.*?</a>)', re.DOTALL)


def sections(env: Any, name: str) -> list[tuple[str, str]]:
    """Anchor and HTML of each section of a page, of the first level below its title, without its tags.

    Of a module's dotted name the last part stands for it.
    """
    found = []
    for entry in env.tocs[name].findall(nodes.list_item) if name in env.tocs else ():
        depth, above = 0, entry.parent
        while above is not None:
            depth, above = depth + isinstance(above, nodes.bullet_list), above.parent
        link = next(iter(entry.findall(nodes.reference)), None)
        if depth == 2 and link is not None and link.get("anchorname"):
            words = "".join(map(_in_html, link.children)).strip()
            found.append((link["anchorname"], _MODULE.sub("", words)))
    return found


def _in_html(node: nodes.Node) -> str:
    if isinstance(node, nodes.math):
        return mathml(node.astext())
    if isinstance(node, nodes.inline) and "layer" in node["classes"]:
        return ""
    if isinstance(node, nodes.Text):
        return html.escape(node.astext())
    return "".join(map(_in_html, node.children))


def list_sections(app: Sphinx, name: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    """Let the theme's list of pages show the sections of this one."""
    context["book_mark"] = MARK
    items = sections(app.env, name)
    make = context.get("generate_toctree_html")
    if len(items) < 2 or make is None:
        return
    links = "".join(f'<li><a href="{html.escape(anchor)}">{words}</a></li>' for anchor, words in items)
    listed = f'<ul class="page-sections" aria-label="On this page">{links}</ul>'

    def with_sections(*args: Any, **options: Any) -> Any:
        made = make(*args, **options)
        return _HERE.sub(lambda found: found[1] + listed, str(made), count=1)

    context["generate_toctree_html"] = with_sections


def setup(app: Sphinx) -> None:
    """Connect the above."""
    app.connect("html-page-context", list_sections, priority=950)
