"""The house's configuration of a chart."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from annotated_book.viz.theme import CONFIG, GREY, INK, PALETTE, with_theme

ROOT = Path(__file__).resolve().parents[4]


def test_a_chart_gets_the_houses_configuration_and_keeps_its_own() -> None:
    spec = {"mark": "point", "config": {"font": "serif", "background": "white"}}
    config = with_theme(spec)["config"]
    assert config["font"] == "serif" and config["axis"]["labelColor"] == INK
    assert config["background"] is None, "the page shows through"
    assert spec["config"] == {"font": "serif", "background": "white"} and CONFIG["font"] != "serif"


def test_all_text_is_twelve_pixels_or_more() -> None:
    sizes = {name: {k: v for k, v in part.items() if "ontSize" in k} for name, part in CONFIG.items() if name != "range"
             and isinstance(part, dict)}  # fmt: skip
    assert sizes["axis"] == sizes["legend"] == sizes["header"] == {"labelFontSize": 12, "titleFontSize": 12}
    assert sizes["title"] == {"fontSize": 14, "subtitleFontSize": 12} and sizes["text"] == {"fontSize": 12}


@pytest.mark.parametrize(("theme", "page"), [("light", "#fdfcf9"), ("dark", "#15171a")])
def test_words_in_the_colour_of_a_series_can_be_read(theme: str, page: str) -> None:
    sheet = (ROOT / "book" / "_assets" / "book" / "colour.css").read_text("utf-8")
    assert f"--pst-color-background: {page}" in sheet
    rule = rf'html\[data-theme="{theme}"\] \.chart text\[fill="(#\w+)"\] {{ fill: (#\w+); }}'
    words = dict(re.findall(rule, sheet))
    for colour in (*PALETTE, GREY):
        assert contrast(words.get(colour, colour), page) >= 4.5, f"{colour} as a word, {theme}"


def contrast(one: str, other: str) -> float:
    """The ratio of WCAG 2."""
    high, low = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def _luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))
