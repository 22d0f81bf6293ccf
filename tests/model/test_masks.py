"""Section 3.2.3: who may attend to whom."""

import torch

from annotated import causal_mask, padding_mask
from annotated.model import target_mask
from annotated.model.masks import length_mask, order_mask, segment_mask


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


def test_masks_of_lengths_segments_and_places_say_what_padding_and_order_say():
    ids = torch.tensor([[5, 6, 7], [5, 0, 0]])
    assert torch.equal(length_mask(torch.tensor([3, 1]), 3), padding_mask(ids))
    sentence, place = torch.tensor([0, 0, 1]), torch.tensor([0, 1, 0])
    assert segment_mask(sentence, sentence)[0, 0].int().tolist() == [[1, 1, 0], [1, 1, 0], [0, 0, 1]]
    assert torch.equal(order_mask(torch.arange(4), torch.arange(4)), causal_mask(4))
    both = segment_mask(sentence, sentence) & order_mask(place, place)
    assert both[0, 0].int().tolist() == [[1, 0, 0], [1, 1, 0], [0, 0, 1]]
