"""A line of text as HTML."""

from __future__ import annotations

from annotated_book.viz.inline import inline


def test_code_indices_and_what_html_would_take_for_its_own() -> None:
    assert inline("a < b, `W_O`, W_O and d_model") == (
        "a &lt; b, <code>W_O</code>, W<sup>O</sup> and d<sub>model</sub>"
    )


def test_other_names_with_underscores_stay() -> None:
    assert inline("hide_future, d_kv, mask_fill") == "hide_future, d_kv, mask_fill"
