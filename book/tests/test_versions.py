"""Notes with three versions: each stands where the data say, and one choice of the reader changes all of them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
ENTRIES = yaml.safe_load((ROOT / "book/_data/versions.yaml").read_text(encoding="utf-8"))
PAGE, OTHER = "results/versions", "machine/residuals"


def texts(page: Any) -> dict[str, bool]:
    """Of the notes of a page: which versions can be seen."""
    shown = {name: page.locator(f".versions .version.{name}").first for name in ("written", "released", "today")}
    return {name: text.is_visible() for name, text in shown.items()}


@pytest.mark.parametrize("key", ENTRIES)
def test_a_note_stands_on_the_page_that_the_table_leads_to(book: Path, key: str) -> None:
    chapter, anchor = ENTRIES[key]["chapter"], f"versions-{key.replace('_', '-')}"
    assert f'id="{anchor}"' in (book / f"{chapter}.html").read_text(encoding="utf-8")
    table = (book / f"{PAGE}.html").read_text(encoding="utf-8")
    assert re.search(rf'href="[^"]*{chapter.rpartition("/")[2]}\.html#{anchor}"', table)


def test_every_entry_cites_the_paper(extension: Any) -> None:
    resolve = extension("authoring.paper").resolve
    assert all(resolve(part) for entry in ENTRIES.values() for part in entry["paper"])


def test_an_entry_with_an_unknown_field_is_refused(
    extension: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    versions = extension("authoring.versions")
    broken = tmp_path / "versions.yaml"
    broken.write_text(yaml.safe_dump({"norm": {**ENTRIES["norm"], "tomorrow": "?"}}), encoding="utf-8")
    monkeypatch.setattr(versions, "FILE", broken)
    versions.entries.cache_clear()
    with pytest.raises(ValueError, match="norm"):
        versions.entries()
    versions.entries.cache_clear()


def test_one_choice_holds_on_every_page_without_a_reload(visit: Any) -> None:
    with visit(f"{PAGE}.html") as v:
        page = v.page
        assert page.locator("html").get_attribute("data-versions") == "written"
        page.locator(".versions-table .version-choice span", has_text="Released").click()
        assert page.locator("html").get_attribute("data-versions") == "released"
        page.goto(f"{v.site}/{OTHER}.html")
        assert texts(page) == {"written": False, "released": True, "today": False}
        page.locator(".versions input[value=released]").first.focus()
        page.keyboard.press("ArrowRight")
        assert texts(page) == {"written": False, "released": False, "today": True}
        page.emulate_media(media="print")
        assert texts(page) == {"written": True, "released": False, "today": False}
        assert not v.errors and not v.foreign


def test_without_scripts_all_three_are_read(visit: Any) -> None:
    with visit(f"{OTHER}.html", java_script_enabled=False) as v:
        assert all(texts(v.page).values())


def test_a_source_is_compared_with_the_paper_and_a_sentence_is_chosen(visit: Any) -> None:
    with visit(f"{PAGE}.html") as v:
        cell = v.page.locator(".tag_compare-columns")
        menu, rows = cell.get_by_role("combobox"), cell.locator("tbody tr")
        everything = cell.locator("thead th:visible").count()
        menu.select_option(label="T2T v3")
        assert cell.locator("thead th:visible").all_inner_texts() == ["setting", "paper", "T2T v3"]
        assert cell.locator("[role=status]").inner_text() == "8 of 10 settings differ."
        pairs = [row.locator("td:visible").all_inner_texts() for row in rows.all()]
        assert [row.get_attribute("class") == "same" for row in rows.all()] == [a == b for a, b in pairs]
        menu.select_option(label="PyTorch")
        said = cell.locator("[role=status]").inner_text()
        assert said == "4 of 10 settings differ. 5 are absent or left to the user."
        menu.select_option(label="all")
        assert cell.locator("thead th:visible").count() == everything
        cell = v.page.locator(".tag_choose-column")
        menu, words = cell.get_by_role("combobox"), cell.locator("tbody td:visible:not(.number)")
        first = words.all_inner_texts()
        menu.select_option(index=1)
        second = words.all_inner_texts()
        assert len(first) == len(second) == 11 and first[0] != second[0]
        changed = sum(text != second[0] for text in second)
        assert cell.locator("[role=status]").inner_text().startswith(f"{changed} of 10 ")
        assert v.errors == []
    with visit(f"{PAGE}.html", viewport={"width": 390, "height": 844}) as v:
        assert v.page.locator(".tag_compare-columns thead th:visible").count() == 3 and v.overflow() <= 0
    with visit(f"{PAGE}.html", java_script_enabled=False) as v:
        assert v.page.locator(".tag_choose-column thead th:visible").count() == 6
