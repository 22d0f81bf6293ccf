"""Chapter 35, local attention: blocks beside the whole matrix under a mask, and how far a stack of layers reaches."""

import pytest
import torch

from annotated.config import tiny
from annotated.model import Encoder, Masked, MultiHeadAttention, scaled_dot_product_attention
from annotated_book.results.plans import local
from annotated_book.results.plans.banded import (
    Banded,
    band_mask,
    banded_attention,
    block_mask,
    layers_needed,
    reach,
    reach_table,
)
from annotated_book.why.table_1.complexity import path_length
from annotated_book.why.table_1.restricted import RestrictedSelfAttention

SIZES = [(1, 1), (2, 3), (5, 1), (7, 3), (16, 4), (17, 4), (33, 16), (40, 64)]


def test_the_band_of_five_places() -> None:
    rows = ["11000", "11100", "01110", "00111", "00011"]
    assert band_mask(5, 1)[0, 0].tolist() == [[mark == "1" for mark in row] for row in rows]


@pytest.mark.parametrize(("length", "radius"), SIZES)
def test_blocks_see_what_the_band_says(length: int, radius: int) -> None:
    whole, blocks = band_mask(length, radius)[0, 0], block_mask(length, radius)
    assert blocks.shape == (-(-length // radius), radius, 3 * radius)
    for query in range(length):
        b, i = divmod(query, radius)
        seen = {(b - 1) * radius + j for j in range(3 * radius) if blocks[b, i, j]}
        assert seen == {key for key in range(length) if whole[query, key]}


@pytest.mark.parametrize(("length", "radius"), SIZES)
def test_blocks_equal_equation_1_under_the_band(length: int, radius: int) -> None:
    torch.manual_seed(length)
    q, k, v = torch.randn(2, 3, length, 5), torch.randn(2, 3, length, 5), torch.randn(2, 3, length, 7)
    for x in (q, k, v):
        x.requires_grad_()
    expected, _ = scaled_dot_product_attention(q, k, v, band_mask(length, radius))
    got = banded_attention(q, k, v, radius)
    torch.testing.assert_close(got, expected)
    change = torch.randn_like(got)
    ours = torch.autograd.grad(got, (q, k, v), change)
    theirs = torch.autograd.grad(expected, (q, k, v), change)
    for a, b in zip(ours, theirs, strict=True):
        torch.testing.assert_close(a, b, rtol=1e-4, atol=1e-5)


def test_distant_keys_are_never_touched() -> None:
    q, k, v = torch.randn(3, 1, 2, 40, 4)
    k[:, :, 20] = v[:, :, 20] = torch.nan
    got = banded_attention(q, k, v, 4)
    assert not got[:, :, :12].isnan().any() and not got[:, :, 28:].isnan().any()
    assert got[:, :, 16:25].isnan().all()


def test_the_encoder_of_the_library_runs_in_blocks() -> None:
    torch.manual_seed(0)
    encoder = Encoder(tiny(vocab_size=9, num_encoder_layers=3, dropout=0.0)).eval()
    x = torch.randn(2, 21, encoder.layers[0].self_attention.d_model)
    with torch.no_grad():
        torch.testing.assert_close(encoder(x, Banded(4)), encoder(x, Masked(band_mask(21, 4))))


def test_the_layer_of_table_1_is_the_same_function() -> None:
    torch.manual_seed(0)
    window, blocks = RestrictedSelfAttention(16, 4, 9), MultiHeadAttention(16, 4)
    x = torch.randn(2, 30, 16)
    with torch.no_grad():
        blocks.in_projection.copy_(window.in_projection.weight)
        blocks.out_projection.weight.copy_(window.out_projection.weight)
        torch.testing.assert_close(window(x), blocks(x, x, x, Banded(4)))


@pytest.mark.parametrize(("length", "radius", "layers"), [(10, 3, 3), (13, 4, 3), (14, 4, 4), (9, 8, 1)])
def test_layers_until_the_first_place_reaches_the_last(length: int, radius: int, layers: int) -> None:
    assert layers_needed(length, radius) == layers == path_length("restricted", length, r=2 * radius + 1, centred=True)
    for depth, expected in ((layers, True), (layers - 1, False)):
        if depth:
            torch.manual_seed(0)
            encoder = Encoder(tiny(vocab_size=9, num_encoder_layers=depth, dropout=0.0)).eval()
            effect = reach(encoder, Banded(radius), length, encoder.layers[0].self_attention.d_model)
            assert bool(effect[-1] > 0) is expected


def test_the_table_of_reach_grows_by_the_radius() -> None:
    table = reach_table(4, 30, 4)
    furthest = table[table["effect"] > 0].groupby("layer")["place"].max()
    assert furthest.tolist() == [4, 8, 12, 16]
    assert (table[table["place"] == 0]["effect"] > 0).all()


@pytest.mark.parametrize("way", local.WAYS)
def test_every_way_that_is_timed_is_a_layer(way: str) -> None:
    x = torch.randn(1, 40, local.D_MODEL)
    with torch.no_grad():
        assert local.layer(way, 40)(x).shape == x.shape
    assert local.milliseconds(way, 40) > 0


def test_ways_with_a_band_agree() -> None:
    torch.manual_seed(0)
    x = torch.randn(1, 3 * local.RADIUS + 5, local.D_MODEL)
    results = []
    for way in ("equation 1 with a band mask", "fused, band mask", "blocks"):
        torch.manual_seed(1)
        with torch.no_grad():
            results.append(local.layer(way, x.size(1))(x))
    for one in results[1:]:
        torch.testing.assert_close(one, results[0], rtol=1e-4, atol=1e-5)
