"""The search: what its index leaves out, and the texts from which it shows a sentence of each page that it finds.

A node of the class `no-search` is on its page but not in the index: a table of contents names every chapter, and would
be found for every word. A formula is in the index as `formula` writes it, with the names of its Greek letters, and a
word with accents is there without them, too.

Each page's text goes into a script, `_static/search/texts/<page>.js`: its sections, the terms of a glossary and the
objects of the reference, each with its anchor, its heading and its paragraphs; then, for each section with code, the
words that the page has in its code alone. The page of the search loads those of the pages that it shows, also from a
folder on a disk, where a browser reads no other page. `words.js` has the words of
all pages, for suggestions, and `answers.js` what `answers.py` says.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx

from page_kit.find.answers import answers
from page_kit.formulas.tex_signs import FUNCTIONS, LETTERS, SIGNS
from page_kit.reference.citations import folded

LEFT_OUT = "no-search"
IN_HEADING = 10
"""How many pages a heading is worth where words are compared that a reader may have meant."""
NO_TEXT = {
    *("library-source-caption", "api-facts", "doctor-aside", "chapter-strip"),
    *("graded-facts", "graded-links", "graded-more", "quiz", "prediction"),
}
"""Lines of facts are no sentences; and the search tells no answers, hints or solutions."""
LONGEST = 1200
"""Characters of a paragraph that are kept: a sentence is shown of it."""
_SPOKEN = {**{command: sign for command, (_, sign) in SIGNS.items()}, **LETTERS, **FUNCTIONS}
"""What stands for a command of TeX in a line of plain text; a function is a word that is found."""
_PRODUCT = r"[^\s()+-]+"
_AROUND = re.compile(r"\\(text|math[a-z]+|boldsymbol|operatorname|sqrt|[dt]?frac)(?![A-Za-z])")
"""Commands that say what is done with the braces behind them."""
_LABEL = re.compile(r"^The question\.? (?=[A-Z])")
"""Stands before the question of a chapter, and is no part of the sentence."""
_OWN_PLACE = (addnodes.desc, nodes.raw, nodes.literal_block, nodes.comment, nodes.figure, nodes.definition_list_item)
Place = tuple[str, str, list[str]]


def without_lists(doctree: nodes.document) -> nodes.document:
    """The page without what is marked `no-search`; the page itself if nothing is."""

    def marked(tree: nodes.document) -> list[nodes.Element]:
        return [node for node in tree.findall(nodes.Element) if LEFT_OUT in node.get("classes", ())]

    if not marked(doctree):
        return doctree
    copy: nodes.document = doctree.deepcopy()
    for node in marked(copy):
        if node.parent is not None:
            node.parent.remove(node)
    return copy


def for_index(doctree: nodes.document) -> nodes.document:
    """A copy of the page with its words as they are typed: formulas in plain text, and accents left out beside them."""
    copy: nodes.document = doctree.deepcopy()
    for node in list(copy.findall(lambda node: isinstance(node, (nodes.math, nodes.math_block)))):
        tex = node.astext()
        greek = [name[1:] for name in re.findall(r"\\[A-Za-z]+", tex) if name in LETTERS]
        node.children = []
        node += nodes.Text(" ".join([formula(tex), *greek]))
    texts = [str(text) for text in copy.findall(nodes.Text) if not isinstance(text.parent, nodes.raw)]
    words = {word for word in re.findall(r"[^\W\d_]+", " ".join(texts)) if folded(word) != word}
    if words:
        copy += nodes.paragraph("", " ".join(sorted(map(folded, words))))
    return copy


def _bracketed(tex: str, simple: str = r"√?\\?[^\W_]+(_\w+)?") -> str:
    """A part of a formula as one thing: in brackets, unless it is a name, a number or a sign, or has them."""
    part = tex.strip()
    return part if re.fullmatch(rf"{simple}|\([^()]*\)|[^\w\s]", part) else f"({part})"


def _script(sign: str, tex: str) -> str:
    return sign + _bracketed(tex, r"-?[^\W_]+(\.\d+)?")


def formula(tex: str) -> str:
    """A formula in a line of plain text.

    Examples
    --------
    >>> formula(r"\\sqrt{d_k} \\approx 8")
    '√d_k ≈ 8'
    >>> formula(r"\\mathrm{FFN}(x) = \\max(0,\\, x W_1), \\quad \\frac{\\log p}{\\sqrt{\\hat v} + \\epsilon}")
    'FFN(x) = max(0, x W_1), (log p)/(√v + ϵ)'
    """
    tex = re.sub(r"\\(?:begin|end)\s*\{\w+\*?\}|\\\\|&|~|\\[,:;> ]", " ", tex).replace(r"\!", "")
    tex = re.sub(r"\\(?:left|right|hat|bar|tilde|vec|dot|overline|displaystyle)(?![A-Za-z])\.?\s*", "", tex)
    tex = re.sub(r"\\[A-Za-z]+", lambda found: found[0] if _AROUND.match(found[0]) else _SPOKEN.get(found[0], " "), tex)
    inner, before = r"\s*\{([^{}]*)\}", ""
    while tex != before:
        before = tex
        tex = re.sub(rf"\\(?:text|math[a-z]+|boldsymbol|operatorname\*?){inner}", r"\1", tex)
        tex = re.sub(rf"([_^]){inner}", lambda found: _script(*found.groups()), tex)
        tex = re.sub(rf"\\sqrt{inner}", lambda found: "√" + _bracketed(found[1]), tex)
        tex = re.sub(
            rf"\\[dt]?frac{inner}{inner}", lambda found: f"{_bracketed(found[1], _PRODUCT)}/{_bracketed(found[2])}", tex
        )
    return " ".join(re.sub(r"[{}\\]", "", tex).replace("^⊤", "ᵀ").split())


def text_of(node: nodes.Node) -> str:
    """The text of a node in one line, formulas as text, without what only the eye needs; blocks stand apart."""
    if isinstance(node, (nodes.math, nodes.math_block)):
        return formula(node.astext())
    if isinstance(node, nodes.Text):
        return str(node)
    classes = node["classes"] if isinstance(node, nodes.inline) else ()
    if isinstance(node, nodes.raw) or "layer" in classes:
        return ""
    if "cell-label" in classes:  # the head of its column, which only a phone shows
        return f"{node.astext()}: "
    # A link is both for docutils; nothing stands between it and the full stop behind it.
    apart = any(isinstance(child, nodes.Body) and not isinstance(child, nodes.Inline) for child in node.children)
    return (" " if apart else "").join(map(text_of, node.children))


def _is_exercise(node: nodes.Node) -> bool:
    return isinstance(node, nodes.Element) and "exercise" in node["classes"] and bool(node["ids"])


def _paragraphs(node: nodes.Element) -> list[str]:
    """The paragraphs below a node, without those of sections and of what is a place of its own.

    A row is one paragraph; a formula in a line of its own continues the one that introduces it with a colon.
    """
    found: list[str] = []
    for child in node.children:
        if isinstance(child, nodes.Element) and NO_TEXT & set(child["classes"]):
            continue
        if isinstance(child, nodes.row):
            found.append(" · ".join(filter(None, (" ".join(text_of(cell).split()) for cell in child.children))))
        elif isinstance(child, nodes.paragraph):
            said = " ".join(text_of(child).split())
            found.append(re.sub(_LABEL, "", said)[:LONGEST])
        elif isinstance(child, nodes.math_block):
            before = found.pop() if found and found[-1].endswith(":") else ""
            found.append(f"{before} {formula(child.astext())}".strip()[:LONGEST])
        elif _is_exercise(child):
            continue
        elif isinstance(child, nodes.Element) and not isinstance(child, (nodes.section, *_OWN_PLACE)):
            found += _paragraphs(child)
        elif isinstance(child, nodes.definition_list_item) and not _names(child):
            found += [text for part in child.children for text in _paragraphs(part)]
    return [text for text in found if text]


def _names(item: nodes.definition_list_item) -> list[nodes.Element]:
    return [term for term in item.findall(nodes.term) if term["ids"]]


def places(doctree: nodes.document) -> list[Place]:
    """What can be found on a page: anchor ('' for the page), heading and paragraphs of each place, in their order."""
    found: list[Place] = []
    kinds = (nodes.section, addnodes.desc, nodes.definition_list_item)
    for node in doctree.findall(lambda node: isinstance(node, kinds) or _is_exercise(node)):
        if _is_exercise(node):
            title, *content = node.children
            said = [text for part in content for text in _paragraphs(part)]
            found.append((node["ids"][0], " ".join(text_of(title).split()), said))
        elif isinstance(node, nodes.section) and not _is_exercise(node.parent):
            heading = next(
                (" ".join(text_of(part).split()) for part in node.children if isinstance(part, nodes.title)), ""
            )
            outermost = not isinstance(node.parent, nodes.section)
            found.append(("" if outermost else node["ids"][0], heading, _paragraphs(node)))
        elif isinstance(node, addnodes.desc):
            signature, content = node[0], node[-1]
            if isinstance(signature, addnodes.desc_signature) and signature["ids"]:
                said = [text for text in _paragraphs(content) if not text.startswith("Bases: ")]
                found.append((signature["ids"][0], str(signature.get("fullname", "")), said[:1]))
        elif isinstance(node, nodes.definition_list_item) and (terms := _names(node)):
            definitions = [part for part in node.children if isinstance(part, nodes.definition)]
            heading = " · ".join(" ".join(text_of(term).split()) for term in terms)
            said = [text for part in definitions for text in _paragraphs(part)]
            found.append((terms[0]["ids"][0], heading, [re.sub(r"\s*Chapter \d+$", "", text) for text in said]))
    return found


def _place_of(node: nodes.Node) -> str:
    """The anchor of the section or exercise around a node; '' for the page."""
    place, outer = "", node.parent
    while outer is not None:
        if _is_exercise(outer):
            return str(outer["ids"][0])
        if not place and isinstance(outer, nodes.section) and outer["ids"] and isinstance(outer.parent, nodes.section):
            place = str(outer["ids"][0])
        outer = outer.parent
    return place


def formulas(doctree: nodes.document) -> list[tuple[str, str]]:
    """The displayed formulas of a page: the anchor of the section or exercise, and the formula in plain text."""
    return [(_place_of(node), formula(node.astext())) for node in doctree.findall(nodes.math_block)]


def code_words(doctree: nodes.document, found: list[Place]) -> list[tuple[str, str]]:
    """For each section and exercise with code, its anchor and the words, in small letters, that no text here has.

    A word belongs to the first place with it. Code of solutions belongs to the exercise, which shows none of it.
    """
    said = " ".join(text for _, heading, blocks in found for text in (heading, *blocks)).lower()
    known, kept = set(re.findall(r"\w+", said)), dict[str, list[str]]()
    for node in doctree.findall(nodes.literal_block):
        words = re.findall(r"[a-z_]\w{2,}", node.astext().lower())
        new = dict.fromkeys(word for word in words if word not in known)
        kept.setdefault(_place_of(node), []).extend(new)
        known |= new.keys()
    return [(anchor, " ".join(words)) for anchor, words in kept.items() if anchor and words]


def count(found: list[Place], words: Counter[str]) -> None:
    """Add a page's words: one for the page, and `IN_HEADING` for a heading that has the word."""

    def of(texts: list[str]) -> set[str]:
        return {word.lower() for text in texts for word in re.findall(r"[^\W\d_]{3,}", text)}

    words.update(of([text for _, heading, blocks in found for text in (heading, *blocks)]))
    for word in of([heading for _, heading, _ in found]):
        words[word] += IN_HEADING


