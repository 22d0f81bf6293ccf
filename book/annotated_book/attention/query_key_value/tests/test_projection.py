"""The picture of one head shows the numbers of the model: in Python, and as its script reads them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch

import annotated
from annotated.analysis.tracing import trace
from annotated_book.attention.query_key_value.projection import head_numbers, projection_picture
from annotated_book.pages import page_folder
from book.tests.javascript import evaluate

TEXT = "The grandmother opened the green school bag."
SCRIPT = page_folder("query_key_value") / "projection.js"


@pytest.fixture(scope="module")
def translator() -> annotated.Translator:
    return annotated.load("classroom")


@pytest.mark.parametrize(("layer", "head"), [(1, 1), (2, 3), (3, 4)])
def test_the_weights_are_those_of_the_model(translator: annotated.Translator, layer: int, head: int) -> None:
    tokens, found = head_numbers(translator, TEXT, layer, head)
    traced = trace(translator, TEXT)
    assert tokens == traced.source_tokens
    torch.testing.assert_close(found["weights"], traced.maps[f"encoder.{layer}.self_attention"][head - 1])
    torch.testing.assert_close(found["scores"].softmax(-1), found["weights"])


def test_the_heads_together_give_what_leaves_the_box(translator: annotated.Translator) -> None:
    outputs = torch.cat([head_numbers(translator, TEXT, 2, head)[1]["output"] for head in range(1, 5)], dim=1)
    encoder: Any = translator.model.encoder.layers
    with torch.no_grad():
        mixed = encoder[1].self_attention.out_projection(outputs)
    expected = trace(translator, TEXT).boxes["encoder.2.self_attention"]
    torch.testing.assert_close(mixed, expected, atol=1e-4, rtol=1e-4)


def test_the_script_reads_the_same_numbers(translator: annotated.Translator) -> None:
    widget = projection_picture(translator, TEXT, token=7)
    tokens, found = head_numbers(translator, TEXT, 1, 1)
    code = """({ matrices }, { data, scales, numbers, sizes, count }) => {
      const all = (n, make) => Array.from({ length: n }, (_, i) => make(i));
      const found = matrices(Uint8Array.from(data), scales, numbers, sizes, count);
      return Object.fromEntries(Object.entries(found).map(([name, one]) =>
        [name, all(one.rows, r => all(one.columns, c => one.at(r, c)))]));
    }"""
    given = {"data": list(widget.data), "scales": widget.scales, "numbers": widget.numbers, "sizes": widget.sizes}
    shown = evaluate(SCRIPT, code, {**given, "count": len(tokens)})
    for name, scale in zip(("x", "w_q", "w_k", "w_v"), widget.scales, strict=True):
        assert np.abs(np.array(shown[name]) - found[name].numpy()).max() <= scale / 254 + 1e-5, name
    for name in ("q", "k", "v", "output"):
        assert np.allclose(shown[name], found[name].numpy(), atol=1e-4), name
    by_hand = np.array(shown["q"][6]) @ np.array(shown["k"]).T / math.sqrt(32)
    assert np.allclose(by_hand, widget.numbers["scores"][6], atol=1e-3)


def test_each_step_has_its_sentence(translator: annotated.Translator) -> None:
    widget = projection_picture(translator, TEXT, token=7)
    given = {"tokens": widget.tokens, "numbers": widget.numbers, "sizes": widget.sizes}
    code = "({ saying }, about) => [0, 1, 2, 3, 4, 5].map(step => saying(step, 6, about))"
    said = evaluate(SCRIPT, code, given)
    weights = widget.numbers["weights"][6]
    assert "“▁school”" in said[0] and "128 numbers" in said[0]
    assert f"{widget.numbers['scores'][6][7]:.2f} with “▁bag”" in said[3]
    assert f"{round(100 * weights[7])} % for “▁bag”" in said[4]


def test_tiles_appear_in_the_order_of_the_steps() -> None:
    tiles = evaluate(SCRIPT, "({ TILES }) => TILES")
    first = {tile["name"]: tile["step"] for tile in tiles}
    assert [first[name] for name in ("x", "q", "scores", "weights", "mixed", "output")] == [0, 1, 3, 4, 5, 5]


@pytest.mark.parametrize("options", [{"layer": 0}, {"head": 5}, {"step": 6}, {"token": 0}, {"token": 11}])
def test_what_does_not_exist_is_refused(translator: annotated.Translator, options: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="there is no"):
        projection_picture(translator, TEXT, **options)
