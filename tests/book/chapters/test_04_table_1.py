"""Chapter 4: Table 1 moves with n, d, k, r and its columns; hops arrive one after another; times have two widths."""

from __future__ import annotations

from typing import Any

PAGE = "why/table_1.html"


def shown(figure: Any) -> list[str]:
    return figure.evaluate("e => [...e.querySelectorAll('.chart-stage svg text')].map(t => t.textContent)")


def control(figure: Any, name: str, value: Any) -> None:
    """Move a slider or choose from a menu as a reader would."""
    figure.evaluate(
        "(e, [name, value]) => { const i = e.querySelector(`[name=${name}]`); i.value = value;"
        " i.dispatchEvent(new Event(i.tagName === 'SELECT' ? 'change' : 'input', {bubbles: true})); }",
        [name, value],
    )


def with_control(figures: list[Any], name: str) -> Any:
    return next(f for f in figures if f.query_selector(f"[name={name}]"))


def test_the_table_moves_with_its_letters_and_columns(visit: Any) -> None:
    with visit(PAGE, viewport={"width": 390, "height": 800}) as v:
        figure = with_control(v.draw_charts(), "n2")
        assert "self-attention: 34.6M" in shown(figure)  # n = 32, d = 512: 2n²d + 4nd²
        control(figure, "n2", 9)
        v.page.wait_for_timeout(200)
        assert {"self-attention: 805M", "recurrent (GRU): 805M"} <= set(shown(figure))  # n = d: they meet
        control(figure, "column", "hops from first to last")
        control(figure, "k", 8)
        v.page.wait_for_timeout(200)
        assert {"dilated convolution: 3", "convolution: 73", "recurrent (GRU): 511"} <= set(shown(figure))
        assert v.errors == []


def test_hops_arrive_one_after_another(visit: Any) -> None:
    with visit(PAGE) as v:
        figure = with_control(v.draw_charts(), "hops")
        assert "dilated convolution: not there yet" in shown(figure)
        control(figure, "hops", 4)
        v.page.wait_for_timeout(200)
        assert "dilated convolution: the last position after 4 hops" in shown(figure)
        assert "recurrent (GRU): not there yet" in shown(figure)


def test_terms_and_times_follow_the_width(visit: Any) -> None:
    with visit(PAGE) as v:
        figures = v.draw_charts()
        terms = next(f for f in figures if f.query_selector("[name=d2]") and not f.query_selector("[name=n2]"))
        control(terms, "d2", 6)
        v.page.wait_for_timeout(200)
        assert "d = 64" in shown(terms)
        times = next(f for f in figures if f.query_selector("select[name=d]"))
        lines = "e => [...e.querySelectorAll('.chart-stage .mark-line path')].map(p => p.getAttribute('d'))"
        before = times.evaluate(lines)
        control(times, "d", "64")
        v.page.wait_for_timeout(200)
        assert times.evaluate(lines) != before
