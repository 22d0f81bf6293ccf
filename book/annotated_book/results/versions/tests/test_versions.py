"""Chapter 32: weights carried to another order of the features, published settings, and conventions."""

import math
from collections.abc import Iterator

import pytest
import torch

from annotated.config import ModelConfig
from annotated.model import Transformer
from annotated_book.results.versions.configurations import PUBLISHED, parameters, settings_table
from annotated_book.results.versions.conventions import (
    MISMATCHES,
    SinesFirst,
    carried,
    in_convention,
    sines_first_order,
)


@pytest.fixture
def model() -> Iterator[Transformer]:
    torch.manual_seed(0)
    config = ModelConfig(vocab_size=11, d_model=8, d_ff=8, num_heads=2, d_k=3, d_v=4, dropout=0.0)
    model = Transformer(config.replace(num_encoder_layers=2, num_decoder_layers=2)).eval()
    for parameter in model.parameters():  # gains and biases too: with ones and zeros a slip would not be seen
        torch.nn.init.normal_(parameter, std=0.5)
    yield model


def logits(model: Transformer) -> torch.Tensor:
    with torch.no_grad():
        return model(torch.tensor([[4, 5, 6, 2]]), torch.tensor([[1, 7, 8]]))


def test_sines_come_first() -> None:
    table = SinesFirst(4)(3)
    expected = [[f(p * w) for f in (math.sin, math.cos) for w in (1, 0.01)] for p in range(3)]
    torch.testing.assert_close(table, torch.tensor(expected))
    assert SinesFirst(4, start=2)(1).tolist() == table[2:].tolist()


def test_released_waves_reach_ten_thousand() -> None:
    """10000 ** 1 is the last divisor of the released code; of the paper's it is 10000 ** ((D - 2) / D)."""
    released, written = SinesFirst(8, "released")(2)[1], SinesFirst(8)(2)[1]
    assert math.isclose(released[3], math.sin(1 / 10000), rel_tol=1e-5)
    assert math.isclose(written[3], math.sin(10000 ** (-6 / 8)), rel_tol=1e-5)


def test_carried_weights_compute_the_same(model: Transformer) -> None:
    carried_over = in_convention(model, "sines first, carried over")
    torch.testing.assert_close(logits(carried_over), logits(model), rtol=1e-4, atol=1e-4)
    assert not torch.allclose(logits(in_convention(model, "sines first")), logits(model), atol=1e-3)


def test_weights_are_carried_back_by_the_inverse(model: Transformer) -> None:
    weights, order = model.state_dict(), sines_first_order(8)
    back = carried(carried(weights, order), torch.argsort(order))
    assert all(back[name].equal(tensor) for name, tensor in weights.items())


def test_the_model_itself_is_left_alone(model: Transformer) -> None:
    before = logits(model)
    assert logits(in_convention(model, "as trained")).equal(before)
    for name in MISMATCHES:
        in_convention(model, name)
    assert logits(model).equal(before)


@pytest.mark.parametrize("name", [name for name in MISMATCHES if name not in ("as trained",)])
def test_other_conventions_change_the_logits(model: Transformer, name: str) -> None:
    difference = (logits(in_convention(model, name)) - logits(model)).abs().max()
    same = name.startswith("epsilon") or name.endswith("carried over")
    assert difference < 1e-4 if same else difference > 5e-4


def test_published_counts_are_those_of_their_modules() -> None:
    """With one matrix the library counts the model itself; with three or none the matrices are added by hand."""
    paper, three, none = PUBLISHED["paper"], PUBLISHED["fairseq"], PUBLISHED["PyTorch"]
    with torch.device("meta"):
        assert parameters(paper) == Transformer(paper.model).num_parameters()
        assert parameters(three) == Transformer(three.model).num_parameters()
        theirs = torch.nn.Transformer(batch_first=True)
    assert parameters(none) == sum(p.numel() for p in theirs.parameters())


def test_the_table_has_a_row_for_each_setting() -> None:
    table = settings_table()
    assert list(table) == list(PUBLISHED) and not table.isna().any().any()
    assert table.loc["highest rate", "T2T v2"] == f"{2 / math.sqrt(512 * 8000) * 1e4:.2f}e-4"
