"""Chapter 4: Table 1 moves with n, d, k, r and its columns; hops arrive one after another; times have two widths."""

from __future__ import annotations

from typing import Any

from book.tests.charts import drawn_with, move, texts

PAGE = "why/table_1.html"


def test_the_table_moves_with_its_letters_and_columns(visit: Any) -> None:
    with visit(PAGE, viewport={"width": 390, "height": 800}) as v:
        figure = drawn_with(v, "n_step")
        assert "self-attention: 34.6M" in texts(figure)  # n = 32, d = 512: 2n²d + 4nd²
        move(figure, "n_step", 6)  # the seventh length, 512
        assert {"self-attention: 805M", "recurrent (GRU): 805M"} <= set(texts(figure))  # n = d: they meet
        move(figure, "column", "path length")
        move(figure, "k", 8)
        assert {"dilated convolution: 3", "contiguous convolution: 73", "recurrent (GRU): 511"} <= set(texts(figure))
        assert v.errors == []


def test_hops_arrive_one_after_another(visit: Any) -> None:
    with visit(PAGE, as_left=True) as v:
        figure = drawn_with(v, "hops")
        assert "dilated convolution: not there yet" in texts(figure)
        move(figure, "hops", 4)
        assert "dilated convolution: the last position after 4 hops" in texts(figure)
        assert "recurrent (GRU): not there yet" in texts(figure)


def test_terms_and_times_follow_the_width(visit: Any) -> None:
    with visit(PAGE, as_left=True) as v:
        figures = v.draw_charts()
        terms = next(f for f in figures if f.query_selector("[name=part]"))
        move(terms, "d_step", 2)
        assert "Half is scores from n = 2d = 128" in texts(terms)
        times = next(f for f in figures if f.query_selector("select[name=d]"))
        lines = "e => [...e.querySelectorAll('.chart-stage .mark-line path')].map(p => p.getAttribute('d'))"
        before = times.evaluate(lines)
        move(times, "d", "128")
        assert times.evaluate(lines) != before
