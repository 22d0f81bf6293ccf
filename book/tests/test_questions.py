"""Cards of questions: each question of the book has one, with graded options, an answer, a proof and a section."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any

import pytest

from annotated_book.pages import BOOK, page_file

pytest.importorskip("sphinx", reason="the book's extension needs the extra `book`")


PAGE = page_file("results/questions")
_CARD = re.compile(
    r"^:::\{question-card\} (?P<id>Q\d+)\n:see: (?P<see>\S+)\n(?P<body>.*?)^:::\n\n"
    r"(?P<cell>```\{code-cell\} ipython3\n:tags: \[check\]\n(?P<code>.*?)^```$)?",
    re.DOTALL | re.MULTILINE,
)
GOOD = ["- [ ] one", "  Because.", "- [x] two", "- [ ] three", "  Because.", "", "It is two.", ""]


@pytest.fixture(scope="module")
def cards() -> dict[str, re.Match[str]]:
    found = list(_CARD.finditer(PAGE.read_text(encoding="utf-8")))
    assert len(found) == PAGE.read_text(encoding="utf-8").count(":::{question-card}")
    return {card["id"]: card for card in found}


def sections(page: str) -> set[str]:
    """The anchors of a page's headings, as docutils makes them of their words."""
    from docutils.nodes import make_id

    text = re.sub(r"^(`{3,}).*?^\1\s*$", "", page_file(page).read_text(encoding="utf-8"), flags=re.DOTALL | re.M)
    headings = re.findall(r"^#{2,} +(.+)$", text, re.MULTILINE)
    headings += [heading.removesuffix(" [prove]{.layer}") for heading in headings]  # which keep their address
    return {make_id(re.sub(r"\[(\w+)\]\{\.layer\}", r"\1", heading)) for heading in headings}


def test_every_question_has_one_card(extension: Any, cards: Any) -> None:
    questions = extension("claims.claim_boxes").ledger("question")
    assert len(cards) == len(questions) == 59 and set(cards) == set(questions)


def test_under_each_topic_the_cards_stand_by_number() -> None:
    topics = re.split(r"^### ", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    numbers = [[int(n) for n in re.findall(r"^:::\{question-card\} Q(\d+)$", topic, re.M)] for topic in topics]
    assert sum(map(bool, numbers)) == 7 and all(found == sorted(found) for found in numbers)


def test_options_differ_and_an_answer_has_two_sentences_to_six(extension: Any, cards: Any) -> None:
    for name, card in cards.items():
        options, answer = extension("authoring.cards").parse(card["body"].splitlines())
        assert len({option.text for option in options}) == 3, name
        sentences = re.findall(r"[.?](?=\s|$)", re.sub(r"\$[^$]*\$|\{\w+\}`[^`]*`|\d\.\d", "x", answer))
        assert 2 <= len(sentences) <= 6, f"{name}: {len(sentences)} sentences"


def test_every_card_is_followed_by_a_proof_that_asserts(extension: Any, cards: Any) -> None:
    for name, card in cards.items():
        assert card["cell"], f"{name} has no proof"
        ast.parse(card["code"])
        assert extension("authoring.checks").count_checks(card["code"]), name
        assert len(card["code"].strip().splitlines()) <= 25, f"{name}: a proof is short"


def test_every_card_leads_to_a_section_of_a_listed_page(cards: Any) -> None:
    listed = re.findall(r"file: (\S+)", (BOOK.parents[1] / "_toc.yml").read_text(encoding="utf-8"))
    for name, card in cards.items():
        page, _, section = card["see"].partition("#")
        assert page in listed and section in sections(page), f"{name}: {card['see']}"


def test_threads_are_named_as_github_names_them(extension: Any) -> None:
    questions = extension("claims.claim_boxes").ledger("question")
    asked = [name for name, entry in questions.items() if entry.threads]
    assert asked == [f"Q{n}" for n in range(30, 60)], "the others were left open in notes"
    assert all(re.fullmatch(r"[\w.-]+/[\w.-]+#\d+", one) for name in asked for one in questions[name].threads)


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({0: "- [x] one"}, "exactly one"),
        ({3: "", 4: ""}, "three options"),
        ({1: ""}, "why it is wrong"),
        ({6: ""}, "needs an answer"),
    ],
)
def test_a_card_with_a_fault_is_refused(extension: Any, change: dict[int, str], complaint: str) -> None:
    options, answer = extension("authoring.cards").parse(GOOD)
    assert [o.correct for o in options] == [False, True, False] and answer == "It is two."
    with pytest.raises(ValueError, match=complaint):
        extension("authoring.cards").parse([change.get(i, line) for i, line in enumerate(GOOD)])


def test_the_cells_after_a_card_become_its_proof(extension: Any) -> None:
    from docutils import nodes
    from docutils.utils import new_document

    parts, page = extension("authoring.cards"), new_document("page")
    card = parts.CardNode(of="Q1")
    card += [nodes.paragraph("", "answer"), parts.Place(fill=parts.see, page="a", section="b")]
    fold = nodes.raw("", '<details class="checks"><summary>2 checks passed</summary>', format="html")
    cell, prose, later = (nodes.container("", fold, nb_element="cell_code"), nodes.paragraph(), nodes.container())
    later["nb_element"] = "cell_code"
    page += [card, cell, prose, later]
    parts.take_proofs(None, page)
    assert page.children == [card, prose, later] and card.index(cell) == 1
    assert next(iter(cell.findall(nodes.raw))).astext() == (
        '<details class="checks" open><summary>Proof: 2 checks passed</summary>'
    )


def test_a_folded_card_takes_the_time_of_its_question_alone(extension: Any) -> None:
    from docutils import nodes
    from docutils.utils import new_document

    cards, page = extension("authoring.cards"), new_document("page")
    card = cards.CardNode(of="Q1")
    card += [
        cards.CardLine("", nodes.inline("", "Four words to read")),
        nodes.paragraph("", "an answer that is folded"),
    ]
    page += [nodes.paragraph("", "Two more"), card, nodes.paragraph("", "and three after")]
    assert extension("chapter.page_facts").take_stock(page).words == 4 + 2 + 3


def test_a_proof_has_no_line_that_is_wider_than_a_card(cards: Any) -> None:
    assert max(len(line) for card in cards.values() for line in card["code"].splitlines()) <= 77


def test_a_notebook_shows_question_options_and_answer(extension: Any, repository: Path) -> None:
    text = "\n".join((":::{question-card} Q3", ":see: a#b", "", *GOOD, ":::"))
    plain = extension("delivery.notebook_export").Writer(repository).plain(text)
    asked, _, answered = plain.partition("<details><summary>The answer</summary>\n\n")
    assert asked.splitlines()[0] == "**Q3. What is an auto-regressive model?**"
    assert set(asked.splitlines()[2:5]) == {"- one", "- two", "- three"}
    assert set(answered.splitlines()[:3]) == {"- one **No.** Because.", "- two **Yes.**", "- three **No.** Because."}
    assert "It is two." in plain and ":::" not in plain
