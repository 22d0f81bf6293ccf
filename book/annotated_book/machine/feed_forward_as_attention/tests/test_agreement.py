"""Agreement of values with what followed, and the spread of weights, against cases worked out by hand."""

from __future__ import annotations

import pytest
import torch

from annotated import Transformer, tiny
from annotated.analysis.feed_forward import Activity
from annotated_book.machine.feed_forward_as_attention.agreement import value_agreement
from annotated_book.machine.feed_forward_as_attention.charts import agreement_chart, spread


def test_a_value_agrees_if_its_token_followed() -> None:
    model = Transformer(tiny(vocab_size=6, d_model=4, d_ff=2, num_heads=1, d_k=4, d_v=4, num_decoder_layers=1))
    outer = model.decoder.layers[0].feed_forward.outer
    with torch.no_grad():
        model.embedding.weight.zero_()
        model.embedding.weight[3, 0] = model.embedding.weight[5, 1] = 1.0
        outer.weight.zero_()
        outer.weight[0, 0] = outer.weight[1, 1] = 1.0  # unit 0 promotes token 3, unit 1 token 5
    # Unit 0 is strongest at position 0, then 1; unit 1 at position 2, then 0.
    scores = torch.tensor([[3.0, 1.0], [2.0, -1.0], [1.0, 4.0]])
    seen = Activity(scores[None], [["a", "b", "c"]], [["x", "y", "z"]])
    follows = torch.tensor([3, 4, 5])
    table = value_agreement(model, seen, follows, [1, 2]).set_index("contexts")
    assert table["agreement"].to_dict() == {1: 1.0, 2: 0.5}
    assert table["chance"].to_dict() == {1: 0.0, 2: 0.25}
    # Swapped: unit 0 gets positions 2 and 0, where 5 and 3 followed; unit 1 gets 0 and 1, where 3 and 4 did.


def test_spread_counts_equal_weights() -> None:
    weights = torch.tensor([[1.0, 1.0, 0.0, 0.0], [5.0, 0.0, 0.0, 0.0], [2.0, 2.0, 2.0, 2.0]])
    assert spread(weights).tolist() == pytest.approx([2.0, 1.0, 4.0])


def test_the_chart_tells_the_fall() -> None:
    import pandas as pd

    table = pd.DataFrame({"layer": [1, 1], "contexts": [1, 10], "agreement": [0.3, 0.1], "chance": [0.0, 0.0]})
    assert "falls from 30% to 10%" in agreement_chart(table).to_dict()["description"]
