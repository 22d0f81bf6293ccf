"""Charts of the feed-forward network: the numbers that they draw, as Vega computes them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from annotated import base
from annotated.analysis.feed_forward import Activity
from annotated.model import Transformer
from annotated_book.machine.feed_forward.charts import d_ff_chart, fold_chart, parameter_share_chart, removal_chart
from annotated_book.machine.feed_forward.firing import agreeing_units
from annotated_book.machine.feed_forward.unit_charts import activations_chart, agreement_strip, parts_chart, unit_chart
from annotated_book.machine.feed_forward_as_attention.charts import memory_weights_chart
from annotated_book.viz.renderers import book_renderer


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
    picture = texts(chart)
    assert ">0.25  feed-forward<" in picture and ">2.00<" in picture, "one place has the names too"


def test_without_the_relu_no_fold_is_marked() -> None:
    spec = fold_chart().to_dict()
    marks = [layer["mark"] for layer in spec["concat"][0]["layer"] if "opacity" in layer["mark"]]
    hidden = [mark for mark in marks if mark["opacity"] == {"expr": "relu ? 1 : 0"}]
    assert len(hidden) == 4, "two kinds of lines and their numbers; squares and section stay"


def one_unit() -> Activity:
    tokens = [["▁not", "."], ["▁not", ".", "a"]]
    scores = torch.tensor([3.0, 1.0, 2.5, 1.5, -1.0])
    return Activity(scores[None, :, None], tokens, tokens)


def test_a_unit_along_a_sentence_shows_scores_below_zero_too() -> None:
    picture = texts(unit_chart(one_unit(), [1, 0], (0, 0)))
    assert ">2.5<" in picture and ">1.5<" in picture and ">-1.0<" not in picture
    assert (
        "Above zero in the first: 1 not 2.5, 2 . 1.5."
        in unit_chart(one_unit(), [1, 0], (0, 0)).to_dict()["description"]
    )


def test_the_histogram_counts_every_activation_above_zero() -> None:
    chart = activations_chart(one_unit(), [(0, 0)], bins=3)
    rows = chart.to_dict()["data"]["values"]
    # Three columns up to 3.0: full stops at 1.0 and 1.5, "not" at 2.5 and 3.0; a column begins a hair above its number.
    assert [(row["token"], row["from"], row["count"]) for row in rows] == [
        ("not", 2.0, 2),
        (".", 0.0, 1),
        (".", 1.0, 1),
        ("not", 4.0, 0),  # room for the key
    ]
    assert "strongest at not, 4 in all" in chart.to_dict()["description"]


def test_the_strip_says_how_many_units_are_pure() -> None:
    chart = agreement_strip(agreeing_units(one_unit(), top=2))
    assert "A dot for each of 1 units" in chart.to_dict()["description"]
    assert "0 lie above 90 per cent, the median at 50%" in chart.to_dict()["description"]


def test_parts_start_at_nothing_and_are_means_over_orders() -> None:
    networks = [{"stack": "decoder", "layer": 1, "parts": [[0.1, 2.0], [0.3, 2.0]]}]
    chart = parts_chart(networks, [0.5, 1.0])
    assert "decoder 1 0.200 and 2.000" in chart.to_dict()["description"]
    assert texts(chart).count(">decoder 1<") == 1, "named once, at the end of its line"
