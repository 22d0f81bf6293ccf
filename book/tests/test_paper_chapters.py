"""Every part of the paper has a chapter of its own in the book, found in the pages' sources, without a build."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from annotated import paper
from annotated_book.pages import BOOK, page_file

ROOT = Path(__file__).resolve().parents[2]
LISTS = {30, 31}
"""Chapters that go through the whole paper, questions and claims: a part that only they name has no chapter."""


def chapters() -> dict[str, dict[str, Any]]:
    """The front matter of each chapter in the table of contents, by its page."""
    contents = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
    pages = [entry["file"] for part in contents["parts"] for entry in part["chapters"]]
    found = {}
    for page in pages:
        text = page_file(page).read_text(encoding="utf-8")
        front = yaml.safe_load(text.split("---")[1]) if text.startswith("---\n") else {}
        if isinstance(front.get("chapter", {}).get("number"), int):
            found[page] = front["chapter"]
    return found


def named() -> set[str]:
    """The parts that some chapter names as its subject, as keys of `annotated.paper.entries`."""
    keys = set()
    for chapter in chapters().values():
        if chapter["number"] not in LISTS:
            keys |= {f"section {part}" if str(part)[0].isdigit() else str(part) for part in chapter.get("paper", [])}
    return keys


def has_a_chapter(key: str, keys: set[str]) -> bool:
    """Whether a chapter names the part, or a section inside it."""
    return key in keys or any(other.startswith(f"{key}.") for other in keys)


def test_every_section_of_the_paper_has_a_chapter() -> None:
    keys = named()
    missing = [key for key in paper.entries() if not has_a_chapter(key, keys)]
    assert not missing, f"no chapter names {missing} in its front matter"


def test_chapters_name_parts_that_the_paper_has() -> None:
    assert named() <= set(paper.entries())


def test_the_count_can_fail() -> None:
    assert not has_a_chapter("section 6.2", {"section 6", "section 6.1"}) and has_a_chapter(
        "section 6", {"section 6.1"}
    )
    assert not has_a_chapter("section 3.2", {"section 3.20"})


def test_chapters_have_numbers_of_their_own_in_the_order_of_the_book() -> None:
    numbers = [chapter["number"] for chapter in chapters().values()]
    assert len(set(numbers)) == len(numbers) and len(numbers) > 30


def test_the_book_has_code_for_the_parts_of_the_paper_that_the_library_leaves_to_it() -> None:
    pages = paper.implementations(BOOK)
    left = {key for key, reason in paper.REASONS.items() if "book" in reason}
    assert left == {"section 1", "section 2", "section 4", "section 7", "Table 1", "early appendix"}
    assert not [key for key in left if not pages[key]] and paper.unknown_references(BOOK) == []
    complexity = "annotated_book.why.table_1.complexity"
    assert {f"{complexity}.operations", f"{complexity}.path_length"} <= set(pages["Table 1"])
