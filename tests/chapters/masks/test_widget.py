"""The mask painter gets the scores of each sentence and use in the order that its script reads them."""

from __future__ import annotations

import json

import numpy as np
import pytest
import torch

import annotated
from annotated.analysis.scores import attention_scores
from annotated.chapters.masks.widget import canary_chart, mask_painter, reach_chart

vl_convert = pytest.importorskip("vl_convert", reason="evaluating charts needs the extra `book`")
SOURCES = [["▁The", "▁cat", "s", "</s>"], ["▁Hi", "</s>", "<pad>", "<pad>"]]
TARGETS = [["<s>", "Die", "Katzen"], ["<s>", "Hallo", "<pad>"]]


@pytest.fixture(scope="module")
def scores() -> annotated.AttentionMaps:
    torch.manual_seed(0)
    model = annotated.Transformer(annotated.tiny(vocab_size=30)).eval()
    return attention_scores(model, torch.tensor([[5, 6, 7, 2], [8, 2, 0, 0]]), torch.tensor([[1, 9, 10], [1, 11, 0]]))


def test_every_score_arrives_in_order(scores: annotated.AttentionMaps) -> None:
    widget = mask_painter(scores, SOURCES, TARGETS, layer=1, head=2, use="cross", fill="-1e9", padding=False)
    data, start = np.frombuffer(widget.scores, dtype="<f4"), 0
    for sentence in range(2):
        for kind, shape in (("encoder", (4, 4)), ("decoder", (3, 3)), ("cross", (3, 4))):
            size = shape[0] * shape[1]
            expected = getattr(scores, kind)[1][sentence, 2].numpy()
            assert np.array_equal(data[start : start + size].reshape(shape), expected)
            start += size
    assert start == len(data)
    assert [s["label"] for s in widget.sentences] == ["The cats", "Hi"]
    assert (widget.use, widget.fill, widget.padding, widget.causal) == (2, 2, False, False)
    assert mask_painter(scores, SOURCES, TARGETS).causal


def test_what_does_not_fit_is_refused(scores: annotated.AttentionMaps) -> None:
    with pytest.raises(ValueError, match=r"encoder scores \[4, 4\] do not fit 3 queries"):
        mask_painter(scores, [SOURCES[0][:3], SOURCES[1]], TARGETS)
    with pytest.raises(ValueError, match="use must be one of"):
        mask_painter(scores, SOURCES, TARGETS, use="self")
    with pytest.raises(ValueError, match="fill one of"):
        mask_painter(scores, SOURCES, TARGETS, fill="-1e12")


def test_reach_keeps_exact_zeros_apart() -> None:
    matrix = np.array([[2.0, 0.0], [1.0, 1e-9]])
    spec = reach_chart({"held": matrix, "open": np.ones((2, 2))}, ["a", "b"]).to_dict()
    rows = [r for r in spec["data"]["values"] if r["which"] == "held"]
    assert [(r["i"], r["j"], r["share"], r["zero"]) for r in rows] == [
        (0, 0, 1.0, False), (0, 1, 0.0, True), (1, 0, 1.0, False), (1, 1, 0.0, False),
    ]  # fmt: skip
    assert vl_convert.vegalite_to_svg(spec, vl_version="6.4").count("<path") > 3
    with pytest.raises(ValueError, match="'held' must hold"):
        reach_chart({"held": -matrix}, ["a", "b"])


def test_the_canary_chart_draws_a_line_for_each_mask() -> None:
    chart = canary_chart({"−∞": [2.77, 2.78], "no mask": [0.1, 2.8]}, 2.773)
    values = json.dumps(chart.to_dict())
    assert '"loss": 0.1' in values and '"y": 2.773' in values
    svg = vl_convert.vegalite_to_svg(chart.to_dict(), vl_version="6.4")
    assert "no mask" in svg and "ln 16" in svg
