"""The field that filters a long page: what it finds, what it hides, and what it offers where nothing fits."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("sphinx", reason="the book's extension needs the extra `book`")

ROWS = {
    "padding": "<td><code>padding_mask()</code></td><td>a tensor of colour</td>",
    "causal": "<td><code>annotated.causal_mask</code></td><td>ex05-2, 1 key</td>",
    "key": '<td><math alttext="d_k"><msub><mi>d</mi><mi>k</mi></msub></math></td><td>width of a key</td>',
    "output": '<td><math alttext="W^O"><msup><mi>W</mi><mi>O</mi></msup></math></td><td>multi-head output</td>',
    "width": r'<td><math alttext="d_\text{model}"><mi>d</mi></math></td><td>MultiHeadAttention, labelled</td>',
    "token": "<td>ex05-1</td><td>tokenisation</td>",
}


@pytest.fixture(scope="module")
def field(chromium: Any, repository: Path) -> Iterator[Any]:
    """A page of two tables behind a field, without a book."""
    sys.path.insert(0, str(repository / "book" / "_ext"))
    menu = import_module("annotated_book.filters").menu("part | * as listed")
    sys.path.pop(0)
    rows = [
        f'<tr id="{name}" data-part="{"z" if i < 2 else "a"}">{row}</tr>' for i, (name, row) in enumerate(ROWS.items())
    ]
    page = chromium.new_page()
    page.set_content(
        '<div class="page-filter" data-what="rows" data-items="tbody tr" hidden><input type="search">'
        f'{menu}<span role="status"></span></div>'
        f'<table id="one"><tbody>{"".join(rows[:2])}</tbody></table>'
        f'<table id="two"><tbody>{"".join(rows[2:])}</tbody></table>'
    )
    page.add_script_tag(path=repository / "book" / "_assets" / "book" / "filter.js")
    yield page
    page.close()


def found(page: Any, words: str) -> list[str]:
    page.locator("input").fill(words)
    return page.evaluate("[...document.querySelectorAll('tbody tr:not([hidden])')].map(row => row.id)")


@pytest.mark.parametrize(
    ("words", "rows"),
    [
        ("mask", ["padding", "causal"]),
        ("ex05-1", ["token"]),
        ("ex05", ["causal", "token"]),
        ("masks", ["padding", "causal"]),
        ("causal_mask", ["causal"]),
        ("d_k", ["key"]),
        ("dk", ["key"]),
        ("$d_{model}$", ["width"]),
        (r"d_\text{model}", ["width"]),
        ("W_O", ["output"]),
        ("W^O", ["output"]),
        ("color", ["padding"]),
        ("colour", ["padding"]),
        ("tokeniz", ["token"]),
        ("labeled attention", ["width"]),
        ("multihead", ["output", "width"]),
        ("head out", ["output"]),
        ("ead", []),
    ],
)
def test_parts_of_names_formulas_and_both_spellings_are_found(field: Any, words: str, rows: list[str]) -> None:
    assert found(field, words) == rows


def test_a_table_without_hits_is_hidden(field: Any) -> None:
    found(field, "mask")
    assert field.locator("#one").is_visible() and not field.locator("#two").is_visible()
    found(field, "")
    assert field.locator("#two").is_visible()


def test_where_nothing_fits_a_word_or_everything_is_offered(field: Any) -> None:
    said, button = field.locator("[role=status]"), field.locator(".page-filter button")
    assert found(field, "pading") == [] and said.inner_text() == "None of 6 rows"
    assert button.inner_text() == "Did you mean padding?"
    button.click()
    assert field.locator("input").input_value() == "padding" and not button.is_visible()
    assert found(field, "zzzzzz") == [] and button.inner_text() == "Show all"
    button.click()
    assert len(found(field, "")) == 6 and not button.is_visible() and said.inner_text() == ""


def test_a_menu_can_keep_the_order_of_the_entries(field: Any) -> None:
    assert field.locator("select option").all_inner_texts() == ["any part", "z", "a"]
