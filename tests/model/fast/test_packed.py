"""Padding is a layout: packed = padded, in values and in gradients."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.testing import assert_close

from annotated import Transformer, tiny
from annotated.model import RaggedRows, forward_rows


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


def test_padding_on_the_left_is_refused():
    with pytest.raises(ValueError, match="padded on the right"):
        RaggedRows.from_ids(torch.tensor([[0, 5, 6]]))


@given(
    st.lists(st.tuples(st.integers(1, 6), st.integers(1, 6)), min_size=1, max_size=4),
    st.sampled_from(["post", "pre"]),
    st.integers(0, 10**6),
)
def test_packed_equals_padded_in_values_and_gradients(lengths, norm, seed):
    torch.manual_seed(seed)
    config = tiny(vocab_size=40, dropout=0.0, norm=norm, num_encoder_layers=2, num_decoder_layers=2)
    model = Transformer(config.replace(d_model=16, d_ff=24, num_heads=2, d_k=8, d_v=4))
    source, target = ragged([s for s, _ in lengths]), ragged([t for _, t in lengths])
    real = target != 0
    padded = model(source, target)[real]
    s, t = RaggedRows.from_ids(source), RaggedRows.from_ids(target)
    packed = model.project(forward_rows(model, s.pack_ids(source), s, t.pack_ids(target), t))
    assert_close(packed, padded, atol=1e-5, rtol=1e-4)
    probe = torch.randn_like(padded)
    names = [name for name, _ in model.named_parameters()]
    ours = torch.autograd.grad((packed * probe).sum(), model.parameters())
    theirs = torch.autograd.grad((padded * probe).sum(), model.parameters())
    for name, a, b in zip(names, ours, theirs, strict=True):
        assert_close(a, b, atol=2e-4, rtol=1e-3, msg=lambda text, name=name: f"{name}: {text}")
