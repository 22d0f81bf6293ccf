"""The house's configuration of a chart."""

from __future__ import annotations

from annotated.viz.theme import CONFIG, INK, with_theme


def test_a_chart_gets_the_houses_configuration_and_keeps_its_own() -> None:
    spec = {"mark": "point", "config": {"font": "serif", "background": "white"}}
    config = with_theme(spec)["config"]
    assert config["font"] == "serif" and config["axis"]["labelColor"] == INK
    assert config["background"] is None, "the page shows through"
    assert spec["config"] == {"font": "serif", "background": "white"} and CONFIG["font"] != "serif"
