"""Chapter 21: the places follow the convention, the curves the switches; dropout and Table 3 follow their controls."""

from __future__ import annotations

from typing import Any

from book.tests.charts import drawn_with, move, settle, texts, with_control

PAGE = "training/dropout.html"


def pick(figure: Any, name: str, value: str) -> None:
    """Choose from a menu or a row of buttons by its words."""
    menu = figure.query_selector(f"select[name={name}]")
    if menu:
        menu.select_option(label=value)
    else:
        figure.query_selector(f"input[name={name}][value='{value}']").check()
    settle(figure)


def test_the_places_of_a_convention(visit: Any) -> None:
    with visit(PAGE, as_left=True, viewport={"width": 390, "height": 800}) as v:
        sites = drawn_with(v, "whose")
        assert texts(sites).count("0.1") == 7
        pick(sites, "whose", "as released later: transformer_big")
        assert (texts(sites).count("0.3"), texts(sites).count("0.1")) == (7, 5)
        pick(sites, "whose", "with the paragraphs that were cut")
        assert (texts(sites).count("0.2"), texts(sites).count("0.1")) == (3, 9)
        assert v.overflow() == 0 and v.errors == []


def test_four_switches(visit: Any) -> None:
    with visit(PAGE, as_left=True, viewport={"width": 390, "height": 800}) as v:
        figure = drawn_with(v, "residual_on")
        figure.query_selector("input[name=residual_on]").uncheck()
        settle(figure)
        without = [text for text in texts(figure) if text.startswith("Lowest validation loss")]
        figure.query_selector("input[name=residual_on]").check()
        figure.query_selector("input[name=symbol_on]").check()
        settle(figure)
        with_both = [text for text in texts(figure) if text.startswith("Lowest validation loss")]
        assert len(without) == len(with_both) == 1 and with_both[0] < without[0]
        assert v.overflow() == 0 and v.errors == []


def test_the_other_charts_follow_their_controls(visit: Any) -> None:
    with visit(PAGE) as v:
        figures = v.draw_charts()
        values = with_control(figures, "draw")
        assert any("the others times 1.43" in text for text in texts(values))
        pick(values, "mode", "evaluation")
        assert any(text.startswith("0 of 32 dropped, the others times 1;") for text in texts(values))
        curves = with_control(figures, "group")
        last = [text for text in texts(curves) if text.startswith("p = 0:")]
        move(curves, "at", 400)
        early = [text for text in texts(curves) if text.startswith("p = 0:")]
        assert len(last) == len(early) == 1 and early[0] < last[0]  # it was better earlier
        pick(curves, "group", "0.3 at several places")
        assert any(text.startswith("attention only:") for text in texts(curves))
        table = with_control(figures, "setting")
        assert "D1: 24.6" in texts(table)
        pick(table, "setting", "eps_ls")
        pick(table, "score", "perplexity")
        assert {"D3: 4.67", "D4: 5.47"} <= set(texts(table))
        assert v.errors == []


def test_a_model_left_in_training_mode(visit: Any) -> None:
    with visit(PAGE, as_left=True, viewport={"width": 390, "height": 800}) as v:
        box = v.page.locator('.live[data-panel="training"]')
        box.scroll_into_view_if_needed()
        v.page.wait_for_selector('.live[data-panel="training"][data-state="done"]')
        knob, status = box.locator("input[type=range]"), box.locator(".live-status")
        knob.fill("0.5")
        v.page.wait_for_function("/^[345] of 5/.test(document.querySelector('.live-status').textContent)")
        assert box.locator("mark").count() > 0
        knob.fill("0")
        v.page.wait_for_function("document.querySelector('.live-status').textContent.startsWith('0 of 5')")
        assert box.locator("mark").count() == 0 and len(set(box.locator(".live-text").all_inner_texts())) == 1
        knob.fill("0.05")
        v.page.wait_for_function("/^[01] of 5/.test(document.querySelector('.live-status').textContent)")
        assert status.inner_text() and v.overflow() <= 0 and v.errors == []
