"""Two ways to read a chapter: what is said and shown, or all of it with code of charts, checks and side questions.

In the first, which is the default, what only proves or documents waits behind one quiet mark after the result that it
belongs to: code behind pictures, checks, what is often said, what readers ask. A section with the layer `prove` waits
behind its title. The mark opens it; a switch in the line of facts opens all (`reading_mode.js`). Without scripts
everything is there, as it is for the search and in notebooks.
"""

from __future__ import annotations

import ast
from html import escape

from docutils import nodes
from sphinx.application import Sphinx

from page_kit.authoring import checks
from page_kit.chapter.front_matter import chapter
from page_kit.chapter.page_facts import in_words, is_proof, take_stock
from page_kit.raw_html import raw

SWITCH = (
    '<p class="reading-switch" role="group" aria-label="How much of the page"><button type="button" data-mode="read" '
    'aria-pressed="true">read</button>'
    '<button type="button" data-mode="prove" aria-pressed="false">with proofs</button></p>'
)


def kind_of(node: nodes.Node) -> str:
    """What the mark calls a node that waits: 'code', '3 checks', 'often said', 'readers ask'; '' for every other."""
    if not isinstance(node, nodes.container):
        return ""
    classes = set(node["classes"])
    if "ledger" in classes:
        return "often said" if "claim" in classes else "readers ask"
    if node.get("nb_element") != "cell_code":
        return ""
    code = next((block.astext() for block in node.findall(nodes.literal_block)), "")
    if checks.TAG in classes:
        count = checks.count_checks(code)
        return f"{count} check{'s' * (count != 1)}"
    return "code" if "tag_hide-input" in classes or only_draws(code) else ""


def only_draws(code: str) -> bool:
    """Whether a cell does no more than call for one picture.

    Examples
    --------
    >>> only_draws("smoothing_chart()"), only_draws("strength_chart(runs, slot=2)")
    (True, True)
    >>> only_draws("softmax(scores)"), only_draws("runs = 3; curve_chart(runs)")
    (False, False)
    """
    try:
        body = ast.parse(code).body
    except SyntaxError:
        return False
    call = body[0].value if len(body) == 1 and isinstance(body[0], ast.Expr) else None
    name = call.func.id if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) else ""
    return name.endswith(("_chart", "_charts", "_stepper", "_panel", "_widget", "_figure", "_table"))


def set_marks(section: nodes.Element) -> None:
    """Mark what waits, and set one mark at each run of it, in a section and those in it."""
    waiting: list[tuple[str, nodes.Element]] = []
    for child in list(section.children):
        if kind := kind_of(child):
            child["classes"].append("waits-code" if kind == "code" else "waits")
            waiting.append((kind, child))
        elif waiting and not isinstance(child, nodes.comment | nodes.target | nodes.substitution_definition):
            set_mark(section, waiting)
            waiting = []
        if is_proof(child):
            child["classes"].append("waits-section")
            child.insert(1, mark([contents(child)]))
        elif isinstance(child, nodes.section):
            set_marks(child)
    if waiting:
        set_mark(section, waiting)


def set_mark(section: nodes.Element, waiting: list[tuple[str, nodes.Element]]) -> None:
    """One mark for a run: before what waits as a whole, which opens below it, and behind a picture with its code."""
    whole = next((node for kind, node in waiting if kind != "code"), None)
    place = section.index(waiting[-1][1]) + 1 if whole is None else section.index(whole)
    section.insert(place, mark([kind for kind, _ in waiting]))


def contents(section: nodes.section) -> str:
    """What the mark of a whole section says: "4 exercises", "3 min more"."""
    facts = take_stock(section)
    if facts.exercises:
        return f"{facts.exercises} exercise{'s' * (facts.exercises != 1)}"
    return f"{in_words(facts.minutes_with_proofs)} more"


def mark(kinds: list[str]) -> nodes.raw:
    """The line that stands for what waits before it: 'code · 4 checks · often said'."""
    number = sum(int(kind.split()[0]) for kind in kinds if kind.endswith(("check", "checks")))
    names = [kind for kind in dict.fromkeys(kinds) if not kind.endswith(("check", "checks"))]
    if number:
        names.insert("code" in names, f"{number} check{'s' * (number != 1)}")
    words = escape(" · ".join(names))
    return raw(f'<p class="waits-mark"><button type="button" aria-expanded="false">{words}</button></p>')


def prepare(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Set the marks of a chapter."""
    if app.builder.format == "html" and "number" in chapter(app.env, docname):
        for section in [child for child in doctree.children if isinstance(child, nodes.section)]:
            set_marks(section)


def keep_addresses(app: Sphinx, doctree: nodes.document) -> None:
    """A section that became a proof keeps the address that it had before its title said so."""
    for section in filter(is_proof, doctree.findall(nodes.section)):
        section["ids"] += [name.removesuffix("-prove") for name in section["ids"] if name.endswith("-prove")]


def setup(app: Sphinx) -> None:
    """Connect the above."""
    app.connect("doctree-read", keep_addresses)
    app.connect("doctree-resolved", prepare)
    app.add_js_file("book/reading_mode.js", defer="defer", priority=450)
