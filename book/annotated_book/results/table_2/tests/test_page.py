"""Chapter 27: the budget finds the best result, the languages differ, the bill follows every control."""

from __future__ import annotations

from typing import Any

from book.tests.boxes import box_of
from book.tests.charts import drawn_with, move, settle, texts

PAGE = "results/table_2.html"


def told(figure: Any, start: str) -> list[str]:
    return [t for t in texts(figure) if t.startswith(start)]


def test_the_budget_and_the_languages(visit: Any) -> None:
    with visit(PAGE) as v:
        figure = drawn_with(v, "budget")
        assert told(figure, "best within") == ["best within the budget: base, 27.30"]
        move(figure, "budget", 20)  # the 21st step: 1e20
        assert told(figure, "best within") == ["best within the budget: big, 28.40"]
        move(figure, "budget", 0)
        assert told(figure, "best within") == [] and told(figure, "nothing is within the budget")
        move(figure, "budget", 35)
        move(figure, "language", "French, 41.0 as in the text")
        assert told(figure, "best within") == ["best within the budget: ConvS2S × 8, 41.29"]
        assert v.errors == []


def test_a_result_that_is_pointed_at_tells_what_stands_behind_it(visit: Any) -> None:
    with visit(PAGE) as v:
        figure = drawn_with(v, "budget")
        assert told(figure, "0.5 days on 8 P100; on the front")
        figure.scroll_into_view_if_needed()
        box = box_of(figure.query_selector(".chart-stage svg [aria-label*='ConvS2S ensemble']"))
        v.page.mouse.move(box["x"] + box["width"] / 2 + 4, box["y"] + box["height"] / 2)  # beside it is near enough
        settle(figure)
        assert told(figure, "ConvS2S × 8: 26.36 BLEU") and told(figure, "8 trainings of 18.5 days on 1 M40; beaten by")
        assert v.errors == []


def test_the_bill_on_a_phone(visit: Any) -> None:
    from annotated_book.results.table_2.charts import COUNTED
    from annotated_book.results.table_2.costs import DEVICES, bill

    needed = COUNTED["Transformer (base model)"]
    with visit(PAGE, viewport={"width": 390, "height": 800}) as v:
        figure = drawn_with(v, "utilisation")
        for name, value in (("device", "A100"), ("utilisation", 50), ("price", 3), ("overhead", 1.2)):
            move(figure, name, value)
        move(figure, "quantity", "energy")
        made = bill(needed, DEVICES["A100"], utilisation=0.5, price_per_hour=3, overhead=1.2)
        assert told(figure, "one A100 at 50 % of its peak")
        line = f"base: {made.hours:,.2f} h, price {made.money:,.2f} (3.00 an hour), {made.energy:,.2f} kWh"
        assert told(figure, "base: ") == [line] and told(figure, "energy of one training run (kWh)")
        assert any(t.endswith(" kWh") and t[0].isdigit() for t in texts(figure))
        assert v.overflow() <= 0 and v.errors == []
