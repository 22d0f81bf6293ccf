"""Chapter 11: the switch between ReLU and softmax, the lookup of keys and values."""

from __future__ import annotations

import re
from typing import Any

from book.tests.boxes import drawn_widget
from book.tests.charts import described, settle

PAGE = "machine/feed_forward_as_attention.html"


def signal(chart: Any, name: str, value: Any) -> None:
    chart.evaluate("(e, [name, value]) => e.chart.signal(name, value).runAsync().then(() => null)", [name, value])


def counted(chart: Any) -> tuple[int, int]:
    """Pairs with weight, and how many equal ones they are as spread out as."""
    said = chart.evaluate("e => [...e.querySelectorAll('.chart-stage svg text')].map(t => t.textContent).join(' ')")
    found = re.search(r"weight on (\d+) of 512 pairs;\s*as spread out as (\d+) equal ones", said)
    assert found, said
    return int(found[1]), int(found[2])


def test_the_softmax_gives_every_pair_something(visit: Any) -> None:
    with visit(PAGE, as_left=True) as v:
        chart = described(v, "share that each key-value pair")
        relu = counted(chart)
        assert relu[0] < 150
        chart.query_selector("input[type=radio][value=softmax]").check()
        settle(chart)
        soft = counted(chart)
        assert soft[0] == 512
        signal(chart, "sharpness", 4)
        assert counted(chart)[1] < soft[1]
        menu = chart.query_selector("select")
        menu.select_option(index=2)
        settle(chart)
        assert counted(chart)[0] == 512
        assert v.errors == []


def test_the_value_row_says_what_follows(visit: Any) -> None:
    with visit(PAGE, as_left=True, viewport={"width": 390, "height": 800}) as v:
        widget = drawn_widget(v, ".neurons", "li")
        assert widget.locator(".says b").first.inner_text() == "die"
        assert "by the token that followed" in widget.locator(".tally .part").inner_text()
        assert widget.locator("li b").all_inner_texts() == ["die"] * 6
        widget.get_by_label("unit", exact=True).focus()
        v.page.keyboard.press("ArrowRight")
        assert "unit 130" in widget.locator(".title").inner_text()
        assert widget.locator(".says b").count() == 6
        assert v.page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") == 0


def test_a_softmax_in_the_top_layer_changes_the_words_unless_it_gives_as_much(visit: Any) -> None:
    with visit(PAGE, as_left=True) as v:
        panel = v.page.locator(".live[data-panel=rule_of_weights]")
        panel.scroll_into_view_if_needed()
        panel.locator(".live-status").filter(has_text="The words change.").wait_for(timeout=20_000)
        panel.get_by_label("softmax, times the sum").check()
        panel.locator(".live-status").filter(has_text="The words stay the same.").wait_for(timeout=20_000)
        assert v.errors == []


def test_a_query_that_matches_no_key(visit: Any) -> None:
    with visit(PAGE, as_left=True, viewport={"width": 390, "height": 800}) as v:
        chart = described(v, "Six key-value pairs")
        signal(chart, "direction", 270)
        said = chart.evaluate("e => e.querySelector('.chart-stage svg').textContent")
        assert "No key matches" in said and "sum 0.00" in said and "sum 1.00" in said
