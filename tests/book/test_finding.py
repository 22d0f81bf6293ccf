"""Finding things: the senses of the index of terms, filters of long pages, and the words of the search."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from tests.javascript import evaluate

pytest.importorskip("sphinx", reason="the book's extension needs the extra `book`")

ASSETS = Path(__file__).parents[2] / "book" / "_assets"
SCORER = ASSETS / "search" / "scorer.js"


@pytest.fixture(scope="module")
def extension(repository: Path) -> Iterator[Callable[[str], Any]]:
    """Import a part of the extension."""
    sys.path.insert(0, str(repository / "book" / "_ext"))
    yield lambda part: import_module(f"annotated_book.{part}")
    sys.path.pop(0)


# The index of terms


def test_a_word_is_counted_only_where_it_has_the_glossarys_sense(extension: Any) -> None:
    terms = extension("terms")
    said = [terms.Said("", "scores", "a score, another score"), terms.Said("more", "", "score score score")]
    pages = {"attention/scaled_dot_product": said, "decoding/bleu": said, "results/table_2": said}
    assert [place.page for place in terms.places(["score"], pages)] == ["attention/scaled_dot_product"]
    assert len(terms.places(["scores of BLEU", "softmax"], pages)) == 0
    assert [place.page for place in terms.places(["more", "score"], pages)] == ["attention/scaled_dot_product"]


def test_a_place_leads_to_the_section_that_says_most(extension: Any) -> None:
    terms = extension("terms")
    said = [terms.Said("", "masks", "a mask"), terms.Said("leaks", "leaks", "a leak"), terms.Said("end", "", "leak")]
    (place,) = terms.places(["leak"], {"attention/masks": said})
    assert place.anchor == "leaks"
    assert terms.places(["mask"], {"attention/masks": said})[0].anchor == ""


def test_the_senses_name_pages_and_terms_that_exist(extension: Any, repository: Path) -> None:
    glossary = (repository / "book" / "reference" / "glossary.md").read_text("utf-8").splitlines()
    for word, rules in extension("terms").senses().items():
        assert word in glossary and rules and set(rules) <= {"only", "also"}, word
        for page in [page for pages in rules.values() for page in pages]:
            text = (repository / "book" / f"{page}.md").read_text("utf-8").lower()
            assert word.partition(" ")[0] in text, (word, page)


def test_the_built_index_has_no_foreign_senses(book: Path) -> None:
    page = book / "reference" / "index_of_terms.html"
    if not page.is_file():
        pytest.skip("a preview of one chapter has no index of terms")
    rows = re.findall(r'<li><p><a[^>]*title="Its entry[^>]*>(.*?)</a>(.*?)</p>', page.read_text("utf-8"), re.DOTALL)
    found = {re.sub(r"<[^>]+>", "", term).strip(): where for term, where in rows}
    assert len(found) > 100 and all(term.isascii() or "’" in term for term in found)
    assert "bleu" not in found["score"] and "table_2" not in found["score"] and "table_1" not in found["memory"]
    assert "see update" in found["step"] and "see end token" in found["eos"]
    assert "teacher_forcing" in found["shifted right"] and all("href" in w or "see" in w for w in found.values())


# Filters


def test_a_filter_is_hidden_until_its_script_runs(extension: Any) -> None:
    menu = extension("filters").menu("kind | write, prove")
    assert menu.count("<option") == 3 and 'data-by="kind"' in menu and "aria-label" in menu
    with pytest.raises(ValueError, match="a menu is written"):
        extension("filters").menu("kind")


def test_a_field_shows_the_entries_that_fit_and_their_terms(visit: Any, book: Path) -> None:
    if not (book / "reference" / "glossary.html").is_file():
        pytest.skip("a preview of one chapter has no glossary")
    with visit("reference/glossary.html") as v:
        box, shown = v.page.locator(".page-filter"), v.page.locator("dl.glossary > dd:visible")
        everything = shown.count()
        for words in ("kv cache", "缓存"):
            box.locator("input").fill(words)
            assert shown.count() == 1 and "Keys and values" in shown.inner_text()
            assert v.page.locator("dl.glossary > dt:visible").count() == 3
            assert box.locator("[role=status]").inner_text().startswith("1 of ")
        box.locator("input").fill("")
        assert shown.count() == everything and box.locator("[role=status]").inner_text() == ""
        assert v.errors == []


def test_menus_choose_exercises_and_claims(visit: Any, book: Path) -> None:
    if not (book / "reference" / "exercises.html").is_file():
        pytest.skip("a preview of one chapter has no list of exercises")
    with visit("reference/exercises.html") as v:
        v.page.get_by_role("combobox", name="Kind").select_option("prove")
        rows = v.page.locator(".exercise-columns > li:visible")
        assert 0 < rows.count() < 20 and set(rows.locator(".exercise-kind").all_inner_texts()) == {"prove"}
        v.page.get_by_role("combobox", name="State").select_option("done")
        assert rows.count() == 0
    with visit("reference/paper_map.html") as v:
        v.page.get_by_role("combobox", name="Verdict").select_option("half true")
        pills = v.page.locator(".map-claim:visible .ledger-verdict")
        assert pills.count() > 5 and set(pills.all_inner_texts()) == {"half true"}


# The search


@pytest.mark.parametrize(
    ("typed", "words", "first"),
    [
        ("why sqrt(d_k)", "division variance dot product", "attention/scaled_dot_product.html#"),
        ("Why divide by √d_k?", "division variance dot product", "attention/scaled_dot_product.html#"),
        ("W_O", "output projection", "attention/multi_head.html#"),
        ("W^O", "output projection", "attention/multi_head.html#"),
        ("warmup", "warm-up", ""),
        ("LayerNorm", "layer normalisation", ""),
        ("what is a mask?", "mask", ""),
        ("is", "is", ""),
        ("Attention", "attention", ""),
    ],
)
def test_the_search_knows_the_signs_of_the_paper_and_other_spellings(typed: str, words: str, first: str) -> None:
    found = evaluate(SCORER, "(_, typed) => globalThis.annotatedQuery(typed)", typed)
    assert found["words"] == words
    assert found["places"][0][0].startswith(first) if first else found["places"] == [], found


def test_the_places_of_aliases_exist(book: Path) -> None:
    if not (book / "reference" / "glossary.html").is_file():
        pytest.skip("a preview of one chapter lacks most places")
    for alias in evaluate(SCORER, "() => globalThis.annotatedAliases"):
        for address, _ in alias["places"]:
            page, _, anchor = address.partition("#")
            assert f'id="{anchor}"' in (book / page).read_text("utf-8") if anchor else (book / page).is_file(), address


def test_lists_of_contents_are_not_in_the_index(extension: Any) -> None:
    from docutils import nodes
    from docutils.utils import new_document

    page = new_document("page")
    page += [nodes.paragraph("", "kept"), nodes.paragraph("", "contents", classes=["no-search"])]
    assert extension("searching").without_lists(page).astext() == "kept" and "contents" in page.astext()


def test_a_group_shows_five_and_a_button_shows_the_rest(visit: Any) -> None:
    with visit("search.html?q=beam") as v:
        v.page.wait_for_selector(".search-summary:has-text('found.')")
        first = v.page.locator("li[data-group='0']:visible > a")
        assert first.count() == 5 and first.first.inner_text().startswith("24. Beam search")
        assert "Scripts are off" not in v.page.locator("#search-results").inner_text()
        v.page.locator(".search-more button").first.click()
        assert first.count() > 5 and v.errors == []


def test_an_empty_search_and_one_without_results_lead_on(visit: Any) -> None:
    with visit("search.html") as v:
        assert v.page.locator(".search-common a").count() == 10
    with visit("search.html?q=attnetion") as v:
        v.page.wait_for_selector(".search-nothing")
        assert "categories" not in v.page.locator("#search-results").inner_text()
        assert v.page.locator(".search-nothing a").count() == 2


def test_the_signs_of_the_root_lead_to_chapter_5(visit: Any) -> None:
    with visit("search.html?q=why%20sqrt(d_k)") as v:
        v.page.wait_for_selector(".search-summary:has-text('found.')")
        links = v.page.locator("#search-results li:not(.search-group) > a")
        assert "The variance of a dot product" in links.first.inner_text() and v.errors == []


def test_a_term_of_the_glossary_shows_its_definition(visit: Any) -> None:
    with visit("search.html?q=RoPE") as v:
        found = v.page.locator("#search-results p.definition").first
        found.wait_for()
        assert "rotation of each query and key" in found.inner_text()
