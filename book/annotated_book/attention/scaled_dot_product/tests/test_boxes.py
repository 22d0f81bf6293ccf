"""The boxes of figure 2 hold the numbers of equation 1, and the sentence below them says how each came about."""

from __future__ import annotations

import pytest
import torch

from annotated import causal_mask, scaled_dot_product_attention
from annotated_book.attention.scaled_dot_product.boxes import attention_boxes
from annotated_book.pages import page_folder
from book.tests.javascript import evaluate

FOLDER = page_folder("scaled_dot_product")
NAMES = ["the", "cat", "sat"]
K = [[0.0, 0, 1, 0], [1.0, 1, 1, 1], [0.0, 1, 0, 0]]
Q = [K[0], K[1], [1.0, 2, 0, 1]]
V = [[0.0, 0], [1, 0], [0, 1]]


@pytest.mark.parametrize("causal", [False, True])
def test_the_last_box_is_the_librarys_attention(causal: bool) -> None:
    code = "({ matricesOf }, [q, k, v, causal]) => matricesOf(q, k, v, causal)"
    found = evaluate(FOLDER / "equation.js", code, [Q, K, V, causal])
    mask = causal_mask(3)[0, 0] if causal else None
    output, weights = scaled_dot_product_attention(torch.tensor(Q), torch.tensor(K), torch.tensor(V), mask)
    torch.testing.assert_close(torch.tensor(found["output"]), output)
    torch.testing.assert_close(torch.tensor(found["weights"]), weights)
    assert found["dots"][2] == [0, 4, 2] and found["scores"][2] == [0, 2, 1]


def test_sentences_tell_the_numbers_of_the_query_by_hand() -> None:
    code = """({ matricesOf, sentenceOf }, { data, jobs }) => jobs.map(([box, causal, i, j]) =>
      sentenceOf(box, matricesOf(...data, causal), ["the", "cat", "sat"], i, j))"""
    jobs = [
        ("MatMul", False, 2, 1, "1·0 + 2·1 + 0·0 + 1·0 = 2"),
        ("Scale", False, 2, 1, "4 ÷ √4 = 2"),
        ("Mask (opt.)", False, 0, 2, "the score stays 0"),
        ("Mask (opt.)", True, 0, 2, "sat comes later than the"),
        ("SoftMax", False, 2, 1, "(1 + 7.39 + 2.72) = 7.39 ÷ 11.11 = 0.67"),
        ("MatMul ", False, 2, 0, "0.09·0 + 0.67·1 + 0.24·0 = 0.67"),
    ]
    jobs[0] = ("MatMul", False, 2, 2, jobs[0][4])
    found = evaluate(FOLDER / "equation.js", code, {"data": [Q, K, V], "jobs": [job[:4] for job in jobs]})
    for sentence, job in zip(found, jobs, strict=True):
        assert job[4] in sentence


def test_boxes_have_the_papers_names_mask_and_softmax_once() -> None:
    names = [name.strip() for name in evaluate(FOLDER / "boxes.js", "({ BOXES }) => BOXES.map(box => box.name)")]
    assert names == ["Q, K, V", "MatMul", "Scale", "Mask (opt.)", "SoftMax", "MatMul"]


def test_shapes_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ValueError, match=r"values \[3, d_v\]"):
        attention_boxes(Q, K, V[:2], NAMES)
    assert attention_boxes(Q, K, V, NAMES).row == 2


def test_sharpness_is_the_mean_of_the_largest_weights() -> None:
    code = """({ columnsOf, sharpness }, { maps }) => sharpness(Object.fromEntries(Object.entries(maps).map(
      ([name, heads]) => [name, heads.map(head => Float32Array.from(head))])), columnsOf(2, 3))"""
    maps = {
        "encoder.1.self_attention": [[0.9, 0.1, 0.5, 0.5]],  # two keys: the source
        "decoder.1.self_attention": [[1, 0, 0, 0.2, 0.8, 0, 0.3, 0.3, 0.4]],  # three: the target
        "decoder.1.cross_attention": [[0.6, 0.4, 0.7, 0.3, 1, 0]],
    }
    expected = (0.9 + 0.5 + 1 + 0.8 + 0.4 + 0.6 + 0.7 + 1) / 8
    assert evaluate(FOLDER / "sharpness.js", code, {"maps": maps}) == pytest.approx(expected, abs=1e-6)
    even = (2 * 1 / 2 + (1 + 1 / 2 + 1 / 3) + 3 * 1 / 2) / 8
    code = code.replace("{ columnsOf, sharpness }", "{ columnsOf, evenSharpness: sharpness }")
    assert evaluate(FOLDER / "sharpness.js", code, {"maps": maps}) == pytest.approx(even, abs=1e-6)
