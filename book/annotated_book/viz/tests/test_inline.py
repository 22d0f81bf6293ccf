"""A line of text as HTML."""

from __future__ import annotations

from annotated_book.viz.inline import inline


def test_code_indices_and_what_html_would_take_for_its_own() -> None:
    assert inline("a < b, `W_O`, W_O and d_model") == (
        "a &lt; b, <code>W_O</code>, W<sup>O</sup> and d<sub>model</sub>"
    )


def test_other_names_with_underscores_stay() -> None:
    assert inline("hide_future, d_kv, mask_fill") == "hide_future, d_kv, mask_fill"


def test_where_and_when_it_was_recorded_is_a_part_of_its_own() -> None:
    recorded = (
        "Recorded on 2026-11-21 with torch 2.13 on 2 cores of AMD EPYC, in 3 CPU minutes, by: python -m x --rate 0.5"
    )
    assert inline(recorded) == f'<span class="recorded">{recorded}</span>'
    assert inline(f"Two seeds. {recorded}. More; d_k") == (
        f'Two seeds. <span class="recorded">{recorded}</span>. More; d<sub>k</sub>'
    )


def test_no_line_ends_between_a_number_and_its_sign() -> None:
    assert inline("an interval of 95 %, `7 % 3`") == "an interval of 95\u00a0%, <code>7 % 3</code>"
