"""Chapter 12: the normalised vector stays, streams and gradients follow their controls, curves can be chosen."""

from __future__ import annotations

from typing import Any

from book.tests.charts import LINES, described, move, settle

PAGE = "machine/residuals.html"


def bars(chart: Any, colour: str) -> list[str]:
    return chart.evaluate(
        "(e, c) => [...e.querySelectorAll('.chart-stage .mark-rect.role-mark path')]"
        ".filter(p => p.getAttribute('fill') === c)"
        ".map(p => p.getAttribute('d').replace(/[0-9.]+/g, n => (+n).toFixed(2)))",
        colour,
    )


def test_scale_and_offset_of_the_input_do_not_get_through(visit: Any) -> None:
    with visit(PAGE, as_left=True) as v:
        chart = described(v, "before and after layer normalisation")
        before, after = bars(chart, "#8a8f98"), bars(chart, "#3b83d6")
        assert len(before) == len(after) == 6
        move(chart, "times", 2)
        move(chart, "plus", 1)
        assert bars(chart, "#8a8f98") != before and bars(chart, "#3b83d6") == after
        move(chart, "gain", 0.5)
        assert bars(chart, "#3b83d6") != after
        assert v.errors == []


def test_rms_norm_lets_the_offset_through(visit: Any) -> None:
    with visit(PAGE) as v:
        chart = described(v, "before and after layer normalisation")
        chart.query_selector("input[type=radio][value=RMSNorm]").check()
        settle(chart)
        after = bars(chart, "#3b83d6")
        move(chart, "times", 2)
        assert bars(chart, "#3b83d6") == after
        move(chart, "plus", 1)
        assert bars(chart, "#3b83d6") != after


def test_without_residuals_the_words_become_alike(visit: Any) -> None:
    with visit(PAGE, as_left=True) as v:
        panel = v.page.locator(".live[data-panel=residual_norm]")
        panel.scroll_into_view_if_needed()
        panel.locator(".live-status").filter(has_text="The words change.").wait_for(timeout=20_000)
        rows = panel.locator(".live-bars li").all_inner_texts()
        assert len(rows) == 7 and float(rows[-1].split()[-1]) > 0.95
        panel.get_by_label("residuals").check()
        panel.locator(".live-status").filter(has_text="Every part is on.").wait_for(timeout=20_000)
        last = panel.locator(".live-bars li").last.inner_text().split()[-1]
        assert abs(float(last.replace("−", "-"))) < 0.1 and v.errors == []


def test_words_or_positions_are_read(visit: Any) -> None:
    with visit(PAGE, as_left=True) as v:
        chart = described(v, "accuracy on unseen sentences")
        before = chart.evaluate(LINES)
        assert len(before) == 4
        chart.query_selector("select").select_option("which position")
        settle(chart)
        assert chart.evaluate(LINES) != before
        words = chart.evaluate("e => [...e.querySelectorAll('.chart-stage text')].map(t => t.textContent).join(' ')")
        assert "positions are soon" in words and "words are soon" not in words


def test_the_depth_chooses_the_gradients_of_both_stacks(visit: Any) -> None:
    with visit(PAGE, viewport={"width": 390, "height": 800}) as v:
        chart = described(v, "Gradient norm of the feed-forward matrices")
        points = "e => e.querySelectorAll('.chart-stage .mark-symbol.role-mark path').length"
        assert chart.evaluate(points) == 4 * 2 * 12, "four models, two stacks of twelve layers"
        move(chart, "depth", 4)
        assert chart.evaluate(points) == 4 * 2 * 4
        assert v.page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") == 0


def test_placement_warm_up_and_seed_choose_curves(visit: Any) -> None:
    with visit(PAGE, as_left=True) as v:
        chart = described(v, "Training curves, 24 in all")
        assert len(chart.evaluate(LINES)) == 8
        placement, warm_up, seed = chart.query_selector_all("select")
        seed.select_option("all")
        settle(chart)
        assert len(chart.evaluate(LINES)) == 24
        for menu, value, left in ((placement, "post-norm", 6), (warm_up, "without", 3), (seed, "1", 1)):
            menu.select_option(value)
            settle(chart)
            assert len(chart.evaluate(LINES)) == left


def test_a_path_without_a_norm_is_lit_in_pre_norm_only(visit: Any) -> None:
    with visit(PAGE, as_left=True) as v:
        drawing = v.page.locator(".norm-places")
        drawing.get_by_label("a path that nothing normalises").check()
        opacity = "e => getComputedStyle(e).opacity"
        post, pre = (drawing.locator(f".{kind} .stream").evaluate(opacity) for kind in ("post", "pre"))
        assert float(post) < 0.3 and float(pre) == 1
        assert drawing.locator(".told-bare").is_visible() and not drawing.locator(".told-all").is_visible()
