"""The glossary's font and the bibliography in a browser: what is loaded, chosen and copied."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest


def test_the_chinese_font_is_loaded_where_chinese_stands(visit: Any, book: Path) -> None:
    if not (book / "reference" / "glossary.html").is_file():
        pytest.skip("a preview of one chapter has no glossary")
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


def test_the_bibliography_is_filtered_by_the_chapters_that_its_entries_name(visit: Any, book: Path) -> None:
    if not (book / "reference" / "bibliography.html").is_file():
        pytest.skip("a preview of one chapter has no bibliography")
    with visit("reference/bibliography.html") as v:
        menu, shown = v.page.get_by_role("combobox", name="Chapter"), v.page.locator(".citation:visible")
        offered = menu.locator("option").all_inner_texts()
        assert offered[0] == "any chapter" and offered.index("chapter 9") < offered.index("chapter 10"), "by number"
        everything = shown.count()
        menu.select_option("chapter 8")
        assert 0 < shown.count() < everything
        assert all("8" in cited.split("chapter")[-1] for cited in shown.locator(".cited-by").all_inner_texts())
        menu.select_option("")
        v.page.get_by_role("combobox", name="Years").select_option("before 2014")
        years = [int(re.search(r", (\d{4})\]", text)[1]) for text in shown.all_inner_texts()]
        assert years and max(years) < 2014 and v.errors == []


def test_each_entry_says_what_it_is_read_for(extension: Any, repository: Path) -> None:
    citations = extension("citations")
    reading, known = citations.reading(), citations.bibtex(repository / "book" / "references.bib")
    assert reading.keys() == known.keys()
    assert all(re.fullmatch(r"[A-Z].{20,110}\.", text) for text in reading.values())


def test_an_entry_is_copied_as_bibtex_also_where_the_clipboard_is_closed(visit: Any, book: Path) -> None:
    if not (book / "reference" / "bibliography.html").is_file():
        pytest.skip("a preview of one chapter has no bibliography")
    with visit("reference/bibliography.html") as v:
        v.page.evaluate("""() => {
            navigator.clipboard.writeText = async () => { throw new Error("closed"); };
            document.addEventListener("copy", () => { window.copied = document.activeElement.value; });
        }""")
        v.page.get_by_role("button", name="Copy BibTeX of vaswani2017").click()
        v.page.wait_for_function("window.copied")
        assert v.page.evaluate("window.copied").startswith("@inproceedings{vaswani2017,") and v.errors == []
