"""Chapter 3: the menus and sliders of its charts change what they show, also on a narrow screen."""

from __future__ import annotations

from typing import Any

from book.tests.charts import drawn_with, move, texts, with_control

PAGE = "why/before_2017.html"


def test_accuracy_changes_with_the_measure(visit: Any) -> None:
    with visit(PAGE, as_left=True) as v:
        figure = drawn_with(v, "measure")
        assert {"without attention", "with attention", "Transformer"} <= set(texts(figure))
        points = "e => [...e.querySelectorAll('.chart-stage .mark-symbol path')].map(p => p.getAttribute('transform'))"
        before = figure.evaluate(points)
        move(figure, "measure", "whole sequences")
        assert figure.evaluate(points) != before
        assert v.errors == []


def test_positions_and_alignment_follow_their_sliders(visit: Any) -> None:
    with visit(PAGE, viewport={"width": 390, "height": 800}) as v:
        figures = v.draw_charts()
        places, alignment = with_control(figures, "at"), with_control(figures, "example")
        assert "Right by position, after 1,000 updates" in texts(places)
        move(places, "at", 2)
        assert "Right by position, after 10,000 updates" in texts(places)
        picture = "e => e.querySelector('.chart-stage canvas').toDataURL()"
        before = alignment.evaluate(picture)
        move(alignment, "example", 6)
        assert alignment.evaluate(picture) != before


def test_the_timeline_dims_what_was_not_chosen(visit: Any) -> None:
    with visit(PAGE, as_left=True) as v:
        figure = drawn_with(v, "kind")
        faint = (
            "e => [...e.querySelectorAll('.chart-stage .mark-symbol path[opacity]')]"
            ".filter(p => p.getAttribute('opacity') < 0.5).length"
        )
        assert figure.evaluate(faint) == 0
        move(figure, "kind", "convolution")
        assert figure.evaluate(faint) > 10


def test_letters_are_done_after_their_products(visit: Any) -> None:
    with visit(PAGE, as_left=True) as v:
        figure = drawn_with(v, "done")
        assert "Transformer: all done after 29 products" in texts(figure)
        assert "recurrent, without attention: still computing" in texts(figure)
        move(figure, "done", 43)
        assert "recurrent, without attention: all done after 43 products" in texts(figure)
        assert "recurrent, with attention: still computing" in texts(figure) and v.errors == []


def test_the_two_networks_are_computed_step_by_step(visit: Any) -> None:
    with visit(PAGE, as_left=True) as v:
        drawing = v.page.locator(".encoder-decoder")
        drawing.scroll_into_view_if_needed()
        drawing.get_by_text("step 1 of 8").wait_for()
        for _ in range(4):
            drawing.get_by_role("button", name="the next step").click()
        assert "step 5 of 8" in drawing.inner_text() and "one context vector" in drawing.inner_text()
        assert drawing.locator(".plain g.now rect.writer").count() == 1
        assert drawing.locator(".attention g:not(.gone) path.weight").count() == 4
        assert v.errors == []


def test_both_networks_write_the_readers_letters(visit: Any) -> None:
    with visit(PAGE, as_left=True) as v:
        panel = v.page.locator(".own-letters")
        panel.scroll_into_view_if_needed()
        panel.get_by_label("Letters A to P").fill("cab")
        assert panel.locator(".attending li").count() == panel.locator(".without li").count() == 3
        assert "of 3" in panel.locator(".said").inner_text()
        panel.get_by_role("button", name="100 random sequences").click()
        assert "random sequences of 3" in panel.locator(".counted").inner_text()
        assert v.errors == []
