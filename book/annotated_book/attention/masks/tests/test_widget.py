"""The mask painter gets the scores of each sentence and use in the order that its script reads them."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import annotated
from annotated.analysis.scores import attention_scores
from annotated.model.masks import padding_mask, target_mask
from annotated_book.attention.masks.widget import mask_painter
from annotated_book.pages import page_folder
from book.tests.javascript import evaluate

REACH = page_folder("masks") / "reach.js"

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


@pytest.mark.parametrize("use", ["encoder", "decoder", "cross"])
def test_weights_in_the_page_are_those_of_the_library(scores: annotated.AttentionMaps, use: str) -> None:
    """Of every row with the library's fill; and the weight that a lifted mask lets through."""
    which = ("encoder", "decoder", "cross").index(use)
    targets = torch.tensor([[1, 9, 10], [1, 11, 0]])
    masks = {
        "encoder": padding_mask(torch.tensor([[5, 6, 7, 2], [8, 2, 0, 0]])).expand(2, 1, 4, 4),
        "decoder": target_mask(targets),
        "cross": padding_mask(torch.tensor([[5, 6, 7, 2], [8, 2, 0, 0]])).expand(2, 1, 3, 4),
    }
    raw = getattr(scores, use)[0][:, 0]
    code = """({ reach, weigh }, { maps, states }) => maps.map(({ scores, ...tokens }) => {
      const map = { ...tokens, scores: Float32Array.from(scores) };
      const weights = state => map.queries.map((_, i) => weigh(map, state, i).weights);
      return states.map(state => ({ ...reach(map, state), weights: weights(state) }));
    })"""
    held = {"use": which, "fill": 0, "padding": True, "causal": use == "decoder", "flipped": []}
    states = [held, {**held, "padding": False, "causal": False}, {**held, "fill": 2, "flipped": [[0, 0]]}]
    queries, keys = SOURCES if use == "encoder" else TARGETS, TARGETS if use == "decoder" else SOURCES
    maps = [
        {"queries": q, "keys": k, "scores": s.flatten().tolist()} for q, k, s in zip(queries, keys, raw, strict=True)
    ]
    found = evaluate(REACH, code, {"maps": maps, "states": states})
    for i, (own, free, painted) in enumerate(found):
        expected = raw[i].masked_fill(~masks[use][i, 0], -torch.inf).softmax(-1).nan_to_num(0)
        torch.testing.assert_close(torch.tensor(own["weights"]), expected, atol=1e-6, rtol=1e-5)
        assert own["padding"] == 0 and own["broken"] == 0
        assert (own["future"] > 0) == (use == "encoder"), "an encoder may look ahead"
        weights = raw[i].softmax(-1)
        real = torch.tensor([token != "<pad>" for token in queries[i]])
        pads = torch.tensor([token == "<pad>" for token in keys[i]])
        assert free["padding"] == pytest.approx(weights[real][:, pads].sum().item(), abs=1e-5)
        later = torch.ones_like(weights).triu(1).bool() & ~pads & (use != "cross")
        assert free["future"] == pytest.approx((weights * later)[real].sum().item(), abs=1e-5)
        flipped = masks[use][i, 0].clone()
        flipped[0, 0] = ~flipped[0, 0]
        torch.testing.assert_close(
            torch.tensor(painted["weights"]), raw[i].masked_fill(~flipped, -1e9).softmax(-1), atol=1e-6, rtol=1e-5
        )


def test_verdicts_name_the_fault() -> None:
    code = "({ verdictOn }, jobs) => jobs.map(([found, state]) => verdictOn(found, state))"
    none = {"broken": 0, "empty": 0, "future": 0, "padding": 0}
    jobs = [
        ({**none, "broken": 2}, {"fill": 1, "use": 0}, "2 rows are NaN"),
        ({**none, "future": 0.5}, {"fill": 3, "use": 1}, "hides nothing"),
        ({**none, "empty": 1}, {"fill": 2, "use": 1}, "still sums to one"),
        ({**none, "future": 0.5}, {"fill": 0, "use": 1}, "The answers leak"),
        ({**none, "padding": 0.5}, {"fill": 0, "use": 0}, "Padding is attended to"),
        ({**none, "empty": 1}, {"fill": 0, "use": 0}, "is zero"),
        (none, {"fill": 0, "use": 1}, "Nothing leaks."),
        (none, {"fill": 0, "use": 0}, "may look ahead"),
        (none, {"fill": 0, "use": 2}, "the source is known"),
    ]
    found = evaluate(REACH, code, [job[:2] for job in jobs])
    assert all(words in verdict for (_, _, words), verdict in zip(jobs, found, strict=True))


def test_painting_twice_is_painting_nothing() -> None:
    code = """({ closeRow, isOpen, paintCell, weigh }, map) => {
      const state = { use: 0, fill: 0, padding: false, causal: false, flipped: [] };
      const once = { ...state, flipped: paintCell(map, state, 0, 1, false) };
      const closed = { ...state, flipped: closeRow(map, once, 0) };
      return [once.flipped, isOpen(map, once, 0, 1), paintCell(map, once, 0, 1, true), weigh(map, closed, 0).weights];
    }"""
    found = evaluate(REACH, code, {"queries": ["a", "b"], "keys": ["a", "b"], "scores": [0, 1, 2, 3]})
    assert found == [[[0, 1]], False, [], [0, 0]]


def test_the_future_is_what_stands_to_the_right_of_the_diagonal() -> None:
    code = """({ futureShare }, maps) => futureShare(Object.fromEntries(Object.entries(maps).map(([name, heads]) =>
      [name, heads.map(head => Float32Array.from(head))])), 2)"""
    maps = {"decoder.1.self_attention": [[0.75, 0.25, 0.5, 0.5]], "decoder.1.cross_attention": [[0, 1, 0, 1]]}
    assert evaluate(page_folder("masks") / "future.js", code, maps) == 0.125
