"""Chapter 17: the tiles count padding as the library does, and its charts follow their controls."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from annotated.data.buckets import by_length, cut, fill
from annotated_book import recorded
from annotated_book.training.batches.experiment import unpacked
from book.tests.boxes import box_of
from book.tests.charts import move, settle, texts, with_control

PAGE = "training/batches.html"


def expected(budget: int, pool: int = 1) -> str:
    """Padding of the recorded sample by the library's own sorting and cutting, as the widget words it."""
    sample = recorded("batches").results["sample"]
    source, target = (unpacked(sample[side]) for side in ("source", "target"))
    starts = range(0, len(source), pool)
    order = np.concatenate([i + by_length(source[i : i + pool], target[i : i + pool], None) for i in starts])
    batches = cut(source[order], target[order], budget, "padded")
    return f"{100 * (1 - fill(source[order], target[order], batches)):.1f} %"


def choose(widget: Any, name: str, value: Any) -> None:
    widget.evaluate(
        "(e, [name, value]) => { const i = e.querySelector(`[name=${name}]`); i.value = value;"
        " i.dispatchEvent(new Event(i.tagName === 'SELECT' ? 'change' : 'input', {bubbles: true})); }",
        [name, value],
    )


def test_the_tiles_waste_what_the_library_wastes(visit: Any) -> None:
    with visit(PAGE, viewport={"width": 390, "height": 800}) as v:
        widget = v.page.wait_for_selector(".padding-tiles")
        said = "text => document.querySelector('.padding-tiles output').textContent.startsWith(text)"
        v.page.wait_for_function(said, arg=expected(1000))
        wide = box_of(widget.query_selector("canvas"))["width"]
        assert 250 < wide <= 358 and v.overflow() == 0
        choose(widget, "budget", 7)  # 25,000
        v.page.wait_for_function(said, arg=expected(25_000))
        choose(widget, "way", "pools")
        choose(widget, "budget", 2)
        choose(widget, "pool", 2)  # 500
        v.page.wait_for_function(said, arg=expected(1000, 500))
        choose(widget, "way", "packed")
        v.page.wait_for_function(said, arg="0.0 %")
        choose(widget, "way", "fixed")
        v.page.wait_for_function("() => document.querySelector('.padding-tiles output').textContent.includes('72')")
        assert widget.query_selector("[name=budget]").is_disabled()
        assert v.errors == []


def test_batches_are_stepped_through_by_keyboard(visit: Any) -> None:
    with visit(PAGE, as_left=True) as v:
        v.page.wait_for_selector(".padding-tiles")
        drawn = "document.querySelector('.padding-tiles canvas').dataset.drawn"
        first, last = map(int, v.page.evaluate(drawn).split("-"))
        assert first == 1 and last >= 4
        v.page.focus(".padding-tiles [name=first]")
        v.page.keyboard.press("ArrowRight")
        v.page.wait_for_function(f"() => {drawn}.startsWith('2-')")
        v.page.focus(".padding-tiles [name=shuffle]")
        v.page.keyboard.press("Space")
        label = "document.querySelector('.padding-tiles canvas').getAttribute('aria-label')"
        assert re.match(r"Batches \d+ to \d+ of 215 as rows", v.page.evaluate(label))


def test_charts_follow_their_controls(visit: Any) -> None:
    with visit(PAGE, as_left=True) as v:
        figures = v.draw_charts()
        waste = with_control(figures, "tokens")
        before = texts(waste)
        assert "76.5%" in before
        waste.query_selector("select").select_option(label="1,000")
        settle(waste)
        assert "61.2%" in texts(waste)
        pairs = with_control(figures, "room")
        move(pairs, "length", 50)
        assert "25,000 tokens = 500 pairs of 50 tokens" in texts(pairs)
        noise = with_control(figures, "place")
        move(noise, "place", 5)  # 4,000 tokens, more than any measured batch
        assert any(re.search(r"at 4,000 tokens, extrapolated", text) for text in texts(noise))
        epochs = with_control(figures, "batch")
        move(epochs, "mean", 25)
        assert {"22.2", "66.7"} <= set(texts(epochs))
        assert v.errors == []
