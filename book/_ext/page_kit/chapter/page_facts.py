"""Facts of a page: what is on it, how long it takes, and its place among the chapters."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass
from string import ascii_uppercase
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

from page_kit.chapter.front_matter import chapter
from page_kit.kept import kept
from page_kit.raw_html import raw

WORDS_A_MINUTE = 200
MINUTES_A_CELL = 0.5
MINUTES_A_PICTURE = 1.0
MINUTES_A_QUESTION = 0.5
LAYERS = ("read", "play", "run", "prove")
FACTS = "annotated_facts"


@dataclass(frozen=True)
class Facts:
    """What is on a page."""

    words: int = 0
    code: int = 0
    """Cells and listings."""
    pictures: int = 0
    """Charts and widgets."""
    questions: int = 0
    """Predictions, small exercises, and the questions of quizzes; those that wait, too."""
    exercises: int = 0
    quizzes: int = 0
    layers: tuple[str, ...] = ()
    waiting_words: int = 0
    """Words in boxes that wait behind a mark, `reading_mode.py`."""
    waiting_code: int = 0
    """Cells whose code does, and listings."""
    waiting_pictures: int = 0
    waiting_questions: int = 0

    @property
    def minutes(self) -> int:
        """How long a reader needs, without the exercises and without what waits."""
        return reading_minutes(self.words, self.code, self.pictures, self.questions - self.waiting_questions)

    @property
    def minutes_with_proofs(self) -> int:
        """How long a reader needs for all but the exercises."""
        words, code = self.words + self.waiting_words, self.code + self.waiting_code
        return reading_minutes(words, code, self.pictures + self.waiting_pictures, self.questions)


def reading_minutes(words: int, code: int = 0, pictures: int = 0, questions: int = 0) -> int:
    """Minutes for a page: its words at 200 a minute, half a minute a listing or question, one minute a picture."""
    exact = words / WORDS_A_MINUTE + code * MINUTES_A_CELL + pictures * MINUTES_A_PICTURE
    return max(1, math.ceil(exact + questions * MINUTES_A_QUESTION))


def in_words(minutes: int) -> str:
    """'40 min', '2 h', '2 h 10 min'; above an hour in steps of ten minutes."""
    if minutes < 60:
        return f"{minutes} min"
    hours, rest = divmod(round(minutes, -1), 60)
    return f"{hours} h {rest} min" if rest else f"{hours} h"


def _is_picture(bundle: nodes.Element) -> bool:
    for output in bundle.children:
        kind = output.get("mime_type", "") if isinstance(output, nodes.Element) else ""
        if "widget-view" in kind or ("html" in kind and '<figure class="chart"' in output.astext()):
            return True
    return False


def count_words(text: nodes.Node) -> int:
    """Words of a text; what a hyphen or an apostrophe joins is one."""
    return len(re.findall(r"\w+(?:['’.-]\w+)*", text.astext()))


def is_proof(node: nodes.Node) -> bool:
    """Whether a section is of the layer `prove`."""
    title = node.next_node(nodes.title) if isinstance(node, nodes.section) else None
    return title is not None and "prove" in (m.astext() for m in title.findall(nodes.inline) if "layer" in m["classes"])


def is_exercise(node: nodes.Element) -> bool:
    """Whether a node is a graded exercise, as it was read or as it will be written."""
    return type(node).__name__ in ("exercise_node", "exercise_enumerable_node") or {"exercise", "graded"} <= set(
        node["classes"]
    )


def unfolded(children: Iterable[nodes.Node]) -> Iterator[nodes.Node]:
    """Those that are not within a fold, such as what a quiz answers to a choice: a reader sees one of them at most."""
    folded = False
    for child in children:
        markup = child.astext() if isinstance(child, nodes.raw) else ""
        folded = folded or "<details" in markup
        if not folded or markup:
            yield child
        folded = folded and "</details>" not in markup


def take_stock(page: nodes.Element) -> Facts:
    """Count what is on a page as it was read, or in a part of one."""
    count: Counter[str] = Counter()
    layers = set()
    todo: list[tuple[nodes.Node, bool]] = [(page, False)]
    while todo:
        node, waiting = todo.pop()
        waits = "waiting_" * waiting
        if isinstance(node, nodes.Text):
            count[f"{waits}words"] += count_words(node)
        elif isinstance(node, nodes.raw):
            asked = node.astext().count("<fieldset data-answer=")
            count["questions"] += asked
            count["waiting_questions"] += asked * waiting
            count["quizzes"] += node.astext().count("data-quiz=")
        elif isinstance(node, nodes.container) and node.get("nb_element") == "cell_code":
            if not {"tag_check", "tag_remove-input"} & set(node["classes"]):  # folded or not there: not to be read
                count["waiting_code" if waiting or "tag_hide-input" in node["classes"] else "code"] += 1
            bundles = [b for b in node.findall(nodes.container) if b.get("nb_element") == "mime_bundle"]
            count[f"{waits}pictures"] += sum(map(_is_picture, bundles))
        elif isinstance(node, nodes.literal_block):
            count[f"{waits}code"] += 1
        elif isinstance(node, nodes.math | nodes.math_block):
            count[f"{waits}words"] += 3  # a formula is read slowly
        elif isinstance(node, nodes.inline) and "layer" in node["classes"]:
            layers.add(node.astext())
        elif isinstance(node, nodes.Element) and not isinstance(node, nodes.comment | nodes.meta):
            classes = set(node["classes"])
            asks = bool({"prediction", "try"} & classes)
            count["questions"] += asks
            count["waiting_questions"] += asks and waiting
            count["exercises"] += is_exercise(node)
            if type(node).__name__ == "CardNode":
                todo += [(child, waiting) for child in node.children[:1]]  # the line that opens it; the rest is folded
            elif not {"graded-more", "try-more"} & classes:  # folded, or done at leisure
                waiting = waiting or "ledger" in classes or is_proof(node)
                todo += [(child, waiting) for child in unfolded(node.children)]
    return Facts(**count, layers=tuple(layer for layer in LAYERS if layer in layers))


def all_facts(env: Any) -> dict[str, Facts]:
    """The facts of every page that was read, by its name."""
    return kept(env, FACTS)


def parts_of(env: Any) -> dict[str, str]:
    """The part of the book to which each page belongs."""
    site_map = getattr(env.config, "external_site_map", None)  # no registered value, so not `in` the configuration
    if site_map is None:
        return {}  # a site without _toc.yml has no parts
    return {str(item): subtree.caption or "" for subtree in site_map.root.subtrees for item in subtree.items}


def chapters_in_order(env: Any) -> dict[str, dict[str, Any]]:
    """Pages that are chapters, by number, with their front matter, part and title."""
    parts, found = parts_of(env), {}
    for name in env.found_docs:
        fields = chapter(env, name)
        if "number" in fields:
            found[name] = {**fields, "part": parts.get(name, ""), "title": env.titles[name].astext()}
    return dict(sorted(found.items(), key=lambda pair: pair[1]["number"]))


def plain_title(title: str) -> str:
    """A chapter's title without its number."""
    return re.sub(r"^\d+\.\s*", "", title)


def link(app: Sphinx, here: str, docname: str, text: str, title: str = "", anchor: str = "") -> nodes.reference:
    """A link to another page of the book."""
    uri = app.builder.get_relative_uri(here, docname) + anchor
    extra = {"reftitle": title} if title else {}
    return nodes.reference("", text, refuri=uri, internal=True, **extra)


def commas(found: list[nodes.Node]) -> list[nodes.Node]:
    """Nodes with commas between them."""
    spread: list[nodes.Node] = []
    for node in found:
        spread += [nodes.Text(", "), node] if spread else [node]
    return spread


def letters(known: Container[str], prefix: str) -> nodes.paragraph:
    """A to Z in one line: links to the groups of an index, `index-a`, and plain letters where there is none."""
    jumps: list[nodes.Node] = []
    for letter in ascii_uppercase:
        empty = raw(f'<a role="link" aria-disabled="true">{letter}</a>')
        jump = nodes.reference("", letter, refid=f"{prefix}-{letter.lower()}") if letter in known else empty
        jumps += [jump, nodes.Text(" ")]
    return nodes.paragraph("", "", *jumps, classes=["index-jumps"])
