"""The shape tracer's shapes are those of the library at work, and its costs those that are counted on the model."""

from __future__ import annotations

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

import annotated
from annotated.analysis.parameters import count_parameters
from annotated.config import ModelConfig
from annotated.model.attention import MultiHeadAttention, Recorded
from annotated_book.pages import page_folder
from annotated_book.reference.notation.frame import START, line_of, page_data, shapes, sizes
from annotated_book.reference.notation.steps import STAGES
from annotated_book.reference.notation.traced import traced
from book.tests.javascript import evaluate

SHAPES, LIVE = page_folder("notation") / "shapes.js", page_folder("notation") / "live.js"
ODD = annotated.tiny(d_model=24, num_heads=3, d_k=8, d_v=8, d_ff=40, vocab_size=91)
MODELS = {
    "odd": (ODD, 2, 5, 7),
    "base": (annotated.base(), 1, 11, 1),
    "tiny": (annotated.tiny(vocab_size=333), 3, 2, 9),
}


def numbers(config: ModelConfig, batch: int, source: int, target: int) -> dict[str, int]:
    return {"B": batch, "S": source, "T": target, **sizes(config), "K": config.d_k}


@pytest.mark.parametrize("name", MODELS)
def test_every_shape_in_letters_is_the_shape_of_the_librarys_tensor(name: str) -> None:
    model = MODELS[name]
    found, steps = traced(*model), [step for stage in STAGES for step in stage.steps]
    say = "({ shapeOf }, [shapes, sizes]) => shapes.map(shape => shapeOf(shape, sizes))"
    in_page = evaluate(SHAPES, say, [[step.shape for step in steps], numbers(*model)])
    assert len(steps) > 40 and dict(zip([step.key for step in steps], in_page, strict=True)) == {
        step.key: found[step.key] for step in steps
    }


def test_shapes_that_are_recorded_are_those_of_real_tensors() -> None:
    """Of what a reader can get without our recorder: ids in, attention maps and logits out."""
    source, target = torch.randint(4, 91, (2, 5)), torch.randint(4, 91, (2, 7))
    logits, maps = annotated.Transformer(ODD)(source, target, return_attention=True)
    found = traced(ODD, 2, 5, 7)
    for key, tensor in (("logits", logits), ("self.weights", maps.encoder[0]), ("masked.weights", maps.decoder[1]),
                        ("cross.weights", maps.cross[0]), ("encoder.ids", source)):  # fmt: skip
        assert found[key] == list(tensor.shape), key


@pytest.mark.parametrize("name", MODELS)
def test_costs_in_the_page_are_counted_on_the_model(name: str) -> None:
    config, batch, source, target = MODELS[name]
    say = "({ totals }, [stages, sizes]) => totals(stages, sizes)"
    found = evaluate(SHAPES, say, [page_data()["stages"], numbers(*MODELS[name])])
    assert found["parameters"] == count_parameters(config)
    with torch.device("meta"):
        model = annotated.Transformer(config).eval().to("meta")
        ids = [torch.zeros(batch, length, dtype=torch.int64) for length in (source, target)]
        with FlopCounterMode(display=False) as counter, torch.no_grad():
            model(*ids, return_attention=True)
    assert 2 * found["products"] == counter.get_total_flops()


def test_what_the_page_says_of_heads_and_of_long_sources() -> None:
    stages, start = page_data()["stages"], {**START, **sizes(annotated.base())}
    say = "({ completed, totals }, [stages, all]) => all.map(sizes => totals(stages, completed(sizes).sizes))"
    costs = evaluate(SHAPES, say, [stages, [{**start, "H": heads} for heads in (1, 8, 16, 512)]])
    assert all(cost == costs[0] for cost in costs), "more heads cost neither parameters nor multiply-adds"
    steps = {step["key"]: step["shape"] for stage in stages for step in stage["steps"]}
    compare = """({ completed, entries }, [a, b, all]) => all.map(given => {
      const { sizes } = completed(given);
      return [entries(a, sizes), entries(b, sizes)];
    })"""
    given = [steps["self.weights"], steps["encoder.sum"], [{**start, "S": length} for length in (63, 64, 65)]]
    below, equal, above = evaluate(SHAPES, compare, given)
    assert below[0] < below[1] and equal[0] == equal[1] and above[0] > above[1]


