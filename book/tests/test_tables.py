"""Tables on a phone: what is compared down a column stays a table, and scrolls in a box of its own."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

LIST_COLUMNS = 4
"""Of a table that a phone shows row by row at most; its first one is the title of a block."""
MOVED = """box => {
  const place = cell => Math.round(cell.getBoundingClientRect().left);
  const [first, second] = box.querySelector("tbody tr").cells;
  const before = [first, second].map(place);
  box.scrollLeft = 80;
  return [first, second].map((cell, i) => place(cell) - before[i]);
}"""


def test_the_first_column_stands_while_the_others_scroll(visit: Any) -> None:
    with visit("results/table_3.html", viewport={"width": 390, "height": 850}) as v:
        boxes = v.page.locator(".result-table[data-scrolls]")
        boxes.first.wait_for()
        for box in boxes.all():
            first, second = box.evaluate(MOVED)
            assert first == 0 and second < -20
            hint = box.locator("xpath=preceding-sibling::*[1]")
            assert hint.get_attribute("class") == "scrolls-sideways" and hint.is_visible()
        assert v.page.evaluate("document.documentElement.scrollWidth") <= 390


def test_no_table_of_many_columns_becomes_a_list(book: Path) -> None:
    tables = {
        page.relative_to(book): re.findall(r'<table class="results blocks">.*?</thead>', page.read_text("utf-8"), re.S)
        for page in book.glob("*/*.html")
    }
    many = {page for page, heads in tables.items() for head in heads if head.count("<th ") > LIST_COLUMNS}
    assert any(tables.values()) and not many


@pytest.mark.parametrize("page", ["why/transduction", "why/table_1"])
def test_a_table_makes_up_its_mind_whether_it_scrolls(visit: Any, page: str) -> None:
    """A first column that becomes narrow may make a table fit: it stays so, and does not become wide again."""
    with visit(f"{page}.html", viewport={"width": 390, "height": 850}) as v:
        v.page.wait_for_timeout(1000)
        changes = v.page.evaluate("""async () => {
            let changes = 0;
            const told = one => [...one.addedNodes].some(node => node.className === "scrolls-sideways");
            const watch = new MutationObserver(all => changes += all.filter(told).length);
            watch.observe(document.body, { subtree: true, childList: true });
            await new Promise(done => setTimeout(done, 600));
            return changes;
        }""")
        assert changes == 0
