"""Light pages: what only some pages need is not on the others, and what is heavy comes after the text.

Data of widgets leave the page for a file that `widgets.js` loads once the page is there; rules for icons that the theme
never draws leave its style sheet.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

from page_kit.delivery.offline import ICONS

HEAVY = 60_000
"""Characters of data from which on they are a file of their own."""
_KIND = "application/vnd.jupyter.widget-state+json"
_ICON = re.compile(r"(?:\.fa-[a-z0-9-]+:before,?)+\{content:\"[^\"]*\"\}")


def move_data(app: Sphinx, name: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    """Put the data of a page's widgets into a file beside the book's scripts, if they are many."""
    if app.builder.format != "html":
        return
    scripts = context["script_files"]
    for place, script in enumerate(scripts):
        attributes = getattr(script, "attributes", {})
        if attributes.get("type") == _KIND and len(attributes.get("body", "")) >= HEAVY:
            file = Path(app.outdir, "_static", "widgets", f"{name.replace('/', '-')}.js")
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(f"window.annotatedWidgets = {attributes['body'].strip()};\n", encoding="utf-8")
            address = f"{'../' * name.count('/')}_static/widgets/{file.name}"
            scripts[place] = type(script)(None, priority=script.priority, type=_KIND, **{"data-file": address})


def without_icons(style: str) -> str:
    """The theme's style sheet without the rules of icons that no page draws."""

    def keep(rule: re.Match[str]) -> str:
        return rule[0] if set(re.findall(r"\.fa-([a-z0-9-]+)", rule[0])) & set(ICONS) else ""

    return _ICON.sub(keep, style)


def prune_styles(app: Sphinx, error: Exception | None) -> None:
    """Take these rules out: a third of the sheet that every page waits for."""
    file = Path(app.outdir, "_static", "styles", "pydata-sphinx-theme.css")
    if error is None and file.is_file():
        file.write_text(without_icons(file.read_text(encoding="utf-8")), encoding="utf-8")


def setup(app: Sphinx) -> None:
    """Connect the above."""
    app.connect("html-page-context", move_data, priority=980)
    app.connect("build-finished", prune_styles)
