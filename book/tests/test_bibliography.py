"""The glossary's font and the bibliography in a browser: what is loaded, chosen and copied."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from annotated_book.pages import BOOK, page_file


def test_the_chinese_font_is_loaded_where_chinese_stands(visit: Any) -> None:
    status = "[...document.fonts].find(font => font.family.includes('Chinese')).status"
    with visit("reference/glossary.html") as v:
        v.page.wait_for_function("document.fonts.ready.then(() => true)")
        assert v.foreign == []
        drawn = "e => getComputedStyle(e).fontFamily.startsWith('\"Chinese Book\"')"
        assert v.page.locator("dt.chinese span").first.evaluate(drawn)
        assert v.page.evaluate(status) == "loaded"
    with visit("reference/formulas.html") as v:
        v.page.wait_for_function("document.fonts.ready.then(() => true)")
        assert v.page.evaluate(status) == "unloaded"


def test_the_bibliography_is_filtered_by_the_chapters_that_its_entries_name(visit: Any) -> None:
    with visit("reference/bibliography.html", as_left=True) as v:
        menu, shown = v.page.get_by_role("combobox", name="Chapter"), v.page.locator(".citation:visible")
        offered = [re.sub(r" \(\d+\)$", "", text) for text in menu.locator("option").all_inner_texts()]
        assert offered[0] == "any chapter" and offered.index("chapter 9") < offered.index("chapter 10"), "by number"
        everything = shown.count()
        menu.select_option("chapter 8")
        assert 0 < shown.count() < everything
        assert all("8" in cited.split("chapter")[-1] for cited in shown.locator(".cited-by").all_text_contents())
        assert all("8" in numbers.split(", ") for numbers in _numbers(shown))
        menu.select_option("")
        v.page.get_by_role("combobox", name="Years").select_option("before 2014")
        years = [int(text[-4:]) for text in shown.locator(".bib-label").all_inner_texts()]
        assert years and max(years) < 2014 and v.errors == []
        assert v.page.locator("option[value='before 2014']").inner_text() == f"before 2014 ({len(years)})"
        v.page.get_by_role("combobox", name="Years").select_option("")


def _numbers(shown: Any) -> list[str]:
    return [text.removeprefix("cited in ") for text in shown.locator(".bib-chapters").all_text_contents()]


def test_a_line_unfolds_and_a_citation_leads_to_its_open_line(visit: Any) -> None:
    with visit("reference/bibliography.html", as_left=True) as v:
        lines, folds = v.page.locator(".citation"), v.page.locator(".bib-fold[open]")
        assert folds.count() == 0 and lines.count() > 100
        line = lines.filter(has=v.page.get_by_text("Bahdanau et al., 2015", exact=True))
        line.locator("summary").click()
        assert line.get_by_text("Dzmitry Bahdanau").is_visible() and line.get_by_text("Cited in chapters").is_visible()
        other = lines.filter(has=v.page.get_by_text("Voita et al., 2019", exact=True)).get_attribute("id")
        v.page.evaluate("id => { location.hash = id; }", other)
        v.page.wait_for_function("document.querySelector('.citation:target .bib-fold').open")
        assert v.errors == []


def test_letters_lead_to_the_works_of_their_authors(visit: Any, extension: Any) -> None:
    with visit("reference/bibliography.html", as_left=True) as v:
        letter_of = extension("reference.bibliography").letter_of
        for group in v.page.locator(".index-group").all():
            labels = group.locator(".bib-label").all_inner_texts()
            assert {letter_of(label) for label in labels} == {group.locator(".index-letter").inner_text()}
        leads = v.page.locator(".index-jumps a[href]").evaluate_all("all => all.map(a => a.hash.slice(1))")
        assert leads == v.page.locator(".index-group").evaluate_all("all => all.map(group => group.id)")


def test_all_bibtex_that_is_shown_is_copied(visit: Any) -> None:
    with visit("reference/bibliography.html", as_left=True) as v:
        button, total = v.page.locator("[data-copy-all]"), v.page.locator(".citation").count()
        v.page.evaluate("navigator.clipboard.writeText = async text => { window.copied = text; }")
        assert button.inner_text() == f"Copy BibTeX of all {total} works"
        button.click()
        v.page.wait_for_function("window.copied")
        assert v.page.evaluate("window.copied.match(/^@/gm).length") == total
        v.page.get_by_role("searchbox").fill("vaswani")
        few = v.page.locator(".citation:visible").count()
        assert button.inner_text() == f"Copy BibTeX of the {few} works shown"
        assert 0 < few < 10 and v.errors == []
        v.page.get_by_role("searchbox").fill("")


def test_each_entry_says_what_it_is_read_for(extension: Any, repository: Path) -> None:
    citations = extension("reference.citations")
    reading, known = citations.reading(), citations.bibtex(BOOK / "references.bib")
    assert reading.keys() == known.keys()
    assert all(re.fullmatch(r"[A-Z].{20,110}\.", text) for text in reading.values())


def test_works_have_links_and_a_person_has_one_name(extension: Any, repository: Path) -> None:
    pybtex = pytest.importorskip("pybtex.database")
    known = pybtex.parse_file(str(BOOK / "references.bib")).entries
    without = {key for key, entry in known.items() if not {"doi", "eprint", "url"} & set(entry.fields)}
    assert without == {"heaps1978", "charniak1996"}, "a book, and a paper without a lasting address"
    names = {str(person) for entry in known.values() for person in entry.persons["author"]}
    folded, plain = extension("reference.citations").folded, dict[str, str]()
    for name in sorted(names):
        assert plain.setdefault(folded(name), name) == name, "two spellings of one name"
    assert "Kaiser, Łukasz" in names and folded("Kaiser, Łukasz") == "Kaiser, Lukasz"
    venues = {entry.fields.get("booktitle", "") for entry in known.values()}
    assert not [venue for venue in venues if re.match(r"Proceedings|.*\d$", venue)], "one venue is written in one way"
    order = sorted(known.values(), key=extension("reference.citations").FirstAuthorYear().sorting_key)
    chens = [entry.fields["year"] for entry in order if entry.persons["author"][0].last_names == ["Chen"]]
    assert chens == sorted(chens) and len(chens) == 3, "works of one surname stand by their years"


def test_a_work_is_found_by_its_names_in_the_glossary(extension: Any, repository: Path) -> None:
    bibliography = extension("reference.bibliography")
    glossary = ":::{glossary}\nRoPE\n旋转\n  A rotation\n  {cite}`su2021,shaw2018`. More.\n\nloss\n  Nothing.\n:::\n"
    assert bibliography.names_in_glossary(glossary) == {"su2021": ["RoPE", "旋转"], "shaw2018": ["RoPE", "旋转"]}
    real = page_file("reference/glossary").read_text("utf-8")
    assert "RoPE" in bibliography.names_in_glossary(real)["su2021"]
    button = bibliography.copy_button("  author = {Müller, R},\n  year = {2019},", "mueller2019", [3, 4], ["a & b"])
    assert 'data-words="chapter 3 . chapter 4 . Muller, R . mueller . a &amp; b"' in button


def test_readers_find_works_and_the_pages_that_cite_them(visit: Any) -> None:
    with visit("reference/bibliography.html", as_left=True) as v:
        field, shown = v.page.get_by_role("searchbox"), v.page.locator(".citation:visible")
        labels = shown.locator(".bib-label")
        for typed, label in (("RoPE", "Su et al., 2021"), ("Mueller", "Müller et al., 2019")):
            field.fill(typed)
            assert label in labels.all_inner_texts(), typed
        found = []
        for typed in ("Kaiser", "Łukasz Kaiser", "lukasz kaiser"):
            field.fill(typed)
            found.append(labels.all_inner_texts())
        assert len(found[0]) > 5 and found[0] == found[1] == found[2]
        field.fill("")
        assert all(v.page.locator(".bib-chapters").all_inner_texts()), "each line says where its work is cited"
        assert v.errors == []


def test_an_entry_is_copied_as_bibtex_also_where_the_clipboard_is_closed(visit: Any) -> None:
    with visit("reference/bibliography.html") as v:
        v.page.evaluate("""() => {
            navigator.clipboard.writeText = async () => { throw new Error("closed"); };
            document.addEventListener("copy", () => { window.copied = document.activeElement.value; });
        }""")
        v.page.locator(".bib-label", has_text="Vaswani et al., 2017").click()
        v.page.get_by_role("button", name="Copy BibTeX of vaswani2017").click()
        v.page.wait_for_function("window.copied")
        assert v.page.evaluate("window.copied").startswith("@inproceedings{vaswani2017,") and v.errors == []
