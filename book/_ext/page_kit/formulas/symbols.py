"""The directive `symbols`: a menu of the symbols of a page's formulas, with their meanings and places.

    :::{symbols}
    :::

`symbols.js` finds the symbols of `book/_data/symbols.yaml` in the formulas of the page by their MathML, which is made
here as the formulas' is. It shows what the chosen one means, and marks it everywhere. Without scripts there is no menu.
"""

from __future__ import annotations

import json
from functools import cache
from html import escape
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from page_kit.data import DATA, table
from page_kit.formulas.tex import mathml
from page_kit.raw_html import raw

FILE = DATA / "symbols.yaml"
_FIELDS = {"name", "tex", "meaning", "code", "base", "in"}


@cache
def symbols() -> list[dict[str, Any]]:
    """The entries of the data file.

    Raises
    ------
    ValueError
        If an entry has no name, form or meaning, or a field that nobody reads.
    """
    entries = table(FILE)
    for entry in entries:
        if not {"name", "tex", "meaning"} <= set(entry) <= _FIELDS:
            raise ValueError(f"symbols.yaml: {entry.get('name', entry)} has the fields {', '.join(entry)}")
    return list(entries)


def data() -> str:
    """The entries as JSON, each form as MathML; a sign that would end a script is written otherwise."""
    made = [
        {
            "name": entry["name"],
            "forms": [mathml(tex) for tex in entry["tex"]],
            "meaning": entry["meaning"],
            "code": entry.get("code", ""),
            "base": str(entry.get("base", "")),
            "in": entry.get("in", {}),
        }
        for entry in symbols()
    ]
    return json.dumps(made, ensure_ascii=False).replace("</", "<\\/")


class Symbols(SphinxDirective):
    """The menu, hidden until its script runs."""

    def run(self) -> list[nodes.Node]:
        """Menu and data in raw HTML."""
        self.env.note_dependency(str(FILE))
        options = "".join(
            f'<option value="{k}">{escape(entry["name"])}: {escape(_short(entry["meaning"]))}</option>'
            for k, entry in enumerate(symbols())
        )
        menu = (
            f'<label>Symbol <select autocomplete="off"><option value="">choose one</option>{options}</select></label>'
        )
        text = (
            f'<div class="symbol-desk no-search" role="region" aria-label="Symbols" hidden>{menu}'
            '<button type="button" hidden>Clear</button><div class="symbol-said" aria-live="polite"></div></div>'
            f'<script type="application/json" class="symbol-data">{data()}</script>'
        )
        return [raw(text)]


def _short(meaning: str) -> str:
    """A meaning up to its first comma or semicolon."""
    return meaning.partition(";")[0].partition(",")[0]


def setup(app: Sphinx) -> None:
    """Register the directive."""
    symbols.cache_clear()
    app.add_directive("symbols", Symbols)
