"""The choice of tokens that both searches share."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from annotated.decoding.search import decoding_mode, forbidden_ids, top_tokens


@pytest.mark.parametrize("count", [1, 3, 8])
@pytest.mark.parametrize("width", [8, 63, 1000, 2048, 4133])
def test_top_tokens_are_those_of_a_full_log_softmax(width: int, count: int) -> None:
    """Narrow rows, rows in whole blocks, and rows with a rest."""
    generator = torch.Generator().manual_seed(width + count)
    count = min(count, width - 4)
    logits = 5 * torch.randn(6, width, generator=generator)
    logits[:, 0] += 40  # what is forbidden still takes its share, however large
    logits[0, width - 1] += 30  # the last column is looked at too
    expected = logits.double().log_softmax(dim=-1)
    expected[:, [0, 1, 3]] = -torch.inf
    values, tokens = expected.topk(count, dim=1)
    found, ids = top_tokens(logits.clone(), count, forbidden_ids([3], logits.device))
    assert torch.equal(ids, tokens)
    torch.testing.assert_close(found.double(), values, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("width", [8, 2048])
def test_of_equals_the_first_is_taken(width: int) -> None:
    _, ids = top_tokens(torch.zeros(3, width), 1, forbidden_ids([], torch.device("cpu")))
    assert ids.flatten().tolist() == [2, 2, 2]


def test_half_precision_is_summed_in_single() -> None:
    logits = torch.zeros(1, 4096, dtype=torch.bfloat16)
    found, _ = top_tokens(logits, 1, forbidden_ids([], logits.device))
    assert float(found) == pytest.approx(-torch.tensor(4096.0).log().item())


def test_modes_are_put_back_module_by_module() -> None:
    model = nn.Sequential(nn.Dropout(), nn.Dropout())
    model.train()
    model[1].eval()
    with pytest.raises(KeyError), decoding_mode(model):  # type: ignore[arg-type]
        assert not any(module.training for module in model.modules())
        assert torch.is_inference_mode_enabled()
        raise KeyError
    assert [model.training, model[0].training, model[1].training] == [True, True, False]
