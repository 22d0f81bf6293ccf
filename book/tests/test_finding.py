"""Finding things: the senses of the index of terms, filters of long pages, and the words of the search."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from annotated_book.pages import BOOK, page_file
from book.tests.javascript import evaluate

ASSETS = Path(__file__).parents[2] / "book" / "_assets"
SCORER = ASSETS / "search" / "scorer.js"


# The index of terms


def test_a_word_is_counted_only_where_it_has_the_glossarys_sense(extension: Any) -> None:
    terms = extension("terms.term_counts")
    said = [terms.Said("", "scores", "a score, another score"), terms.Said("more", "", "score score score")]
    pages = {"attention/scaled_dot_product": said, "decoding/bleu": said, "results/table_2": said}
    assert [place.page for place in terms.places(["score"], pages)] == ["attention/scaled_dot_product"]
    assert len(terms.places(["scores of BLEU", "softmax"], pages)) == 0
    margin = terms.Said("", "", "an alignment", {"alignment": extension("terms.term_places").Spot(0, 0, ())})
    assert len(terms.places(["alignment"], {"a": [margin]})) == 1, "one use is enough where the margin defines it"
    assert terms.places(["alignment"], {"a": [terms.Said("", "", "an alignment")]}) == []
    assert [place.page for place in terms.places(["more", "score"], pages)] == ["attention/scaled_dot_product"]


def test_a_place_leads_to_the_section_that_says_most(extension: Any) -> None:
    terms = extension("terms.term_counts")
    said = [terms.Said("", "masks", "a mask"), terms.Said("leaks", "leaks", "a leak"), terms.Said("end", "", "leak")]
    (place,) = terms.places(["leak"], {"attention/masks": said})
    assert place.anchor == "leaks"
    assert terms.places(["mask"], {"attention/masks": said})[0].anchor == ""
    said[2] = terms.Said("end", "exercises", "leak " * 50)
    assert terms.places(["leak"], {"attention/masks": said})[0].anchor == "leaks", "an exercise explains nothing"


def test_a_place_is_the_definition_then_what_is_stressed_then_the_first_words(extension: Any) -> None:
    from docutils import nodes

    places, terms = extension("terms.term_places"), extension("terms.term_counts")
    plain = nodes.paragraph("", "Two heads, then ")
    code = nodes.paragraph("", "", nodes.literal("", "head"), nodes.Text(" of code"))
    stressed = nodes.paragraph("", "A ", nodes.emphasis("", "head"), nodes.Text(" is narrow."))
    note = [nodes.raw("", '<aside class="margin-note note-definition">', format="html"), nodes.paragraph("", "head: x")]
    asked = nodes.container("", nodes.paragraph("", "A head?"), classes=["quiz"])
    section = nodes.section("", code, plain, stressed, *note, asked, ids=["s"])
    found = terms.own_paragraphs(section)
    assert len(found) == 4 and places.place_of(["head"], found[:1]) is None, "neither code nor a question is a place"
    assert places.place_of(["head"], found[:2]) == (plain[0], 4, 9), "the plural is the term, too"
    assert places.place_of(["head"], found[:3])[0] == "head" and places.place_of(["head"], found)[0] == "head: x"
    before = section.astext()
    assert places.mark(["head"], "says-head", found) and section.astext() == before
    (target,) = [node for node in section.findall(nodes.inline) if node["ids"] == ["says-head"]]
    assert target.astext() == "head" and target.parent is note[1]


def test_the_built_index_leads_to_the_words_of_each_term(book: Path) -> None:
    page = book / "reference" / "index_of_terms.html"
    if not page.is_file():
        pytest.skip("a preview of one chapter has no index of terms")
    rows = re.findall(
        r'<li[^>]*><p><a[^>]*title="Its entry[^>]*>(.*?)</a>(.*?)</p>', page.read_text("utf-8"), re.DOTALL
    )
    links = [
        (re.sub(r"<[^>]+>", "", term), link) for term, row in rows for link in re.findall(r'href="\.\./([^"]+)"', row)
    ]
    words = [(term, *link.split("#")) for term, link in links if "#says-" in link]
    assert len(words) > 0.85 * len(links), "the others have the term in the heading that they lead to"
    for term, name, anchor in words:
        marked = re.findall(rf'<span class="term-place" id="{anchor}">(.*?)</span>', (book / name).read_text("utf-8"))
        assert len(marked) == 1 and len(re.sub(r"<[^>]+>", "", marked[0])) < 50, (term, name, anchor)


def test_the_chapter_of_an_entry_has_the_term(extension: Any, repository: Path) -> None:
    """Under one of its names, or in the other words that `senses.yaml` knows of."""
    glossary, senses = BOOK / "reference" / "glossary.md", extension("terms.term_counts").senses()
    found = extension("terms.term_places").names_in(glossary)
    texts = re.split(
        r"\n\s*\n", "\n\n".join(re.findall(r":::\{glossary\}\n(.*?)\n:::", glossary.read_text("utf-8"), re.S))
    )
    assert len(found) == len(texts) > 100
    for names, text in zip(found, texts, strict=True):
        chapter = re.search(r"\[Chapter (\d+)\]\(\.\./((?:\w+/)*?(\w+))(?:/\3)?\.md\)", " ".join(text.split()))
        if not chapter or chapter[2] in senses.get(names[0], {}).get("also", ()):
            continue
        page = page_file(chapter[2]).read_text("utf-8")
        assert re.search(rf"^ *number: {chapter[1]}$", page, re.MULTILINE), names
        words = " ".join(page.lower().split())
        assert any(extension("terms.term_places").written(name).search(words) for name in names), (names, chapter[2])


# Filters


def test_a_filter_is_hidden_until_its_script_runs(extension: Any) -> None:
    menu = extension("find.filters").menu("kind | write, prove")
    assert menu.count("<option") == 3 and 'data-by="kind"' in menu and "aria-label" in menu
    with pytest.raises(ValueError, match="a menu is written"):
        extension("find.filters").menu("kind")


def test_a_field_shows_the_entries_that_fit_and_their_terms(visit: Any) -> None:
    with visit("reference/glossary.html") as v:
        box, shown = v.page.locator(".page-filter"), v.page.locator("dl.glossary > .entry:visible")
        everything = shown.count()
        for words in ("kv cache", "缓存"):
            box.locator("input").fill(words)
            assert shown.count() == 1 and "Keys and values" in shown.inner_text()
            assert shown.locator("dt").count() == 3
            assert box.locator("[role=status]").inner_text().startswith("1 of ")
        box.locator("input").fill("")
        assert shown.count() == everything and box.locator("[role=status]").inner_text() == ""
        assert v.errors == []


def test_menus_choose_exercises_and_claims(visit: Any) -> None:
    with visit("reference/exercises.html") as v:
        v.page.get_by_role("combobox", name="Kind").select_option("prove")
        rows = v.page.locator(".exercise-columns > li:visible")
        assert 0 < rows.count() < 20 and set(rows.locator(".exercise-kind").all_inner_texts()) == {"prove"}
        beliefs = v.page.locator(".misconceptions tbody tr:visible")
        about = beliefs.locator(".facts-of-belief").evaluate_all("all => all.map(e => e.dataset.exercises.split(';'))")
        left = rows.locator(".mark-of-exercise").evaluate_all("all => all.map(e => e.dataset.exercise)")
        assert about and all(set(names) & set(left) for names in about), "beliefs stay with one of their exercises"
        minutes = [int(text.split()[0]) for text in rows.locator("span", has_text=" min").all_inner_texts()]
        hours = re.search(
            r"are shown, together about (?:(\d+) h)? ?(?:(\d+) min)?\.", v.page.inner_text(".exercises-total")
        )
        assert 60 * int(hours[1] or 0) + int(hours[2] or 0) == sum(minutes), "the total follows the filter"
        done = v.page.get_by_role("combobox", name="State").locator("option[value=done]")
        assert done.inner_text() == "done (0)" and done.is_disabled(), "nothing is done yet"
        v.page.get_by_role("combobox", name="Kind").select_option("")
        field = v.page.get_by_role("searchbox")
        field.fill("beam")
        assert {"24.1", "24.2", "24.3", "24.4"} <= {text.split()[0] for text in rows.all_inner_texts()}
        field.fill("ex05-1")
        assert any(text.startswith("5.1 ") for text in rows.all_inner_texts())
    with visit("reference/paper_map.html") as v:
        v.page.get_by_role("combobox", name="Verdict").select_option("half true")
        pills = v.page.locator(".map-claim:visible .ledger-verdict")
        assert pills.count() > 5 and set(pills.all_inner_texts()) == {"half true"}


def test_an_address_brings_back_what_was_chosen(visit: Any) -> None:
    with visit("reference/exercises.html") as v:
        shown = v.page.locator(".exercise-columns > li:visible")
        v.page.get_by_role("combobox", name="Kind").select_option("prove")
        v.page.get_by_role("searchbox").fill("mask")
        v.page.wait_for_function("location.search.includes('show=mask') && location.search.includes('kind=prove')")
        before = shown.all_inner_texts()
        v.page.goto(v.page.url + "&order=difficulty")
        v.page.wait_for_selector(".in-one-list")
        assert (
            sorted(shown.all_inner_texts()) == sorted(before)
            and v.page.get_by_role("searchbox").input_value() == "mask"
        )
        v.page.get_by_role("searchbox").press("Escape")
        v.page.wait_for_function("!location.search.includes('show')")
        v.page.get_by_role("searchbox").fill("5.2")
        assert [text.split()[0] for text in shown.all_inner_texts()] == ["5.2"]
        assert v.errors == []


def test_each_exercise_says_in_one_line_what_it_asks_for() -> None:
    from annotated_grader.exercise.catalogue import all_exercises

    lines = {exercise.id: exercise.line for exercise in all_exercises()}
    assert {id: line for id, line in lines.items() if not re.fullmatch(r"[A-Z].{20,115}[^.]", line)} == {}


def test_the_paper_map_is_sorted_by_what_its_parts_have(visit: Any) -> None:
    with visit("reference/paper_map.html") as v:
        rows = v.page.locator(".map-table tbody tr")
        first = rows.locator("th a").all_inner_texts()
        v.page.get_by_role("button", name="Exercises").click()
        counts = [int(text.split()[0]) for text in rows.locator("td:nth-child(4) .visually-hidden").all_inner_texts()]
        assert counts == sorted(counts, reverse=True) and counts[0] > counts[-1]
        for _ in range(2):
            v.page.get_by_role("button", name="Exercises").click()
        assert rows.locator("th a").all_inner_texts() == first and v.errors == []


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
        ("-inf", "minus infinity", "attention/masks.html"),
        ("O(n^2 d)", "complexity per layer", "why/table_1.html"),
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
    assert extension("find.searching").without_lists(page).astext() == "kept" and "contents" in page.astext()


STEM = "word => word.replace(/(ings?|ed|s|ion)$/, '')"
PASSAGES = ASSETS / "search" / "passages.js"
PLACES = [
    ["", "Masks", ["A mask hides keys. It is boolean."]],
    ["leaks", "Leaks", ["Without a causal mask the decoder copies. It reads the next token.", "Masking is cheap."]],
    ["padding", "Padding", ["The pad token fills short rows of a batch."]],
]


def passages(call: str, data: Any) -> Any:
    return evaluate(PASSAGES, f"(_, data) => globalThis.annotatedPassages.{call}", data)


def test_of_a_page_the_places_with_all_words_are_shown_with_a_sentence() -> None:
    found = passages(f"best(data, ['causal', 'mask'], {STEM})", PLACES)
    assert [place["anchor"] for place in found] == ["leaks"]
    assert found[0]["text"].startswith("Without a causal mask the decoder copies.")
    found = passages(f"best(data, ['mask'], {STEM})", PLACES)
    assert [place["heading"] for place in found] == ["Masks", "Leaks"], (
        "the heading counts, the padding has no such word"
    )
    asked = passages(f"best(data, ['mask'], {STEM}, ['padding'])", PLACES)
    assert asked[0]["anchor"] == "padding", "what a title answered comes first"


def test_three_letters_lead_first_to_the_objects_whose_names_begin_with_them() -> None:
    pages = [
        {"name": "doctor", "anchors": ["annotated_grader.doctor.report.Report.causes"]},
        {"name": "index", "anchors": []},
        {
            "name": "model",
            "anchors": [
                "annotated.model.fast.Rows.causal",
                "annotated.model.masks.CAUSAL",
                "annotated.model.masks.causal_mask",
            ],
        },
        {"name": "grading", "anchors": ["module-annotated_grader.cause", "annotated_grader.cause.Cause"]},
    ]
    found = passages("objectsFirst(data, 'cau')", pages)
    assert [page["name"] for page in found] == ["model", "grading", "doctor", "index"]
    assert found[0]["anchors"][0].endswith(".causal_mask") and found[1]["anchors"][0].endswith(".Cause")


def test_the_words_are_marked_in_every_form_and_nothing_else() -> None:
    parts = passages(f"marked(data, ['mask'], {STEM})", "Masked keys; a mask, masking.")
    assert parts == ["", "Masked", " keys; a ", "mask", ", ", "masking", "."]
    assert "".join(parts) == "Masked keys; a mask, masking."


def test_a_long_sentence_is_cut_around_the_word() -> None:
    text = "One " + "word " * 100 + "mask " + "word " * 100 + "end."
    shown = passages(f"excerpt([data], ['mask'], {STEM})", text)
    assert "mask" in shown and shown.startswith("… ") and shown.endswith(" …") and len(shown) < 260


@pytest.mark.parametrize(
    ("a", "b", "slips"),
    [("mask", "mask", 0), ("maks", "mask", 1), ("sofmax", "softmax", 1), ("", "abc", 3), ("ab", "ba", 1)],
)
def test_slips_are_counted(a: str, b: str, slips: int) -> None:
    assert passages("distance(...data)", [a, b]) == passages("distance(...data)", [b, a]) == slips


def test_a_misspelt_word_is_replaced_by_the_nearest_word_of_the_book() -> None:
    words = {"attention": 300, "mask": 200, "make": 90, "masks": 40, "transformer": 99, "softmax": 50}
    corrected = {
        query: passages("correct(data[0], data[1], data[2]) ?? null", [query, unknown, words])
        for query, unknown in (
            ("attnetion", ["attnetion"]),
            ("maks", ["maks"]),
            ("the transfomer", ["transfomer"]),
            ("sofmax atention", ["sofmax", "atention"]),
            ("quetzal", ["quetzal"]),
        )
    }
    assert corrected == {
        "attnetion": "attention",
        "maks": "mask",
        "the transfomer": "the transformer",
        "sofmax atention": "softmax attention",
        "quetzal": None,
    }


def test_a_page_gives_its_sections_terms_and_objects_as_places(extension: Any) -> None:
    from docutils import nodes
    from docutils.utils import new_document

    page, outer, inner = new_document("page"), nodes.section(ids=["top"]), nodes.section(ids=["inner"])
    outer += [nodes.title("", "Top"), nodes.paragraph("", "", nodes.Text("Root "), nodes.math("", r"\sqrt{d_k}"))]
    entry = nodes.definition_list_item()
    entry += [nodes.term("", "RoPE", ids=["term-RoPE"]), nodes.definition("", nodes.paragraph("", "A rotation."))]
    inner += [nodes.title("", "Inner"), nodes.literal_block("", "code"), nodes.definition_list("", entry)]
    outer += inner
    page += outer
    searching = extension("find.searching")
    found = searching.places(page)
    assert found == [("", "Top", ["Root √d_k"]), ("inner", "Inner", []), ("term-RoPE", "RoPE", ["A rotation."])]
    words: Any = searching.Counter()
    searching.count(found, words)
    assert words["rope"] == 1 + searching.IN_HEADING and words["rotation"] == 1 and "code" not in words


def test_an_object_is_described_by_its_docstring_and_links_stand_close(extension: Any) -> None:
    from docutils import nodes
    from docutils.utils import new_document
    from sphinx import addnodes

    page, entry = new_document("page"), addnodes.desc(objtype="class")
    link = nodes.reference("", "", nodes.literal("", "annotated.model.fast"))
    said = nodes.paragraph("", "", nodes.Text("It is in "), link, nodes.Text("."))
    name = addnodes.desc_signature("", "Fast", ids=["model.Fast"], fullname="Fast")
    entry += [name, addnodes.desc_content("", nodes.paragraph("", "Bases: Module"), said)]
    page += entry
    assert extension("find.searching").places(page) == [("model.Fast", "Fast", ["It is in annotated.model.fast."])]


def answered(v: Any) -> None:
    v.page.wait_for_selector("#search-results[data-done]")


def test_a_group_shows_five_pages_and_a_button_shows_the_rest(visit: Any, book: Path) -> None:
    if not (book / "decoding" / "beam_search.html").is_file():
        pytest.skip("a preview of some chapters has no more than five pages about beams")
    with visit("search.html?q=beam") as v:
        answered(v)
        first = v.page.locator(".search-group[data-group='0'] .search-page > a")
        assert first.count() == 5 and first.first.inner_text().startswith("24. Beam search")
        v.page.locator(".search-group > button").first.focus()
        v.page.keyboard.press("Enter")
        assert first.count() > 5 and v.page.evaluate("document.activeElement.closest('.search-page') !== null")
        assert v.errors == []


def test_a_page_is_found_once_with_its_sections_and_marked_sentences(visit: Any) -> None:
    for options in ({}, {"viewport": {"width": 390, "height": 844}, "color_scheme": "dark"}):
        with visit("search.html?q=causal%20mask", **options) as v:
            answered(v)
            v.page.wait_for_selector(".search-page[data-ready] mark")
            links = v.page.locator(".search-page > a").evaluate_all("all => all.map(a => a.href)")
            assert len(links) == len(set(links)) and any("attention/masks.html" in link for link in links)
            masks = v.page.locator(".search-page", has=v.page.locator("> a[href*='attention/masks.html']"))
            assert masks.locator(".search-place mark").count() >= 2
            assert "#" in masks.locator(".search-place > a").first.get_attribute("href")
            colours = v.page.locator("#search-results a").evaluate_all("all => all.map(a => getComputedStyle(a).color)")
            assert len(set(colours)) == 1, "one colour for links"
            assert v.overflow() <= 0 and v.errors == [] and v.axe(within="#search-results") == []


def test_an_empty_search_and_one_without_results_lead_on(visit: Any) -> None:
    with visit("search.html") as v:
        assert v.page.locator(".search-common a").count() == 10
    with visit("search.html?q=qqxyzzy") as v:
        answered(v)
        assert "categories" not in v.page.locator("#search-results").inner_text()
        assert v.page.locator(".search-nothing a").count() == 2 and v.errors == []


def test_a_slip_of_the_pen_is_understood(visit: Any) -> None:
    with visit("search.html?q=attnetion") as v:
        answered(v)
        assert v.page.locator(".search-meant").inner_text() == "No page has “attnetion”. These pages have attention."
        assert v.page.locator(".search-page").count() > 5 and v.errors == []


def test_the_search_shows_sentences_from_a_folder_on_a_disk(visit: Any, book: Path) -> None:
    with visit((book / "search.html").as_uri() + "?q=beam") as v:
        answered(v)
        v.page.wait_for_selector(".search-page[data-ready] mark")
        assert v.errors == []


def test_the_signs_of_the_root_lead_to_chapter_5(visit: Any) -> None:
    with visit("search.html?q=why%20sqrt(d_k)") as v:
        answered(v)
        v.page.wait_for_selector(".search-page[data-ready]")
        first = v.page.locator(".search-page").first
        assert first.locator("> a").inner_text().startswith("5. Scaled dot-product attention")
        assert "The variance of a dot product" in first.inner_text() and v.errors == []


def test_a_term_of_the_glossary_shows_its_definition(visit: Any) -> None:
    with visit("search.html?q=RoPE") as v:
        found = v.page.locator(".search-place:has(a[href*='glossary.html#term-']) p").first
        found.wait_for()
        assert "rotation of each query and key" in found.inner_text()


def test_the_dialog_keeps_its_query_when_it_is_closed_and_on_the_next_page(visit: Any) -> None:
    with visit("reference/notation.html", alone=True) as v:
        v.page.keyboard.press("Control+k")
        v.page.keyboard.type("warm-up")
        found = v.page.frame_locator("iframe.search-answers").locator(".search-page > a")
        found.first.wait_for()
        for open_again in (lambda: v.page.keyboard.press("Escape"), v.page.reload):
            open_again()
            v.page.keyboard.press("Control+k")
            assert v.page.locator("#pst-search-dialog input[type=search]").input_value() == "warm-up"
            found.first.wait_for()
        assert v.errors == []


@pytest.mark.parametrize("folder", [False, True], ids=["a site", "a folder on a disk"])
def test_the_dialog_answers_while_one_types(visit: Any, book: Path, folder: bool) -> None:
    page = (book / "reference" / "notation.html").as_uri() if folder else "reference/notation.html"
    with visit(page, alone=True) as v:
        v.page.keyboard.press("Control+k")
        v.page.keyboard.type("warm-up")
        found = v.page.frame_locator("iframe.search-answers")
        found.locator(".search-page > a").first.wait_for()
        assert "warm-up" in found.locator(".search-page > a").first.inner_text().lower()
        v.page.keyboard.press("Control+a")
        v.page.keyboard.type("label smoothing")
        found.locator(".search-page > a", has_text="Label smoothing").first.wait_for()
        assert found.locator("h1").is_hidden() and found.locator(".search-group").count() <= 4
        v.page.keyboard.press("Control+a")
        v.page.keyboard.press("Backspace")
        v.page.wait_for_function("document.querySelector('.search-answers').hidden")
        v.page.keyboard.type("masks")
        found.locator(".search-page > a", has_text="Masks").first.click()
        v.page.wait_for_url("**/attention/masks.html*")
        assert v.errors == []
