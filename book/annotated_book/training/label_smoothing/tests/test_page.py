"""Chapter 19: three linked views follow epsilon, gap and vocabulary; menus choose the runs and the measure."""

from __future__ import annotations

from typing import Any

from book.tests.charts import move, settle, texts, with_control

PAGE = "training/label_smoothing.html"
MARKS = "e => [...e.querySelectorAll('.chart-stage path')].map(p => p.getAttribute('d') + p.getAttribute('transform'))"


def test_the_floor_and_its_gap_follow_the_controls(visit: Any) -> None:
    with visit(PAGE) as v:
        v.draw_charts()
        smoothing = with_control(v.page.query_selector_all("figure.chart"), "gap")
        assert any("loss 1.604 at gap 16; floor 1.377 at gap 12.7" in text for text in texts(smoothing))
        move(smoothing, "epsilon", 0)
        assert any("floor 0.000, never reached" in text for text in texts(smoothing))
        move(smoothing, "epsilon", 0.1)
        smoothing.query_selector("select").select_option("10")
        settle(smoothing)
        assert any("floor 0.545 at gap 4.4" in text for text in texts(smoothing))
        before = smoothing.evaluate(MARKS)
        move(smoothing, "gap", 15)
        assert smoothing.evaluate(MARKS) != before
        assert v.errors == []


def test_runs_and_measures_are_chosen_on_a_phone(visit: Any) -> None:
    with visit(PAGE, as_left=True, viewport={"width": 390, "height": 800}) as v:
        v.draw_charts()
        figures = v.page.query_selector_all("figure.chart")
        reliability = with_control(figures, "size")
        before = [text for text in texts(reliability) if "ECE" in text]
        for name, label in (("epsilon", "0.2"), ("beside", "0.4"), ("size", "many")):
            reliability.query_selector(f"select[name={name}]").select_option(label)
        settle(reliability)
        after = [text for text in texts(reliability) if "ECE" in text]
        assert len(before) == len(after) == 2 and before != after, "one for each epsilon"
        strength = with_control(figures, "measure")
        move(strength, "measure", "BLEU, greedy")
        assert any(text.endswith("BLEU, greedy") for text in texts(strength))
        assert v.page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") == 0


def test_two_losses_of_a_sentence(visit: Any) -> None:
    with visit(PAGE, as_left=True, viewport={"width": 390, "height": 800}) as v:
        box = v.page.locator('.live[data-panel="smoothing"]')
        box.scroll_into_view_if_needed()
        done = '.live[data-panel="smoothing"][data-state="done"]'
        v.page.wait_for_selector(done)
        status = box.locator(".live-status")
        assert "cannot give less than 2.96" in status.inner_text()  # e to the power of 1.085
        epsilon, divisor = box.get_by_label("epsilon"), box.get_by_label("divide all logits by")
        tokens = box.locator(".live-token > span").all_inner_texts()
        divisor.fill("1.5")
        v.page.wait_for_selector(done)
        assert "Perplexity 1.0" not in status.inner_text()
        assert box.locator(".live-token > span").all_inner_texts() == tokens, "the same first choices"
        divisor.fill("1")
        epsilon.fill("0")
        v.page.wait_for_function("document.querySelector('.live-status').textContent.includes('less than 1.00')")
        plain, smoothed, _ = box.locator(".live-bars li > span:last-child").all_inner_texts()
        assert plain == smoothed
        assert v.overflow() <= 0 and v.errors == []
