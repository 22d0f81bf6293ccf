"""Chapter 25: the slider of the last k, the walk between weights, and the menu that leads over the mountain."""

from __future__ import annotations

import re
from typing import Any

from book.tests.charts import move, texts, with_control

PAGE = "decoding/averaging.html"


def told(figure: Any, start: str) -> str:
    return next(text for text in texts(figure) if text.startswith(start))


def test_sliders_and_menus_answer(visit: Any) -> None:
    with visit(PAGE, as_left=True) as v:
        figures = v.draw_charts()
        chart = with_control(figures, "last")
        first = told(chart, "average of 5: loss")
        move(chart, "last", 1)
        single = told(chart, "average of 1: loss")
        assert float(first.split("loss ")[1]) < float(single.split("loss ")[1])
        move(chart, "run", "classroom, constant rate")
        assert "BLEU" in told(chart, "average of 1: loss")
        walk = with_control(figures, "path")
        low = float(told(walk, "t = 0.5").split(": ")[1])
        move(walk, "t", 1.5)
        assert float(told(walk, "t = 1.5").split(": ")[1]) > low
        pair = next(f for f in figures if "twoseedsithasapeak" in "".join(texts(f)).replace(" ", ""))
        halves = [float(found) for found in re.findall(r"([\d.]+) at t = 0.5", " ".join(texts(pair)))]
        assert max(halves) > min(halves) + 3
        assert v.errors == []


def test_it_fits_a_phone(visit: Any) -> None:
    with visit(PAGE, viewport={"width": 390, "height": 800}) as v:
        v.draw_charts()
        assert v.overflow() <= 0 and v.errors == []


def test_the_line_between_two_orders_of_units_says_what_is_written(visit: Any) -> None:
    with visit(PAGE, as_left=True) as v:
        walk = next(f for f in v.draw_charts() if "cannot translate" in " ".join(texts(f)))
        assert told(walk, "t = 0.5, loss 2.")
        halfway = texts(walk)
        move(walk, "t", 0)
        assert told(walk, "t = 0.0, loss 0.") and "Der Bäcker hat 21 braune Ziegen." in texts(walk)
        assert "Der Bäcker hat 21 braune Ziegen." not in halfway and v.errors == []
