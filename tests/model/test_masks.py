"""Section 3.2.3: who may attend to whom."""

import torch

from annotated import causal_mask, padding_mask
from annotated.model import target_mask


def test_causal_mask_is_the_lower_triangle():
    expected = [[True, False, False], [True, True, False], [True, True, True]]
    assert causal_mask(3)[0, 0].tolist() == expected


def test_padding_mask_hides_pad_keys_for_every_query():
    mask = padding_mask(torch.tensor([[5, 6, 0], [7, 0, 0]]))
    assert mask.shape == (2, 1, 1, 3)
    assert mask[:, 0, 0].tolist() == [[True, True, False], [True, False, False]]


def test_target_mask_is_both():
    mask = target_mask(torch.tensor([[1, 6, 0]]))
    assert mask[0, 0].tolist() == [[True, False, False], [True, True, False], [True, True, False]]
