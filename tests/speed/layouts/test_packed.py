"""Padding is a layout: packed = padded, in values and in gradients."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.testing import assert_close

from annotated import Transformer, tiny
from annotated.speed.kernels import fused
from annotated.speed.layouts import RaggedRows, forward_rows
from annotated.speed.layouts.packed import uniform_size


def ragged(lengths, vocab=40):
    ids = torch.zeros(len(lengths), max(lengths), dtype=torch.long)
    for row, length in zip(ids, lengths, strict=True):
        row[:length] = torch.randint(4, vocab, (length,))
    return ids


def test_rows_of_a_batch_by_hand():
    rows = RaggedRows([2, 3, 1])
    x = torch.arange(6.0)[:, None] + 1
    assert rows.positions.tolist() == [0, 1, 0, 1, 2, 0]
    assert rows.mask[:, 0, 0].tolist() == [[True, True, False], [True, True, True], [True, False, False]]
    padded = rows.unpack(x).squeeze(-1)
    assert padded[rows.mask[:, 0, 0]].tolist() == [1, 2, 3, 4, 5, 6]
    assert_close(rows.pack(rows.unpack(x)), x)
    assert rows.pack_ids(torch.tensor([[5, 6, 0], [7, 8, 9], [4, 0, 0]])).tolist() == [5, 6, 7, 8, 9, 4]


def test_a_full_batch_needs_no_index_and_no_mask():
    rows = RaggedRows([3, 3])
    assert rows.full and rows.mask is None
    x = torch.randn(6, 4)
    assert rows.unpack(x).data_ptr() == x.data_ptr()


def test_uniform_rows_by_hand():
    """Three columns become eight, seventeen sentences twenty, and a full batch is like every other."""
    rows = RaggedRows([3] * 17, uniform=True)
    assert (rows.batch, rows.width) == uniform_size(17, 3) == (20, 8) and rows.longest == 3 and not rows.full
    assert rows.positions.tolist() == 17 * [0, 1, 2]
    assert rows.mask.shape == (20, 1, 1, 8) and rows.mask[:17, 0, 0].tolist() == 17 * [3 * [True] + 5 * [False]]
    assert not rows.mask[17:].any()
    x = torch.arange(51.0)[:, None] + 1
    assert rows.unpack(x).shape == (20, 8, 1) and torch.equal(rows.pack(rows.unpack(x)), x)
    ids = torch.arange(51).view(17, 3)
    assert rows.pack_ids(ids).tolist() == ids.flatten().tolist()
    # A size of 1 would be of another kind. From 256 sentences on, multiples of 64; below, less than a quarter is added.
    assert [uniform_size(n, 8)[0] for n in (0, 1, 7, 15, 33, 100, 255, 256, 257, 881)] == [
        2, 2, 7, 16, 40, 112, 256, 256, 320, 896,
    ]  # fmt: skip
    exact = RaggedRows([8] * 64, uniform=True)  # nothing is rounded up, and nothing is padding
    assert not exact.full and exact.index.tolist() == list(range(512)) and exact.mask.all()


@pytest.mark.parametrize("zeroes_empty_rows", [True, False])
def test_sentences_that_see_nothing_leave_no_trace(monkeypatch, zeroes_empty_rows):
    """62 of 64 sentences are empty. A GPU's kernels get them unmasked, and their output is set to zero after it."""
    monkeypatch.setattr(fused, "_CPU_ZEROES_EMPTY_ROWS", zeroes_empty_rows)
    torch.manual_seed(0)
    lengths = [3, 1]
    plain, uniform = RaggedRows(lengths), RaggedRows(lengths, uniform=True)
    inputs = [torch.randn(4, 2, 8, requires_grad=True) for _ in range(3)]
    for causal in (False, True):
        ours = uniform.attend_to(uniform, causal)(*inputs)
        theirs = plain.attend_to(plain, causal)(*inputs)
        assert_close(ours, theirs)
        probe = torch.randn_like(ours)
        gradients = [torch.autograd.grad((one * probe).sum(), inputs) for one in (ours, theirs)]
        assert all(gradient.isfinite().all() for gradient in gradients[0])
        assert_close(*gradients)


def test_a_learned_position_is_not_asked_of_the_padding():
    """9 positions are learned; a uniform batch is 16 wide."""
    config = tiny(vocab_size=40, positions="learned", max_positions=9, num_encoder_layers=1, num_decoder_layers=1)
    ids, rows = torch.arange(4, 13), RaggedRows([9], uniform=True)
    assert forward_rows(Transformer(config), ids, rows, ids, rows).isfinite().all() and rows.width == 16


def test_padding_on_the_left_is_refused():
    with pytest.raises(ValueError, match="padded on the right"):
        RaggedRows.from_ids(torch.tensor([[0, 5, 6]]))


@given(
    st.lists(st.tuples(st.integers(1, 6), st.integers(1, 6)), min_size=1, max_size=4),
    st.sampled_from(["post", "pre"]),
    st.booleans(),
    st.integers(0, 10**6),
)
def test_packed_equals_padded_in_values_and_gradients(lengths, norm, uniform, seed):
    torch.manual_seed(seed)
    config = tiny(vocab_size=40, dropout=0.0, norm=norm, num_encoder_layers=2, num_decoder_layers=2)
    model = Transformer(config.replace(d_model=16, d_ff=24, num_heads=2, d_k=8, d_v=4))
    source, target = ragged([s for s, _ in lengths]), ragged([t for _, t in lengths])
    real = target != 0
    padded = model(source, target)[real]
    s, t = (RaggedRows(list(side), uniform=uniform) for side in zip(*lengths, strict=True))
    packed = model.project(forward_rows(model, s.pack_ids(source), s, t.pack_ids(target), t))
    assert_close(packed, padded, atol=1e-5, rtol=1e-4)
    probe = torch.randn_like(padded)
    names = [name for name, _ in model.named_parameters()]
    ours = torch.autograd.grad((packed * probe).sum(), model.parameters())
    theirs = torch.autograd.grad((padded * probe).sum(), model.parameters())
    for name, a, b in zip(names, ours, theirs, strict=True):
        assert_close(a, b, atol=2e-4, rtol=1e-3, msg=lambda text, name=name: f"{name}: {text}")
