"""Charts of masks: exact zeros stay apart, and noise has a line for each mask over its floor."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from annotated_book.attention.masks.charts import noise_chart, reach_chart
from book.tests.drawing import draw


def test_reach_keeps_exact_zeros_apart() -> None:
    matrix = np.array([[2.0, 0.0], [1.0, 1e-9]])
    spec = reach_chart({"held": matrix, "open": np.ones((2, 2))}, ["a", "b"]).to_dict()
    rows = [r for r in spec["data"]["values"] if r["which"] == "held"]
    assert [(r["i"], r["j"], r["share"], r["zero"]) for r in rows] == [
        (0, 0, 1.0, False), (0, 1, 0.0, True), (1, 0, 1.0, False), (1, 1, 0.0, False),
    ]  # fmt: skip
    assert draw(spec).count("<path") > 3
    with pytest.raises(ValueError, match="'held' must hold"):
        reach_chart({"held": -matrix}, ["a", "b"])


@pytest.mark.parametrize("tokens", [16, 50])
def test_the_noise_chart_draws_a_line_for_each_mask_and_names_the_floor(tokens: int) -> None:
    floor = math.log(tokens)
    chart = noise_chart({"−∞": [2.77, 2.78], "no mask": [0.1, 2.8]}, floor)
    values = json.dumps(chart.to_dict())
    assert '"loss": 0.1' in values and f'"y": {floor}' in values
    svg = draw(chart)
    assert "no mask" in svg and f"ln {tokens}: best possible without a leak" in svg
