"""The house's configuration of a chart."""

from __future__ import annotations

from annotated_book.viz.theme import CONFIG, INK, with_theme


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
