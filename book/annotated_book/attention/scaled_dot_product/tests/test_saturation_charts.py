"""What the scale charts draw is what the softmax computes."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
import torch

from annotated_book.attention.scaled_dot_product.saturation_charts import saturation_chart, scale_chart
from book.tests.drawing import draw


def bars(chart) -> list[tuple[float, float, float]]:
    """(score, weight, gradient) of each bar of weights, from the labels that Vega writes for screen readers."""
    svg = draw(chart)
    found = re.findall(r'aria-label="[^"]*weight p: ([\d.e−-]+)[^"]*"', svg)
    return [float(x.replace("−", "-")) for x in found]


@pytest.mark.parametrize(("exponent", "step"), [(0.0, 1), (0.5, 1), (1.0, 0), (0.5, 0)])
def test_the_bars_are_the_softmax_of_the_divided_scores(exponent: float, step: int) -> None:
    widths = [4, 16]
    scores = torch.randn(2, 5, 6, generator=torch.Generator().manual_seed(0)) * 3
    drawn = bars(scale_chart(widths, scores, step=step, exponent=exponent))
    expected = (scores[step, 0] / widths[step] ** exponent).softmax(-1).sort(descending=True).values
    assert len(drawn) == 6 and np.allclose(drawn, expected.numpy(), atol=2e-3)


def test_scores_must_have_a_matrix_for_each_width() -> None:
    with pytest.raises(ValueError, match="a matrix for each width"):
        scale_chart([1, 2, 3], torch.randn(2, 5, 6))


def test_two_keys_are_a_logistic_curve() -> None:
    rows = json.loads(json.dumps(saturation_chart().to_dict()))
    values = [v for layer in rows["layer"] for v in layer.get("data", {}).get("values", []) if "gap" in v]
    weight = {v["gap"]: v["value"] for v in values if v["what"] == "weight p"}
    gradient = {v["gap"]: v["value"] for v in values if v["what"] != "weight p"}
    assert weight[0.0] == 0.5 and gradient[0.0] == 0.25
    pair = torch.tensor([3.0, 0.0], requires_grad=True)
    p = pair.softmax(0)[0]
    (slope,) = torch.autograd.grad(p, pair)
    assert weight[3.0] == pytest.approx(float(p.detach()), abs=1e-4)
    assert gradient[3.0] == pytest.approx(float(slope[0]), abs=1e-4)
