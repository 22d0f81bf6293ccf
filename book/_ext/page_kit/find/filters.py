"""The directive `filter`: a field, and menus, that show only some entries of a long page.

    :::{filter} terms
    :items: dl.glossary > .entry
    :groups: .bd-article section section
    :menu: verdict | no, half true
    :::

`items` are the entries, as a selector of CSS. `groups` hide with all of their entries, and with `empty: hide` those
that have none do while something is looked for. Groups that are folds open meanwhile, and so does one that a link leads
into. A menu chooses by an attribute `data-verdict` of the entries, which may have several values with semicolons
between them; the values `*` are those that the entries have, sorted, and `* as listed` the same in the order of the
entries. Semicolons separate several menus. The first word of a menu's name is the attribute: `part of the paper | *`
asks for `data-part`. With `names`, another selector, only those parts of an entry are searched. The words of an
attribute `data-words` of an entry, or inside it, are searched, too. `count` says what is counted, in kinds with their
selectors: `terms | .entry; traps | .traps tr`. With `numbers`, kinds such as `exercise; section`, a bare 5.2 is read as
the first of them that fits, and the next one is offered; a bare 5 is a whole number of these kinds, else a word. An
entry with `data-own`, such as "table 2", is found by its own number alone where one is typed that an entry has. `about:
exercise | exercises` joins entries with `data-exercises="ex05-1;ex05-2"` to those with these values of `data-exercise`:
such an entry stays with one of them that fits all menus, and that fits the field if the entry's own words do not. With
`facets`, a selector, each value of a menu says how many of these entries it leaves. Letters in `.index-jumps` that lead
to a hidden group are no links meanwhile. `open` are folds inside entries that open where at most three entries are
left, and in an entry to which a link leads. An element with `data-follows="ID"` shows and hides with the entry of this
id.

A typed word is looked for at the beginnings of words, and each part of a name is one: `mask` finds `padding_mask`, and
`attention` finds `MultiHeadAttention`. Formulas are found as they are typed (`d_k`, `W^O`, `W_O`), numbers such as 5.3
and parts of the paper (`eq. 3` is "equation 3") as one word, words in singular or plural and in British or American
spelling. A dotted name of code (`model.masks.causal`) is looked for in the anchor to which an entry leads. Enter moves
to the first entry, Escape clears the field. Tables without a row that fits hide. Where nothing fits, a button offers
the nearest word, or everything, and a link leads to the search of the book; where a menu narrows, everything. A number
in the head of a group that is a fold, `<span data-entries="12 names">`, becomes "3 of 12 names" meanwhile. What is
typed and chosen stands in the address; without scripts the whole page is there and no field (`filter.js`).
"""

from __future__ import annotations

from html import escape

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from page_kit.raw_html import raw

FIELDS = ("items", "groups", "empty", "names", "count", "open", "facets", "numbers", "about")
"""Options that the script reads."""


def menu(text: str) -> str:
    """A menu from 'kind | write, prove': the attribute that it asks for, and its values.

    Raises
    ------
    ValueError
        If there is no value.
    """
    name, _, values = (part.strip() for part in text.partition("|"))
    if not values:
        raise ValueError(f"a menu is written 'name | value, value', not {text!r}")
    listed = [] if values in ("*", "* as listed") else values.split(",")
    order = " data-as-listed" if values == "* as listed" else ""
    options = "".join(f"<option>{escape(value.strip())}</option>" for value in listed)
    every, by = f'<option value="">any {escape(name)}</option>', escape(name.split()[0])
    return f'<select data-by="{by}"{order} aria-label="{escape(name.capitalize())}">{every}{options}</select>'


class Filter(SphinxDirective):
    """The field, hidden until its script runs."""

    required_arguments = 1
    final_argument_whitespace = True
    option_spec = dict.fromkeys((*FIELDS, "menu"), directives.unchanged) | {"items": directives.unchanged_required}

    def run(self) -> list[nodes.Node]:
        """The field in raw HTML."""
        what, menus = escape(self.arguments[0]), self.options.get("menu", "")
        try:
            chosen = "".join(menu(text) for text in menus.split(";") if text.strip())
        except ValueError as error:
            return [self.state.document.reporter.error(str(error), line=self.lineno)]
        data = " ".join(f'data-{name}="{escape(self.options.get(name, ""))}"' for name in FIELDS)
        field = f'<label>Show {what} with <input type="search" autocomplete="off" spellcheck="false"></label>'
        text = f'<div class="page-filter" role="search" aria-label="Filter {what}" data-what="{what}" {data} hidden>'
        return [raw(f'{text}{field}{chosen}<span role="status"></span></div>')]


def setup(app: Sphinx) -> None:
    """Register the directive."""
    app.add_directive("filter", Filter)
    app.add_js_file("book/filter.js", defer="defer", priority=450)  # before exercises.js and sorting.js, which ask it