def test_numbers_that_make_no_model_are_refused_with_a_reason() -> None:
    start = {**START, **sizes(annotated.base())}
    say = "({ completed }, all) => all.map(sizes => completed(sizes).problem ?? completed(sizes).sizes.K)"
    blame = "({ completed }, all) => all.map(sizes => completed(sizes).letters)"
    assert evaluate(SHAPES, blame, [{**start, "H": 7}, {**start, "S": 0}]) == [["D", "H"], ["S"]]
    heads, zero, half, fine = evaluate(
        SHAPES, say, [{**start, **more} for more in ({"H": 7}, {"S": 0}, {"B": 1.5}, {"H": 4})]
    )
    assert heads.startswith("7 heads do not divide D = 512") and fine == 128
    assert zero.startswith("S must be a whole number") and half.startswith("B must")


def test_formulas_are_worked_out_by_hand() -> None:
    say = """({ worked, rounded, bytes }) => [worked('D·F + F', { D: 3, F: 1000 }),
      ...[62_984_192, 999, 1e9].map(rounded), bytes(2_960_000), bytes(1.28e12), bytes(1e9)]"""
    assert evaluate(SHAPES, say) == [
        "D · F + F = 3 · 1,000 + 1,000 = 4,000",
        "63 million",
        "999",
        "1 billion",
        "2.96 MB",
        "1.28 TB",
        "1.00 GB",
    ]


def test_a_letter_says_how_often_it_stands_in_a_shape() -> None:
    code = """({ placesOf, headline }, [stages, sizes]) =>
      [placesOf(stages, 'V'), placesOf(stages, 'L'), headline(stages, sizes).title]"""
    stages = page_data()["stages"]
    vocabulary, layers, title = evaluate(LIVE, code, [stages, numbers(annotated.base(), 2, 12, 10)])
    assert vocabulary == f"V, vocabulary, stands in 1 of {sum(len(s['steps']) for s in stages)} shapes."
    assert "in no shape" in layers and title == "Largest: logits, 2 × 10 × 37,000"


def test_bytes_are_those_of_the_tensors() -> None:
    """Token ids and masks are no floats; `element_size` of real tensors tells their bytes."""
    ids = torch.randint(4, 91, (2, 12))
    real = {
        "encoder.ids": ids,
        "encoder.mask": annotated.padding_mask(ids),
        "logits": annotated.Transformer(ODD)(ids, ids),
    }
    say = "({ WIDTHS, entries }, [steps, sizes]) => steps.map(step => WIDTHS[step.kind] * entries(step.shape, sizes))"
    steps = {step["key"]: step for stage in page_data()["stages"] for step in stage["steps"]}
    asked = [steps[key] for key in real]
    assert [f"torch.{step['kind']}" for step in asked] == [str(tensor.dtype) for tensor in real.values()]
    found = evaluate(SHAPES, say, [asked, numbers(ODD, 2, 12, 12)])
    assert found == [tensor.numel() * tensor.element_size() for tensor in real.values()]


def test_lines_are_of_the_library_and_one_each() -> None:
    assert line_of((MultiHeadAttention._join_heads, "return")) == "return x.flatten(-2)"
    with pytest.raises(ValueError, match="2 lines|0 lines"):
        line_of((Recorded.mix, "nothing like it"))


def test_the_static_table_has_every_tensor_of_the_base_model() -> None:
    html = shapes(None)
    assert html.count("<tr><td>") == sum(len(stage.steps) for stage in STAGES)
    assert "<td><code>[B, H, S, S]</code></td><td>2, 8, 12, 12</td>" in html and "2, 10, 37,000" in html
