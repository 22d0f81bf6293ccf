"""Sentences of the index of terms, and the parts of the book that its lists name."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("sphinx", reason="the book's extension needs the extra `book`")


def citation(key: str, kind: str = "p") -> Any:
    """A citation as it stands in a page before it is resolved."""
    from docutils import nodes
    from sphinx.addnodes import pending_xref

    text = nodes.inline("", "", nodes.Text(key))
    return pending_xref("", text, refdomain="cite", reftype=kind, reftarget=key)


def said(extension: Any, name: str, *paragraphs: Any, before: Any = None) -> tuple[str, bool]:
    """The sentence for a name in a section of these paragraphs, and whether it can stand alone."""
    from docutils import nodes

    section = nodes.section("", *([before] if before else []), *paragraphs, ids=["s"])
    spot = extension("term_places").spot_of(name, extension("terms").own_paragraphs(section))
    return "".join(text for _, text in spot.sentence).strip(), spot.stands_alone


@pytest.mark.parametrize(
    ("name", "text", "stands"),
    [
        ("head", "Each head receives the encodings alone.", True),
        ("alibi", "ALiBi", False),
        ("query", "Drag the tip of the orange query towards one of them.", False),
        ("epoch", "Epoch.", False),
        ("softmax", "And “apply a softmax to the scores of all keys.", False),
        ("path length", "What is the maximum path length of a row?", False),
        ("alignment", "Green frames mark the known alignment of the words.", False),
        ("dropout", "the rate of dropout is one tenth in the base model.", False),
    ],
)
def test_only_a_statement_can_stand_alone(extension: Any, name: str, text: str, stands: bool) -> None:
    from docutils import nodes

    assert said(extension, name, nodes.paragraph("", text)) == (text, stands)


def test_a_whole_sentence_comes_before_a_label_and_a_caption_is_none(extension: Any) -> None:
    from docutils import nodes

    label = nodes.paragraph("", "", nodes.strong("", "Mask"))
    file = nodes.paragraph("", "The file of the mask is annotated/mask.py here.", classes=["library-source-caption"])
    good = nodes.paragraph("", "It is short. Under a mask the first word sees one word. More of it follows.")
    assert said(extension, "mask", label, file, good) == ("Under a mask the first word sees one word.", True)


def test_a_definition_has_the_sentence_after_its_term(extension: Any) -> None:
    from docutils import nodes

    note = nodes.raw("", '<aside class="margin-note note-definition">', format="html")
    text = [nodes.strong("", "Slot."), nodes.Text(" A position of the decoder. "), nodes.strong("", "Leak.")]
    text.append(nodes.Text(" A slot may attend to the token that it must write. And more."))
    found = said(extension, "leak", nodes.paragraph("", "", *text), before=note)
    assert found == ("Leak. A slot may attend to the token that it must write.", True)


def test_citations_and_parts_of_the_paper_are_written_for_readers(extension: Any) -> None:
    from docutils import nodes

    split = [nodes.Text("It is old. "), citation("vijayakumar2018", "t"), nodes.Text(" split the beam into groups.")]
    assert said(extension, "beam", nodes.paragraph("", "", *split)) == (
        "Vijayakumar et al. [2018] split the beam into groups.", True
    )  # fmt: skip
    apart = [nodes.Text("The beam can be diverse "), citation("vijayakumar2018"), nodes.Text(", in groups.")]
    assert "diverse [Vijayakumar et al., 2018], in" in said(extension, "beam", nodes.paragraph("", "", *apart))[0]
    part = nodes.paragraph("", "It ends. section 6.1 reports results with a beam of four.")
    assert said(extension, "beam", part) == ("Section 6.1 reports results with a beam of four.", True)


def test_the_built_index_shows_whole_sentences_without_keys(book: Path, repository: Path) -> None:
    page = book / "reference" / "index_of_terms.html"
    if not page.is_file():
        pytest.skip("a preview of one chapter has no index of terms")
    boxes = re.findall(r'<div class="index-sentences[^>]*>(.*?)</div>', page.read_text("utf-8"), re.DOTALL)
    lines = [line for box in boxes for line in re.findall(r"<p>(.*?)</p>", box, re.DOTALL)]
    texts = [re.sub(r"<[^>]+>", "", line.partition("</a>")[2]).strip() for line in lines]
    keys = re.findall(r"^@\w+\{([^,]+),", (repository / "book" / "references.bib").read_text("utf-8"), re.MULTILINE)
    assert len(texts) > 150 and len(keys) > 100
    for text in texts:
        assert re.fullmatch(r"[“(]?[A-Z].*[.!][”)]?", text, re.DOTALL) and len(text.split()) > 4, text
        assert text.count("“") == text.count("”") and not set(keys) & set(re.findall(r"\w+", text)), text


def test_a_page_that_has_a_term_only_in_its_title_leads_to_the_section_with_its_words(extension: Any) -> None:
    terms, spot = extension("terms"), extension("term_places").Spot(0, 0, ())
    said = [terms.Said("", "warm-up", "nothing"), terms.Said("rise", "", "the warm-up", {"warm-up": spot})]
    (place,) = terms.places(["warm-up"], {"training/warm_up": said})
    assert place.anchor == "rise"


def test_a_name_in_braces_is_a_label_without_them(extension: Any) -> None:
    assert extension("term_sentences").labels()["nvidia2019"] == "NVIDIA, 2019"


def test_pages_know_their_part_of_the_book(extension: Any) -> None:
    """The site map is an attribute of the configuration, not one of its registered values."""
    from sphinx.config import Config

    env = SimpleNamespace(config=Config())
    assert extension("facts").parts_of(env) == {}
    subtree = SimpleNamespace(caption="Attention", items=["attention/masks", "attention/atlas"])
    env.config.external_site_map = SimpleNamespace(root=SimpleNamespace(subtrees=[subtree]))
    assert extension("facts").parts_of(env) == {"attention/masks": "Attention", "attention/atlas": "Attention"}


def test_the_menus_of_the_built_list_have_topics_and_times_that_hold_each_other(visit: Any, book: Path) -> None:
    if not (book / "reference" / "exercises.html").is_file():
        pytest.skip("a preview of one chapter has no list of exercises")
    with visit("reference/exercises.html") as v:
        topics = v.page.get_by_role("combobox", name="Topic").locator("option").all_inner_texts()
        assert {"Attention", "Training", "Results"} <= set(topics), topics
        rows, counts = v.page.locator(".exercise-columns > li:visible"), []
        for time in ("up to 15 min", "up to 30 min", ""):
            v.page.get_by_role("combobox", name="Time").select_option(time)
            counts.append(rows.count())
            limit = int(time.split()[2]) if time else 1000
            minutes = rows.locator(".mark-of-exercise").evaluate_all("all => all.map(e => Number(e.dataset.minutes))")
            assert max(minutes) <= limit
        assert counts == sorted(counts) and 0 < counts[0] < counts[1] < counts[2]
        v.page.get_by_role("combobox", name="Topic").select_option("Attention")
        assert 0 < rows.count() < counts[2] and v.errors == []


def test_words_of_an_exercise_have_no_markup(extension: Any) -> None:
    from annotated.grading.exercise.catalogue import all_exercises

    found = [extension("exercise_index")._words(exercise, "Title") for exercise in all_exercises()]
    assert not [words for words in found if "`" in words and "{" in words.partition("`")[0][-12:]]
    assert any(re.search(r"\bC16\b", words) for words in found)
