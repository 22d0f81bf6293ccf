"""Sentences of the index of terms, and the parts of the book that its lists name."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from annotated_book.pages import BOOK, page_file


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
    spot = extension("terms.term_places").spot_of(name, extension("terms.term_counts").own_paragraphs(section))
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


@pytest.mark.parametrize(
    ("name", "text", "leaning"),
    [
        ("post-norm", "Post-norm at the highest rate ends on that line, with both seeds.", 1),
        ("sub-layer", "Each sub-layer reads it and adds something to it.", 1),
        ("sub-layer", "Each sub-layer reads the stream and adds something to it.", 0),
        ("recurrent network", "In a recurrent network both keep a state, a vector that each step replaces.", 1),
        ("grouped-query attention", "Sharing it among groups of heads is grouped-query attention.", 1),
        ("flashattention", "FlashAttention is the best-known algorithm of this kind.", 1),
        ("warm-up", "A warm-up has a cost, then, and it permits a high rate.", 1),
        ("decoder", "The decoder above was trained without the mask, and its loss is low.", 1),
    ],
)
def test_a_sentence_that_refers_to_the_one_before_leans_and_is_not_shown(
    extension: Any, name: str, text: str, leaning: int
) -> None:
    from docutils import nodes

    section = nodes.section("", nodes.paragraph("", text), ids=["s"])
    spot = extension("terms.term_places").spot_of(name, extension("terms.term_counts").own_paragraphs(section))
    assert extension("terms.term_sentences").faults(spot.sentence) == leaning
    assert spot.is_about is (leaning == 0)


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


@pytest.mark.parametrize(
    ("before", "term", "after", "defines"),
    [
        ("", "Leak", ". A slot may attend to the token that it must write.", True),
        ("Drawing the sentences of a test set again is the ", "bootstrap", ".", True),
        ("", "RoPE", ", rotary position embedding [Su et al., 2021], rotates queries and keys.", True),
        ("The ", "memory", " is the output of the encoder.", True),
        ("The ", "learning rate", " is 0.001 from the first update on.", False),
        ("", "Padding", " has to be masked before the sum.", False),
        ("Every ", "ensemble", " has a lower loss than the best of its members.", False),
        ("A ", "BLEU", " without a signature is incomplete.", False),
    ],
)
def test_the_index_shows_sentences_that_define(
    extension: Any, before: str, term: str, after: str, defines: bool
) -> None:
    sentence = (("text", before), ("term", term), ("text", after))
    assert extension("terms.term_sentences").defines(sentence) is defines


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
    html = page.read_text("utf-8")
    boxes = re.findall(r'<div class="index-sentences[^>]*>(.*?)</div>', html, re.DOTALL)
    defined = [re.search(r'<p class="index-definition">(.*?)</p>', box, re.DOTALL)[1] for box in boxes]
    assert len(boxes) == html.count('class="index-entry"') > 120, "each term has its definition"
    for text in defined:
        assert re.search(r"\.\s*$", re.sub(r"<[^>]+>", "", text)) and "Chapter" not in text, text
    lines = [line for box in boxes for line in re.findall(r"<p>(.*?)</p>", box, re.DOTALL)]
    texts = [re.sub(r"<[^>]+>", "", line.partition("</a>")[2]).strip() for line in lines]
    keys = re.findall(r"^@\w+\{([^,]+),", (BOOK / "references.bib").read_text("utf-8"), re.MULTILINE)
    assert len(texts) > 40 and len(keys) > 100
    for text in texts:
        assert re.fullmatch(r"[“(]?[A-Z].*[.!][”)]?", text, re.DOTALL) and len(text.split()) > 4, text
        assert text.count("“") == text.count("”") and not set(keys) & set(re.findall(r"\w+", text)), text


def test_a_page_that_has_a_term_only_in_its_title_leads_to_the_section_with_its_words(extension: Any) -> None:
    terms, spot = extension("terms.term_counts"), extension("terms.term_places").Spot(0, 0, ())
    said = [terms.Said("", "warm-up", "nothing"), terms.Said("rise", "", "the warm-up", {"warm-up": spot})]
    (place,) = terms.places(["warm-up"], {"training/warm_up": said})
    assert place.anchor == "rise"


def test_a_definition_in_the_margin_is_the_place_of_a_page_and_what_is_often_said_is_none(extension: Any) -> None:
    from docutils import nodes

    terms, places = extension("terms.term_counts"), extension("terms.term_places")
    often = terms.Said("much", "", "bias " * 9, {"bias": places.Spot(6, 0, ())})
    margin = terms.Said("note", "", "a bias", {"bias": places.Spot(0, 0, ())})
    (place,) = terms.places(["bias"], {"machine/assembly": [often, margin]}, "machine/assembly")
    assert place.anchor == "note"
    assert [rank for rank in range(-2, 12) if places.Spot(rank, 0, ()).is_about] == [-2, 0, 2, 4]
    said = nodes.container("", nodes.paragraph("", "A bias is a head."), classes=["ledger-statement"])
    assert terms.own_paragraphs(nodes.section("", said)) == []


def test_a_chosen_sentence_comes_first_and_an_entry_leads_to_a_sentence_only_if_it_explains(extension: Any) -> None:
    from docutils import nodes

    terms, places = extension("terms.term_counts"), extension("terms.term_places")
    assert places.senses()["ReLU"]["says"] == "The ReLU sets every negative score"

    def leads_to(*texts: str) -> str:
        own = [nodes.paragraph("", text) for text in texts]
        spot = places.spot_of("ReLU", own)
        env = SimpleNamespace(annotated_sections={"a": [terms.Said("s", "", "relu", {"ReLU": spot})]})
        return terms.explanation(env, terms.Place("a", "s", 1), ["ReLU"])

    plain = "Without the ReLU the two matrices compute what a single matrix computes."
    assert leads_to(plain) == "#s", "a passing mention"
    assert leads_to(plain, "It is simple. The ReLU sets every negative score to zero.") == "#says-relu"
    assert leads_to("A ReLU is the larger of a number and zero.") == "#says-relu", "a definition by its form"
    spots = [places.Spot(rank, 0, (("term", "x"),)) for rank in (-2, -1, 0, 3, 6)]
    assert [spot.chosen for spot in spots] == [True, True, False, False, False]
    assert [spot.explains for spot in spots] == [True, True, True, True, False]
    said = [
        terms.Said("often", "relu", "relu", {"ReLU": spots[2]}),
        terms.Said("chosen", "", "relu", {"ReLU": spots[0]}),
    ]
    assert terms.places(["ReLU"], {"a": said}, "a")[0].anchor == "chosen"


def test_the_chosen_sentences_are_in_the_chapters_with_their_terms(extension: Any, repository: Path) -> None:
    """As they stand in the source, without the marks of MyST."""
    glossary = page_file("reference/glossary").read_text("utf-8")
    count = 0
    for word, rules in extension("terms.term_counts").senses().items():
        if "says" not in rules:
            continue
        entry = re.search(
            rf"^{re.escape(word)}\n(?:.+\n)*?.*\[Chapter \d+\]\(\.\./((?:\w+/)*?(\w+))(?:/\2)?\.md\)",
            glossary,
            re.MULTILINE,
        )
        assert entry, word
        page = " ".join(page_file(entry[1]).read_text("utf-8").split())
        page = re.sub(r"\{\w+\}`([^`<]+?)(?: <[^>]+>)?`", r"\1", page).replace("*", "")
        assert page.count(rules["says"]) == 1, (word, rules["says"], entry[1])
        around = page[max(0, page.index(rules["says"]) - 200) :][:400]
        assert extension("terms.term_places").spans(word, around.lower()), word
        count += 1
    assert count > 30


def test_words_of_another_sense_are_no_place(extension: Any) -> None:
    places = extension("terms.term_places")
    assert places.spans("bias", "exposure bias is not a bias") == [(23, 27)]
    assert places.spans("entropy", "the cross-entropy") == [] and places.spans("entropy", "its entropy")


def test_a_definition_is_the_first_sentence_of_its_entry(extension: Any) -> None:
    from docutils import nodes

    said = [
        nodes.math("", "x + 1"),
        nodes.Text(", as in "),
        citation("bahdanau2015", "t"),
        nodes.Text(". More. Chapter 5"),
    ]
    found = extension("terms.term_sentences").first_sentence(nodes.paragraph("", "", *said))
    assert found[0] == ("math", "x + 1") and "".join(text for _, text in found).strip().endswith(
        "Bahdanau et al. [2015]."
    )


def test_related_terms_are_named_in_the_entry(extension: Any) -> None:
    related = extension("terms.term_index").related
    everyone = ["mask", "causal mask", "bias", "exposure bias", "precision", "recall"]
    assert related(["mask"], everyone) == ["causal mask"] and related(["causal mask"], everyone) == ["mask"]
    assert related(["bias"], everyone) == [] and related(["precision"], everyone) == ["recall"]


def test_letters_without_terms_are_no_links_and_related_terms_lead_to_their_line(visit: Any) -> None:
    with visit("reference/index_of_terms.html") as v:
        letters, field = v.page.locator(".index-jumps a[href]"), v.page.get_by_role("searchbox")
        everything = letters.count()
        field.fill("causal mask")
        assert letters.all_inner_texts() == ["C"] and v.axe() == []
        assert v.page.locator(".index-jumps a[aria-disabled=true]").count() == 25
        assert v.page.locator(".index-entry:visible details[open]").count() == 1, "few lines unfold"
        v.page.locator(".index-related a:visible", has_text="mask").first.click()
        v.page.wait_for_function("location.hash === '#term-of-mask'")
        v.page.locator("#term-of-mask").wait_for()
        assert letters.count() == everything and v.errors == []


def test_the_senses_name_pages_and_terms_that_exist(extension: Any, repository: Path) -> None:
    file = BOOK / "reference" / "glossary.md"
    glossary, firsts = (
        file.read_text("utf-8").splitlines(),
        {names[0] for names in extension("terms.term_places").names_in(file)},
    )
    for word, rules in extension("terms.term_counts").senses().items():
        assert word in glossary and rules and set(rules) <= {"only", "also", "not", "elsewhere", "see", "says"}, word
        assert {*rules.get("see", ()), *rules.get("elsewhere", {}).values()} <= firsts, word
        for page in [*rules.get("only", ()), *rules.get("also", ())]:
            text = page_file(page).read_text("utf-8").lower()
            assert word.partition(" ")[0] in text, (word, page)


def test_the_built_index_has_no_foreign_senses(book: Path) -> None:
    page = book / "reference" / "index_of_terms.html"
    if not page.is_file():
        pytest.skip("a preview of one chapter has no index of terms")
    rows = re.findall(
        r'<li[^>]*><p><a[^>]*title="Its entry[^>]*>(.*?)</a>(.*?)</p>', page.read_text("utf-8"), re.DOTALL
    )
    found = {re.sub(r"<[^>]+>", "", term).strip(): where for term, where in rows}
    told = {term: re.sub(r"<[^>]+>", "", where) for term, where in found.items()}
    assert len(found) > 100 and all(term.isascii() or "’" in term for term in found)
    assert "bleu" not in found["score"] and "table_2" not in found["score"] and "table_1" not in found["memory"]
    assert "table_1" not in found["projection"] and "residuals" not in found["update"]
    assert "multi_head" in found["d_k"] and "warm_up" in found["learning rate"]
    assert "see update" in told["step"] and "see end token" in told["eos"]
    assert "teacher_forcing" in found["shifted right"] and all("href" in w or "see" in w for w in found.values())


def test_a_name_in_braces_is_a_label_without_them(extension: Any) -> None:
    assert extension("reference.citations").labels()["nvidia2019"] == "NVIDIA, 2019"


def test_pages_know_their_part_of_the_book(extension: Any) -> None:
    """The site map is an attribute of the configuration, not one of its registered values."""
    from sphinx.config import Config

    env = SimpleNamespace(config=Config())
    assert extension("chapter.page_facts").parts_of(env) == {}
    subtree = SimpleNamespace(caption="Attention", items=["attention/masks", "attention/atlas"])
    env.config.external_site_map = SimpleNamespace(root=SimpleNamespace(subtrees=[subtree]))
    assert extension("chapter.page_facts").parts_of(env) == {
        "attention/masks": "Attention",
        "attention/atlas": "Attention",
    }


def test_the_menus_of_the_built_list_have_topics_and_times_that_hold_each_other(visit: Any) -> None:
    with visit("reference/exercises.html") as v:
        topics = (
            v.page.get_by_role("combobox", name="Part").locator("option").evaluate_all("all => all.map(e => e.value)")
        )
        assert {"Attention", "Training", "Results"} <= set(topics), topics
        rows, counts = v.page.locator(".exercise-columns > li:visible"), []
        for time in ("up to 15 min", "up to 30 min", ""):
            v.page.get_by_role("combobox", name="Time").select_option(time)
            counts.append(rows.count())
            limit = int(time.split()[2]) if time else 1000
            minutes = rows.locator(".mark-of-exercise").evaluate_all("all => all.map(e => Number(e.dataset.minutes))")
            assert max(minutes) <= limit
        assert counts == sorted(counts) and 0 < counts[0] < counts[1] < counts[2]
        v.page.get_by_role("combobox", name="Part").select_option("Attention")
        assert 0 < rows.count() < counts[2] and v.errors == []


def test_numbers_in_the_menus_and_the_legend_follow_the_filter_and_the_list_its_order(visit: Any) -> None:
    with visit("reference/exercises.html") as v:
        rows, kinds = v.page.locator(".exercise-columns > li:visible"), v.page.get_by_role("combobox", name="Kind")
        everything = rows.count()
        v.page.get_by_role("combobox", name="Part").select_option("Attention")
        offered = kinds.locator("option").all_inner_texts()[1:]
        assert sum(int(text.split("(")[1][:-1]) for text in offered) == rows.count() < everything
        kinds.select_option("write")
        assert f"write ({rows.count()})" in offered
        shown = f"{rows.count()} of {everything} exercises are shown"
        v.page.locator(".exercises-total", has_text=shown).wait_for()
        legend = v.page.locator("[data-level]").all_inner_texts()
        assert sum(int(text.split()[0]) for text in legend if text != "none") == rows.count()
        kinds.select_option("")
        before = rows.all_inner_texts()
        v.page.get_by_label("Order by").select_option("time")
        minutes = rows.locator(".mark-of-exercise").evaluate_all("all => all.map(e => Number(e.dataset.minutes))")
        assert minutes == sorted(minutes) and len(set(minutes)) > 1 and sorted(rows.all_inner_texts()) == sorted(before)
        v.page.get_by_label("Order by").select_option("chapter")
        assert rows.all_inner_texts() == before and v.axe(within=".page-filter, [data-level]") == [] and v.errors == []


def test_words_of_an_exercise_have_no_markup(extension: Any) -> None:
    from annotated_grader.exercise.catalogue import all_exercises

    found = [extension("reference.exercise_index")._words(exercise, "Title") for exercise in all_exercises()]
    assert not [words for words in found if "`" in words and "{" in words.partition("`")[0][-12:]]
    assert any(re.search(r"\bC16\b", words) for words in found)
