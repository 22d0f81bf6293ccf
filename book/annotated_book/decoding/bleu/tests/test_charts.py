"""The charts of BLEU hold what they are given."""

from __future__ import annotations

import numpy as np
import pytest

from annotated_book.decoding.bleu.charts import bootstrap_chart, brevity_chart, power_chart, settings_chart


def test_charts_hold_what_they_are_given() -> None:
    curve = brevity_chart().to_dict()["layer"][0]["data"]["values"]
    assert next(row["y"] for row in curve if row["x"] == 0.5) == pytest.approx(np.exp(-1), abs=1e-3)
    assert all(row["y"] == 1 for row in curve if row["x"] >= 1)
    histogram = bootstrap_chart([-0.05, 0.01, 0.02, 0.19], ("a", "b"), score=0.04).to_dict()
    assert histogram["title"]["text"] == "B is better on 75.0\u00a0% of the resampled test sets"
    bars = histogram["layer"][0]["data"]["values"]
    assert [(row["from"], row["share"]) for row in bars] == [(-0.1, 0.25), (0.0, 0.5), (0.1, 0.25)]
    assert [row["side"] for row in bars] == ["a is better", "b is better", "b is better"]
    rows = [{"system": s, "setting": r, "bleu": 1.0} for s in "xy" for r in ("13a", "char")]
    settings = settings_chart(rows).to_dict()
    assert settings["params"][0]["value"] == "y" and settings["title"]["text"] == "One set of translations has 2 scores"
    power = power_chart([{"sentences": 100, "pair": "p", "share": 0.5}]).to_dict()
    assert "97.5" in power["description"]
