"""The field that filters a long page: what it finds, what it hides, and what it offers where nothing fits."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

SCRIPT = Path(__file__).parents[1] / "_assets" / "book" / "filter.js"
ROWS = {
    "padding": "<td><code>padding_mask()</code></td><td>a tensor of colour</td>",
    "causal": "<td><code>annotated.causal_mask</code></td><td>ex05-2, 1 key</td>",
    "key": '<td><math alttext="d_k"><msub><mi>d</mi><mi>k</mi></msub></math></td><td>a key and queries</td>',
    "output": '<td><math alttext="W^O"><msup><mi>W</mi><mi>O</mi></msup></math></td><td>multi-head output</td>',
    "width": r'<td><math alttext="d_\text{model}"><mi>d</mi></math></td><td>MultiHeadAttention, labelled</td>',
    "token": "<td>ex05-1</td><td>tokenisation</td>",
    "rate": '<td>section 5.3 Optimizer, equation 3</td><td><i data-words="Lernrate 学习率"></i>10.5</td>',
}


SHOWN = "all => all.flatMap((item, i) => (item.hidden ? [] : [i]))"


def small_page(page: Any, data: str, content: str, menus: str = "") -> None:
    """Write a page with a field and its entries, in a folder of a book."""
    page.set_content(
        f'<div class="page-filter" {data} hidden><input type="search">{menus}<span role="status"></span></div>{content}'
    )
    page.evaluate("document.documentElement.setAttribute('data-content_root', '../')")
    page.add_script_tag(path=SCRIPT)


@pytest.fixture(scope="module")
def field(chromium: Any, extension: Any) -> Iterator[Any]:
    """A page of two tables behind a field, without a book."""
    menu = extension("find.filters").menu("part | * as listed")
    rows = [
        f'<tr id="{name}" data-part="{"z" if i < 2 else "a"}">{row}</tr>' for i, (name, row) in enumerate(ROWS.items())
    ]
    page = chromium.new_page()
    one, two = "".join(rows[:2]), "".join(rows[2:])
    tables = f'<table id="one"><tbody>{one}</tbody></table><table id="two"><tbody>{two}</tbody></table>'
    small_page(page, 'data-what="rows" data-items="tbody tr"', tables, menu)
    yield page
    page.close()


@pytest.fixture(scope="module")
def blank(chromium: Any) -> Iterator[Any]:
    """A tab for pages of a few lines: a new one costs more than what is asked of them."""
    page = chromium.new_page()
    yield page
    page.close()


@pytest.fixture
def page(blank: Any) -> Any:
    """An empty page."""
    blank.goto("about:blank")
    return blank


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
        ("queries", ["key"]),
        ("query", ["key"]),
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
        ("5.3", ["rate"]),
        ("5", ["rate"]),
        ("3", ["rate"]),
        ("5.1", []),
        ("0.5", []),
        ("eq. 3", ["rate"]),
        ("Equation (3).", ["rate"]),
        ("equation 5", []),
        ("§5.3", ["rate"]),
        ("sec 5", ["rate"]),
        ("table 3", []),
        ("lernrate", ["rate"]),
        ("学习", ["rate"]),
    ],
)
def test_parts_of_names_formulas_and_both_spellings_are_found(field: Any, words: str, rows: list[str]) -> None:
    assert found(field, words) == rows


def test_signs_of_formulas_are_found_by_sign_and_by_name(page: Any) -> None:
    content = (
        r'<ul><li><math alttext="\sqrt{d_k}"></math></li><li>the √ of d</li>'
        r'<li><math alttext="\epsilon_{ls}"></math></li><li>a root</li></ul>'
    )
    small_page(page, 'data-what="rows" data-items="li"', content)
    said = page.locator("[role=status]")
    for words, rows in (("√", [0, 1]), ("sqrt", [0, 1]), ("√d_k", [0]), ("ε_ls", [2]), ("epsilon", [2])):
        page.locator("input").fill(words)
        assert page.locator("li").evaluate_all(SHOWN) == rows, words
    page.locator("input").fill("+")
    assert page.locator("li:visible").count() == 4 and "signs alone" in said.inner_text(), "and not silently"


def test_a_bare_number_has_the_reading_of_the_page_and_the_other_is_offered(page: Any) -> None:
    small_page(
        page,
        'data-what="rows" data-items="li" data-numbers="exercise; section"',
        "<ul><li>exercise 5.2 . section 3.1</li><li>exercise 7.1 . section 5.2</li><li>exercise 5.20</li>"
        "<li>5.2 nats . section 5.4</li></ul>",
    )
    field, button = page.locator("input"), page.locator(".page-filter button")
    for words, rows, other in (
        ("5.2", [0], "Show section 5.2 instead"), ("§ 5.2", [1], ""), ("exercise 7.1", [1], ""),
        ("5.4", [3], ""), ("9.9", [], "Show all"),
    ):  # fmt: skip
        field.fill(words)
        assert page.locator("li").evaluate_all(SHOWN) == rows, words
        assert (button.inner_text() if button.is_visible() else "") == other, words
    field.fill("5.2")
    button.click()
    assert field.input_value() == "section 5.2" and page.locator("li").evaluate_all(SHOWN) == [1]


def test_a_table_without_hits_is_hidden(field: Any) -> None:
    found(field, "mask")
    assert field.locator("#one").is_visible() and not field.locator("#two").is_visible()
    found(field, "")
    assert field.locator("#two").is_visible()


def test_the_number_of_a_chapter_is_a_whole_number_and_belongs_to_its_word(page: Any) -> None:
    content = "<ul><li>chapter 5 . section 3.2</li><li>chapter 15 . 5 heads</li><li>chapter 50</li></ul>"
    small_page(page, 'data-what="rows" data-items="li"', content)
    for words, rows in (("chapter 5", [0]), ("Chapter 15", [1]), ("chapter", [0, 1, 2]), ("section 3", [0])):
        page.locator("input").fill(words)
        assert page.locator("li").evaluate_all(SHOWN) == rows, words


def test_kinds_are_counted_and_what_follows_an_entry_hides_with_it(page: Any) -> None:
    said = "document.querySelector('[role=status]').textContent"
    small_page(
        page,
        'data-what="things" data-items="li" data-count="terms | .term; traps | .trap"',
        '<p data-follows="a">of a</p>'
        '<ul><li class="term" id="a"><a href="#a">mask</a></li><li class="trap">memory</li><li>mask, see a</li></ul>',
    )
    for words, count, follows in (
        ("mask", "1 of 1 terms", True),
        ("memory", "1 of 1 traps", False),
        ("m", "1 of 1 terms, 1 of 1 traps", True),
        ("x", "Nothing fits among 1 terms and 1 traps", False),
    ):
        page.locator("input").fill(words)
        assert page.evaluate(said) == count and page.locator("p").is_visible() == follows
    page.locator("input").fill("mask")
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.textContent") == "mask"
    page.locator("input").press("Escape")
    assert page.locator("li:visible").count() == 3 and page.evaluate(said) == ""


def test_the_head_of_a_fold_counts_what_is_left_and_a_menu_can_be_left(page: Any) -> None:
    small_page(
        page,
        'data-what="names" data-items="li" data-groups="details"',
        '<details><summary>Masks <span data-entries="1,201 names">1,201 names</span></summary><ul>'
        f'<li data-kind="a">mask</li>{"<li>key</li>" * 1200}</ul></details>',
        '<select data-by="kind"><option value="">any kind</option><option>a</option></select>',
    )
    head, said, button = page.locator("[data-entries]"), page.locator("[role=status]"), page.locator("button")
    page.locator("input").fill("zzzzzz")
    assert said.inner_text() == "Nothing fits among 1,201 names" and not head.is_visible()
    page.locator("input").fill("")
    assert not button.is_visible() and head.inner_text() == "1,201 names"
    page.locator("select").select_option("a")
    assert said.inner_text() == "1 of 1,201 names" and head.inner_text() == "1 of 1,201 names"
    button.click()
    assert page.locator("select").input_value() == "" and head.inner_text() == "1,201 names" and not button.is_visible()


def test_where_nothing_fits_a_word_or_everything_is_offered(field: Any) -> None:
    said, button = field.locator("[role=status]"), field.locator(".page-filter button")
    assert found(field, "pading") == [] and said.inner_text() == "Nothing fits among 7 rows"
    assert button.inner_text() == "Did you mean padding?"
    button.click()
    assert field.locator("input").input_value() == "padding" and not button.is_visible()
    assert found(field, "zzzzzz") == [] and button.inner_text() == "Show all"
    button.click()
    assert len(found(field, "")) == 7 and not button.is_visible() and said.inner_text() == ""


def test_a_menu_can_keep_the_order_of_the_entries(field: Any) -> None:
    assert field.locator("select option").all_inner_texts() == ["any part", "z", "a"]


def test_an_entry_about_others_stays_with_one_that_fits_the_field_and_every_menu(page: Any) -> None:
    menus = "".join(
        f'<select data-by="{by}"><option value="">any</option><option>{value}</option></select>'
        for by, value in (("kind", "prove"), ("difficulty", "hard"))
    )
    small_page(
        page,
        'data-items="li, tr" data-what="rows" data-about="exercise | exercises"',
        '<ul><li data-exercise="a" data-kind="prove" data-difficulty="easy">masks</li>'
        '<li data-exercise="b" data-kind="write" data-difficulty="hard">dropout</li>'
        '<li data-exercise="c" data-kind="prove" data-difficulty="hard">beams</li></ul><table>'
        + "".join(
            f"<tr><td>{text}<i data-exercises={names!r}></i></td></tr>"
            for text, names in (("of a and b", "a;b"), ("of b and c", "b;c"), ("about dropout", "c"))
        )
        + "</table>",
        menus,
    )
    field, rows, (kind, difficulty) = page.locator("input"), page.locator("tr"), page.locator("select").all()
    for words, chosen, shown in (
        ("", ("prove", ""), [0, 1, 2]), ("", ("prove", "hard"), [1, 2]), ("dropout", ("", ""), [0, 1, 2]),
        ("dropout", ("prove", ""), [2]), ("masks", ("", ""), [0]), ("masks", ("", "hard"), []),
    ):  # fmt: skip
        field.fill(words)
        kind.select_option(chosen[0])
        difficulty.select_option(chosen[1])
        assert rows.evaluate_all(SHOWN) == shown, (words, chosen)


def test_a_whole_number_is_a_chapter_and_a_numbered_entry_is_found_by_its_own_number(page: Any) -> None:
    small_page(
        page,
        'data-items="li" data-what="rows" data-numbers="exercise; chapter; section"',
        "<ul><li>exercise 5.1 . chapter 5 . section 3.2</li><li>exercise 7.1 . chapter 7 . section 5</li>"
        '<li>chapter 15 . 12 heads, see table 2</li><li data-own="table 2">Results, table 2</li>'
        '<li data-own="table 1">Lengths, for table 2</li><li data-own="section 3">Model</li>'
        '<li data-own="section 3.1">Stacks</li><li data-own="section 4">Why, after section 3</li></ul>',
    )
    field, rows, said = page.locator("input"), page.locator("li"), page.locator("[role=status]")
    for words, shown, read in (
        ("5", [0], "(chapter 5)"), ("§ 5", [1], ""), ("15", [2], "(chapter 15)"), ("12", [2], ""),
        ("table 2", [2, 3], ""), ("tab. 2 results", [3], ""), ("§ 3", [0, 5, 6], ""), ("§ 3.1", [6], ""),
    ):  # fmt: skip
        field.fill(words)
        assert rows.evaluate_all(SHOWN) == shown and said.inner_text().endswith(read), words
        assert bool(read) == ("(" in said.inner_text()), words


def test_where_nothing_fits_a_stem_is_offered_and_the_search_of_the_book(page: Any) -> None:
    small_page(page, 'data-items="li" data-what="terms"', "<ul><li>mask</li><li>packing</li></ul>")
    field, link, button = page.locator("input"), page.locator("a"), page.locator("button")
    field.fill("mask")
    assert not link.is_visible()
    field.fill("masking")
    assert button.inner_text() == "Did you mean mask?", "and not packing, of which two letters differ"
    assert link.inner_text() == "Search the book for “masking”"
    assert link.get_attribute("href") == "../search.html?q=masking"
    field.fill("")
    assert not link.is_visible()
