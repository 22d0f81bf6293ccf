"""Charts of the feed-forward network: the numbers that they draw, as Vega computes them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from annotated import base
from annotated.chapters.feed_forward.charts import d_ff_chart, fold_chart, parameter_share_chart, removal_chart
from annotated.chapters.feed_forward_as_attention.charts import memory_weights_chart
from annotated.model import Transformer
from annotated.viz.renderers import book_renderer


def texts(chart: Any) -> str:
    return str(book_renderer(chart.to_dict())["text/html"])


def test_the_share_beside_the_bars_is_the_models() -> None:
    layers = Transformer(base(vocab_size=100))
    for stack, expected in ((layers.encoder, "67%"), (layers.decoder, "50%")):
        layer = stack.layers[0]
        share = sum(p.numel() for p in layer.feed_forward.parameters()) / sum(p.numel() for p in layer.parameters())
        assert f"{share:.0%}" == expected
        assert f">{expected}<" in texts(parameter_share_chart())


@pytest.mark.parametrize("make", [parameter_share_chart, fold_chart, d_ff_chart])
def test_every_chart_can_be_moved_and_says_what_it_shows(make: Any) -> None:
    spec = make().to_dict()
    assert any("bind" in parameter for parameter in spec["params"])
    assert len(spec["description"]) > 80


def test_d_ff_shows_table_3() -> None:
    picture = texts(d_ff_chart())
    assert all(f">{bleu}<" in picture for bleu in (25.4, 25.8, 26.2))


def test_weights_are_counted_and_their_spread_is_the_entropy() -> None:
    scores = np.array([[-1.0, 2.0, 2.0, -3.0, 2.0, 2.0]])  # ReLU: four equal weights
    picture = texts(memory_weights_chart(["word"], scores))
    assert "weight on 4 of 6 pairs;" in picture and "as spread out as 4 equal ones" in picture


def test_scores_must_fit_the_tokens() -> None:
    with pytest.raises(ValueError, match=r"scores must be \[2, F\]"):
        memory_weights_chart(["a", "b"], np.zeros((3, 4)))


def test_removal_draws_the_rise_and_names_the_worst() -> None:
    losses = {("encoder", 1, "feed-forward"): 0.5, ("decoder", 1, "cross-attention"): 2.25}
    chart = removal_chart(losses, 0.25)
    assert "decoder 1, cross-attention" in chart.to_dict()["description"]
    assert ">0.25<" in texts(chart) and ">2.00<" in texts(chart)