def _write(app: Sphinx, name: str, call: str, *data: Any) -> None:
    file = Path(app.outdir, "_static", "search", name)
    file.parent.mkdir(parents=True, exist_ok=True)
    arguments = ", ".join(json.dumps(one, ensure_ascii=False, separators=(",", ":")) for one in data)
    file.write_text(f"{call}({arguments});\n", encoding="utf-8")


def index_without_lists(app: Sphinx) -> None:
    """Let every page pass through `without_lists` on its way into the index, and write its text."""
    if app.builder.format != "html" or not hasattr(app.builder, "index_page"):
        return
    index_page, words = app.builder.index_page, Counter[str]()
    kept_places: dict[str, list[Place]] = {}
    kept_formulas: dict[str, list[tuple[str, str]]] = {}
    app.builder.annotated_words, app.builder.annotated_places = words, kept_places
    app.builder.annotated_formulas = kept_formulas

    def index(pagename: str, doctree: nodes.document, title: str) -> Any:
        kept = without_lists(doctree)
        found = places(kept)
        count(found, words)
        kept_places[pagename], kept_formulas[pagename] = found, formulas(kept)
        _write(app, f"texts/{pagename}.js", "annotatedTexts", pagename, found, code_words(kept, found))
        return index_page(pagename, for_index(kept), title)

    app.builder.index_page = index


def write_words(app: Sphinx, error: Exception | None) -> None:
    """Write the words of all pages, the commonest first, and the answers; a word of one page alone may be a slip."""
    words: Counter[str] = getattr(app.builder, "annotated_words", Counter())
    if error is None and words:
        _write(app, "words.js", "annotatedWords", {word: n for word, n in words.most_common() if n > 1})
        known = answers(app.env, app.builder.annotated_places, app.builder.annotated_formulas)
        _write(app, "answers.js", "annotatedAnswers", known)


def setup(app: Sphinx) -> None:
    """Connect it."""
    app.connect("builder-inited", index_without_lists, priority=900)
    app.connect("build-finished", write_words)
